"""A tool declared at its function: its arguments from the signature, their kinds from annotations or as given."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, get_type_hints

from remit.enforce.annotations import NoCodec, caller_names, field_of, unknown_type
from remit.enforce.codec import Choice, Codec, Flag, Leaf, Number, Plain, Text, Unfit, encoded
from remit.enforce.compound import DictOf, Field, ListOf, object_schema
from remit.enforce.errors import GuardError
from remit.enforce.open_file import OpenFile, OpenFiles
from remit.enforce.safe_path import SafePath
from remit.model.policy import ARGUMENT
from remit.model.terms import PARTICULAR
from remit.scopes.kinds import kind_of, names

Shell = Annotated[str, "shell"]
Sql = Annotated[str, "sql"]
Url = Annotated[str, "url"]
Glob = Annotated[str, "glob"]
FilePath = Annotated[str, "path"]
Agent = Annotated[str, "agent"]
Skill = Annotated[str, "skill"]
"""Annotations for arguments that are texts of a kind: `def run(command: Shell) -> str`."""

_STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_AS = {"network": "url", "delegate": "agent"}
"""What a text becomes that an effect is on; a path for effects on files."""


class Declared:
    """A function, and the tool that it is."""

    def __init__(
        self, function: Callable[..., Any], name: str, given: Mapping[str, Any], kinds: Mapping[str, str]
    ) -> None:
        """Raises GuardError for a function that can't be one, with what to write instead."""
        self.function, self.name = function, name
        inner = _inner(function)
        if inspect.isclass(function) or not callable(function):
            help = "declare a function that makes one"
            raise GuardError(f"`{name}` is {type(function).__name__}: no function", code="bad-tool", help=help)
        self.streams = False
        self.yields_async = inspect.isasyncgenfunction(inner)
        self.is_async = inspect.iscoroutinefunction(inner)
        try:
            signature = inspect.signature(function)
        except (ValueError, TypeError):
            help = "wrap it in a function with annotations"
            raise GuardError(f"`{name}` doesn't say its arguments", code="bad-tool", help=help) from None
        parameters = list(signature.parameters.values())
        self.is_method = _takes_receiver(function, parameters)
        """The first argument is the object that it is called on: it is handed on, and not judged."""
        if self.is_method:
            parameters = parameters[1:]
        self.signature = signature.replace(parameters=parameters)
        self.outer_signature = _with_types(signature, inner)
        """As a caller sees it: with the object that it is called on, and with types in place of texts."""
        self.documentation: str | None = inner.__doc__
        self.fields = {one.name: self._field(one, inner, kinds) for one in parameters}
        self._name_kinds(kinds)
        given = {key: value for key, value in given.items() if value is not None}
        if "does" in given:
            given["does"] = self._bound(given["does"])
        self.declaration: dict[str, Any] = self._arguments() | self._about(inner) | given
        self._check_effects()
        self.opens = self._files()
        """The parameters that are files, which are opened for the call."""
        self._names = tuple(self.fields)
        self._required = frozenset(
            one.name for one in parameters if one.default is one.empty and one.kind not in _STARRED
        )
        self._starred = frozenset(one.name for one in parameters if one.kind in _STARRED)
        self._by_place = any(one.kind is one.POSITIONAL_ONLY for one in parameters) or bool(self._starred)
        self._keyword = frozenset(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)
        self._defaults = {one.name: self._default(one) for one in parameters if one.default is not one.empty}
        self._defaults = {name: value for name, value in self._defaults.items() if value is not None}
        told = {name: value for name, value in self._defaults.items() if self._can_be_told(name, value)}
        if told:
            self.declaration["defaults"] = told
        self._deep = any(isinstance(value, dict | list) for value in self._defaults.values())
        codecs = [field.codec for field in self.fields.values()]
        self._as_given = not self._by_place and all(type(codec) in (Text, Number, Flag) for codec in codecs)
        """What the function gets is what was judged, with nothing to rebuild."""
        self._as_given = self._as_given and not any(
            field.nullable and name in self._required for name, field in self.fields.items()
        )

    # Declaring

    def _field(self, parameter: inspect.Parameter, inner: Any, kinds: Mapping[str, str]) -> Field:
        """One parameter. Raises GuardError."""
        name, default = parameter.name, parameter.default
        if not ARGUMENT.fullmatch(name):
            raise GuardError(f"`{self.name}`: `{name}` can't name an argument", code="bad-tool", help="use ASCII")
        given = None if default is parameter.empty else (lambda: default)
        try:
            if parameter.annotation is parameter.empty:
                return Field(self._without_type(name, kinds), given, nullable=given is not None and default is None)
            field = field_of(_hint(inner, parameter), given)
        except NoCodec as error:
            if name in kinds and "can't be found" in str(error):
                return Field(self._without_type(name, kinds), given, nullable=given is not None and default is None)
            raise unknown_type(self.name, name, error) from None
        if parameter.kind is parameter.VAR_POSITIONAL:
            return Field(ListOf(_alone(field), (tuple,), tuple, is_set=False), tuple, nullable=False)
        if parameter.kind is parameter.VAR_KEYWORD:
            return Field(DictOf(Text(), _alone(field)), dict, nullable=False)
        return field

    def _without_type(self, name: str, kinds: Mapping[str, str]) -> Codec:
        kind = kinds.get(name)
        if kind not in names():
            what = f"`{self.name}`: the kind of `{name}` is not clear without an annotation"
            raise GuardError(what, code="bad-tool", help=f"annotate it, or kinds={{'{name}': 'text'}}")
        plain: dict[str, Callable[[], Codec]] = {"number": lambda: Number(whole=False), "flag": Flag, "json": Plain}
        return plain[kind]() if kind in plain else Text(kind)

    def _leaves(self) -> list[tuple[str, Leaf]]:
        return [found for name, field in self.fields.items() for found in field.codec.leaves(name)]

    def _under(self, name: str) -> list[tuple[str, Leaf]]:
        """The values that a name means: one, or all in a list, a dict or a record. Raises GuardError for none."""
        found = [(one, leaf) for one, leaf in self._leaves() if one == name]
        found = found or [(one, leaf) for one, leaf in self._leaves() if one.startswith((f"{name}[", f"{name}."))]
        if not found:
            names = ", ".join(dict.fromkeys(one for one, _ in self._leaves())) or "no argument"
            raise GuardError(f"`{self.name}` has no argument `{name}`", code="bad-tool", help=f"it has {names}")
        return found

    def _name_kinds(self, kinds: Mapping[str, str]) -> None:
        """Gives values the kinds that were said. Raises GuardError where they can't have them."""
        for name, kind in kinds.items():
            if kind not in names():
                raise GuardError(f"`{self.name}`: unknown kind `{kind}`", code="bad-tool", help=", ".join(names()))
            if kind == "json":
                if name not in self.fields:
                    raise GuardError(f"`{self.name}`: only a whole argument can be json", code="bad-tool")
                self.fields[name].codec.whole(name)
                self.fields[name].codec = _Whole(self.fields[name].codec)
                continue
            found = self._under(name)
            texts = [(one, leaf) for one, leaf in found if leaf.kind == kind or isinstance(leaf, Text | Choice)]
            self._one_name(name, texts)
            if not texts or not all(leaf.become(kind) for _, leaf in texts):
                what = f"`{self.name}`: `{name}` can't be of kind {kind} with its annotation"
                raise GuardError(what, code="bad-tool", help="annotate a str, or leave the kind out")

    def _one_name(self, name: str, found: Sequence[tuple[str, Leaf]]) -> None:
        names = list(dict.fromkeys(one for one, _ in found))
        if len(names) > 1:
            what = f"`{self.name}`: `{name}` could mean {', '.join(f'`{one}`' for one in names)}"
            raise GuardError(what, code="bad-tool", help="say which one it is")

    def _bound(self, does: Any) -> Any:
        """The effects, each on an argument that it can be judged on. Raises GuardError."""
        if not isinstance(does, Mapping):
            return does
        found: dict[str, Any] = {}
        for effect, targets in does.items():
            each = targets if isinstance(targets, list | tuple) else [targets]
            found[effect] = [one for target in each for one in self._target(effect, target)]
        return found

    def _target(self, effect: str, target: Any) -> Iterable[Any]:
        if isinstance(target, Mapping) and list(target) == ["below"] and isinstance(target["below"], str):
            return [{"below": name} for name in self._judged_on(effect, target["below"])]
        if not isinstance(target, str) or "*" in target or "/" in target:
            return [dict(target) if isinstance(target, Mapping) else target]
        return self._judged_on(effect, target)

    def _judged_on(self, effect: str, name: str) -> list[str]:
        found = self._under(name)
        if effect not in PARTICULAR:
            return list(dict.fromkeys(one for one, _ in found))
        fit = [one for one, leaf in found if kind_of(leaf.kind).bears(effect) and not leaf.one_of]
        if fit:
            return list(dict.fromkeys(fit))
        kind = _AS.get(effect, "path")
        texts = [(one, leaf) for one, leaf in found if isinstance(leaf, Text | Choice) and leaf.kind == "text"]
        self._one_name(name, texts)
        if not texts or not all(leaf.become(kind) for _, leaf in texts):
            what = f"`{self.name}`: `{effect}` can't be judged on `{name}`, which holds no {kind}"
            instead = {"path": "annotate it Path, list[Path] or FilePath", "url": "annotate it Url"}
            other = f", or say what it works on: {{'{effect}': {{'records': 'NAME'}}}}" if kind == "path" else ""
            raise GuardError(what, code="unjudged-effect", help=instead.get(kind, "annotate it Agent") + other)
        return [texts[0][0]]

    def _arguments(self) -> dict[str, Any]:
        args: dict[str, Any] = {}
        optional: list[str] = []
        for name, field in self.fields.items():
            found = field.codec.declared(name, _fits)
            for one, leaf in found.items():
                args[one] = {"one_of": list(leaf.one_of)} if leaf.one_of else leaf.kind
                if field.optional or _may_be_absent(field.codec, one.removeprefix(name)):
                    optional.append(one)
        return {"args": args, **({"optional": optional} if optional else {})}

    def _check_effects(self) -> None:
        """Raises GuardError for an effect on a value that is judged only as part of a larger one."""
        does, args = self.declaration.get("does"), self.declaration["args"]
        for effect, targets in does.items() if isinstance(does, Mapping) else ():
            for at, target in enumerate(targets):
                name = target.get("below") if isinstance(target, Mapping) else target
                if name is None or name in args or "*" in str(name) or "/" in str(name):
                    continue
                if effect in PARTICULAR:
                    what = f"`{self.name}`: `{effect}` can't be judged on `{name}`, inside of a larger value"
                    raise GuardError(
                        what, code="unjudged-effect", help="take a list, or a dataclass with a field for it"
                    )
                targets[at] = next((one for one in args if str(name).startswith(one)), name)

    def _files(self) -> tuple[str, ...]:
        """Settles how files are opened. Raises GuardError for one without an effect, or inside of something else."""
        does = self.declaration.get("does")
        found: list[str] = []
        for name, leaf in self._leaves():
            if not isinstance(leaf, OpenFile):
                continue
            if name not in self.fields or self.fields[name].codec is not leaf:
                what = f"`{self.name}`: `{name}` is a file inside of something else"
                raise GuardError(what, code="bad-tool", help="take SafePath there, and open each in the function")
            effects = does.items() if isinstance(does, Mapping) else ()
            if not leaf.allow(frozenset(effect for effect, targets in effects if name in targets)):
                what = f"`{self.name}`: `{name}` is a file, and nobody says how it is opened"
                help = f"say it: does={{'read': '{name}'}} or does={{'write': '{name}'}}, or take a SafePath"
                raise GuardError(what, code="unjudged-effect", help=help)
            found.append(name)
        return tuple(found)

    def _about(self, inner: Any) -> dict[str, Any]:
        about = inspect.getdoc(inner)
        return {"about": about.split("\n\n")[0].replace("\n", " ")[:500]} if about else {}

    def _default(self, parameter: inspect.Parameter) -> Any:
        """The default as JSON; None for one that is left out. Raises GuardError."""
        field = self.fields[parameter.name]
        if parameter.default is None and field.nullable:
            return None
        try:
            return field.codec.judged(parameter.default)
        except Unfit as unfit:
            what = f"`{self.name}`: the default of `{parameter.name}` {unfit}, so nobody can decide on it"
            help = "use None, and put it in place in the function"
            raise GuardError(what, code="bad-tool", help=help) from None

    def _can_be_told(self, name: str, value: Any) -> bool:
        """Whether a declaration can say a default; of others, calls are judged with the value in its place."""
        kind = self.declaration["args"].get(name)
        if isinstance(kind, dict):
            return True
        if kind is None or isinstance(value, dict | list):
            return False
        try:
            kind_of(kind).check_default(value)
        except ValueError:
            return False
        return True

    # Calling

    def of(self, receiver: Any) -> Declared:
        """The same tool, called on an object."""
        found = copy.copy(self)
        found.function, found.is_method = functools.partial(self.function, receiver), False
        return found

    def taken(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Declared, dict[str, Any]]:
        """The tool, on its object if it is a method, and the arguments as JSON. Raises TypeError and Unfit."""
        if not self.is_method:
            return self, self.bind(args, named)
        if not args:
            raise TypeError(f"{self.name}() is called on no object")
        return self.of(args[0]), self.bind(args[1:], named)

    def bind(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """The call's arguments by name, as JSON. Raises TypeError as a plain call would, and Unfit."""
        found: dict[str, Any]
        if self._by_place or self._keyword or len(args) > len(self._names):
            found = dict(self.signature.bind(*args, **named).arguments)
        else:
            found = dict(zip(self._names, args))  # noqa: B905 (there may be fewer; the keyword doubles its cost)
            if named or len(args) < len(self._names):
                found.update(named)
                whole = len(found) == len(args) + len(named)
                if not whole or not self._required <= found.keys() <= self.fields.keys():
                    self.signature.bind(*args, **named)
        judged: dict[str, Any] = {}
        fields, name = self.fields, ""
        try:
            for name, value in found.items():
                field = fields[name]
                judged[name] = None if value is None and field.nullable else field.codec.judged(value)
        except (Unfit, RecursionError) as error:
            raise _unfit(name, error) from None
        return self._filled(judged)

    def received(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, as a model gives them, in the codec that is judged. Raises Unfit.

        What the function does not have stays, for the decision to refuse.
        """
        judged: dict[str, Any] = {}
        for name, value in args.items():
            field = self.fields.get(name)
            if field is None:
                judged[name] = self._fit(Plain().judged, name, value)
            elif value is None and field.optional and not field.codec.takes_null:
                if field.nullable:
                    judged[name] = None
            else:
                codec = field.codec
                value = self._fit(codec.read, name, value)
                judged[name] = None if value is None and field.nullable else self._fit(codec.judged, name, value)
        return self._filled(judged)

    def _fit(self, turn: Callable[[Any], Any], name: str, value: Any) -> Any:
        try:
            return turn(value)
        except (Unfit, RecursionError) as error:
            raise _unfit(name, error) from None

    def _filled(self, args: dict[str, Any]) -> dict[str, Any]:
        """With the function's own defaults, which are decided on and recorded like the rest; without None."""
        if self._defaults and not self._defaults.keys() <= args.keys():
            args = (copy.deepcopy(self._defaults) if self._deep else self._defaults) | args
        if None in args.values() or self._starred:
            return {name: value for name, value in args.items() if not self._is_left_out(name, value)}
        return args

    def _is_left_out(self, name: str, value: Any) -> bool:
        if value is None:
            return name in self.fields and self.fields[name].nullable
        return name in self._starred and not value

    def run(self, args: Mapping[str, Any], files: OpenFiles | None = None) -> Any:
        """Calls the function with values made from the judged ones. Raises what it raises, and GuardError.

        What is opened for it is added to `files`. Raises OSError if that fails.
        """
        if self._as_given:
            return self.function(**args)
        values = {name: self._rebuilt(name, args) for name in self.fields}
        if files is not None:
            for name in self.opens:
                codec = self.fields[name].codec
                if isinstance(codec, OpenFile) and isinstance(values[name], SafePath):
                    values[name] = files.add(codec.open(values[name]))
        if not self._by_place:
            return self.function(**values)
        bound = inspect.BoundArguments(self.signature, values)
        return self.function(*bound.args, **bound.kwargs)

    def _rebuilt(self, name: str, args: Mapping[str, Any]) -> Any:
        field = self.fields[name]
        if name not in args:
            return () if name in self._starred and isinstance(field.codec, ListOf) else field.absent()
        try:
            value = field.codec.read(args[name])
            if not field.codec.may_change or encoded(field.codec.judged(value)) == encoded(args[name]):
                return value
        except Unfit as unfit:
            raise GuardError(f"`{name}` can't be rebuilt: it {unfit}", code="changed-argument") from None
        raise GuardError(f"`{name}` changes when it is rebuilt", code="changed-argument")

    def schema(self) -> dict[str, Any]:
        """The arguments as JSON Schema."""
        return object_schema(self.fields)


class _Whole(Codec):
    """Something that is judged as one argument of kind json, whatever it holds."""

    def __init__(self, codec: Codec) -> None:
        self.codec, self.types, self.takes_null = codec, codec.types, codec.takes_null
        self.may_change = codec.may_change
        self.judged, self.read, self.schema = codec.judged, codec.read, codec.schema  # type: ignore[method-assign]
        self._leaf = Plain("json")

    def leaves(self, name: str) -> Iterable[tuple[str, Leaf]]:  # type: ignore[override]
        return [(name, self._leaf)]

    def declared(self, name: str, fits: Callable[[str], bool]) -> dict[str, Leaf]:
        return {name: self._leaf}


def _unfit(name: str, error: Unfit | RecursionError) -> Unfit:
    """What is wrong with an argument, by its name."""
    if isinstance(error, RecursionError):
        return Unfit(f"`{name}` is nested too deeply")
    joint = "" if str(error).startswith((".", "[")) else " "
    return Unfit(f"`{name}`{joint}{error}")


def name_of(function: Any) -> str:
    """The name of a tool that nobody named. Raises GuardError for a lambda."""
    inner = function.func if isinstance(function, functools.partial) else function
    found = getattr(inner, "__name__", None) or type(inner).__name__
    if not str(found).replace("_", "a").isalnum():
        raise GuardError(
            f"`{found}` is not a valid name for a tool", code="bad-tool", help='name it: guard.tool("name")'
        )
    return str(found)


def _inner(function: Any) -> Any:
    """The function that has the annotations: inside partials and callable objects."""
    while isinstance(function, functools.partial):
        function = function.func
    if inspect.isroutine(function) or inspect.isclass(function) or not callable(function):
        return function
    return function.__call__


def _takes_receiver(function: Any, parameters: list[inspect.Parameter]) -> bool:
    """A function in the body of a class, with `self` or `cls`."""
    if not inspect.isfunction(function) or not parameters or parameters[0].name not in ("self", "cls"):
        return False
    above = function.__qualname__.rpartition(".")[0]
    return bool(above) and not above.endswith("<locals>")


class _Holder:
    """One annotation, where typing looks for it."""

    def __init__(self, name: str, hint: Any) -> None:
        self.__annotations__ = {name: hint}


def _hint(inner: Any, parameter: inspect.Parameter) -> Any:
    """The annotation of one parameter; texts are looked up where the function is and where it is declared."""
    if parameter.name == "self":
        raise NoCodec("`self` has no object here", "declare the bound method")
    holder = _Holder(parameter.name, parameter.annotation)
    function = inspect.unwrap(getattr(inner, "__func__", inner))
    names = dict(getattr(function, "__globals__", {}))
    try:
        return get_type_hints(holder, names, None, include_extras=True)[parameter.name]
    except Exception:
        with_locals = caller_names() | dict(_closure(function))
    try:
        return get_type_hints(holder, names, with_locals, include_extras=True)[parameter.name]
    except Exception as error:
        raise NoCodec(
            f"{parameter.annotation} can't be found ({error})", "import it at run time, or use kinds="
        ) from None


def _with_types(signature: inspect.Signature, inner: Any) -> inspect.Signature:
    """The annotations as types; one that nobody can look up stays the text that it is."""

    def found(parameter: inspect.Parameter) -> Any:
        if parameter.annotation is parameter.empty or parameter.annotation is None:
            return parameter.annotation
        try:
            return _hint(inner, parameter)
        except NoCodec:
            return parameter.annotation

    parameters = [one.replace(annotation=found(one)) for one in signature.parameters.values()]
    result = inspect.Parameter("result", inspect.Parameter.KEYWORD_ONLY, annotation=signature.return_annotation)
    returned = found(result)
    return signature.replace(parameters=parameters, return_annotation=None if returned is type(None) else returned)


def _closure(function: Any) -> Iterable[tuple[str, Any]]:
    try:
        return inspect.getclosurevars(function).nonlocals.items()
    except (TypeError, ValueError):
        return ()


def _alone(field: Field) -> Codec:
    if field.nullable:
        raise NoCodec("a starred parameter can't be None", "leave None out of its type")
    return field.codec


def _fits(name: str) -> bool:
    return ARGUMENT.fullmatch(name) is not None


def _may_be_absent(codec: Codec, rest: str) -> bool:
    """Whether something between an argument and one of its values may be missing."""
    if isinstance(codec, ListOf):
        return _may_be_absent(codec.item, rest.removeprefix("[]"))
    if isinstance(codec, DictOf) and codec.as_entries:
        inner = rest.removeprefix("[]")
        part = codec.key if inner.startswith(".key") else codec.value
        return _may_be_absent(part, inner.removeprefix(".key").removeprefix(".value"))
    fields: dict[str, Field] = getattr(codec, "fields", {})
    if not rest.startswith(".") or not fields:
        return False
    name = rest[1:].partition(".")[0].partition("[")[0]
    field = fields[name]
    return field.optional or _may_be_absent(field.codec, rest[1 + len(name) :])
