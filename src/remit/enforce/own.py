"""The tools by which agents turn to Remit itself: why, ask, hand on, acknowledge. The policy lets them, or doesn't."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

import msgspec

from remit.compile.tasks import task_from
from remit.enforce.errors import GuardError
from remit.enforce.passage import Gate
from remit.grant.asks import may_answer
from remit.model.call import Call, Statement
from remit.model.decision import Decision
from remit.model.terms import ASK


def own_tool(gate: Gate, call: Call) -> dict[str, Any]:
    """What one of these tools answers. Raises RemitError."""
    return _TOOLS[gate.rulebook.book.aliases.get(call.tool, call.tool)](gate, call)


def _why(gate: Gate, call: Call) -> dict[str, Any]:
    """For the agent: what would be decided, and the next step; no more than a refusal would say."""
    return _told(gate.decide(_meant(call))[0])


def _request(gate: Gate, call: Call) -> dict[str, Any]:
    args = call.args
    said = Statement(args["intent"], args["because"], args["consequences"], args.get("anticipated"))
    meant = msgspec.structs.replace(_meant(call), statement=said)
    decision, facts = gate.decide(meant)
    if decision.verdict is not ASK:
        return _told(decision)
    decision, asked = gate.ask(meant, decision, facts)
    return {**_told(decision), "approval": asked.id if asked is not None else None}


def _delegate(gate: Gate, call: Call) -> dict[str, Any]:
    args = call.args
    name = f"{(call.context.capsule or call.agent)[:80]}.{secrets.token_hex(4)}"
    told: dict[str, Any] = {key: args[key] for key in ("may", "may_not", "data_tiers", "expires") if key in args}
    data: dict[str, Any] = {"id": name, "agent": args["agent"], "goal": args["goal"], **told}
    if call.context.capsule is not None:
        data["parent"] = call.context.capsule
    task = task_from(gate.rulebook, data)
    task = gate.authority.issue(gate.rulebook, msgspec.structs.replace(task, by=call.agent, issuer="agent"))
    return {"capsule": task.capsule.id, "ticket": gate.authority.ticket(task.capsule.id)}


def _acknowledge(gate: Gate, call: Call) -> dict[str, Any]:
    args = call.args
    found = gate.authority.asked(args["approval"])
    may_answer(gate.rulebook.book, found, call.agent)
    answered = gate.authority.answer(found.id, args["answer"], by=call.agent, kind="agent", because=args.get("because"))
    return {"approval": answered.id, "state": answered.state}


def _meant(call: Call) -> Call:
    """The call that the agent talks about: its own, in the same context."""
    args = call.args.get("args", {})
    if not isinstance(args, dict):
        raise GuardError("`args` must be an object", code="malformed-call")
    return Call(call.agent, call.args["tool"], args, call.context)


def _told(decision: Decision) -> dict[str, Any]:
    remedy = decision.remedy.text if decision.remedy is not None else None
    return {"decision": decision.verdict.word, "code": decision.code, "reason": decision.reason, "remedy": remedy}


_TOOLS: dict[str, Callable[[Gate, Call], dict[str, Any]]] = {
    "remit_why": _why,
    "remit_request": _request,
    "remit_delegate": _delegate,
    "remit_acknowledge": _acknowledge,
}
OWN = frozenset(_TOOLS)
"""Their names; a policy has them by `use: [remit]`."""
