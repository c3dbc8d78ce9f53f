"""Real processes on one store that race for one ask or one task: one end state, one execution at most."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.grant.asks import AskState
from remit.grant.errors import GrantError
from remit.record.reader import entries
from remit.store import Store
from tests.grant.world import authority, call, judge, open_world, rules, task

RACER = Path(__file__).with_name("racer.py")
TERMINAL = ("used", "refused", "expired", "cancelled")
ROLES = ("approve", "approve", "refuse", "cancel", "end", "expire")


class Race:
    """Processes that wait for orders, and the store that they race on."""

    def __init__(self, url: str | None, folder: Path, processes: int) -> None:
        self.file, self.state = folder / "ran", folder / "state"
        self.rulebook = rules()
        self.store: Store = open_world(url, self.state)
        self.one = authority(self.store, self.state)
        command = [sys.executable, str(RACER), url or "-", str(self.state), str(self.file)]
        self.racers = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(processes)
        ]
        for racer in self.racers:
            assert racer.stdout is not None
            assert racer.stdout.readline() == "ready\n"

    def close(self) -> None:
        for racer in self.racers:
            racer.communicate(timeout=60)
        self.store.close()

    def asked(self, name: str) -> AskState:
        """A task, and a call in it that waits for an answer."""
        self.one.issue(self.rulebook, task(self.rulebook, name, "boss", by="ann"))
        made = call("boss", "push", {"to": "a"}, name)
        decision, facts = judge(self.one, self.rulebook, made)
        return self.one.ask(made, decision, self.rulebook, facts, point="test")

    def go(self, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Each does its order at the same moment; what they tell, in the same order."""
        at = time.monotonic() + 0.03
        for racer, order in zip(self.racers, orders, strict=True):
            assert racer.stdin is not None
            racer.stdin.write(json.dumps({"at": at + order.pop("late", 0.0), **order}) + "\n")
            racer.stdin.flush()
        told = []
        for racer in self.racers:
            assert racer.stdout is not None
            told.append(json.loads(racer.stdout.readline()))
        return told

    def ran(self) -> dict[str, list[float]]:
        """When each execution was about to begin, by capsule."""
        found = defaultdict(list)
        for line in self.file.read_text().splitlines() if self.file.exists() else ():
            capsule, began = line.split()
            found[capsule].append(float(began))
        return found

    def events(self) -> list[dict[str, Any]]:
        with self.store.read() as view:
            return [msgspec.json.decode(entry.body) for entry in entries(view)]


@pytest.fixture
def race(url: str | None, tmp_path: Path) -> Iterator[Race]:
    found = Race(url, tmp_path, 5)
    yield found
    found.close()


@pytest.mark.sample(1)
@pytest.mark.sample(1)
def test_one_end_and_one_execution(race: Race):
    """Row 7: approve, refuse, cancel, end, expiry and two that try to run, all at once."""
    _rounds(race, 14)


@pytest.mark.long
def test_one_end_and_one_execution_often(race: Race):
    _rounds(race, 400)


def _rounds(race: Race, rounds: int) -> None:
    chance = random.Random(rounds)  # noqa: S311
    seen: Counter[str] = Counter()
    for number in range(rounds):
        name = f"T-{number}"
        with suppress(GrantError):
            race.one.repair_clock(by="ann")  # somebody's was ahead in the round before
        asked = race.asked(name)
        if chance.random() < 0.5:
            race.one.answer(asked.id, "approve", by="ann")
        roles = ["run", "run", *chance.choices(ROLES, k=3)]
        run = {"tool": "push", "args": {"to": "a"}, "for": 0.15}
        orders = [
            {"do": role, "capsule": name, "ask": asked.id, "ahead": 2 * (number + 1), "late": chance.uniform(0, 0.03)}
            | (run | {"late": chance.uniform(0, 0.1)} if role == "run" else {})
            for role in roles
        ]
        told = race.go(orders)
        state = race.one.asked(asked.id).state
        seen[state] += 1
        _check(race, name, asked.id, state, list(zip(roles, told, strict=True)))
    assert len(seen) >= 3, f"a race that always ends the same way shows nothing: {seen}"
    print(f"{rounds} races: {dict(seen)}")


def _check(race: Race, name: str, ask: str, state: str, told: list[tuple[str, dict[str, Any]]]) -> None:
    ran = race.ran()[name]
    assert len(ran) == (state == "used")
    ends = [e["what"] for e in race.events() if e["type"] == "approval" and e["approval"] == ask]
    assert [what for what in ends if what in TERMINAL] == ([state] if state in TERMINAL else [])
    for role, heard in told:
        if role in ("refuse", "cancel", "end") and heard["error"] is None:
            late = [began for began in ran if began > heard["ended"]]
            assert not late, f"something began after {role} was acknowledged"
            if role == "refuse":
                assert state in ("refused", "cancelled", "expired"), (
                    "who was told that it is refused, was told the truth"
                )


@pytest.mark.sample(1)
def test_nothing_begins_after_the_end(race: Race):
    """Row 23: ended in one process, called in others; calls without any question, as fast as they can."""
    for number in range(3):
        name = f"E-{number}"
        race.one.issue(race.rulebook, task(race.rulebook, name, "boss", by="ann"))
        race.one.issue(race.rulebook, task(race.rulebook, f"{name}.1", "lead", parent=name, by="boss", issuer="agent"))
        run = {"do": "run", "tool": "look", "args": {"path": "a"}, "capsule": name}
        told = race.go([*(dict(run) for _ in race.racers[1:]), {"do": "end", "capsule": name, "after_some": True}])
        assert told[-1]["error"] is None
        ran = race.ran()[name]
        assert [began for began in ran if began > told[-1]["ended"]] == []
        assert ran, "they had time to run before"
        assert {race.one.state(one).ended is not None for one in (name, f"{name}.1")} == {True}


@pytest.mark.sample(1)
def test_budget_is_never_exceeded(race: Race):
    """Five processes spend one budget of ten calls."""
    race.one.issue(race.rulebook, task(race.rulebook, "B", "boss", by="ann", budget={"calls": 10}))
    run = {"do": "run", "tool": "look", "args": {"path": "a"}, "capsule": "B", "tries": 5}
    told = race.go([dict(run) for _ in race.racers])
    assert len(race.ran()["B"]) == 10
    assert {heard["error"] for heard in told} <= {"budget-spent", None}
    assert race.one.state("B").spent["calls"] == 10


@pytest.mark.sample(1)
def test_the_same_call_is_asked_once(race: Race):
    """Several ask for the same call at once: one ask, and nobody is turned away."""
    race.one.issue(race.rulebook, task(race.rulebook, "Q", "boss", by="ann"))
    told = race.go([{"do": "ask", "capsule": "Q", "tool": "push", "args": {"to": "a"}} for _ in race.racers])
    assert {heard["error"] for heard in told} == {None}
    assert len({heard["ask"] for heard in told}) == 1
    assert len(race.one.waiting()) == 1
    assert race.one.arguments(told[0]["ask"])["args"] == {"to": "a"}
