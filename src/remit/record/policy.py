"""What the ledger says when a policy comes into force: what in it weakens enforcement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.model.policy import Caller, Scope
from remit.model.rulebook import Book, Rulebook
from remit.record.append import append
from remit.record.entry import event_entry
from remit.record.lease import ELSEWHERE
from remit.store.interface import Transaction


def record_weakenings(change: Transaction, rulebook: Rulebook, *, at: int, writer: str) -> None:
    """Writes an entry for each thing that is observed only or called unsafe. Raises LedgerError and StoreError."""
    about = [(kind, {"policy": rulebook.hash, **what}) for kind, what in weakenings(rulebook.book)]
    if about:
        append(change, [event_entry(kind, at, writer, what, {}) for kind, what in about], ELSEWHERE)


def weakenings(book: Book) -> Iterator[tuple[str, dict[str, Any]]]:
    """What is observed until when, and what is unsafe by its name."""
    for text in book.unsafe:
        yield "unsafe", {"what": text}
    for caller in book.callers.values():
        if caller.enforce is not None and caller.enforce.observe_until is not None:
            yield "observe", {"agent": caller.name, "until": caller.enforce.observe_until}
        for program in _any_arguments(caller):
            yield "unsafe", {"what": "unsafe_any_arguments", "agent": caller.name, "program": program}


def _any_arguments(caller: Caller) -> Iterator[str]:
    for rule in caller.rules:
        for entry in _runs(rule.scope):
            for program, limits in entry.items() if isinstance(entry, dict) else ():
                if isinstance(limits, dict) and limits.get("unsafe_any_arguments"):
                    yield str(program)


def _runs(scope: Scope) -> list[Any]:
    run = scope.parts.get("shell", {}).get("run", [])
    return list(run) if isinstance(run, (list, tuple)) else []
