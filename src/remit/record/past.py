"""Calls as the ledger has them, to be looked at or decided again.

for past in past_calls(view, Filter(since="2026-11-01T00:00:00.000Z")):
    print(past.call.agent, past.call.tool, past.decision, past.result)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from remit.model.call import Call, Context, is_probe
from remit.record.reader import Filter, Stored, all_said, values_of
from remit.store.interface import Transaction

INTENTS = "intent"
ALL = Filter()
_CONTEXT = ("cwd", "mode", "environment", "data_tier")


class PastCall(msgspec.Struct, frozen=True):
    """One call, what was decided, and how it ended."""

    seq: int
    id: str
    at: str
    call: Call
    decision: str
    """`allow`, `ask` or `deny`."""
    code: str
    would: str | None
    rule: str | None
    tier: int
    data_tier: int | str
    effects: tuple[str, ...]
    grade: str
    policy: str | None
    complete: bool
    """Every argument is still there, as it was: none was erased or redacted."""
    result: str | None = None
    """How it ended, where that was asked for."""
    error: str | None = None

    @property
    def ran(self) -> bool:
        """It was let, and nothing says that it did not begin."""
        return self.decision == "allow" and self.result != "not-run"


def past_calls(view: Transaction, wanted: Filter = ALL, first: int = 0) -> Iterator[PastCall]:
    """The calls that are wanted, from one entry on, the oldest first, without those of probes, and without messages
    that were no call: refused as malformed, they have neither an agent nor a tool.

    Raises LedgerError and StoreError."""
    wanted = wanted._replace(type=INTENTS)
    for stored, data in all_said(view, first):
        no_call = not data.get("agent") and not data.get("tool")
        if wanted.wants(data) and not no_call and not is_probe(data.get("session")):
            yield _past(view, stored, data)


def finished_calls(view: Transaction, wanted: Filter = ALL) -> list[PastCall]:
    """The same with how each ended. Raises LedgerError and StoreError."""
    found: dict[str, PastCall] = {}
    for past in past_calls(view, wanted):
        found[past.id] = past
    for _, data in all_said(view):
        if data.get("type") == "outcome" and (past_call := found.get(str(data.get("call")))) is not None:
            error = str(data["error"]) if data.get("error") is not None else None
            found[past_call.id] = msgspec.structs.replace(past_call, result=str(data.get("result")), error=error)
    return list(found.values())


def _past(view: Transaction, stored: Stored, data: dict[str, Any]) -> PastCall:
    values = values_of(view, stored)
    args = {name.removeprefix("args."): one for name, one in values.items() if name.startswith("args.")}
    if isinstance(values.get("args"), dict):
        args = values["args"]
    said = data.get("args")
    names = set(said) if isinstance(said, dict) and not isinstance(said.get("$c"), str) else set(args)
    complete = names <= set(args) and ("args" in values or names == set(args)) and not _redacted(args)
    rest = values.get("context")
    known = {key: rest[key] for key in _CONTEXT if key in rest} if isinstance(rest, dict) else {}
    complete = complete and (isinstance(rest, dict) or "context" not in data)
    chain = tuple(str(name) for name in data.get("chain") or ())
    capsule, session = data.get("capsule"), data.get("session")
    return PastCall(
        seq=stored.seq,
        id=str(data.get("call")),
        at=str(data.get("at")),
        call=Call(
            str(data.get("agent")),
            str(data.get("tool")),
            args,
            Context(
                capsule=str(capsule) if capsule is not None else None,
                session=str(session) if session is not None else None,
                chain=chain,
                **known,
            ),
        ),
        decision=str(data.get("decision")),
        code=str(data.get("code")),
        would=data.get("would"),
        rule=data.get("rule"),
        tier=int(data.get("tier") or 0),
        data_tier=data.get("data_tier", 0),
        effects=tuple(data.get("effects") or ()),
        grade=str(data.get("grade")),
        policy=data.get("policy"),
        complete=complete,
    )


def _redacted(args: dict[str, Any]) -> bool:
    """Whether something that looked like a secret was left out, or a text was too long to be looked through."""
    text = msgspec.json.encode(args).decode()
    return any(mark in text for mark in ("[secret: ", '{"$secret":', " not looked through]"))
