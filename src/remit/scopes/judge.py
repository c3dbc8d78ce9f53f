"""A judge: one whole scope, ready to be asked about the units of a call."""

from __future__ import annotations

from typing import Any

from remit.model.call import Context
from remit.model.policy import Scope
from remit.model.terms import UNKNOWN
from remit.scopes.interface import Given, Matcher, Unit, is_for_labels
from remit.scopes.kinds import kind_of, names
from remit.scopes.where import argument_test, context_holds


class Judge:
    """Parts of a scope are joined by and; lists within a part by or."""

    __slots__ = (
        "_text",
        "effects",
        "exception",
        "free",
        "mentioned",
        "obliges",
        "on_arguments",
        "open",
        "parts",
        "scope",
        "when",
        "where",
    )

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self._text: str | None = None
        self.on_arguments = scope.on_arguments
        self.effects = frozenset(scope.effect) if scope.effect else None
        self.when = tuple(sorted(scope.when.items()))
        self.where = tuple(argument_test(arg, condition) for arg, condition in sorted(scope.where.items()))
        self.mentioned = frozenset[str]().union(*(test.mentioned for test in self.where))
        self.exception = Judge(scope.except_) if scope.except_ is not None else None
        order = names()
        parts = sorted(scope.parts.items(), key=lambda item: order.index(item[0]))
        self.parts = {kind: kind_of(kind).matcher(data) for kind, data in parts}
        self.obliges = any(part.obliges for part in self.parts.values()) or any(test.obliges for test in self.where)
        """True if covering a unit can oblige the enforcement point to something."""
        self.open = any(part.open for part in self.parts.values())
        """True if only a call's task or context tells all that it covers."""
        self.free = not self.on_arguments and self.effects is None and not self.when
        """True for a rule without a scope: it covers whatever lies below the root."""

    def given(self, context: Context, values: dict[str, list[Any]]) -> Judge:
        """The same with what the call's task and context tell filled in."""
        found = self
        if self.open:
            from copy import copy  # here: few scopes leave anything to the call

            found, said = copy(self), Given(context, values)
            found.parts = {kind: part.given(said) for kind, part in self.parts.items()}
            found._text = None
        return found

    def held(self, *, read: bool) -> Judge:
        """The same for a command that runs confined: the kernel holds its writes to the rules, perhaps its reads."""
        from copy import copy

        found = copy(self)
        found.parts = {kind: part.held(read=read) for kind, part in self.parts.items()}
        return found

    def applies(self, context: Context, values: dict[str, list[Any]], units: list[Unit]) -> bool:
        """For `may`: the conditions on context and single arguments certainly hold."""
        if not context_holds(self.when, context):
            return False
        return all(test.holds_for_all(values, units, context) for test in self.where)

    def covers(self, unit: Unit) -> bool:
        """For `may`, once in force: the unit certainly lies within the whole scope."""
        if self.effects is not None and (not unit.effects or not unit.effects <= self.effects or unit.grade == UNKNOWN):
            return False
        part = self.parts.get(unit.kind)
        if part is not None:
            return part.covers(unit)
        kind = kind_of(unit.kind)
        if kind.beyond(unit):
            return False
        return self.mentions(unit)

    def mentions(self, unit: Unit) -> bool:
        """False where the scope limits arguments, but not those that the unit comes from."""
        if not self.on_arguments or unit.kind in self.parts:
            return True
        if unit.arg and (unit.effects or kind_of(unit.kind).must_be_mentioned):
            return unit.arg in self.mentioned
        return self.mentioned.issuperset(unit.args)

    def unmet(self, unit: Unit, context: Context, values: dict[str, list[Any]], units: list[Unit]) -> list[str]:
        """What would have to be otherwise about the arguments for the unit to be covered; empty: nothing, or more."""
        if not context_holds(self.when, context):
            return []
        failed = [test.must() for test in self.where if not test.holds_for_all(values, units, context)]
        if self.covers(unit):
            return failed
        if not self.mentions(unit):
            open_ = [name for name in ((unit.arg,) if unit.arg else unit.args) if name not in self.mentioned]
            return [*failed, *(f"{name} must be left out, or limited in `where`" for name in open_)]
        return []

    def obligation(self, unit: Unit) -> str | None:
        """What the enforcement point must do for the cover of this unit to hold."""
        own = self.parts.get(unit.kind)
        matchers = [*([own] if own is not None else ()), *(m for test in self.where for m in test.matchers_of(unit))]
        return next((found for matcher in matchers if (found := matcher.obligation(unit)) is not None), None)

    def touches(self, context: Context, values: dict[str, list[Any]], units: list[Unit]) -> Unit | None:
        """For `may_not` and `must_ask`: the unit by which the rule holds, or might; None if it can't."""
        if not context_holds(self.when, context):
            return None
        if not all(test.holds_for_any(values, units, context) for test in self.where):
            return None
        rest = units if self.exception is None else [u for u in units if not self._excepted(u, context, values, units)]
        found: Unit | None = None
        for kind, part in self.parts.items():
            found = next((u for u in rest if _might(u, kind, part) and self._acts(u)), None)
            if found is None:
                return None
        return found if self.parts else next((u for u in rest if self._acts(u)), None)

    def _acts(self, unit: Unit) -> bool:
        """The unit has one of the effects, or could have any; a label's target does what its command does."""
        if is_for_labels(unit) and unit.kind not in self.parts:
            return False
        return self.effects is None or unit.grade == UNKNOWN or not self.effects.isdisjoint(unit.effects)

    def _excepted(self, unit: Unit, context: Context, values: dict[str, list[Any]], units: list[Unit]) -> bool:
        """The exception certainly holds for this unit."""
        exception = self.exception
        if exception is None or not exception.applies(context, values, units):
            return False
        return exception.given(context, values)._certain(unit)

    def _certain(self, unit: Unit) -> bool:
        """As an exception: the unit has one of the effects, lies within the part of its kind, and is mentioned."""
        if self.effects is not None and self.effects.isdisjoint(unit.effects):
            return False
        if self.parts:
            part = self.parts.get(unit.kind)
            return part is not None and part.covers(unit)
        return self.mentions(unit)

    def describe(self) -> str:
        """For people, such as `path research/*.yaml`; empty for a rule without scope."""
        if self._text is None:
            self._text = self._described([f"{kind} {part.describe()}" for kind, part in self.parts.items()])
        return self._text

    def brief(self) -> str:
        """The same in fewer words, for a table."""
        return self._described([f"{kind} {part.brief()}" for kind, part in self.parts.items()])

    def in_full(self) -> str:
        """The same with every limit that was written, for a report."""
        return self._described([f"{kind} {part.in_full()}" for kind, part in self.parts.items()])

    def _described(self, parts: list[str]) -> str:
        if self.effects is not None:
            parts.append(f"effect {', '.join(self.scope.effect)}")
        parts.extend(f"{key} {'/'.join(map(str, wanted))}" for key, wanted in self.when)
        parts.extend(test.describe() for test in self.where)
        text = "; ".join(parts)
        if self.exception is not None:
            text += f"{' ' if text else ''}except {self.exception.describe()}"
        return text


def _might(unit: Unit, kind: str, part: Matcher) -> bool:
    """The unit is of the part's kind and might lie within; what could touch anything might."""
    return part.touches(unit) if unit.kind == kind else kind_of(unit.kind).might(unit, kind, part)
