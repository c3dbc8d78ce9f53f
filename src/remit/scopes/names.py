"""Agents and skills: names, compared as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from remit.scopes.interface import Kind, Matcher, Unit

if TYPE_CHECKING:
    from remit.forms.shapes import Shape


class NameMatcher(Matcher):
    """What an `agent:` or `skill:` scope says about names."""

    __slots__ = ("empty", "names", "texts")

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self.names = frozenset(texts)
        self.empty = not texts

    def covers(self, unit: Unit) -> bool:
        return unit.value in self.names

    def touches(self, unit: Unit) -> bool:
        return unit.value in self.names

    def describe(self) -> str:
        return ", ".join(self.texts) or "nobody"

    def samples(self) -> list[Any]:
        return list(self.texts)


class SkillKind(Kind):
    """A skill, by its name."""

    name = unit = noun = "skill"
    about = "which skills it may name"
    limited_by = ("skill",)
    conditional = True

    def form(self) -> Shape:
        from remit.forms.texts import names  # here: a compiled policy needs no forms

        return names

    def matcher(self, data: Any) -> Matcher:
        return NameMatcher(data)


class AgentKind(SkillKind):
    """An agent that work is handed to, by its name."""

    name = unit = noun = "agent"
    about = "which agents it may name"
    limited_by = ("agent",)
    must_be_mentioned = True
    judges = frozenset(("delegate",))
    usual_effect = "delegate"

    def callers(self, data: Any) -> Sequence[str]:
        return tuple(data)

    def samples(self) -> list[Any]:
        return []


KINDS = (AgentKind(), SkillKind())
