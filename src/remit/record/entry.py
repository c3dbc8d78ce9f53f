"""Entries: what the ledger says about a call, and about everything else that changes who may do what.

A call has two: an intent, written before the tool runs, and an outcome. What the caller hands over is serialised at
once (`intent_snapshot`), so that what is recorded is what was decided; the writer builds the entry from that.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from remit.model.call import Call
from remit.model.decision import Decision
from remit.record.canonical import CanonicalError, encode
from remit.record.errors import LedgerError
from remit.record.fields import Field, commit

VERSION = 1
MAX_ENTRY = 65_535
"""Bytes: the entry bundles of the tiles have a length of 16 bits."""
EVENTS = (
    "activation",  # a policy came into force
    "grant",
    "revocation",
    "capsule",
    "gate",
    "approval",
    "halt",
    "resume",
    "review",
    "rotation",  # of the ledger's key
    "observe",  # enforcement is suspended, until a date
    "unsafe",  # something that weakens enforcement is in the policy
    "erasure",
    "heartbeat",
    "start",
    "stop",
)
RESULTS = ("done", "failed", "not-run", "unknown")
"""`unknown`: the process ended between intent and outcome. Written, never guessed."""


class Entry(NamedTuple):
    """An entry ready to be appended: its bytes, and the values that it only commits to."""

    body: bytes
    fields: tuple[Field, ...] = ()
    call: str | None = None
    """The call that an intent opens or an outcome closes."""
    kind: str = ""
    opens: bool = False
    """An intent that lets the tool run: an outcome must follow."""
    answers: int | None = None
    """The place of the intent whose outcome this is."""


def moment(nanoseconds: int) -> str:
    """`2026-11-16T00:40:12.123Z`, in UTC."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{_second(seconds)}.{rest // 1_000_000:03d}Z"


@lru_cache(8)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def durability(decision: Decision) -> str:
    """`batched` only for an allowed read of data that nobody must account for; everything else waits for the disk."""
    harmless = decision.allowed and decision.would is None and decision.tier == 0
    return "batched" if harmless and decision.data_tier < 2 and decision.grade != "not understood" else "durable"


def intent_snapshot(call_id: str, call: Call, decision: Decision, point: str, at: int) -> bytes:
    """Everything that the intent will say, serialised now. Raises LedgerError for arguments that are no JSON."""
    context, statement = call.context, call.statement
    try:
        return msgspec.json.encode(
            (
                call_id,
                at,
                point,
                call.args,
                statement,
                context.chain,
                context.capsule,
                context.session,
                decision.agent,
                decision.tool,
                decision.effects,
                decision.grade,
                decision.tier,
                decision.data_tier,
                decision.verdict,
                decision.would,
                decision.code,
                decision.rule,
                decision.approval,
                decision.policy,
            )
        )
    except (TypeError, ValueError, UnicodeError, RecursionError, OverflowError):
        raise LedgerError("the arguments can't be written down", code="bad-entry") from None


_VERDICTS = ("allow", "ask", "deny")


def intent_entry(snapshot: bytes, writer: str) -> Entry:
    """The intent of a call, from what was serialised when it was decided."""
    said = msgspec.json.decode(snapshot)
    (call, at, point, args, statement, chain, capsule, session, agent, tool, effects, grade) = said[:12]
    (tier, data_tier, verdict, would, code, rule, approval, policy) = said[12:]
    fields = [commit(f"args.{name}", value) for name, value in args.items()]
    body: dict[str, Any] = {
        "v": VERSION,
        "type": "intent",
        "at": moment(at),
        "call": call,
        "writer": writer,
        "point": point,
        "agent": agent,
        "chain": chain,
        "capsule": capsule,
        "session": session,
        "tool": tool,
        "args": {name: _shown(field) for name, field in zip(args, fields, strict=True)},
        "effects": effects,
        "grade": grade,
        "tier": tier,
        "data_tier": data_tier if grade != "not understood" else "unknown",
        "decision": _VERDICTS[verdict],
        "would": would,
        "code": code,
        "rule": rule,
        "approval": approval,
        "policy": policy,
    }
    if statement is not None:
        field = commit("statement", statement)
        fields.append(field)
        body["statement"] = _shown(field)
    data = _encoded(body)
    if len(data) > MAX_ENTRY or any("\0" in name for name in args):
        # Very many arguments, or names that no store keeps: one commitment for all of them.
        field = commit("args", args)
        fields = [field, *(f for f in fields if f.path == "statement")]
        data = _encoded({**body, "args": _shown(field)})
    return Entry(_bounded(data), tuple(fields), call, "intent", verdict == 0)


def outcome_entry(call: str, intent: int | None, result: str, at: int, writer: str, **more: Any) -> Entry:
    """How a call ended; `more` may have `error` (a name) and `took` (milliseconds)."""
    body = {
        "v": VERSION,
        "type": "outcome",
        "at": moment(at),
        "call": call,
        "intent": intent,
        "writer": writer,
        "result": result,
    }
    body.update({name: value for name, value in more.items() if value is not None})
    return Entry(_bounded(_encoded(body)), (), call, "outcome", answers=intent)


def event_entry(kind: str, at: int, writer: str, about: Mapping[str, Any], private: Mapping[str, Any]) -> Entry:
    """Anything else that counts. What is `private` is committed to, and can be erased."""
    if kind not in EVENTS:
        raise LedgerError(f"there is no event `{kind}`", code="bad-entry")
    fields = tuple(commit(name, value) for name, value in private.items())
    body = {
        "v": VERSION,
        "type": kind,
        "at": moment(at),
        "writer": writer,
        **about,
        **{field.path: _shown(field) for field in fields},
    }
    return Entry(_bounded(_encoded(body)), fields, None, kind)


def _shown(field: Field) -> dict[str, str]:
    return {"$c": base64.b64encode(field.digest).decode()}


def _encoded(body: dict[str, Any]) -> bytes:
    try:
        return encode(body)
    except CanonicalError as error:
        raise LedgerError(f"the entry can't be written: {error}", code="bad-entry") from None


def _bounded(data: bytes) -> bytes:
    if len(data) > MAX_ENTRY:
        raise LedgerError(f"the entry has {len(data)} bytes, more than {MAX_ENTRY}", code="entry-too-large")
    return data
