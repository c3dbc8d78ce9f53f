"""Shapes of single texts: names, moments, durations, and whatever something else can parse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from remit.forms.nodes import LIST, MAP, SCALAR, Node
from remit.forms.shapes import BAD, JSON, NAME, ListOf, Reader, Shape, Text
from remit.model.moments import read_moment
from remit.model.text import shown

Name = Text(NAME.pattern, "a name (ASCII letters, digits and . _ : / -)")
NamePattern = Text(r"[A-Za-z0-9_*][A-Za-z0-9_.:/*-]{0,127}", "a name, or a pattern such as github/*")
Duration = Text(r"[0-9]{1,6}[smhd]", "a duration such as 10m or 90d")


class Known(Text):
    """A name out of those that there are; whoever looks it up says which one is not."""

    def __init__(self, known: Callable[[], list[str]]) -> None:
        super().__init__(NAME.pattern, Name.expects)
        self.known = known

    def schema(self) -> JSON:
        return {"enum": self.known()}


class Parsed(Text):
    """Text that something else can read; what that says is wrong with it becomes the message."""

    def __init__(
        self,
        parse: Callable[[str], object],
        expects: str,
        code: str,
        *,
        quote: bool = False,
        pattern: str | None = None,
        format: str | None = None,
    ) -> None:
        """`parse` raises ValueError; with `quote` the message begins with the text."""
        super().__init__(pattern, expects)
        self.parse, self.code, self.quote, self.format = parse, code, quote, format

    def read(self, node: Node, reader: Reader) -> Any:
        text = super().read(node, reader)
        if text is BAD:
            return BAD
        try:
            self.parse(text)
        except ValueError as error:
            return reader.fail(node.at, self.code, f"`{shown(text)}`: {error}" if self.quote else str(error))
        return text

    def schema(self) -> JSON:
        return {"type": "string", **({"format": self.format} if self.format else {})}


def many(item: Shape) -> ListOf:
    """One or a list of them."""
    return ListOf(item, single=True)


names = many(Name)


class Moment(Shape):
    """A date or a moment with its time zone."""

    expects = "a date such as 2027-03-01, or a moment such as 2027-03-01T12:00:00Z"

    def read(self, node: Node, reader: Reader) -> Any:
        value = read_moment(node.value) if node.kind is SCALAR else None
        return self.wrong(node, reader) if value is None else value

    def schema(self) -> JSON:
        return {"type": "string"}


class Anything(Shape):
    """Plain data, not looked into."""

    def read(self, node: Node, reader: Reader) -> Any:
        return plain(node)

    def schema(self) -> JSON:
        return {}


def plain(node: Node) -> Any:
    """The node as plain Python data."""
    if node.kind is MAP:
        return {key: plain(item) for key, item in node.value.items()}
    if node.kind is LIST:
        return [plain(item) for item in node.value]
    return node.scalar()
