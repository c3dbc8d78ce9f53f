"""Anchors: what is pushed is found again, and what is not ours is refused."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from remit.record.anchor import Anchor, AnchorError, AnchorMalformed, configure, configured
from remit.record.anchors import http, open_anchor
from remit.record.errors import LedgerError
from remit.record.log import Log
from remit.record.note import MAX_NOTE
from tests.record.project import Project, deny


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def two_notes(project: Project) -> tuple[Log, bytes, bytes]:
    """Checkpoints at 1 and 3 entries. The log's store is closed, which these anchors don't need."""
    with project.open() as opened:
        deny(opened)
        first = opened.checkpoint()
        deny(opened)
        deny(opened)
        return opened.log, first, opened.checkpoint()


class Keeper(BaseHTTPRequestHandler):
    """A server that keeps what is PUT, or misbehaves as told."""

    kept: bytes | None = None
    mood = "good"

    def do_PUT(self) -> None:
        type(self).kept = self.rfile.read(int(self.headers["Content-Length"]))
        self._say(201 if self.mood == "good" else 500, b"")

    def do_GET(self) -> None:
        if self.mood == "redirect":
            self.send_response(302)
            self.send_header("Location", "/elsewhere")
            self.end_headers()
        elif self.mood == "huge":
            self._say(200, b"x" * (MAX_NOTE + 1000))
        elif self.mood == "slow":
            self.send_response(200)
            self.end_headers()
            for _ in range(100):
                self.wfile.write(b"x")
                self.wfile.flush()
                time.sleep(0.05)
        else:
            self._say(404 if self.kept is None else 200, self.kept or b"")

    def _say(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def keeper() -> Iterator[tuple[type[Keeper], str]]:
    handler = type("Kept", (Keeper,), {})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield handler, f"http://127.0.0.1:{server.server_port}/anchors/one"
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["file", "git", "http"])
def anchor_name(request: pytest.FixtureRequest, tmp_path: Path, keeper: tuple[type[Keeper], str]) -> str:
    if request.param == "git":
        subprocess.run(["git", "init", "-q", "--bare", str(tmp_path / "anchors.git")], check=True)
        return f"git:{tmp_path}/anchors.git#remit"
    return f"file:{tmp_path}/kept" if request.param == "file" else keeper[1]


def test_what_is_pushed_is_found_again(project: Project, anchor_name: str):
    log, first, second = two_notes(project)
    anchor = open_anchor(anchor_name, log)
    assert anchor.last() is None
    anchor.push(first)
    assert anchor.last() == log.read(first)
    anchor.push(second)
    assert anchor.last() == log.read(second)
    assert open_anchor(anchor_name, log).last() == log.read(second)
    assert str(anchor.describe()).split(":")[0] == anchor_name.split(":")[0]


def test_a_checkpoint_of_another_log_is_not_taken_for_ours(
    project: Project, anchor_name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    log, _, _ = two_notes(project)
    (tmp_path / "other").mkdir()
    _, theirs, _ = two_notes(Project(tmp_path / "other", monkeypatch))
    anchor = open_anchor(anchor_name, log)
    anchor.push(theirs)
    with pytest.raises(AnchorMalformed):
        anchor.last()


def test_an_unsigned_checkpoint_is_refused(project: Project, anchor_name: str):
    log, first, _ = two_notes(project)
    anchor = open_anchor(anchor_name, log)
    anchor.push(first.replace(b"\n1\n", b"\n99\n"))
    with pytest.raises(AnchorMalformed):
        anchor.last()


class TestFile:
    def test_a_torn_end_does_not_hide_what_is_whole(self, project: Project, tmp_path: Path):
        log, first, second = two_notes(project)
        anchor = open_anchor(f"file:{tmp_path}/kept", log)
        anchor.push(second)
        whole = (tmp_path / "kept").read_bytes()
        for length in range(len(first)):
            (tmp_path / "kept").write_bytes(whole + first[:length])
            assert anchor.last() == log.read(second), length
        anchor.push(first)
        assert anchor.last() == log.read(second), "the largest counts"
        (tmp_path / "kept").write_bytes(first[:40])
        anchor.push(second)
        assert anchor.last() == log.read(second), "a push after a torn one is found"

    def test_only_the_end_of_a_long_file_is_read(self, project: Project, tmp_path: Path):
        log, first, second = two_notes(project)
        with (tmp_path / "kept").open("wb") as file:
            for _ in range(20_000):
                file.write(first + b"\n")
        anchor = open_anchor(f"file:{tmp_path}/kept", log)
        anchor.push(second)
        begun = time.process_time()
        assert anchor.last() == log.read(second)
        assert time.process_time() - begun < 5

    def test_what_is_no_file_is_not_followed(self, project: Project, tmp_path: Path):
        log, first, _ = two_notes(project)
        (tmp_path / "target").write_bytes(b"")
        (tmp_path / "link").symlink_to(tmp_path / "target")
        os.mkfifo(tmp_path / "pipe")
        for name in ("link", "pipe", "no/such/folder/kept"):
            anchor = open_anchor(f"file:{tmp_path}/{name}", log)
            with pytest.raises(AnchorError):
                anchor.push(first)
            with pytest.raises(AnchorError):
                anchor.last()
        assert (tmp_path / "target").read_bytes() == b""


class TestGit:
    @pytest.fixture
    def repository(self, tmp_path: Path) -> Path:
        subprocess.run(["git", "init", "-q", str(tmp_path / "repo")], check=True)
        return tmp_path / "repo"

    def git(self, repository: Path, *words: str) -> str:
        ran = subprocess.run(["git", "-C", str(repository), *words], check=True, capture_output=True, text=True)
        return ran.stdout.strip()

    def test_hooks_and_configuration_are_not_run(self, project: Project, repository: Path, tmp_path: Path):
        log, first, _ = two_notes(project)
        for name in ("reference-transaction", "pre-commit", "post-commit", "post-update", "update"):
            hook = repository / ".git" / "hooks" / name
            hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
            hook.chmod(0o755)
        self.git(repository, "config", "core.fsmonitor", f"touch {tmp_path}/ran; false")
        self.git(repository, "config", "commit.gpgSign", "true")
        open_anchor(f"git:{repository}#anchors", log).push(first)
        assert not (tmp_path / "ran").exists()
        assert self.git(repository, "log", "--format=%s", "anchors") == "Checkpoint of 1 entries"

    def test_each_push_is_a_commit_on_the_last(self, project: Project, repository: Path):
        log, first, second = two_notes(project)
        anchor = open_anchor(f"git:{repository}", log)
        anchor.push(first)
        anchor.push(second)
        assert self.git(repository, "rev-list", "--count", "remit-ledger") == "2"
        assert self.git(repository, "show", "remit-ledger~1:checkpoint").encode() == first.strip()
        assert list(repository.iterdir()) == [repository / ".git"], "no working tree is touched"

    def test_a_branch_with_other_files_is_left_alone(self, project: Project, repository: Path):
        log, first, _ = two_notes(project)
        (repository / "README").write_text("ours")
        self.git(repository, "add", ".")
        self.git(repository, "-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "work")
        branch = self.git(repository, "symbolic-ref", "--short", "HEAD")
        before = self.git(repository, "rev-parse", branch)
        anchor = open_anchor(f"git:{repository}#{branch}", log)
        for act in (anchor.last, lambda: anchor.push(first)):
            with pytest.raises(AnchorMalformed, match="something other than checkpoints"):
                act()
        assert self.git(repository, "rev-parse", branch) == before

    def test_no_repository_is_an_anchor_that_is_not_reached(self, project: Project, tmp_path: Path):
        log, first, _ = two_notes(project)
        (tmp_path / "plain").mkdir()
        for name in ("plain", "nothing"):
            with pytest.raises(AnchorError):
                open_anchor(f"git:{tmp_path}/{name}", log).push(first)


class TestSyslog:
    def test_one_line_with_the_whole_checkpoint(self, project: Project, tmp_path: Path):
        import base64

        log, first, _ = two_notes(project)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.bind(str(tmp_path / "log"))
            line.settimeout(5)
            anchor = open_anchor(f"syslog:{tmp_path}/log", log)
            anchor.push(first)
            said = line.recv(65_536).decode()
        assert said.startswith("<85>remit-ledger[")
        assert "\n" not in said
        assert f"origin={log.origin} size=1 " in said
        assert base64.b64decode(said.rpartition("note=")[2]) == first
        assert anchor.last() is None

    def test_nobody_listens(self, project: Project, tmp_path: Path):
        log, first, _ = two_notes(project)
        with pytest.raises(AnchorError):
            open_anchor(f"syslog:{tmp_path}/nobody", log).push(first)


class TestHttp:
    def anchor(self, project: Project, keeper: tuple[type[Keeper], str], mood: str) -> tuple[Anchor, bytes]:
        log, first, _ = two_notes(project)
        keeper[0].mood = mood
        return open_anchor(keeper[1], log), first

    def test_redirects_are_not_followed(self, project: Project, keeper: tuple[type[Keeper], str]):
        anchor, _ = self.anchor(project, keeper, "redirect")
        with pytest.raises(AnchorError, match="302"):
            anchor.last()

    def test_a_huge_answer_is_cut_off(self, project: Project, keeper: tuple[type[Keeper], str]):
        anchor, _ = self.anchor(project, keeper, "huge")
        with pytest.raises(AnchorError, match="more than"):
            anchor.last()

    def test_a_slow_answer_ends(
        self, project: Project, keeper: tuple[type[Keeper], str], monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(http, "TIMEOUT", 0.5)
        anchor, _ = self.anchor(project, keeper, "slow")
        with pytest.raises(AnchorError, match="too long"):
            anchor.last()

    def test_a_refusal_is_said(self, project: Project, keeper: tuple[type[Keeper], str]):
        anchor, note = self.anchor(project, keeper, "bad")
        with pytest.raises(AnchorError, match="500"):
            anchor.push(note)

    def test_nobody_listens(self, project: Project):
        log, first, _ = two_notes(project)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        with pytest.raises(AnchorError, match="can't be reached"):
            open_anchor(f"http://127.0.0.1:{port}/x", log).push(first)


@pytest.mark.parametrize(
    "spec",
    [
        "",
        "file:",
        "file:relative",
        "file:/a/../b",
        "file:/a\nb",
        "file:/a\x1b[31m",
        "git:relative#b",
        "git:/a#--upload-pack=x",
        "git:/a#../b",
        "git:/a#a..b",
        "git:/a#b c",
        "ftp://host/x",
        "http://example.org/x",
        "http://127.0.0.1.example.org/",
        "https://",
        "https://user:pw@host/",
        "https://host/?q=1",
        "https://host:99999/",
        "https://[::1/",
        "https://h\u00f6st/",
        "witness:https://host",
        "witness:https://host+name+00000000+AAAA",
        "syslog:relative",
        "file:/" + "x" * 3000,
    ],
)
def test_what_is_no_anchor_is_one_clear_error(project: Project, spec: str):
    log, _, _ = two_notes(project)
    with pytest.raises(LedgerError) as caught:
        open_anchor(spec, log)
    assert caught.value.code == "bad-anchor"
    assert "\n" not in str(caught.value)


def test_the_list_of_anchors_is_kept_in_the_store(project: Project):
    with project.open() as opened:
        with opened.store.read() as view:
            assert configured(view) == []
        configure(opened.store, ["syslog:", "file:/x"])
        configure(opened.store, ["file:/x"])
    with project.log() as again:
        with again.store.read() as view:
            assert configured(view) == ["file:/x"]
        with again.store.write() as change:
            change.run("UPDATE meta SET value = ? WHERE name = ?", b"{", "anchors")
        with again.store.read() as view, pytest.raises(LedgerError) as caught:
            configured(view)
    assert caught.value.code == "ledger-corrupt"
