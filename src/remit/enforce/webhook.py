"""A webhook for questions: it tells whoever should answer by HTTP, without holding up the call.

guard = Guard("remit.yaml", on_question=Webhook("https://chat.example/hooks/7", secret="…"))

It tells, and nothing more: whatever the receiver replies is no answer. Answers need a credential, or the program's own
word (`Guard(answer=…)`).
"""

from __future__ import annotations

import atexit
import hashlib
import hmac
import json
import os
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from remit.enforce.errors import GuardError
from remit.grant.asks import AskState
from remit.model.arguments import check_arguments, unfit
from remit.model.errors import RemitError

if TYPE_CHECKING:
    import http.client

QUEUE = 100
REMEMBERED = 1_000
FRESH = 300
"""Seconds that a signature may be old."""
TIMESTAMP, SIGNATURE = "Remit-Timestamp", "Remit-Signature"


class _Place(NamedTuple):
    secure: bool
    host: str
    port: int | None
    target: str


class Webhook:
    """Posts each question once, as JSON, from its own thread. Its failures never affect a call.

    `sent`, `failed` and `dropped` count; `last_error` says what went wrong last. Safe to use from many threads, and
    after a fork.
    """

    def __init__(
        self, url: str, secret: str | bytes | None = None, timeout: float = 5.0, *, arguments: bool = False
    ) -> None:
        """`arguments` sends the call's arguments too, which otherwise stay sealed. Raises GuardError for a bad URL."""
        check_arguments("Webhook", {"url": "text", "timeout": "seconds"}, url=url, timeout=timeout)
        if not isinstance(secret, str | bytes | None):
            raise unfit("Webhook", "secret", "text or bytes", type(secret))  # never the secret itself
        self._place = _placed(url)
        self._secret = secret.encode() if isinstance(secret, str) else secret
        if self._secret is not None and not self._secret:
            raise GuardError("the webhook's secret is empty", code="bad-webhook")
        if not timeout > 0:
            raise GuardError("a webhook's timeout must be more than 0", code="bad-webhook")
        self.timeout, self.arguments = timeout, arguments
        self.sent = self.failed = self.dropped = 0
        self.last_error: str | None = None
        self._look: Callable[[str], dict[str, Any]] | None = None
        self._thread: threading.Thread | None = None
        self._begin()

    def attach(self, look: Callable[[str], dict[str, Any]]) -> None:
        """Where sealed arguments are looked up: `authority.arguments`. A guard does this when it starts."""
        self._look = look

    def __call__(self, asked: AskState) -> None:
        """Queues the question; each is sent once. Never raises, never waits."""
        if self._pid != os.getpid():
            self._begin()
        with self._lock:
            if asked.id in self._sent:
                return
            try:
                self._queue.put_nowait(asked)
            except queue.Full:
                self.dropped += 1
                self.last_error = f"more than {QUEUE} questions wait to be sent"
                return
            self._sent[asked.id] = None
            while len(self._sent) > REMEMBERED:
                del self._sent[next(iter(self._sent))]
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="remit-webhook", daemon=True)
                self._thread.start()
                atexit.register(self.flush)

    def flush(self, within: float | None = None) -> bool:
        """Waits until everything was tried, at most so many seconds (as its timeout); whether it was."""
        if self._pid != os.getpid():
            return True
        waiting = self._queue
        with waiting.all_tasks_done:
            limit = self.timeout if within is None else within
            return waiting.all_tasks_done.wait_for(lambda: waiting.unfinished_tasks == 0, limit)

    # The thread

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._queue: queue.Queue[AskState] = queue.Queue(QUEUE)
        self._sent: dict[str, None] = {}
        self._thread = None
        self._pid = os.getpid()

    def _run(self) -> None:
        while True:
            asked = self._queue.get()
            try:
                self._post(self._body(asked))
                self.sent += 1
            except Exception as error:  # foreign servers do anything; the question stays in the inbox
                self.failed += 1
                self.last_error = f"{asked.id}: {type(error).__name__}: {str(error)[:200]}"
                with self._lock:
                    self._sent.pop(asked.id, None)  # when the call is tried again, so is this
            finally:
                self._queue.task_done()

    def _body(self, asked: AskState) -> bytes:
        """In ASCII, so that nothing in it is invisible."""
        shown: dict[str, Any] = {"event": "asked", "approval": asked.id, "expires": asked.expires}
        shown["ask"] = msgspec.to_builtins(asked.ask)
        if self.arguments:
            shown["arguments"] = self._arguments(asked.id)
        return json.dumps(shown, sort_keys=True, separators=(",", ":")).encode("ascii")

    def _arguments(self, name: str) -> Any:
        """None once the question was answered: they are not kept longer than that."""
        if self._look is None:
            return None
        try:
            return self._look(name).get("args")
        except RemitError:
            return None

    def _post(self, body: bytes) -> None:
        """One request, no redirects, no proxies; the answer's body is not read. Raises OSError and HTTPException."""
        headers = {"Content-Type": "application/json", "User-Agent": "remit-webhook"}
        if self._secret is not None:
            stamp = str(int(time.time()))
            headers |= {TIMESTAMP: stamp, SIGNATURE: signature(self._secret, stamp, body)}
        connection = self._connection()
        try:
            connection.connect()
            end = time.monotonic() + self.timeout
            watch = threading.Timer(self.timeout, _cut, (connection,))
            watch.daemon = True
            watch.start()
            try:
                connection.request("POST", self._place.target, body, headers)
                status = connection.getresponse().status
                if time.monotonic() >= end:
                    raise TimeoutError("the receiver took too long")
            finally:
                watch.cancel()
        finally:
            connection.close()
        if not 200 <= status < 300:
            raise OSError(f"the receiver answered {status}")

    def _connection(self) -> http.client.HTTPConnection:
        import http.client  # here, as below: few policies ask through a webhook

        place = self._place
        if not place.secure:
            return http.client.HTTPConnection(place.host, place.port, timeout=self.timeout)
        import ssl

        context = ssl.create_default_context()
        return http.client.HTTPSConnection(place.host, place.port, timeout=self.timeout, context=context)


def signature(secret: bytes, timestamp: str, body: bytes) -> str:
    """`sha256=…`: HMAC-SHA256 over the timestamp, a dot, and the body."""
    return "sha256=" + hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def is_genuine(
    secret: str | bytes, timestamp: str, body: bytes, signed: str, *, now: float | None = None, fresh: float = FRESH
) -> bool:
    """For receivers in Python: whether the body was signed with the secret, and recently."""
    key = secret.encode() if isinstance(secret, str) else secret
    if not key or not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) < 20):
        return False
    genuine = hmac.compare_digest(signature(key, timestamp, body).encode(), signed.encode())
    return genuine and abs((time.time() if now is None else now) - int(timestamp)) <= fresh


def _placed(url: str) -> _Place:
    """Raises GuardError for anything but a plain http(s) URL."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise GuardError(f"a webhook's URL can't be read: {error}", code="bad-webhook") from None
    plain = url.isascii() and url.isprintable() and " " not in url and "\\" not in url
    if parts.scheme not in ("http", "https") or not parts.hostname or not plain:
        raise GuardError("a webhook has a URL such as https://chat.example/hooks/7", code="bad-webhook")
    if parts.username is not None or parts.password is not None:
        raise GuardError("a webhook's URL must not contain a name or password", code="bad-webhook", help="use `secret`")
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return _Place(parts.scheme == "https", parts.hostname, port, target)


def _cut(connection: http.client.HTTPConnection) -> None:
    """A receiver that sends a byte now and then keeps nobody longer than the timeout."""
    import socket

    try:
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
