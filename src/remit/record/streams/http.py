"""An HTTP collector: events in batches, as lines or as an array. No redirects and no proxies.

Only an answer of 2xx counts as taken. A batch that is too large for the collector (413) is halved.
"""

from __future__ import annotations

import http.client
import os
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from remit.model.streams import Target
from remit.record.stream import Event, StreamError

if TYPE_CHECKING:
    import ssl

TIMEOUT = 15.0
MAX_ANSWER = 65_536


class HttpDestination:
    """One address."""

    def __init__(self, target: Target, *, token: str | None, form: str, ca: str | None) -> None:
        self.target, self.form, self.ca = target, form, ca
        self.where = f"{target.kind}://{target.host}:{target.port}"
        self.token = os.environ.get(token, "").strip() if token is not None else None
        if token is not None and not self.token:
            raise StreamError(f"the environment variable {token}, which holds the token for {self.where}, is not set")
        if self.token is not None and not (self.token.isascii() and self.token.isprintable()):
            raise StreamError(f"the environment variable {token} holds no token that can be sent")
        parts = urlsplit(target.url)
        self.path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def send(self, events: Sequence[Event]) -> None:
        status = self._post(events)
        if status == 413 and len(events) > 1:
            half = len(events) // 2
            self.send(events[:half])
            self.send(events[half:])
        elif not 200 <= status < 300:
            raise StreamError(f"{self.where} answered {status}")

    def close(self) -> None:
        """Every batch has a connection of its own."""

    def _post(self, events: Sequence[Event]) -> int:
        bodies = [event.body for event in events]
        lines = self.form == "ndjson"
        data = b"\n".join(bodies) + b"\n" if lines else b"[" + b",".join(bodies) + b"]"
        kind = "application/x-ndjson" if lines else "application/json"
        head = {"User-Agent": "remit", "Content-Type": kind, "Connection": "close"}
        if self.token is not None:
            head["Authorization"] = f"Bearer {self.token}"
        end = time.monotonic() + TIMEOUT
        connection = self._connect()
        try:
            connection.request("POST", self.path, data, head)
            answer = connection.getresponse()
            count = 0
            while chunk := answer.read1(8192):
                count += len(chunk)
                if count > MAX_ANSWER or time.monotonic() > end:
                    break  # it has answered; what else it says does not count
            return answer.status
        except (OSError, http.client.HTTPException) as error:
            raise StreamError(f"{self.where} can't be reached: {_said(error)}") from None
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPConnection:
        if self.target.kind == "http":
            return http.client.HTTPConnection(self.target.host, self.target.port, timeout=TIMEOUT)
        context = tls_context(self.ca, self.where)
        return http.client.HTTPSConnection(self.target.host, self.target.port, timeout=TIMEOUT, context=context)


def tls_context(ca: str | None, where: str) -> ssl.SSLContext:
    """Trusts the system's certificates, or those of a file. Raises StreamError."""
    import ssl  # here: plain http needs none

    try:
        return ssl.create_default_context(cafile=ca)
    except OSError as error:
        raise StreamError(f"the certificates {ca} for {where} can't be read: {error.strerror or error}") from None


def _said(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:200]
