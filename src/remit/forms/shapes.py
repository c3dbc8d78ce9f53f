"""Shapes: one description of the format, used both to read it and to make the JSON Schema.

Record({"tier": Field(Number(0, 4)), "about": Field(Text())}, build=...)
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from remit.forms.nodes import LIST, MAP, SCALAR, Node
from remit.model.errors import PolicyError, Problem
from remit.model.text import did_you_mean, listed, shown, shown_name, suggestion

JSON = dict[str, Any]


class _Bad:
    """What a shape returns after it has said what is wrong."""

    def __repr__(self) -> str:
        return "BAD"


BAD: Final = _Bad()


class Reader:
    """Collects every problem, so that an author sees them all at once."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.lists: dict[str, Node] = {}
        """Lists that the policy has named, for `{list: NAME}`."""
        self.used_lists: set[str] = set()

    def fail(self, at: str, code: str, message: str, help: str | None = None) -> _Bad:
        """Note a problem; returns BAD."""
        self.problems.append(Problem(code, message, at, help))
        return BAD

    def finish(self) -> None:
        """Raises PolicyError if anything was wrong."""
        if self.problems:
            raise PolicyError(tuple(sorted(self.problems, key=_position)))


def _position(problem: Problem) -> tuple[str, int, int]:
    name, _, rest = problem.at.partition(":")
    numbers = [int(part) for part in rest.split(":") if part.isdigit()]
    return name, *[*numbers, 0, 0][:2]  # type: ignore[return-value]


class Shape:
    """Reads a node into a value, or says what is wrong with it."""

    expects = "a value"

    def read(self, node: Node, reader: Reader) -> Any:
        raise NotImplementedError

    def schema(self) -> JSON:
        raise NotImplementedError

    def wrong(self, node: Node, reader: Reader) -> _Bad:
        """Says what was expected and what came."""
        got: str = node.kind
        if node.kind is SCALAR:
            value = node.scalar()
            got = "nothing" if value is None else f"`{shown(node.value)}`"
        help = None
        if node.kind is MAP and node.value and all(n.kind is SCALAR and not n.value for n in node.value.values()):
            help = f'quote it: "{{{shown(",".join(node.value))}}}"'
        elif node.kind is MAP and len(node.value) == 1 and " " in next(iter(node.value)):
            key, item = next(iter(node.value.items()))
            if item.kind is SCALAR:
                help = f'an entry with `: ` in it must be quoted: "{shown(key)}: {shown(item.value)}"'
        if node.kind is MAP and isinstance(self, ListOf) and isinstance(self.item, Record):
            help = "make it an entry of a list: [{…}], or `- ` before its first key"
        if node.kind is LIST and isinstance(self, MapOf):
            help = self.help or f"write a key for each instead of a list: {{{self.what.upper()}: …}}"
        if isinstance(self, Text) and node.kind is SCALAR and ", " in node.value and help is None:
            help = f"write several as a list: [{shown(node.value)}]"
        if got == "nothing" and help is None:
            help = "write the value after the colon, or indented on the next line"
        return reader.fail(node.at, "bad-value", f"expected {self.expects}, got {got}", help)


class Text(Shape):
    """Any text; a number or a boolean must be quoted to be one."""

    expects = "text"

    def __init__(self, pattern: str | None = None, expects: str | None = None) -> None:
        self.pattern = re.compile(pattern) if pattern else None
        if expects:
            self.expects = expects

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is not SCALAR:
            return self.wrong(node, reader)
        value = node.scalar() if node.plain else node.value
        if not isinstance(value, str):
            if value is None:
                return self.wrong(node, reader)
            return reader.fail(
                node.at,
                "bad-value",
                f"expected {self.expects}, got `{node.value}`",
                f'quote it: "{node.value}"',
            )
        if self.pattern and not self.pattern.fullmatch(value):
            return self.wrong(node, reader)
        return value

    def schema(self) -> JSON:
        return {"type": "string", **({"pattern": f"^(?:{self.pattern.pattern})$"} if self.pattern else {})}


