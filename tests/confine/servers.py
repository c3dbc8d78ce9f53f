"""Real servers for the proxy to reach: one that keeps the bytes it got, one with TLS, and the way to ask the proxy."""

from __future__ import annotations

import datetime
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from remit.confine.destinations import Contact
from remit.confine.proxy import Bounds, Proxy, resolve
from remit.model.profile import Network

WAIT = 60
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: keep-alive\r\n\r\nhello"


class Server:
    """Answers every connection in the same way, and keeps what it was sent."""

    def __init__(self, answer: bytes, *, stays: bool, context: ssl.SSLContext | None, after: bytes) -> None:
        self.got: list[bytes] = []
        self.connections = 0
        kept = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                kept.connections += 1
                link = self.request
                if context is not None:
                    try:
                        link = context.wrap_socket(link, server_side=True)
                    except OSError:
                        return
                link.settimeout(WAIT)
                data, answered = b"", False
                while True:
                    try:
                        piece = link.recv(65_536)
                    except OSError:
                        break
                    if not piece:
                        break
                    data += piece
                    if not answered and after in data:
                        answered = True
                        link.sendall(answer)
                        if not stays:
                            # As servers do: what comes now is still read, and would be the next request.
                            link.shutdown(socket.SHUT_WR) if context is None else None
                kept.got.append(data)
                link.close()

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def serving(
    answer: bytes = ANSWER,
    *,
    stays: bool = False,
    context: ssl.SSLContext | None = None,
    after: bytes = b"\r\n\r\n",
) -> Iterator[Server]:
    """A server that answers once it was sent `after`."""
    server = Server(answer, stays=stays, context=context, after=after)
    try:
        yield server
    finally:
        server.close()


class Asked:
    """A proxy on a socket of this machine, with what it recorded."""

    def __init__(self, network: Network, bounds: Bounds, names: dict[str, list[str]], record: Callable | None) -> None:
        self.contacts: list[Contact] = []
        listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(listener.getsockname()[1])
        self.proxy = Proxy(
            listener,
            network,
            record or self.contacts.append,
            bounds=bounds,
            resolve=lambda host, port: names[host] if host in names else resolve(host, port),
        )

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), WAIT)

    def ask(self, *pieces: bytes) -> bytes:
        """Everything that comes back, until the proxy closes."""
        with self.connect() as link:
            try:
                for piece in pieces:
                    link.sendall(piece)
                return b"".join(iter(lambda: link.recv(65_536), b""))
            except ConnectionError:
                return b""


@contextmanager
def proxied(
    *urls: str,
    never: tuple[str, ...] = (),
    bounds: Bounds = Bounds(),  # noqa: B008 - frozen
    names: dict[str, list[str]] | None = None,
    record: Callable | None = None,
) -> Iterator[Asked]:
    asked = Asked(Network(mode="hosts", urls=urls, except_=never), bounds, names or {}, record)
    try:
        yield asked
    finally:
        asked.proxy.close()


def certified(folder: Path, name: str) -> tuple[ssl.SSLContext, Path]:
    """A server's context with a certificate for this name, and the file that trusts it."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    public = folder / "certificate.pem"
    public.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private = folder / "key.pem"
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(public, private)
    return context, public
