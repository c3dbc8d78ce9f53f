"""A policy that comes into force: who did it, and what in it weakens enforcement."""

from __future__ import annotations

import json
from pathlib import Path

from remit.compile import build_rulebook
from remit.record.open import open_ledger
from remit.record.policy import record_weakenings
from remit.record.reader import entries
from remit.record.sink import FileSink
from remit.record.writer import Ledger

POLICY = {
    "remit": 1,
    "name": "loose",
    "use": ["claude-code"],
    "unsafe_unprotect": [".vscode/settings.json"],
    "agents": {
        "new": {"may": ["Read"], "enforce": {"observe": {"until": "2026-12-01"}}},
        "old": {"may": [{"Bash": {"shell": {"run": [{"mytool": {"unsafe_any_arguments": True}}, "ls"]}}}]},
    },
}


def test_what_weakens(tmp_path: Path) -> None:
    rulebook = build_rulebook(POLICY)
    with open_ledger(tmp_path, point="cli", state=tmp_path / "state") as opened:
        with opened.store.write() as change:
            record_weakenings(change, rulebook, at=0, writer="w")
        with opened.store.read() as view:
            found = [entry.data for entry in entries(view)]
    assert [(one["type"], one.get("what"), one.get("agent")) for one in found] == [
        ("unsafe", "unsafe_unprotect: .vscode/settings.json", None),
        ("observe", None, "new"),
        ("unsafe", "unsafe_any_arguments", "old"),
    ]
    assert {one["policy"] for one in found} == {rulebook.hash}
    assert found[1]["until"] == "2026-12-01T00:00:00Z"


def test_a_second_sink_gets_every_entry(tmp_path: Path) -> None:
    with open_ledger(tmp_path, point="cli", state=tmp_path / "state") as opened:
        ledger = Ledger(opened.store, point="cli", sink=FileSink(tmp_path / "second.jsonl"))
        ledger.event("review", {"by": "anna"})
        ledger.event("halt", {"agent": "x"})
        ledger.close()
        broken = Ledger(opened.store, point="cli", sink=FileSink(tmp_path / "missing" / "second.jsonl"))
        assert broken.event("resume", {"agent": "x"}).seq == 2
        broken.close()
        assert broken.sink_errors == 1
        with opened.store.read() as view:
            stored = [(entry.seq, entry.data) for entry in entries(view, before=2)]
    lines = [json.loads(line) for line in (tmp_path / "second.jsonl").read_text().splitlines()]
    assert [(line["seq"], line["entry"]) for line in lines] == stored
