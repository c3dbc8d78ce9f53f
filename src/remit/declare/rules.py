"""The format of rules and scopes: what follows `may`, `must_ask` and `may_not`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from remit.forms.bound import bound_value
from remit.forms.nodes import LIST, MAP, SCALAR, Node
from remit.forms.shapes import (
    BAD,
    JSON,
    NAME,
    Choice,
    Either,
    Field,
    Flag,
    Listed,
    ListOf,
    MapOf,
    Number,
    Reader,
    Record,
    Ref,
    Scalar,
    Shape,
)
from remit.forms.texts import Anything, Name, NamePattern, Parsed
from remit.model.frozen import NOTHING
from remit.model.pattern import compile_later
from remit.model.policy import Condition, Examples, Rule, Scope, Verb
from remit.model.terms import CONTEXT_KEYS, EFFECTS
from remit.model.text import did_you_mean, shown
from remit.scopes.interface import Kind
from remit.scopes.kinds import scoped
from remit.scopes.path import glob_texts
from remit.scopes.regex import compile_regex
from remit.scopes.url import url_texts

globs = glob_texts()
urls = url_texts()
effects = ListOf(Choice(*EFFECTS), single=True, some=True)
parameters = MapOf(Scalar(), keys=NAME, what="parameter")


def _condition(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    if "each" in values and not values.keys() <= {"each", "optional"}:
        return reader.fail(node.at, "bad-value", "beside `each` a condition has nothing but `optional`")
    if "range" in values and ("min" in values or "max" in values):
        return reader.fail(node.at, "bad-value", "a condition has a range, or min and max, not both")
    if not values or values == {"optional": False}:
        return reader.fail(node.at, "bad-value", "a condition says what the argument must be")
    low, high = values.pop("range", (None, None))
    low, high = values.pop("min", low), values.pop("max", high)
    if low is not None and high is not None and low > high:
        return reader.fail(node.at, "bad-value", f"no number lies from {low} to {high}")
    length = values.pop("length", {})
    if isinstance(length, int):
        length = {"min": length, "max": length}
    if isinstance(values.get("equals"), dict):
        values["same_as"] = ":".join(next(iter(values.pop("equals").items())))
    parts = _parts(values, node, reader)
    lengths = {"min_length": length.get("min"), "max_length": length.get("max")}
    return Condition(min=low, max=high, parts=parts, **lengths, **values)


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

    def __init__(self, kinds: Sequence[Kind], each: Shape | None = None) -> None:
        """`each`: how conditions on the fields of one element of a list are written, if there can be any."""
        regex = Parsed(compile_regex, "a regular expression", "bad-regex", quote=True, format="regex")
        lengths = Record(
            {"min": Field(Number(0, 10**9), "the least length"), "max": Field(Number(0, 10**9), "the greatest length")},
            what="a length",
        )
        fields = {
            "equals": Field(Either(scalar=Scalar(), map=bound_value), "a value, or what the task or the context says"),
            "one_of": Field(Listed(ListOf(Scalar(), some=True), bare=True), "values, or a list by its name"),
            "regex": Field(regex, "matches the whole value, in linear time"),
            "range": Field(_Range(), "two numbers that it lies between, both included"),
            "min": Field(Number(real=True), "the least number"),
            "max": Field(Number(real=True), "the greatest number"),
            "length": Field(
                Either(scalar=Number(0, 10**9), map=lengths), "how long a text or list is: exactly so, or {min, max}"
            ),
            "optional": Field(Flag(), "it also holds where the argument is absent; alone, for every value"),
            **{kind.name: Field(_form(kind), kind.about) for kind in kinds if kind.conditional},
        }
        if each is not None:
            about = "the fields of each element of a list of objects, together; of several mappings one must hold"
            fields["each"] = Field(each, about)
        self.long = Record(fields, _condition, what="a condition")

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


class _Fields(MapOf):
    """Conditions on fields of one object, at least one."""

    def __init__(self, condition: Shape) -> None:
        super().__init__(condition, what="field")
        self.expects = "conditions on fields, such as {amount: {max: 50}}"

    def read(self, node: Node, reader: Reader) -> Any:
        return self.wrong(node, reader) if node.kind is MAP and not node.value else super().read(node, reader)

    def schema(self) -> JSON:
        return {**super().schema(), "minProperties": 1}


def _form(kind: Kind) -> Shape:
    """How a part of a scope is written; where it is a plain list, also by the name of one."""
    form = kind.form()
    return Listed(form) if isinstance(form, ListOf) else form


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
            "properties": {key: {**item, "description": about} for key, about in CONTEXT_KEYS.items()},
            "additionalProperties": False,
        }


class _ExampleShape(Anything):
    """The value of the argument that matters, or a mapping of arguments."""

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is MAP and any(" " in key for key in node.value):
            return self.wrong(node, reader)
        return super().read(node, reader)


def _is_empty(node: Node | None) -> bool:
    """True for `[]`, and for a mapping in which there is nothing else."""
    if node is None or node.kind is SCALAR:
        return False
    return not node.value or (node.kind is MAP and all(map(_is_empty, node.value.values())))


def _parts(values: dict[str, Any], node: Node, reader: Reader) -> dict[str, Any]:
    """The part for each kind, taken out of the values; one that names nothing would cover no call."""
    parts = {kind.name: values.pop(kind.name) for kind in scoped() if kind.name in values}
    for name in parts:
        if _is_empty(node.value.get(name)):
            help = f"say what it covers, or leave `{name}` out"
            reader.fail(node.at_key(name), "matches-nothing", f"`{name}` names nothing, so it covers no call", help)
    return parts


def _scope(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    parts = _parts(values, node, reader)
    if "except" in values:
        values["except_"] = values.pop("except")
    return Scope(parts=parts, **values)


def _excepted(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    if not any(values.values()):
        return reader.fail(node.at, "bad-value", "an exception says what it leaves alone")
    return _scope(values, node, reader)


def _ruled(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    return (
        {key: values.pop(key) for key in ("ask", "approvals", "separate", "examples") if key in values},
        _scope(values, node, reader),
    )


QUORUM = {
    "approvals": Field(Number(1, 20), "how many people have to approve; 1 if absent"),
    "separate": Field(Flag(), "whoever issued the task can't approve"),
}
"""Of a question that people are asked."""
_VERBS_OF: dict[str, tuple[Verb, ...]] = {
    **dict.fromkeys(("ask", *QUORUM), ("must_ask",)),
    "except": ("may_not", "must_ask"),
}
"""Parts of a scope that belong only to some rules."""
_EXTRA_FIELDS = {
    "ask": Field(Name, "who is asked: human, chain, a role or an agent"),
    **QUORUM,
    "examples": Field(
        Record(
            {key: Field(ListOf(_ExampleShape()), f"calls that must get {key}") for key in ("allow", "ask", "deny")},
            lambda values, node, reader: Examples(**{k: tuple(v) for k, v in values.items()}),
            what="examples",
        ),
        "calls that Remit decides when the policy loads; a wrong one is an error",
    ),
}


class _ScopeRecord(Record):
    """A scope; who writes the limit of an argument right into it is told where that stands."""

    def __init__(self, fields: dict[str, Field], of_arguments: frozenset[str]) -> None:
        super().__init__(fields, _ruled, what="a scope")
        self.of_arguments = of_arguments

    def _unknown(self, key: str, node: Node, reader: Reader) -> None:
        value = node.value[key]
        if value.kind is MAP and value.value and self.of_arguments.issuperset(value.value):
            inside = f"{shown(key)}: {{{', '.join(f'{shown(part)}: …' for part in value.value)}}}"
        elif key in self.of_arguments:
            inside = f"ARGUMENT: {{{key}: …}}"
        else:
            super()._unknown(key, node, reader)
            return
        help = f"limits of single arguments belong in `where`: {{where: {{{inside}}}}}"
        reader.fail(node.at_key(key), "unknown-key", f"unknown key `{shown(key)}` in a scope", help)


class _Format:
    """The shapes of scopes: a part for each kind, conditions, effects, and what is taken out again."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self.parts = {kind.name: Field(_form(kind), kind.about) for kind in kinds}
        self.condition = _ConditionShape(kinds)
        each = ListOf(_Fields(Ref("condition", lambda: self.condition)), single=True, some=True)
        fields = {
            **self.parts,
            "where": Field(
                MapOf(_ConditionShape(kinds, each), what="argument"),
                "conditions on single arguments: a value, a list of values, {min, max}, {regex} …",
            ),
            "when": Field(
                _When(),
                "conditions on what the host or program says of the call: mode, environment, session, task, directory",
            ),
            "effect": Field(effects, "what it does"),
            "except": Field(Ref("exception", lambda: self.exception), "what the rule does not apply to"),
        }
        excepted = {key: field for key, field in fields.items() if key not in ("except", "when")}
        self.exception = Record(excepted, _excepted, what="an exception")
        of_arguments = frozenset(self.condition.long.fields) - fields.keys()
        self.scope = _ScopeRecord({**fields, **_EXTRA_FIELDS}, of_arguments)


