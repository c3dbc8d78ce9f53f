"""Several people at once, in processes of their own, and processes that are killed while somebody answers in them."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.grant import credential
from remit.record.audit import state_faults
from remit.store import Store
from tests.grant.people_world import QUICK, asked, named_rules, settle
from tests.grant.world import authority, open_world, task

RACER = Path(__file__).with_name("people_racer.py")
RULES = named_rules()


class Race:
    """Processes that wait for orders, and the store that they race on."""

    def __init__(self, url: str | None, folder: Path, processes: int) -> None:
        self.file, self.state = folder / "ran", folder / "state"
        self.file.touch()
        self.url = url
        self.store: Store = open_world(url, self.state)
        self.sign = settle(self.store)
        self.one = authority(self.store, self.state)
        self.racers = [self.start() for _ in range(processes)]

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, str(RACER), self.url or "-", str(self.state), str(self.file)]
        racer = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert racer.stdout is not None
        assert racer.stdout.readline() == "ready\n"
        return racer

    def close(self) -> None:
        for racer in self.racers:
            racer.communicate(timeout=60)
        self.store.close()

    def tell(self, racer: subprocess.Popen[str], order: dict[str, Any], at: float) -> None:
        assert racer.stdin is not None
        racer.stdin.write(json.dumps({"at": at + order.pop("late", 0.0), **order}) + "\n")
        racer.stdin.flush()

    def go(self, orders: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Each does its order at the same moment; what they tell, in the same order."""
        at = time.monotonic() + 0.1
        for racer, order in zip(self.racers, orders, strict=True):
            self.tell(racer, order, at)
        return [json.loads(racer.stdout.readline()) for racer in self.racers if racer.stdout is not None]

    def question(self, name: str) -> str:
        self.one.issue(RULES, task(RULES, name, "boss", by="dan"), sign=self.sign["dan"])
        return asked(self.one, RULES, name)

    def faults(self) -> list[str]:
        with self.store.read() as view:
            return [fault.code for fault in state_faults(view)]


@pytest.fixture
def race(url: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Race]:
    monkeypatch.setattr(credential, "NOW", QUICK)
    found = Race(url, tmp_path, 5)
    yield found
    found.close()


def _rounds(race: Race, rounds: int) -> Counter[str]:
    """Two approve, perhaps one of them twice, somebody refuses or not, and the agent tries all the time."""
    chance, seen = random.Random(rounds), Counter[str]()  # noqa: S311
    for number in range(rounds):
        capsule = f"T-{number}"
        name = race.question(capsule)
        people = chance.sample(["ann", "bob", "cy"], 2)
        third = chance.choice([("approve", people[0]), ("refuse", "cy"), ("approve", "cy")])
        orders: list[dict[str, Any]] = [
            {"do": do, "who": who, "ask": name, "late": chance.uniform(0, 0.05)}
            for do, who in (("approve", people[0]), ("approve", people[1]), third)
        ]
        run = {"do": "run", "capsule": capsule, "for": 0.3}
        told = race.go([*orders, dict(run), dict(run)])
        found = race.one.asked(name)
        seen[found.state] += 1
        ran = [line for line in race.file.read_text().splitlines() if line.startswith(f"{capsule} ")]
        assert len(ran) == (found.state == "used"), (found.state, told)
        if ran:
            assert len(set(found.approved)) >= 2
            refused = [heard for order, heard in zip(orders, told, strict=False) if heard.get("state") == "refused"]
            assert refused == [], "who was told that it is refused, was told the truth"
        if found.state == "approved":
            race.one.cancel(name, by="test")
    assert race.faults() == []
    return seen


@pytest.mark.sample(1)
@pytest.mark.more
def test_several_people_answer_at_once(race: Race) -> None:
    seen = _rounds(race, 8)
    assert seen["used"], f"nothing ever ran: {seen}"


@pytest.mark.long
def test_several_people_answer_at_once_often(race: Race) -> None:
    seen = _rounds(race, 150)
    assert {"used", "refused"} <= seen.keys()


@pytest.mark.sample(1)
@pytest.mark.more
def test_who_resumes_what_is_halted_is_one(race: Race) -> None:
    """Resumed twice, halted twice, reviewed by several: one does it, and the others hear so."""
    for number in range(4):
        agent = f"agent-{number}"
        race.one.halt(agent, by="x", because="y")
        told = race.go([{"do": "resume", "who": who, "agent": agent} for who in ("ann", "cy", "dan", "ann", "cy")])
        assert sorted(str(heard["error"]) for heard in told) == ["None", *["not-halted"] * 4]
        assert race.one.halted(RULES) == []
        told = race.go([{"do": "halt", "agent": agent} for _ in race.racers])
        assert sorted(heard["state"] for heard in told) == [False] * 4 + [True]
        assert [halt.who for halt in race.one.halted(RULES)] == [agent]
        both = [{"do": "resume", "who": "dan", "agent": agent}, {"do": "halt", "agent": agent}]
        told = race.go([*both, *({"do": "review", "who": "eve", "agent": "aide"} for _ in race.racers[2:])])
        assert [heard["error"] for heard in told] == [None] * 5
        halted = bool(race.one.halted(RULES))
        assert halted is bool(told[1]["state"]), "halted again, or before it was resumed"
        if halted:
            race.one.resume(agent, by="ann", because="z", sign=race.sign["ann"])
    assert race.faults() == []


def _killed(race: Race, times: int) -> int:
    """How many processes were ended in the middle of their answers."""
    chance, cut = random.Random(times), 0  # noqa: S311
    for number in range(times):
        names = [race.question(f"K-{number}-{place}") for place in range(6)]
        racer = race.start()
        at = time.monotonic()
        race.tell(racer, {"do": "answer-on", "who": "bob", "asks": names}, at)
        until = time.monotonic() + 30
        wanted = chance.randint(0, 4)
        while time.monotonic() < until and sum(n in race.file.read_text().splitlines() for n in names) < wanted:
            time.sleep(0.001)
        time.sleep(chance.uniform(0, 0.02))
        racer.send_signal(signal.SIGKILL)
        racer.wait()
        for pipe in (racer.stdin, racer.stdout):
            if pipe is not None:
                pipe.close()
        said = race.file.read_text().splitlines()
        states = [race.one.asked(name) for name in names]
        cut += sum(bool(one.approved) for one in states) < len(names)
        for name, one in zip(names, states, strict=True):
            assert one.state == "open", "one of two is never enough"
            assert one.approved in ((), ("bob",))
            assert name not in said or one.approved == ("bob",), "what was acknowledged is there"
        for name, one in zip(names, states, strict=True):
            done = race.one.answer(name, "approve", by="ann", sign=race.sign["ann"])
            assert done.state == ("approved" if one.approved else "open")
            race.one.cancel(name, by="test")
    assert race.faults() == []
    return cut


@pytest.mark.sample(1)
@pytest.mark.more
def test_killed_while_answering(race: Race) -> None:
    assert _killed(race, 4)


@pytest.mark.long
def test_killed_while_answering_often(race: Race) -> None:
    assert _killed(race, 60) > 20
