"""Patterns of URLs: `https://api.github.com/**`, `https://*.example.com/v1/*`, `https://**`.

    >>> UrlPattern.parse("https://api.github.com/**").matches(parse_url("https://api.github.com?page=2"))
    True

The scheme is always named. A host is exact, or `*.example.com` (one or more labels before it), or `**`.
Without a port it is the scheme's own; `:*` is any. The path is a glob: `/**` is any path at all, query and
fragment included; a path that ends in `**` admits them too (and the directory with its slash), any other only
with a final `?*`. A path that a server could read as another one is matched by nothing but `/**`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later
from remit.model.text import near_miss, shown
from remit.scopes.glob import Glob, GlobError
from remit.scopes.glob_syntax import Wild, quoted
from remit.scopes.interface import Declared, Kind, Matcher, Misnamed, Unit, Values, in_quotes
from remit.scopes.url_grammar import (
    DEFAULT_PORTS,
    MAX_LENGTH,
    Url,
    UrlError,
    decoded,
    parse_host,
    parse_port,
    parse_url,
)

if TYPE_CHECKING:
    from remit.forms.shapes import Shape
    from remit.model.call import Call
    from remit.model.facts import Facts

__all__ = ["Url", "UrlError", "UrlMatcher", "UrlPattern", "UrlSet", "parse_url"]

_PATTERN = compile_later(
    r"([A-Za-z][A-Za-z0-9+.\-]*)://"
    r"(\*\*|\*\.[^/?#:\[\]@*]+|\[[0-9A-Fa-f:]+\]|[^/?#:\[\]@*]+)"
    r"(?::([0-9]+|\*))?"
    r"(/[A-Za-z0-9\-._~!$&'()*+,;=:@/%\[\]{}]*)?"
    r"(\?\*)?"
)
_LOOSE_PERCENT = compile_later(r"%(?![0-9A-Fa-f]{2})")
_HIDDEN = compile_later(r"%(?:2[fF]|5[cC]|25[0-9A-Fa-f]{2})")
_OCTETS = compile_later(r"(?:%[0-9A-Fa-f]{2})+")
_ANYWHERE = "**"
_ANY_SCHEME = "*"
"""No pattern that is written has it: only `any_url`."""


class UrlPattern(msgspec.Struct, frozen=True):
    """One pattern: immutable, with the text that it was read from."""

    text: str
    scheme: str
    host: str
    """An exact host, `*.` and a parent domain, or `**`."""
    port: int | None
    """None for any."""
    any_path: bool
    any_query: bool
    """Whether a query or a fragment may follow the path."""
    file: Glob | None
    """The paths without a final slash, and the root."""
    directory: Glob | None
    """The paths with one."""

    @staticmethod
    def parse(text: str) -> UrlPattern:
        """The pattern that `text` says; raises `UrlError`."""
        found = _PATTERN.fullmatch(text) if text.isascii() and len(text) <= MAX_LENGTH else None
        if found is None or _LOOSE_PERCENT.search(text):
            raise UrlError(f"not of the form `scheme://host/path` with an optional `?*`{_meant(text)}")
        scheme, host, port, path, query = found.groups()
        scheme = scheme.lower()
        if host != _ANYWHERE:
            host = _host(host)
        if path is None and host == _ANYWHERE:
            path = "/**"
        file, directory = _paths(path or "/", text)
        any_path = file is not None and (Wild.DEEP,) in file.alternatives
        return UrlPattern(
            text=text,
            scheme=scheme,
            host=host,
            port=None if port == "*" else parse_port(port) if port else DEFAULT_PORTS.get(scheme, 0),
            any_path=any_path,
            any_query=query is not None or (file is not None and directory is not None),
            file=file,
            directory=directory,
        )

    def matches(self, url: Url) -> bool:
        """Whether the pattern has this URL, however a server reads its path."""
        if url.scheme != self.scheme or not self.has_host(url.host) or self.port not in (None, url.port):
            return False
        if self.any_path:
            return True
        if url.ambiguous_path or not (self.any_query or (url.query is None and url.fragment is None)):
            return False
        glob = self.directory if url.is_directory else self.file
        return glob is not None and glob.matches(url.plain_path)

    def could_match(self, url: Url) -> bool:
        """Whether some server could take this URL for one that the pattern has: what a prohibition asks.

        Like `matches`, but an ambiguous path could be any, query and fragment don't help, nor a final slash.
        """
        if url.scheme != self.scheme or not self.has_host(url.host) or self.port not in (None, url.port):
            return False
        if self.any_path or url.ambiguous_path:
            return True
        return any(glob is not None and glob.matches(url.plain_path) for glob in (self.file, self.directory))

    def includes(self, other: UrlPattern) -> bool:
        """True only if this matches every URL that `other` matches."""
        return (
            self.scheme == other.scheme
            and self.port in (None, other.port)
            and self._includes_host(other.host)
            and (self.any_path or self._includes_path(other))
        )

    def intersects(self, other: UrlPattern) -> bool:
        """False only if no URL is matched by both."""
        return (
            (self.scheme == other.scheme or _ANY_SCHEME in (self.scheme, other.scheme))
            and (self.port == other.port or None in (self.port, other.port))
            and (self._includes_host(other.host) or other._includes_host(self.host))
            and (self.any_path or other.any_path or self._meets_path(other))
        )

    def sample(self) -> str:
        """Some URL that it matches."""
        from urllib.parse import quote  # here: no decision needs it

        host = "example.com" if self.host == _ANYWHERE else self.host.replace("*", "x", 1)
        port = "" if self.port in (None, DEFAULT_PORTS.get(self.scheme, 0)) else f":{self.port}"
        glob = self.file or self.directory
        plain = "." if glob is None else glob.sample()
        path = "/" if plain == "." else "/" + quote(plain, safe="/!$&'()*+,;=:@~")
        return f"{self.scheme}://{host}{port}{path}{'' if self.file or path == '/' else '/'}"

    def has_host(self, host: str) -> bool:
        """Whether it has URLs at this host."""
        if self.host[0] != "*":
            return host == self.host
        # The bare domain has no label before the dot; an address never ends in a domain.
        return self.host == _ANYWHERE or (host.endswith(self.host[1:]) and len(host) >= len(self.host))

    def _includes_host(self, host: str) -> bool:
        if host == self.host or self.host == _ANYWHERE:
            return True
        return self.host[0] == "*" and host != _ANYWHERE and host.removeprefix("*").endswith(self.host[1:])

    def _includes_path(self, other: UrlPattern) -> bool:
        if other.any_path or (other.any_query and not self.any_query):
            return False
        pairs = ((self.file, other.file), (self.directory, other.directory))
        return all(two is None or (one is not None and one.includes(two)) for one, two in pairs)

    def _meets_path(self, other: UrlPattern) -> bool:
        pairs = ((self.file, other.file), (self.directory, other.directory))
        return any(one is not None and two is not None and one.intersects(two) for one, two in pairs)


def any_url() -> UrlPattern:
    """What stands for every URL there is: an address that a text doesn't tell. No written pattern includes it."""
    everything = Glob.parse("**")
    return UrlPattern("any URL", _ANY_SCHEME, _ANYWHERE, None, True, True, everything, everything)


