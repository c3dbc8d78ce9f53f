"""How strongly each caller of the policy is bound, and which of them may run code that nobody sees into."""

from __future__ import annotations

from remit.decide.grid import grid_of
from remit.explain.matrix import cell_for, tool_for, tools_of
from remit.model.policy import Caller
from remit.model.rulebook import Rulebook
from remit.scopes.interface import Matcher
from remit.service.status.model import AgentState, Bond, HostState, Seen


def agent_states(
    rulebook: Rulebook, hosts: tuple[HostState, ...], seen: dict[str, tuple[Seen, ...]], now: str, fault: str | None
) -> tuple[AgentState, ...]:
    """Every agent and runner, and the roles that a host has as agents. `fault`: why nothing is in force."""
    hosted = {one.name for host in hosts for one in host.definitions} | {host.main for host in hosts}
    found = []
    for name, caller in rulebook.book.callers.items():
        if caller.kind == "role" and name not in hosted:
            continue
        found.append(_state(rulebook, caller, hosts, seen.get(name, ()), now, fault))
    return tuple(found)


def _state(
    rulebook: Rulebook,
    caller: Caller,
    hosts: tuple[HostState, ...],
    seen: tuple[Seen, ...],
    now: str,
    fault: str | None,
) -> AgentState:
    bond, host, why = _bond(caller, hosts, fault)
    until = caller.enforce.observe_until if caller.enforce is not None else None
    if until is not None and until <= now:
        until = None
    if bond == "host hook" and until is not None:
        bond = "observed"
    return AgentState(
        caller.name,
        caller.kind,
        bond,
        host.name if host is not None else None,
        why,
        until,
        host.at if host is not None and bond != "not enforced" else None,
        seen,
        project_code_tools(rulebook, caller, now),
    )


def _bond(caller: Caller, hosts: tuple[HostState, ...], fault: str | None) -> tuple[Bond, HostState | None, str | None]:
    for host in hosts:
        mine = next((one for one in host.definitions if one.name == caller.name), None)
        main = host.main == caller.name
        if not host.installed or not (main or (mine is not None and mine.state != "without definition")):
            continue
        if not host.hooked:
            return "not enforced", host, f"the hook in {host.name} is wrong"
        if not caller.enabled:
            return "disabled", host, None
        if fault is not None:
            return "refused", host, "no policy is in force"
        if mine is not None and not main and mine.state in ("changed", "new"):
            return "refused", host, "its definition is not the one that was pinned"
        return "host hook", host, None
    if not caller.enabled:
        return "disabled", None, "nothing here would enforce it"
    why = (
        "programs have to ask for themselves" if caller.kind == "runner" else "no installed host has a definition of it"
    )
    return "only words", None, why


def project_code_tools(rulebook: Rulebook, caller: Caller, now: str) -> tuple[str, ...]:
    """The tools with a shell text that may run code of the project for this caller, and not only confined."""
    if caller.project_code == "deny" or caller.confine == "required" or not caller.enabled:
        return ()
    row = grid_of(rulebook).row(caller.name)
    found = []
    for name in tools_of(rulebook):
        tool = tool_for(rulebook, caller.name, name)
        if row is None or tool is None or "shell" not in tool.kinds:
            continue
        if cell_for(rulebook, caller.name, name, now).verdict == "deny":
            continue
        cell = grid_of(rulebook).cell(row, tool)
        permits = [*cell.may, *cell.grants, *cell.asks]
        if cell.access or any(_runs_project_code(bound.judge.parts.get("shell")) for bound in permits):
            found.append(name)
    return tuple(found)


def _runs_project_code(matcher: Matcher | None) -> bool:
    return matcher.effects()[1] if matcher is not None else True
