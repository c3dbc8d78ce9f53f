"""HTTP/1 as the proxy reads it, and what it refuses to read."""

from __future__ import annotations

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.confine.messages import BadMessage, parse_chunk, parse_request, parse_response
from remit.scopes.url_grammar import parse_url


def head(first: str, *fields: str) -> bytes:
    return "\r\n".join((first, *fields, "", "")).encode("latin-1")


GET = "GET http://x.example/a?b=c HTTP/1.1"
HOST = "Host: x.example"


def test_a_plain_request():
    request = parse_request(head(GET, HOST, "Accept: */*", "Proxy-Connection: keep-alive", "Connection: keep-alive"))
    assert (request.method, request.url, request.length) == ("GET", parse_url("http://x.example/a?b=c"), 0)
    assert request.head() == head("GET /a?b=c HTTP/1.1", HOST, "accept: */*", "Connection: close")


def test_a_tunnel():
    request = parse_request(head("CONNECT x.example:443 HTTP/1.1", "Host: x.example:443"))
    assert (request.is_tunnel, request.url.host, request.url.port) == (True, "x.example", 443)
    assert parse_request(head("CONNECT [2001:db8::1]:443 HTTP/1.1", "Host: [2001:db8::1]")).url.host == "[2001:db8::1]"


REFUSED = {
    "line feed alone": GET.encode() + b"\nHost: x.example\r\n\r\n",
    "carriage return alone": head(GET, HOST, "A: b\rHost: y.example"),
    "folded line": head(GET, HOST, "A: b", " c"),
    "space before the colon": head(GET, HOST, "Content-Length : 5"),
    "no name": head(GET, HOST, ": 5"),
    "NUL": head(GET, HOST, "A: \0"),
    "no host": head(GET),
    "two hosts": head(GET, HOST, HOST),
    "another host": head(GET, "Host: y.example"),
    "another port": head(GET, "Host: x.example:8080"),
    "host with a user": head(GET, "Host: x.example@y.example"),
    "host with a path": head(GET, "Host: x.example/y"),
    "empty host": head(GET, "Host:"),
    "two lengths": head(GET, HOST, "Content-Length: 5", "Content-Length: 5"),
    "list of lengths": head(GET, HOST, "Content-Length: 5, 5"),
    "signed length": head(GET, HOST, "Content-Length: +5"),
    "length with zeros": head(GET, HOST, "Content-Length: 05"),
    "length in Arabic digits": head(GET, HOST, "Content-Length: \xb2"),
    "length and chunks": head(GET, HOST, "Content-Length: 5", "Transfer-Encoding: chunked"),
    "chunks twice": head(GET, HOST, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
    "another coding": head(GET, HOST, "Transfer-Encoding: gzip, chunked"),
    "identity": head(GET, HOST, "Transfer-Encoding: identity"),
    "hidden coding": head(GET, HOST, "Transfer-Encoding: \x0bchunked"),
    "chunks in 1.0": head("GET http://x.example/ HTTP/1.0", "Transfer-Encoding: chunked"),
    "connection takes the length away": head(GET, HOST, "Content-Length: 5", "Connection: close, content-length"),
    "connection takes a field away": head(GET, HOST, "Connection: authorization"),
    "origin form": head("GET / HTTP/1.1", HOST),
    "user name": head("GET http://x.example@y.example/ HTTP/1.1", "Host: y.example"),
    "backslash": head("GET http://x.example\\@y.example/ HTTP/1.1", HOST),
    "fragment": head("GET http://x.example/#a HTTP/1.1", HOST),
    "other scheme": head("GET https://x.example/ HTTP/1.1", HOST),
    "file": head("GET file:///etc/passwd HTTP/1.1", HOST),
    "connect by URL": head("GET connect://x.example:22 HTTP/1.1", "Host: x.example:22"),
    "HTTP/2": head("PRI * HTTP/2.0", HOST),
    "HTTP/0.9": head("GET http://x.example/", HOST),
    "two spaces": head("GET  http://x.example/ HTTP/1.1", HOST),
    "tab": head("GET\thttp://x.example/ HTTP/1.1", HOST),
    "short address": head("GET http://127.1/ HTTP/1.1", "Host: 127.1"),
    "number as address": head("GET http://2130706433/ HTTP/1.1", "Host: 2130706433"),
    "mapped address": head("GET http://[::ffff:127.0.0.1]/ HTTP/1.1", "Host: [::ffff:127.0.0.1]"),
    "final dot": head("GET http://x.example./ HTTP/1.1", "Host: x.example."),
    "tunnel without port": head("CONNECT x.example HTTP/1.1", HOST),
    "tunnel for another": head("CONNECT x.example:443 HTTP/1.1", "Host: y.example:443"),
    "tunnel by URL": head("CONNECT https://x.example:443 HTTP/1.1", "Host: x.example:443"),
    "tunnel with a body": head("CONNECT x.example:443 HTTP/1.1", HOST, "Content-Length: 1"),
    "tunnel with a body in chunks": head("CONNECT x.example:443 HTTP/1.1", HOST, "Transfer-Encoding: chunked"),
    "too many fields": head(GET, HOST, *("A: b",) * 300),
    "too long": head(GET, HOST, "A: " + "b" * 70_000),
    "unfinished": GET.encode() + b"\r\nHost: x.example\r\n",
}


@pytest.mark.parametrize("data", REFUSED.values(), ids=REFUSED)
def test_what_is_refused(data):
    with pytest.raises(BadMessage):
        parse_request(data)


def test_what_is_of_one_connection_is_not_passed_on():
    own = ("TE: trailers", "Upgrade: h2c", "HTTP2-Settings: x", "Keep-Alive: 5", "Proxy-Authorization: Basic x")
    request = parse_request(head(GET, HOST, *own, "Connection: te, upgrade, http2-settings", "Trailer: x"))
    assert request.head() == head("GET /a?b=c HTTP/1.1", HOST, "Connection: close")


def test_an_answer():
    response = parse_response(head("HTTP/1.1 200 OK", "Content-Length: 5", "Connection: keep-alive", "Keep-Alive: 9"))
    assert response.head() == head("HTTP/1.1 200 OK", "content-length: 5", "Connection: close")
    assert parse_response(head("HTTP/1.1 100 Continue")).head() == head("HTTP/1.1 100 Continue")
    for bad in (b"SSH-2.0-x\r\n\r\n", head("HTTP/1.1 200 OK", "a b: c"), head("HTTP/2 200")):
        with pytest.raises(BadMessage):
            parse_response(bad)


@pytest.mark.parametrize(
    "line", [b"5\n", b"5;a=b\r\n", b" 5\r\n", b"0x5\r\n", b"-1\r\n", b"\r\n", b"100000000\r\n", b"5_0\r\n"]
)
def test_a_chunk_that_is_refused(line):
    with pytest.raises(BadMessage):
        parse_chunk(line)


WORDS = st.sampled_from(
    (
        *("GET", "POST", "CONNECT", " ", "\t", "http://", "x.example", "y.example", ":443", "/", "/a", "?b", "#c", "@"),
        *(
            "HTTP/1.1",
            "HTTP/1.0",
            "\r\n",
            "\n",
            "\r",
            "\\",
            "Host",
            "Content-Length",
            "Transfer-Encoding",
            "Connection",
        ),
        *(":", ",", "5", "chunked", "close", "\0", "\x0b", "\x85", "é"),
    )
)


@settings(max_examples=300)
@given(st.lists(WORDS, max_size=30))
def test_what_is_passed_on_is_read_by_another_parser_in_the_same_way(words):
    """h11 as the server: of whatever we accept, it sees one request, for our host, with our path and our length."""
    start = "POST http://x.example/a HTTP/1.1\r\nHost: x.example\r\n"
    for text in ("".join(words), start + "".join(words), start + "A: b" + "".join(words)):
        try:
            request = parse_request(text.encode("latin-1") + b"\r\n\r\n")
        except BadMessage:
            continue
        if request.is_tunnel:
            continue
        server = h11.Connection(h11.SERVER)
        body = b"" if request.length is None else bytes(request.length)
        server.receive_data(request.head() + (b"0\r\n\r\n" if request.length is None else body))
        event = server.next_event()
        assert isinstance(event, h11.Request)
        assert event.target == (request.url.path or "/").encode() + (
            b"" if request.url.query is None else b"?" + request.url.query.encode()
        )
        assert dict(event.headers)[b"host"].partition(b":")[0] == request.url.host.encode()
        while not isinstance(server.next_event(), h11.EndOfMessage):
            pass
        assert server.trailing_data == (b"", False)
