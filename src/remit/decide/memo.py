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

import msgspec

from remit.decide.grid import PerRulebook
from remit.decide.view import Noted
from remit.model.call import Call, Context, Statement
from remit.model.decision import Decision
from remit.model.facts import NO_FACTS, Capsule, Facts
from remit.model.rulebook import Rulebook

MOST = 8192
"""Answers for one rulebook. When there are so many, all are dropped."""
LONGEST = 2048
"""How many characters the texts of a call may have together for its answer to be kept."""
_ATOMS = frozenset((str, int, bool, type(None)))
"""Types whose equal values nobody can tell apart; `0.0` and `-0.0` are equal."""
_COPIED = ("changes", "links", "schema", "stands", "there")
"""Facts that are dictionaries. They are compared with a copy, lest somebody changes them."""
_ONE_BY_ONE = frozenset(("resolved", *_COPIED))
Key = tuple[Any, ...]


class Shape(NamedTuple):
    """What the decisions of a cell have looked at so far."""

    context: frozenset[str] = frozenset()
    args: frozenset[str] = frozenset()
    facts: frozenset[str] = frozenset()
    stated: bool = False

    def grown(self, noted: Noted) -> Shape:
        """With what was noted in addition."""
        facts = self.facts | (noted.facts - _ONE_BY_ONE)
        return Shape(self.context | noted.context, self.args | noted.args, facts, self.stated or noted.stated)


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

    @property
    def lasting(self) -> bool:
        """But for capsules it is about nothing in a dictionary, which could change while the facts stay the same."""
        return self.resolved is None and all(copy is None for copy in self.copies.values())

    def hold(self, facts: Facts) -> bool:
        """Nothing of it has changed."""
        if self.timed and not _between(facts.now, self.now):
            return False
        if self.placed:
            resolved, before = facts.resolved, self.resolved
            if resolved is None or before is None:
                if resolved is not before:
                    return False
            elif not all(same(resolved.get(text), real) for text, real in before.items()):
                return False
        for name, capsule in self.capsules.items():
            if not same(facts.capsules.get(name), capsule):
                return False
        return all(same(getattr(facts, name), copy) for name, copy in self.copies.items())


class Remembered:
    """A decision, and what it depended on besides caller, tool, context and arguments."""

    __slots__ = ("capsules", "decision", "facts", "lasting", "seen", "terms")

    def __init__(self, decision: Decision, facts: Key, terms: Terms | None) -> None:
        self.decision = decision
        self.facts = facts
        """The values of those facts that the shape has."""
        self.terms = terms
        self.capsules = tuple(terms.capsules.items()) if terms is not None else ()
        self.lasting = terms is None or terms.lasting
        self.seen: Facts | None = None
        """Facts for which it holds as long as they have these very capsules, whatever becomes of them otherwise."""

    def holds(self, facts: Facts, values: Key) -> bool:
        """Nothing that it depended on has changed."""
        if not same(self.facts, values) or (self.terms is not None and not self.terms.hold(facts)):
            return False
        if self.lasting:
            self.seen = facts
        return True

    def in_force(self, facts: Facts) -> bool:
        """Its capsules are the very ones among the facts that it was seen with."""
        for name, capsule in self.capsules:  # noqa: SIM110 - in half the time of `all`
            if facts.capsules.get(name) is not capsule:
                return False
        return True


class Answers:
    """Answers to calls of one cell in one context, whose arguments have the same names and types."""

    __slots__ = ("bare", "by_values", "sole", "types", "valued")

    bare: Remembered
    """The answer to a call without arguments; not set if there is none."""

    def __init__(self, types: dict[str, type], shape: Shape) -> None:
        self.types = types
        self.valued = tuple(sorted(shape.args & types.keys()))
        """The arguments whose values matter."""
        self.sole = self.valued[0] if len(self.valued) == 1 else None
        """The only one of them: its value alone is the key."""
        self.by_values: dict[object, Remembered] = {}

    def find(self, args: dict[str, Any]) -> Remembered:
        """The answer to a call with these arguments; KeyError if there is none."""
        types = self.types
        if len(args) != len(types):
            raise KeyError
        for name, value in args.items():
            # first of all its own type: another kind of name could raise anything when it is compared
            if type(name) is not str or types[name] is not type(value):
                raise KeyError
        if self.sole is not None:
            return self.by_values[args[self.sole]]
        key: object = None
        for name in self.valued:
            key = (key, args[name])
        return self.by_values[key]

    def keep(self, args: dict[str, Any], answer: Remembered) -> None:
        """Keeps the answer to a call with these arguments, which have the names and types."""
        key: object = None
        for name in self.valued:
            key = args[name] if self.sole is not None else (key, args[name])
        self.by_values[key] = answer
        if not args:
            self.bare = answer


