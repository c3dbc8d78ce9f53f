"""What permission records and sections say of all that an agent does, as lines of a policy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from remit.compile import build_rulebook
from remit.model.errors import PolicyError

_PLAIN = {
    "data_tiers_allowed": "data_tiers",
    "data_tiers_with_capsule_grant": "data_tiers_with_grant",
    "external_apis_allowed": "apis",
}
_MAY, _EXCEPT = "resource_locks_allowed", "resource_locks_forbidden"


def terms_of(terms: dict[str, Any]) -> list[str] | None:
    """The lines, without what is the same for everybody; None if a policy can't say one of them."""
    found = dict(_said(terms))
    try:
        build_rulebook({"remit": 1, "agents": {"a": {"may": [], **found}}})
    except PolicyError:
        return None
    return [line_of(key, value) for key, value in found.items()]


def locked(may: Sequence[str], beside: Sequence[str] = ()) -> str:
    """The line for the only places that an agent may change."""
    return line_of("locks", {"may": list(may), **({"except": list(beside)} if beside else {})})


def key_of_line(line: str) -> str:
    """What a line of an agent's section is about."""
    return line.partition(": ")[0]


def line_of(key: str, value: object) -> str:
    """A line of an agent's section."""
    return f"{key}: {json.dumps(value, ensure_ascii=False)}"


def _said(terms: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, name in _PLAIN.items():
        if key in terms:
            yield name, terms[key]
    if "capsule" in terms:
        yield "capsule", "required"
    if "gate" in terms:
        yield "gate", terms["gate"]  # no agent has one of its own: it can't be said
    if _MAY in terms or _EXCEPT in terms:
        beside = {"except": terms[_EXCEPT]} if terms.get(_EXCEPT) else {}
        yield "locks", {"may": terms.get(_MAY, ["**"]), **beside}
