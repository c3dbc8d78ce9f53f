"""Somebody has the database and wants more from a task than it gives: an end undone, limits lifted, a budget filled up
again, a task for another agent, a gate passed by nobody.

Triggers are dropped and come back. A Guard that runs and one that is started afterwards refuse the call that would rest
on it, on both stores, and `verify` names what was changed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import psycopg
import pytest

from remit import Guard
from remit.compile.tasks import task_from
from remit.enforce.errors import CallDenied
from remit.grant import credential
from remit.grant.credential import Parameters, set_passphrase, unlock
from remit.grant.errors import GrantError
from remit.model.errors import RemitError
from remit.record.audit import audit
from remit.record.open import open_log
from remit.record.state import StateForged
from tests.postgres import Postgres

pytestmark = pytest.mark.filterwarnings("ignore::remit.record.errors.LedgerWarning")

WORD = "correct horse battery"
POLICY: dict[str, Any] = {
    "remit": 1,
    "name": "shop",
    "gates": {"demo": {"before": {"effects": ["network"]}}},
    "agents": {
        "dev": {"may": ["ping", {"write": {"path": "src/**"}}]},
        "other": {"may": ["ping"]},
    },
}
TASKS: list[dict[str, Any]] = [
    {"id": "E", "agent": "dev", "goal": "ended", "grants": [{"write": {"path": "old/**"}}]},
    {
        "id": "T",
        "agent": "dev",
        "goal": "runs",
        "may_not": [{"write": {"path": "src/secret/**"}}],
        "grants": [{"write": {"path": "extra/**"}}],
        "budget": {"calls": 3},
        "gates": ["demo"],
        "expires": "2098-01-01",
    },
]


class Place:
    """A project, its store, and who can change it."""

    def __init__(self, folder: Path, url: str | None) -> None:
        self.folder, self.url = folder, url
        self.ran: list[str] = []
        (folder / "root").mkdir(exist_ok=True)

    def call(self, guard: Guard, path: str, agent: str = "dev", task: str = "T") -> str:
        """Writes the file, or pings if there is none: `ran`, or the code by which it did not."""
        before = len(self.ran)
        try:
            with guard.agent(agent, capsule=task):
                self.write(Path(path)) if path else self.ping()
        except CallDenied as denied:
            found = denied.decision.code
        except RemitError as error:
            found = error.code
        else:
            found = "ran"
        assert (len(self.ran) > before) == (found == "ran")
        return found

    def started(self) -> Guard:
        guard = Guard(POLICY, root=self.folder / "root", state=self.folder / "state")

        def write(path: Path) -> None:
            self.ran.append(str(path))

        def ping() -> None:
            self.ran.append("")

        self.write: Any = guard.tool(does={"write": "path"}, tier=1)(write)
        self.ping: Any = guard.tool(does={"network": "https://a.example/**"}, tier=1)(ping)
        return guard.start()

    def change(self, *statements: str) -> None:
        """Without triggers, which come back; each statement changes something."""
        if self.url is not None:
            with psycopg.connect(self.url) as server:
                server.execute("SET search_path TO remit; SET session_replication_role = replica")
                for statement in statements:
                    assert server.execute(statement.replace("%", "%%").encode()).rowcount >= 1, statement
            return
        link = sqlite3.connect(self.folder / "state" / "remit.db", isolation_level=None, timeout=60)
        kept = link.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in kept:
            link.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            assert link.execute(statement).rowcount >= 1, statement
        for _, text in kept:
            link.execute(text)
        link.close()

    def edited(self, old: str, new: str) -> str:
        """A statement that changes what the body of the task says."""
        if self.url is not None:
            inner = f"replace(convert_from(body, 'UTF8'), '{old}', '{new}')"
            return f"UPDATE capsule SET body = convert_to({inner}, 'UTF8') WHERE id = 'T' AND convert_from(body, 'UTF8') LIKE '%{old}%'"  # noqa: E501, S608
        return f"UPDATE capsule SET body = CAST(replace(body, '{old}', '{new}') AS BLOB) WHERE id = 'T' AND instr(body, '{old}') > 0"  # noqa: E501, S608

    def problems(self) -> set[str]:
        with open_log(None, state=self.folder / "state") as opened:
            return {fault.code for fault in audit(opened.log, opened.signer).problems}


@pytest.fixture(params=["sqlite", "postgres"])
def place(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A task that ended, and one that runs and has one call left; both signed by a person."""
    monkeypatch.setattr(credential, "NOW", Parameters(n=2**8, r=8, p=1, length=32))
    url = None
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.uri_of(server.new_database())
        monkeypatch.setenv("REMIT_STORE", url)
    found = Place(tmp_path, url)
    with found.started() as guard:
        store = guard.authority.store
        set_passphrase(store, WORD)
        sign = unlock(store, WORD)
        for one in TASKS:
            guard.authority.issue(guard.rulebook, task_from(guard.rulebook, one), sign=sign)
            if one["id"] == "E":
                assert found.call(guard, "old/a", task="E") == "ran"
                guard.authority.end("E", by="ann")
        assert [found.call(guard, path) for path in ("src/a", "extra/a")] == ["ran", "ran"]
        assert found.call(guard, "src/secret/a") == "capsule-constraint"
        assert found.call(guard, "") == "gate-open"
    return found


