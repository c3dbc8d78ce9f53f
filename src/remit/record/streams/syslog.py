"""A syslog server (RFC 5424): over UDP, TCP, TLS or a Unix socket; one message an event.

Syslog never answers. Over TCP and TLS each batch has a connection of its own, and counts as taken only when the server
has read to its end and closed it; a connection that breaks before that delivers the batch again. UDP promises nothing.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from remit.model.streams import Target
from remit.record.export import as_line
from remit.record.stream import Destination, Event, StreamError
from remit.record.streams.http import tls_context

if TYPE_CHECKING:
    import ssl

TIMEOUT = 15.0
AUDIT = 13
"""The facility: log audit."""
LEVELS = {1: 6, 2: 5, 3: 4, 4: 3, 5: 2}
"""OCSF's severities as those of syslog."""
MAX_DATAGRAM = 60_000
_WORD = re.compile(r"[^!-~]")


def message(event: Event, host: str) -> bytes:
    """`<110>1 2026-11-16T00:40:12.000Z host remit 4711 intent [remit@32473 seq="12"] {…}`."""
    level = AUDIT * 8 + LEVELS.get(event.severity, 6)
    kind = _WORD.sub("", event.kind)[:32] or "-"
    at = event.at if re.fullmatch(r"[0-9T:.Z-]{20,30}", event.at) else "-"
    head = f'<{level}>1 {at} {host} remit {os.getpid()} {kind} [remit@32473 seq="{event.seq}"] '
    return head.encode("ascii") + event.body


def host_name() -> str:
    """As RFC 5424 wants it."""
    return _WORD.sub("", socket.gethostname())[:255] or "-"


def open_syslog(target: Target, ca: str | None) -> Destination:
    """The destination. Raises StreamError."""
    return Datagrams(target) if target.kind in ("syslog+udp", "syslog+unix") else Connections(target, ca)


class Datagrams:
    """UDP, or the socket of the machine's own log."""

    def __init__(self, target: Target) -> None:
        self.target, self.host = target, host_name()

    def send(self, events: Sequence[Event]) -> None:
        where = self.target.path or f"{self.target.host}:{self.target.port}"
        try:
            with self._socket() as line:
                line.settimeout(TIMEOUT)
                for event in events:
                    data = message(event, self.host)
                    line.send(data if len(data) <= MAX_DATAGRAM else message(_shortened(event), self.host))
        except OSError as error:
            raise StreamError(f"syslog at {where} can't be reached: {error.strerror or error}") from None

    def close(self) -> None:
        """Every batch has a socket of its own."""

    def _socket(self) -> socket.socket:
        if self.target.kind == "syslog+unix":
            line = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
            address: Any = self.target.path
        else:
            family, kind, _, _, address = socket.getaddrinfo(
                self.target.host, self.target.port, type=socket.SOCK_DGRAM
            )[0]
            line = socket.socket(family, kind | socket.SOCK_CLOEXEC)
        try:
            line.connect(address)
        except BaseException:
            line.close()
            raise
        return line


class Connections:
    """TCP, or TLS over it; a message has its length before it (RFC 6587, RFC 5425)."""

    def __init__(self, target: Target, ca: str | None) -> None:
        self.target, self.host = target, host_name()
        where = f"{target.host}:{target.port}"
        self.context = tls_context(ca, where) if target.kind == "syslog+tls" else None

    def send(self, events: Sequence[Event]) -> None:
        messages = (message(event, self.host) for event in events)
        data = b"".join(b"%d %s" % (len(one), one) for one in messages)
        where = f"{self.target.host}:{self.target.port}"
        try:
            with socket.create_connection((self.target.host, self.target.port), timeout=TIMEOUT) as line:
                if self.context is None:
                    line.sendall(data)
                    line.shutdown(socket.SHUT_WR)
                    _read_to_end(line)
                else:
                    with self.context.wrap_socket(line, server_hostname=self.target.host) as secure:
                        secure.sendall(data)
                        _close(secure)
        except OSError as error:
            said = error.strerror or str(error) or type(error).__name__
            raise StreamError(f"syslog at {where} did not take the events: {said[:200]}") from None

    def close(self) -> None:
        """Every batch has a connection of its own."""


def _close(secure: ssl.SSLSocket) -> None:
    """Says that this is all, and waits for the server to close too, in order or just so."""
    import ssl  # here: only TLS needs it

    with suppress(ssl.SSLEOFError, ssl.SSLZeroReturnError):
        _read_to_end(secure.unwrap())


def _read_to_end(line: socket.socket) -> None:
    """The server closes when it has read everything; one that resets has not."""
    for _ in range(1000):
        if not line.recv(4096):
            return
    raise OSError("the server keeps sending")


def _shortened(event: Event) -> Event:
    """What fits into one datagram: no text is long, and what OCSF has no field for is left out. It says so."""
    data = _bounded({**msgspec.json.decode(event.body), "unmapped": {"remit_shortened": True}})
    return event._replace(body=as_line(data).rstrip(b"\n"))


def _bounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _bounded(item) for key, item in value.items()}
    return value[:200] if isinstance(value, str) else value