class Flag(Shape):
    """true or false."""

    expects = "true or false"

    def read(self, node: Node, reader: Reader) -> Any:
        value = node.scalar() if node.kind is SCALAR and node.plain else None
        if isinstance(value, bool):
            return value
        if node.kind is SCALAR and not node.plain and node.value in ("true", "false"):
            return reader.fail(
                node.at, "bad-value", f'expected {self.expects}, got text "{node.value}"', "write it without quotes"
            )
        return self.wrong(node, reader)

    def schema(self) -> JSON:
        return {"type": "boolean"}


class Number(Shape):
    """A number within bounds, whole unless `real`."""

    def __init__(self, low: float | None = None, high: float | None = None, *, real: bool = False) -> None:
        self.low, self.high, self.real = low, high, real
        bounds = f" from {low} to {high}" if low is not None and high is not None else ""
        self.expects = f"a {'' if real else 'whole '}number{bounds}" if low is None or low != high else f"{low}"

    def wrong(self, node: Node, reader: Reader) -> _Bad:
        """A number in quotation marks is a text."""
        if node.kind is SCALAR and not node.plain and re.fullmatch(r"[0-9.]+", str(node.value)):
            help_ = f"write it without quotation marks: {node.value}"
            return reader.fail(node.at, "bad-value", f'expected {self.expects}, got the text `"{node.value}"`', help_)
        return super().wrong(node, reader)

    def read(self, node: Node, reader: Reader) -> Any:
        value = node.scalar() if node.kind is SCALAR and node.plain else None
        if isinstance(value, bool) or not isinstance(value, (int, float) if self.real else int):
            return self.wrong(node, reader)
        if (self.low is not None and value < self.low) or (self.high is not None and value > self.high):
            return self.wrong(node, reader)
        return value

    def schema(self) -> JSON:
        bounds = {"minimum": self.low, "maximum": self.high}
        return {
            "type": "number" if self.real else "integer",
            **{k: v for k, v in bounds.items() if v is not None},
        }


class Choice(Shape):
    """One word of a few."""

    def __init__(self, *words: str) -> None:
        self.words = words
        self.expects = "one of " + ", ".join(words)

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is SCALAR and node.value in self.words:
            return node.value
        if node.kind is SCALAR:
            hint = did_you_mean(node.value, self.words)
            return reader.fail(node.at, "bad-value", f"expected {self.expects}, got `{shown(node.value)}`{hint}")
        return self.wrong(node, reader)

    def schema(self) -> JSON:
        return {"enum": list(self.words)}


class Scalar(Shape):
    """Text, a number, true or false."""

    expects = "text, a number, true or false"

    def read(self, node: Node, reader: Reader) -> Any:
        value = node.scalar() if node.kind is SCALAR else None
        return self.wrong(node, reader) if value is None else value

    def schema(self) -> JSON:
        return {"type": ["string", "number", "boolean"]}


class ListOf(Shape):
    """A list; with `single`, one item may stand alone; with `some`, an empty one says nothing and is wrong."""

    def __init__(self, item: Shape, *, single: bool = False, some: bool = False) -> None:
        self.item, self.single, self.some = item, single, some
        several = item.expects.replace("a mapping", "mappings", 1) if isinstance(item, Record) else item.expects
        self.expects = f"a list of {several}" if not single else f"{item.expects}, or a list"

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is LIST:
            if self.some and not node.value:
                return reader.fail(node.at, "bad-value", f"expected {self.expects}, got an empty list")
            read = self.item.read
            values = [read(item, reader) for item in node.value]
            return tuple([value for value in values if value is not BAD])
        if self.single:
            value = self.item.read(node, reader)
            return BAD if value is BAD else (value,)
        return self.wrong(node, reader)

    def schema(self) -> JSON:
        many: JSON = {"type": "array", "items": self.item.schema()}
        if self.some:
            many["minItems"] = 1
        return {"anyOf": [self.item.schema(), many]} if self.single else many