class UrlSet:
    """The union of some patterns, in the order given: immutable, false if empty."""

    __slots__ = ("_by_host", "_loose", "patterns")

    patterns: tuple[UrlPattern, ...]
    _by_host: dict[tuple[str, str], tuple[UrlPattern, ...]]
    _loose: tuple[UrlPattern, ...]

    def __init__(self, patterns: Iterable[UrlPattern] = ()) -> None:
        unique = tuple(dict.fromkeys(patterns))
        exact = [(pattern.scheme, pattern.host) for pattern in unique if pattern.host[0] != "*"]
        grouped = {key: tuple(each for each in unique if (each.scheme, each.host) == key) for key in exact}
        object.__setattr__(self, "patterns", unique)
        object.__setattr__(self, "_by_host", grouped)
        object.__setattr__(self, "_loose", tuple(each for each in unique if each.host[0] == "*"))

    def matches(self, url: Url) -> bool:
        """Whether any pattern matches."""
        for pattern in self._by_host.get((url.scheme, url.host), ()):
            if pattern.matches(url):
                return True
        return any(pattern.matches(url) for pattern in self._loose) if self._loose else False

    def could_match(self, url: Url) -> bool:
        """Whether any pattern could match."""
        return any(pattern.could_match(url) for pattern in self.patterns)

    def first(self, url: Url) -> UrlPattern | None:
        """The first pattern that matches `url`."""
        return next((pattern for pattern in self.patterns if pattern.matches(url)), None)

    def includes(self, pattern: UrlPattern) -> bool:
        """True only if every URL of `pattern` is in the set; one member must have them all."""
        return any(own.includes(pattern) for own in self.patterns)

    def intersects(self, pattern: UrlPattern) -> bool:
        """False only if no URL of `pattern` is in the set."""
        return any(own.intersects(pattern) for own in self.patterns)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a set of patterns can't be changed: {name}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a set of patterns can't be changed: {name}")

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def __len__(self) -> int:
        return len(self.patterns)

    def __iter__(self) -> Iterator[UrlPattern]:
        return iter(self.patterns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UrlSet) and self.patterns == other.patterns

    def __hash__(self) -> int:
        return hash(self.patterns)

    def __repr__(self) -> str:
        return f"UrlSet({[pattern.text for pattern in self.patterns]!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (UrlSet, (self.patterns,))


