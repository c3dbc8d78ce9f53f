"""What the procedure sees of a call and of the facts: everything that it looks at is noted.

    seen = Seen(call, facts)
    decision = procedure(cell, seen)
    seen.noted                          # what the decision depended on, and nothing else

INVARIANT: the procedure gets a Seen, never the call or the facts themselves. A field that it reads is noted with its
value. Of the time only those moments are noted that it was compared with, of `resolved` and `capsules` only the
entries that were looked up, of an argument that nothing but its kind looked at only the type. The procedure can't
tell apart two calls that agree in what was noted, so one decision serves both. The memo rests on this alone.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, cast

from remit.decide.intake import BadArguments, Intake
from remit.decide.questions import call_digest
from remit.model.call import Call, Context
from remit.model.facts import Capsule, Facts

Values = dict[str, list[Any]]
USUAL_CONTEXT = frozenset(("capsule", "chain", "data_tier", "environment"))
USUAL_FACTS = frozenset(("grants", "guarded", "halts", "notes", "root", "sealed"))
"""What is noted together: nearly every decision looks at all of it."""


class Noted:
    """What was looked at: names of fields, and what single lookups gave."""

    __slots__ = ("args", "capsules", "context", "facts", "now", "once", "resolved", "since", "stated", "until")

    def __init__(self) -> None:
        self.context: set[str] = set()
        self.args: set[str] = set()
        """Arguments whose value was looked at; of the others only the type was."""
        self.stated = False
        """Whether the agent's statement is complete was looked at."""
        self.facts: set[str] = set()
        self.resolved: dict[str, str | None] | None = None
        """By text, where it leads; None: whether paths are resolved was not looked at, or they are not."""
        self.capsules: dict[str, Capsule | None] = {}
        self.now = False
        """Whether there is a `now` was looked at. Then it lies between these moments, the first included."""
        self.since: str | None = None
        self.until: str | None = None
        self.once = False
        """The decision is good for this one call only."""


class _Seen:
    """Reads like what stands behind it. Each field is noted when it is read."""

    __slots__ = ("_behind", "_noted")

    def __init__(self, behind: Any, noted: Noted) -> None:
        self._behind, self._noted = behind, noted


class ContextSeen(_Seen):
    """A context."""

    __slots__ = tuple(USUAL_CONTEXT)  # kept once they are read

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._behind, name)
        self._noted.context.add(name)
        setattr(self, name, value)
        return value


def _of_context(name: str) -> property:
    get = attrgetter(name)

    def read(seen: ContextSeen) -> Any:
        seen._noted.context.add(name)
        return get(seen._behind)

    return property(read)


for _name in Context.__struct_fields__:
    if _name not in USUAL_CONTEXT:
        setattr(ContextSeen, _name, _of_context(_name))


class FactsSeen(_Seen):
    """Facts."""

    __slots__ = tuple(USUAL_FACTS)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._behind, name)
        self._noted.facts.add(name)
        setattr(self, name, value)
        return value

    @property
    def now(self) -> Now | None:
        """The time."""
        noted, value = self._noted, self._behind.now
        noted.now = True
        return Now(value, noted) if value is not None else None

    @property
    def capsules(self) -> _Capsules:
        """Capsules by name."""
        return _Capsules(self._behind.capsules, self._noted)

    @property
    def resolved(self) -> _Resolved | None:
        """Where texts lead."""
        noted, value = self._noted, self._behind.resolved
        noted.facts.add("resolved")
        return _Resolved(value, noted) if value is not None else None


def _of_facts(name: str) -> property:
    get = attrgetter(name)

    def read(seen: FactsSeen) -> Any:
        seen._noted.facts.add(name)
        return get(seen._behind)

    return property(read)


for _name in Facts.__struct_fields__:
    if _name not in (*USUAL_FACTS, "now", "capsules", "resolved"):
        setattr(FactsSeen, _name, _of_facts(_name))


class CallSeen(_Seen):
    """A call. Its arguments can be looked up one by one; intake reads them all."""

    __slots__ = ("agent", "args", "context", "tool")

    def __init__(self, call: Call, noted: Noted) -> None:
        self._behind, self._noted = call, noted
        self.agent, self.tool = call.agent, call.tool  # these say which cell it is
        self.context = ContextSeen(call.context, noted)
        self.args = _Arguments(call.args, noted)

    @property
    def stated(self) -> bool:
        """Whether the agent has said all that a statement has to say; not what."""
        self._noted.stated = True
        return bool(self._behind.stated)


