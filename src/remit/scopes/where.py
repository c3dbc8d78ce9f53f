"""`where:` conditions on single arguments, and `when:` conditions on the trusted context."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from remit.model.call import Context
from remit.model.policy import Condition, Scalar
from remit.model.text import shown
from remit.scopes.interface import Matcher, Unit
from remit.scopes.kinds import kind_of

MOST = 120
"""Characters of one value or pattern in a description."""


class ArgumentTest:
    """One condition on one argument: for `may` every value must pass, for prohibitions any value does."""

    __slots__ = ("arg", "condition", "kinds", "matchers", "obliges", "optional", "tests")

    def __init__(self, arg: str, condition: Condition) -> None:
        self.arg, self.condition, self.optional = arg, condition, condition.optional
        self.tests = _value_tests(condition)
        self.kinds = sorted(condition.parts)
        self.matchers = [kind_of(kind).matcher(condition.parts[kind]) for kind in self.kinds]
        self.obliges = any(matcher.obliges for matcher in self.matchers)

    def matchers_of(self, unit: Unit) -> list[Matcher]:
        """What it asks of a unit of its argument."""
        return self.matchers if unit.arg == self.arg else []

    def describe(self) -> str:
        """For people, with every limit: `amount at most 50`."""
        return f"{self.arg} {self.limit()}"

    def must(self) -> str:
        """The same as a demand: `amount must be at most 50`."""
        return f"{self.arg} must be {self.limit()}"

    def limit(self) -> str:
        """What it asks of each value: `at most 50`."""
        found = _limits(self.condition)
        found += [f"{kind} {matcher.describe()}" for kind, matcher in zip(self.kinds, self.matchers, strict=True)]
        limits = " and ".join(found) or "anything"
        return f"{limits} or absent" if self.optional else limits

    def _bound(self, values: dict[str, list[Any]], context: Context) -> Scalar | None:
        """What the task or the context says that the argument must be; None: nothing."""
        whose, _, name = (self.condition.same_as or "").partition(":")
        if whose == "context":
            found: Scalar | None = getattr(context, name)
            return found
        said = values.get(self.condition.same_as or "")
        return said[0] if said else None

    def holds_for_all(self, values: dict[str, list[Any]], units: list[Unit], context: Context) -> bool:
        """True only if the argument is there, or may be absent, and each of its values passes."""
        mine = values.get(self.arg)
        if not mine:
            return self.optional
        if not all(test(value) for value in mine for test in self.tests):
            return False
        if self.condition.same_as is not None:
            wanted = self._bound(values, context)
            if wanted is None or not all(same(value, wanted) for value in mine):
                return False
        own = [unit for unit in units if unit.arg == self.arg]
        return all(matcher.covers(unit) for matcher in self.matchers for unit in own)

    def holds_for_any(self, values: dict[str, list[Any]], units: list[Unit], context: Context) -> bool:
        """False only if no value of the argument could pass."""
        mine = values.get(self.arg)
        if not mine:
            return self.optional
        if self.condition.same_as is not None:
            wanted = self._bound(values, context)  # where nobody says what it is, it could be any
            mine = [value for value in mine if wanted is None or same(value, wanted)]
        if not any(all(test(value) for test in self.tests) for value in mine):
            return False
        own = [unit for unit in units if unit.arg == self.arg]
        return not self.matchers or any(all(m.touches(unit) for m in self.matchers) for unit in own)


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
    return _number(value) and value == wanted


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def context_holds(when: tuple[tuple[str, tuple[Scalar, ...]], ...], context: Context) -> bool:
    """True if each named key of the context has one of the wanted values."""
    for key, wanted in when:
        value = getattr(context, key)
        if value is None or not any(same(value, choice) for choice in wanted):
            return False
    return True
