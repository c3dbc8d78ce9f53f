"""People against a model of them: whoever acts in whatever order, in two processes. (Answers, resumptions, reviews …)

The same machine runs on SQLite and on PostgreSQL.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from hypothesis.stateful import run_state_machine_as_test as run_machine

from remit.compile import build_rulebook
from remit.grant import credential
from remit.grant.authority import Authority
from remit.grant.elsewhere import make_request, sign_answer, take_answer
from remit.grant.errors import GrantError
from remit.grant.person import PersonError, Signatory, prove_person
from remit.model.people import APPROVER, AUDITOR, OPERATOR, OWNER
from remit.model.rulebook import Rulebook
from remit.record.audit import state_faults
from tests.grant.people_world import NAMED, PEOPLE, QUICK, activate, secret_of, settle
from tests.grant.world import authority, call, judge, open_world, task
from tests.postgres import Postgres

OTHERS = {**PEOPLE, "bob": {"roles": ["auditor"]}, "dan": {"roles": ["approver"]}}
TEAMS = (PEOPLE, OTHERS)
"""Two policies, under which bob and dan have other roles."""
RULES: tuple[Rulebook, ...] = tuple(build_rulebook({**NAMED, "people": people}) for people in TEAMS)
AGENTS = ("boss", "lead", "aide", "hand")
names = st.sampled_from(sorted(PEOPLE))
sizes = st.integers(0, 10**6)


@dataclass
class Asked:
    """A question as it ought to be."""

    policy: int
    task: str
    to: str
    able: frozenset[str]
    approved: set[str] = field(default_factory=set)
    state: str = "open"


class World:
    """Two processes on one state, for one example after the other."""

    def __init__(self, url: str | None, folder: Path) -> None:
        self.stores = [open_world(url, folder) for _ in range(2)]
        settle(self.stores[0], RULES[0])
        self.folder, self.runs, self.policy = folder, itertools.count(1), 0
        self.halted: set[str] = set()
        self.met: Counter[str] = Counter()
        """What became of questions: a machine in which nothing ever runs shows nothing."""

    def close(self) -> None:
        for store in self.stores:
            store.close()


def _has(who: str, roles: frozenset[str], policy: int) -> bool:
    return not roles.isdisjoint(TEAMS[policy][who]["roles"])


class Machine(RuleBasedStateMachine):
    """Rules are what people and agents do."""

    world: World

    @initialize()
    def begin(self) -> None:
        world = self.world
        self.run = next(world.runs)
        self.both = [authority(store, world.folder) for store in world.stores]
        ann = self._prove("ann", OWNER, 0)
        assert ann is not None
        if world.policy != 0:  # how it begins is no matter of what was done before
            activate(world.stores[0], RULES[0], ann.sign, "ann")
            world.policy = 0
        for agent in sorted(world.halted):
            self.both[0].resume(agent, by="ann", because="anew", sign=ann.sign)
        world.halted.clear()
        self.asks: dict[str, Asked] = {}
        self.tasks: dict[str, str] = {}
        self.reviewed: dict[str, str] = {}
        self.incidents: dict[str, str | None] = {}
        self.issues("dan", 0)
        self._try(next(iter(self.tasks)), "x", 0)

    # Helping hands

    def _prove(self, who: str, roles: frozenset[str], at: int) -> Signatory | None:
        """As every command does it; None if they may not."""
        store, code = self.world.stores[at % 2], None
        try:
            found = prove_person(store, None, name=who, doing="act", read=lambda prompt: secret_of(who), may=roles)
        except PersonError as error:
            found, code = None, error.code
        assert code == (None if _has(who, roles, self.world.policy) else "not-your-role")
        return found

    def _agree(self, expected: bool, does: Callable[[], Any]) -> Any:
        found, wrong = None, None
        try:
            found = does()
        except GrantError as error:
            wrong = error
        assert (wrong is None) is expected, f"the model says otherwise: {wrong!r}"
        return found

    @property
    def policy(self) -> int:
        return self.world.policy

    @property
    def rulebook(self) -> Rulebook:
        return RULES[self.world.policy]

    # What people do

    @rule(who=names, at=sizes)
    def issues(self, who: str, at: int) -> None:
        person = self._prove(who, OPERATOR, at)
        if person is not None:
            name = f"p{self.run}.{len(self.tasks)}"
            self.both[at % 2].issue(self.rulebook, task(self.rulebook, name, "boss", by=who), sign=person.sign)
            self.tasks[name] = who

    @rule(who=names, to=st.sampled_from([0, 1]), at=sizes)
    def activates(self, who: str, to: int, at: int) -> None:
        person = self._prove(who, OWNER, at)
        if person is not None and to != self.policy:
            activate(self.world.stores[at % 2], RULES[to], person.sign, who)
            self.world.policy = to

    @precondition(lambda self: self.tasks)
    @rule(which=sizes, to=st.sampled_from(["x", "y"]), at=sizes)
    def tries(self, which: int, to: str, at: int) -> None:
        """The agent calls: it is asked about, refused, or runs once."""
        self._try(list(self.tasks)[which % len(self.tasks)], to, at)

    @precondition(lambda self: self.asks)
    @rule(which=sizes, how_many=st.integers(0, 3), at=sizes)
    def tries_again(self, which: int, how_many: int, at: int) -> None:
        """The same call, once some of those who may have approved it."""
        ask = list(self.asks.values())[which % len(self.asks)]
        for who in sorted(ask.able)[:how_many]:
            self.answers(which, who, "approve", at % 3 == 0, at)
        self._try(ask.task, ask.to, at + 1)

    def _try(self, capsule: str, to: str, at: int) -> None:
        one = self.both[at % 2]
        made = call("boss", "push", {"to": to}, capsule)
        mine = {n: a for n, a in self.asks.items() if (a.policy, a.task, a.to) == (self.policy, capsule, to)}
        decision, facts = judge(one, self.rulebook, made)
        if any(ask.state == "refused" for ask in mine.values()):
            assert decision.code == "refused"
            return
        approved = [ask for ask in mine.values() if ask.state == "approved"]
        assert decision.allowed is bool(approved), (decision.reason, mine)
        if approved:
            assert all(len(ask.approved) >= 2 and self.tasks[capsule] not in ask.approved for ask in approved)
            one.begin(made, decision, self.rulebook, facts)
            for ask in approved:
                ask.state = "used"
            return
        name = one.ask(made, decision, self.rulebook, facts, point="test").id
        able = {who for who in PEOPLE if _has(who, APPROVER, self.policy)} - {self.tasks[capsule], "fay"}
        if name not in self.asks:
            assert not any(ask.state == "open" for ask in mine.values())
            self.asks[name] = Asked(self.policy, capsule, to, frozenset(able))
        assert set(one.asked(name).ask.people or ()) == self.asks[name].able

    @precondition(lambda self: self.asks)
    @rule(
        which=sizes,
        who=names,
        verdict=st.sampled_from(["approve", "approve", "approve", "refuse"]),
        elsewhere=st.booleans(),
        at=sizes,
    )
    def somebody_answers(self, which: int, who: str, verdict: Any, elsewhere: bool, at: int) -> None:
        self.answers(which, who, verdict, elsewhere, at)

    def answers(self, which: int, who: str, verdict: Any, elsewhere: bool, at: int) -> None:
        one = self.both[at % 2]
        name = list(self.asks)[which % len(self.asks)]
        ask = self.asks[name]
        if elsewhere and ask.state == "open":
            request = make_request(one, name, who)
            signed = sign_answer(request, verdict, secret_of(who), at="2026-11-18T00:00:00Z", because="so")

            def give() -> Any:
                return take_answer(self.both[(at + 1) % 2], signed)
        else:
            person = self._prove(who, APPROVER, at)
            if person is None:
                return

            def give() -> Any:
                return one.answer(name, verdict, by=who, sign=person.sign)

        same = ask.state == {"approve": "approved", "refuse": "refused"}[verdict]
        can = ask.state == "open" or (ask.state == "approved" and verdict == "refuse")
        may = _has(who, APPROVER, self.policy) and (verdict == "refuse" or who in ask.able)
        found = self._agree(same or (can and may), give)
        if found is None or same:
            return
        if verdict == "refuse":
            ask.state = "refused"
            ask.approved.discard(who)
        else:
            ask.approved.add(who)
            ask.state = "approved" if len(ask.approved) >= 2 else "open"
        assert found.state == ask.state

    @rule(agent=st.sampled_from(AGENTS), at=sizes)
    def somebody_halts(self, agent: str, at: int) -> None:
        assert self.both[at % 2].halt(agent, by="x", because="y") is (agent not in self.world.halted)
        self.world.halted.add(agent)

    @rule(agent=st.sampled_from(AGENTS), who=names, at=sizes)
    def resumes(self, agent: str, who: str, at: int) -> None:
        person = self._prove(who, OPERATOR, at)
        if person is None:
            return
        halted = agent in self.world.halted
        self._agree(halted, lambda: self.both[at % 2].resume(agent, by=who, because="z", sign=person.sign))
        self.world.halted.discard(agent)

    @rule(agent=st.sampled_from(AGENTS), who=names, at=sizes)
    def reviews(self, agent: str, who: str, at: int) -> None:
        person = self._prove(who, AUDITOR, at)
        if person is not None:
            self.both[at % 2].sign_review(self.rulebook, agent, by=who, because="fine", sign=person.sign)
            self.reviewed[agent] = who

    @rule(agent=st.sampled_from(AGENTS), at=sizes)
    def something_is_found(self, agent: str, at: int) -> None:
        said = {"code": "unexplained-change", "reason": f"{self.run}-{len(self.incidents)}", "tool": "t", "point": "p"}
        made = self.both[at % 2].found_incident(**said, agent=agent, policy=self.rulebook.hash)
        self.incidents[made.id] = None

    @precondition(lambda self: self.incidents)
    @rule(which=sizes, who=names, at=sizes)
    def closes(self, which: int, who: str, at: int) -> None:
        name = list(self.incidents)[which % len(self.incidents)]
        person = self._prove(who, OPERATOR, at)
        if person is None:
            return
        done = partial(
            self.both[at % 2].close_incident, name, by=who, because="seen", rulebook=self.rulebook, sign=person.sign
        )
        self._agree(self.incidents[name] is None, done)
        self.incidents[name] = self.incidents[name] or who

    # What holds after each of them

    @invariant()
    def both_see_the_same(self) -> None:
        if not hasattr(self, "both"):
            return
        for one in self.both:
            assert one.halts(self.rulebook) == self.world.halted
        fresh: Authority = authority(self.world.stores[1], self.world.folder)
        assert {halt.who for halt in fresh.halted(self.rulebook)} == self.world.halted
        for name, ask in self.asks.items():
            found = fresh.asked(name)
            assert (found.state, set(found.approved)) == (ask.state, ask.approved)
        closed = {one.id: one.closed_by for one in fresh.incidents(self.rulebook)}
        assert {name: closed[name] for name in self.incidents} == self.incidents
        by = {review.who: review.by for review in fresh.reviews(self.rulebook)}
        assert {agent: by[agent] for agent in self.reviewed} == self.reviewed

    def teardown(self) -> None:
        if not hasattr(self, "both"):
            return
        self.world.met.update(ask.state for ask in self.asks.values())
        for name, ask in self.asks.items():
            if ask.state in ("open", "approved"):
                self.both[0].cancel(name, by="teardown")
        if self.run % 5 == 0:
            with self.world.stores[0].read() as view:
                assert state_faults(view) == []


def _run(url: str | None, folder: Path, examples: int, steps: int) -> None:
    world = World(url, folder)

    class Bound(Machine):
        pass

    Bound.world = world
    try:
        run_machine(Bound, settings=settings(max_examples=examples, stateful_step_count=steps, deadline=None))
    finally:
        world.close()
    print(dict(world.met))
    assert examples < 50 or {"used", "refused", "open"} <= world.met.keys()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credential, "NOW", QUICK)


def test_on_sqlite(tmp_path: Path) -> None:
    _run(None, tmp_path / "state", 8, 25)


@pytest.mark.more
def test_on_postgres(tmp_path: Path, postgres: Postgres) -> None:
    _run(postgres.uri_of(postgres.new_database()), tmp_path / "state", 8, 25)


@pytest.mark.long
def test_long_on_sqlite(tmp_path: Path) -> None:
    _run(None, tmp_path / "state", 300, 50)


@pytest.mark.long
def test_long_on_postgres(tmp_path: Path, postgres: Postgres) -> None:
    _run(postgres.uri_of(postgres.new_database()), tmp_path / "state", 150, 50)
