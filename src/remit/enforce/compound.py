"""Codecs of what holds other values: lists, tuples, sets, dicts, records with fields, and unions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from remit.enforce.codec import JSON, MAX_VALUES, Codec, Leaf, Plain, Text, Unfit, encoded, json_type


class ListOf(Codec):
    """A list, a tuple of any length, a set."""

    types = frozenset({"array"})

    def __init__(
        self, item: Codec, accepted: tuple[type, ...], make: Callable[[list[Any]], Any], *, is_set: bool
    ) -> None:
        self.item, self.accepted, self.make, self.is_set = item, accepted, make, is_set
        self.may_change = item.may_change

    def judged(self, value: Any) -> list[Any]:
        if not isinstance(value, self.accepted) or isinstance(value, str | bytes):
            raise Unfit(f"must be a {self.accepted[0].__name__}, not {type(value).__name__}")
        return self._ordered(self._each(value, self.item.judged))

    def _ordered(self, found: list[Any]) -> list[Any]:
        return sorted(found, key=encoded) if self.is_set else found

    def _each(self, value: Any, turn: Callable[[Any], Any]) -> list[Any]:
        found: list[Any] = []
        try:
            for item in value:
                found.append(turn(item))
                if len(found) > MAX_VALUES:
                    raise Unfit(f"has more than {MAX_VALUES} values")
        except Unfit as unfit:
            raise Unfit(f"[{len(found)}] {unfit}" if len(found) <= MAX_VALUES else str(unfit)) from None
        return found

    def read(self, data: Any) -> Any:
        if type(data) is not list:
            raise Unfit("must be a list")
        found = self._each(data, self.item.read)
        try:
            made = self.make(found)
        except TypeError:
            raise Unfit("has values that no set can hold") from None
        if self.is_set and len(made) != len(found):
            raise Unfit("names a value twice")
        return made

    def leaves(self, name: str) -> Iterator[tuple[str, Leaf]]:
        yield from self.item.leaves(f"{name}[]")

    def declared(self, name: str, fits: Callable[[str], bool]) -> dict[str, Leaf]:
        if isinstance(self.item, Plain) or not isinstance(self.item, Leaf | Record) or not fits(f"{name}[]"):
            return self.whole(name)
        if isinstance(self.item, Record) and not self.item.can_be_named(f"{name}[]", fits):
            return self.whole(name)
        return self.item.declared(f"{name}[]", fits)

    def schema(self) -> JSON:
        return {"type": "array", "items": self.item.schema(), **({"uniqueItems": True} if self.is_set else {})}


class TupleOf(Codec):
    """A tuple with a type for each place."""

    types = frozenset({"array"})

    def __init__(self, items: list[Codec]) -> None:
        self.items = items
        self.may_change = any(item.may_change for item in items)

    def judged(self, value: Any) -> list[Any]:
        if not isinstance(value, tuple):
            raise Unfit(f"must be a tuple, not {type(value).__name__}")
        return self._each(tuple.__iter__(value), len(value), [item.judged for item in self.items])

    def _each(self, values: Iterator[Any], count: int, turns: list[Callable[[Any], Any]]) -> list[Any]:
        if count != len(turns):
            raise Unfit(f"must have {len(turns)} values, not {count}")
        return [turn(value) for turn, value in zip(turns, values, strict=True)]

    def read(self, data: Any) -> Any:
        if type(data) is not list:
            raise Unfit("must be a list")
        return tuple(self._each(iter(data), len(data), [item.read for item in self.items]))

    def leaves(self, name: str) -> Iterator[tuple[str, Leaf]]:
        for item in self.items:
            yield from item.leaves(f"{name}[]")

    def declared(self, name: str, fits: Callable[[str], bool]) -> dict[str, Leaf]:
        """Places of one kind are a list; mixed ones can't be told apart by a rule."""
        kinds = {item.kind if isinstance(item, Leaf) and not item.one_of else None for item in self.items}
        first = self.items[0] if self.items else None
        if len(kinds) != 1 or None in kinds or not isinstance(first, Leaf) or isinstance(first, Plain):
            return self.whole(name)
        return first.declared(f"{name}[]", fits) if fits(f"{name}[]") else self.whole(name)

    def schema(self) -> JSON:
        count = len(self.items)
        places = {"prefixItems": [item.schema() for item in self.items], "items": False}
        return {"type": "array", **places, "minItems": count, "maxItems": count}