def _paths(path: str, text: str) -> tuple[Glob | None, Glob | None]:
    """The globs for paths without and with a final slash."""
    if _HIDDEN.search(path):
        raise UrlError(f"encoded slash, backslash or percent sign in pattern {quoted(text)}")
    if decoded(path) is None:
        raise UrlError(f"octets that are not UTF-8 in pattern {quoted(text)}")
    body = _OCTETS.sub(lambda found: _literal(decoded(found[0]) or ""), path).removeprefix("/")
    if not body:
        return Glob.literal("."), None
    try:
        if body == "**" or body.endswith("/**"):
            above = body.removesuffix("**").removesuffix("/")
            below = Glob.parse(body)
            return below, Glob.parse(above).or_else(below) if above else below
        glob = Glob.parse(body.removesuffix("/"))
    except GlobError as error:
        raise UrlError(f"path of pattern {quoted(text)}: {error}") from None
    if any(alternative[-1] is Wild.DEEP for alternative in glob.alternatives):
        raise UrlError(f"a final `**` stands outside braces and without a slash: {quoted(text)}")
    return (None, glob) if body.endswith("/") else (glob, None)


def _literal(text: str) -> str:
    return "".join(f"[{char}]" if char in "*?[]{}" else char for char in text)


def _host(text: str) -> str:
    parent = text.removeprefix("*.")
    host = parse_host(parent)
    if parent != text and host.rpartition(".")[2].isdigit():
        raise UrlError(f"an address has no subdomains: {quoted(text)}")
    return text[: len(text) - len(parent)] + host


class UrlMatcher(Matcher):
    """What a `url:` scope says about URLs and URL reaches."""

    __slots__ = ("empty", "patterns", "texts")

    def __init__(self, texts: Sequence[str]) -> None:
        self.texts = tuple(texts)
        self.patterns = UrlSet(UrlPattern.parse(text) for text in texts)
        self.empty = not texts

    def covers(self, unit: Unit) -> bool:
        return self.patterns.includes(unit.value) if unit.wide else self.patterns.matches(unit.value)

    def touches(self, unit: Unit) -> bool:
        return self.patterns.intersects(unit.value) if unit.wide else self.patterns.could_match(unit.value)

    def describe(self) -> str:
        return ", ".join(self.texts) or "no URL"

    def samples(self) -> list[Any]:
        return [pattern.sample() for pattern in self.patterns]

    def reach(self) -> Iterator[tuple[Any, str]]:
        yield from ((pattern, pattern.text) for pattern in self.patterns)


