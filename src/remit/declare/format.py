"""The format of a policy file, key by key."""

from __future__ import annotations

from typing import Any

from remit import catalog
from remit.declare.callers import (
    ENFORCE,
    ON_VIOLATION,
    PROJECT_CODE,
    agent,
    enforce,
    on_violation,
    project_code,
    review,
    reviewed,
    role,
    runner,
)
from remit.declare.cases import test_file
from remit.declare.facts import facts
from remit.declare.gates import gates
from remit.declare.labels import effect_tiers, label_tiers, labels, tool_tiers
from remit.declare.ledger import ledger
from remit.declare.people import people
from remit.declare.rules import QUORUM, Rules, definitions, globs, urls
from remit.declare.sandbox import CONFINEMENT
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
from remit.forms.texts import Known, Moment, Name, NamePattern, many, names
from remit.model.policy import Grant, Never, Question, Reserved
from remit.model.terms import EFFECTS, RISKS
from remit.scopes import kinds

DRAFT = "https://json-schema.org/draft/2020-12/schema"
_texts = ListOf(Text(), single=True)
_patterns = ListOf(NamePattern, single=True)


def _operation(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    if not any(values.get(key) for key in ("programs", "modules", "tools", "urls")):
        what = "a reserved operation says what it is: programs, modules, tools or urls"
        return reader.fail(node.at, "empty-rule", what, f"{{programs: [kubectl], runner: {values['runner']}}}")
    return Reserved(name="", at=node.at, **values)


_reserved = Record(
    {
        "programs": Field(names, "programs on a command line"),
        "modules": Field(_texts, "python -m modules"),
        "tools": Field(_patterns, "tools, by name or pattern"),
        "urls": Field(urls, "URLs that nobody else may reach"),
        "runner": Field(Name, "the runner that alone may do it", required=True),
    },
    _operation,
    what="a reserved operation",
)

_never = Record(
    {
        "agent": Field(names, "these agents"),
        "role": Field(names, "agents with one of these roles"),
        "tool": Field(_patterns, "these tools"),
        "toolset": Field(names, "tools of these toolsets"),
        "layer": Field(_texts, "tools of these layers"),
        "category": Field(_texts, "tools of these categories"),
        "risk": Field(ListOf(Choice(*RISKS), single=True), "tools with one of these risk labels"),
        "kind": Field(
            ListOf(Late(lambda: Choice(*kinds.names()), "a kind"), single=True), "tools with an argument of such a kind"
        ),
        "effect": Field(ListOf(Choice(*EFFECTS), single=True), "calls with one of these effects"),
        "because": Field(Text(), "the reason, for people"),
        "assuming": Field(
            ListOf(Choice("sandbox"), single=True), "what is assumed to be enforced outside of Remit, such as a sandbox"
        ),
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
            "ask": Field(Name, "who is asked: human, chain, a role or an agent", required=True),
            "planned": Field(Flag(), "a passed plan and an acknowledgement answer it"),
            "statement": Field(Choice("required", "optional"), "required: the agent has to say why"),
            **QUORUM,
        },
        _question,
        what="a tier",
    ),
)

