"""Rows that authority rests on, forged by somebody who has the database: the next call of a real process that would
rest on one does not run. The second table of docs/tampering.md is this test.

`tests/grant/test_state.py` changes every column of every table of authority, on both stores, in one process.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from remit.enforce.errors import CallDenied, CallPending
from remit.record.audit import audit
from remit.record.open import open_log
from tests.adapters.hooks.project import Project
from tests.attacks.ledger.forger import forging
from tests.enforce.team import Team

PAGE = Path(__file__).parents[3] / "docs" / "tampering.md"
READ = {"file_path": "README.md"}
VERSIONS = ("open", "refused", "used", "cancelled", "approved")
"""What became of the question about each; questions 1 to 5."""

_ANSWER = "state = 'approved', answerer = 'ann', answerer_kind = 'human', answered = '2026-11-18T00:00:00Z'"
_NEWEST = "(SELECT max(seq) FROM leaf WHERE subject = '[\"ask\",{0}]')"
_HIDDEN = f"UPDATE leaf SET subject = NULL WHERE seq = {_NEWEST}"  # noqa: S608
_COPIED = (
    "INSERT INTO ask (seq, digest, body, agent, capsule, asked_of, state, expires, answered, answerer, answerer_kind,"
    " because, salt) SELECT 77, (SELECT digest FROM ask WHERE seq = {0}), body, agent, capsule, asked_of, 'approved',"
    " expires, answered, answerer, answerer_kind, because, salt FROM ask WHERE seq = 5"
)

QUESTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "an open question marked as approved": ("open", (f"UPDATE ask SET {_ANSWER} WHERE seq = 1",)),  # noqa: S608
    "a refused question marked as approved": ("refused", (f"UPDATE ask SET {_ANSWER} WHERE seq = 2",)),  # noqa: S608
    "a used approval marked as unused": ("used", ("UPDATE ask SET state = 'approved' WHERE seq = 3",)),
    "a used approval marked as unused, and the entry that says otherwise hidden": (
        "used",
        (_HIDDEN.format(3), "UPDATE ask SET state = 'approved' WHERE seq = 3"),
    ),
    "a cancelled question marked as approved": ("cancelled", (f"UPDATE ask SET {_ANSWER} WHERE seq = 4",)),  # noqa: S608
    "an approval copied for another call": ("open", (_COPIED.format(1),)),
    "an approval moved to another call": (
        "open",
        ("UPDATE ask SET digest = (SELECT digest FROM ask WHERE seq = 1) WHERE seq = 5",),
    ),
    "a refusal removed, and an approval put in its place": (
        "refused",
        ("DELETE FROM ask WHERE seq = 2", _COPIED.replace("77", "2").format(5).replace("{0}", "5")),
    ),
    "an approval that lasts until the year 9000": (
        "approved",
        ("UPDATE ask SET expires = '9000-01-01T00:00:00.000Z' WHERE seq = 5",),
    ),
    "an approval by somebody else": ("approved", ("UPDATE ask SET answerer = 'eve' WHERE seq = 5",)),
}
"""By name: the version that is then deployed, and the statements."""


def _moved(folder: Path) -> None:
    with forging(folder / "state") as forger:
        digest, entry = forger.said("ask", 1)[0]["digest"], forger.said("ask", 5)[-1]
        forger.follow({**entry, "digest": digest}, digest=digest)
        forger.run("UPDATE ask SET digest = ? WHERE seq = 5", digest)


def _unused(folder: Path) -> None:
    with forging(folder / "state") as forger:
        forger.follow(forger.said("ask", 3)[1])
        forger.run("UPDATE ask SET state = 'approved' WHERE seq = 3")


def _unused_and_hidden(folder: Path) -> None:
    with forging(folder / "state") as forger:
        _, approved, used = forger.places("ask", 3)
        forger.hide(used)
        forger.follow(forger.entry(approved))
        forger.run("UPDATE ask SET state = 'approved' WHERE seq = 3")


def _hidden_halt(folder: Path, *others: str) -> None:
    with Team(folder).guard as guard:
        guard.authority.halt("worker", by="ann", because="x")
    with forging(folder / "state") as forger:
        [place] = forger.places("halt", "worker")
        entry = forger.entry(place)
        forger.hide(place)
        for name in others:
            forger.append({**entry, "state": {**entry["state"], "of": ["halt", name]}})


ENTRIES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "an entry that moves an approval to another call": ("open", _moved),
    "an entry that makes a used approval unused": ("used", _unused),
    "the same, and the entry that says otherwise hidden": ("used", _unused_and_hidden),
    "the halt of the agent hidden": ("open", _hidden_halt),
    "the same, and the halt of somebody else put in its place": ("open", lambda folder: _hidden_halt(folder, "x")),
}
"""Entries of one's own, with their hash and the head, and rows that say the same."""

ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "an activation added": (
        "INSERT INTO activation SELECT seq + 1, policy, digest, at, person FROM activation ORDER BY seq DESC LIMIT 1",
    ),
    "the newest activation names another rulebook": (
        f"UPDATE activation SET digest = '{'0' * 64}' WHERE seq = (SELECT max(seq) FROM activation)",  # noqa: S608
    ),
    "the activation removed": ("DELETE FROM activation",),
    "the activation's entry hidden": ("UPDATE leaf SET subject = NULL WHERE subject = '[\"activation\"]'",),
}
"""What a hook's next call rests on."""

