"""People: who may approve, operate, review and own, each under their own name."""

from __future__ import annotations

from typing import Any

import msgspec

from remit.declare.amounts import Amount
from remit.forms.nodes import Node
from remit.forms.shapes import NAME, Choice, Field, ListOf, MapOf, Number, Reader, Record, Text
from remit.forms.texts import names
from remit.model.people import APPROVER, ROLES
from remit.model.policy import Approves, Person


def _approves(values: dict[str, Any], node: Node, reader: Reader) -> Approves:
    if not values:
        reader.fail(
            node.at, "empty-rule", "`approves` says what: tiers, agents, labels or amounts", "absent: everything"
        )
    return Approves(
        **{key: tuple(values[key]) for key in ("tiers", "agents", "labels") if key in values},
        amount=values.get("amount", {}),
    )


_approved = Record(
    {
        "tiers": Field(ListOf(Number(0, 4), single=True), "calls of these tiers"),
        "agents": Field(names, "calls of these agents, or of agents with these roles"),
        "labels": Field(names, "calls that touch what has labels, all of them among these"),
        "amount": Field(MapOf(Amount(), what="tool and argument"), "calls with at most this much: send_money.amount"),
    },
    _approves,
    what="approves",
)


def _person(values: dict[str, Any], node: Node, reader: Reader) -> Person:
    roles, approves = tuple(dict.fromkeys(values["roles"])), tuple(values.get("approves", ()))
    if approves and APPROVER.isdisjoint(roles):
        help_ = f"give the role {' or '.join(sorted(APPROVER))}"
        reader.fail(node.at, "never-applies", "`approves` is for those who may approve at all", help_)
    return Person("", roles, approves, values.get("contact"), node.at)


people = MapOf(
    Record(
        {
            "roles": Field(ListOf(Choice(*ROLES), single=True, some=True), "what they may do", required=True),
            "approves": Field(ListOf(_approved, single=True), "what an approver may approve; absent: everything"),
            "contact": Field(Text(), "how to reach them, for people"),
        },
        _person,
        what="a person",
    ),
    keys=NAME,
    what="person",
)


def named(said: dict[str, Person]) -> dict[str, Person]:
    """People with their names."""
    return {name: msgspec.structs.replace(person, name=name) for name, person in said.items()}
