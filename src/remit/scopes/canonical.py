"""What addresses, accounts, hosts and dates have in common: a value is read into one canonical form, or refused."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from remit.model.errors import NotUnderstood
from remit.scopes.interface import Declared, Kind, Matcher, Unit, Values, in_quotes

if TYPE_CHECKING:
    from remit.forms.shapes import Shape
    from remit.model.call import Call
    from remit.model.facts import Facts

UNKNOWN_VALUE = ""
"""What a unit from another text has where the text doesn't tell the value."""


class CanonicalMatcher(Matcher):
    """What a scope says about values in canonical form: patterns, each of them one value or many."""

    __slots__ = ("empty", "texts")

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self.empty = not texts

    def describe(self) -> str:
        return ", ".join(self.texts) or "nothing"

    def samples(self) -> list[Any]:
        return [text.replace("*", "x", 1) for text in self.texts]


class CanonicalKind(Kind):
    """A kind whose values have one canonical form, so that no other spelling of one escapes a rule."""

    conditional = True
    must_be_mentioned = True
    tests = frozenset()
    pattern_example = ""
    """A pattern as a policy has it, for messages."""

    def read(self, text: str) -> Any:
        """The canonical form. Raises ValueError."""
        raise NotImplementedError

    def read_pattern(self, text: str) -> Any:
        """What a text in a scope stands for. Raises ValueError."""
        raise NotImplementedError

    def check_default(self, value: Any) -> None:
        self.read(value)

    def units(self, arg: Declared, value: Any, values: Values, call: Call, facts: Facts) -> Iterable[Unit]:
        try:
            read = self.read(value)
        except ValueError as error:
            raise NotUnderstood(f"bad-{self.name}", str(error)) from None
        return (Unit(self.unit, arg.name, read, arg.effects | arg.below, text=value),)

    def form(self) -> Shape:
        from remit.forms.texts import Parsed, many  # here: a compiled policy needs no forms

        expects = f"{self.noun} such as {self.pattern_example}"
        return many(Parsed(self.read_pattern, expects, f"bad-{self.name}", quote=True))

    def scope_for(self, unit: Unit, beside: Any = None) -> str | None:
        return f"{self.name}: {in_quotes(str(unit.value))}"
