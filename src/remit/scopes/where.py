"""`where:` conditions on single arguments, and `when:` conditions on the trusted context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from remit.model.call import Context
from remit.model.policy import Condition, Scalar
from remit.model.text import shown
from remit.scopes.interface import Given, Matcher, Unit, Values
from remit.scopes.kinds import kind_of

MOST = 120
"""Characters of one value or pattern in a description."""


class ArgumentTest:
    """One condition on one argument: for `may` every value must pass, for prohibitions any value does."""

    __slots__ = ("arg", "condition", "matchers", "obliges", "optional", "parts", "tests")

    def __init__(self, arg: str, condition: Condition) -> None:
        self.arg, self.condition, self.optional = arg, condition, condition.optional
        self.tests = _value_tests(condition)
        self.parts = [(kind, kind_of(kind).matcher(data)) for kind, data in sorted(condition.parts.items())]
        self.matchers = [matcher for _, matcher in self.parts]
        self.obliges = any(matcher.obliges for matcher in self.matchers)

    @property
    def mentioned(self) -> frozenset[str]:
        """The arguments that it says something about."""
        return frozenset((self.arg,))

    def asked_of(self, arg: str) -> list[Matcher]:
        """What it asks of every unit of an argument."""
        return self.matchers if arg == self.arg else []

    def matchers_of(self, unit: Unit) -> list[Matcher]:
        """What may have to be done for it to hold of a unit."""
        return self.asked_of(unit.arg)

    def describe(self) -> str:
        """For people, with every limit: `amount at most 50`."""
        return f"{self.arg} {self.limit()}"

    def must(self) -> str:
        """The same as a demand: `amount must be at most 50`."""
        return f"{self.arg} must be {self.limit()}"

    def limit(self) -> str:
        """What it asks of each value: `at most 50`."""
        found = _limits(self.condition)
        found += [f"{kind} {matcher.describe()}" for kind, matcher in self.parts]
        limits = " and ".join(found) or "anything"
        return f"{limits} or absent" if self.optional else limits

    def _bound(self, values: Values, context: Context) -> Scalar | None:
        """What the task or the context says that the argument must be; None: nothing."""
        whose, _, name = (self.condition.same_as or "").partition(":")
        return Given(context, values).value(whose, name)

    def holds_for_all(self, values: Values, units: list[Unit], context: Context) -> bool:
        """True only if the argument is there, or may be absent, and each of its values passes."""
        return self.pass_all(values.get(self.arg), values, units, context)

    def pass_all(self, mine: list[Any] | None, values: Values, units: list[Unit], context: Context) -> bool:
        """The same for some of its values."""
        if not mine:
            return self.optional
        if not all(test(value) for value in mine for test in self.tests):
            return False
        if self.condition.same_as is not None:
            wanted = self._bound(values, context)
            if wanted is None or not all(same(value, wanted) for value in mine):
                return False
        own = [unit for unit in units if unit.arg == self.arg] if self.matchers else ()
        return all(matcher.covers(unit) for matcher in self.matchers for unit in own)

    def holds_for_any(self, values: Values, units: list[Unit], context: Context) -> bool:
        """False only if no value of the argument could pass."""
        return self.pass_any(values.get(self.arg), values, units, context)

    def pass_any(self, mine: list[Any] | None, values: Values, units: list[Unit], context: Context) -> bool:
        """The same for some of its values."""
        if not mine:
            return self.optional
        if self.condition.same_as is not None:
            wanted = self._bound(values, context)  # where nobody says what it is, it could be any
            mine = [value for value in mine if wanted is None or same(value, wanted)]
        if not any(all(test(value) for test in self.tests) for value in mine):
            return False
        own = [unit for unit in units if unit.arg == self.arg]
        return not self.matchers or any(all(m.touches(unit) for m in self.matchers) for unit in own)


class EachTest:
    """Conditions on the fields of one element of a list: an element passes if one of the alternatives holds for it.

    For `may` every element must pass, for prohibitions any does.
    """

    __slots__ = ("alternatives", "arg", "mentioned", "obliges", "optional")

    def __init__(self, arg: str, condition: Condition) -> None:
        self.arg, self.optional = arg, condition.optional
        self.alternatives = [
            [ArgumentTest(f"{arg}.{name}", one) for name, one in sorted(fields.items())] for fields in condition.each
        ]
        named = [frozenset(test.arg for test in tests) for tests in self.alternatives]
        self.mentioned = frozenset.intersection(*named)
        """A field that one of the alternatives leaves open is not limited."""
        self.obliges = any(test.obliges for tests in self.alternatives for test in tests)

    def asked_of(self, arg: str) -> list[Matcher]:
        """What it asks of every unit of an argument."""
        if len(self.alternatives) > 1:
            return []
        return [matcher for test in self.alternatives[0] for matcher in test.asked_of(arg)]

    def matchers_of(self, unit: Unit) -> list[Matcher]:
        """What may have to be done for it to hold of a unit."""
        return [matcher for tests in self.alternatives for test in tests for matcher in test.asked_of(unit.arg)]

    def describe(self) -> str:
        """For people, with every limit: `each payments[] with amount at most 50`."""
        return f"each {self.arg} with {self.limit()}"

    def must(self) -> str:
        """The same as a demand: `each payments[] must have amount at most 50`."""
        return f"each {self.arg} must have {self.limit()}"

    def limit(self) -> str:
        """What it asks of each element."""
        cut = len(self.arg) + 1
        held = ", or ".join(" and ".join(test.describe()[cut:] for test in tests) for tests in self.alternatives)
        return f"{held}, or {self.arg} absent" if self.optional else held

    def holds_for_all(self, values: Values, units: list[Unit], context: Context) -> bool:
        """True only if the list has elements, or may be absent, and each of them passes."""
        elements = values.get(self.arg)
        if not elements:
            return self.optional
        return all(
            any(
                all(test.pass_all(*_within(element, test.arg, values, units), context) for test in tests)
                for tests in self.alternatives
            )
            for element in elements
        )

    def holds_for_any(self, values: Values, units: list[Unit], context: Context) -> bool:
        """False only if no element of the list could pass."""
        elements = values.get(self.arg)
        if not elements:
            return self.optional
        return any(
            all(test.pass_any(*_within(element, test.arg, values, units), context) for test in tests)
            for tests in self.alternatives
            for element in elements
        )


def _within(element: Values, arg: str, values: Values, units: list[Unit]) -> tuple[list[Any], Values, list[Unit]]:
    """The values of a field in one element, all values, and the units of these: the same text has the same units."""
    mine = element.get(arg, [])
    return mine, values, [unit for unit in units if unit.arg == arg and unit.text in mine]


def argument_test(arg: str, condition: Condition) -> ArgumentTest | EachTest:
    """What a condition of `where` asks."""
    return EachTest(arg, condition) if condition.each else ArgumentTest(arg, condition)


def _value_tests(condition: Condition) -> list[Callable[[Any], bool]]:
    tests: list[Callable[[Any], bool]] = []
    if condition.equals is not None:
        wanted = condition.equals
        tests.append(lambda value: same(value, wanted))
    if condition.one_of is not None:
        choices = condition.one_of
        tests.append(lambda value: any(same(value, choice) for choice in choices))
    if condition.regex is not None:
        from remit.scopes.regex import compile_regex  # here: few conditions have one

        matches = compile_regex(condition.regex)
        tests.append(lambda value: isinstance(value, str) and matches(value))
    if condition.min is not None:
        low = condition.min
        tests.append(lambda value: _number(value) and value >= low)
    if condition.max is not None:
        high = condition.max
        tests.append(lambda value: _number(value) and value <= high)
    if condition.min_length is not None:
        shortest = condition.min_length
        tests.append(lambda value: isinstance(value, str) and len(value) >= shortest)
    if condition.max_length is not None:
        longest = condition.max_length
        tests.append(lambda value: isinstance(value, str) and len(value) <= longest)
    return tests


def _limits(condition: Condition) -> list[str]:
    """The tests of a condition in words."""
    found: list[str] = []
    if condition.equals is not None:
        found.append(_shown(condition.equals))
    if condition.same_as is not None:
        whose, _, name = condition.same_as.partition(":")
        found.append(f"the {name} of the {whose}")
    if condition.one_of is not None:
        found.append(" or ".join(map(_shown, condition.one_of)))
    if condition.regex is not None:
        found.append(f"text that matches {shown(condition.regex, MOST)}")
    if condition.min is not None:
        found.append(f"at least {_shown(condition.min)}")
    if condition.max is not None:
        found.append(f"at most {_shown(condition.max)}")
    if condition.min_length is not None:
        found.append(f"at least {condition.min_length} characters long")
    if condition.max_length is not None:
        found.append(f"at most {condition.max_length} characters long")
    return found


def _shown(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return shown(value, MOST) if isinstance(value, str) else str(value)


def same(value: Any, wanted: Scalar) -> bool:
    """Equal and of one type: `1` is not `true`, and text is never a number."""
    if isinstance(value, bool) or isinstance(wanted, bool):
        return value is wanted
    if isinstance(value, str) or isinstance(wanted, str):
        return type(value) is type(wanted) and value == wanted
    return bool(value == wanted)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def context_holds(when: tuple[tuple[str, tuple[Scalar, ...]], ...], context: Context) -> bool:
    """True if each named key of the context has one of the wanted values."""
    for key, wanted in when:
        value = getattr(context, key)
        if value is None or not any(same(value, choice) for choice in wanted):
            return False
    return True