def _meant(text: str) -> str:
    """What a host without a scheme or without a path was probably meant to be."""
    host = text.removeprefix("https://").removesuffix("/*").removesuffix("/")
    if _ANY.fullmatch(text):
        return "; to admit every URL leave `url` out"
    if _HOST.fullmatch(host):
        return f"; did you mean `https://{shown(host)}/**`?"
    first, _, path = text.partition("/")
    return f"; did you mean `https://{shown(text)}`?" if path and "." in first and _HOST.fullmatch(first) else ""


_OTHERS = frozenset(("sftp", "wasbs"))
"""Schemes that look like slips of those with a port that is known, and are none."""
_ANY = compile_later(r"(?:[a-z*]+://)?\*(?:/\**)?")
_HOST = compile_later(r"(?:\*\.)?[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


def url_texts() -> Shape:
    """A URL pattern, or a list of them, in a policy."""
    from remit.forms.texts import Parsed, many

    return many(Parsed(UrlPattern.parse, "a URL pattern such as https://host/**", "bad-url-pattern", quote=True))


def unknown_schemes(texts: Iterable[str]) -> Iterator[Misnamed]:
    """Patterns whose scheme is nearly a known one: they would match no URL that anybody means."""
    for text in texts:
        scheme = text.partition("://")[0].lower()
        known = scheme in DEFAULT_PORTS or scheme in _OTHERS
        near = None if known else near_miss(scheme, DEFAULT_PORTS, cutoff=0.75)
        if near is not None:
            yield Misnamed(f"no scheme `{scheme}` is known", near, name=text)


class UrlKind(Kind):
    """An address."""

    name = unit = "url"
    noun = "URL"
    about = "what URL arguments must be"
    limited_by = ("url",)
    must_be_mentioned = True
    judges = frozenset(("network",))
    conditional = True
    tests = frozenset(("length",))
    instead = "`url:`"
    touched = frozenset(("host",))
    usual_effect = "network"

    def units(self, arg: Declared, value: Any, values: Values, call: Call, facts: Facts) -> Iterable[Unit]:
        try:
            return (Unit("url", arg.name, parse_url(value), arg.effects | arg.below, text=value),)
        except UrlError as error:
            raise NotUnderstood("bad-url", str(error)) from None

    def form(self) -> Shape:
        return url_texts()

    def matcher(self, data: Any) -> Matcher:
        return UrlMatcher(data)

    def misnamed(self, data: Any) -> Iterable[Misnamed]:
        return unknown_schemes(data)

    def might(self, unit: Unit, part: str, matcher: Any) -> bool:
        if part != "host":
            return False
        if not unit.wide:
            return bool(matcher.has(unit.value.host))
        host = unit.value.host
        return bool(matcher.patterns) if host[0] == "*" else bool(matcher.has(host))

    def target(self, unit: Unit) -> str | None:
        """Without its query, which could hold secrets."""
        return str(unit.value.text) if unit.wide else str(unit.value).partition("?")[0].partition("#")[0]

    def scope_for(self, unit: Unit, beside: Any = None) -> str | None:
        if unit.wide:
            return None if unit.untold else f"url: {in_quotes(unit.value.text)}"
        url = unit.value
        port = "" if url.port in (None, DEFAULT_PORTS.get(url.scheme)) else f":{url.port}"
        for query in ("", "?*"):
            text = f"{url.scheme}://{url.host}{port}{url.path}{query}"
            try:
                if UrlPattern.parse(text).matches(url):
                    return f"url: {in_quotes(text)}"
            except UrlError:
                continue
        return None

    def samples(self) -> list[Any]:
        return ["https://host.example/x"]

    def reach(self, labelled: Sequence[str]) -> Iterator[tuple[Any, str]]:
        yield None, "any URL"
        yield from ((UrlPattern.parse(text), text) for text in labelled)


KINDS = (UrlKind(),)
