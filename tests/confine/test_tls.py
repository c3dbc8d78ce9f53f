"""The first message of TLS, as the standard library really sends it."""

from __future__ import annotations

import ssl
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.confine.tls import NotTls, server_name


def hello(name: str | None, newest: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> bytes:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.maximum_version = newest
    outgoing = ssl.MemoryBIO()
    client = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return outgoing.read()


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("name", ["x.example", "A.very.long.name.of.a.server.example", None])
def test_the_name_of_the_server(name, newest):
    assert server_name(hello(name, newest)) == (name.lower() if name else None)


def test_every_beginning_of_it_waits_for_the_rest():
    whole = hello("x.example")
    for length in range(len(whole)):
        with pytest.raises(EOFError):
            server_name(whole[:length])


def test_it_may_come_in_many_records():
    whole = hello("x.example")
    body = whole[5:]
    pieces = [body[at : at + 7] for at in range(0, len(body), 7)]
    assert server_name(b"".join(whole[:3] + len(piece).to_bytes(2, "big") + piece for piece in pieces)) == "x.example"


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-x\r\n",
        b"GET / HTTP/1.1\r\n",
        b"\x16\x04\x01\x00\x01\x01",
        b"\x16\x03\x01\x00\x00",
        b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
        b"\x16\x03\x01\xff\xff\x01\xff\xff\xff" + bytes(65_531),
        b"\x16\x03\x01\x00\x04\x01\x00\x00\x00",
    ],
)
def test_what_is_no_tls(data):
    with pytest.raises(NotTls):
        server_name(data)


def test_two_names_are_refused():
    whole = hello("x.example")
    entry = b"\x00\x00\x09x.example"
    at = whole.index(entry)
    # The list, its extension, all extensions, the message and its record become as much longer.
    grown = bytearray(whole[:at] + entry + whole[at:])
    places = {at - 2: 2, at - 4: 2, 3: 2, 6: 3}
    session = 5 + 4 + 2 + 32
    ciphers = session + 1 + whole[session]
    methods = ciphers + 2 + int.from_bytes(whole[ciphers : ciphers + 2], "big")
    places[methods + 1 + whole[methods]] = 2
    for place, size in places.items():
        number = int.from_bytes(grown[place : place + size], "big") + len(entry)
        grown[place : place + size] = number.to_bytes(size, "big")
    with pytest.raises(NotTls, match="more than one"):
        server_name(bytes(grown))


@given(st.binary(max_size=300))
def test_garbage_is_told_from_tls(data):
    for text in (data, b"\x16\x03\x01" + data, b"\x16\x03\x01\x00\x40\x01\x00\x00\x3c" + data):
        with suppress(NotTls, EOFError):
            server_name(text)
