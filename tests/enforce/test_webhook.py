"""The webhook, against real local servers: one that listens, and others that are slow, fail, hang or redirect."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from remit.enforce.errors import CallPending, GuardError
from remit.enforce.guard import Guard
from remit.enforce.webhook import QUEUE, Webhook, is_genuine, signature
from remit.grant.asks import AskState
from remit.model.arguments import ArgumentError
from remit.model.task import Ask

SECRET = "a secret of the webhook"


class Receiver:
    """A server on this machine that does as it is told with every request."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str], bytes]] = []
        self.status, self.slow, self.drip = 204, 0.0, False
        self.location: str | None = None
        self.release = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.got.append((self.path, dict(self.headers), body))
                receiver.release.wait(receiver.slow)
                if receiver.drip:
                    self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                    while not receiver.release.wait(0.1):
                        self.wfile.write(b"x")
                        self.wfile.flush()
                    return
                self.send_response(receiver.status)
                if receiver.location is not None:
                    self.send_header("Location", receiver.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def do_GET(self) -> None:
                receiver.got.append(("GET " + self.path, {}, b""))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                return

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                return  # the webhook has hung up

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hooks/7?team=a"

    def close(self) -> None:
        self.release.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


def asked(number: int = 1, **more: Any) -> AskState:
    told: dict[str, Any] = {"agent": "worker", "tool": "deploy", "of": "human", "reason": "tier 4", "code": "tier-asks"}
    ask = Ask(**{**told, "tier": 4, "asked": "2026-11-15T12:00:00Z", **more})
    return AskState(number, "sha256:0", ask, "open", "2026-11-16T12:00:00Z", None, None, None, None)


@contextmanager
def guarded(folder: Path, **more: Any) -> Iterator[Any]:
    policy = {"remit": 1, "agents": {"worker": {"may": ["deploy"]}}}
    guard = Guard(policy, root=folder, state=folder / "state", **more)

    @guard.tool(does={"deploy": "https://prod.example/**"})
    def deploy(version: str) -> str:
        return f"deployed {version}"

    with guard, guard.agent("worker"):
        yield deploy


def test_a_question_is_told(receiver: Receiver, tmp_path: Path):
    hook = Webhook(receiver.url)
    with guarded(tmp_path, on_question=hook) as deploy:
        with pytest.raises(CallPending) as pending:
            deploy("1.0-secret")
        assert hook.flush(60)
    [(path, headers, body)] = receiver.got
    assert path == "/hooks/7?team=a"
    assert headers["Content-Type"] == "application/json"
    told = json.loads(body)
    assert (told["event"], told["approval"]) == ("asked", pending.value.approval)
    assert told["ask"]["agent"] == "worker"
    assert told["ask"]["tool"] == "deploy"
    assert told["ask"]["tier"] == 4
    assert b"1.0-secret" not in body
    assert "Remit-Signature" not in headers
    assert (hook.sent, hook.failed, hook.dropped, hook.last_error) == (1, 0, 0, None)


def test_arguments_only_if_asked_for(receiver: Receiver, tmp_path: Path):
    hook = Webhook(receiver.url, arguments=True)
    with guarded(tmp_path, on_question=hook) as deploy:
        with pytest.raises(CallPending):
            deploy("1.0")
        assert hook.flush(60)
    assert json.loads(receiver.got[0][2])["arguments"] == {"version": "1.0"}


def test_no_arguments_where_they_are_gone(receiver: Receiver):
    hook = Webhook(receiver.url, arguments=True)
    hook(asked())
    assert hook.flush(60)
    assert json.loads(receiver.got[0][2])["arguments"] is None


def test_it_is_signed(receiver: Receiver):
    hook = Webhook(receiver.url, SECRET)
    hook(asked())
    assert hook.flush(60)
    _, headers, body = receiver.got[0]
    stamp, signed = headers["Remit-Timestamp"], headers["Remit-Signature"]
    assert signed == signature(SECRET.encode(), stamp, body)
    assert is_genuine(SECRET, stamp, body, signed)
    assert not is_genuine("another", stamp, body, signed)
    assert not is_genuine(SECRET, stamp, body + b" ", signed)
    assert not is_genuine(SECRET, str(int(stamp) + 1), body, signed)
    assert not is_genuine(SECRET, stamp, body, signed, now=time.time() + 301)
    assert not is_genuine(SECRET, "now", body, signed)
    assert not is_genuine("", stamp, body, signed)


def test_nothing_in_it_is_invisible(receiver: Receiver):
    hook = Webhook(receiver.url)
    hook(asked(statement={"intent": "tidy\u202e up"}))
    assert hook.flush(60)
    assert receiver.got[0][2].isascii()
    assert json.loads(receiver.got[0][2])["ask"]["statement"]["intent"] == "tidy\u202e up"


def test_a_question_is_told_once(receiver: Receiver, tmp_path: Path):
    hook = Webhook(receiver.url)
    with guarded(tmp_path, on_question=hook) as deploy:
        for _ in range(3):
            with pytest.raises(CallPending):
                deploy("1")
        assert hook.flush(60)
    assert len(receiver.got) == 1


def test_what_the_receiver_says_is_no_answer(receiver: Receiver, tmp_path: Path):
    receiver.status = 200
    with guarded(tmp_path, on_question=Webhook(receiver.url)) as deploy:
        for _ in range(2):
            with pytest.raises(CallPending):
                deploy("1")


def test_a_failure_is_counted_and_tried_again_with_the_call(receiver: Receiver):
    receiver.status = 500
    hook = Webhook(receiver.url)
    hook(asked())
    assert hook.flush(60)
    assert (hook.sent, hook.failed) == (0, 1)
    assert hook.last_error == "A-1: OSError: the receiver answered 500"
    receiver.status = 204
    hook(asked())
    assert hook.flush(60)
    assert (hook.sent, hook.failed) == (1, 1)


def test_redirects_are_not_followed(receiver: Receiver):
    other = Receiver()
    try:
        receiver.status, receiver.location = 307, other.url
        hook = Webhook(receiver.url, SECRET)
        hook(asked())
        assert hook.flush(60)
        assert (hook.sent, hook.failed) == (0, 1)
        assert hook.last_error == "A-1: OSError: the receiver answered 307"
        assert (len(receiver.got), other.got) == (1, [])
    finally:
        other.close()


def test_no_proxy_of_the_environment(receiver: Receiver, monkeypatch: pytest.MonkeyPatch):
    other = Receiver()
    try:
        monkeypatch.setenv("http_proxy", other.url)
        hook = Webhook(receiver.url)
        hook(asked())
        assert hook.flush(60)
        assert (len(receiver.got), other.got) == (1, [])
    finally:
        other.close()


def test_a_hanging_receiver_holds_up_no_call(receiver: Receiver, tmp_path: Path):
    receiver.slow = 600
    hook = Webhook(receiver.url, timeout=0.5)
    with guarded(tmp_path, on_question=hook) as deploy:
        with pytest.raises(CallPending):
            deploy("1")
        with pytest.raises(CallPending):
            deploy("2")
        assert hook.flush(60)
    assert (hook.sent, hook.failed) == (0, 2)


def test_a_receiver_that_drips_is_cut_off(receiver: Receiver):
    receiver.drip = True
    hook = Webhook(receiver.url, timeout=0.5)
    hook(asked())
    assert hook.flush(60)
    assert (hook.sent, hook.failed) == (0, 1)


def test_nobody_listens():
    silent = Receiver()
    url = silent.url
    silent.close()
    hook = Webhook(url)
    hook(asked())
    assert hook.flush(60)
    assert hook.failed == 1
    assert hook.last_error is not None
    assert hook.last_error.startswith("A-1: ConnectionRefusedError")


def test_the_queue_is_bounded(receiver: Receiver):
    receiver.slow = 600
    hook = Webhook(receiver.url, timeout=30)
    hook(asked(0))
    while not receiver.got:
        time.sleep(0.01)  # until the first one is with the receiver
    for number in range(QUEUE + 20):
        hook(asked(number + 1))
    assert hook.dropped == 20
    assert hook.last_error == f"more than {QUEUE} questions wait to be sent"
    assert not hook.flush(0.05)
    receiver.slow = 0
    receiver.release.set()
    assert hook.flush(60)
    assert (hook.sent, hook.dropped) == (QUEUE + 1, 20)


def test_after_a_fork(receiver: Receiver):
    hook = Webhook(receiver.url)
    hook(asked(1))
    assert hook.flush(60)
    child = os.fork()
    if child == 0:
        hook(asked(2))
        os._exit(0 if hook.flush(60) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert [json.loads(body)["approval"] for _, _, body in receiver.got] == ["A-1", "A-2"]


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example/x",
        "file:///etc/passwd",
        "https://",
        "https:///x",
        "a.example/x",
        "https://ann:pw@a.example/",
        "https://a.example:99999/",
        "https://a.example/\r\nX: y",
        "https://a.example/a b",
        "https://ä.example/",
        "http://[::1/x",
        "",
    ],
)
def test_urls_that_are_none(url: str):
    with pytest.raises(GuardError) as refused:
        Webhook(url)
    assert refused.value.code == "bad-webhook"


def test_no_empty_secret_and_no_time():
    for more in ({"secret": ""}, {"secret": b""}, {"timeout": 0}, {"timeout": float("nan")}):
        with pytest.raises((GuardError, ArgumentError)):
            Webhook("https://a.example/", **more)
