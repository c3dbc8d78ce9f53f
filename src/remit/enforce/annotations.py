"""Annotations of Python functions as codecs: what each type becomes, or what to write instead."""

from __future__ import annotations

import collections.abc as abc
import dataclasses
import datetime
import decimal
import enum
import inspect
import os
import sys
import types
import typing
import uuid
from collections.abc import Callable
from pathlib import Path, PurePath, PureWindowsPath
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from remit.enforce.codec import (
    Choice,
    Codec,
    Coded,
    Flag,
    Leaf,
    Null,
    Number,
    Plain,
    Text,
    Unfit,
    from_base64,
    to_base64,
)
from remit.enforce.compound import ABSENT, DictOf, Field, ListOf, Record, TupleOf, Union
from remit.enforce.errors import GuardError
from remit.enforce.open_file import OpenFile
from remit.enforce.safe_path import SafePath
from remit.model.decoding import Decoding
from remit.scopes import kinds

_SEQUENCES = (abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable)
_SETS = (abc.Set, abc.MutableSet)
_MAPPINGS = (abc.Mapping, abc.MutableMapping)
_UNION = (typing.Union, types.UnionType)
_OPEN_IT = "take a TextIO or BinaryIO, or a SafePath and open it in the function: `file.open()` follows no link"
_INSTEAD: dict[str, str] = {
    "TextIOWrapper": _OPEN_IT,
    "BufferedReader": _OPEN_IT,
    "BufferedWriter": _OPEN_IT,
    "Callable": "a function can't be judged: take a name, and look the function up",
    "Iterator": "take a list",
    "Generator": "take a list",
    "complex": "take two floats",
    "object": "say what it is, or take Any for plain JSON",
    "deque": "take a list",
    "OrderedDict": "take a dict",
    "defaultdict": "take a dict",
    "Counter": "take a dict",
    "SecretStr": "take the name of a secret, and look it up: arguments are recorded",
}


class NoCodec(Exception):
    """A type that can't be judged; says what to write instead."""

    def __init__(self, what: str, instead: str = "") -> None:
        super().__init__(what)
        self.instead = instead


def codec_of(hint: Any, seen: tuple[Any, ...] = ()) -> Codec:
    """The codec of an annotation. Raises NoCodec."""
    hint, mark = _bare(hint)
    if mark is not None:
        return _marked(hint, mark, seen)
    origin, args = get_origin(hint), get_args(hint)
    if origin in _UNION:
        return _union(list(args), seen)
    if origin is Literal:
        return _literal(args)
    if hint in _PLAIN:
        return _PLAIN[hint]()
    base = origin or hint
    if base in (list, set, frozenset, tuple, dict, *_SEQUENCES, *_SETS, *_MAPPINGS):
        return _container(base, args, seen)
    if inspect.isclass(base):
        if hint in seen or len(seen) > 24:
            raise NoCodec(f"{_name(hint)} contains itself", "take Any for plain JSON, and build it in the function")
        return _class(base, args, (*seen, hint))
    if isinstance(hint, typing.TypeVar):
        raise NoCodec(f"{_name(hint)} is a type variable", "say which type it is")
    raise NoCodec(f"{_name(hint)} can't be judged", _INSTEAD.get(_name(hint), _OTHERWISE))


_OTHERWISE = "use the types of docs/guard.md, or take Any for plain JSON"


def nullable(hint: Any) -> tuple[Any, bool]:
    """The annotation without None, and whether it had it."""
    hint, mark = _bare(hint)
    if get_origin(hint) in _UNION:
        rest = tuple(one for one in get_args(hint) if one is not type(None))
        if len(rest) < len(get_args(hint)) and rest:
            joined = rest[0] if len(rest) == 1 else typing.Union[rest]  # noqa: UP007 (made at run time)
            return (joined if mark is None else Annotated[joined, mark]), True
    if get_origin(hint) is Literal and None in get_args(hint):
        rest = tuple(one for one in get_args(hint) if one is not None)
        if rest:
            return Literal[rest], True
    return (hint if mark is None else Annotated[hint, mark]), False


def field_of(
    hint: Any, default: Callable[[], Any] | None, seen: tuple[Any, ...] = (), *, required: bool = True
) -> Field:
    """A parameter or a field: None is left out where that is told apart from its default. Raises NoCodec."""
    bare, takes_none = nullable(hint)
    codec = codec_of(bare, seen)
    by_default = default() if default is not None else ABSENT
    if by_default is None:
        return Field(codec, default, nullable=True)
    if takes_none and (default is not None or not required):
        return Field(Union([codec, Null()]), default, nullable=False, required=required)
    return Field(codec, default, nullable=takes_none, required=required)


