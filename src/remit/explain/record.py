"""Where a policy and a team's own record of an agent differ: tools, data tiers, skills, locks, APIs, delegation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.explain.access import make_report
from remit.model.policy import Caller
from remit.model.rulebook import Rulebook
from remit.model.text import shown


def differences(rulebook: Rulebook, name: str, record: dict[str, Any]) -> list[str]:
    """One line each; `record` is in the format of an agent. An agent that the policy doesn't know differs in all."""
    caller = rulebook.book.callers.get(name)
    if caller is None or caller.kind != "agent":
        return [f"the policy has no agent {shown(name)}"]
    return list(_differences(rulebook, caller, record))


def _differences(rulebook: Rulebook, caller: Caller, record: dict[str, Any]) -> Iterator[str]:
    aliases = rulebook.book.aliases
    handing = {name for name, tool in rulebook.book.tools.items() if {one.effect for one in tool.does} == {"delegate"}}
    mine = {entry.tool for entry in make_report(rulebook, caller.name).accessible}
    if record.get("delegates_to"):
        mine -= handing  # whom it may hand work to says enough
    theirs = {aliases.get(tool, tool) for tool in record.get("may", ())}
    yield from (f"{tool}: only the policy allows it" for tool in sorted(mine - theirs))
    yield from (f"{tool}: only the record allows it" for tool in sorted(theirs - mine))
    locks = caller.locks
    said = {
        "data_tiers": caller.data_tiers,
        "data_tiers_with_grant": caller.data_tiers_with_grant or (),
        "skills": caller.skills,
        "apis": caller.apis,
        "delegates_to": caller.delegates_to or (),
        "locks.may": locks.may if locks is not None else None,
        "locks.except": locks.except_ if locks is not None else (),
    }
    wanted = {**record, **{f"locks.{key}": value for key, value in record.get("locks", {}).items()}}
    for key, value in said.items():
        if value is None and key not in wanted:
            continue
        if key not in wanted and not value:
            continue
        if sorted(map(str, value or ())) != sorted(map(str, wanted.get(key, ()))) or value is None:
            yield f"{key}: the policy says {_list(value)}, the record {_list(wanted.get(key))}"
    mine_on, mine_by = (caller.reviewed or {}).get("on", "never")[:10], (caller.reviewed or {}).get("by", "nobody")
    on, by = record.get("reviewed", {}).get("on", mine_on), record.get("reviewed", {}).get("by", mine_by)
    if (on, by) != (mine_on, mine_by):
        yield f"reviewed: the policy says {mine_on} by {shown(mine_by)}, the record {on} by {shown(by)}"


def _list(value: Any) -> str:
    return "nothing" if value is None else f"[{shown(', '.join(map(str, value)), 300)}]"
