"""The tools by which agents turn to Remit itself: why, ask, hand on, acknowledge. The policy lets them, or doesn't."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import msgspec

from remit.compile.tasks import task_from
from remit.enforce.attempt import Enforcer
from remit.enforce.errors import GuardError
from remit.grant.asks import may_answer
from remit.model.call import Call, Statement
from remit.model.decision import Decision
from remit.model.terms import ASK


def own_tool(enforcer: Enforcer, call: Call) -> dict[str, Any]:
    """What one of these tools answers. Raises RemitError."""
    return _TOOLS[enforcer.rulebook().book.aliases.get(call.tool, call.tool)](enforcer, call)


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
    limits: dict[str, Any] = {key: args[key] for key in ("may", "may_not", "data_tiers", "expires") if key in args}
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
    "remit_request": _request,
    "remit_delegate": _delegate,
    "remit_acknowledge": _acknowledge,
}
OWN = frozenset(_TOOLS)
"""Their names; a policy has them by `use: [remit]`."""