def _bare(hint: Any) -> tuple[Any, str | None]:
    """Without Annotated, NewType, aliases and the like; and the kind that Annotated gives."""
    mark = None
    for _ in range(32):
        origin = get_origin(hint)
        if origin is Annotated:
            base, *marks = get_args(hint)
            mark = mark or next((one for one in marks if isinstance(one, str) and one in kinds.names()), None)
            hint = base
        elif origin in (typing.Required, typing.NotRequired, typing.Final) or str(origin).endswith(".ReadOnly"):
            hint = get_args(hint)[0]
        elif isinstance(hint, typing.NewType):
            hint = hint.__supertype__
        elif type(hint).__name__ == "TypeAliasType":
            hint = hint.__value__
        else:
            break
    return hint, mark


def _marked(hint: Any, kind: str, seen: tuple[Any, ...]) -> Codec:
    codec = codec_of(hint, seen)
    if kind == "json":
        return codec
    leaves = [leaf for _, leaf in codec.leaves("")]
    if not all(leaf.become(kind) for leaf in leaves):
        raise NoCodec(f"{_name(hint)} can't be of kind {kind}", "annotate a str")
    return codec


def _union(args: list[Any], seen: tuple[Any, ...]) -> Codec:
    bare = [_bare(one)[0] for one in args]
    if any(_is_path(one) for one in bare) and all(one is str or _is_path(one) for one in bare):
        return path_codec(next((one for one in bare if _is_path(one) and inspect.isclass(one)), Path), with_text=True)
    if set(bare) == {int, float}:
        return Number(whole=False)
    codecs = [Null() if one is type(None) else codec_of(one, seen) for one in args]
    for at, codec in enumerate(codecs):
        for other in codecs[:at]:
            if codec.types & other.types:
                names = " and ".join(_name(one) for one in bare[: at + 1])
                raise NoCodec(f"JSON does not tell {names} apart", "take one of them, or two arguments")
    return Union(codecs)


def _literal(values: tuple[Any, ...]) -> Codec:
    if not all(type(value) in (str, int, bool) for value in values):
        raise NoCodec("a Literal of other than text, whole numbers and flags can't be judged", "use texts")
    if len(set(values)) != len(values):
        raise NoCodec("a Literal of values that are equal can't be judged", "use texts")
    return Choice({value: value for value in values}, ", ".join(map(str, values)))


def _enum(kind: type[enum.Enum]) -> Codec:
    if issubclass(kind, enum.Flag):
        raise NoCodec(f"{_name(kind)} is a set of flags", "take a list of an Enum")
    members = list(kind)
    plain = members and all(type(one.value) in (str, int) for one in members)
    by_value = plain and len({type(one.value) for one in members}) == 1
    values = {(one.value if by_value else one.name): one for one in members}
    if not values:
        raise NoCodec(f"{_name(kind)} has no members")
    return Choice(values, ", ".join(map(str, values)))


def _container(base: Any, args: tuple[Any, ...], seen: tuple[Any, ...]) -> Codec:
    if base is dict or base in _MAPPINGS:
        if not args:
            return Plain("json", dict)
        key = codec_of(args[0], seen)
        if not isinstance(key, Leaf) or isinstance(key, Plain | Null):
            raise NoCodec(f"{_name(args[0])} can't be the key of a dict here", "take text, a number, a path or an Enum")
        return DictOf(key, codec_of(args[1], seen))
    if base is tuple and args and not (len(args) == 2 and args[1] is Ellipsis):
        return TupleOf([codec_of(one, seen) for one in args if one != ()])
    item = codec_of(args[0], seen) if args else Plain()
    if base is tuple:
        return ListOf(item, (tuple,), tuple, is_set=False)
    if base in (set, frozenset) or base in _SETS:
        make: Callable[[list[Any]], Any] = frozenset if base is frozenset else set
        accepted = (base,) if base in (set, frozenset) else (set, frozenset)
        if not args:
            raise NoCodec("a set without a type for its values can't be judged", "take set[str]")
        return ListOf(item, accepted, make, is_set=True)
    if base is list and not args:
        return Plain("json", list)
    return ListOf(item, (list,) if base is list else (list, tuple), list, is_set=False)


