"""`remit ledger stream` and what `status` says of streams, with the activated policy."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from remit.record.open import open_ledger
from remit.record.stream import Place, keep_place
from tests.record.listeners import http_collector
from tests.record.project import deny
from tests.service.kit import POLICY, Hooked, make


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hooked:
    return make(tmp_path, capsys, monkeypatch)


def streams(project: Hooked, **to: str) -> Hooked:
    section = "".join(f'    {name}: {{to: "{where}"}}\n' for name, where in to.items())
    project.remit.policy(f"{POLICY}\nledger:\n  streams:\n{section}")
    return project.activated().installed()


def test_once_delivers_and_says_so(project: Hooked, tmp_path: Path):
    streams(project, here=f"file:{tmp_path}/e")
    waiting = project.remit("ledger", "stream", "--json").json
    assert [(one["name"], one["next"], one["error"]) for one in waiting] == [("here", 0, None)]
    assert waiting[0]["waiting"] > 0
    ran = project.remit("ledger", "stream", "--once")
    assert (ran.code, "all delivered" in ran.out) == (0, True)
    events = [json.loads(line) for line in (tmp_path / "e").read_text().splitlines()]
    assert [event["metadata"]["sequence"] for event in events] == list(range(waiting[0]["waiting"]))
    assert project.status(code=0)["ledger"]["streams"][0]["waiting"] == 0
    assert "stream here → file:" in project.text().out


def test_a_failing_stream_is_said_everywhere(project: Hooked, tmp_path: Path):
    streams(project, bad=f"file:{tmp_path}/none/e", good=f"file:{tmp_path}/e")
    ran = project.remit("ledger", "stream", "--once")
    assert ran.code == 1
    assert "can't be written" in ran.out
    assert (tmp_path / "e").stat().st_size > 0, "the others go on"
    found = project.status(code=1)
    assert [one["code"] for one in found["findings"] if one["level"] == "fault"] == ["stream-failed"]
    assert project.remit("ledger", "stream", "--name", "good").code == 0
    assert project.remit("ledger", "stream", "--name", "god").code == 2
    assert project.remit("ledger", "stream", "--once", "--follow").code == 2


def test_without_streams_it_says_how(project: Hooked):
    project.activated()
    assert "has no streams" in project.remit("ledger", "stream").out


def test_follow_goes_on_until_it_is_stopped(project: Hooked):
    with http_collector() as (collector, port):
        streams(project, siem=f"http://127.0.0.1:{port}/in")
        collector.answers = [500]
        words = [sys.executable, "-m", "remit", "ledger", "stream", "--follow"]
        process = subprocess.Popen(words, cwd=project.root, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            end = time.monotonic() + 30
            while not collector.events and time.monotonic() < end:
                time.sleep(0.05)
            before = len(collector.events)
            assert before > 0
        finally:
            process.send_signal(signal.SIGTERM)
            out, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert b"all delivered" in out


def test_the_daemon_delivers(project: Hooked, monkeypatch: pytest.MonkeyPatch):
    from remit.record import stream as module
    from remit.service.daemon import Daemon

    monkeypatch.setattr(module, "EVERY", 0.05)
    with http_collector() as (collector, port):
        streams(project, siem=f"http://127.0.0.1:{port}/in")
        with Daemon(project.root, lambda host, answer: None, on_fault=print) as daemon:
            thread = threading.Thread(target=daemon.serve, daemon=True)
            thread.start()
            end = time.monotonic() + 20
            while "start" not in [one["metadata"]["event_code"] for one in collector.events]:
                assert time.monotonic() < end
                time.sleep(0.02)


def test_a_stream_that_never_ran_holds_archiving_back(project: Hooked, tmp_path: Path):
    streams(project, here=f"file:{tmp_path}/e")
    with open_ledger(project.root, point="test") as opened:
        for _ in range(300):
            deny(opened)
        opened.checkpoint()
    words = ("ledger", "archive", "--keep", "0", "--to", str(tmp_path / "old"))
    ran = project.remit(*words)
    assert (ran.code, "`here` has delivered only the first 0 entries" in ran.out) == (0, True)
    assert not (tmp_path / "old").exists()
    assert project.remit("ledger", "stream", "--once").code == 0
    assert "archived entries 0 to 255" in project.remit(*words).out
    assert project.remit("ledger", "verify").code == 0


def test_a_stream_that_the_policy_no_longer_has_holds_nothing_back(project: Hooked, tmp_path: Path):
    project.activated()
    with open_ledger(project.root, point="test") as opened:
        keep_place(opened.store, "gone", Place(3))
        for _ in range(600):
            deny(opened)
        opened.checkpoint()
    words = ("ledger", "archive", "--keep", "0", "--to", str(tmp_path / "old"), "--dry-run")
    assert "512 entries would be archived" in project.remit(*words).out
    without_policy = project.remit(*words, "--state", str(project.state)).out
    assert "`gone` has delivered only" in without_policy, "nobody knows that it is gone"
