"""Sums in budgets: what a call's arguments add up to, exactly, in millionths.

`send_money.amount` names a tool and one of its arguments. Whatever is no amount that could be counted is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import Any

from remit.grant.errors import GrantError
from remit.model.pattern import compile_later
from remit.model.policy import Tool
from remit.model.task import LARGEST_SUM, SUM, UNIT

_TEXT = compile_later(r"[0-9]{1,13}(?:\.[0-9]{1,30})?", re.ASCII)


def argument_of(what: str, tool: Tool) -> str | None:
    """The argument of this tool that a sum is about; None if it is about another one's."""
    name = what.removeprefix(f"{tool.name}.")
    return name if name != what and name in tool.args else None


def sums_of(tool: Tool | None, args: Mapping[str, Any], counted: Iterator[str]) -> dict[str, int]:
    """By what is counted (`sum:send_money.amount`), the millionths that a call adds. Raises GrantError."""
    found: dict[str, int] = {}
    for what in counted:
        name = argument_of(what.removeprefix(SUM), tool) if tool is not None and what.startswith(SUM) else None
        if name is None or tool is None:
            continue
        values = list(_values(name, args))
        if not values and tool.args[name].default is not None:
            values = [tool.args[name].default]
        if not values and "[]" not in name:
            raise GrantError(f"{name} is counted in a budget: give an amount", code="bad-amount")
        total = sum(_millionths(name, value) for value in values)
        if total > LARGEST_SUM:
            raise GrantError(f"{name} is too large to be counted", code="bad-amount")
        found[what] = total
    return found


def _millionths(name: str, value: Any) -> int:
    """Rounded up: no part of an amount goes uncounted."""
    if isinstance(value, str) and _TEXT.fullmatch(value):
        amount = Decimal(value)
    elif isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        amount = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    else:
        raise GrantError(f"{name} can't be counted in a budget", code="bad-amount")
    if not amount.is_finite() or amount < 0:
        raise GrantError(f"{name} can't be counted in a budget: it must be 0 or more", code="bad-amount")
    if amount > LARGEST_SUM:
        raise GrantError(f"{name} is too large to be counted", code="bad-amount")
    with localcontext() as context:
        context.prec = 400
        return int((amount * UNIT).to_integral_value(rounding=ROUND_CEILING))


def _values(name: str, args: Any) -> Iterator[Any]:
    """The values of a declared argument: `amount`, `payments[].amount`."""
    found = [args]
    for part in name.split("."):
        key, many = part.removesuffix("[]"), part.endswith("[]")
        found = [one[key] for one in found if isinstance(one, Mapping) and key in one]
        if many:
            found = [item for one in found if isinstance(one, (list, tuple)) for item in one]
    yield from (one for one in found if one is not None)
