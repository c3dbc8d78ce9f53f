"""Streams: everything arrives, in order, whatever the destination does, and whoever is killed when."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.model.policy import Stream
from remit.record.errors import LedgerError
from remit.record.stream import Backlog, Delivery, StreamError, Streaming, alone, backlogs, place_of
from remit.record.streams import http, open_destination, syslog
from tests.postgres import Postgres
from tests.record.listeners import (
    certificate,
    http_collector,
    syslog_connections,
    syslog_datagrams,
)
from tests.record.project import Project, allow, deny

REQUIRED = {
    *("activity_id", "actor", "api", "category_uid", "class_uid", "metadata"),
    *("severity_id", "src_endpoint", "time", "type_uid"),
}
"""Of API Activity, in OCSF."""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "TIMEOUT", 1.0)
    monkeypatch.setattr(syslog, "TIMEOUT", 2.0)


def delivery(opened: Any, project: Project) -> Delivery:
    return Delivery(opened.store, opened.origin, project.state, open_destination)


def drain(opened: Any, project: Project, stream: Stream) -> int:
    return delivery(opened, project).drain(stream, threading.Event())


def look(opened: Any, stream: Stream) -> Backlog:
    with opened.store.read() as view:
        return backlogs(view, [stream])[0]


def sequence(events: list[dict[str, Any]]) -> list[int]:
    return [event["metadata"]["sequence"] for event in events]


def test_a_file_gets_every_event_once(project: Project, tmp_path: Path):
    project.fill(1200)
    to = tmp_path / "events"
    stream = Stream("here", f"file:{to}")
    with project.log() as opened:
        assert look(opened, stream).waiting == 1200
        assert drain(opened, project, stream) == 1200
        assert drain(opened, project, stream) == 0
        found = look(opened, stream)
        assert (found.next, found.waiting, found.error) == (1200, 0, None)
        origin = opened.origin
    events = [json.loads(line) for line in to.read_text().splitlines()]
    assert sequence(events) == list(range(1200))
    assert events[7]["metadata"]["uid"] == f"{origin}#7"
    assert to.stat().st_mode & 0o777 == 0o600


def test_every_event_has_what_ocsf_requires(project: Project, tmp_path: Path):
    with project.open() as opened:
        receipt = allow(opened, args={"file": "a"}, tier=1)
        opened.ledger.outcome(receipt.call, "done", took=3)
        deny(opened)
        opened.ledger.event("grant", {"who": "bob"}, {"why": "because"})
        opened.ledger.flush()
        drain(opened, project, Stream("here", f"file:{tmp_path}/e"))
    events = [json.loads(line) for line in (tmp_path / "e").read_text().splitlines()]
    assert len(events) == 4
    for event in events:
        assert event.keys() >= REQUIRED
        assert (event["category_uid"], event["class_uid"]) == (6, 6003)
        assert event["type_uid"] == 600_300 + event["activity_id"]
        assert event["activity_id"] in (1, 2, 3, 4, 99)
        assert event["severity_id"] in (1, 2, 3, 4, 5)
        assert event.get("action_id", 0) in (0, 1, 2)
        assert event["api"]["operation"]
        assert event["metadata"]["version"] == "1.3.0"
        assert event["metadata"]["product"]["vendor_name"]
        assert isinstance(event["time"], int)
        assert event["src_endpoint"]["name"]


def test_no_value_leaves_the_ledger(project: Project, tmp_path: Path):
    with project.open() as opened:
        deny(opened, args={"command": "mysql -phunter22", "file": "findable.md"})
        opened.ledger.event("grant", {"who": "bob"}, {"why": "findable reason"})
        drain(opened, project, Stream("here", f"file:{tmp_path}/e"))
    text = (tmp_path / "e").read_text()
    assert "hunter22" not in text
    assert "findable" not in text


def test_a_file_is_rotated_and_nothing_is_lost(project: Project, tmp_path: Path):
    project.fill(40)
    stream = Stream("here", f"file:{tmp_path}/e")
    with project.log() as opened:
        files = open_destination(stream)
        files.rotate = 3000  # type: ignore[attr-defined]
        one = Delivery(opened.store, opened.origin, project.state, lambda _: files)
        from remit.record import stream as module

        before, module.BATCH = module.BATCH, 7
        try:
            one.drain(stream, threading.Event())
        finally:
            module.BATCH = before
    found = sorted(tmp_path.glob("e.*"))
    assert len(found) > 2
    lines = [line for path in (*found, tmp_path / "e") for line in path.read_text().splitlines()]
    assert sequence([json.loads(line) for line in lines]) == list(range(40))
    assert int(found[0].name[2:]) == len(found[0].read_text().splitlines())


def test_only_so_many_finished_files_are_kept(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from remit.record import stream as module
    from remit.record.streams.file import FileDestination

    monkeypatch.setattr(module, "BATCH", 5)
    project.fill(40)
    (tmp_path / "e.notours").write_text("x")
    with project.log() as opened:
        files = FileDestination(f"{tmp_path}/e", rotate=1000, keep=2)
        Delivery(opened.store, opened.origin, project.state, lambda _: files).drain(
            Stream("here", f"file:{tmp_path}/e"), threading.Event()
        )
    assert len([path for path in tmp_path.glob("e.*") if path.name != "e.notours"]) == 2
    assert (tmp_path / "e.notours").exists()


def test_half_a_line_is_cut_off_before_it_goes_on(project: Project, tmp_path: Path):
    project.fill(3)
    stream = Stream("here", f"file:{tmp_path}/e")
    (tmp_path / "e").write_bytes(b'{"metadata":{"sequence":-1}}\n{"metadata":{"seq')
    with project.log() as opened:
        drain(opened, project, stream)
    assert sequence([json.loads(line) for line in (tmp_path / "e").read_text().splitlines()]) == [-1, 0, 1, 2]


def test_a_full_disk_is_said_and_loses_nothing(project: Project):
    project.fill(3)
    stream = Stream("full", "file:/dev/full")
    with project.log() as opened:
        with pytest.raises(StreamError, match=r"No space left|Invalid argument"):
            drain(opened, project, stream)
        found = look(opened, stream)
        assert (found.next, found.waiting) == (0, 3)
        assert found.error is not None
        assert "/dev/full" in found.error


@pytest.mark.parametrize("form", ["ndjson", "json"])
def test_an_http_collector(project: Project, monkeypatch: pytest.MonkeyPatch, form: Any):
    project.fill(700)
    monkeypatch.setenv("SIEM_TOKEN", "t0ken")
    with http_collector() as (collector, port), project.log() as opened:
        stream = Stream("siem", f"http://127.0.0.1:{port}/in?x=1", token="SIEM_TOKEN", form=form)
        assert drain(opened, project, stream) == 700
    assert sequence(collector.events) == list(range(700))
    path, head = collector.requests[0]
    assert (path, head["Authorization"]) == ("/in?x=1", "Bearer t0ken")
    assert head["Content-Type"] == ("application/x-ndjson" if form == "ndjson" else "application/json")


@pytest.mark.parametrize("answer", [500, 503, 429, 400, 302, 0], ids=str)
def test_a_collector_that_does_not_take_it_gets_it_again(project: Project, answer: int):
    project.fill(5)
    with http_collector() as (collector, port), project.log() as opened:
        stream = Stream("siem", f"http://127.0.0.1:{port}/in")
        collector.answers = [answer]
        with pytest.raises(StreamError):
            drain(opened, project, stream)
        found = look(opened, stream)
        assert (found.next, found.waiting) == (0, 5)
        assert found.error is not None
        assert str(answer or "closed") in found.error
        assert drain(opened, project, stream) == 5
        assert look(opened, stream).error is None
    assert sequence(collector.events) == [0, 1, 2, 3, 4]


def test_a_slow_collector_may_get_it_twice_but_never_not(project: Project):
    project.fill(5)
    with http_collector() as (collector, port), project.log() as opened:
        stream = Stream("siem", f"http://127.0.0.1:{port}/in")
        collector.answers = [-1]
        with pytest.raises(StreamError, match="timed out"):
            drain(opened, project, stream)
        drain(opened, project, stream)
        time.sleep(1)
    assert set(sequence(collector.events)) == {0, 1, 2, 3, 4}
    assert len({event["metadata"]["uid"] for event in collector.events}) == 5


def test_a_batch_that_is_too_large_is_halved(project: Project):
    project.fill(64)
    with http_collector() as (collector, port), project.log() as opened:
        collector.most = 9000
        assert drain(opened, project, Stream("siem", f"http://127.0.0.1:{port}/in")) == 64
    assert sorted(set(sequence(collector.events))) == list(range(64))


def test_tls_is_checked(project: Project, tmp_path: Path):
    project.fill(5)
    pair = certificate(tmp_path)
    with http_collector(pair) as (collector, port), project.log() as opened:
        for bad in (
            Stream("a", f"https://localhost:{port}/in"),
            Stream("b", f"https://127.0.0.1:{port}/in", ca=str(pair[0])),
        ):
            with pytest.raises(StreamError, match=r"certificate|CERTIFICATE|mismatch"):
                drain(opened, project, bad)
        assert collector.events == []
        with pytest.raises(StreamError, match="can't be read"):
            drain(opened, project, Stream("c", f"https://localhost:{port}/in", ca=str(tmp_path / "none.pem")))
        assert drain(opened, project, Stream("d", f"https://localhost:{port}/in", ca=str(pair[0]))) == 5
    assert sequence(collector.events) == [0, 1, 2, 3, 4]


def test_a_missing_token_is_said(project: Project, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("SIEM_TOKEN", raising=False)
    project.fill(1)
    stream = Stream("siem", "https://localhost:1/in", token="SIEM_TOKEN")
    with project.log() as opened:
        with pytest.raises(StreamError, match="SIEM_TOKEN"):
            drain(opened, project, stream)
        assert "SIEM_TOKEN" in str(look(opened, stream).error)


def test_nobody_listens(project: Project):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    project.fill(2)
    with project.log() as opened:
        for to in (f"http://127.0.0.1:{port}/", f"syslog+tcp://127.0.0.1:{port}", "syslog+unix:/nonexistent/log"):
            with pytest.raises(StreamError):
                drain(opened, project, Stream("x", to))
            assert look(opened, Stream("x", to)).waiting == 2


def eventually(check: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not check():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.02)


def test_syslog_over_udp_and_a_unix_socket(project: Project, tmp_path: Path):
    project.fill(30)
    with project.log() as opened:
        with syslog_datagrams() as (got, port):
            assert drain(opened, project, Stream("udp", f"syslog+udp://127.0.0.1:{port}")) == 30
            eventually(lambda: len(got.messages) == 30)
            assert sequence(got.events) == list(range(30))
        with syslog_datagrams(tmp_path / "log") as (got, _):
            assert drain(opened, project, Stream("unix", f"syslog+unix:{tmp_path}/log")) == 30
            eventually(lambda: len(got.messages) == 30)
            assert sequence(got.events) == list(range(30))


def test_an_event_too_large_for_a_datagram_is_shortened_and_says_so(project: Project):
    with project.open() as opened:
        opened.ledger.event("grant", {"who": "x" * 62_000}, {})
        with syslog_datagrams() as (got, port):
            drain(opened, project, Stream("udp", f"syslog+udp://127.0.0.1:{port}"))
            eventually(lambda: len(got.messages) == 1)
    assert got.events[0]["unmapped"] == {"remit_shortened": True}
    assert got.events[0].keys() >= REQUIRED


def test_syslog_over_tcp(project: Project):
    project.fill(1200)
    with syslog_connections() as (got, port), project.log() as opened:
        assert drain(opened, project, Stream("tcp", f"syslog+tcp://127.0.0.1:{port}")) == 1200
    assert sequence(got.events) == list(range(1200))


def test_a_connection_that_breaks_delivers_again(project: Project):
    project.fill(1200)
    with syslog_connections() as (got, port), project.log() as opened:
        stream = Stream("tcp", f"syslog+tcp://127.0.0.1:{port}")
        got.cut = 1
        with pytest.raises(StreamError):
            drain(opened, project, stream)
        assert look(opened, stream).next == 0
        drain(opened, project, stream)
    assert sequence(got.events) == list(range(1200))


def test_syslog_over_tls(project: Project, tmp_path: Path):
    project.fill(600)
    pair = certificate(tmp_path)
    with syslog_connections(pair) as (got, port), project.log() as opened:
        with pytest.raises(StreamError, match=r"certificate|CERTIFICATE"):
            drain(opened, project, Stream("bad", f"syslog+tls://localhost:{port}"))
        assert got.messages == []
        assert drain(opened, project, Stream("tls", f"syslog+tls://localhost:{port}", ca=str(pair[0]))) == 600
    assert sequence(got.events) == list(range(600))


def test_a_changed_entry_stops_the_stream(project: Project, tmp_path: Path):
    project.fill(5)
    project.harm(("UPDATE leaf SET body = ? WHERE seq = 3", b'{"type":"intent"}'))
    stream = Stream("here", f"file:{tmp_path}/e")
    with project.log() as opened:
        with pytest.raises(LedgerError, match="entry 3 was changed"):
            drain(opened, project, stream)
        assert "entry 3" in str(look(opened, stream).error)


def test_in_the_background_through_failures(project: Project, monkeypatch: pytest.MonkeyPatch):
    from remit.record import stream as module

    monkeypatch.setattr(module, "EVERY", 0.05)
    monkeypatch.setattr(module, "LONGEST", 0.2)
    with http_collector() as (collector, port), project.open() as opened:
        streams = [Stream("siem", f"http://127.0.0.1:{port}/in")]
        collector.answers = [500, 200, 0, 503, 503]
        running = Streaming(delivery(opened, project), lambda: streams)
        for _ in range(60):
            deny(opened)
        eventually(lambda: set(sequence(collector.events)) == set(range(60)))
        streams.clear()
        eventually(lambda: not running._threads)
        deny(opened)
        time.sleep(0.3)
        running.close()
        assert len(set(sequence(collector.events))) == 60


def test_two_on_one_machine_take_turns(project: Project):
    project.fill(1)
    with (
        alone(project.state, "a/b") as first,
        alone(project.state, "a/b") as second,
        alone(project.state, "c") as other,
    ):
        assert (first, second, other) == (True, False, True)


def test_a_place_never_goes_back(project: Project, tmp_path: Path):
    from remit.record.stream import Place, keep_place

    project.fill(3)
    with project.log() as opened:
        keep_place(opened.store, "x", Place(3))
        keep_place(opened.store, "x", Place(1))
        with opened.store.read() as view:
            assert place_of(view, "x").next == 3


KILLED = """
import sys, threading
from pathlib import Path
from remit.model.policy import Stream
from remit.record.open import open_log
from remit.record import stream as module
from remit.record.streams import open_destination
module.BATCH = 20
root, to, state = sys.argv[1:]
with open_log(Path(root)) as opened:
    print("ready", flush=True)
    one = module.Delivery(opened.store, opened.origin, Path(state), open_destination)
    one.drain(Stream("s", to), threading.Event())
