"""The format of tools: arguments with kinds, what the tool does, who may call it."""

from __future__ import annotations

import re
from typing import Any

from remit.forms.nodes import LIST, MAP, SCALAR, Node
from remit.forms.shapes import (
    BAD,
    JSON,
    Choice,
    Field,
    Flag,
    ListOf,
    MapOf,
    Number,
    Reader,
    Record,
    Scalar,
    Shape,
    Text,
)
from remit.forms.texts import Name, names
from remit.model.policy import ARGUMENT, Argument, Does, Tool
from remit.model.terms import EFFECTS, FILES, INTERACTIONS, RISKS
from remit.model.text import did_you_mean, listed, shown, suggestion
from remit.scopes import kinds
from remit.scopes.kinds import kind_of
from remit.scopes.reach import reach_unit


class _Kind(Shape):
    """A kind, `{one_of: […]}`, `{glob: path}` for a glob relative to a path argument, or `{shell: new}`."""

    values = Record(
        {
            "one_of": Field(ListOf(Scalar(), some=True), "the values that it may take"),
            "glob": Field(Text(), "a glob, relative to this path argument"),
            "shell": Field(Choice("new"), "`new`: each text runs in a shell of its own, with the host's variables"),
        },
        what="a kind",
    )

    @property
    def expects(self) -> str:  # type: ignore[override]  # which kinds there are is known late
        return "a kind: " + ", ".join(kinds.names()) + ", or {one_of: […]}"

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is MAP and node.value.keys() - self.values.fields.keys():
            told = node.value.get("type") or node.value.get("kind")
            if told is not None and told.kind is SCALAR:
                kind = KIND_WORDS.get(told.value.lower(), told.value)
                help = f"write the kind itself: {kind}" if kind in kinds.names() else f"write {self.expects}"
                return reader.fail(node.at, "bad-value", "a kind is one word, not a schema", help)
        if node.kind is MAP:
            found = self.values.read(node, reader)
            if found is BAD:
                return BAD
            if len(found) != 1:
                return self.wrong(node, reader)
            if "shell" in found:
                return Argument("shell", new_shell=True)
            return Argument("glob", base=found["glob"]) if "glob" in found else Argument("text", one_of=found["one_of"])
        if node.kind is SCALAR and node.value in kinds.names():
            return Argument(node.value)
        if node.kind is SCALAR:
            meant = KIND_WORDS.get(node.value.lower().removesuffix("?"))
            hint = f"; did you mean `{meant}`?" if meant else did_you_mean(node.value, kinds.names())
            return reader.fail(node.at, "unknown-kind", f"unknown kind `{shown(node.value)}`{hint}", self.expects)
        return self.wrong(node, reader)

    def schema(self) -> JSON:
        return {"anyOf": [{"enum": list(kinds.names())}, self.values.schema()]}


KIND_WORDS = {
    **dict.fromkeys(("string", "str", "enum", "id", "uuid", "code"), "text"),
    **dict.fromkeys(("int", "integer", "float", "decimal", "money"), "number"),
    **dict.fromkeys(("bool", "boolean"), "flag"),
    **dict.fromkeys(("file", "filename", "filepath", "file_path", "folder", "dir", "directory"), "path"),
    **dict.fromkeys(("uri", "link", "website"), "url"),
    **dict.fromkeys(("command", "cmd", "bash", "sh"), "shell"),
    **dict.fromkeys(("query",), "sql"),
    **dict.fromkeys(("mail", "address"), "email"),
    **dict.fromkeys(("datetime", "time", "timestamp"), "date"),
    **dict.fromkeys(("hostname", "domain", "server"), "host"),
    **dict.fromkeys(("object", "dict", "map", "list", "array", "any"), "json"),
    **dict.fromkeys(("pattern", "wildcard"), "glob"),
}
"""What other formats call a kind, and Remit's word for it."""
RECORDS = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")


