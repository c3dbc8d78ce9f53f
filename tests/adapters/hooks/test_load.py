"""Many at once, and a daemon that comes and goes: every answer is one, and the ledger has each call and its end."""

from __future__ import annotations

import json
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from remit.adapters.hooks.client import SOCKET
from tests.adapters.hooks.project import HOST, JSON, Project, stop


def asked(place: str, said: JSON) -> Any:
    """One question over the socket, as the client asks it."""
    data, mark = json.dumps(said).encode(), os.urandom(8).hex()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(20)
        link.connect(place)
        link.sendall(f"remit-hook 2 {HOST} attended {mark} {len(data)}\n".encode() + data)
        found = bytearray()
        while chunk := link.recv(65536):
            found += chunk
    head, _, body = bytes(found).partition(b"\n")
    assert head == f"remit-hook 2 {mark} 0 {len(body)} 0".encode()
    return json.loads(body)


def decision_of(answer: Any) -> str:
    return str(answer.get("hookSpecificOutput", {}).get("permissionDecision", "-"))


def test_two_hundred_at_once(project: Project):
    questions = [
        project.question("Bash", {"command": f"echo {number}"})
        if number % 2
        else project.question("Write", {"file_path": f"docs/{number}.md", "content": "x"}, "researcher")
        for number in range(200)
    ]
    with project.serving():
        # The path of a socket is short; threads can't change the working directory.
        folder = os.open(project.state, os.O_RDONLY)
        place = f"/proc/self/fd/{folder}/{SOCKET}"
        with ThreadPoolExecutor(8) as pool:
            answers = [decision_of(one) for one in pool.map(lambda one: asked(place, one), questions)]
            assert answers == ["deny", "allow"] * 100
            reports = [project.report(one, {}) for one in questions[1::2]]
            assert list(pool.map(lambda one: asked(place, one), reports)) == [{}] * 100
        os.close(folder)
    check(project, questions, answers, reported=True)


@pytest.mark.more
def test_a_daemon_that_comes_and_goes(project: Project):
    questions = [project.question("Bash", {"command": f"echo {number}"}) for number in range(48)]
    processes = [project.serve()]
    with ThreadPoolExecutor(4) as pool:
        said = [pool.submit(project.run, one) for one in questions]
        for _ in range(3):
            time.sleep(0.6)
            assert stop(processes[-1]) == 0
            time.sleep(0.3)
            processes.append(project.serve())
        found = [one.result() for one in said]
        stop(processes[-1])
    assert [(one.code, one.decision) for one in found] == [(0, "allow")] * 48, "it is stopped without a loss"
    check(project, questions, [one.decision for one in found], reported=False)


def check(project: Project, questions: list[JSON], answers: list[str], *, reported: bool) -> None:
    """The ledger has each call once, as it was answered, and verifies."""
    project.verify()
    intents = {one["call"]: one["decision"] for one in project.calls() if one["type"] == "intent"}
    assert intents == {project.call_id(one): answer for one, answer in zip(questions, answers, strict=True)}
    assert len([one for one in project.calls() if one["type"] == "intent"]) == len(questions)
    running = [] if reported else sorted(project.call_id(one) for one in questions)
    assert sorted(project.running()) == running
