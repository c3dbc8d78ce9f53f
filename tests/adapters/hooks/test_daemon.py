"""A daemon that is slow, wrong, killed or gone: nothing runs that nobody allowed."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remit.adapters.hooks.client import SOCKET
from tests.adapters.hooks.project import Project, stop

READ = {"file_path": "README.md"}


@contextmanager
def listening(project: Project, act: Callable[[socket.socket], None]) -> Iterator[None]:
    """Something else on the daemon's socket."""
    here = Path.cwd()
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    os.chdir(project.state)
    try:
        server.bind(SOCKET)
    finally:
        os.chdir(here)
    server.listen(1)

    def serve() -> None:
        link, _ = server.accept()
        with link:
            act(link)

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join(20)
        server.close()
        (project.state / SOCKET).unlink()


ALLOW = b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'


def opening(link: socket.socket) -> bytes:
    return link.recv(1 << 20).split(b" ")[4]


def junk_answer(link: socket.socket) -> None:
    opening(link)
    link.sendall(b"HTTP/1.1 200 OK\r\n\r\n{}")


def another_mark(link: socket.socket) -> None:
    opening(link)
    link.sendall(b"remit-hook 2 %s 0 %d 0\n" % (b"0" * 16, len(ALLOW)) + ALLOW)


def half_an_answer(link: socket.socket) -> None:
    link.sendall(b"remit-hook 2 %s 0 %d 0\n" % (opening(link), len(ALLOW)) + ALLOW[:40])


def too_much(link: socket.socket) -> None:
    link.sendall(b"remit-hook 2 %s 0 %d 0\n" % (opening(link), len(ALLOW)) + ALLOW + ALLOW)


def bare_answer(link: socket.socket) -> None:
    opening(link)
    link.sendall(ALLOW)


def no_answer(link: socket.socket) -> None:
    opening(link)


def not_even_read(link: socket.socket) -> None:
    pass


@pytest.mark.parametrize(
    "act",
    [junk_answer, another_mark, half_an_answer, too_much, bare_answer, no_answer, not_even_read],
    ids=lambda act: act.__name__,
)
@pytest.mark.sample(5)
def test_a_daemon_that_answers_wrongly(quiet: Project, act):
    with listening(quiet, act):
        quiet.ask("Read", READ).denied("remit serve", "(daemon-failed)")
    assert quiet.calls()[-1]["code"] == "daemon-failed"


def test_a_daemon_that_hangs(quiet: Project):
    def hang(link: socket.socket) -> None:
        while link.recv(1 << 20):
            pass

    with listening(quiet, hang):
        question = quiet.question("Read", READ)
        said = quiet.run(question, command=quiet.impatient(PATIENCE=0.5))
    said.denied("does not answer", "(daemon-failed)")
    with listening(quiet, hang):
        quiet.run(quiet.report(question, {}), command=quiet.impatient(PATIENCE=0.5)).nothing()


def test_a_daemon_that_is_gone(calm: Project):
    path = calm.state / SOCKET
    for make in (lambda: path.write_text("x"), lambda: path.mkdir(), lambda: path.symlink_to("nowhere")):
        make()
        assert calm.ask("Read", READ).decision == "allow"
        if path.is_dir():
            path.rmdir()
        else:
            path.unlink()


def test_a_daemon_that_was_killed(project: Project):
    process = project.serve()
    assert project.ask("Read", READ).decision == "allow"
    stop(process, signal.SIGKILL)
    assert (project.state / SOCKET).exists()
    assert project.ask("Read", READ).decision == "allow"
    with project.serving():
        assert project.ask("Read", READ).decision == "allow"
    assert not (project.state / SOCKET).exists()
    project.verify()


def test_a_daemon_killed_in_the_middle(project: Project):
    """It stops between its intent and its answer: the call does not run, and the ledger says so."""
    process = project.serve()
    question = project.question("Bash", {"command": "ls"})
    lock = sqlite3.connect(project.state / "remit.db", isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")  # so that it waits, having taken the question
    hook = subprocess.Popen(
        ["/bin/sh", "-c", project.command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=project.environment()
    )
    assert hook.stdin is not None
    hook.stdin.write(json.dumps(question).encode())
    hook.stdin.close()
    hook.stdin = None
    time.sleep(0.5)
    process.kill()
    process.wait()
    lock.execute("ROLLBACK")
    lock.close()
    out, _ = hook.communicate(timeout=20)
    assert json.loads(out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert project.calls()[-1]["code"] == "daemon-failed"
    assert project.running() == []
    stop(process)


def test_an_allow_that_nobody_heard_is_closed(quiet: Project):
    """The daemon let it run, and failed before it could say so."""
    question = quiet.question("Bash", {"command": "ls"})
    assert quiet.run(question).decision == "allow"  # stands for what the daemon wrote
    assert quiet.intent(question)["call"] in quiet.running()
    with listening(quiet, no_answer):
        quiet.run(question).denied("(daemon-failed)")
    assert (quiet.outcome(question)["result"], quiet.outcome(question)["error"]) == ("not-run", "daemon-failed")
    assert quiet.intent(question)["call"] not in quiet.running()


def test_a_daemon_whose_output_nobody_reads(project: Project):
    process = project.serve()
    assert process.stdout is not None
    reader = process.stdout.fileno()
    fcntl.fcntl(reader, fcntl.F_SETPIPE_SZ, 4096)
    for _ in range(60):
        assert project.ask("Read", READ).decision == "allow"
    assert stop(process) == 0


def test_stopping_is_quick(project: Project):
    process = project.serve()
    assert project.ask("Read", READ).decision == "allow"
    assert stop(process) == 0
