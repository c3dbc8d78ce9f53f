"""Exports: complete, verifiable by others, and never half a file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.model.call import Context
from remit.record.errors import LedgerError
from remit.record.export import export_file, export_tiles, jsonl, ocsf
from remit.record.ocsf import event_of
from remit.record.reader import entry_at
from remit.record.verify import parse_keys, verify_export
from tests.record.project import Project, allow, deny


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    found = Project(tmp_path, monkeypatch)
    with found.open() as opened:
        first = allow(opened, args={"file": "a.md"}, tool="read", effects=("read",), context=Context(session="s1"))
        opened.ledger.outcome(first.call, "failed", error="not found", took=12)
        deny(opened, args={"file": "b\u202e.md"}, effects=("read", "write"), tier=3, rule="remit.yaml:3:5")
        allow(opened, args={}, tier=2, would="deny", effects=("delete",))
        opened.ledger.event("activation", {"policy": "sha256:0"})
        opened.checkpoint()
    return found


def lines(data: Iterator[bytes]) -> list[Any]:
    return [json.loads(line) for line in data]


def test_jsonl_is_the_entries_themselves(project: Project):
    with project.log() as opened, opened.store.read() as view:
        found = lines(jsonl(view, 0, 99, values=True))
        assert [line["seq"] for line in found] == [0, 1, 2, 3, 4]
        assert [line["entry"] for line in found] == [entry_at(view, seq).data for seq in range(5)]
        assert found[2]["values"] == {"args.file": "b\u202e.md"}
        assert "values" not in lines(jsonl(view, 2, 3, values=False))[0]
        assert all(line.isascii() for line in jsonl(view, 0, 99, values=True))


def test_tiles_are_what_others_verify(project: Project, tmp_path: Path):
    project.fill(300)  # and the outcome of the call that was left running
    with project.log() as opened:
        keys = parse_keys(verifier.vkey for verifier in opened.log.verifiers)
        opened.checkpoint()
        with opened.store.read() as view:
            seen: list[int] = []
            assert export_tiles(view, opened.log, tmp_path / "out", seen.append) == 306
    assert verify_export(tmp_path / "out", keys, entries=True).ok
    assert seen[-1] == 306


def test_a_log_that_was_never_signed_has_no_tiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    project = Project(tmp_path, monkeypatch)
    project.open().close()
    with project.log() as opened, opened.store.read() as view, pytest.raises(LedgerError) as caught:
        export_tiles(view, opened.log, tmp_path / "out")
    assert caught.value.code == "not-signed"
    assert not (tmp_path / "out").exists()


def test_half_an_export_never_gets_the_name(tmp_path: Path):
    def broken() -> Iterator[bytes]:
        yield b"one\n"
        raise LedgerError("the log can't be read on")

    (tmp_path / "there").write_text("old")
    for name in ("there", "new"):
        with pytest.raises(LedgerError):
            export_file(tmp_path / name, broken())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"there": "old"}
    with pytest.raises(LedgerError, match="can't be written"):
        export_file(tmp_path / "no" / "folder", iter([b"x"]))
    with pytest.raises(LedgerError, match="can't be written"):
        export_file(Path(os.devnull) / "x", iter([b"x"]))


def test_an_ocsf_event_of_each_kind(project: Project):
    with project.log() as opened, opened.store.read() as view:
        read, outcome, denied, observed, event = lines(ocsf(view, 0, 99, "x"))
        entry = entry_at(view, 2).data
    for found in (read, outcome, denied, observed, event):
        needed = {"activity_id", "actor", "api", "category_uid", "class_uid", "metadata", "severity_id"}
        assert needed | {"src_endpoint", "time", "type_uid"} <= set(found)
        assert found["type_uid"] == 6003 * 100 + found["activity_id"]
        assert (found["category_uid"], found["class_uid"]) == (6, 6003)
        assert found["time"] > 1_700_000_000_000
    assert (read["activity_id"], read["action_id"], read["disposition_id"], read["severity_id"]) == (2, 1, 1, 2)
    assert read["actor"]["session"] == {"uid": "s1"}
    assert (outcome["status_id"], outcome["status_detail"], outcome["duration"]) == (2, "not found", 12)
    assert outcome["api"]["request"] == read["api"]["request"], "the same call"
    assert (denied["activity_id"], denied["action_id"], denied["disposition"], denied["severity"]) == (
        3,
        2,
        "Blocked",
        "High",
    )
    assert denied["actor"]["user"]["name"] == "writer"
    assert denied["api"]["operation"] == "write"
    assert denied["firewall_rule"] == {"uid": "remit.yaml:3:5"}
    assert denied["unmapped"]["args"] == entry["args"]
    assert (observed["activity_id"], observed["action"], observed["disposition"]) == (4, "Allowed", "No Action")
    assert observed["unmapped"]["would"] == "deny"
    assert (event["activity_id"], event["activity_name"], event["api"]["operation"]) == (
        99,
        "activation",
        "remit.activation",
    )


def test_an_entry_of_nonsense_is_still_an_event():
    for entry in ({}, {"type": "intent", "tier": "x", "effects": 7, "at": "never"}, {"type": "outcome", "result": []}):
        found = event_of(0, entry, "x")
        assert found["class_uid"] == 6003
        assert found["time"] == 0
