"""The format of agents, roles and runners: their rules and their record."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from remit.declare.amounts import Amount
from remit.declare.rules import Rules, globs, urls
from remit.declare.sandbox import CONFINEMENT
from remit.declare.tools import tool
from remit.forms.nodes import LIST, SCALAR, Node
from remit.forms.shapes import (
    NAME,
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
    Text,
)
from remit.forms.texts import Duration, Moment, Name, names
from remit.model.policy import Alone, Caller, Enforce, Halting, Locks

_tiers = ListOf(Number(0, 3))
_reasons = ListOf(Choice("protected", "may_not", "reserved", "access", "permission", "chain", "data"))

on_violation = Either(
    scalar=Choice("deny"),
    map=Record(
        {
            "halt": Field(
                Record(
                    {
                        "after": Field(Number(1, 1000), "violations until the halt"),
                        "within": Field(Duration, "the time in which they count; absent: for ever"),
                        "for": Field(_reasons, "which violations count; absent: all of them"),
                    },
                    what="halt",
                ),
                "halts the agent until a person resumes it",
                required=True,
            )
        },
        what="on_violation",
    ),
)
enforce = Either(
    scalar=Choice("always"),
    map=Record(
        {
            "observe": Field(
                Record({"until": Field(Moment(), "when observing ends", required=True)}, what="observe"),
                "lets everything through and records what would have been denied",
                required=True,
            )
        },
        what="enforce",
    ),
)
review = Record(
    {
        "every": Field(Duration, "how often it is due; 90d if absent"),
        "warn": Field(Duration, "when it is overdue; 100d if absent"),
    },
    what="review",
)
reviewed = Field(
    Record(
        {
            "on": Field(Moment(), "the day of the review", required=True),
            "by": Field(Text(), "who reviewed it", required=True),
        },
        what="reviewed",
    ),
    "when and by whom it was last reviewed",
)
project_code = Choice("allow", "deny")
ON_VIOLATION = "what follows a denied call: deny alone, or a halt"
ENFORCE = "always, or observe until a moment"
PROJECT_CODE = "whether commands may run code of the project: tests, scripts, builds"


def halting(value: Any) -> Halting | None:
    """`deny` is the default and no halt."""
    if value is None or value == "deny":
        return None if value is None else Halting()
    halt = value["halt"]
    return Halting(after=halt.get("after", 1), within=halt.get("within"), reasons=halt.get("for", ()))


def enforcement(value: Any) -> Enforce | None:
    """`always`, or observing until a moment."""
    if value is None:
        return None
    return Enforce() if value == "always" else Enforce(observe_until=value["observe"]["until"])


_PLACED = frozenset(("enabled", "locks", "daily_sum"))
"""Keys besides those of the record whose place messages name."""
_record = {
    "roles": Field(names, "roles it belongs to"),
    "may": Field(Rules("may"), "what it may do"),
    "must_ask": Field(Rules("must_ask"), "what it may do once somebody has answered"),
    "may_not": Field(Rules("may_not"), "what it must not do, whatever else permits it"),
    "delegates_to": Field(names, "whom it may hand work to; absent: nobody"),
    "delegate_within": Field(
        Choice("own", "chain"), "chain: its own limits also bind those it hands work to; default: own"
    ),
    "acknowledges": Field(Flag(), "may acknowledge planned tier-3 actions of those it hands work to"),
    "may_issue": Field(
        Record(
            {
                "capsules": Field(Flag(), "true: it may grant with the work that it hands on"),
                "data_tiers": Field(_tiers, "data tiers that it may pass on, if its own task grants them"),
                "alone": Field(
                    Record(
                        {
                            "grants": Field(Rules("may"), "permissions that it may grant"),
                            "data_tiers": Field(_tiers, "data tiers that it may grant"),
                        },
                        lambda values, node, reader: Alone(
                            values.get("grants", ()), tuple(values.get("data_tiers", ()))
                        ),
                        what="alone",
                    ),
                    "what it may grant although nobody granted it that",
                ),
            },
            what="may_issue",
        ),
        "what it may grant to those it hands work to",
    ),
    "locks": Field(
        Record(
            {
                "may": Field(globs, "the only paths that it may write and delete", required=True),
                "except": Field(globs, "of these, the paths that it may not"),
            },
            lambda values, node, reader: Locks(may=values["may"], except_=values.get("except", ())),
            what="locks",
        ),
        "the only places where it may write and delete, whatever its rules say",
    ),
    "skills": Field(names, "skills it may name"),
    "apis": Field(urls, "URLs it may reach"),
    "data_tiers": Field(_tiers, "data tiers it may touch"),
    "data_tiers_with_grant": Field(_tiers, "data tiers it may touch when its capsule grants them"),
    "capsule": Field(Choice("required", "optional"), "required: no calls above tier 0 without a task"),
    "reviewed": reviewed,
    "review": Field(review, "how often it is reviewed"),
    "on_violation": Field(on_violation, ON_VIOLATION),
    "enforce": Field(enforce, ENFORCE),
    "project_code": Field(project_code, PROJECT_CODE),
    **CONFINEMENT,
}
_tools = MapOf(
    Ref("tool", lambda: tool),
    keys=NAME,
    what="tool",
    help="list what an agent may use under `may: […]`; `tools` declares new ones",
)


_NAMED = ("roles", "delegates_to", "called_by")
"""Keys that name other callers."""


def _texts(node: Node | None) -> Iterator[Node]:
    """The texts of a list, or the single one that stands for it."""
    if node is not None:
        yield from (one for one in (node.value if node.kind is LIST else (node,)) if one.kind is SCALAR)


def _build(kind: Literal["agent", "role", "runner"]) -> Any:
    def build(values: dict[str, Any], node: Node, reader: Reader) -> Any:
        rules = sum((values.pop(verb, ()) for verb in ("must_ask", "may_not")), values.get("may", ()))
        says_may = values.pop("may", None) is not None
        for key, convert in (("on_violation", halting), ("enforce", enforcement)):
            if key in values:
                values[key] = convert(values[key])
        rights = values.get("may_issue")
        if rights is not None and "alone" in rights:
            values["issues_alone"] = rights["alone"]
            values["may_issue"] = rights = {key: value for key, value in rights.items() if key != "alone"}
            if rights.get("capsules") is not True:
                what = "`alone` is for an agent that may issue at all"
                reader.fail(node.at, "never-applies", what, "may_issue: {capsules: true, alone: …}")
        places = {name.value: name.at for key in _NAMED for name in _texts(node.value.get(key))}
        places |= {f".{key}": node.at_key(key) for key in node.value if key in _record or key in _PLACED}
        return Caller(name="", kind=kind, rules=rules, says_may=says_may, at=node.at, places=places, **values)

    return build


agent = Record(
    {
        **_record,
        "enabled": Field(Flag(), "false: every call is denied"),
        "daily_sum": Field(
            MapOf(Amount(), what="tool and argument"), "what an argument adds up to over all its calls of one UTC day"
        ),
        "tools": Field(_tools, "declarations of tools for this agent only"),
    },
    _build("agent"),
    what="an agent",
)
role = Record(_record, _build("role"), what="a role")
runner = Record(
    {
        **{key: _record[key] for key in ("roles", "may", "must_ask", "may_not", "locks", "apis", "data_tiers")},
        "called_by": Field(ListOf(Name, single=True), "agents or roles that may hand work to it"),
        "tools": Field(_tools, "declarations of tools for this runner only"),
    },
    _build("runner"),
    what="a runner",
)
