"""The format of rules and scopes: what follows `may`, `must_ask` and `may_not`."""

from __future__ import annotations

from typing import Any

from remit.declare.nodes import LIST, MAP, SCALAR, Node
from remit.declare.shapes import (
    BAD,
    JSON,
    Choice,
    Either,
    Field,
    Flag,
    ListOf,
    MapOf,
    Number,
    Reader,
    Record,
    Ref,
    Scalar,
    Shape,
    Text,
)
from remit.declare.sql import sql_scope
from remit.declare.words import Anything, GlobText, Name, NamePattern, RegexText, UrlText
from remit.model.policy import Condition, Examples, PathScope, Rule, Scope, Verb
from remit.model.terms import CONTEXT_KEYS, EFFECTS
from remit.model.text import did_you_mean, shown

globs = ListOf(GlobText(), single=True)
absolute_globs = ListOf(GlobText(absolute=True), single=True)
urls = ListOf(UrlText(), single=True)
names = ListOf(Name, single=True)
effects = ListOf(Choice(*EFFECTS), single=True, some=True)


def _path(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    if not values.get("allow") and not values.get("outside") and "allow" not in values:
        return reader.fail(node.at, "missing-key", "a path scope says `allow` or `outside`")
    return PathScope(
        allow=values.get("allow", ()),
        except_=values.get("except", ()),
        outside=values.get("outside", ()),
        new_only=values.get("new_only", False),
    )


class _PathShape(Shape):
    """`docs/**`, a list of globs, or the long form."""

    expects = "a glob, a list of globs, or {allow, except, new_only, outside}"
    long = Record(
        {
            "allow": Field(globs, "globs below the root"),
            "except": Field(globs, "globs taken out again"),
            "new_only": Field(Flag(), "only files that don't exist yet"),
            "outside": Field(absolute_globs, "absolute globs outside the root"),
        },
        _path,
        what="a path scope",
    )

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is MAP:
            return self.long.read(node, reader)
        found = globs.read(node, reader)
        return BAD if found is BAD else PathScope(allow=found)

    def schema(self) -> JSON:
        return {"anyOf": [globs.schema(), self.long.schema()]}


_path_shape = _PathShape()
path_scope = Ref("path-scope", lambda: _path_shape)


def _condition(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    if "range" in values and ("min" in values or "max" in values):
        return reader.fail(node.at, "bad-value", "a condition has a range, or min and max, not both")
    if not values:
        return reader.fail(node.at, "bad-value", "a condition says what the argument must be")
    low, high = values.pop("range", (None, None))
    low, high = values.pop("min", low), values.pop("max", high)
    if low is not None and high is not None and low > high:
        return reader.fail(node.at, "bad-value", f"no number lies from {low} to {high}")
    length = values.pop("length", {})
    if isinstance(length, int):
        length = {"min": length, "max": length}
    return Condition(min=low, max=high, min_length=length.get("min"), max_length=length.get("max"), **values)


class _Range(ListOf):
    """Two numbers."""

    def __init__(self) -> None:
        super().__init__(Number(real=True))
        self.expects = "two numbers such as [1, 10]"

    def read(self, node: Node, reader: Reader) -> Any:
        found = super().read(node, reader)
        return self.wrong(node, reader) if found is not BAD and len(found) != 2 else found


class _ConditionShape(Shape):
    """A value, a list of values, or a mapping of tests."""

    expects = "a value, a list of values, or a mapping such as {regex: …}"
    one_of = ListOf(Scalar(), some=True)
    long = Record(
        {
            "equals": Field(Scalar()),
            "one_of": Field(ListOf(Scalar(), some=True)),
            "regex": Field(RegexText(), "matches the whole value, in linear time"),
            "range": Field(_Range()),
            "min": Field(Number(real=True)),
            "max": Field(Number(real=True)),
            "length": Field(
                Either(
                    scalar=Number(0, 10**9),
                    map=Record({"min": Field(Number(0, 10**9)), "max": Field(Number(0, 10**9))}, what="a length"),
                )
            ),
            "path": Field(path_scope),
            "url": Field(urls),
            "agent": Field(names),
            "skill": Field(names),
        },
        _condition,
        what="a condition",
    )

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is MAP:
            return self.long.read(node, reader)
        if node.kind is LIST:
            found = self.one_of.read(node, reader)
            return BAD if found is BAD else Condition(one_of=found)
        value = Scalar().read(node, reader)
        return BAD if value is BAD else Condition(equals=value)

    def schema(self) -> JSON:
        return {"anyOf": [Scalar().schema(), self.one_of.schema(), self.long.schema()]}


class _When(MapOf):
    """Values of the trusted context."""

    def __init__(self) -> None:
        super().__init__(ListOf(Scalar(), single=True, some=True), what="context key")

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is MAP:
            for key in node.value:
                if key not in CONTEXT_KEYS:
                    known = ", ".join(CONTEXT_KEYS)
                    reader.fail(
                        node.at_key(key),
                        "unknown-key",
                        f"`when` can't look at `{shown(key)}`{did_you_mean(key, CONTEXT_KEYS)}",
                        f"it looks at {known}",
                    )
        return super().read(node, reader)

    def schema(self) -> JSON:
        item = self.item.schema()
        return {
            "type": "object",
            "properties": dict.fromkeys(CONTEXT_KEYS, item),
            "additionalProperties": False,
        }


_words = ListOf(Text(), single=True)
_run = Either(
    scalar=Text(),
    map=MapOf(
        Either(
            scalar=Text(),
            list=ListOf(Text()),
            map=Record(
                {
                    "sub": Field(_words, "subcommands"),
                    "effects": Field(effects, "effects its options may have, beyond or below the profile's"),
                    "options": Field(_words, "the only options it may have, as `-csv` or `--csv`"),
                    "targets": Field(_words, "make targets"),
                    "module": Field(_words, "python -m modules"),
                    "url": Field(urls),
                    "host": Field(_words),
                    "db": Field(_words, "database files"),
                    "sql": Field(Ref("sql-scope", lambda: sql_scope)),
                    "meta": Field(_words, "commands of a database client, such as tables (.tables) and d (\\d)"),
                    "unsafe_any_arguments": Field(Flag(), "any arguments at all: weakens enforcement"),
                },
                what="a command",
            ),
        ),
        what="program",
    ),
)
_joiners = Choice(
    "and",
    "or",
    "then",
    "pipe",
    "background",
    "group",
    "subshell",
    "substitution",
    "condition",
    "loop",
    "function",
)
_shell = Record(
    {
        "sets": Field(_words, "named command sets of the catalog"),
        "run": Field(Either(scalar=Choice("any"), list=ListOf(_run)), "programs and subcommands"),
        "filters": Field(_words, "programs allowed only behind a pipe"),
        "joined_by": Field(ListOf(_joiners)),
        "redirect": Field(_words),
        "env": Field(_words),
        "stdin": Field(Choice("literal", "none")),
        "in": Field(Text(), "working directory"),
        "path": Field(MapOf(globs, what="effect"), "what the commands may touch, by effect"),
    },
    what="a shell scope",
)

_exception: Record
_SCOPE_FIELDS: dict[str, Field] = {
    "path": Field(path_scope, "where path arguments must lie"),
    "url": Field(urls, "what URL arguments must be"),
    "agent": Field(names, "which agents it may name"),
    "skill": Field(names, "which skills it may name"),
    "shell": Field(Ref("shell-scope", lambda: _shell), "which commands it may run"),
    "sql": Field(Ref("sql-scope", lambda: sql_scope), "which statements it may run"),
    "where": Field(MapOf(_ConditionShape(), what="argument"), "conditions on single arguments"),
    "when": Field(_When(), "conditions on the trusted context"),
    "effect": Field(effects, "what it does"),
    "except": Field(Ref("exception", lambda: _exception), "taken out again"),
}


class _ExampleShape(Anything):
    """The value of the argument that matters, or a mapping of arguments."""

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is MAP and any(" " in key for key in node.value):
            return self.wrong(node, reader)
        return super().read(node, reader)


def _scope(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    if "except" in values:
        values["except_"] = values.pop("except")
    return Scope(**values)


def _excepted(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    if not any(values.values()):
        return reader.fail(node.at, "bad-value", "an exception says what it leaves alone")
    return _scope(values, node, reader)


_exception = Record(
    {k: f for k, f in _SCOPE_FIELDS.items() if k not in ("except", "when")}, _excepted, what="an exception"
)
_EXTRA_FIELDS = {
    "ask": Field(Name, "who is asked: human, chain, a role or an agent"),
    "examples": Field(
        Record(
            {key: Field(ListOf(_ExampleShape())) for key in ("allow", "ask", "deny")},
            lambda values, node, reader: Examples(**{k: tuple(v) for k, v in values.items()}),
            what="examples",
        ),
        "calls decided when the policy loads",
    ),
}
rule_keys = frozenset({*_SCOPE_FIELDS, *_EXTRA_FIELDS})
"""Words that begin a scope, so that no tool may have them as its name."""


def _ruled(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    return (
        {key: values.pop(key) for key in ("ask", "examples") if key in values},
        _scope(values, node, reader),
    )


_rule_scope = Record({**_SCOPE_FIELDS, **_EXTRA_FIELDS}, _ruled, what="a scope")


class Rules(Shape):
    """The entries of `may`, `must_ask` or `may_not`."""

    expects = "a list of tools, toolsets, or {tool: scope}"

    def __init__(self, verb: Verb) -> None:
        self.verb = verb

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is not LIST:
            node = Node(LIST, [node], node.source, node.line, node.col)
        rules: list[Rule] = []
        for entry in node.value:
            rules.extend(self._entry(entry, reader))
        return tuple(rules)

    def _entry(self, node: Node, reader: Reader) -> list[Rule]:
        if node.kind is SCALAR:
            name = NamePattern.read(node, reader)
            return [] if name is BAD else [Rule(self.verb, (name,), at=node.at)]
        if node.kind is LIST:
            found = ListOf(NamePattern, some=True).read(node, reader)
            return [Rule(self.verb, found, at=node.at)] if found else []
        if not node.value:
            reader.fail(node.at, "bad-value", "an entry names a tool, a toolset or a scope")
            return []
        if all(key in _rule_scope.fields for key in node.value):
            read = _rule_scope.read(node, reader)
            return [] if read is BAD else [self._rule(None, read, node.at, reader)]
        rules = []
        for key, value in node.value.items():
            at = node.at_key(key)
            if " " in key and value.kind is SCALAR:
                text = f"{key}: {value.value}" if value.value else key
                help = f'an entry with `: ` in it must be quoted: "{shown(text)}"'
                reader.fail(at, "unquoted", f"`{shown(key)}` is no tool or toolset", help)
                continue
            if NamePattern.pattern is not None and not NamePattern.pattern.fullmatch(key):
                reader.fail(at, "bad-name", f"`{shown(key)}` is no tool or toolset")
                continue
            if value.kind is SCALAR and value.scalar() is None:
                rules.append(Rule(self.verb, (key,), at=at))
                continue
            read = _rule_scope.read(value, reader)
            if read is not BAD:
                rules.append(self._rule((key,), read, at, reader))
        return rules

    def _rule(self, tools: tuple[str, ...] | None, read: Any, at: str, reader: Reader) -> Rule:
        extra, scope = read
        if "ask" in extra and self.verb != "must_ask":
            reader.fail(at, "misplaced-key", f"`ask` belongs to must_ask, not to {self.verb}")
        if tools is None and "examples" in extra:
            reader.fail(at, "misplaced-key", "examples need a tool")
        if scope.except_ is not None and self.verb == "may":
            reader.fail(
                at,
                "misplaced-key",
                "`except` belongs to may_not and must_ask; inside `path` it belongs to may too",
            )
        return Rule(self.verb, tools, scope, at=at, **extra)

    def schema(self) -> JSON:
        return {"$ref": "#/$defs/rules"}


def definitions() -> dict[str, JSON]:
    """The parts of the JSON Schema that others refer to."""
    name = {"type": "string"}
    scope = {"$ref": "#/$defs/scope"}
    scoped = {"type": "object", "additionalProperties": {"anyOf": [scope, {"type": "null"}]}}
    entry = {"anyOf": [name, {"type": "array", "items": name}, scope, scoped]}
    return {
        "scope": _rule_scope.schema(),
        "path-scope": _path_shape.schema(),
        "rules": {"anyOf": [{"type": "array", "items": entry}, entry]},
        "exception": _exception.schema(),
        "shell-scope": _shell.schema(),
        "sql-scope": sql_scope.schema(),
    }