class _DoesShape(Shape):
    """`nothing`, or effects with their arguments, reaches or records."""

    expects = "`nothing`, or a mapping such as {write: filePath}"

    def read(self, node: Node, reader: Reader) -> Any:
        if node.kind is SCALAR and node.value == "nothing":
            return ()
        if node.kind is not MAP:
            return self.wrong(node, reader)
        found: list[tuple[Does, str]] = []
        for effect, value in node.value.items():
            if effect not in EFFECTS:
                hint = suggestion(effect, EFFECTS)
                reader.fail(node.at_key(effect), "unknown-effect", f"unknown effect `{shown(effect)}`{hint}")
                continue
            for item in value.value if value.kind is LIST else [value]:
                if item.kind is MAP and list(item.value) == ["below"] and item.value["below"].kind is SCALAR:
                    found.append((Does(effect, arg=item.value["below"].value, below=True), item.at))
                elif item.kind is MAP and list(item.value) == ["records"]:
                    found.extend((Does(effect, records=name), item.at) for name in _records(effect, item, reader))
                elif item.kind is SCALAR and ("*" in item.value or "/" in item.value):
                    found.append((Does(effect, reach=item.value), item.at))
                elif item.kind is SCALAR and item.value:
                    found.append((Does(effect, arg=item.value), item.at))
                else:
                    self.wrong(item, reader)
        return tuple(found)

    def schema(self) -> JSON:
        below = {
            "type": "object",
            "properties": {"below": {"type": "string", "description": "a path argument: everything below it"}},
            "required": ["below"],
            "additionalProperties": False,
        }
        records = {
            "type": "object",
            "properties": {
                "records": {
                    "type": "string",
                    "pattern": f"^{RECORDS.pattern}$",
                    "description": "records that it always touches, such as crm.orders",
                }
            },
            "required": ["records"],
            "additionalProperties": False,
        }

        def targets(*forms: JSON) -> JSON:
            one = {"anyOf": [{"type": "string"}, below, *forms]}
            return {"anyOf": [one, {"type": "array", "items": one}]}

        effects = {
            "type": "object",
            "properties": {
                effect: {
                    **(targets(records) if effect in FILES else targets()),
                    "description": f"the arguments that are the object of {effect}",
                }
                for effect in EFFECTS
            },
            "additionalProperties": False,
        }
        return {"anyOf": [{"const": "nothing"}, effects]}


def _records(effect: str, item: Node, reader: Reader) -> list[str]:
    """The name in `{records: NAME}`; none if it can't be one."""
    name = item.value["records"]
    if effect not in FILES:
        reader.fail(item.at, "bad-value", f"records are read, written and deleted; `{effect}` is on something else")
    elif name.kind is not SCALAR or not RECORDS.fullmatch(name.value):
        reader.fail(name.at, "bad-value", f"`{shown(name.value)}` can't name records", "a name such as `tickets`")
    else:
        return [name.value]
    return []


_REACH = "a fixed reach contains `*` or `/`"


