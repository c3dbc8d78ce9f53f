"""Answering a stream of calls: a line in, a line out, in order, in constant memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from remit.cli.common import InputError, Setting
from remit.cli.output import write
from remit.decide import decide
from remit.model.decision import Decision
from remit.model.errors import CallError
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW, DENY, Verdict
from remit.model.text import shown
from remit.model.wire import MAX_LINE, decode_call, encode_decision

_CHUNK = 64 * 1024


def open_calls(name: str) -> BinaryIO:
    """The file of calls, or stdin for `-`. Raises InputError."""
    if name == "-":
        if sys.stdin is None:
            raise InputError("--calls -: there is no stdin")
        return sys.stdin.buffer
    try:
        return Path(name).open("rb")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"--calls {shown(name, 300)}: can't be read: {reason}") from None


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
        raise InputError(f"the calls can't be read on: {getattr(error, 'strerror', None) or error}") from None


def answer_all(setting: Setting, file: BinaryIO) -> Verdict:
    """Writes a decision for every line; returns the strictest of them."""
    strictest = ALLOW
    for line in lines(file):
        decision, call_id = answer(setting, line)
        write(_encoded(decision, call_id) + b"\n")
        strictest = max(strictest, decision.verdict)
    return strictest


def answer(setting: Setting, line: bytes | None) -> tuple[Decision, str | None]:
    """The decision on one line, and the call's id. Never raises: what can't be answered is denied."""
    call_id: str | None = None
    try:
        if line is None:
            raise CallError(f"the line is longer than {MAX_LINE} bytes")
        call = decode_call(line)
        call_id = call.id
        return decide(setting.rulebook, call, setting.facts_for(call)).for_call(call.args), call_id
    except CallError as error:
        return refused(setting.rulebook, error.code, str(error)), error.id
    except Exception as error:  # one line that fails must not leave the others without an answer
        return refused(setting.rulebook, "internal-error", f"the call failed ({type(error).__name__})"), call_id


def refused(rulebook: Rulebook, code: str, reason: str) -> Decision:
    """The deny for a line that is no call."""
    return Decision(DENY, "", "", code, reason, policy=rulebook.hash, detail=(f"1 {reason}",))


def _encoded(decision: Decision, call_id: str | None) -> bytes:
    try:
        return encode_decision(decision, call_id)
    except (msgspec.MsgspecError, UnicodeError, TypeError, ValueError):
        plain = Decision(DENY, "", "", "internal-error", "the decision can't be written", policy=decision.policy)
        return encode_decision(plain, None)
