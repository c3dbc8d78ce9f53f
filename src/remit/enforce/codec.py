"""Codecs: how values of a Python type look as JSON, which is what is judged, and how they are rebuilt from it.

Single values are here, what holds others is in `compound`.

INVARIANT: `judged` reads a value once and shares nothing with it; `read` makes a value from JSON alone. So a function
runs with what was judged, whatever the caller's objects do meanwhile.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from remit.enforce.errors import GuardError
from remit.model.errors import RemitError
from remit.scopes.kinds import kind_of, names

MAX_DEPTH = 64
MAX_VALUES = 200_000
MAX_INT = 2**63 - 1
JSON = dict[str, Any]


class Unfit(RemitError):
    """A value that is not what the function declares."""

    code = "mistyped-argument"


class Codec:
    """One type. `types` are the JSON types that its values have."""

    types: frozenset[str] = frozenset()
    takes_null = False
    may_change = False
    """It holds objects whose class could make something else of its fields."""

    def judged(self, value: Any) -> Any:
        """The value as JSON: a copy. Raises Unfit."""
        raise NotImplementedError

    def read(self, data: Any) -> Any:
        """The value from JSON, given by a model or judged before. Raises Unfit."""
        raise NotImplementedError

    def leaves(self, name: str) -> Iterator[tuple[str, Leaf]]:
        """Its single values, by the names that they would have as arguments."""
        raise NotImplementedError

    def declared(self, name: str, fits: Callable[[str], bool]) -> dict[str, Leaf]:
        """The arguments that it is judged as. Raises GuardError if a path or the like can't be told from the rest."""
        raise NotImplementedError

    def schema(self) -> JSON:
        """As JSON Schema."""
        raise NotImplementedError

    def whole(self, name: str) -> dict[str, Leaf]:
        """One argument of kind json, for what holds nothing that must be judged by itself. Raises GuardError."""
        for inner, leaf in self.leaves(name):
            if not leaf.is_harmless:
                what = f"`{name}` holds {leaf.kind} values (`{inner}`) where no rule could name them"
                help = "use a list, or a dataclass with a field for it"
                raise GuardError(what, code="bad-tool", help=help)
        return {name: Plain("json")}


class Leaf(Codec):
    """A single value, with the kind that it is judged as."""

    types = frozenset({"string"})

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.one_of: tuple[Any, ...] = ()

    def leaves(self, name: str) -> Iterator[tuple[str, Leaf]]:
        yield name, self

    def declared(self, name: str, fits: Callable[[str], bool]) -> dict[str, Leaf]:
        return {name: self}

    @property
    def is_harmless(self) -> bool:
        """Nothing in it is taken for a path, a URL, a command or a name."""
        return not kind_of(self.kind).unit

    def become(self, kind: str) -> bool:
        """Judged as this kind from now on; False if that can't be."""
        return self.kind == kind

    def schema(self) -> JSON:
        return {"type": "string"} if self.kind == "text" else {"type": "string", "description": self.kind}


class Plain(Leaf):
    """JSON as it is: `Any`, `dict`, `list`, or an argument without a type."""

    types = frozenset({"string", "number", "boolean", "object", "array", "null"})
    takes_null = True

    def __init__(self, kind: str = "json", only: type | None = None) -> None:
        super().__init__(kind)
        self.only = only

    def judged(self, value: Any) -> Any:
        if self.only is not None and type(value) is not self.only:
            raise Unfit(f"must be a {self.only.__name__}, not {type(value).__name__}")
        return plain_copy(value)

    def read(self, data: Any) -> Any:
        return self.judged(data)

    def schema(self) -> JSON:
        return {} if self.only is None else {"type": "object" if self.only is dict else "array"}


class Text(Leaf):
    """`str`: text of some kind."""

    def __init__(self, kind: str = "text") -> None:
        super().__init__(kind)

    def become(self, kind: str) -> bool:
        if is_text(kind):
            self.kind = kind
        return self.kind == kind

    def judged(self, value: Any) -> str:
        if type(value) is str and value.isascii():
            return value
        if not isinstance(value, str):
            raise Unfit(f"must be text, not {type(value).__name__}")
        return _writable(str.__str__(value))

    def read(self, data: Any) -> str:
        if type(data) is not str:
            raise Unfit("must be text")
        return self.judged(data)


class Number(Leaf):
    """`int`, or `float` with ints."""

    types = frozenset({"number"})

    def __init__(self, whole: bool) -> None:
        super().__init__("number")
        self.is_whole = whole

    def judged(self, value: Any) -> int | float:
        if isinstance(value, int) and not isinstance(value, bool):
            found = int.__int__(value)
            if abs(found) > MAX_INT:
                raise Unfit("is a whole number beyond 64 bits")
            return found
        if not self.is_whole and isinstance(value, float):
            real = float.__float__(value)
            if not math.isfinite(real):
                raise Unfit("must be a finite number")
            return real
        raise Unfit(f"must be {'a whole number' if self.is_whole else 'a number'}, not {type(value).__name__}")

    def read(self, data: Any) -> int | float:
        if type(data) not in (int, float):
            raise Unfit("must be a number")
        return self.judged(data)

    def schema(self) -> JSON:
        return {"type": "integer" if self.is_whole else "number"}