class DictOf(Codec):
    """A dict: an object where all is harmless and keys are text, else a list of `{key, value}`."""

    types = frozenset({"object"})

    def __init__(self, key: Codec, value: Codec) -> None:
        self.key, self.value = key, value
        self.may_change = key.may_change or value.may_change
        self.as_entries = not (type(key) is Text and key.kind == "text")

    def judged(self, value: Any) -> Any:
        if not isinstance(value, dict):
            raise Unfit(f"must be a dict, not {type(value).__name__}")
        found = [(self.key.judged(key), self._at(key, item)) for key, item in list(dict.items(value))]
        if len(found) > MAX_VALUES:
            raise Unfit(f"has more than {MAX_VALUES} values")
        if self.as_entries:
            return [{"key": key, "value": item} for key, item in found]
        if len(made := dict(found)) != len(found):
            raise Unfit("has two keys that are written alike")
        return made

    def _at(self, key: Any, item: Any) -> Any:
        try:
            return self.value.judged(item)
        except Unfit as unfit:
            raise Unfit(f"[{str(key)[:40]!r}] {unfit}") from None

    def read(self, data: Any) -> Any:
        pairs: list[tuple[Any, Any]] = []
        if type(data) is dict and type(self.key) is Text:
            pairs = list(data.items())
        elif type(data) is list and self.as_entries:
            for entry in data:
                if type(entry) is not dict or entry.keys() != {"key", "value"}:
                    raise Unfit("must be a list of {key, value}")
                pairs.append((entry["key"], entry["value"]))
        else:
            raise Unfit("must be a list of {key, value}" if self.as_entries else "must be an object")
        found = {self.key.read(key): self.value.read(value) for key, value in pairs}
        if len(found) != len(pairs):
            raise Unfit("names a key twice")
        return found

    def leaves(self, name: str) -> Iterator[tuple[str, Leaf]]:
        yield from self.key.leaves(f"{name}[].key")
        yield from self.value.leaves(f"{name}[].value")

    def declared(self, name: str, fits: Callable[[str], bool]) -> dict[str, Leaf]:
        if not self.as_entries and all(leaf.is_harmless for _, leaf in self.leaves(name)):
            return self.whole(name)
        self.as_entries, self.types = True, frozenset({"object", "array"})
        return {
            **self.key.declared(f"{name}[].key", fits),
            **self.value.declared(f"{name}[].value", fits),
        }

    def schema(self) -> JSON:
        if not self.as_entries or type(self.key) is Text:
            return {"type": "object", "additionalProperties": self.value.schema()}
        pair = {"key": self.key.schema(), "value": self.value.schema()}
        entry = {"type": "object", "properties": pair, "required": ["key", "value"], "additionalProperties": False}
        return {"type": "array", "items": entry}


ABSENT: Any = object()


class Field:
    """One field of a record, or one parameter."""

    __slots__ = ("codec", "default", "nullable", "required")

    def __init__(
        self, codec: Codec, default: Callable[[], Any] | None, *, nullable: bool, required: bool = True
    ) -> None:
        """Without a default and not required it may be absent, and stays so."""
        self.codec, self.default, self.nullable, self.required = codec, default, nullable, required

    @property
    def optional(self) -> bool:
        """It may be absent in what is judged."""
        return self.nullable or self.default is not None or not self.required

    def absent(self) -> Any:
        """What it is where it is absent; ABSENT if there is nothing to put there."""
        if self.default is not None:
            return self.default()
        return None if self.nullable else ABSENT


