"""A strict grammar of URLs: what two parsers could read as two hosts is refused, not repaired.

    >>> parse_url("HTTPS://API.github.com/user?page=2").host
    'api.github.com'

Only `scheme://host[:port][/path][?query][#fragment]` in the ASCII of RFC 3986, without user names.
"""

from __future__ import annotations

import re

import msgspec

from remit.model.pattern import compile_later
from remit.scopes.glob_syntax import quoted

MAX_LENGTH = 8192
DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ssh": 22, "git": 9418}

_URL = compile_later(
    r"([A-Za-z][A-Za-z0-9+.\-]*)://"
    r"([A-Za-z0-9._\-]+|\[[0-9A-Fa-f:]+\])"
    r"(?::([0-9]+))?"
    r"(/[A-Za-z0-9\-._~!$&'()*+,;=:@/%]*)?"
    r"(?:\?([A-Za-z0-9\-._~!$&'()*+,;=:@/?%\[\]]*))?"
    r"(?:\#([A-Za-z0-9\-._~!$&'()*+,;=:@/?%\[\]]*))?",
    re.ASCII,
)
_LABEL = compile_later(r"[a-z0-9_](?:[a-z0-9_\-]{0,61}[a-z0-9_])?")
_NUMBER = compile_later(r"[0-9]+|0x[0-9a-f]*")
_BYTE = compile_later(r"0|[1-9][0-9]{0,2}")
_PORT = compile_later(r"[1-9][0-9]{0,4}")
_BAD_PERCENT = compile_later(r"%(?![0-9A-Fa-f]{2})")
# Dots that a server may resolve (also before `;`, as some do), slashes that it may merge, and octets that
# turn into one of these, or end a text, when it decodes, once or twice.
_AMBIGUOUS = compile_later(r"/\.{1,2}(?![^/;])|//|%(?:2[eEfF]|5[cC]|00|25[0-9A-Fa-f]{2})")


class UrlError(ValueError):
    """A text is no URL, or no pattern of URLs, by this grammar; the message says why."""


class Url(msgspec.Struct, frozen=True):
    """One URL, in parts; `port` is the scheme's own if the text has none, or 0 if the scheme has none."""

    scheme: str
    host: str
    port: int
    path: str
    query: str | None
    fragment: str | None
    ambiguous_path: bool
    """Whether a server could take the path for another one."""
    plain_path: str
    """The path decoded, without the slashes at both ends; `.` for the root."""
    is_directory: bool
    """Whether the path ends in a slash, and is not the root."""

    def __str__(self) -> str:
        port = "" if self.port == DEFAULT_PORTS.get(self.scheme, 0) else f":{self.port}"
        query = "" if self.query is None else f"?{self.query}"
        fragment = "" if self.fragment is None else f"#{self.fragment}"
        return f"{self.scheme}://{self.host}{port}{self.path}{query}{fragment}"


def parse_url(text: str) -> Url:
    """The URL that `text` is; raises `UrlError` for anything that the grammar doesn't have."""
    found = _URL.fullmatch(text) if len(text) <= MAX_LENGTH else None
    if found is None:
        raise UrlError(f"{_fault(text)}: {quoted(text)}")
    scheme, host, port, path, query, fragment = found.groups()
    if _BAD_PERCENT.search(text):
        raise UrlError(f"malformed percent-encoding: {quoted(text)}")
    scheme, path = scheme.lower(), path or ""
    plain = decoded(path)
    ambiguous = plain is None or _AMBIGUOUS.search(path) is not None
    plain = (path if plain is None else plain).strip("/")
    return Url(
        scheme=scheme,
        host=parse_host(host),
        port=DEFAULT_PORTS.get(scheme, 0) if port is None else parse_port(port),
        path=path,
        query=query,
        fragment=fragment,
        ambiguous_path=ambiguous,
        plain_path=plain or ".",
        is_directory=bool(plain) and path.endswith("/"),
    )


def parse_host(text: str) -> str:
    """`text` in lower case, if it is a DNS name, a canonical IPv4 or a canonical IPv6 address in brackets."""
    if not text.isascii() or len(text) > 253:
        raise UrlError(f"host too long or not ASCII: {quoted(text)}")
    host = text.lower()
    if host.startswith("["):
        import ipaddress  # here: few URLs name a host by its IPv6 address

        try:
            address = ipaddress.IPv6Address(host[1:-1])
        except ValueError:
            raise UrlError(f"malformed IPv6 address: {quoted(text)}") from None
        if address.ipv4_mapped or str(address) != host[1:-1]:
            raise UrlError(f"IPv6 address not in its canonical form: {quoted(text)}")
        return host
    labels = host.split(".")
    if _NUMBER.fullmatch(labels[-1]):
        if len(labels) != 4 or not all(_BYTE.fullmatch(label) and int(label) < 256 for label in labels):
            raise UrlError(f"IPv4 address not in its canonical form: {quoted(text)}")
        return host
    if "" in labels:
        raise UrlError(f"empty label or final dot in host: {quoted(text)}")
    for label in labels:
        if not _LABEL.fullmatch(label):
            raise UrlError(f"malformed label {quoted(label)} in host: {quoted(text)}")
    return host


def parse_port(text: str) -> int:
    """The port, decimal, from 1 to 65535, without leading zeros."""
    if not _PORT.fullmatch(text) or int(text) > 65_535:
        raise UrlError(f"port not between 1 and 65535: {quoted(text)}")
    return int(text)


def decoded(path: str) -> str | None:
    """`path` without percent-encoding, so that spellings of one path compare equal; None if it isn't UTF-8.

    What is no UTF-8 may be an overlong form, that hides a dot or a slash.
    """
    if "%" not in path:
        return path
    from urllib.parse import unquote_to_bytes  # here: few paths need it

    try:
        return unquote_to_bytes(path).decode()
    except UnicodeDecodeError:
        return None


def _fault(text: str) -> str:
    """What is wrong with a text that isn't of the form; for people, in the order in which they would look."""
    if len(text) > MAX_LENGTH:
        return f"a URL of more than {MAX_LENGTH} characters"
    if not text.isascii():
        return "a URL is ASCII only"
    if any(char <= " " or char == "\x7f" for char in text):
        return "whitespace or control character in URL"
    if "\\" in text:
        return "backslash in URL"
    begin = re.match(r"[A-Za-z][A-Za-z0-9+.\-]*://", text)
    if not begin:
        return "a URL begins with `scheme://`"
    authority = re.split(r"[/?#]", text[begin.end() :])[0]
    if "@" in authority:
        return "user name in URL"
    if not authority:
        return "no host in URL"
    if authority.endswith(":"):
        return "empty port in URL"
    if not _URL.fullmatch(begin[0] + authority):
        return "malformed host or port in URL"
    return "character in URL that RFC 3986 doesn't allow there"
