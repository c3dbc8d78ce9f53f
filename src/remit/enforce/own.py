"""The tools by which agents turn to Remit itself: why, ask, hand on, acknowledge. The policy lets them, or doesn't.

Under a Guard these are calls like others. In a host they are tools of Remit's own MCP server (`adapters/mcp`), which
learns from the hook who calls.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from remit.compile.tasks import task_from
from remit.enforce.attempt import Enforcer
from remit.enforce.errors import GuardError
from remit.enforce.own_names import REQUEST, TASK
from remit.grant.asks import AskState, may_answer
from remit.grant.errors import GrantError
from remit.grant.launches import choose_task, chosen_task
from remit.model.call import Call, Statement
from remit.model.decision import Decision
from remit.model.errors import RemitError
from remit.model.terms import ASK
from remit.model.text import shown, suggestion

MOST = 20
"""Questions and tasks that one answer lists."""
LONG = 4_000
"""Characters of a text in it."""


def own_tool(enforcer: Enforcer, call: Call) -> dict[str, Any]:
    """What one of these tools answers. Raises RemitError."""
    return _TOOLS[enforcer.rulebook().book.aliases.get(call.tool, call.tool)](enforcer, call)


def own_tool_in_host(enforcer: Enforcer, call: Call) -> dict[str, Any]:
    """The same in a host, where agents also say which task they work on. Raises RemitError."""
    if enforcer.rulebook().book.aliases.get(call.tool, call.tool) == TASK:
        return _task(enforcer, call)
    return own_tool(enforcer, call)


def _why(enforcer: Enforcer, call: Call) -> dict[str, Any]:
    """For the agent: what would be decided, and the next step; no more than a refusal would say."""
    return _answer(enforcer.judge(_meant(call), enforcer.rulebook()).decision)


def _request(enforcer: Enforcer, call: Call) -> dict[str, Any]:
    args = call.args
    said = Statement(args["intent"], args["because"], args["consequences"], args.get("anticipated"))
    meant = msgspec.structs.replace(_meant(call), statement=said)
    judged = enforcer.judge(meant, enforcer.rulebook())
    if judged.decision.verdict is not ASK:
        return _answer(judged.decision)
    decision, asked = enforcer.ask(judged)
    return {**_answer(decision), "approval": asked.id if asked is not None else None}


def _delegate(enforcer: Enforcer, call: Call) -> dict[str, Any]:
    args = call.args
    name = f"{(call.context.capsule or call.agent)[:80]}.{secrets.token_hex(4)}"
    limits: dict[str, Any] = {
        key: args[key] for key in ("may", "may_not", "grants", "data_tiers", "expires") if key in args
    }
    data: dict[str, Any] = {"id": name, "agent": args["agent"], "goal": args["goal"], **limits}
    if call.context.capsule is not None:
        data["parent"] = call.context.capsule
    task = task_from(enforcer.rulebook(), data)
    task = enforcer.authority.issue(enforcer.rulebook(), msgspec.structs.replace(task, by=call.agent, issuer="agent"))
    return {"capsule": task.capsule.id, "ticket": enforcer.authority.ticket(task.capsule.id)}


def _acknowledge(enforcer: Enforcer, call: Call) -> dict[str, Any]:
    args = call.args
    found = enforcer.authority.asked(args["approval"])
    may_answer(enforcer.rulebook().book, found, call.agent)
    answered = enforcer.authority.answer(
        found.id, args["answer"], by=call.agent, kind="agent", because=args.get("because")
    )
    return {"approval": answered.id, "state": answered.state}


def _waiting(enforcer: Enforcer, call: Call) -> dict[str, Any]:
    """The questions that are for this agent to answer, with the calls that they are about."""
    book, found = enforcer.rulebook().book, []
    for one in enforcer.authority.waiting():
        with suppress(GrantError):
            may_answer(book, one, call.agent)
            found.append(one)
    return {"waiting": [_question(enforcer, one) for one in found[:MOST]], "more": max(0, len(found) - MOST)}


def _question(enforcer: Enforcer, found: AskState) -> dict[str, Any]:
    ask = found.ask
    about = {name: getattr(ask, name) for name in ("agent", "tool", "tier", "reason", "anticipated", "capsule")}
    try:
        sealed = enforcer.authority.arguments(found.id)
    except RemitError:
        sealed = {}  # somebody has just answered
    args = {name: shown(value, LONG) if type(value) is str else value for name, value in sealed.get("args", {}).items()}
    return {"approval": found.id, **about, "args": args, "statement": ask.statement, "expires": found.expires}


def _task(enforcer: Enforcer, call: Call) -> dict[str, Any]:
    """The agent's living tasks; the one that it names is the one that it works on from now on."""
    living = [state.task for state in enforcer.authority.living(call.agent)]
    name, session = call.args.get("capsule"), call.context.session
    if name is not None:
        ids = [task.capsule.id for task in living]
        if session is None or name not in ids:
            raise GrantError(
                f"{call.agent} has no open task `{shown(name)}`{suggestion(str(name), ids)}", code="unknown-capsule"
            )
        choose_task(enforcer.authority.store, enforcer.authority.scribe, session, call.agent, name)
    chosen = chosen_task(enforcer.authority.store, session, call.agent) if session is not None else None
    tasks = [
        {"capsule": task.capsule.id, "goal": shown(task.goal, LONG), "expires": task.capsule.expires}
        for task in living[:MOST]
    ]
    return {"tasks": tasks, "chosen": chosen if any(task.capsule.id == chosen for task in living) else None}


def _meant(call: Call) -> Call:
    """The call that the agent talks about: its own, in the same context."""
    args = call.args.get("args", {})
    if not isinstance(args, dict):
        raise GuardError("`args` must be an object", code="malformed-call")
    return Call(call.agent, call.args["tool"], args, call.context)


def _answer(decision: Decision) -> dict[str, Any]:
    remedy = decision.remedy.text if decision.remedy is not None else None
    return {"decision": decision.verdict.word, "code": decision.code, "reason": decision.reason, "remedy": remedy}


_TOOLS: dict[str, Callable[[Enforcer, Call], dict[str, Any]]] = {
    "remit_why": _why,
    REQUEST: _request,
    "remit_delegate": _delegate,
    "remit_acknowledge": _acknowledge,
    "remit_waiting": _waiting,
}