class Record(Codec):
    """A type with fields: a dataclass, a model, a TypedDict, a NamedTuple. An object as JSON; None is left out."""

    types = frozenset({"object"})
    may_change = True

    def __init__(
        self, what: str, fields: dict[str, Field], take: Callable[[Any], dict[str, Any]], make: Callable[[Any], Any]
    ) -> None:
        """`take` gives the values by field, or raises Unfit for another type; `make` builds one from them."""
        self.what, self.fields, self.take, self.make = what, fields, take, make

    def judged(self, value: Any) -> JSON:
        found = self._written(self.take(value))
        if encoded(self._written(self.take(self._made(found)))) != encoded(found):
            raise Unfit(f"is a {self.what} that changes when it is rebuilt")
        return found

    def _written(self, values: dict[str, Any]) -> JSON:
        found: JSON = {}
        for name, field in self.fields.items():
            value = values.get(name, ABSENT)
            if value is ABSENT or (value is None and field.nullable):
                continue
            try:
                found[name] = field.codec.judged(value)
            except Unfit as unfit:
                raise Unfit(f".{name} {unfit}") from None
        return found

    def _made(self, data: JSON) -> Any:
        values: dict[str, Any] = {}
        for name, field in self.fields.items():
            given = data.get(name, ABSENT)
            if given is None and field.optional and not field.codec.takes_null:
                given = ABSENT
            try:
                value = field.absent() if given is ABSENT else field.codec.read(given)
            except Unfit as unfit:
                raise Unfit(f".{name} {unfit}") from None
            if value is not ABSENT:
                values[name] = value
            elif field.required:
                raise Unfit(f".{name} is missing")
        try:
            return self.make(values)
        except Exception as error:
            raise Unfit(f"is not a valid {self.what} ({type(error).__name__})") from None

    def read(self, data: Any) -> Any:
        if type(data) is not dict:
            raise Unfit("must be an object")
        unknown = sorted(str(key) for key in data.keys() - self.fields.keys())
        if unknown:
            raise Unfit(f"has no field `{unknown[0][:80]}`")
        return self._made(data)

    def leaves(self, name: str) -> Iterator[tuple[str, Leaf]]:
        for key, field in self.fields.items():
            yield from field.codec.leaves(f"{name}.{key}")

    def can_be_named(self, name: str, fits: Callable[[str], bool]) -> bool:
        """Its fields can stand in a declaration."""
        return bool(self.fields) and all(fits(f"{name}.{key}") for key in self.fields)

    def declared(self, name: str, fits: Callable[[str], bool]) -> dict[str, Leaf]:
        if not self.can_be_named(name, fits):
            return self.whole(name)
        found: dict[str, Leaf] = {}
        for key, field in self.fields.items():
            found |= field.codec.declared(f"{name}.{key}", fits)
        return found

    def schema(self) -> JSON:
        return object_schema(self.fields)


class Union(Codec):
    """One of several types that JSON tells apart."""

    def __init__(self, codecs: list[Codec]) -> None:
        self.codecs = codecs
        self.types = frozenset().union(*(codec.types for codec in codecs))
        self.takes_null = "null" in self.types
        self.may_change = any(codec.may_change for codec in codecs)

    def judged(self, value: Any) -> Any:
        for codec in self.codecs:
            try:
                return codec.judged(value)
            except Unfit:
                continue
        raise Unfit(f"is of none of its types, but {type(value).__name__}")

    def read(self, data: Any) -> Any:
        for codec in self.codecs:
            if json_type(data) in codec.types:
                return codec.read(data)
        raise Unfit("is of none of its types")

    def leaves(self, name: str) -> Iterator[tuple[str, Leaf]]:
        for codec in self.codecs:
            yield from codec.leaves(name)

    def declared(self, name: str, fits: Callable[[str], bool]) -> dict[str, Leaf]:
        return self.whole(name)

    def schema(self) -> JSON:
        return {"anyOf": [codec.schema() for codec in self.codecs]}


def object_schema(fields: dict[str, Field]) -> JSON:
    """An object with these fields and no others."""
    found: JSON = {"type": "object", "properties": {name: field_schema(field) for name, field in fields.items()}}
    required = [name for name, field in fields.items() if not field.optional]
    return found | ({"required": required} if required else {}) | {"additionalProperties": False}


def field_schema(field: Field) -> JSON:
    """Null where the field takes it."""
    found = field.codec.schema()
    if not field.nullable or not found:
        return found
    if isinstance(found.get("type"), str):
        return found | {"type": [found["type"], "null"]}
    return {"anyOf": [found, {"type": "null"}]}
