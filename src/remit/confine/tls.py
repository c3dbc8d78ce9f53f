"""The first message of a TLS connection, looked at but not changed: whether it is one, and which server it names.

A tunnel is opened for a host and port. What runs through it is not seen, but a policy that says `https` gets TLS,
and a name in the clear that is another one is refused.
"""

from __future__ import annotations

MOST = 65_536
"""Bytes of a first message; today's are about 2,000."""
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _HOST_NAME = 22, 1, 0, 0


class NotTls(ValueError):
    """What was sent is not the beginning of TLS."""


class _Reader:
    """Fields of a message, one after the other; raises NotTls at its end."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def take(self, count: int) -> bytes:
        if self._at + count > len(self._data):
            raise NotTls("a field ends too early")
        self._at += count
        return self._data[self._at - count : self._at]

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def field(self, size: int) -> _Reader:
        """A field whose length stands before it, in `size` bytes."""
        return _Reader(self.take(self.number(size)))

    def take_all(self) -> bytes:
        return self.take(len(self._data) - self._at)

    def __bool__(self) -> bool:
        return self._at < len(self._data)


def server_name(data: bytes) -> str | None:
    """The server that a whole first message names in the clear, in lower case, or None if it names none.

    Raises NotTls, and EOFError if the message goes on behind `data`.
    """
    reader = _Reader(_hello(data))
    reader.take(2 + 32)  # version and random
    reader.field(1), reader.field(2), reader.field(1)  # session, ciphers, compression
    names: list[str] = []
    extensions = reader.field(2) if reader else _Reader(b"")
    while extensions:
        kind, body = extensions.number(2), extensions.field(2)
        if kind != _SERVER_NAME:
            continue
        listed = body.field(2)
        while listed:
            if listed.number(1) != _HOST_NAME:
                raise NotTls("a server name of an unknown type")
            names.append(listed.field(2).take_all().decode("latin-1").lower())
    if len(names) > 1:
        raise NotTls("more than one server name")
    return names[0] if names else None


def _hello(data: bytes) -> bytes:
    """The body of the first handshake message, put together from its records."""
    message, at = b"", 0
    while True:
        header = data[at : at + 5]
        if header[:1] not in (b"", bytes((_HANDSHAKE,))) or header[1:2] not in (b"", b"\x03"):
            raise NotTls("not a TLS handshake")
        if message[:1] not in (b"", bytes((_CLIENT_HELLO,))):
            raise NotTls("not the first message of a client")
        if len(message) >= 4 and len(message) - 4 >= int.from_bytes(message[1:4], "big"):
            return message[4 : 4 + int.from_bytes(message[1:4], "big")]
        if len(data) > MOST or (len(message) >= 4 and int.from_bytes(message[1:4], "big") > MOST):
            raise NotTls("a first message that is too long")
        length = int.from_bytes(header[3:5], "big")
        if len(header) < 5 or len(data) < at + 5 + length:
            raise EOFError
        if not length:
            raise NotTls("an empty record")
        message += data[at + 5 : at + 5 + length]
        at += 5 + length
