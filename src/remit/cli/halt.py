"""`remit halt` and `remit resume`: a person stops an agent, a task or everybody, and lets them go on."""

from __future__ import annotations

from typing import Annotated

from remit.cli.answer import YesOption, check_reason
from remit.cli.common import FINE, InputError
from remit.cli.ledger.user import user_name
from remit.cli.living import Living, out_data, to_change
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument, Option
from remit.explain.visible import bounded
from remit.grant.halts import SYSTEM, TASK, name_of, not_halted
from remit.model.people import OPERATOR
from remit.model.text import shown, suggestion

AgentArgument = Annotated[str | None, Argument(metavar="AGENT", help="An agent, as the policy names it.")]
AllOption = Annotated[bool, Option("--all", help="Every agent.")]
TaskOption = Annotated[str | None, Option("--capsule", metavar="ID", help="Only what belongs to this task.")]


def halt(
    because: Annotated[str, Option("--because", metavar="TEXT", help="The reason.")],
    agent: AgentArgument = None,
    all: AllOption = False,
    capsule: TaskOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Halt an agent, a task or everybody at once: until a person resumes them, every call is denied.

    This needs no passphrase: anyone may stop an agent. Calls that are already running are not
    interrupted.

    Examples: `remit halt builder --because 'it deletes tests'`, `remit halt --all --because 'keys leaked'`
    """
    check_reason(because)
    with to_change(policy) as living:
        who = _who(living, agent, all=all, capsule=capsule)
        by = user_name(None)
        done = living.authority.halt(who, by=by, because=because)
        if json:
            out_data({"halted": who, "new": done, "by": by})
            return FINE
        if not done:
            out(f"{name_of(who)}: halted already\n")
            return FINE
        back = "--all" if who == SYSTEM else f"--capsule {capsule}" if capsule is not None else agent
        out(f"{paint('✋', 'red')} {name_of(who)}: halted. `remit resume {back} --because …` lifts it\n")
    return FINE


def resume(
    because: Annotated[str, Option("--because", metavar="TEXT", help="What was found, and why it may resume.")],
    agent: AgentArgument = None,
    all: AllOption = False,
    capsule: TaskOption = None,
    yes: YesOption = False,
    who_: AsOption = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Resume what is halted. Shows the halt first, and asks for the passphrase.

    An incident that led to the halt stays open: `remit incidents close` closes it.

    Example: `remit resume builder --because 'fixed in PR 12'`
    """
    check_reason(because)
    _check_one(agent, all=all, capsule=capsule)
    who = SYSTEM if all else f"{TASK}{capsule}" if capsule is not None else str(agent)
    with to_change(policy) as living:
        book = living.book(machine=json)
        found = next((one for one in living.authority.halted() if one.who == who), None)
        if found is None:
            raise not_halted(who)
        if not json:
            more = f" ({found.incident})" if found.incident is not None else ""
            out(f"{name_of(who)}: halted since {found.at} by {bounded(found.by, 120)}{more}\n")
            out(f"  {bounded(found.because, 1_000)}\n")
        person = living.person(book, f"resume {name_of(who)}", may=OPERATOR, who=who_, yes=yes)
        living.authority.resume(who, by=person.name, because=because, sign=person.sign)
        if json:
            out_data({"resumed": who, "by": person.name, "incident": found.incident})
        else:
            out(f"{paint('✅', 'green')} {name_of(who)}: resumed, by {person.name}\n")
    return FINE


def _check_one(agent: str | None, *, all: bool, capsule: str | None) -> None:
    if sum((agent is not None, all, capsule is not None)) != 1:
        raise InputError("say whom: an agent, --capsule ID or --all")


def _who(living: Living, agent: str | None, *, all: bool, capsule: str | None) -> str:
    """What is to be halted; it must exist as far as anybody can tell. Raises RemitError."""
    _check_one(agent, all=all, capsule=capsule)
    if capsule is not None:
        living.authority.state(capsule)
        return f"{TASK}{capsule}"
    if agent is None:
        return SYSTEM
    callers = living.callers()
    if callers is not None and agent not in callers:
        known = [name for name, caller in callers.items() if caller.kind != "role"]
        raise InputError(f"unknown agent `{shown(agent)}`{suggestion(agent, known)}", code="unknown-agent")
    return agent