class Known:
    """The answers of one cell, all of one shape."""

    __slots__ = ("answers", "facts", "get_context", "get_facts", "shape")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.get_context = _getter(shape.context)
        self.get_facts = _getter(shape.facts)
        self.answers: dict[Key, Answers] = {}
        self.facts: tuple[Facts, Key] = (NO_FACTS, self.get_facts(NO_FACTS))
        """What was last taken from which facts: they are mostly those of the call before."""

    def key(self, call: Call) -> Key:
        """All that matters of a call but for the values of its arguments. TypeError for a malformed call."""
        args, context, statement = call.args, call.context, call.statement
        if type(context) is not Context or any(type(name) is not str for name in args):
            raise TypeError
        if statement is not None and (type(statement) is not Statement or not statement.well_formed):
            raise TypeError
        stated = self.shape.stated and call.stated
        return self.get_context(context), stated, frozenset(zip(args, map(type, args.values()), strict=True))

    def keep(self, call: Call, answer: Remembered) -> None:
        """Keeps an answer of this shape to a well-formed call."""
        types = {name: type(value) for name, value in call.args.items()}
        self.answers.setdefault(self.key(call), Answers(types, self.shape)).keep(call.args, answer)

    def fact_values(self, facts: Facts) -> Key:
        """Those facts that the shape has."""
        before, values = self.facts
        if facts is not before:
            values = self.get_facts(facts)
            self.facts = (facts, values)
        return values


Latest = tuple[Context, Facts, dict[str, Decision], dict[str, Answers]]
"""Of one caller, the context and the facts of its last call. By tool: the decision about a call without arguments that
holds for exactly these, and where the last answer in that context was found."""


class Memo:
    """What is known of one rulebook, by caller and by the tool's name in the call."""

    __slots__ = ("cells", "count", "latest")

    def __init__(self) -> None:
        self.cells: dict[str, dict[str, Known]] = {}
        self.count = 0
        self.latest: dict[str, Latest] = {}

    def find(self, call: Call, facts: Facts) -> Decision | None:
        """The answer to a call that can't be told apart from one before; None if there is none."""
        try:
            agent, tool, args = call.agent, call.tool, call.args
            if type(agent) is not str or type(tool) is not str or type(args) is not dict:
                return None
            known = self.cells[agent][tool]
            answers = known.answers[known.key(call)]
            found = answers.find(args)
        except Exception:  # not met before, or not well formed, whatever that raised
            return None
        if not found.holds(facts, known.fact_values(facts)):
            return None
        if call.statement is None:
            context, seen, bare, row = self.latest.get(agent, (None, None, {}, {}))
            if context is not call.context or seen is not facts:
                bare, row = {}, row if context is call.context else {}
                self.latest[agent] = (call.context, facts, bare, row)
            row[tool] = answers
            if not args and found.seen is facts and not found.capsules:
                bare[tool] = found.decision
        return found.decision

    def keep(self, call: Call, facts: Facts, noted: Noted, decision: Decision) -> None:
        """Keeps the answer to a well-formed call, if others could share it."""
        if noted.once:
            return
        if self.count >= MOST:
            self.cells, self.latest, self.count = {}, {}, 0
        row, args = self.cells.setdefault(call.agent, {}), call.args
        known = row.get(call.tool)
        shape = (known.shape if known is not None else Shape()).grown(noted)
        if known is None or known.shape != shape:
            known = row[call.tool] = Known(shape)
        length = 0
        for name, value in args.items():
            length += len(name)
            if name in shape.args:
                if type(value) not in _ATOMS:
                    return
                if type(value) is str:
                    length += len(value)
        if length > LONGEST:
            return
        self.count += 1
        known.keep(call, Remembered(decision, known.fact_values(facts), _terms(facts, noted)))


def _terms(facts: Facts, noted: Noted) -> Terms | None:
    copies = {name: _copy(getattr(facts, name)) for name in _COPIED if name in noted.facts}
    placed = "resolved" in noted.facts
    if not (noted.now or placed or noted.capsules or copies):
        return None
    now = (noted.since, noted.until) if facts.now is not None else None
    return Terms(now, noted.now, noted.resolved, placed, noted.capsules, copies)


def same(one: Any, other: Any) -> bool:
    """Whether nobody can tell the two apart. INVARIANT: `1`, `True` and `1.0` are equal, and not the same."""
    if one is other:
        return True  # facts are made of what can't be changed; dictionaries are compared with copies
    kind = type(one)
    if kind is not type(other):
        return False
    if kind in _ATOMS:
        return bool(one == other)
    if kind is tuple:
        return len(one) == len(other) and all(map(same, one, other))
    if issubclass(kind, dict):
        return same(tuple(one.items()), tuple(other.items()))
    if issubclass(kind, msgspec.Struct):
        return all(same(getattr(one, name), getattr(other, name)) for name in kind.__struct_fields__)
    if kind is frozenset:
        return bool(one == other) and all(type(text) is str for part in (one, other) for text in part)
    return kind is float and repr(one) == repr(other)


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
LATEST: list[tuple[Rulebook | None, dict[str, Latest]]] = [(None, {})]
"""The rulebook that was asked last, and by caller what was last: a list of one, which is replaced as a whole."""