def _tool(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    args: dict[str, Argument] = values.pop("args", {})
    if "args" in node.value and len(args) != len(node.value["args"].value):
        return BAD  # one of them was wrong already
    optional = values.pop("optional", ())
    defaults = values.pop("defaults", {})
    bad = False

    def unknown(name: str, key: str) -> None:
        nonlocal bad
        bad = True
        hint = suggestion(name, args)
        reader.fail(node.value[key].at, "undeclared-argument", f"`{shown(name)}` is not an argument of this tool{hint}")

    for name in optional:
        if name not in args:
            unknown(name, "optional")
    for name in defaults:
        if name not in args:
            unknown(name, "defaults")
        elif name not in optional:
            bad = True
            reader.fail(node.value["defaults"].at, "misplaced-key", f"`{shown(name)}` has a default but isn't optional")
    for name, argument in args.items():
        if argument.base is not None and (argument.base not in args or args[argument.base].kind != "path"):
            bad = True
            reader.fail(node.value["args"].at, "undeclared-argument", f"`{name}` is relative to no path argument")
    for does, at in values.get("does", ()):
        if does.arg is not None and does.arg not in args:
            bad = True
            hint = did_you_mean(does.arg, args)
            help = None if hint else f"{_REACH}; its arguments are {listed(args)}"
            reader.fail(at, "undeclared-argument", f"`{shown(does.arg)}` is not an argument of this tool{hint}", help)
        elif does.arg is not None and not kind_of(args[does.arg].kind).bears(does.effect):
            bad = True
            message, help = unjudged(does.effect, does.arg, args[does.arg])
            reader.fail(at, "unjudged-effect", message, help)
    bad = _contradicts(args, node, reader) or bad
    bad = _reaches(values.get("does", ()), reader) or bad
    bad = _defaults(args, defaults, node, reader) or bad
    used = {argument.kind: kind_of(argument.kind) for argument in args.values()}
    if "does" not in values and not any(kind.language for kind in used.values()):
        bad = True
        reader.fail(
            node.at,
            "missing-does",
            "the tool doesn't say what it does",
            "add `does: {read: …}` or `does: nothing`",
        )
    for kind in used.values():
        for key, help in kind.requires:
            if key not in values:
                bad = True
                reader.fail(node.at, f"missing-{key}", f"a {kind.name} argument needs a {key}", help)
    if bad:
        return BAD
    values["does"] = tuple(does for does, _ in values.get("does", ()))
    values["args"] = {
        name: Argument(a.kind, a.one_of, name in optional, defaults.get(name), a.base, a.new_shell)
        for name, a in args.items()
    }
    return Tool(name="", at=node.at, **values)


def unjudged(effect: str, name: str, argument: Argument) -> tuple[str, str]:
    """What is wrong with an effect on an argument that it can't be judged on, and what to write instead."""
    kind = "one of some values" if argument.one_of else f"of kind {argument.kind}"
    message = f"`{effect}` can't be judged on `{name}`, which is {kind}"
    if kind_of(argument.kind).language:
        return message, f"leave it out: what a {argument.kind} text does is read from the text"
    if effect == "network":
        return message, f'declare `{name}` as url, or name what it reaches: {{network: "https://api.example/**"}}'
    if effect == "delegate":
        return message, f"declare `{name}` as agent"
    if argument.kind == "glob":
        return message, f"take the files themselves: `{name}[]: path`; links that a glob matches lead anywhere"
    files = (
        f"declare `{name}` as path if it names a file; otherwise say what it works on: {{{effect}: {{records: NAME}}}}"
    )
    return message, f"`network: {name}` is what can be judged on a URL" if argument.kind == "url" else files


def _contradicts(args: dict[str, Argument], node: Node, reader: Reader) -> bool:
    """`a` beside `a[]` or `a.b`, `a.b` beside `a[].c`: only one of them could be judged."""
    bad = False
    for name in args:
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            head = ".".join(parts[:count])
            forms = {head.removesuffix("[]"), head.removesuffix("[]") + "[]"}
            others = forms - {head} if count == len(parts) else forms
            inner = any(one.startswith(f"{other}.") for other in forms - {head} for one in args)  # `a.b` beside `a[].c`
            if inner or any(other != name for other in others & args.keys()):
                bad = True
                at = node.value["args"].at_key(name)
                reader.fail(at, "bad-value", f"`{name}` contradicts another argument of the same name")
                break
    return bad


def _reaches(does: tuple[tuple[Does, str], ...], reader: Reader) -> bool:
    bad = False
    for one, at in does:
        if one.reach is None:
            continue
        try:
            reach_unit(one.reach, frozenset())
        except ValueError as error:
            bad = True
            reader.fail(at, "bad-glob", f"a fixed reach that can't be read: {error}")
    return bad


def _defaults(args: dict[str, Argument], defaults: dict[str, Any], node: Node, reader: Reader) -> bool:
    bad = False
    for name, value in defaults.items():
        if name not in args:
            continue
        argument = args[name]
        try:
            if argument.one_of:
                if not any(type(value) is type(one) and value == one for one in argument.one_of):
                    raise ValueError("it is none of its values")
                continue
            kind = kind_of(argument.kind)
            wanted = kind.problem(value)
            if wanted is not None:
                raise ValueError(f"it must be {wanted}")
            kind.check_default(value)
        except ValueError as error:
            bad = True
            reader.fail(node.value["defaults"].at, "bad-value", f"the default of `{name}`: {error}")
    return bad


tool = Record(
    {
        "args": Field(MapOf(_Kind(), keys=ARGUMENT, what="argument"), "arguments and their kinds; the list is closed"),
        "optional": Field(ListOf(Text()), "arguments that may be absent"),
        "defaults": Field(MapOf(Scalar(), what="argument"), "what an absent argument is judged as"),
        "does": Field(_DoesShape(), "which argument or records it reads, writes, deletes, fetches; or `nothing`"),
        "tier": Field(Number(0, 4), "the lowest tier that a call of it can have, 0 to 4"),
        "aliases": Field(ListOf(Name), "other names of the same tool"),
        "dialect": Field(Choice("sqlite", "postgres", "mysql", "duckdb", "snowflake"), "the SQL dialect of its texts"),
        "schema": Field(
            Text(), "of a sqlite database: a file of CREATE statements beside the policy, or these themselves"
        ),
        "accessible_by": Field(names, "who may call it at all; [] is nobody"),
        "layer": Field(Text(), "a label: which layer it belongs to"),
        "category": Field(Text(), "a label: what sort of tool it is"),
        "risk": Field(Choice(*RISKS), "a label; it changes no tier"),
        "confirm": Field(Flag(), "true: a person confirms every call"),
        "interaction": Field(Choice(*INTERACTIONS), "a label: autonomous, confirmation or interactive"),
        "about": Field(Text(), "what it does, for people"),
        "version": Field(Text(), "any text; an approval counts only for the version it was given for"),
    },
    _tool,
    what="a tool",
)
