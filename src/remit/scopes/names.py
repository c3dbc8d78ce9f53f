"""URLs, agents and skills: the small matchers."""

from __future__ import annotations

from remit.scopes.interface import Unit
from remit.scopes.url import UrlPattern, UrlSet


class UrlMatcher:
    """What a `url:` scope says about URLs and URL reaches."""

    __slots__ = ("patterns", "texts")

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self.patterns = UrlSet(UrlPattern.parse(text) for text in texts)

    def covers(self, unit: Unit) -> bool:
        return self.patterns.includes(unit.value) if unit.wide else self.patterns.matches(unit.value)

    def touches(self, unit: Unit) -> bool:
        return self.patterns.intersects(unit.value) if unit.wide else self.patterns.could_match(unit.value)

    def describe(self) -> str:
        return ", ".join(self.texts) or "no URL"


class NameMatcher:
    """What an `agent:` or `skill:` scope says about names."""

    __slots__ = ("names", "texts")

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        self.names = frozenset(texts)

    def covers(self, unit: Unit) -> bool:
        return unit.value in self.names

    def touches(self, unit: Unit) -> bool:
        return unit.value in self.names

    def describe(self) -> str:
        return ", ".join(self.texts) or "nobody"
