"""The witness over HTTP: `POST /add-checkpoint` (C2SP tlog-witness), and nothing else.

Every connection is one request, is bounded in size and time, and is closed from outside when its time is over.
"""

from __future__ import annotations

import socket
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from remit.record.errors import LedgerError
from remit.record.witness import MAX_REQUEST, Reply, Witness

CONNECTIONS = 64
IDLE = 5.0
"""Seconds without a byte."""
LIFE = 20.0
"""Seconds that a connection may last."""


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: WitnessServer
    timeout = IDLE
    server_version = "remit-witness"
    sys_version = ""

    def do_POST(self) -> None:
        """Named by the library."""
        if self.path != "/add-checkpoint":
            self._reply(Reply(404, "there is only /add-checkpoint\n"))
            return
        length = self.headers.get("Content-Length", "")
        if "Transfer-Encoding" in self.headers or not (length.isascii() and length.isdecimal()) or len(length) > 9:
            self._reply(Reply(411, "the request must say how long it is\n"))
            return
        if int(length) > MAX_REQUEST:
            self._reply(Reply(413, f"the request is longer than {MAX_REQUEST} bytes\n"))
            return
        body = self.rfile.read(int(length))
        if len(body) != int(length):
            self._reply(Reply(400, "the request is shorter than it says\n"))
            return
        try:
            reply = self.server.witness.add(body)
        except LedgerError as error:
            self.server.complain(str(error))
            reply = Reply(500, "the witness can't cosign now\n")
        self._reply(reply)

    def _reply(self, reply: Reply) -> None:
        data = reply.body.encode()
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.type)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.server.count(reply.status)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are counted, not logged: what they say comes from outside."""


class WitnessServer(ThreadingHTTPServer):
    """Listens, and keeps connections within their bounds."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    allow_reuse_address = True

    def __init__(
        self, address: tuple[str, int], witness: Witness, *, cert: Path | None = None, cert_key: Path | None = None
    ) -> None:
        """Raises LedgerError if the address or the certificate can't be used."""
        self.witness = witness
        self.answers: dict[int, int] = {}
        self._open: dict[socket.socket, float] = {}
        self._mutex = threading.Lock()
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        try:
            context = None
            if cert is not None:
                context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
                context.load_cert_chain(cert, cert_key)
            super().__init__(address, Handler)
            if context is not None:
                self.socket = context.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)
        except (OSError, ssl.SSLError, OverflowError) as error:
            said = getattr(error, "strerror", None) or error
            raise LedgerError(f"the witness can't listen: {said}", code="bad-witness") from None

    def server_bind(self) -> None:
        """Without the library's look-up of the host's name, which may take long."""
        if self.allow_reuse_address:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._mutex:
            full = len(self._open) >= CONNECTIONS
            if not full:
                self._open[request] = time.monotonic() + LIFE
        if full:
            super().shutdown_request(request)
            return
        request.settimeout(IDLE)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._mutex:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def service_actions(self) -> None:
        """Called twice a second: ends what lasts too long."""
        now = time.monotonic()
        with self._mutex:
            late = [request for request, end in self._open.items() if now > end]
        for request in late:
            try:
                request.shutdown(socket.SHUT_RDWR)
            except OSError:
                continue

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke is its client's business; anything else is a fault of ours."""
        error = sys.exception() if hasattr(sys, "exception") else sys.exc_info()[1]
        if not isinstance(error, OSError):
            self.complain(f"a request failed ({type(error).__name__})")

    @property
    def connections(self) -> int:
        """How many are open."""
        with self._mutex:
            return len(self._open)

    def count(self, status: int) -> None:
        """How many answers of each kind were given."""
        with self._mutex:
            self.answers[status] = self.answers.get(status, 0) + 1

    def complain(self, text: str) -> None:
        """One line for whoever runs the witness."""
        sys.stderr.write(f"remit witness: {text}\n")
        sys.stderr.flush()
