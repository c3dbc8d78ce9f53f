"""Real servers that take events, and misbehave as told."""

from __future__ import annotations

import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HEADER = re.compile(rb'<(\d+)>1 (\S+) (\S+) remit (\d+) (\S+) \[remit@32473 seq="(\d+)"\] ')


def certificate(folder: Path, host: str = "localhost") -> tuple[Path, Path]:
    """A certificate that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()))
    return paths


class Collector:
    """What an HTTP collector got, and how it answers."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.answers: list[int] = []
        """The next answers; 200 when there are none left. 0 closes without one, -1 takes a while."""
        self.most = 10**9
        """Bytes: 413 for more."""


@contextmanager
def http_collector(tls: tuple[Path, Path] | None = None) -> Iterator[tuple[Collector, int]]:
    """A collector, and its port."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.requests.append((self.path, dict(self.headers)))
            status = collector.answers.pop(0) if collector.answers else 200
            status = 413 if len(body) > collector.most else status
            if status == 0:
                self.connection.close()
                return
            if status == -1:
                time.sleep(1.5)
                status = 200
            if 200 <= status < 300:
                text = body.decode()
                collector.events += json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines())
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            pass  # closed on purpose

    server = Server(("127.0.0.1", 0), Handler)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield collector, server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


class Syslog:
    """The messages that a syslog server got."""

    def __init__(self) -> None:
        self.messages: list[bytes] = []
        self.cut = 0
        """So many connections are reset after their first bytes."""

    @property
    def events(self) -> list[dict[str, Any]]:
        """The events, each after its header was checked."""
        found = []
        for one in list(self.messages):
            header = HEADER.match(one)
            assert header is not None, one[:200]
            event = json.loads(one[header.end() :])
            assert int(header[6]) == event["metadata"]["sequence"]
            assert int(header[1]) // 8 == 13
            found.append(event)
        return found


@contextmanager
def syslog_datagrams(path: Path | None = None) -> Iterator[tuple[Syslog, int]]:
    """A server on UDP, or on a Unix socket."""
    got = Syslog()
    line = socket.socket(socket.AF_INET if path is None else socket.AF_UNIX, socket.SOCK_DGRAM)
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8_000_000)
    line.bind(("127.0.0.1", 0) if path is None else str(path))
    line.settimeout(0.1)
    end = threading.Event()

    def listen() -> None:
        while not end.is_set():
            with suppress(TimeoutError):
                got.messages.append(line.recv(200_000))

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield got, 0 if path is not None else line.getsockname()[1]
    finally:
        end.set()
        thread.join(5)
        line.close()


@contextmanager
def syslog_connections(tls: tuple[Path, Path] | None = None) -> Iterator[tuple[Syslog, int]]:
    """A server on TCP, or on TLS; it understands octet counting, and closes when it has read everything."""
    got = Syslog()
    listening = socket.create_server(("127.0.0.1", 0))
    listening.settimeout(0.1)
    end = threading.Event()
    context = None
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)

    def serve(line: socket.socket) -> None:
        with line:
            line.settimeout(10)
            data = b""
            try:
                stream = context.wrap_socket(line, server_side=True) if context is not None else line
                while chunk := stream.recv(65_536):
                    data += chunk
                    if got.cut:
                        got.cut -= 1
                        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                        return
            except OSError:
                return
            while data:
                length, _, rest = data.partition(b" ")
                got.messages.append(rest[: int(length)])
                data = rest[int(length) :]
            with suppress(OSError):
                stream.close()

    def accept() -> None:
        while not end.is_set():
            with suppress(TimeoutError, OSError):
                line, _ = listening.accept()
                threading.Thread(target=serve, args=(line,), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield got, listening.getsockname()[1]
    finally:
        end.set()
        thread.join(5)
        listening.close()