print("done", flush=True)
"""


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["file", "http", "tcp"])
def test_killed_again_and_again_everything_arrives(project: Project, tmp_path: Path, kind: str):
    project.fill(600)
    script = tmp_path / "run.py"
    script.write_text(textwrap.dedent(KILLED))
    with http_collector() as (collector, web), syslog_connections() as (got, tcp):
        to = {
            "file": f"file:{tmp_path}/e",
            "http": f"http://127.0.0.1:{web}/in",
            "tcp": f"syslog+tcp://127.0.0.1:{tcp}",
        }[kind]
        kills = 0
        for wait in (*(0.003 * number for number in range(12)), None):
            words = [sys.executable, str(script), str(project.root), to, str(project.state)]
            process = subprocess.Popen(words, stdout=subprocess.PIPE, env=os.environ)
            assert process.stdout is not None
            process.stdout.readline()
            if wait is not None:
                time.sleep(wait)
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.communicate(timeout=60)
        events = got.events if kind == "tcp" else collector.events
        if kind == "file":
            events = [json.loads(line) for line in (tmp_path / "e").read_text().splitlines()]
    assert set(sequence(events)) == set(range(600))
    assert kills == 12


def test_on_postgres(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    project = Project(tmp_path, monkeypatch)
    monkeypatch.setenv("REMIT_STORE", postgres.uri_of(postgres.new_database()))
    with project.open() as opened, http_collector() as (collector, port):
        for _ in range(30):
            deny(opened)
        stream = Stream("siem", f"http://127.0.0.1:{port}/in")
        collector.answers = [500]
        with pytest.raises(StreamError):
            drain(opened, project, stream)
        assert drain(opened, project, stream) == 30
        assert look(opened, stream).waiting == 0
    assert sequence(collector.events) == list(range(30))
