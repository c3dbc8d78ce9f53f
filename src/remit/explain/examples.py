"""Examples of calls that pass, that are asked about and that are denied: each one decided as a real call would be.

found = examples_of(rulebook, "support", "refund")
found.denied[0]     # Example({"amount": 51}, "amount must be at most 50 …")
"""

from __future__ import annotations

from typing import Any

import msgspec

from remit.analyze.candidates import varied
from remit.decide import decide
from remit.decide.preview import cell_of
from remit.model.rulebook import Rulebook
from remit.model.terms import CONTEXT_KEYS

_KNOWN = tuple(name for name in CONTEXT_KEYS if name != "capsule")  # the task is taken as there
_TRIED = 120
_FIRST = 12
_EACH = 3
_DENIED = 5


class Example(msgspec.Struct, frozen=True):
    """One call's arguments, and why it was decided so."""

    args: dict[str, Any]
    why: str = ""
    context: dict[str, str] = {}
    """What the enforcement point would have to know, where a rule asks for it."""


class Examples(msgspec.Struct, frozen=True):
    """A few calls of one caller to one tool, by what is decided."""

    allowed: tuple[Example, ...] = ()
    asked: tuple[Example, ...] = ()
    denied: tuple[Example, ...] = ()


def examples_of(rulebook: Rulebook, caller: str, tool: str) -> Examples:
    """The examples; paths are taken as they are written, and a required task as there."""
    cell = cell_of(rulebook, caller, tool)
    if cell is None:
        return Examples()
    found: dict[str, list[Example]] = {"allow": [], "ask": [], "deny": []}
    reasons: set[tuple[str, str]] = set()
    seen: set[bytes] = set()
    for number, (call, facts, changed) in enumerate(varied(cell, _FIRST)):
        context = {name: value for name in _KNOWN if (value := getattr(call.context, name))}
        key = msgspec.json.encode([call.args, context])
        if number >= _TRIED or key in seen:
            continue
        seen.add(key)
        decision = decide(rulebook, call, facts)
        word = decision.would or decision.verdict.word
        if word != "deny":
            if len(found[word]) < _EACH:
                found[word].append(Example(call.args, "" if word == "allow" else decision.reason, context))
        elif len(found[word]) < _DENIED and (changed, decision.code) not in reasons:
            reasons.add((changed, decision.code))  # one for each argument and reason
            found[word].append(Example(call.args, decision.reason, context))
    return Examples(tuple(found["allow"]), tuple(found["ask"]), tuple(found["deny"]))
