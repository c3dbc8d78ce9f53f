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
from remit.model.terms import DENY

MOST = 8192
"""Answers for one rulebook. When there are so many, all are dropped."""
LONGEST = 2048
"""How many characters the texts of a call may have together for its answer to be kept."""
_ATOMS = frozenset((str, int, bool, type(None)))
"""Types whose equal values nobody can tell apart; `0.0` and `-0.0` are equal."""
_COPIED = ("changes", "links", "schema")
"""Facts that are dictionaries. They are compared with a copy, lest somebody changes them."""
_ONE_BY_ONE = frozenset(("resolved", *_COPIED))
_NONE = object()
_NO_DECISION = Decision(DENY, "", "", "", "")
_STATED = object()
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
        if noted.context <= self.context and noted.args <= self.args and facts <= self.facts and stated is self.stated:
            return self
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

    @property
    def lasting(self) -> bool:
        """But for capsules it is about nothing in a dictionary, which could change while the facts stay the same."""
        return self.resolved is None and not self.copies

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
    """A decision, and what it depended on besides its key."""

    __slots__ = ("capsules", "decision", "facts", "seen", "terms")

    def __init__(self, decision: Decision, facts: Key, terms: Terms | None) -> None:
        self.decision = decision
        self.capsules = tuple(terms.capsules.items()) if terms is not None else ()
        self.facts = facts
        """The values of those facts that the shape has."""
        self.terms = terms
        self.seen: Facts | None = None
        """Facts for which it holds as long as they have these very capsules, whatever becomes of them otherwise."""

    def holds(self, facts: Facts, values: Key) -> bool:
        """Nothing that it depended on has changed."""
        if not same(self.facts, values):
            return False
        if self.terms is None or self.terms.hold(facts):
            if self.terms is None or self.terms.lasting:
                self.seen = facts
            return True
        return False


class Signature:
    """Answers to calls whose arguments have the same names and types."""

    __slots__ = ("answers", "types", "valued")

    def __init__(self, types: dict[str, type], shape: Shape) -> None:
        self.types = types
        self.valued = tuple(sorted(shape.args & types.keys()))
        """The arguments whose values matter."""
        self.answers: dict[object, Remembered] = {}


class Known:
    """The answers of one cell, all of one shape."""

    __slots__ = ("bare", "context", "contexts", "facts", "get_context", "get_facts", "last", "shape", "signatures")

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.get_context = _getter(shape.context)
        self.get_facts = _getter(shape.facts)
        self.last = Signature({}, shape)
        self.signatures: dict[frozenset[tuple[str, type]], Signature] = {frozenset(): self.last}
        # Contexts and facts are mostly those of the call before: what was last taken from which.
        self.contexts: dict[Key, object] = {}
        """By what the shape has of a context: what stands for it in keys, since it is quicker to look up."""
        self.context: tuple[Context | None, object] = (None, None)
        self.facts: tuple[Facts, Key] = (NO_FACTS, self.get_facts(NO_FACTS))
        self.bare: tuple[object, object, Decision] = (_NONE, _NONE, _NO_DECISION)
        """The last call without arguments: its context, its facts, and an answer that holds for these."""

    def find(self, call: Call, args: dict[str, Any], facts: Facts) -> Decision | None:
        """The answer to a call of this cell, with these arguments, that can't be told apart from one before.

        None or KeyError if there is none, TypeError for a malformed call.
        """
        context = call.context
        before, key = self.context
        if context is not before:
            key = self._context_key(context)
        if call.statement is not None:
            key = self._stated_key(call, key)
        same = self.last
        if args or same.types:
            types = same.types
            if len(args) != len(types):
                same = self._signature(args)
            else:
                try:
                    for name, value in args.items():
                        # first of all its own type: another kind of name could raise anything when it is compared
                        if type(name) is not str or types[name] is not type(value):
                            same = self._signature(args)
                            break
                except KeyError:
                    same = self._signature(args)
        for name in same.valued:
            key = (key, args[name])
        answer = same.answers.get(key)
        if answer is None:
            return None
        if answer.seen is facts:
            for name, capsule in answer.capsules:
                if facts.capsules.get(name) is not capsule:
                    break
            else:
                return answer.decision
        if not answer.holds(facts, self.fact_values(facts)):
            return None
        if not args and call.statement is None and answer.seen is facts and not answer.capsules:
            self.bare = (context, facts, answer.decision)
        return answer.decision

    def keep(self, call: Call, answer: Remembered) -> None:
        """Keeps an answer of this shape to a well-formed call."""
        args = call.args
        self.contexts.setdefault(self.get_context(call.context), object())
        key = self._context_key(call.context)
        if call.statement is not None:
            key = self._stated_key(call, key)
        types = {name: type(value) for name, value in args.items()}
        names = frozenset(types.items())
        same = self.signatures.get(names)
        if same is None:
            same = self.signatures.setdefault(names, Signature(types, self.shape))
        for name in same.valued:
            key = (key, args[name])
        same.answers[key] = answer

    def _signature(self, args: dict[str, Any]) -> Signature:
        if any(type(name) is not str for name in args):
            raise TypeError
        found = self.last = self.signatures[frozenset(zip(args, map(type, args.values()), strict=True))]
        return found

    def _context_key(self, context: Context) -> object:
        if type(context) is not Context:
            raise TypeError
        key = self.contexts[self.get_context(context)]
        self.context = (context, key)
        return key

    def _stated_key(self, call: Call, key: object) -> object:
        if type(call.statement) is not Statement or not call.statement.well_formed:
            raise TypeError
        return (_STATED, key) if self.shape.stated and call.stated else key

    def fact_values(self, facts: Facts) -> Key:
        """Those facts that the shape has."""
        before, values = self.facts
        if facts is not before:
            found: Key = self.get_facts(facts)
            if not same(found, values):
                values = found  # else answers share one tuple
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
            if type(call.agent) is str and type(call.tool) is str and type(call.args) is dict:
                return self.cells[call.agent][call.tool].find(call, call.args, facts)
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
        if known is None or known.shape is not shape:
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
