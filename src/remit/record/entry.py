"""Entries: what the ledger says about a call, and about everything else that changes who may do what.

A call has two: an intent, written before the tool runs, and an outcome. What the caller hands over is serialised at
once (`intent_snapshot`), so that what is recorded is what was decided; the writer builds the entry from that.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import msgspec

from remit.model.call import NO_CONTEXT, Call, Context
from remit.model.decision import Decision
from remit.model.moments import exact_moment
from remit.model.terms import ALLOW
from remit.model.trace import Unconfined
from remit.record.canonical import MAX_INT, CanonicalError, encode
from remit.record.errors import LedgerError
from remit.record.fields import Field, commit, commit_all
from remit.record.secrets import without_secrets

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
    "budget",  # what a call counted as
    "handover",  # who was let hand work to whom in a session of a host
    "violation",  # one that counts towards a halt
    "halt",  # an agent, a task or all of them: halted, or resumed by a person
    "incident",
    "confined",  # a command ran inside limits: what held it, what it changed, what was found after it
    "resume",  # of the ledger
    "review",
    "rotation",  # of the ledger's key
    "credential",  # a person's: set, changed, given or refused
    "clock",  # it jumped, is in doubt, or was repaired
    "observe",  # enforcement is suspended, until a date
    "unsafe",  # something that weakens enforcement is in the policy
    "erasure",
    "archive",  # old entries are in a folder of their own
    "heartbeat",
    "start",
    "stop",
)
_ALWAYS = frozenset(("v", "type", "at", "writer"))
ASKED_OF_HOST = "host"
"""In place of an approval's id: the host asks its own user, and the tool may run without another word to us."""
RESULTS = ("done", "failed", "abandoned", "not-run", "unknown")
"""`abandoned`: what the tool returned was not run to its end. `unknown`: the process ended between intent and outcome.

Written, never guessed.
"""


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
    subject: str | None = None
    """What this entry says the state of, such as `["ask",17]`."""


_new = tuple.__new__
"""Makes a named tuple in one step."""


def durability(decision: Decision) -> str:
    """`batched` only for an allowed read of data that nobody must account for; everything else waits for the disk."""
    harmless = decision.verdict is ALLOW and decision.would is None and decision.tier == 0
    return "batched" if harmless and decision.data_tier < 2 and decision.grade != "not understood" else "durable"


class Snapshot(msgspec.Struct, frozen=True):
    """What an intent will say, as it was when the call was decided: a decision can't change, and the rest is text."""

    call: str
    at: int
    point: str
    said: bytes
    """What the caller handed over, as JSON: arguments, statement, chain, capsule, session, the rest of the context."""
    decision: Decision


def intent_snapshot(call_id: str, call: Call, decision: Decision, point: str, at: int) -> Snapshot:
    """Everything that the intent will say, serialised now. Raises LedgerError for arguments that are no JSON."""
    context = call.context
    try:
        about = None if context is NO_CONTEXT else _unusual(context)
        said = _json.encode((call.args, call.statement, context.chain, context.capsule, context.session, about))
    except (TypeError, ValueError, UnicodeError, RecursionError, OverflowError):
        raise LedgerError("the arguments can't be written down", code="bad-entry") from None
    return Snapshot(call_id, at, point, said, decision)


def _unusual(context: Context) -> dict[str, Any] | None:
    """What a decision depended on besides the call: without it nobody could decide the same call again."""
    found: dict[str, Any] = {}
    if context.cwd not in (None, "."):
        found["cwd"] = context.cwd
    if context.mode is not None:
        found["mode"] = context.mode
    if context.environment is not None:
        found["environment"] = context.environment
    if context.data_tier:
        found["data_tier"] = context.data_tier
    return found or None


_json = msgspec.json.Encoder()
_in_order = msgspec.json.Encoder(order="deterministic")
"""Sorts the keys of dictionaries; the fields of the structs below stand in that order already."""
_read = msgspec.json.Decoder(tuple[dict[str, Any], Any, Any, Any, Any, Any])
_VERDICTS = ("allow", "ask", "deny")


class _Intent(msgspec.Struct):
    """The body of an intent. INVARIANT: fields in the order of their names, as the canonical form has them."""

    agent: str
    approval: str | None
    args: dict[str, Any]
    at: str
    call: str
    capsule: Any
    chain: Any
    code: str
    confined: str | msgspec.UnsetType
    """The digest of the profile that the command runs in; empty: it should run confined, and can't be."""
    context: dict[str, str] | msgspec.UnsetType
    data_tier: int | str
    decision: str
    effects: tuple[str, ...]
    grade: str
    point: str
    policy: str | None
    rule: str | None
    session: Any
    statement: dict[str, str] | msgspec.UnsetType
    tier: int
    tool: str
    type: str
    v: int
    would: Any
    writer: str


class _Outcome(msgspec.Struct):
    """The same of an outcome."""

    at: str
    call: str
    error: str | msgspec.UnsetType
    intent: int | None
    result: str
    took: int | msgspec.UnsetType
    type: str
    v: int
    writer: str


