"""The format of a policy file, key by key."""

from __future__ import annotations

from typing import Any

from remit.declare.callers import agent, enforce, on_violation, project_code, review, reviewed, role, runner
from remit.declare.gates import gates
from remit.declare.labels import effect_tiers, label_tiers, labels, tool_tiers
from remit.declare.ledger import ledger
from remit.declare.people import people
from remit.declare.rules import QUORUM, Rules, definitions, globs, urls
from remit.declare.tools import tool
from remit.forms.nodes import Node
from remit.forms.shapes import (
    JSON,
    NAME,
    Choice,
    Either,
    Field,
    Flag,
    Late,
    ListOf,
    MapOf,
    Number,
    Reader,
    Record,
    Ref,
    Scalar,
    Text,
)
from remit.forms.texts import Moment, Name, NamePattern, names
from remit.model.policy import Grant, Never, Question, Reserved
from remit.model.terms import EFFECTS, RISKS
from remit.scopes import kinds

_texts = ListOf(Text(), single=True)
_patterns = ListOf(NamePattern, single=True)

_reserved = Record(
    {
        "programs": Field(names),
        "modules": Field(_texts, "python -m modules"),
        "tools": Field(_patterns),
        "urls": Field(urls),
        "runner": Field(Name, "the only caller that may", required=True),
    },
    lambda values, node, reader: Reserved(name="", at=node.at, **values),
    what="a reserved operation",
)

_never = Record(
    {
        "agent": Field(names),
        "role": Field(names),
        "tool": Field(_patterns),
        "toolset": Field(names),
        "layer": Field(_texts),
        "category": Field(_texts),
        "risk": Field(ListOf(Choice(*RISKS), single=True)),
        "kind": Field(ListOf(Late(lambda: Choice(*kinds.names()), "a kind"), single=True)),
        "effect": Field(ListOf(Choice(*EFFECTS), single=True)),
        "because": Field(Text()),
        "assuming": Field(ListOf(Choice("sandbox"), single=True)),
    },
    lambda values, node, reader: Never(at=node.at, **values),
    what="a never statement",
)


def _question(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    return Question(
        "ask",
        values["ask"],
        planned=values.get("planned", False),
        statement=values.get("statement") == "required",
        approvals=values.get("approvals", 1),
        separate=values.get("separate", False),
    )


_tier = Either(
    scalar=Choice("allow", "deny"),
    map=Record(
        {
            "ask": Field(Name, "human, chain, a role or an agent", required=True),
            "planned": Field(Flag(), "a passed plan and an acknowledgement answer it"),
            "statement": Field(Choice("required", "optional")),
            **QUORUM,
        },
        _question,
        what="a tier",
    ),
)

_grant = Record(
    {
        "agent": Field(Name, required=True),
        "may": Field(Rules("may"), required=True),
        "adr": Field(Text(), required=True),
        "approved_by": Field(Text(), required=True),
        "until": Field(Moment(), "the grant ends at this moment", required=True),
        "reviewed": reviewed,
    },
    lambda values, node, reader: Grant(
        agent=values["agent"],
        rules=values["may"],
        until=values["until"],
        adr=values["adr"],
        approved_by=values["approved_by"],
        reviewed=values.get("reviewed"),
        at=node.at,
    ),
    what="a grant",
)

SHARED = {
    "remit": Field(Number(1, 1), "the version of the format", required=True),
    "include": Field(ListOf(Text(), single=True), "further files below the root"),
    "use": Field(names, "tool packs"),
    "tools": Field(MapOf(Ref("tool", lambda: tool), keys=NAME, what="tool"), "tools beside those of the packs"),
    "toolsets": Field(MapOf(_patterns, keys=NAME, what="toolset"), "named groups of tools"),
    "roles": Field(MapOf(role, keys=NAME, what="role")),
    "agents": Field(MapOf(agent, keys=NAME, what="agent")),
    "runners": Field(MapOf(runner, keys=NAME, what="runner")),
    "reserved": Field(MapOf(_reserved, keys=NAME, what="operation"), "operations only their runner performs"),
    "never": Field(ListOf(_never), "statements proved when the policy loads"),
    "labels": Field(labels, "what things are"),
    "grants": Field(ListOf(_grant), "standing grants"),
    "protect": Field(globs, "further protected paths"),
}
"""Keys that an included file may have too."""

policy = Record(
    {
        **SHARED,
        "name": Field(Text()),
        "lists": Field(
            MapOf(ListOf(Scalar(), some=True), keys=NAME, what="list"), "values that rules name: {one_of: {list: NAME}}"
        ),
        "defaults": Field(
            Record(
                {
                    "accessible_by": Field(
                        Record({"layer": Field(MapOf(names, what="layer"), required=True)}, what="accessible_by")
                    )
                },
                what="defaults",
            )
        ),
        "tiers": Field(
            Record(
                {
                    **{str(tier): Field(_tier) for tier in range(5)},
                    "effects": Field(effect_tiers, "the tier of each effect, where it is not the usual one"),
                    "labels": Field(label_tiers, "the tier of things with a label"),
                    "tools": Field(tool_tiers, "the tier of a tool's effects, where it is not the usual one"),
                },
                what="tiers",
            )
        ),
        "gates": Field(gates, "passed by people, per capsule; with `before`, calls wait for them"),
        "people": Field(people, "who may approve, operate, review and own; absent: one person with one passphrase"),
        "open_questions": Field(
            Number(1, 10_000), "how many questions of one agent, and of one task, may wait for an answer; 20 by default"
        ),
        "ledger": Field(ledger, "where the ledger's events are streamed to"),
        "on_violation": Field(on_violation),
        "review": Field(review),
        "enforce": Field(enforce),
        "project_code": Field(project_code),
        "hosts": Field(MapOf(Record({"main": Field(Name)}, what="a host"), what="host")),
        "root": Field(Text(), "the directory that paths are relative to; the default is the policy's own"),
        "unsafe_unprotect": Field(globs, "takes paths out of the protected ones"),
        "unsafe_no_credential": Field(Flag()),
    },
    what="a policy",
)
included = Record(SHARED, what="an included file")

pack = Record(
    {
        "pack": Field(Name, required=True),
        "version": Field(Text(), required=True),
        "about": Field(Text()),
        "tools": Field(MapOf(tool, keys=NAME, what="tool"), required=True),
    },
    what="a tool pack",
)


def schema() -> JSON:
    """The JSON Schema of a policy file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A Remit policy",
        **policy.schema(),
        "$defs": {**definitions(), "tool": tool.schema()},
    }