class MapOf(Shape):
    """A mapping from names to values of one shape. The item is read with the key's name if it wants it."""

    def __init__(
        self,
        item: Shape,
        *,
        keys: re.Pattern[str] | None = None,
        what: str = "name",
        help: str | None = None,
        offered: Callable[[], list[str]] | None = None,
    ) -> None:
        """`offered`: names that an editor proposes; others may stand there too."""
        self.item, self.keys, self.what, self.help, self.offered = item, keys, what, help, offered
        self.expects = f"a mapping of {what} to {item.expects}"

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is not MAP:
            return self.wrong(node, reader)
        found = {}
        for key, value in node.value.items():
            if self.keys and not self.keys.fullmatch(key):
                article = "an" if self.what[0] in "aeiou" else "a"
                message = f"`{shown_name(key)}` can't be the name of {article} {self.what}"
                reader.fail(node.at_key(key), "bad-name", message, _name_help(key))
                continue
            if isinstance(self.item, Record) and key in self.item.fields and value.kind is not MAP:
                article = "an" if self.what[0] in "aeiou" else "a"
                message = (
                    f"`{key}`, a key of {self.item.what}, stands where the name of {article} {self.what} is expected"
                )
                reader.fail(node.at_key(key), "misplaced-key", message, f"indent it further, below the {self.what}")
                continue
            item = self.item.read(value, reader)
            if item is not BAD:
                found[key] = item
        return found

    def schema(self) -> JSON:
        schema: JSON = {"type": "object", "additionalProperties": self.item.schema()}
        if self.keys is not None:
            schema["propertyNames"] = {"pattern": f"^(?:{self.keys.pattern})$"}
        if self.offered is not None:
            schema["properties"] = {
                name: {**self.item.schema(), "description": f"the {self.what} {name}"} for name in self.offered()
            }
        return schema


class Field:
    """One key of a record."""

    __slots__ = ("about", "required", "shape")

    def __init__(self, shape: Shape, about: str, *, required: bool = False) -> None:
        self.shape, self.about, self.required = shape, about, required


def _as_written(node: Node) -> str:
    """A short value as it would stand behind a key."""
    if node.kind is SCALAR:
        return shown(node.value) if node.plain else f'"{shown(node.value)}"'
    few = [_as_written(item) for item in node.value if item.kind is SCALAR]
    return f"[{', '.join(few)}]" if few and len(few) == len(node.value) <= MOST_KEYS else "[…]"


class Record(Shape):
    """A mapping with known keys only. `build(values, node, reader)` makes the value."""

    def __init__(
        self,
        fields: dict[str, Field],
        build: Callable[[dict[str, Any], Node, Reader], Any] | None = None,
        *,
        what: str = "entry",
    ) -> None:
        self.fields, self.build, self.what = fields, build, what
        self.required = [key for key, field in fields.items() if field.required]
        self.expects = f"a mapping with {', '.join(list(fields)[:4])}{', …' if len(fields) > 4 else ''}"

    def wrong(self, node: Node, reader: Reader) -> _Bad:
        """One of its keys without the colon is a text."""
        key, _, rest = str(node.value).partition(" ") if node.kind is SCALAR else ("", "", "")
        if key in self.fields and rest:
            got = f"expected {self.expects}, got the text `{shown(node.value)}`"
            return reader.fail(node.at, "bad-value", got, f"a colon is missing: write {key}: {shown(rest)}")
        meant = self._short_for()
        if meant and (node.kind is LIST or (node.kind is SCALAR and node.scalar() is not None)):
            got = f"`{shown(node.value)}`" if node.kind is SCALAR else "list"
            written = f"[{_as_written(node)}]" if node.kind is SCALAR and meant == "run" else _as_written(node)
            help_ = f"write {{{meant}: {written}}}"
            return reader.fail(node.at, "bad-value", f"expected {self.expects}, got {got}", help_)
        return super().wrong(node, reader)

    def _short_for(self) -> str | None:
        """The key that a value without a key was probably meant for."""
        only = self.required if len(self.required) == 1 else list(self.fields)
        return only[0] if len(only) == 1 else next((key for key in ("may", "run") if key in self.fields), None)

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is not MAP:
            return self.wrong(node, reader)
        values: dict[str, Any] = {}
        fields = self.fields
        bad = False
        for key, item in node.value.items():
            field = fields.get(key)
            if field is None:
                bad = True
                self._unknown(key, node, reader)
                continue
            value = field.shape.read(item, reader)
            if value is BAD:
                bad = True
            else:
                values[key] = value
        for key in self.required:
            if key not in node.value:
                bad = True
                reader.fail(node.at, "missing-key", f"`{key}` is missing in {self.what}", self._example(key))
        if self.build is None:
            return BAD if bad else values
        return BAD if bad else self.build(values, node, reader)

    def _example(self, key: str) -> str:
        shape, about = self.fields[key].shape, self.fields[key].about
        only = shape.expects if isinstance(shape, Number) and shape.low == shape.high else "…"
        return f"write `{key}: {only}`: {about}"

    def _unknown(self, key: str, node: Node, reader: Reader) -> None:
        """Says what the key probably should be, or which ones there are."""
        meant = [word for word in OTHER_WORDS.get(key.lower().replace("-", "_"), ()) if word in self.fields]
        hint = f"; did you mean `{meant[0]}`?" if meant else did_you_mean(key, self.fields)
        help = _brace_help(node)
        if not hint and help is None:
            help = f"its keys are {listed(self.fields, MOST_KEYS)}"
        reader.fail(node.at_key(key), "unknown-key", f"unknown key `{shown(key)}` in {self.what}{hint}", help)

    def schema(self) -> JSON:
        properties = {}
        for key, field in self.fields.items():
            shape = field.shape.schema()
            properties[key] = {**shape, "description": field.about}
        schema: JSON = {"type": "object", "properties": properties, "additionalProperties": False}
        numbers = [key for key in properties if key.isdigit()]
        if numbers:  # editors read the key `4` as a number, and find it by a pattern only
            schema["patternProperties"] = {f"^(?:{'|'.join(numbers)})$": {}}
        if self.required:
            schema["required"] = self.required
        return schema