def _hide(*subject: str) -> str:
    """The newest entry about something is not found by it any more."""
    text = json.dumps(subject, separators=(",", ":"))
    return f"UPDATE leaf SET subject = NULL WHERE seq = (SELECT max(seq) FROM leaf WHERE subject = '{text}')"  # noqa: S608


class Attack(NamedTuple):
    """What is changed, and the call that would rest on it."""

    statements: Callable[[Place], tuple[str, ...]]
    path: str
    agent: str = "dev"
    task: str = "T"


def _plain(*statements: str) -> Callable[[Place], tuple[str, ...]]:
    return lambda place: statements


_UNENDED = "UPDATE capsule SET ended = NULL, ended_by = NULL WHERE id = 'E'"
_COPIED = (
    "INSERT INTO capsule (id, agent, parent, body, expires, ended, ended_by, salt)"
    " SELECT 'T2', 'other', parent, body, expires, ended, ended_by, salt FROM capsule WHERE id = 'T'"
)
ATTACKS: dict[str, Attack] = {
    "the end undone": Attack(_plain(_UNENDED), "old/a", task="E"),
    "the end undone, and its entry hidden": Attack(
        _plain(_hide("capsule", "E"), _UNENDED),
        "old/a",
        task="E",
    ),
    "a later end": Attack(_plain("UPDATE capsule SET expires = '9000-01-01T00:00:00Z' WHERE id = 'T'"), "src/b"),
    "a prohibition lifted": Attack(lambda place: (place.edited("src/secret/", "nowhere/"),), "src/secret/a"),
    "a grant widened": Attack(lambda place: (place.edited("extra/", "."),), "anything"),
    "a larger budget": Attack(lambda place: (place.edited('"calls":3', '"calls":9'),), "src/b"),
    "what was spent last hidden": Attack(_plain(_hide("spent", "T")), "src/b"),
    "all that was spent hidden": Attack(
        _plain('UPDATE leaf SET subject = NULL WHERE subject = \'["spent","T"]\''), "src/b"
    ),
    "what was spent said of another task": Attack(
        _plain('UPDATE leaf SET subject = \'["spent","E"]\' WHERE subject = \'["spent","T"]\''), "src/b"
    ),
    "the task for another agent": Attack(
        _plain(_COPIED),
        "extra/b",
        agent="other",
        task="T2",
    ),
    "the task given to another agent": Attack(
        _plain("UPDATE capsule SET agent = 'other' WHERE id = 'T'"), "extra/b", agent="other"
    ),
    "another entry taken for a gate that somebody passed": Attack(
        _plain('UPDATE leaf SET subject = \'["gates","T"]\' WHERE subject = \'["spent","E"]\''), ""
    ),
}


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", ATTACKS)
def test_the_next_call_does_not_run(place: Place, name: str):
    attack = ATTACKS[name]
    with place.started() as guard:
        place.change(*attack.statements(place))
        running = place.call(guard, attack.path, attack.agent, attack.task)
    with place.started() as guard:
        later = place.call(guard, attack.path, attack.agent, attack.task)
    assert (running, later) == ("state-forged", "state-forged")
    assert place.problems() & {"state-forged", "state-unexplained", "state-missing", "subject-wrong"}


FREED: dict[str, tuple[str, ...]] = {
    "given to another agent": ("UPDATE capsule SET agent = 'other' WHERE id = 'T'",),
    "removed": ("DELETE FROM capsule WHERE id = 'T'",),
    "marked as ended": ("UPDATE capsule SET ended = '2026-11-18T00:00:00Z', ended_by = 'ann' WHERE id = 'T'",),
}


@pytest.mark.parametrize("name", FREED)
def test_an_agent_is_not_freed_of_its_task(place: Place, name: str):
    """Hooks look for the living task of an agent: without it, the limits that it sets would be gone."""
    with place.started() as guard:
        assert [state.task.capsule.id for state in guard.authority.living("dev")] == ["T"]
        place.change(*FREED[name])
        with pytest.raises(StateForged):
            guard.authority.living("dev")
    with place.started() as guard, pytest.raises(StateForged):
        guard.authority.living("dev")
    assert place.problems() & {"state-forged", "state-missing"}


def test_untouched_it_runs_as_long_as_its_budget_lasts(place: Place):
    with place.started() as guard:
        assert [place.call(guard, "src/b") for _ in range(2)] == ["ran", "budget-spent"]
        with pytest.raises(GrantError):
            guard.authority.end("E", by="ann")
    assert place.problems() == set()
