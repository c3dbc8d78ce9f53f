"""Who may approve a call: people with a role for it, within what the policy lets each of them approve."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from remit.decide.case import Case
from remit.decide.measure import labels_of
from remit.model.pattern import compile_later
from remit.model.people import APPROVER
from remit.model.policy import Approves, Person
from remit.model.task import UNIT

_TEXT = compile_later(r"[0-9]{1,13}(?:\.[0-9]{1,30})?", re.ASCII)


def approvers(case: Case) -> Iterator[str]:
    """The people who may approve this call, whoever asked for it."""
    for person in case.cell.rulebook.book.people.values():
        if _may(case, person):
            yield person.name


def _may(case: Case, person: Person) -> bool:
    if APPROVER.isdisjoint(person.roles):
        return False
    return not person.approves or any(_covers(case, one) for one in person.approves)


def _covers(case: Case, one: Approves) -> bool:
    caller = case.cell.caller
    if one.tiers is not None and case.tier not in one.tiers:
        return False
    if one.agents is not None and {caller.name, *caller.roles}.isdisjoint(one.agents):
        return False
    if one.labels is not None:
        found = labels_of(case)
        if not found or not found.issubset(one.labels):
            return False
    return all(_at_most(case, what, most) for what, most in one.amount.items())


def _at_most(case: Case, what: str, most: int) -> bool:
    """Every value of the argument is an amount up to so many millionths; an argument of another tool is none of its."""
    tool = case.cell.tool
    name = what.removeprefix(f"{tool.name}.")
    if name == what or name not in tool.args:
        return True
    values = [value for value in case.values.get(name) or () if value is not None]
    default = tool.args[name].default
    if not values and default is not None:
        values = [default]
    return bool(values or "[]" in name) and all(_amount(value, most) for value in values)


def _amount(value: Any, most: int) -> bool:
    if isinstance(value, str):
        if not _TEXT.fullmatch(value):
            return False
    elif not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    amount = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return amount.is_finite() and 0 <= amount <= Decimal(most) / UNIT
