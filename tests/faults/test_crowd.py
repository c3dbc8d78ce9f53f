"""Many threads of several processes that use everything for the first time at the same moment: none crashes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.compile.file import write_rulebook
from remit.compile.tasks import task_from
from remit.model.rulebook import Rulebook
from tests.grant.world import authority, open_world
from tests.postgres import Postgres

CROWD = Path(__file__).with_name("crowd.py")
RULES: Rulebook = build_rulebook(
    {
        "remit": 1,
        "tools": {
            "look": {"args": {"path": "path"}, "does": {"read": "path"}},
            "term": {"args": {"command": "shell"}},
            "query": {"args": {"sql": "sql"}, "dialect": "sqlite"},
        },
        "agents": {"a": {"may": [{"look": {"path": "**"}}, "term", {"query": {"sql": {"select": ["t"]}}}]}},
    }
)


def _crowd(url: str | None, folder: Path, processes: int, threads: int, most: int) -> Counter[str]:
    """What came of it; the task allows `most` calls. A process that died of a signal fails the test."""
    store = open_world(url, folder)
    try:
        one = authority(store, folder)
        data = {"id": "T", "agent": "a", "goal": "g", "budget": {"calls": most}, "expires": "2099-01-01T00:00:00Z"}
        one.issue(RULES, task_from(RULES, data))
        write_rulebook(RULES, folder / "rulebook")
        command = [sys.executable, str(CROWD), url or "-", str(folder), str(threads)]
        started = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        ended = [(*process.communicate(timeout=500), process.returncode) for process in started]
        assert [code for _, _, code in ended] == [0] * processes, [err for _, err, _ in ended]
        found: Counter[str] = Counter()
        for out, _, _ in ended:
            found.update(json.loads(out))
        assert one.state("T").spent["calls"] == found["ran"]
        return found
    finally:
        store.close()


def test_twenty_threads_in_two_processes(tmp_path: Path) -> None:
    assert _crowd(None, tmp_path / "state", 2, 20, 30) == {"ran": 30, "budget-spent": 10}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_hundred_threads_in_five_processes(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    url = None
    if kind == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.uri_of(server.new_database())
    assert _crowd(url, tmp_path / "state", 5, 100, 450) == {"ran": 450, "budget-spent": 50}
