"""Answers of the procedure, kept by exactly what it says that they depended on.

Each cell has a **shape**: every argument and field that any decision of the cell has looked at so far. An answer is
found again by the values of all of these, and only if nothing else that was noted has changed: the time lies between
the same moments, the same texts lead to the same places, the capsules are equal. The procedure is deterministic and
sees nothing else, so it would decide the same again. When it looks at something new, the shape of the cell grows, and
the cell's older answers are dropped.

Nothing here knows a rule. Threads share it without locks: answers stand under the shape that they were found by, and
whoever loses a race only loses an answer.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, NamedTuple

from remit.decide.grid import PerRulebook
from remit.decide.view import Noted
from remit.model.call import NO_CONTEXT, Call, Context, Statement
from remit.model.decision import Decision
from remit.model.facts import NO_FACTS, Capsule, Facts

MOST = 8192
"""Answers for one rulebook. When there are so many, all are dropped."""
LONGEST = 2048
"""How many characters the texts of a call may have together for its answer to be kept."""
_ATOMS = frozenset((str, int, bool, type(None)))
"""Types whose equal values nobody can tell apart; `0.0` and `-0.0` are equal."""
_COPIED = ("links", "schema")
"""Facts that are dictionaries. They are compared with a copy, lest somebody changes them."""
_ONE_BY_ONE = frozenset(("resolved", *_COPIED))
_ABSENT, _STATED, _GIVEN = object(), object(), object()
"""What no call can contain, so that no two keys are equal by accident."""
Key = tuple[Any, ...]


class Shape(NamedTuple):
    """What the decisions of a cell have looked at so far."""

    context: frozenset[str] = frozenset()
    args: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    stated: bool = False

    def grown(self, noted: Noted) -> Shape:
        """With what was noted in addition."""
        facts = noted.facts - _ONE_BY_ONE
        stated = self.stated or noted.stated
        return Shape(self.context | noted.context, self.args | noted.args, self.facts | facts, stated)


class Terms(NamedTuple):
    """What must be as it was, besides the key and the facts of the shape."""

    now: tuple[str | None, str | None] | None
    """The moments that the time lies between; None: there was no time."""
    timed: bool
    resolved: dict[str, str | None] | None
    """Where texts led; None: paths were not resolved."""
    placed: bool
    capsules: dict[str, Capsule | None]
    copies: dict[str, Any]

    def hold(self, facts: Facts) -> bool:
        """Nothing of it has changed."""
        if self.timed and not _between(facts.now, self.now):
            return False
        if self.placed:
            resolved, before = facts.resolved, self.resolved
            if resolved is None or before is None:
                if resolved is not before:
                    return False
            elif any(resolved.get(text) != real for text, real in before.items()):
                return False
        for name, capsule in self.capsules.items():
            found = facts.capsules.get(name)
            if found is not capsule and found != capsule:
                return False
        return all(getattr(facts, name) == copy for name, copy in self.copies.items())


class Answer(NamedTuple):
    """A decision, and what it depended on besides its key."""

    decision: Decision
    facts: tuple[Any, ...]
    terms: Terms | None


class Known:
    """The answers of one cell, all of one shape."""

    __slots__ = ("answers", "context", "facts", "get_context", "get_facts", "shape", "valued")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.answers: dict[Key, Answer] = {}
        self.valued = tuple(sorted(shape.args))
        self.get_context = _getter(shape.context)
        self.get_facts = _getter(shape.facts)
        # Contexts and facts are mostly those of the call before: what was last taken from which.
        self.context: tuple[Context, Key] = (NO_CONTEXT, self.get_context(NO_CONTEXT))
        self.facts: tuple[Facts, Key] = (NO_FACTS, self.get_facts(NO_FACTS))

    def find(self, call: Call, facts: Facts) -> Decision | None:
        """The answer to a call that is not to be told apart from one before. May raise KeyError or TypeError."""
        answer = self.answers[self.key(call)]
        before, values = self.facts
        if facts is not before:
            values = self.fact_values(facts)
        if answer.facts is not values and answer.facts != values:
            return None
        if answer.terms is not None and not answer.terms.hold(facts):
            return None
        return answer.decision

    def key(self, call: Call) -> Key:
        """All that the answer to a call depends on, but for the facts. Raises TypeError for a malformed call."""
        context, args = call.context, call.args
        before, key = self.context
        if context is not before:
            if type(context) is not Context:
                raise TypeError
            key = self.get_context(context)
            self.context = (context, key)
        if type(args) is not dict:
            raise TypeError
        if call.statement is not None:
            if type(call.statement) is not Statement or not call.statement.well_formed:
                raise TypeError
            if self.shape.stated and call.stated:
                key = (_STATED, key)
        if not args:
            return key
        # How many there are tells where each part begins.
        types = (*args, *map(type, args), *map(type, args.values()))
        return (_GIVEN, key, *types, *[args.get(name, _ABSENT) for name in self.valued])

    def fact_values(self, facts: Facts) -> Key:
        """Those facts that the shape has."""
        values: Key = self.get_facts(facts)
        if values == self.facts[1]:
            values = self.facts[1]  # answers share one tuple
        self.facts = (facts, values)
        return values


class Memo:
    """What is known of one rulebook, by caller and by the tool's name in the call."""

    __slots__ = ("cells", "count")

    def __init__(self) -> None:
        self.cells: dict[str, dict[str, Known]] = {}
        self.count = 0

    def find(self, call: Call, facts: Facts) -> Decision | None:
        """The answer to a call that can't be told apart from one before; None if there is none."""
        try:
            if type(call.agent) is str and type(call.tool) is str:
                return self.cells[call.agent][call.tool].find(call, facts)
        except (KeyError, TypeError, AttributeError):
            pass  # not met before, or not well formed
        return None

    def keep(self, call: Call, facts: Facts, noted: Noted, decision: Decision) -> None:
        """Keeps the answer to a well-formed call, if others could share it."""
        if noted.once:
            return
        if self.count >= MOST:
            self.cells, self.count = {}, 0
        row, args = self.cells.setdefault(call.agent, {}), call.args
        known = row.get(call.tool)
        shape = (known.shape if known is not None else Shape()).grown(noted)
        if known is None or known.shape != shape:
            known = row[call.tool] = Known(shape)
        values = [value for name, value in args.items() if name in shape.args]
        if any(type(value) not in _ATOMS for value in values):
            return
        if sum(len(text) for text in (*args, *values) if type(text) is str) > LONGEST:
            return
        self.count += 1
        known.answers[known.key(call)] = Answer(decision, known.fact_values(facts), _terms(facts, noted))


def _terms(facts: Facts, noted: Noted) -> Terms | None:
    copies = {name: _copy(getattr(facts, name)) for name in _COPIED if name in noted.facts}
    placed = "resolved" in noted.facts
    if not (noted.now or placed or noted.capsules or copies):
        return None
    now = (noted.since, noted.until) if facts.now is not None else None
    return Terms(now, noted.now, noted.resolved, placed, noted.capsules, copies)


def _copy(value: dict[str, str] | None) -> dict[str, str] | None:
    return dict(value) if value is not None else None


def _between(now: str | None, moments: tuple[str | None, str | None] | None) -> bool:
    if now is None or moments is None:
        return now is None and moments is None
    since, until = moments
    return (since is None or not now < since) and (until is None or now < until)


def _getter(names: frozenset[str]) -> Any:
    """What takes these fields from a struct, as a tuple."""
    if len(names) > 1:
        return attrgetter(*sorted(names))
    return lambda struct: tuple(getattr(struct, name) for name in names)


memo_of = PerRulebook(lambda _: Memo())
"""The memo of a rulebook."""
