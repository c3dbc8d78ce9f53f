"""URLs: a strict grammar and patterns, as far as the generator's URLs need them (semantics §4, §5).

The page names the grammar but doesn't write it down; this is the plain reading: scheme, host, the scheme's own port,
no user, ASCII only. A path is ambiguous if programs read it in different ways: dot segments, empty segments,
encoded separators. A pattern that ends in `/**` is any path below and any query; any other stands for no query.
A URL might lie within a pattern if it does without its query and without a slash at the end.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from tests.oracle.naive_globs import matches as glob_matches
from tests.oracle.naive_globs import names_of

PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}
_GRAMMAR = re.compile(r"([a-z]+)://([a-z0-9.-]+)(?::([1-9][0-9]*))?(/[A-Za-z0-9._~%/-]*)?(\?[A-Za-z0-9=&]*)?", re.A)


class Url(NamedTuple):
    """A URL in its parts."""

    scheme: str
    host: str
    port: str
    path: str
    query: str | None
    ambiguous: bool


@cache
def parse(text: str) -> Url | None:
    """The parts, or None for what is not well formed."""
    found = _GRAMMAR.fullmatch(text)
    if found is None:
        return None
    scheme, host, port, path, query = found.groups()
    path = path or "/"
    if scheme not in PORTS or "" in host.split("."):
        return None
    if re.search(r"%(?![0-9A-Fa-f]{2})", path):
        return None
    inner = path[1:].removesuffix("/")
    ambiguous = path != "/" and (
        any(segment in ("", ".", "..") for segment in inner.split("/"))
        or re.search(r"%(2e|2f|5c|00)", path, re.I) is not None
    )
    return Url(scheme, host, port or PORTS[scheme], path, query, bool(ambiguous))


def host_of(pattern: str) -> str:
    """The host that a URL or a pattern names; `**` for any."""
    return pattern.partition("://")[2].partition("/")[0].partition(":")[0]


@cache
def surely(pattern: str, text: str) -> bool:
    """Whether a URL certainly lies within a pattern."""
    return _judge(pattern, text, certain=True)


@cache
def maybe(pattern: str, text: str) -> bool:
    """Whether a URL might lie within a pattern."""
    return _judge(pattern, text, certain=False)


def _judge(pattern: str, text: str, *, certain: bool) -> bool:
    url = parse(text)
    if url is None:
        return False
    scheme, _, rest = pattern.partition("://")
    place, slash, path = rest.partition("/")
    host, _, port = place.partition(":")
    if place == "**" and not slash:
        path = "**"
    if scheme != url.scheme or (port or PORTS[scheme]) != url.port:
        return False
    if host.startswith("*."):
        if not url.host.endswith(host[1:]) or len(url.host) < len(host):
            return False
    elif host not in ("**", url.host):
        return False
    if path == "**":
        return True
    if url.ambiguous:
        return not certain
    if not certain:
        # A server may take no notice of a query or of a slash at the end.
        names = url.path.strip("/") or "."
        below = path.removesuffix("/**") if path.endswith("/**") else path
        return glob_matches(path.strip("/") or ".", names) or glob_matches(below.strip("/") or ".", names)
    if path.endswith("/**"):
        return glob_matches(path, url.path[1:] + "z" if url.path.endswith("/") else url.path[1:])
    if url.query is not None:
        return False
    if path.endswith("/") != url.path.endswith("/") and url.path != "/":
        return False
    return len(names_of(path)) == len(names_of(url.path)) and glob_matches(path or ".", url.path.strip("/") or ".")


URLS = (
    *("https://a.example/", "https://a.example", "https://a.example/x", "https://a.example/x/", "https://a.example/z"),
    *("https://a.example/x/y", "https://a.example/x/z/z", "https://a.example/x?q=1", "https://a.example/?q=1"),
    *("https://a.example/x/y?q=1", "https://a.example:8443/x", "https://a.example:8443/", "http://a.example/x"),
    *("http://a.example/x/y", "https://b.example/x", "https://b.example/x/y", "https://db.prod.example/x"),
    *("https://prod.example/x", "https://z.prod.example/", "https://a.example:443/x", "https://z.example/z"),
    *("https://a.example/x/../z", "https://a.example/x/%2e%2e/z", "https://a.example//x", "http://z.example/"),
    *("https://a.b.prod.example/x/y", "https://a.example/z/y", "https://b.example/"),
)
"""A wide unit of kind url stands for those of these that its pattern matches."""

BAD_URLS = (
    *("", "a.example/x", "https://", "https://u@a.example/x", "https://a.example/ x", "https:/a.example"),
    *("https://a.example\\x", "//a.example/x", "https://a..example/x", "https://ä.example/", "https://a.example/%zz"),
)
PATTERNS = (
    *("https://a.example/**", "https://a.example/x", "https://a.example/x/**", "https://a.example/x/*"),
    *("https://**", "http://a.example/**", "https://*.prod.example/**", "https://a.example:8443/**"),
    *("https://b.example/**", "https://a.example/*", "https://b.example/x"),
)


@cache
def reach(pattern: str) -> frozenset[str]:
    """All that a wide unit of kind url could match."""
    return frozenset(url for url in URLS if surely(pattern, url))