def intent_entry(snapshot: Snapshot, writer: str) -> Entry:
    """The intent of a call, from what was serialised when it was decided. Raises LedgerError."""
    call, decision = snapshot.call, snapshot.decision
    args, statement, chain, capsule, session, context = _read.decode(snapshot.said)
    private = {} if context is None else {"context": context}
    if statement is not None:
        private["statement"] = statement
    plain = all(map(_plain_name, args))
    fields, shown = [], {}
    if plain:
        for name, value in args.items():
            field = commit(f"args.{name}", value)
            fields.append(field)
            shown[name] = {"$c": field[1]}  # as base64, like all bytes in JSON
        if private:
            fields += [commit(name, value) for name, value in private.items()]
    body = _Intent(
        decision.agent,
        decision.approval,
        shown,
        exact_moment(snapshot.at),
        call,
        capsule,
        chain,
        decision.code,
        _confined(decision),
        msgspec.UNSET,
        decision.data_tier if decision.grade != "not understood" else "unknown",
        _VERDICTS[decision.verdict],
        decision.effects,
        decision.grade,
        snapshot.point,
        decision.policy,
        decision.rule,
        session,
        msgspec.UNSET,
        decision.tier,
        decision.tool,
        "intent",
        VERSION,
        decision.would,
        writer,
    )
    if private and plain:
        _set_private(body, private, fields)
    data = _encoded_intent(body)
    if len(data) > MAX_ENTRY or not plain:
        # Very many arguments, or names that no store keeps or that say too much: one commitment for all of them.
        fields = commit_all({"args": args} | private)
        body.args = _shown(fields[0])
        _set_private(body, private, fields)
        data = _encoded_intent(body)
    opens = decision.verdict is ALLOW or decision.approval == ASKED_OF_HOST
    return _new(Entry, (_bounded(data), tuple(fields), call, "intent", opens, None, None))


def _confined(decision: Decision) -> str | msgspec.UnsetType:
    for duty in decision.obligations:
        if duty.do == "confine" and duty.value is not None:
            return duty.value
    for line in decision.trace:
        if type(line) is Unconfined:
            return ""
    return msgspec.UNSET


def _set_private(body: _Intent, private: Mapping[str, Any], fields: list[Field]) -> None:
    """The last fields are those of what is private, in its order."""
    for name, field in zip(private, fields[len(fields) - len(private) :], strict=True):
        setattr(body, name, _shown(field))


@lru_cache(4096)
def _plain_name(name: str) -> bool:
    """Whether the name of an argument may stand in an entry as it is."""
    return len(name) <= 256 and "\0" not in name and without_secrets("", name) is name


def outcome_entry(
    call: str,
    intent: int | None,
    result: str,
    at: int,
    writer: str,
    *,
    error: str | None = None,
    took: int | None = None,
) -> Entry:
    """How a call ended; `error` is a name, `took` milliseconds. Raises LedgerError."""
    unset, moment = msgspec.UNSET, exact_moment(at)
    said, long = unset if error is None else error, unset if took is None else took
    body = _Outcome(moment, call, said, intent, result, long, "outcome", VERSION, writer)
    try:
        data = _in_order.encode(body) if took is None or _is_whole(took) else encode(msgspec.to_builtins(body))
    except (UnicodeEncodeError, TypeError, CanonicalError) as failure:
        raise _unwritable(failure) from None
    return _new(Entry, (_bounded(data), (), call, "outcome", False, intent, None))


def event_entry(kind: str, at: int, writer: str, about: Mapping[str, Any], private: Mapping[str, Any]) -> Entry:
    """Anything else that counts. What is `private` is committed to, and can be erased."""
    if kind not in EVENTS:
        raise LedgerError(f"there is no event `{kind}`", code="bad-entry")
    taken = _ALWAYS.union(about).intersection(private) if private else ()
    taken = taken or _ALWAYS.intersection(about)
    if taken:
        raise LedgerError(f"an event says `{min(taken)}` twice", code="bad-entry")
    fields = tuple(commit_all(private)) if private else ()
    body = {"v": VERSION, "type": kind, "at": exact_moment(at), "writer": writer, **about}
    for field in fields:
        body[field.path] = _shown(field)
    return Entry(_bounded(_encoded(body)), fields, None, kind)


def _shown(field: Field) -> dict[str, str]:
    return {"$c": b2a_base64(field.digest, newline=False).decode()}


def _encoded_intent(body: _Intent) -> bytes:
    """In canonical form, which it has as it is unless names or numbers are unusual."""
    try:
        tier, data = body.tier, body.data_tier
        usual = type(tier) is int and 0 <= tier <= 3 and (data == "unknown" or (type(data) is int and 0 <= data <= 3))
        if usual and "".join(body.args).isascii():
            return _in_order.encode(body)
        return encode(msgspec.to_builtins(body))
    except (UnicodeEncodeError, CanonicalError) as error:
        raise _unwritable(error) from None


def _encoded(body: dict[str, Any]) -> bytes:
    try:
        return encode(body)
    except CanonicalError as error:
        raise _unwritable(error) from None


def _unwritable(error: Exception) -> LedgerError:
    if isinstance(error, UnicodeEncodeError):
        return LedgerError("the entry has half of a surrogate pair in it", code="bad-entry")
    if isinstance(error, TypeError):
        return LedgerError("the entry has a value in it that can't be written", code="bad-entry")
    return LedgerError(f"the entry can't be written: {error}", code="bad-entry")


def _is_whole(value: object) -> bool:
    return type(value) is int and 0 <= value <= MAX_INT


def _bounded(data: bytes) -> bytes:
    if len(data) > MAX_ENTRY:
        raise LedgerError(f"the entry has {len(data)} bytes, more than {MAX_ENTRY}", code="entry-too-large")
    return data
