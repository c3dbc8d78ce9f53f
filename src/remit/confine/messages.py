"""HTTP/1 as the proxy reads it: once, strictly, and written anew, so that no server reads a request differently.

    >>> parse_request(b"GET http://x.example/a HTTP/1.1\\r\\nHost: x.example\\r\\n\\r\\n").url.path
    '/a'

What two parsers could read in two ways is refused: bare line feeds, folded lines, two lengths, a length beside
`Transfer-Encoding`, a `Host` that is not the URL's. Of a connection only one request is read.
"""

from __future__ import annotations

import re

import msgspec

from remit.scopes.url_grammar import Url, UrlError, parse_host, parse_port, parse_url

MOST_HEAD = 65_536
"""Bytes of a head."""
_MOST_FIELDS = 200
_REQUEST_LINE = re.compile(r"([A-Z][A-Z0-9_\-]{0,31}) ([\x21-\x7e]{1,16384}) HTTP/1\.([01])")
_STATUS_LINE = re.compile(r"HTTP/1\.[01] ([1-9][0-9]{2})(?: ([\x20-\x7e\x80-\xff\t]*))?")
_FIELD = re.compile(r"([!#$%&'*+\-.^_`|~0-9A-Za-z]{1,256}):([\x20-\x7e\x80-\xff\t]*)")
_LENGTH = re.compile(r"0|[1-9][0-9]{0,15}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})\r\n")
_ONCE = frozenset(("host", "content-length", "transfer-encoding"))
# Of this connection only (RFC 9110, 7.6.1): never passed on. `upgrade` and `trailer` would change what follows.
_OF_THE_CONNECTION = _ONCE | {
    *("connection", "proxy-connection", "keep-alive", "te", "trailer", "upgrade", "http2-settings"),
    *("proxy-authorization", "proxy-authenticate"),
}
_CONNECTION_OPTIONS = frozenset(("close", "keep-alive", "te", "upgrade", "http2-settings"))


class BadMessage(ValueError):
    """A message that is not HTTP/1 as it is read here; the text says why."""


class Request(msgspec.Struct, frozen=True):
    """The head of one request to the proxy."""

    method: str
    url: Url
    """Of a tunnel: `connect://host:port`."""
    minor: int
    fields: tuple[tuple[str, str], ...]
    """Those that are passed on."""
    length: int | None
    """Bytes of its body; None: it comes in chunks."""

    @property
    def is_tunnel(self) -> bool:
        return self.method == "CONNECT"

    def head(self) -> bytes:
        """As the server gets it."""
        target = (self.url.path or "/") + ("" if self.url.query is None else f"?{self.url.query}")
        port = "" if self.url.port == 80 else f":{self.url.port}"
        fields = [("Host", f"{self.url.host}{port}"), *self.fields, ("Connection", "close")]
        if self.length is None:
            fields.append(("Transfer-Encoding", "chunked"))
        elif self.length or self.method in ("POST", "PUT", "PATCH"):
            fields.append(("Content-Length", str(self.length)))
        return _written(f"{self.method} {target} HTTP/1.{self.minor}", fields)


class Response(msgspec.Struct, frozen=True):
    """The head of a server's answer."""

    status: int
    line: str
    fields: tuple[tuple[str, str], ...]

    def head(self) -> bytes:
        """As the client gets it: it can't use the connection again."""
        own = () if self.status < 200 else (("Connection", "close"),)
        return _written(self.line, [*self.fields, *own])