# Classes


def _class(kind: type, args: tuple[Any, ...], seen: tuple[Any, ...]) -> Codec:
    if _is_path(kind):
        return path_codec(kind)
    if issubclass(kind, enum.Enum):
        return _enum(kind)
    if kind in (typing.IO, typing.TextIO, typing.BinaryIO):
        return OpenFile(binary=kind is typing.BinaryIO or args == (bytes,))
    if kind.__name__ in _INSTEAD or kind.__module__ == "typing":
        raise NoCodec(f"{_name(kind)} can't be judged", _INSTEAD.get(kind.__name__, _OTHERWISE))
    if args or getattr(kind, "__parameters__", ()):
        raise NoCodec(f"{_name(kind)} is generic", "make a class without type variables")
    if typing.is_typeddict(kind):
        return _typed_dict(kind, seen)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _named_tuple(kind, seen)
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, seen)
    if issubclass(kind, msgspec.Struct):
        return _struct(kind, seen)
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None and issubclass(kind, pydantic.BaseModel):
        return _model(kind, seen)
    if pydantic is not None and _pydantic_url(kind):
        known = lambda value: isinstance(value, kind)  # noqa: E731 (one expression, used once)
        return Coded("url", known, str, kind, "a URL", {"type": "string", "description": "url"})
    if hasattr(kind, "__attrs_attrs__"):
        return _attrs(kind, seen)
    if kind.__name__ == "EmailStr" and kind.__module__.startswith("pydantic"):
        return Text("email")
    raise NoCodec(f"{_name(kind)} is not a type that can be judged", _INSTEAD.get(kind.__name__, _OTHERWISE))


def _is_path(kind: Any) -> bool:
    base = get_origin(kind) or kind
    return base in (os.PathLike, SafePath) or (inspect.isclass(base) and issubclass(base, PurePath))


def path_codec(kind: Any, *, with_text: bool = False) -> Codec:
    """A path, given to the function as this class."""
    made: Any = kind if inspect.isclass(kind) and issubclass(kind, PurePath | SafePath) else Path
    if issubclass(made, PureWindowsPath):
        raise NoCodec("a Windows path can't be judged here", "take a Path")
    accepted: tuple[type, ...] = (PurePath, SafePath, str) if with_text or made is SafePath else (PurePath,)

    def build(text: str) -> Any:
        path = made(text)
        if type(path) not in _OWN_PATHS and os.fspath(path) != os.fspath(Path(text)):
            raise ValueError("the class changes the path")
        return path

    def known(value: Any) -> bool:
        return isinstance(value, accepted) or (made is Path and kind is not made and hasattr(value, "__fspath__"))

    return Coded("path", known, os.fspath, build, "a path", {"type": "string", "description": "path"})


_OWN_PATHS = frozenset({type(Path()), type(PurePath())})


def _exact(kind: type) -> Callable[[Any], Any]:
    """Refuses values of other types: a subclass could hold more than is judged."""

    def check(value: Any) -> Any:
        if type(value) is not kind:
            raise Unfit(f"must be a {kind.__name__}, not {type(value).__name__}")
        return value

    return check


def _hints(kind: type) -> dict[str, Any]:
    try:
        return get_type_hints(kind, include_extras=True, localns=_around(kind))
    except Exception as error:
        raise NoCodec(f"the types of {_name(kind)} are not known: {error}", "import them where it is defined") from None


def _around(kind: type) -> dict[str, Any]:
    """The names at the function that a local class was made in, if it is still running."""
    if "<locals>" not in kind.__qualname__:
        return {}
    return caller_names()


def caller_names() -> dict[str, Any]:
    """The local names of whoever declares a tool: annotations that are texts may mean these."""
    found: dict[str, Any] = {}
    frame: types.FrameType | None = sys._getframe(1)
    looked = 0
    while frame is not None and looked < 2:  # the body of a class, and the function that it stands in
        if not frame.f_globals.get("__name__", "").startswith("remit.enforce"):
            looked += 1
            if frame.f_locals is not frame.f_globals:
                found = dict(frame.f_locals) | found
        frame = frame.f_back
    return found


