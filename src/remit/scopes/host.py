"""Hosts without a scheme: `www.x.example`, `x.example:8080`; patterns `x.example`, `*.x.example`, `x.example:*`.

    >>> read_host("WWW.X.example:8080")
    'www.x.example:8080'

The grammar is that of hosts in URLs: ASCII, no final dot, addresses only in their canonical form, IPv6 in brackets.
A pattern without a port covers a host without one. A prohibition is about the host, whatever the port.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from remit.scopes.canonical import UNKNOWN_VALUE, CanonicalKind, CanonicalMatcher
from remit.scopes.interface import Matcher, Unit
from remit.scopes.url_grammar import parse_host, parse_port

if TYPE_CHECKING:
    from remit.scopes.url import UrlMatcher


def read_host(text: str) -> str:
    """A host in lower case, with its port if the text has one. Raises ValueError."""
    host, port = _parts(text)
    return parse_host(host) + (f":{parse_port(port)}" if port else "")


def read_pattern(text: str) -> tuple[str, str]:
    """The host, perhaps with `*.` before it, and the port: empty for none, `*` for any. Raises ValueError."""
    for sign, what in (("://", "a URL"), ("@", "a user stands before it"), ("/", "a path stands behind it")):
        if sign in text:
            alone = text.partition("://")[2] or text
            alone = alone.partition("/")[0].rpartition("@")[2]
            raise ValueError(f"{what}: write the host alone, `{alone}`")
    host, port = _parts(text)
    parent = host.removeprefix("*.")
    found = parse_host(parent)
    if parent != host and found.rpartition(".")[2].isdigit():
        raise ValueError("an address has no subdomains")
    return host[: len(host) - len(parent)] + found, port if port in ("", "*") else str(parse_port(port))


def _parts(text: str) -> tuple[str, str]:
    if text.startswith("["):
        host, close, rest = text.partition("]")
        host, port = host + close, rest.removeprefix(":")
        if not close:
            raise ValueError("the bracket of the address is not closed")
        if rest and (not port or rest[0] != ":"):
            raise ValueError("nothing but a port may follow an address in brackets")
        return host, port
    host, colon, port = text.partition(":")
    if colon and not port:
        raise ValueError("there is no port after the colon")
    return host, port


def host_in(host: str, pattern: str) -> bool:
    """Whether a bare host is the pattern's, or below its domain."""
    return host.endswith(pattern[1:]) and len(host) >= len(pattern) if pattern[0] == "*" else host == pattern


class HostMatcher(CanonicalMatcher):
    """What a `host:` scope says about hosts."""

    __slots__ = ("patterns",)

    def __init__(self, texts: Sequence[str]) -> None:
        super().__init__(texts)
        self.patterns = [read_pattern(text) for text in texts]

    def covers(self, unit: Unit) -> bool:
        if unit.wide:
            return False
        host, port = _parts(unit.value)
        return any(host_in(host, one) and two in ("*", port) for one, two in self.patterns)

    def touches(self, unit: Unit) -> bool:
        if unit.wide or unit.value == UNKNOWN_VALUE:
            return bool(self.patterns)
        return self.has(bare_host(unit.value))

    def has(self, host: str) -> bool:
        """Whether a bare host is meant, whatever the port."""
        return any(host_in(host, one) for one, _ in self.patterns)


def bare_host(text: str) -> str:
    """A canonical host without its port."""
    return _parts(text)[0]


class HostKind(CanonicalKind):
    """A host, perhaps with a port."""

    name = unit = "host"
    noun = "a host"
    about = "which hosts it may name: `x.example`, `*.x.example`, `x.example:8080`, `x.example:*`"
    limited_by = ("host",)
    judges = frozenset(("network",))
    instead = "`host:`"
    touched = frozenset(("url",))
    usual_effect = "network"
    pattern_example = "www.x.example or *.x.example"

    def read(self, text: str) -> Any:
        return read_host(text)

    def read_pattern(self, text: str) -> Any:
        return read_pattern(text)

    def matcher(self, data: Any) -> Matcher:
        return HostMatcher(data)

    def might(self, unit: Unit, part: str, matcher: Any) -> bool:
        """A host could be reached at any of its URLs."""
        if part != "url" or unit.derived:
            return False
        urls: UrlMatcher = matcher
        return any(pattern.has_host(bare_host(unit.value)) for pattern in urls.patterns)

    def harmless(self) -> Any:
        return "host.example"


KINDS = (HostKind(),)
