"""The format of facts, for `remit decide --facts` and for policy tests."""

from __future__ import annotations

from typing import Any

import msgspec

from remit.declare.rules import Rules, globs, parameters
from remit.forms.nodes import Node
from remit.forms.shapes import Choice, Field, Flag, ListOf, MapOf, Number, Reader, Record, Text
from remit.forms.texts import Moment, Name, names
from remit.model.facts import Approval, Capsule, Facts
from remit.model.policy import Grant
from remit.model.profile import HOLDS

_capsule = Record(
    {
        "id": Field(Text(), "its own name again, if at all"),
        "agent": Field(Name, "to whom the task was handed", required=True),
        "parent": Field(Text(), "the capsule that it came from"),
        "expires": Field(Moment(), "when it ends by itself"),
        "ended": Field(Flag(), "true: it has been ended"),
        "may": Field(Rules("may"), "constraint: every call lies within these rules too"),
        "may_not": Field(Rules("may_not"), "constraint: none of these"),
        "must_ask": Field(Rules("must_ask"), "constraint: somebody is asked before each of these"),
        "scope": Field(globs, "what the task is about; deleting outside of it is tier 4"),
        "plan": Field(Rules("may"), "anticipated actions"),
        "grants": Field(Rules("may"), "extra permission for this task"),
        "data_tiers": Field(ListOf(Number(0, 3)), "data tiers granted for this task"),
        "gates": Field(names, "gates that people have passed"),
        "parameters": Field(parameters, "what the task is about, as its issuer said"),
        "issued_by": Field(Name, "the person who issued it; absent: an agent did"),
    },
    lambda values, node, reader: Capsule(**{"id": "", **values}),
    what="a capsule",
)
_approval = Record(
    {
        "id": Field(Text(), "its own name", required=True),
        "digest": Field(Text(), "of the call that it answers", required=True),
        "by": Field(Text(), "who answered", required=True),
        "of": Field(Choice("human", "agent"), "what they are"),
        "answer": Field(Choice("approve", "refuse"), "what they answered; approve if absent"),
        "expires": Field(Moment(), "until when the answer counts"),
    },
    lambda values, node, reader: Approval(**values),
    what="an approval",
)
_grant = Record(
    {
        "agent": Field(Name, "the agent that gets it", required=True),
        "may": Field(Rules("may"), "what is granted", required=True),
        "until": Field(Moment(), "when the grant ends", required=True),
    },
    lambda values, node, reader: Grant(values["agent"], values["may"], values["until"], at=node.at),
    what="a grant",
)


def _facts(values: dict[str, Any], node: Node, reader: Reader) -> Any:
    capsules = {}
    for name, capsule in values.pop("capsules", {}).items():
        if capsule.id not in ("", name):
            return reader.fail(node.at, "bad-value", f"the capsule `{name}` calls itself `{capsule.id}`")
        capsules[name] = msgspec.structs.replace(capsule, id=name)
    for key in ("halts", "registry", "confined"):
        if key in values:
            values[key] = frozenset(values[key])
    return Facts(capsules=capsules, **values)


facts = Record(
    {
        "now": Field(Moment(), "the moment of the call"),
        "root": Field(Text(), "the absolute path of the root"),
        "resolved": Field(MapOf(Text(), what="path"), "argument text → absolute path with symlinks followed"),
        "halts": Field(ListOf(Text()), "system, agent names, capsule:ID"),
        "capsules": Field(MapOf(_capsule, what="capsule"), "the tasks that were given out, by name"),
        "grants": Field(ListOf(_grant), "standing grants in addition to those of the policy"),
        "approvals": Field(ListOf(_approval), "answers to questions"),
        "registry": Field(names, "agents that exist right now"),
        "schema": Field(MapOf(Text(), what="tool or database"), "its DDL, as `.schema` prints it"),
        "confined": Field(ListOf(Choice(*HOLDS)), "what the kernel holds where the call's command runs confined"),
        "store": Field(Flag(), "a store is configured: grants in the context don't count"),
    },
    _facts,
    what="facts",
)