@cache
def _format_for(kinds: tuple[Kind, ...]) -> _Format:
    return _Format(kinds)


def _format() -> _Format:
    """The format for the kinds that there are now."""
    return _format_for(tuple(scoped()))


def rule_keys() -> frozenset[str]:
    """Words that begin a scope, so that no tool may have them as its name."""
    return frozenset(_format().scope.fields)


_LIMITED = compile_later(r"([A-Za-z_]\w*)\((.+)\)")
"""`Bash(git:*)`, as some hosts write it."""


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
            limited = _LIMITED.fullmatch(node.value)
            if limited is not None:
                help = f"a limit is a scope: {limited[1]}: {_as_scope(limited[1], shown(limited[2]))}"
                reader.fail(node.at, "bad-value", f"`{shown(node.value)}` is a host's way to write a limit", help)
                return []
            name = NamePattern.read(node, reader)
            return [] if name is BAD else [Rule(self.verb, (name,), at=node.at)]
        if node.kind is LIST:
            found = ListOf(NamePattern, some=True).read(node, reader)
            return [Rule(self.verb, found, at=node.at)] if found else []
        if not node.value:
            reader.fail(node.at, "bad-value", "an entry names a tool, a toolset or a scope")
            return []
        scope = _format().scope
        if all(key in scope.fields for key in node.value) and not _of_namesake(node):
            read = scope.read(node, reader)
            return [] if read is BAD else [self._rule(None, read, node.at, reader)]
        rules = []
        owner = next(
            (key for key, value in node.value.items() if value.kind is SCALAR and value.scalar() is None), None
        )
        for key, value in node.value.items():
            at = node.at_key(key)
            if key in scope.fields and owner is not None:
                help = f"indent it further than `{shown(owner)}`, or write {shown(owner)}: {{{key}: …}}"
                reader.fail(at, "misplaced-key", f"`{key}` is at the level of `{shown(owner)}`, not below it", help)
                continue
            if " " in key and value.kind is SCALAR:
                text = f"{key}: {value.value}" if value.value else key
                help = f'an entry with `: ` in it must be quoted: "{shown(text)}"'
                reader.fail(at, "unquoted", f"`{shown(key)}` is not a tool or toolset", help)
                continue
            if NamePattern.pattern is not None and not NamePattern.pattern.fullmatch(key):
                reader.fail(at, "bad-name", f"`{shown(key)}` is not a tool or toolset")
                continue
            if value.kind is SCALAR and value.scalar() is None:
                rules.append(Rule(self.verb, (key,), at=at))
                continue
            if value.kind is not MAP:
                help = f'such as {shown(key)}: {{path: "src/**"}}, {{shell: {{run: [git: [status]]}}}} or {{url: …}}'
                got = f"`{shown(value.value)}`" if value.kind is SCALAR else "a list"
                what = f"expected the limits of `{shown(key)}`, got {got}"
                reader.fail(value.at, "bad-value", what, help)
                continue
            read = scope.read(value, reader)
            if read is not BAD:
                rules.append(self._rule((key,), read, at, reader, dict(_names_in(value))))
        return rules

    def _rule(
        self, tools: tuple[str, ...] | None, read: Any, at: str, reader: Reader, places: dict[str, str] = NOTHING
    ) -> Rule:
        extra, scope = read
        for key in extra:
            if self.verb not in _VERBS_OF.get(key, (self.verb,)):
                reader.fail(at, "misplaced-key", f"`{key}` belongs to must_ask, not to {self.verb}")
        if tools is None and "examples" in extra:
            reader.fail(at, "misplaced-key", "examples need a tool")
        if scope.except_ is not None and self.verb not in _VERBS_OF["except"]:
            reader.fail(
                at,
                "misplaced-key",
                "`except` belongs to may_not and must_ask; inside `path` it belongs to may too",
            )
        return Rule(self.verb, tools, scope, at=at, places=places, **extra)

    def schema(self) -> JSON:
        return {"$ref": f"#/$defs/{self.verb}"}