def _record(kind: type, fields: dict[str, Field], names: dict[str, str] | None = None) -> Record:
    """A class whose fields are attributes, built by keyword."""
    check = _exact(kind)

    def take(value: Any) -> dict[str, Any]:
        check(value)
        return {name: getattr(value, name, ABSENT) for name in fields}

    def make(values: dict[str, Any]) -> Any:
        return kind(**({names[name]: value for name, value in values.items()} if names else values))

    return Record(kind.__name__, fields, take, make)


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def _dataclass(kind: type, seen: tuple[Any, ...]) -> Codec:
    hints, fields = _hints(kind), {}
    for field in dataclasses.fields(kind):
        if not field.init:
            raise NoCodec(
                f"{_name(kind)}.{field.name} is not given to its constructor", "leave it out, or make it a property"
            )
        default: Callable[[], Any] | None = None
        if field.default is not dataclasses.MISSING:
            default = _constant(field.default)
        elif field.default_factory is not dataclasses.MISSING:
            default = field.default_factory
        fields[field.name] = _field(kind, field.name, hints[field.name], default, seen)
    if any("InitVar" in str(hint) for hint in vars(kind).get("__annotations__", {}).values()):
        raise NoCodec(f"{_name(kind)} has an InitVar", "make it a field")
    return _record(kind, fields)


def _field(kind: type, name: str, hint: Any, default: Any, seen: tuple[Any, ...], *, required: bool = True) -> Field:
    try:
        return field_of(hint, default, seen, required=required)
    except NoCodec as error:
        raise NoCodec(f"{_name(kind)}.{name}: {error}", error.instead) from None


def _named_tuple(kind: Any, seen: tuple[Any, ...]) -> Codec:
    hints, defaults = _hints(kind), kind._field_defaults
    fields = {}
    for name in kind._fields:
        if name not in hints:
            raise NoCodec(f"{_name(kind)}.{name} has no type", "use typing.NamedTuple")
        fields[name] = _field(kind, name, hints[name], _constant(defaults[name]) if name in defaults else None, seen)
    check = _exact(kind)

    def take(value: Any) -> dict[str, Any]:
        return dict(zip(kind._fields, tuple.__iter__(check(value)), strict=True))

    return Record(kind.__name__, fields, take, lambda values: kind(**values))