_grant = Record(
    {
        "agent": Field(Name, "the agent that gets it", required=True),
        "may": Field(Rules("may"), "what is granted", required=True),
        "adr": Field(Text(), "the document behind it", required=True),
        "approved_by": Field(Text(), "who approved it", required=True),
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
    "include": Field(
        ListOf(Text(), single=True), "further policy files to read, relative to this one and below the root"
    ),
    "use": Field(many(Known(catalog.packs)), "tool packs: the tools of a host, with their arguments"),
    "tools": Field(
        MapOf(Ref("tool", lambda: tool), keys=NAME, what="tool"), "your own tools, in addition to those of the packs"
    ),
    "toolsets": Field(MapOf(_patterns, keys=NAME, what="toolset"), "names for groups of tools, to use in rules"),
    "roles": Field(MapOf(role, keys=NAME, what="role"), "rules and limits that several agents share"),
    "agents": Field(MapOf(agent, keys=NAME, what="agent"), "who calls tools, and what each may do"),
    "runners": Field(MapOf(runner, keys=NAME, what="runner"), "programs that act for agents, such as CI"),
    "reserved": Field(MapOf(_reserved, keys=NAME, what="operation"), "operations that only one runner may perform"),
    "never": Field(
        ListOf(_never),
        "statements that Remit proves when the policy loads: such a call is never allowed or asked about",
    ),
    "labels": Field(labels, "names for what calls touch, such as production or a data tier; they raise a call's tier"),
    "grants": Field(ListOf(_grant), "standing grants: extra permissions with a reason, an approver and an end date"),
    "protect": Field(globs, "further paths that no agent may change"),
}
"""Keys that an included file may have too."""

policy = Record(
    {
        **SHARED,
        "name": Field(Text(), "the policy's name; the default is the name of its directory"),
        "lists": Field(
            MapOf(ListOf(Scalar(), some=True), keys=NAME, what="list"), "values that rules name: {one_of: {list: NAME}}"
        ),
        "defaults": Field(
            Record(
                {
                    "accessible_by": Field(
                        Record(
                            {
                                "layer": Field(
                                    MapOf(names, what="layer"), "by layer, who may call its tools", required=True
                                )
                            },
                            what="accessible_by",
                        ),
                        "who may call a tool that does not say so itself",
                    )
                },
                what="defaults",
            ),
            "defaults for tools that do not say so themselves",
        ),
        "tiers": Field(
            Record(
                {
                    **{
                        str(tier): Field(_tier, f"what calls of tier {tier} need: nothing, or an answer")
                        for tier in range(5)
                    },
                    "effects": Field(effect_tiers, "the tier of each effect, where it is not the usual one"),
                    "labels": Field(label_tiers, "the tier of things with a label"),
                    "tools": Field(tool_tiers, "the tier of a tool's effects, where it is not the usual one"),
                },
                what="tiers",
            ),
            "how far calls reach (0 reads, 4 can't be undone), and what each tier needs",
        ),
        "gates": Field(gates, "points in a task that a person has to pass; with `before`, calls wait until then"),
        "people": Field(people, "who may approve, operate, review and own; absent: one person with one passphrase"),
        "open_questions": Field(
            Number(1, 10_000), "how many questions of one agent, and of one task, may wait for an answer; 20 by default"
        ),
        "ledger": Field(ledger, "where the ledger's events are streamed, and where its checkpoints are kept"),
        "on_violation": Field(on_violation, ON_VIOLATION),
        "review": Field(review, "how often agents are reviewed"),
        "enforce": Field(enforce, ENFORCE),
        "project_code": Field(project_code, PROJECT_CODE),
        **CONFINEMENT,
        "hosts": Field(
            MapOf(
                Record({"main": Field(Name, "the agent that a session without a name is")}, what="a host"),
                what="host",
                offered=catalog.hosts,
            ),
            "who the main agent of each host is: {HOST: {main: NAME}}",
        ),
        "root": Field(Text(), "the directory that paths are relative to; the default is the policy's own"),
        "unsafe_unprotect": Field(globs, "paths that are no longer protected: weakens enforcement"),
        "unsafe_no_credential": Field(Flag(), "true: activating and answering need no passphrase"),
    },
    what="a policy",
)
included = Record(SHARED, what="an included file")

pack = Record(
    {
        "pack": Field(Name, "its name, for `use`", required=True),
        "version": Field(Text(), "the version of the host that it describes", required=True),
        "about": Field(Text(), "what it is for"),
        "tools": Field(MapOf(tool, keys=NAME, what="tool"), "the tools that it declares", required=True),
    },
    what="a tool pack",
)


def schema_of_tests() -> JSON:
    """The JSON Schema of a `*.test.yaml`, for editors."""
    return {
        "$schema": DRAFT,
        "$id": "urn:remit:tests:1",
        "title": "Tests of a Remit policy",
        "description": "Calls, and the decisions that they must get",
        **test_file.schema(),
        "$defs": {**definitions(), "facts": facts.schema()},
    }


def schema() -> JSON:
    """The JSON Schema of a policy file, for editors."""
    return {
        "$schema": DRAFT,
        "$id": "urn:remit:policy:1",
        "title": "A Remit policy",
        "description": "What each AI agent may do, and what every tool call is decided by",
        **policy.schema(),
        "$defs": {**definitions(), "tool": tool.schema()},
    }
