"""Row 1 at every point and on both stores: killed at any moment, nothing that was acknowledged is lost, and no tool of
tier 1 or above ran without its entry."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import psycopg
import pytest

from remit.record.audit import audit
from remit.record.open import open_ledger
from tests.adapters.hooks.project import POLICY, Project
from tests.faults.test_every_way_in import OnPostgres
from tests.postgres import Postgres
from tests.record.project import deny

WRITE = {"file_path": "docs/new.md", "content": "New.\n"}
KILLER = Path(__file__).with_name("killer.py")
POINTS = ("guard", "async guard", "hook", "daemon", "command")
ON_EACH = {"guard": 175, "async guard": 175, "hook": 75, "daemon": 50, "command": 25}
"""How often each is killed, on each of two stores: 1,000 kills."""


@pytest.fixture(params=["sqlite", "postgres"])
def project(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Project:
    policy = {**POLICY, "unsafe_no_credential": True}
    if request.param == "sqlite":
        return Project(tmp_path, policy)
    server: Postgres = request.getfixturevalue("postgres")
    monkeypatch.setenv("REMIT_STORE", server.uri_of(server.new_database()))
    return OnPostgres(tmp_path, policy)


def kill(project: Project, point: str, count: int, seed: int) -> dict[str, Any]:
    """What the killed ones were told."""
    with open_ledger(project.root, point="test", state=project.state) as opened:
        seqs = [deny(opened, args={"file": "a.md"}).seq for _ in range(100 * count)]
    plan = {
        "point": point,
        "count": count,
        "seed": seed,
        "seqs": seqs,
        "folder": str(project.folder),
        "state": str(project.state),
        "policy": str(project.root / "remit.yaml"),
        "hook": project.command,
        "questions": [project.question("Write", WRITE) for _ in range(100 * count)],
        "environment": project.environment(),
    }
    env = {**os.environ, "XDG_STATE_HOME": str(project.folder / "state")}
    words, said = [sys.executable, str(KILLER)], json.dumps(plan)
    done = subprocess.run(words, input=said, capture_output=True, text=True, env=env, timeout=3600, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def numbers(project: Project) -> set[int]:
    """The calls of guards that have an intent which allows, by the number that they were made with."""
    sql = "SELECT seq, value FROM secret WHERE path LIKE '%n'"
    if isinstance(project, OnPostgres):
        with psycopg.connect(project.url) as server:
            rows = server.execute(sql.replace("secret", "remit.secret").replace("%", "%%").encode()).fetchall()
    else:
        link = sqlite3.connect(project.state / "remit.db")
        rows = link.execute(sql).fetchall()
        link.close()
    allowed = {
        seq for seq, one in enumerate(project.entries()) if one["type"] == "intent" and one["decision"] == "allow"
    }
    return {found for seq, value in rows if seq in allowed and isinstance(found := json.loads(bytes(value)), int)}


def check(project: Project, found: dict[str, Any]) -> None:
    """Whoever opens next finds all of it, and closes what was left open."""
    with open_ledger(project.root, point="test", state=project.state) as opened:
        assert opened.ledger.recover() == 0, "opening has recovered what there was"
        opened.checkpoint()
        report = audit(opened.log, opened.signer, canonical=True)
        assert report.problems == ()
    entries = project.entries()
    recorded = numbers(project)
    assert set(found["ran"]) <= recorded, "a tool ran without its entry"
    if found["ran"]:
        assert set(found["told"]) <= set(found["ran"])
    let = {one["call"] for one in entries if one["type"] == "intent" and one["decision"] == "allow"}
    assert set(found["hooks"]) <= let, "a call was let run without its entry"
    answered = Counter(one["intent"] for one in entries if one["type"] == "outcome")
    assert set(answered.values()) <= {1}


def run(project: Project, point: str, count: int, seed: int) -> None:
    found = kill(project, point, count, seed)
    check(project, found)
    if point == "command":
        runs = [run for one in project.entries() if one["type"] == "erasure" for run in one["entries"]]
        erased = {seq for first, last in runs for seq in range(first, last + 1)}
        assert set(found["told"]) <= erased, "a command said that it had erased"
    assert found["kills"] == count
    told = len(found["told"]) + len(found["hooks"])
    print(f"{point}: {found['kills']} kills, {len(found['ran'])} ran, {told} acknowledged, 0 lost")


@pytest.mark.more
@pytest.mark.parametrize("point", POINTS)
def test_killed(project: Project, point: str):
    run(project, point, 6, seed=1)


@pytest.mark.long
def test_a_thousand_kills_over_all_points(project: Project):
    """Half of them: each store has its own."""
    for seed, (point, count) in enumerate(ON_EACH.items(), 2):
        run(project, point, count, seed)
