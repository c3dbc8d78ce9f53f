"""The proxy against real servers: what it lets through, what it refuses, and what it records."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from contextlib import suppress

import pytest

from remit.confine.destinations import Contact
from remit.confine.proxy import Bounds
from tests.confine.servers import ANSWER, WAIT, certified, proxied, serving


def get(url: str, *fields: str, method: str = "GET", body: bytes = b"") -> bytes:
    host = url.split("/")[2]
    return "\r\n".join((f"{method} {url} HTTP/1.1", f"Host: {host}", *fields, "", "")).encode() + body


def connect(place: str) -> bytes:
    return f"CONNECT {place} HTTP/1.1\r\nHost: {place}\r\n\r\n".encode()


def status(answer: bytes) -> int:
    return int(answer.split(b" ")[1])


def code(answer: bytes) -> str:
    return answer.partition(b"X-Remit-Code: ")[2].partition(b"\r\n")[0].decode()


def test_a_plain_request_reaches_the_named_host_once_and_is_recorded():
    with serving() as server, proxied(f"http://localhost:{server.port}/**") as asked:
        place = f"localhost:{server.port}"
        answer = asked.ask(get(f"http://{place}/a?token=secret", "Accept: */*"))
    assert answer == b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\nConnection: close\r\n\r\nhello"
    assert server.got == [
        f"GET /a?token=secret HTTP/1.1\r\nHost: {place}\r\naccept: */*\r\nConnection: close\r\n\r\n".encode()
    ]
    assert [(each.verdict, each.method, each.target) for each in asked.contacts] == [
        ("allowed", "GET", f"http://{place}/a")
    ]
    assert asked.contacts[0].address in ("127.0.0.1", "::1")


def test_other_hosts_ports_schemes_and_paths_are_refused_and_nothing_reaches_them():
    with serving() as server, serving() as other, proxied(f"http://127.0.0.1:{server.port}/docs/*") as asked:
        for request in (
            get(f"http://127.0.0.1:{server.port}/secret"),
            get(f"http://127.0.0.1:{server.port}/docs/../secret"),
            get(f"http://127.0.0.1:{server.port}/docs/%2e%2e/secret"),
            get(f"http://127.0.0.1:{server.port}/docs/a?query"),
            get(f"http://127.0.0.1:{other.port}/docs/a"),
            get(f"http://localhost:{server.port}/docs/a"),
            connect(f"127.0.0.1:{server.port}"),
        ):
            answer = asked.ask(request)
            assert (status(answer), code(answer)) == (403, "not-in-policy"), request
        assert status(asked.ask(get(f"http://127.0.0.1:{server.port}/docs/a"))) == 200
    assert len(server.got) == 1
    assert other.got == []
    assert [each.verdict for each in asked.contacts].count("allowed") == 1


def test_a_refusal_says_why_in_its_first_line_and_in_its_text():
    with proxied("https://x.example/**") as asked:
        answer = asked.ask(connect("y.example:443"))
    said = "Remit: the command could not reach `y.example:443`: no rule of the policy allows it"
    assert answer.startswith(f"HTTP/1.1 403 {said}\r\n".encode())
    assert answer.endswith(f"\r\n\r\n{said}\n".encode())
    assert [each.message for each in asked.contacts] == [said]


def test_a_prohibition_holds_inside_what_is_allowed():
    with serving() as server:
        place = f"127.0.0.1:{server.port}"
        with proxied(f"http://{place}/**", never=(f"http://{place}/admin/**",)) as asked:
            assert status(asked.ask(get(f"http://{place}/a"))) == 200
            assert status(asked.ask(get(f"http://{place}/admin/x"))) == 403
            assert status(asked.ask(get(f"http://{place}/a/../admin/x"))) == 403
            assert status(asked.ask(connect(place))) == 403, "its path would not be seen"


INSIDE = {
    "loopback.example": ["127.0.0.1"],
    "mapped.example": ["::ffff:127.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "private.example": ["10.0.0.1"],
    "six.example": ["::1"],
    "mixed.example": ["93.184.216.34", "127.0.0.1"],
    "translated.example": ["64:ff9b::7f00:1"],
}


@pytest.mark.parametrize("host", [*INSIDE, "127.0.0.1", "[::1]", "localhost", "169.254.169.254"])
def test_a_wildcard_leads_to_no_address_inside(host):
    with (
        serving() as server,
        proxied("http://**", f"http://**:{server.port}", f"https://**:{server.port}", names=INSIDE) as asked,
    ):
        for request in (get(f"http://{host}:{server.port}/"), connect(f"{host}:{server.port}")):
            answer = asked.ask(request)
            assert (status(answer), code(answer)) == (403, "inside-address")
    assert server.connections == 0
    assert {each.code for each in asked.contacts} == {"inside-address"}


def test_a_host_that_the_policy_names_may_be_inside():
    with serving() as server:
        place = f"loopback.example:{server.port}"
        with proxied(f"http://{place}/**", names=INSIDE) as asked:
            assert status(asked.ask(get(f"http://{place}/"))) == 200
        with proxied(f"http://*.example:{server.port}/**", names=INSIDE) as asked:
            assert status(asked.ask(get(f"http://{place}/"))) == 403


def test_the_address_that_was_looked_at_is_the_one_that_is_reached():
    """A name that changes its address between two look-ups: there is only one."""
    answers = iter([["127.0.0.1"], ["127.0.0.2"], ["127.0.0.3"]])
    with serving() as server, proxied(f"http://turning.example:{server.port}/**") as asked:
        asked.proxy._resolve = lambda host, port: next(answers)
        assert status(asked.ask(get(f"http://turning.example:{server.port}/"))) == 200
    assert [each.address for each in asked.contacts] == ["127.0.0.1"]
    assert next(answers) == ["127.0.0.2"]


def test_a_host_outside_the_policy_is_not_even_looked_up():
    looked: list[str] = []

    def look_up(host: str, port: int) -> list[str]:
        looked.append(host)
        return []

    with proxied("https://x.example/**") as asked:
        asked.proxy._resolve = look_up
        asked.ask(connect("secret-as-a-name.evil.example:443"))
        answer = asked.ask(connect("x.example:443"))
    assert looked == ["x.example"]
    assert (status(answer), code(answer)) == (502, "no-address")


SMUGGLED = {
    "a second request": (get("http://PLACE/docs/a"), get("http://PLACE/secret")),
    "behind a length": (
        get("http://PLACE/docs/a", "Content-Length: 4", method="POST", body=b"data"),
        get("http://PLACE/secret"),
    ),
    "behind chunks": (
        get("http://PLACE/docs/a", "Transfer-Encoding: chunked", method="POST", body=b"4\r\ndata\r\n0\r\n\r\n"),
        b"GET /secret HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    ),
    "length beside chunks": (
        get("http://PLACE/docs/a", "Content-Length: 4", "Transfer-Encoding: chunked", method="POST"),
        b"0\r\n\r\nGET /secret HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    ),
    "in a trailer": (
        get("http://PLACE/docs/a", "Transfer-Encoding: chunked", method="POST"),
        b"0\r\nX: y\r\n\r\nGET /secret HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    ),
    "in a chunk's extension": (
        get("http://PLACE/docs/a", "Transfer-Encoding: chunked", method="POST"),
        b"0;\n\nGET /secret HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    ),
    "a chunk longer than it says": (
        get("http://PLACE/docs/a", "Transfer-Encoding: chunked", method="POST"),
        b"1\r\nGET /secret HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    ),
    "an upgrade": (
        get(
            "http://PLACE/docs/a",
            "Connection: Upgrade, HTTP2-Settings",
            "Upgrade: h2c",
            "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA",
        ),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n GET /secret",
    ),
    "a line feed in the head": (
        b"GET http://PLACE/docs/a HTTP/1.1\nHost: PLACE\n\nGET /secret HTTP/1.1\r\nHost: PLACE\r\n\r\n",
    ),
}


@pytest.mark.parametrize("pieces", SMUGGLED.values(), ids=SMUGGLED)
@pytest.mark.parametrize("together", [True, False], ids=["together", "apart"])
def test_no_second_request_reaches_the_server(pieces, together):
    with serving(stays=True) as server, proxied(f"http://127.0.0.1:{server.port}/docs/*") as asked:
        place = f"127.0.0.1:{server.port}".encode()
        sent = [piece.replace(b"PLACE", place) for piece in pieces]
        with asked.connect() as link:
            for piece in [b"".join(sent)] if together else sent:
                link.sendall(piece)
                time.sleep(0 if together else 0.02)
            link.settimeout(0.3)
            try:
                while link.recv(65_536):
                    pass
            except OSError:
                pass
        deadline = time.monotonic() + WAIT
        while len(server.got) < server.connections and time.monotonic() < deadline:
            time.sleep(0.01)
    assert server.connections <= 1
    assert b"secret" not in b"".join(server.got)


def test_a_body_passes_whole_with_a_length_and_in_chunks():
    body = bytes(range(256)) * 2000 + b"END"
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:70_000], body[70_000:]))
    chunks += b"0\r\n\r\n"
    for fields, sent in ((f"Content-Length: {len(body)}", body), ("Transfer-Encoding: chunked", chunks)):
        with serving(after=sent[-8:]) as server, proxied(f"http://127.0.0.1:{server.port}/**") as asked:
            assert status(asked.ask(get(f"http://127.0.0.1:{server.port}/", fields, method="PUT"), sent)) == 200
            deadline = time.monotonic() + WAIT
            while not server.got and time.monotonic() < deadline:
                time.sleep(0.01)
        head, _, got = server.got[0].partition(b"\r\n\r\n")
        assert got == sent
        assert (b"content-length" in head.lower(), b"Transfer-Encoding: chunked" in head) == (
            sent == body,
            sent == chunks,
        )


def test_an_answer_in_two_parts_and_one_without_end():
    early = b"HTTP/1.1 100 Continue\r\n\r\n" + ANSWER
    endless = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 300_000
    for answer, expected in (
        (early, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"),
        (endless, b"HTTP/1.1 200 OK\r\n"),
    ):
        with serving(answer) as server, proxied(f"http://127.0.0.1:{server.port}/**") as asked:
            got = asked.ask(get(f"http://127.0.0.1:{server.port}/"))
            assert got.startswith(expected)
            assert got.endswith(answer[-300_000:][-5:])
            assert len(got) >= len(answer) - 30


@pytest.mark.parametrize(
    "answer",
    [
        b"SSH-2.0-OpenSSH\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"b" * 70_000,
    ],
)
def test_a_server_that_does_not_answer_in_http_is_not_heard(answer):
    with serving(answer) as server, proxied(f"http://127.0.0.1:{server.port}/**") as asked:
        assert asked.ask(get(f"http://127.0.0.1:{server.port}/")) == b""
    assert [each.code for each in asked.contacts] == ["", "bad-answer"]


def test_a_server_that_is_not_there():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with proxied(f"http://127.0.0.1:{port}/**") as asked:
            answer = asked.ask(get(f"http://127.0.0.1:{port}/"))
    assert (status(answer), code(answer)) == (502, "no-answer")
    assert [each.verdict for each in asked.contacts] == ["allowed"]


def secure(asked, place: str, name: str | None, trust) -> bytes:
    """What a client of TLS gets through a tunnel."""
    with asked.connect() as link:
        link.sendall(connect(place))
        answer = link.recv(65_536)
        if status(answer) != 200:
            return answer
        context = ssl.create_default_context(cafile=str(trust))
        context.check_hostname = False
        with context.wrap_socket(link, server_hostname=name) as inner:
            inner.sendall(b"GET / HTTP/1.1\r\n\r\n")
            return inner.recv(65_536)


def test_a_tunnel_carries_tls_for_its_own_host_only(tmp_path):
    context, trust = certified(tmp_path, "localhost")
    with serving(context=context) as server, proxied(f"https://localhost:{server.port}/v1/**") as asked:
        place = f"localhost:{server.port}"
        assert secure(asked, place, "localhost", trust) == ANSWER
        assert secure(asked, place, None, trust) == ANSWER
        with pytest.raises((ConnectionError, ssl.SSLError)):
            secure(asked, place, "other.example", trust)
        for first in (b"GET / HTTP/1.1\r\n\r\n", b"SSH-2.0-x\r\n", b"\x16\x03\x01\x00\x00"):
            assert asked.ask(connect(place), first) == b"HTTP/1.1 200 Connection established\r\n\r\n"
        refused = [each for each in asked.contacts if each.verdict == "refused"]
        assert {each.code for each in refused} == {"not-tls"}
        assert refused[0].reason == "the tunnel is for another server: `other.example`"
        assert len(refused) == 3, "the same reason is recorded once"


def test_a_tunnel_for_another_scheme_carries_anything():
    with serving(b"anything") as server, proxied(f"ssh://127.0.0.1:{server.port}/**") as asked:
        answer = asked.ask(connect(f"127.0.0.1:{server.port}"), b"SSH-2.0-x\r\n\r\n")
    assert answer == b"HTTP/1.1 200 Connection established\r\n\r\nanything"


def test_what_cannot_be_recorded_is_refused():
    def broken(contact: Contact) -> None:
        raise OSError("the disk is full")

    with serving() as server, proxied(f"http://127.0.0.1:{server.port}/**", record=broken) as asked:
        answer = asked.ask(get(f"http://127.0.0.1:{server.port}/"))
        assert (status(answer), code(answer)) == (503, "not-recorded")
        assert status(asked.ask(connect("x.example:1"))) == 403
    assert server.connections == 0


def test_a_refusal_is_recorded_once_and_not_without_end():
    with proxied("https://x.example/**", bounds=Bounds(refusals=5)) as asked:
        for number in (1, 1, 1, *range(20)):
            assert status(asked.ask(connect(f"h{number}.example:443"))) == 403
    assert [each.target for each in asked.contacts] == [*(f"h{n}.example:443" for n in (1, 0, 2, 3, 4)), "?"]
    assert asked.contacts[-1].code == "too-many"


def test_garbage_gets_an_answer_or_none_and_the_proxy_goes_on():
    with serving() as server, proxied(f"http://127.0.0.1:{server.port}/**", bounds=Bounds(head_seconds=0.2)) as asked:
        for garbage in (
            b"\r\n\r\n",
            b"\0" * 100_000,
            b"\x16\x03\x01" * 9,
            b"GET",
            b"GET / HTTP/1.1\r\n\r\n",
            b"A" * 10**6,
        ):
            answer = asked.ask(garbage)
            assert answer == b"" or code(answer) == "bad-request"
        assert status(asked.ask(get(f"http://127.0.0.1:{server.port}/"))) == 200


def test_clients_that_send_slowly_or_nothing_are_let_go():
    """More of them than there are places: they are gone after a time, and others are served."""
    bounds = Bounds(connections=4, head_seconds=0.3)
    with serving() as server, proxied(f"http://127.0.0.1:{server.port}/**", bounds=bounds) as asked:
        idle = [asked.connect() for _ in range(8)]
        done = threading.Event()

        def drip() -> None:
            while not done.wait(0.05):
                for link in idle:
                    with suppress(OSError):
                        link.sendall(b"x")

        slow = threading.Thread(target=drip)
        slow.start()
        try:
            deadline = time.monotonic() + WAIT
            answer = b""
            while not answer and time.monotonic() < deadline:
                answer = asked.ask(get(f"http://127.0.0.1:{server.port}/"))
            assert status(answer) == 200
            for link in idle:
                link.settimeout(WAIT)
                with suppress(ConnectionError):
                    assert link.recv(1) == b""
        finally:
            done.set()
            slow.join()
            for link in idle:
                link.close()


def test_a_connection_that_is_silent_ends():
    with serving(b"", stays=True) as server:
        place = f"127.0.0.1:{server.port}"
        with proxied(f"http://{place}/**", bounds=Bounds(idle_seconds=0.1)) as asked:
            assert asked.ask(get(f"http://{place}/")) == b""
            assert asked.ask(connect(place)) == b"HTTP/1.1 200 Connection established\r\n\r\n"


def test_closing_ends_every_connection():
    with serving(b"", stays=True) as server:
        place = f"127.0.0.1:{server.port}"
        with proxied(f"http://{place}/**") as asked:
            link = asked.connect()
            link.sendall(connect(place))
            assert link.recv(100)
        assert link.recv(100) == b""
        link.close()
        with pytest.raises(ConnectionError):
            asked.connect()
        asked.proxy.close()


def test_thousands_of_connections_harm_nobody_who_comes_later():
    """More than there are places are let go at once, and the places are free again when their clients are gone."""
    with serving() as server, proxied(f"http://127.0.0.1:{server.port}/**") as asked:
        for _ in range(20):
            links = []
            with suppress(OSError):
                links = [asked.connect() for _ in range(100)]
            for link in links:
                link.close()
        held = [asked.connect() for _ in range(300)]
        for link in held:
            link.close()
        deadline, answer = time.monotonic() + WAIT, b""
        while not answer and time.monotonic() < deadline:
            with suppress(OSError):
                answer = asked.ask(get(f"http://127.0.0.1:{server.port}/"))
        assert status(answer) == 200


@pytest.mark.parametrize("port", [22, 25, 80, 8443, 6379])
def test_a_tunnel_leads_to_the_port_of_the_rule_and_to_no_other_of_the_host(port: int):
    with proxied("https://x.example/**") as asked:
        answer = asked.ask(connect(f"x.example:{port}"))
    assert (status(answer), code(answer)) == (403, "not-in-policy")