class Seen:
    """A call and its facts, for the procedure."""

    __slots__ = ("_whole_call", "_whole_facts", "call", "facts", "noted", "whole")

    def __init__(self, call: Call, facts: Facts) -> None:
        self._whole_call, self._whole_facts = call, facts
        self.noted = Noted()
        self.whole = False
        """The procedure has looked at the arguments: the call is well formed, and belongs to a cell."""
        # To the steps, and to the type checker, a view is what stands behind it.
        self.call = cast(Call, CallSeen(call, self.noted))
        self.facts = cast(Facts, FactsSeen(facts, self.noted))

    def values(self, intake: Intake) -> Values:
        """What intake makes of the arguments: it looks at all names and types, and at the values of most kinds."""
        self.whole = True
        by_type = intake.by_type
        for name, value in self._whole_call.args.items():
            kind = by_type.get(name)
            if kind is not type(value) and kind is not object:
                self.noted.args.add(name)
        try:
            values = intake.values(self._whole_call.args)
        except BadArguments:
            self.noted.once = True  # of several faults it names the first, so that their order matters
            raise
        return _Values(values, self.noted)

    def everything(self) -> tuple[Call, Facts]:
        """The whole call and all facts: the decision is good for this one call only."""
        self.noted.once = True
        return self._whole_call, self._whole_facts

    def usual(self) -> None:
        """Notes at once what nearly every decision looks at, which is quicker than one by one."""
        noted = self.noted
        noted.context |= USUAL_CONTEXT
        noted.facts |= USUAL_FACTS
        context, facts = cast(Any, self.call.context), cast(Any, self.facts)
        behind, known = self._whole_call.context, self._whole_facts
        context.capsule, context.chain = behind.capsule, behind.chain
        context.data_tier, context.environment = behind.data_tier, behind.environment
        facts.grants, facts.guarded, facts.halts = known.grants, known.guarded, known.halts
        facts.notes, facts.root, facts.sealed = known.notes, known.root, known.sealed

    def digest(self, policy: str) -> str:
        """What an approval would be bound to. It is of the whole call."""
        self.noted.once = True
        return call_digest(self._whole_call, policy, self._whole_facts)


class Now:
    """The time, which can be compared with moments and nothing else."""

    __slots__ = ("_noted", "_now")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, now: str, noted: Noted) -> None:
        self._now, self._noted = now, noted

    def __lt__(self, moment: str) -> bool:
        noted = self._noted
        if self._now < moment:
            noted.until = moment if noted.until is None else min(noted.until, moment)
            return True
        noted.since = moment if noted.since is None else max(noted.since, moment)
        return False

    def __ge__(self, moment: str) -> bool:
        return not self < moment

    def __eq__(self, other: object) -> bool:
        raise TypeError("the time can only be compared by < and >=")

    def __str__(self) -> str:
        raise TypeError("the time can only be compared")

    __repr__ = __str__


class _Resolved(_Seen):
    """Where texts lead, looked up one by one."""

    __slots__ = ()

    def __init__(self, behind: dict[str, str], noted: Noted) -> None:
        super().__init__(behind, noted)
        if noted.resolved is None:
            noted.resolved = {}

    def get(self, text: str) -> str | None:
        """Where it leads; None if nobody knows."""
        found: str | None = self._behind.get(text)
        if self._noted.resolved is not None:
            self._noted.resolved[text] = found
        return found


class _Capsules(_Seen):
    """Capsules, looked up one by one."""

    __slots__ = ()

    def get(self, name: str) -> Capsule | None:
        """The capsule of that name."""
        found: Capsule | None = self._behind.get(name)
        self._noted.capsules[name] = found
        return found


class _Arguments(_Seen):
    """The arguments as given, looked up one by one."""

    __slots__ = ()

    def get(self, name: str) -> Any:
        """The value; None if it is not there."""
        self._noted.args.add(name)
        return self._behind.get(name)


class _Values(Values):
    """What intake has read. Whoever looks at the values of an argument depends on that argument."""

    __slots__ = ("_noted",)

    def __init__(self, values: Values, noted: Noted) -> None:
        super().__init__(values)
        self._noted = noted

    def __getitem__(self, name: str) -> list[Any]:
        self._noted.args.add(_outer(name))
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        """The values, or the default."""
        self._noted.args.add(_outer(name))
        return super().get(name, default)

    def _whole(self, *_: object) -> Any:
        raise TypeError("values are looked up one by one")

    __iter__ = keys = values = items = copy = pop = popitem = setdefault = update = _whole  # type: ignore[assignment]
    __or__ = __ror__ = __eq__ = _whole


def _outer(name: str) -> str:
    """The argument that `a[].b` and `a.b` are in."""
    return name.partition("[")[0].partition(".")[0] if "[" in name or "." in name else name