MOST_KEYS = 24
"""How many keys a message lists."""
OTHER_WORDS = {
    **dict.fromkeys(("allow", "allowed", "allows", "permit", "permissions", "can", "permitted"), ("may", "run")),
    **dict.fromkeys(("deny", "denied", "forbid", "forbidden", "disallow", "disallowed_tools", "cannot"), ("may_not",)),
    **dict.fromkeys(("ask", "confirm", "approve", "require_approval", "needs_approval"), ("must_ask",)),
    **dict.fromkeys(("allowed_tools", "allow_tools"), ("may",)),
    **dict.fromkeys(("command", "commands", "cmd", "run", "bash", "programs"), ("shell", "run")),
    **dict.fromkeys(("domain", "domains", "urls", "site"), ("url", "urls")),
    **dict.fromkeys(("paths", "file", "files", "glob", "folder", "dir", "directory"), ("path",)),
    **dict.fromkeys(("matches", "match", "pattern", "regexp"), ("regex",)),
    **dict.fromkeys(("contains", "like", "starts_with", "startswith", "ends_with", "endswith"), ("regex",)),
    **dict.fromkeys(("lt", "lte", "le", "less_than", "at_most", "maximum", "upto", "up_to"), ("max",)),
    **dict.fromkeys(("gt", "gte", "ge", "more_than", "at_least", "minimum"), ("min",)),
    **dict.fromkeys(("eq", "is", "value", "equal"), ("equals",)),
    **dict.fromkeys(("in", "any_of", "values", "enum", "oneof"), ("one_of",)),
    **dict.fromkeys(("subagents", "handoffs", "delegates", "can_delegate_to"), ("delegates_to",)),
    **dict.fromkeys(("packs", "extends", "import", "uses"), ("use", "include")),
    **dict.fromkeys(("arguments", "parameters", "params", "inputs"), ("args",)),
    **dict.fromkeys(("effects", "effect", "kind_of_effect"), ("does", "effect", "effects")),
}
"""What people write for a key who know another format; the first that the place has is meant."""


class Either(Shape):
    """Different shapes by the kind of node."""

    def __init__(self, *, scalar: Shape | None = None, list: Shape | None = None, map: Shape | None = None) -> None:
        self.by_kind = {k: s for k, s in ((SCALAR, scalar), (LIST, list), (MAP, map)) if s is not None}
        self.expects = ", or ".join(shape.expects for shape in self.by_kind.values())

    def read(self, node: Node, reader: Reader) -> Any:
        shape = self.by_kind.get(node.kind)
        if shape is None:
            return self.wrong(node, reader)
        before = len(reader.problems)
        found = shape.read(node, reader)
        if found is BAD and node.kind is SCALAR and len(self.by_kind) > 1:
            self._say_others(reader, before)
        return found

    def _say_others(self, reader: Reader, before: int) -> None:
        """A word that is none of the short forms may have been meant as a longer one."""
        others = ", or ".join(shape.expects for kind, shape in self.by_kind.items() if kind is not SCALAR)
        for index in range(before, len(reader.problems)):
            problem = reader.problems[index]
            if LIST in self.by_kind and "got `" in problem.message:
                others = f"a list, such as [{problem.message.rpartition('got `')[2].partition('`')[0]}]"
            if problem.help is None and problem.code == "bad-value":
                reader.problems[index] = Problem(problem.code, problem.message, problem.at, f"or {others}")

    def schema(self) -> JSON:
        return {"anyOf": [shape.schema() for shape in self.by_kind.values()]}