def _of_namesake(node: Node) -> bool:
    """Whether an entry is about a tool that has the name of a part of a scope: names are never a mapping."""
    (key, value), *others = node.value.items()
    return key in ("agent", "skill") and value.kind is MAP and not others


def _as_scope(tool: str, inside: str) -> str:
    """What stands in the parentheses of a host's entry, as a scope: by its own word, by the tool, or by its look."""
    word, _, rest = inside.partition(":")
    if word == "domain" and rest:
        return f'{{url: "https://{rest}/**"}}'
    if "://" in inside:
        return f'{{url: "{inside}"}}'
    if tool in _FILE_TOOLS:
        return f'{{path: "{inside.removeprefix("./").lstrip("/")}"}}'
    return f"{{shell: {{run: [{inside.removesuffix(':*').removesuffix(' *')}]}}}}"


_FILE_TOOLS = frozenset(("Read", "Write", "Edit", "MultiEdit", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS"))
"""Tools of hosts whose entries limit paths."""


def _names_in(node: Node) -> Iterator[tuple[str, str]]:
    """Each word of a `shell` scope with its position; of one that stands there twice, the last."""
    shell = node.value.get("shell")
    yield from () if shell is None else _words(shell)


def _words(node: Node) -> Iterator[tuple[str, str]]:
    if node.kind is SCALAR:
        yield node.value, node.at
    elif node.kind is LIST:
        for item in node.value:
            yield from _words(item)
    else:
        for key, item in node.value.items():
            yield key, node.at_key(key)
            yield from _words(item)


def definitions() -> dict[str, JSON]:
    """The parts of the JSON Schema that others refer to."""
    format = _format()
    named = [field.shape for field in format.parts.values() if isinstance(field.shape, Ref)]
    return {
        "scope": format.scope.schema(),
        **_rules_schema("may"),
        **_rules_schema("may_not"),
        **_rules_schema("must_ask"),
        "exception": format.exception.schema(),
        "condition": format.condition.schema(),
        **{ref.name: ref.shape.schema() for ref in named},
    }


def _rules_schema(verb: Verb) -> JSON:
    """The JSON Schema of the entries of `may`, `must_ask` or `may_not`: not every part of a scope belongs to each."""
    parts = {
        key: {"$ref": f"#/$defs/scope/properties/{key}", "description": field.about}
        for key, field in _format().scope.fields.items()
        if verb in _VERBS_OF.get(key, (verb,))
    }
    scope = {"type": "object", "properties": parts, "additionalProperties": False, "minProperties": 1}
    name = NamePattern.schema()
    scoped = {
        "type": "object",
        "propertyNames": {"pattern": name["pattern"]},
        "additionalProperties": {"anyOf": [{"$ref": f"#/$defs/{verb}-scope"}, {"type": "null"}]},
        "minProperties": 1,
    }
    names = {"type": "array", "items": name, "minItems": 1}
    entry = {"anyOf": [name, names, {"$ref": f"#/$defs/{verb}-scope"}, scoped]}
    return {f"{verb}-scope": scope, verb: {"anyOf": [{"type": "array", "items": entry}, entry]}}
