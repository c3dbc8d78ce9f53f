"""Which task an agent works on where nobody says so, as in the hooks of a host: the one that it has.

An agent with one living capsule acts in it. One that was handed its work by an agent with a capsule acts in a child of
that, with all of its limits. With several it says which one it works on (`remit_task`); until then nothing else runs.
"""

from __future__ import annotations

import msgspec

from remit.enforce.own_names import TASK
from remit.grant.authority import Authority
from remit.grant.errors import GrantError
from remit.grant.issuing import is_capsule_id
from remit.grant.launches import chosen_task
from remit.model.call import Call
from remit.model.digest import sha256
from remit.model.facts import Capsule
from remit.model.rulebook import Rulebook
from remit.model.task import Task

SEVERAL = "several-tasks"


def with_task(authority: Authority, rulebook: Rulebook, call: Call) -> Call:
    """The call in its agent's task, with the chain by which that came. Raises GrantError and StoreError."""
    context = call.context
    giver, task = None, None
    for name in (*context.chain, call.agent):
        if name not in rulebook.book.callers:  # it is refused, or only observed: nobody hands it a task
            giver, task = name, None
            continue
        try:
            own = _own(authority, name, giver, task, context.session)
        except GrantError as error:
            if error.code == SEVERAL and name == call.agent and rulebook.book.aliases.get(call.tool, call.tool) == TASK:
                return call  # it is about to choose
            raise
        if own is None and giver is not None and task is not None:
            own = _handed_on(authority, rulebook, task, giver, name)
        giver, task = name, own
    if task is None:
        return call
    chain = authority.chain(task)
    _check_bound(rulebook, context.chain, chain, call.agent)
    return msgspec.structs.replace(call, context=msgspec.structs.replace(context, capsule=task, chain=chain))


def _own(authority: Authority, agent: str, giver: str | None, theirs: str | None, session: str | None) -> str | None:
    """The living capsule that the agent works on. INVARIANT: one that was handed work by a giver with a task works on
    a part of that task, or not at all; nobody works on a part of a task that somebody else has."""
    found = authority.living(agent)
    if theirs is not None:
        parts = [state for state in found if state.task.capsule.parent == theirs]
        own = [state for state in found if state.task.capsule.parent is None]
        if own and not parts:
            name = own[0].task.capsule.id
            what = f"the task {name} of {agent} is not a part of {theirs}, the task of {giver}, which handed it work"
            help_ = f"hand it over as a part (`parent: {theirs}`), or end one of them: remit capsule end ID"
            raise GrantError(what, code="broken-chain", help=help_)
        found = parts
    elif giver is not None:
        found = [state for state in found if state.task.capsule.parent is None]
    if len(found) > 1:
        chosen = chosen_task(authority.store, session, agent) if session is not None else None
        if not any(state.task.capsule.id == chosen for state in found):
            names = ", ".join(state.task.capsule.id for state in found[:3])
            what = f"{agent} has several tasks ({names}), and it is unclear which one this call is for"
            help_ = (
                f"it can choose one with the tool {TASK}, or a person can end those that are done: remit capsule end ID"
            )
            raise GrantError(what, code=SEVERAL, help=help_)
        return chosen
    return found[0].task.capsule.id if found else None


def _check_bound(rulebook: Rulebook, seen: tuple[str, ...], chain: tuple[str, ...], agent: str) -> None:
    """Raises GrantError if a task that somebody else handed over would free the agent of those who bind it."""
    callers = rulebook.book.callers
    binding = [name for name in seen if name in callers and callers[name].delegate_within == "chain"]
    if chain[-len(seen) :] != seen and binding:
        what = f"the task of {agent} did not come from {binding[-1]}, whose limits bind those it hands work to"
        raise GrantError(what, code="broken-chain")


def _handed_on(authority: Authority, rulebook: Rulebook, parent: str, giver: str, agent: str) -> str:
    """The child of the giver's capsule for this agent; made at its first call."""
    name = f"{parent}.{agent}"
    if not is_capsule_id(name):
        name = f"{parent[:60]}.{sha256(name.encode()).hexdigest()[:24]}"
    task = Task(Capsule(name, agent, parent=parent), by=giver, issuer="agent", goal="handed on in the host")
    try:
        authority.issue(rulebook, task)
    except GrantError as error:
        known = authority.state(name).task.capsule if error.code == "capsule-exists" else None
        if known is None or (known.agent, known.parent) != (agent, parent):
            raise
    return name