class ShortOr(Shape):
    """A long form, or a short one that stands for one key of it."""

    def __init__(self, short: Shape, key: str, long: Record, expects: str) -> None:
        self.short, self.key, self.long, self.expects = short, key, long, expects

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is MAP:
            return self.long.read(node, reader)
        found = self.short.read(node, reader)
        return BAD if found is BAD else {self.key: found}

    def schema(self) -> JSON:
        return {"anyOf": [self.short.schema(), self.long.schema()]}


class Late(Shape):
    """A shape that is made when it is needed, since what it admits can change."""

    def __init__(self, shape: Callable[[], Shape], expects: str) -> None:
        self._shape, self.expects = shape, expects

    def read(self, node: Node, reader: Reader) -> Any:
        return self._shape().read(node, reader)

    def schema(self) -> JSON:
        return self._shape().schema()


class Ref(Shape):
    """A named shape, for recursion and for a schema that people can read."""

    def __init__(self, name: str, shape: Callable[[], Shape]) -> None:
        self.name, self._shape = name, shape
        self.expects = f"a {name}"

    @property
    def shape(self) -> Shape:
        return self._shape()

    def read(self, node: Node, reader: Reader) -> Any:
        return self._shape().read(node, reader)

    def schema(self) -> JSON:
        return {"$ref": f"#/$defs/{self.name}"}


def _brace_help(node: Node) -> str | None:
    if "<<" in node.value:
        return "a policy has no merge keys: what agents share is a role"
    if node.value and all(item.kind is SCALAR and item.plain and not item.value for item in node.value.values()):
        return f'a pattern in braces must be quoted: "{{{shown(",".join(node.value))}}}"'
    return None


def _name_help(name: str) -> str:
    """How names are written, with this one written so if it can be."""
    plain = re.sub(r"[\s]+", "-", name.strip())
    return f"{NAME_HELP}: `{plain}`" if NAME.fullmatch(plain) else NAME_HELP


NAME_HELP = "names are ASCII letters, digits and . _ : / - without spaces"
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/-]{0,127}")
"""Names of agents, roles, runners, tools and toolsets: ASCII only, so that none can look like another."""


class Listed(Shape):
    """A list as it is, or by its name: `{list: team}`; with `bare`, the name alone."""

    def __init__(self, shape: Shape, *, bare: bool = False) -> None:
        self.shape, self.bare, self.expects = shape, bare, shape.expects

    def read(self, node: Node, reader: Reader) -> Any:
        name = node
        if node.kind is MAP and list(node.value) == ["list"]:
            name = node.value["list"]
        elif not self.bare or node.kind is not SCALAR:
            return self.shape.read(node, reader)
        if name.kind is not SCALAR or name.value not in reader.lists:
            hint = suggestion(str(name.value), reader.lists) if name.kind is SCALAR else ""
            help = "lists are named once, at the top of the policy: lists: {NAME: […]}"
            shown_ = shown(name.value) if name.kind is SCALAR else "this"
            return reader.fail(name.at, "unknown-list", f"no list is named `{shown_}`{hint}", help)
        reader.used_lists.add(name.value)
        return self.shape.read(reader.lists[name.value], reader)

    def schema(self) -> JSON:
        named = {
            "type": "object",
            "properties": {"list": {"type": "string", "description": "a list of the policy, by its name"}},
            "required": ["list"],
            "additionalProperties": False,
        }
        bare = [{"type": "string"}] if self.bare else []
        return {"anyOf": [self.shape.schema(), named, *bare]}
