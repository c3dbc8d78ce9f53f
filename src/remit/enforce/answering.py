"""Answering calls as lines of JSON: a line in, a line out, in order, in constant memory.

for line in lines(file):
    decision, call_id = answer(known, line)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

import msgspec

from remit.decide import decide
from remit.enforce.call_facts import CallFacts
from remit.model.decision import Decision
from remit.model.errors import CallError, InputError
from remit.model.rulebook import Rulebook
from remit.model.terms import DENY
from remit.model.trace import Note
from remit.model.wire import MAX_LINE, decode_call, encode_decision

_CHUNK = 64 * 1024


def lines(file: BinaryIO) -> Iterator[bytes | None]:
    """Each line without its end, blank ones left out; None for one that is too long. Raises InputError."""
    try:
        while line := file.readline(MAX_LINE + 1):
            if line.endswith(b"\n"):
                line = line[:-1]
            elif len(line) > MAX_LINE:
                rest = file.readline(_CHUNK)
                if rest != b"\n":
                    while rest and not rest.endswith(b"\n"):
                        rest = file.readline(_CHUNK)
                yield None
                continue
            if line.strip():
                yield line
    except (OSError, ValueError) as error:
        raise InputError(f"the remaining calls can't be read: {getattr(error, 'strerror', None) or error}") from None


def answer(known: CallFacts, line: bytes | None) -> tuple[Decision, str | None]:
    """The decision on one line, and the call's id. Never raises: what can't be answered is denied."""
    call_id: str | None = None
    try:
        if line is None:
            raise CallError(f"the line is longer than {MAX_LINE} bytes")
        call = decode_call(line)
        call_id = call.id
        return decide(known.rulebook, call, known.of(call)).for_call(call.args), call_id
    except CallError as error:
        return refused(known.rulebook, error.code, str(error)), error.id
    except Exception as error:  # one line that fails must not leave the others without an answer
        return refused(known.rulebook, "internal-error", f"the call failed ({type(error).__name__})"), call_id


def refused(rulebook: Rulebook, code: str, reason: str) -> Decision:
    """The deny for a line that is no call."""
    return Decision(DENY, "", "", code, reason, policy=rulebook.hash, trace=(Note(1, reason),))


def encoded(decision: Decision, call_id: str | None) -> bytes:
    """The answer as a line; a decision that can't be written is a deny."""
    try:
        return encode_decision(decision, call_id)
    except (msgspec.MsgspecError, UnicodeError, TypeError, ValueError):
        plain = Decision(DENY, "", "", "internal-error", "the decision can't be written", policy=decision.policy)
        return encode_decision(plain, None)
