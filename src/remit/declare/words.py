"""Shapes of single words: names, globs, URL patterns, moments, durations, regexes."""

from __future__ import annotations

from typing import Any

from remit.declare.nodes import LIST, MAP, SCALAR, Node
from remit.declare.shapes import BAD, JSON, NAME, Reader, Shape, Text
from remit.model.moments import read_moment
from remit.model.text import shown
from remit.scopes.glob import Glob, GlobError
from remit.scopes.regex import RegexError, compile_regex
from remit.scopes.url import UrlError, UrlPattern

Name = Text(NAME.pattern, "a name (ASCII letters, digits and . _ : / -)")
NamePattern = Text(r"[A-Za-z0-9_*][A-Za-z0-9_.:/*-]{0,127}", "a name, or a pattern such as github/*")
Duration = Text(r"[0-9]{1,6}[smhd]", "a duration such as 10m or 90d")


class GlobText(Shape):
    """A glob below the root, or an absolute one."""

    def __init__(self, *, absolute: bool = False) -> None:
        self.absolute = absolute
        self.expects = "an absolute glob such as /tmp/**" if absolute else "a glob such as docs/**"

    def read(self, node: Node, reader: Reader) -> Any:
        text = Text(expects=self.expects).read(node, reader)
        if text is BAD:
            return BAD
        if self.absolute and not text.startswith("/"):
            return self.wrong(node, reader)
        try:
            Glob.parse(text, absolute=self.absolute)
        except GlobError as error:
            return reader.fail(node.at, "bad-glob", str(error))
        return text

    def schema(self) -> JSON:
        return {"type": "string"}


class UrlText(Shape):
    """A URL pattern."""

    expects = "a URL pattern such as https://host/**"

    def read(self, node: Node, reader: Reader) -> Any:
        text = Text(expects=self.expects).read(node, reader)
        if text is BAD:
            return BAD
        try:
            UrlPattern.parse(text)
        except UrlError as error:
            return reader.fail(node.at, "bad-url-pattern", f"`{shown(text)}`: {error}")
        return text

    def schema(self) -> JSON:
        return {"type": "string"}


class RegexText(Shape):
    """A regular expression of the linear-time engine; it matches the whole value."""

    expects = "a regular expression"

    def read(self, node: Node, reader: Reader) -> Any:
        text = Text(expects=self.expects).read(node, reader)
        if text is BAD:
            return BAD
        try:
            compile_regex(text)
        except RegexError as error:
            return reader.fail(node.at, "bad-regex", f"`{shown(text)}`: {error}")
        return text

    def schema(self) -> JSON:
        return {"type": "string", "format": "regex"}


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