def _typed_dict(kind: Any, seen: tuple[Any, ...]) -> Codec:
    hints = _hints(kind)
    # The class itself does not know Required and NotRequired in annotations that are texts.
    marked = {name: get_origin(hint) for name, hint in hints.items()}
    required = frozenset(
        name
        for name, mark in marked.items()
        if mark is typing.Required or (mark is not typing.NotRequired and name in kind.__required_keys__)
    )
    fields = {n: _field(kind, n, h, None, seen, required=n in required) for n, h in hints.items()}

    def take(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise Unfit(f"must be a dict, not {type(value).__name__}")
        found = dict(dict.items(value))
        unknown = [key for key in found if type(key) is not str or key not in fields]
        if unknown:
            raise Unfit(f"has no key {str(unknown[0])[:80]!r}")
        missing = sorted(required - found.keys())
        if missing:
            raise Unfit(f".{missing[0]} is missing")
        return found

    return Record(kind.__name__, fields, take, dict)


def _struct(kind: Any, seen: tuple[Any, ...]) -> Codec:
    fields = {}
    for field in msgspec.structs.fields(kind):
        default: Callable[[], Any] | None = None
        if field.default is not msgspec.NODEFAULT:
            default = _constant(field.default)
        elif field.default_factory is not msgspec.NODEFAULT:
            default = field.default_factory
        fields[field.name] = _field(kind, field.name, field.type, default, seen)
    return _record(kind, fields)


def _model(kind: Any, seen: tuple[Any, ...]) -> Codec:
    if kind.model_config.get("extra") == "allow":
        raise NoCodec(f"{_name(kind)} takes fields that nobody declared", 'use extra="forbid"')
    if issubclass(kind, getattr(sys.modules["pydantic"], "RootModel", ())):
        raise NoCodec(f"{_name(kind)} is a RootModel", "take what it holds")
    fields, names = {}, {}
    for name, field in kind.model_fields.items():
        alias = field.validation_alias if field.validation_alias is not None else field.alias
        if alias is not None and not isinstance(alias, str):
            raise NoCodec(f"{_name(kind)}.{name} has several aliases", "give it one")
        names[name] = alias or name
        default = None if field.is_required() else (lambda field=field: field.get_default(call_default_factory=True))
        hint = field.annotation
        for mark in field.metadata:
            if isinstance(mark, str) and mark in kinds.names():
                hint = Annotated[hint, mark]
        fields[name] = _field(kind, name, hint, default, seen)
    return _record(kind, fields, names)


def _attrs(kind: Any, seen: tuple[Any, ...]) -> Codec:
    hints, fields, names = _hints(kind), {}, {}
    for field in kind.__attrs_attrs__:
        if not field.init or field.name not in hints:
            raise NoCodec(f"{_name(kind)}.{field.name} has no type, or is not given to its constructor", "give it both")
        default: Callable[[], Any] | None = None
        if type(field.default).__name__ == "Factory":
            if field.default.takes_self:
                raise NoCodec(f"{_name(kind)}.{field.name} has a default that depends on others", "use a plain one")
            default = field.default.factory
        elif str(field.default) != "NOTHING":
            default = _constant(field.default)
        names[field.name] = field.alias or field.name
        fields[field.name] = _field(kind, field.name, hints[field.name], default, seen)
    return _record(kind, fields, names)


def _pydantic_url(kind: type) -> bool:
    return any(one.__name__ in ("AnyUrl", "_BaseUrl") and one.__module__.startswith("pydantic") for one in kind.__mro__)


# Types that are written as text


def _coded(
    kind: type, write: Callable[[Any], Any], make: Callable[[Any], Any], what: str, format: str
) -> Callable[[], Codec]:
    schema = {"type": "string", "format": format}
    return lambda: Coded("text", lambda value: isinstance(value, kind), write, make, what, schema)


def _datetime(value: datetime.datetime) -> str:
    if value.fold:
        raise Unfit("is a time that occurs twice (fold=1); give it an offset")
    return datetime.datetime.isoformat(value)


def _time(value: datetime.time) -> str:
    if value.fold:
        raise Unfit("is a time that occurs twice (fold=1); give it an offset")
    return datetime.time.isoformat(value)


def _date_codec() -> Codec:
    def known(value: Any) -> bool:
        return isinstance(value, datetime.date) and not isinstance(value, datetime.datetime)

    schema = {"type": "string", "format": "date"}
    return Coded("text", known, datetime.date.isoformat, datetime.date.fromisoformat, "a date", schema)


def _decimal(value: decimal.Decimal) -> int | float:
    """A number that stands for exactly this value, so that rules can bound it."""
    if not value.is_finite():
        raise Unfit("must be a finite number")
    number: int | float = int(value) if value == value.to_integral_value() else float(value)
    if abs(number) > 2**53 or decimal.Decimal(repr(number)) != value:
        raise Unfit("has more digits than a number in JSON holds")
    return number


def _from_decimal(data: Any) -> decimal.Decimal:
    if type(data) is str:
        raise ValueError("a number is not text")
    return decimal.Decimal(repr(data))


_PLAIN: dict[Any, Callable[[], Codec]] = {
    str: Text,
    int: lambda: Number(whole=True),
    float: lambda: Number(whole=False),
    bool: Flag,
    Any: Plain,
    type(None): Null,
    None: Null,
    bytes: lambda: Coded(
        "text",
        lambda value: type(value) is bytes,
        to_base64,
        from_base64,
        "bytes in base64",
        {"type": "string", "contentEncoding": "base64"},
    ),
    datetime.date: _date_codec,
    datetime.datetime: _coded(
        datetime.datetime, _datetime, datetime.datetime.fromisoformat, "a date and time", "date-time"
    ),
    datetime.time: _coded(datetime.time, _time, datetime.time.fromisoformat, "a time of day", "time"),
    datetime.timedelta: _coded(
        datetime.timedelta,
        lambda value: msgspec.to_builtins(value),
        Decoding(datetime.timedelta).convert,
        "a duration (ISO 8601)",
        "duration",
    ),
    uuid.UUID: _coded(uuid.UUID, str, uuid.UUID, "a UUID", "uuid"),
    decimal.Decimal: lambda: Coded(
        "number",
        lambda value: isinstance(value, decimal.Decimal),
        _decimal,
        _from_decimal,
        "a number",
        {"type": "number"},
    ),
}


def _name(hint: Any) -> str:
    return (
        getattr(hint, "__qualname__", None) or getattr(hint, "__name__", None) or str(hint).replace("typing.", "")[:80]
    )


def unknown_type(name: str, parameter: str, error: NoCodec) -> GuardError:
    """The refusal of a parameter."""
    help = error.instead or _OTHERWISE
    return GuardError(f"`{name}`: `{parameter}` can't be judged: {error}", code="bad-tool", help=help)