PROGRAM = """
import os, sys
from pathlib import Path
from remit.enforce.errors import CallDenied, CallPending
from tests.enforce.team import Team
team = Team(Path(sys.argv[1]))
with team.guard.start().agent("worker"):
    try:
        team.deploy(sys.argv[2])
        code = "ran"
    except CallDenied as denied:
        code = denied.decision.code
    except CallPending:
        code = "asked"
os.write(1, code.encode())
os._exit(0)
"""


def change(database: Path, statements: tuple[str, ...]) -> None:
    """Triggers are dropped, and come back."""
    link = sqlite3.connect(database, isolation_level=None, timeout=10)
    kept = link.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for name, _ in kept:
        link.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        assert link.execute(statement).rowcount >= 1, statement
    for _, text in kept:
        link.execute(text)
    link.close()


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five questions, and what became of them."""
    folder = tmp_path_factory.mktemp("lived")
    team = Team(folder)
    with team.guard, team.guard.agent("worker"):
        names = {}
        for version in VERSIONS:
            with pytest.raises(CallPending) as asked:
                team.deploy(version)
            names[version] = str(asked.value.approval)
        authority = team.guard.authority
        authority.answer(names["refused"], "refuse", by="ann")
        authority.answer(names["used"], "approve", by="ann")
        authority.answer(names["approved"], "approve", by="ann")
        authority.cancel(names["cancelled"], by="worker")
        assert team.deploy("used") == "deployed used"
        with pytest.raises(CallDenied):
            team.deploy("refused")
    return folder


def deployed(folder: Path, version: str) -> str:
    words = [sys.executable, "-c", PROGRAM, str(folder), version]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=True, cwd=Path(__file__).parents[3])
    return done.stdout


def problems(state: Path) -> set[str]:
    with open_log(None, state=state) as opened:
        return {fault.code for fault in audit(opened.log, opened.signer).problems}


def rows() -> Iterator[tuple[str, str, str]]:
    """The page's second table: what was done, what the next call says, what `verify` says."""
    text = PAGE.read_text("utf-8").partition("## Rows that authority rests on")[2].partition("\n## ")[0]
    for line in text.splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and cells[0] not in ("tampering", "") and not cells[0].startswith("-"):
            yield cells[0], cells[1], cells[2]


SAID = {name: (call, verify) for name, call, verify in rows()}


def test_the_page_has_them_all():
    assert list(SAID) == [*QUESTIONS, *ENTRIES, *ACTIVATIONS]


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_next_call_does_not_run(tmp_path: Path, lived: Path, name: str):
    version, statements = QUESTIONS[name]
    shutil.copytree(lived, tmp_path / "copy")
    change(tmp_path / "copy" / "state" / "remit.db", statements)
    assert (deployed(tmp_path / "copy", version), SAID[name][1] in problems(tmp_path / "copy" / "state")) == (
        SAID[name][0],
        True,
    )


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ENTRIES)
def test_nor_after_a_forged_entry(tmp_path: Path, lived: Path, name: str):
    version, forge = ENTRIES[name]
    shutil.copytree(lived, tmp_path / "copy")
    forge(tmp_path / "copy")
    call, verify = SAID[name]
    assert deployed(tmp_path / "copy", version) == call
    assert verify in problems(tmp_path / "copy" / "state")


@pytest.mark.more
def test_an_honest_approval_runs_once(tmp_path: Path, lived: Path):
    shutil.copytree(lived, tmp_path / "copy")
    assert [deployed(tmp_path / "copy", "approved") for _ in range(2)] == ["ran", "asked"]
    assert problems(tmp_path / "copy" / "state") == set()


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_next_call_of_a_hook_is_denied(tmp_path: Path, name: str):
    project = Project(tmp_path)
    assert project.ask("Read", READ).decision == "allow"
    change(project.state / "remit.db", ACTIVATIONS[name])
    project.ask("Read", READ).denied(SAID[name][0])
    assert SAID[name][1] in problems(project.state)
