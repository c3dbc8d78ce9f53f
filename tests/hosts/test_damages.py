"""State, keys, store and rulebook, damaged in front of the real Claude Code: the forbidden call never runs."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hosts.claude import Claude
from tests.hosts.fake_model import Turn, Use
from tests.hosts.test_claude_code import project, write
from tests.hosts.test_living import state_of

__all__ = ["project"]  # the fixture

pytestmark = pytest.mark.hosts


def listed(claude: Claude) -> Path:
    return claude.home / "state" / "remit" / "hosts" / "claude-code.sh"


def record(claude: Claude) -> Path:
    return state_of(claude) / "hooks" / "claude-code.json"


def rulebook(claude: Claude) -> Path:
    return claude.project / ".remit" / "rulebook"


def edited(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def sql(claude: Claude, statement: str) -> None:
    link = sqlite3.connect(state_of(claude) / "remit.db")
    for (name,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        link.execute(f"DROP TRIGGER {name}")  # they keep the log from being changed
    link.execute(statement)
    link.commit()
    link.close()


def a_folder(claude: Claude) -> None:
    (state_of(claude) / "remit.db").unlink()
    (state_of(claude) / "remit.db").mkdir()


DAMAGES: dict[str, Callable[[Claude], object]] = {
    "state: gone as a whole": lambda c: shutil.rmtree(state_of(c)),
    "state: open to everyone": lambda c: state_of(c).chmod(0o777),
    "state: the record is of another project": lambda c: edited(record(c), root="/tmp", policy="/tmp/remit.yaml"),
    "state: the record is empty": lambda c: record(c).write_text(""),
    "state: how to refuse is gone": lambda c: (state_of(c) / "hooks" / "claude-code.client").unlink(),
    "state: the list is cut in half": lambda c: listed(c).write_text(listed(c).read_text()[:900]),
    "state: the list leads to another state": lambda c: listed(c).write_text(
        listed(c).read_text().replace(str(state_of(c)), "/nowhere")
    ),
    "keys: gone": lambda c: shutil.rmtree(state_of(c) / "keys"),
    "keys: another": lambda c: [path.write_bytes(os.urandom(64)) for path in (state_of(c) / "keys").iterdir()],
    "store: empty": lambda c: (state_of(c) / "remit.db").write_bytes(b""),
    "store: half": lambda c: os.truncate(state_of(c) / "remit.db", 4096 * 3),
    "store: no activation": lambda c: sql(c, "DELETE FROM activation"),
    "store: the log is gone": lambda c: sql(c, "DELETE FROM leaf"),
    "store: a folder": a_folder,
    "rulebook: gone": lambda c: rulebook(c).unlink(),
    "rulebook: half": lambda c: os.truncate(rulebook(c), 200),
    "rulebook: wider": lambda c: rulebook(c).write_bytes(rulebook(c).read_bytes().replace(b"notes/**", b"**/*.txt")),
    "rulebook: of another project": lambda c: rulebook(c).write_bytes(b"remit-rulebook\n{}"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_the_forbidden_call_never_runs(project: Claude, damage: str):
    DAMAGES[damage](project)
    calls: list[Turn] = [
        write(project, "src/a.txt"),
        Use("Bash", {"command": "mkdir made"}),
        write(project, "src/a.txt"),
        "done",
    ]
    run = project.run({"main": calls}, mode="bypassPermissions")
    assert len(run.model.results()) == 3
    assert not (project.project / "src" / "a.txt").exists()
    assert not (project.project / "made").exists()


def test_there_are_at_least_twelve():
    assert len(DAMAGES) >= 12
