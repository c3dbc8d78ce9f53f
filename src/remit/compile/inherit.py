"""What a caller inherits: rules add up; of most other keys the nearest value counts, the strictest of equals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from remit.forms.shapes import Reader
from remit.model.moments import duration
from remit.model.policy import Alone, Caller, Enforce, Halting, Limits, Locks, Policy, Sandbox
from remit.model.text import suggestion


def _common(values: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    first, *rest = values
    return tuple(item for item in first if all(item in other for other in rest))


def _locks(values: list[Locks]) -> Locks:
    avoid = dict.fromkeys(text for locks in values for text in locks.except_)
    return Locks(may=_common([locks.may for locks in values]), except_=tuple(avoid))


def _enforce(values: list[Enforce]) -> Enforce:
    ends = [value.observe_until for value in values]
    return Enforce(None if None in ends else min(end for end in ends if end is not None))


def _halting(values: list[Halting]) -> Halting:
    halts = [value for value in values if value.after]
    return min(halts, key=lambda value: value.after) if halts else Halting()


def _issue(values: list[dict[str, Any]]) -> dict[str, Any]:
    keys = set.intersection(*(set(value) for value in values))
    merged: dict[str, Any] = {}
    for key in sorted(keys):
        mine = [value[key] for value in values]
        merged[key] = all(mine) if isinstance(mine[0], bool) else _common(mine)
    return merged


def _prefer(strict: str) -> Callable[[list[Any]], Any]:
    return lambda values: strict if strict in values else values[0]


def _sandbox(values: list[Sandbox]) -> Sandbox:
    networks = [value.network for value in values]
    homes = [value.home for value in values if value.home is not None]
    caches = [value.caches for value in values if value.caches is not None]
    limits = [value.limits for value in values if value.limits is not None]
    return Sandbox(
        network=next((mode for mode in ("none", "policy", "open") if mode in networks), None),
        home=min(homes, default=None),
        caches=_common(caches) if caches else None,
        hide=tuple(dict.fromkeys(text for value in values for text in value.hide)),
        limits=Limits(*(_least(limits, name) for name in Limits.__struct_fields__)) if limits else None,
    )


def _least(limits: list[Limits], name: str) -> int | None:
    return min((found for one in limits if (found := getattr(one, name)) is not None), default=None)


STRICTEST: dict[str, Callable[[list[Any]], Any]] = {
    "delegates_to": _common,
    "skills": _common,
    "apis": _common,
    "data_tiers": _common,
    "data_tiers_with_grant": _common,
    "locks": _locks,
    "delegate_within": _prefer("chain"),
    "capsule": _prefer("required"),
    "project_code": _prefer("deny"),
    "acknowledges": all,
    "may_issue": _issue,
    "issues_alone": lambda values: values[0] if all(value == values[0] for value in values) else Alone(),
    "on_violation": _halting,
    "enforce": _enforce,
    "review": lambda values: min(values, key=lambda value: [duration(text) for _, text in sorted(value.items())]),
}
"""Of several values equally near, the one that counts."""
OF_ALL: dict[str, Callable[[list[Any]], Any]] = {
    "confine": lambda values: next(mode for mode in ("required", "preferred", "off") if mode in values),
    "sandbox": _sandbox,
}
"""The strictest of all values counts, the policy's included, however near they are."""


def inherit(caller: Caller, policy: Policy, reader: Reader) -> Caller:
    """The caller with all its roles, their rules, and the nearest value of every key."""
    levels = _levels(caller, policy, reader)
    rules = list(caller.rules)
    for level in levels[1:]:
        for role in level:
            rules.extend(role.rules)
    found: dict[str, Any] = {}
    for key, strictest in STRICTEST.items():
        for level in levels:
            values = [value for one in level if (value := getattr(one, key)) is not None]
            if values:
                found[key] = values[0] if len(values) == 1 else strictest(values)
                break
        else:
            default = getattr(policy, key, None)
            if default is not None:
                found[key] = default
    for key, strictest in OF_ALL.items():
        ones = [policy, *(one for level in levels for one in level)]
        values = [value for one in ones if (value := getattr(one, key)) is not None]
        if values:
            found[key] = strictest(values)
    names = tuple(sorted(role.name for level in levels[1:] for role in level))
    says_may = any(one.says_may for level in levels for one in level)
    return msgspec.structs.replace(caller, roles=names, rules=tuple(rules), says_may=says_may, **found)


def _levels(caller: Caller, policy: Policy, reader: Reader) -> list[list[Caller]]:
    """The caller, its roles, their roles, each once, by distance."""
    levels, seen = [[caller]], {caller.name}
    while True:
        level: list[Caller] = []
        for one in levels[-1]:
            for name in one.roles:
                role = policy.callers.get(name)
                if role is None or role.kind != "role":
                    known = [n for n, c in policy.callers.items() if c.kind == "role"]
                    if one is caller:
                        reader.fail(
                            one.places.get(name, one.at),
                            "unknown-role",
                            f"unknown role `{name}`{suggestion(name, known)}",
                        )
                elif name == caller.name:
                    reader.fail(one.at, "role-cycle", f"the role `{name}` belongs to itself")
                elif name not in seen:
                    seen.add(name)
                    level.append(role)
        if not level:
            return levels
        levels.append(level)
