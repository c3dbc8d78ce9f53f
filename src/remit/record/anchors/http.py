"""An HTTP endpoint that keeps what is PUT to it, and hands the latest out on GET.

Only https, or http to this machine itself. No redirects and no proxies; answers are bounded in size and time.
"""

from __future__ import annotations

import http.client
import ipaddress
import time
from typing import NamedTuple
from urllib.parse import urlsplit

from remit.record.anchor import AnchorError, read_kept
from remit.record.checkpoint import Checkpoint
from remit.record.errors import LedgerError
from remit.record.log import Log
from remit.record.note import MAX_NOTE

TIMEOUT = 10.0


class Response(NamedTuple):
    """What a server said."""

    status: int
    type: str
    body: bytes


class HttpAnchor:
    """One address."""

    def __init__(self, url: str, log: Log) -> None:
        self.url, self.log = url, log
        self.server = Server(url)

    def describe(self) -> str:
        return self.url

    def push(self, note: bytes) -> None:
        answer = self.server.ask("PUT", "", note)
        if answer.status not in (200, 201, 202, 204):
            raise AnchorError(f"{self.describe()} answered {answer.status}")

    def last(self) -> Checkpoint | None:
        answer = self.server.ask("GET", "")
        if answer.status in (204, 404):
            return None
        if answer.status != 200:
            raise AnchorError(f"{self.describe()} answered {answer.status}")
        return read_kept(self.log, answer.body, self.describe())


class Server:
    """Requests to one host, each with a connection of its own."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            host, self.port = parts.hostname or "", parts.port
        except ValueError:
            raise _bad("not an address") from None
        self.host, self.path, self.tls = host, parts.path.rstrip("/"), parts.scheme == "https"
        if not host or parts.username is not None or parts.query or parts.fragment:
            raise _bad("an address has a host, and neither a user, a query nor a fragment")
        if not (url.isascii() and url.isprintable()) or " " in url:
            raise _bad("an address is plain ASCII")
        if not self.tls and not _loopback(host):
            raise _bad("only https, or http to this machine itself")

    def ask(self, method: str, path: str, body: bytes | None = None) -> Response:
        """One request. Raises AnchorError, also for an answer that is too long or takes too long."""
        end = time.monotonic() + TIMEOUT
        connection = self._connect()
        try:
            head = {"User-Agent": "remit", "Accept": "text/plain", "Connection": "close"}
            if body is not None:
                head["Content-Type"] = "text/plain; charset=utf-8"
            connection.request(method, self.path + path or "/", body, head)
            answer = connection.getresponse()
            data = bytearray()
            while chunk := answer.read1(65_536):
                data += chunk
                if len(data) > MAX_NOTE:
                    raise AnchorError(f"{self.host} answers with more than {MAX_NOTE} bytes")
                if time.monotonic() > end:
                    raise AnchorError(f"{self.host} takes too long")
            return Response(answer.status, answer.headers.get_content_type(), bytes(data))
        except (OSError, http.client.HTTPException) as error:
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise AnchorError(f"{self.host} can't be reached: {said[:200]}") from None
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        if not self.tls:
            return http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT)
        import ssl  # here: plain http needs none

        return http.client.HTTPSConnection(self.host, self.port, timeout=TIMEOUT, context=ssl.create_default_context())


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _bad(what: str) -> LedgerError:
    return LedgerError(f"not an anchor: {what}", code="bad-anchor")