class Flag(Leaf):
    """`bool`."""

    types = frozenset({"boolean"})

    def __init__(self) -> None:
        super().__init__("flag")

    def judged(self, value: Any) -> bool:
        if type(value) is not bool:
            raise Unfit(f"must be true or false, not {type(value).__name__}")
        return value

    def read(self, data: Any) -> Any:
        return self.judged(data)

    def schema(self) -> JSON:
        return {"type": "boolean"}


class Coded(Leaf):
    """A type that is written as text (or as a number): dates, UUIDs, decimals, paths, bytes, URLs of libraries."""

    def __init__(
        self,
        kind: str,
        known: Callable[[Any], bool],
        write: Callable[[Any], Any],
        make: Callable[[Any], Any],
        what: str,
        schema: JSON,
    ) -> None:
        super().__init__(kind)
        self._known, self._write, self._make, self._what, self._schema = known, write, make, what, schema
        if schema.get("type") == "number":
            self.types = frozenset({"number"})

    def judged(self, value: Any) -> Any:
        if not self._known(value):
            raise Unfit(f"must be {self._what}, not {type(value).__name__}")
        try:
            data = self._write(value)
        except Unfit:
            raise
        except Exception as error:
            raise Unfit(f"is not {self._what} that can be written down ({type(error).__name__})") from None
        return _writable(str.__str__(data)) if isinstance(data, str) else data

    def read(self, data: Any) -> Any:
        if type(data) is not str and (type(data) not in (int, float) or "number" not in self.types):
            raise Unfit(f"must be {self._what}")
        try:
            value = self._make(data)
        except Exception:
            raise Unfit(f"must be {self._what}") from None
        return value

    def schema(self) -> JSON:
        return dict(self._schema)


class Choice(Leaf):
    """One of some values: `Literal`, `Enum`."""

    def __init__(self, values: dict[Any, Any], what: str) -> None:
        """From JSON values to Python values."""
        super().__init__("text")
        self.values = list(values.items())
        self.one_of = tuple(values)
        self.what = what
        names = {str: "string", bool: "boolean", int: "number", float: "number"}
        self.types = frozenset(names[type(data)] for data in values)

    def become(self, kind: str) -> bool:
        # A path is handed over as another text, absolute; one of these values could not be.
        if kind != "text" and self.types == {"string"} and is_text(kind) and not kind_of(kind).on_disk:
            self.kind, self.one_of = kind, ()
        return self.kind == kind

    def judged(self, value: Any) -> Any:
        for data, one in self.values:
            if one is value or (type(one) is type(value) and type(value) in (str, int, bool) and one == value):
                return data
        raise Unfit(f"must be one of {self.what}")

    def read(self, data: Any) -> Any:
        for known, one in self.values:
            if type(known) is type(data) and known == data:
                return one
        raise Unfit(f"must be one of {self.what}")

    def schema(self) -> JSON:
        return {"enum": [data for data, _ in self.values]}


class Null(Leaf):
    """None, beside other types."""

    types = frozenset({"null"})
    takes_null = True

    def __init__(self) -> None:
        super().__init__("json")

    def judged(self, value: Any) -> Any:
        if value is not None:
            raise Unfit("must be null")
        return None

    def read(self, data: Any) -> Any:
        return self.judged(data)

    def schema(self) -> JSON:
        return {"type": "null"}


def is_text(kind: str) -> bool:
    """The kind is one of texts."""
    return kind in names() and kind != "json" and kind_of(kind).problem("x") is None


def json_type(data: Any) -> str:
    """`string`, `number`, `boolean`, `object`, `array` or `null`; empty for what is no JSON."""
    return _JSON_TYPES.get(type(data), "")


_JSON_TYPES = {str: "string", int: "number", float: "number", bool: "boolean", dict: "object", list: "array"}
_JSON_TYPES |= {type(None): "null"}


def plain_copy(value: Any) -> Any:
    """A copy of plain JSON. Raises Unfit for anything else: what can be written in two ways is not taken."""
    left = MAX_VALUES

    def copied(value: Any, depth: int) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Unfit(f"has more than {MAX_VALUES} values")
        kind = type(value)
        if kind is str:
            return _writable(value)
        if kind is bool or value is None:
            return value
        if kind is int or kind is float:
            return _NUMBER.judged(value)
        if depth >= MAX_DEPTH:
            raise Unfit(f"is more than {MAX_DEPTH} levels deep")
        if kind is list:
            return [copied(item, depth + 1) for item in list(value)]
        if kind is dict:
            pairs = list(value.items())
            if not all(type(key) is str for key, _ in pairs):
                raise Unfit("has a key that is not text")
            return {_writable(key): copied(item, depth + 1) for key, item in pairs}
        raise Unfit(f"is not plain JSON: {kind.__name__}")

    return copied(value, 0)


_NUMBER = Number(whole=False)


def _writable(text: str) -> str:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise Unfit("has half of a surrogate pair") from None
    return text


encoded = msgspec.json.Encoder(order="deterministic").encode
"""One text for one value, so that `1`, `1.0` and `true` are three."""


def to_base64(data: bytes) -> str:
    """Bytes as text."""
    return base64.b64encode(data).decode()


def from_base64(text: str) -> bytes:
    """The bytes of such a text. Raises ValueError."""
    return base64.b64decode(text, validate=True)