def parse_request(head: bytes) -> Request:
    """The request whose head, with its final empty line, this is. Raises BadMessage."""
    first, fields = _lines(head)
    line = _REQUEST_LINE.fullmatch(first)
    if line is None:
        raise BadMessage("malformed request line")
    method, target, minor = line[1], line[2], int(line[3])
    named = {name: value for name, value in fields if name in _ONCE}
    for option in (each.strip().lower() for name, value in fields if name == "connection" for each in value.split(",")):
        if option and option not in _CONNECTION_OPTIONS:
            raise BadMessage("`Connection` names a field that must be passed on")
    try:
        url = _authority(target) if method == "CONNECT" else parse_url(target)
        _agrees(named.get("host"), url, minor)
    except UrlError as error:
        raise BadMessage(str(error)) from None
    if url.scheme != ("connect" if method == "CONNECT" else "http"):
        raise BadMessage("only `http` is requested by its whole URL; other schemes need CONNECT")
    if url.fragment is not None:
        raise BadMessage("fragment in the URL of a request")
    length = _length(named, minor)
    if method == "CONNECT" and length != 0:
        raise BadMessage("CONNECT with a body")
    passed = tuple((name, value) for name, value in fields if name not in _OF_THE_CONNECTION)
    return Request(method=method, url=url, minor=minor, fields=passed, length=length)


def parse_response(head: bytes) -> Response:
    """The answer whose head this is. Raises BadMessage."""
    first, fields = _lines(head)
    line = _STATUS_LINE.fullmatch(first)
    if line is None:
        raise BadMessage("malformed status line")
    ours = _OF_THE_CONNECTION - {"content-length", "transfer-encoding", "trailer"}
    return Response(int(line[1]), first, tuple((name, value) for name, value in fields if name not in ours))


def _written(first: str, fields: list[tuple[str, str]]) -> bytes:
    return "\r\n".join((first, *(f"{name}: {value}" for name, value in fields), "", "")).encode("latin-1")


def _lines(head: bytes) -> tuple[str, list[tuple[str, str]]]:
    """The first line, and the fields with their names in lower case."""
    if len(head) > MOST_HEAD or not head.endswith(b"\r\n\r\n"):
        raise BadMessage("head too long or unfinished")
    first, *rest = head[:-4].decode("latin-1").split("\r\n")
    if len(rest) > _MOST_FIELDS:
        raise BadMessage("too many fields")
    fields = []
    for line in rest:
        found = _FIELD.fullmatch(line)
        if found is None:
            raise BadMessage("malformed field")
        fields.append((found[1].lower(), found[2].strip(" \t")))
    names = [name for name, _ in fields]
    for name in _ONCE:
        if names.count(name) > 1:
            raise BadMessage(f"`{name}` more than once")
    return first, fields


def _authority(text: str) -> Url:
    """`host:port`, as CONNECT has it."""
    host, _, port = text.rpartition(":")
    bare = parse_host(host)
    return Url("connect", bare, parse_port(port), "", None, None, False, ".", False)


def _agrees(host: str | None, url: Url, minor: int) -> None:
    """Raises BadMessage if the field is not about the URL's own host and port."""
    if host is None:
        if minor == 1:
            raise BadMessage("no `Host`")
        return
    name, colon, port = host, "", ""
    if not host.endswith("]"):
        name, colon, port = host.rpartition(":") if ":" in host else (host, "", "")
    if parse_host(name) != url.host:
        raise BadMessage("`Host` is not that of the URL")
    usual = url.port if url.scheme == "connect" else 80
    if (parse_port(port) if colon else usual) != url.port:
        raise BadMessage("the port of `Host` is not that of the URL")


def _length(named: dict[str, str], minor: int) -> int | None:
    length, coding = named.get("content-length"), named.get("transfer-encoding")
    if coding is not None:
        if length is not None:
            raise BadMessage("`Content-Length` beside `Transfer-Encoding`")
        if coding.lower() != "chunked" or minor == 0:
            raise BadMessage("a transfer coding other than `chunked`, or in HTTP/1.0")
        return None
    if length is None:
        return 0
    if not _LENGTH.fullmatch(length):
        raise BadMessage("malformed `Content-Length`")
    return int(length)


def parse_chunk(line: bytes) -> int:
    """The size of a chunk, from its line; extensions are refused. Raises BadMessage."""
    found = _CHUNK.fullmatch(line)
    if found is None:
        raise BadMessage("malformed chunk")
    return int(found[1], 16)
