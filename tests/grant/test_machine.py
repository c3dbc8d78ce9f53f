"""Authority against a model of it: whatever is done in whatever order, by two processes whose clocks go astray.

The same machine runs on SQLite and on PostgreSQL.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from remit.grant.authority import CHANGED, Authority
from remit.grant.clock import seconds_of
from remit.grant.errors import GrantError
from remit.model.decision import Decision
from remit.model.facts import Facts
from remit.model.moments import moment
from remit.model.rulebook import Rulebook
from remit.record.audit import state_faults
from remit.record.reader import entries
from remit.record.state import SPENT, Said, newest
from remit.store import Store
from tests.grant import model
from tests.grant.model import AGENTS, Key, Model, Process
from tests.grant.world import GRANTS, START, Wall, authority, call, judge, open_world, rules, task
from tests.postgres import Postgres

names = st.sampled_from(sorted(AGENTS))
sizes = st.integers(0, 10**6)
spans = st.one_of(
    st.integers(1, 90), st.integers(1, 90), st.integers(1, 90), st.sampled_from([1800, 3600, 3601, 24 * 3600, 10**6])
)
KINDS = ("capsule", "gate", "approval", "revocation")


class World:
    """Two processes on one state; it serves one example after the other, each with names of its own."""

    def __init__(self, url: str | None, folder: Path) -> None:
        self.rulebook: Rulebook = rules()
        self.stores: list[Store] = [open_world(url, folder) for _ in range(2)]
        self.folder = folder
        self.runs = itertools.count(1)
        self.latest = float(START)

    def close(self) -> None:
        for store in self.stores:
            store.close()


class Machine(RuleBasedStateMachine):
    """Rules are what processes do; each is done to the model too, and the two must agree."""

    world: World

    @initialize(team=st.sampled_from(["none", "free", "few"]), tiers=st.sampled_from([(), (1, 2)]))
    def begin(self, team: str, tiers: tuple[int, ...]) -> None:
        """Perhaps there is a task already that was handed on twice."""
        world = self.world
        self.run = next(world.runs)
        self.model = Model()
        start = Wall(world.latest + 1)
        with suppress(GrantError):  # the clock is not in doubt
            authority(world.stores[0], world.folder, start).repair_clock(by="ann")
        with world.stores[0].read() as view:
            self.first = int(view.rows("SELECT size FROM head")[0][0])
            self.asked = int(view.rows("SELECT coalesce(max(seq), 0) FROM ask")[0][0])
            seen, era, behind, gap = view.rows("SELECT seen, era, behind, gap FROM moment")[0]
        assert (behind, bool(gap)) == (None, False), "how it begins is no matter of what was done before"
        self.model.stored, self.model.era = int(seconds_of(seen)), era
        self.processes = [Process(Wall(max(world.latest, self.model.stored) + 1)) for _ in world.stores]
        self.authorities: list[Authority] = []
        for process, store in zip(self.processes, world.stores, strict=True):
            self.authorities.append(authority(store, world.folder, process.wall))
        self.names: list[str] = []
        self.held: list[tuple[Key, Any, Decision, Facts, frozenset[str]]] = []
        self.texts: list[str] = []
        if team != "none":
            self.person_issues_to("boss", tiers, (4, 2) if team == "few" else (None, None))
            for depth, (giver, taker) in enumerate((("boss", "lead"), ("lead", "hand"))):
                given = frozenset(tiers) & {1}
                above = self.names[depth]
                more = (frozenset(GRANTS), given, (None, None), None)
                self._issue(0, f"r{self.run}.{depth + 1}", taker, giver, above, *more)
            assert len(self.names) == 3
            for which, what in ((0, ("push", "p")), (1, ("sign", "s")), (None, ("push", "p"))):
                self._attempt(0, "boss", which, 1, what, False)
            assert len(self.model.asks) == 3

    def person_issues_to(self, agent: str, tiers: tuple[int, ...], budget: tuple[int | None, int | None]) -> None:
        """A task that there is nothing against, with everything in it."""
        name = f"r{self.run}.{len(self.names)}"
        self._issue(0, name, agent, None, None, frozenset(GRANTS), frozenset(tiers), budget, None)

    def teardown(self) -> None:
        """Nothing of this example may run out in the next one."""
        if not hasattr(self, "authorities"):
            return
        one = self.authorities[0]
        for name in self.names:
            with suppress(GrantError):
                one.end(name, by="teardown")
        for ask in one.waiting():
            one.cancel(ask.id, by="teardown")
        for name, ask_ in self.model.asks.items():
            if ask_.state == "approved":
                with suppress(GrantError):
                    one.cancel(name, by="teardown")
        self.world.latest = max(self.world.latest, *(p.wall.at for p in self.processes))
        if self.run % 10:
            return
        with self.world.stores[1].read() as view:
            assert state_faults(view) == [], "whatever was done, the entries say what came of it"

    # Helping hands

    def _who(self, at: int) -> tuple[Process, Authority]:
        return self.processes[at % 2], self.authorities[at % 2]

    def _pick(self, at: int) -> str:
        return self.names[at % len(self.names)]

    def _pick_ask(self, at: int) -> str:
        """By age: an example done again has other numbers, which may sort otherwise as text (A-99, A-100)."""
        return list(self.model.asks)[at % len(self.model.asks)]

    def _agree(self, expected: bool, does: Callable[[], Any]) -> Any:
        """Both succeed, or neither does."""
        found, error = None, None
        try:
            found = does()
        except GrantError as raised:
            error = raised
        assert (error is None) is expected, f"the model says otherwise: {error!r}"
        return (found if found is not None else True) if error is None else None

    # Clocks

    @rule(at=sizes, what=st.sampled_from(["goes on", "goes on", "forwards", "back", "anew", "off"]), seconds=spans)
    def time(self, at: int, what: str, seconds: int) -> None:
        """Time passes; or a wall clock is set; or a process starts anew, and what only it knew is forgotten."""
        wall = self._who(at)[0].wall
        if what == "goes on":
            wall.goes_on(seconds)
        elif what in ("anew", "off"):
            if what == "off":
                wall.reboots(seconds)
            self.processes[at % 2] = Process(wall)
            self.authorities[at % 2] = authority(self.world.stores[at % 2], self.world.folder, wall)
        else:
            wall.jumps(seconds if what == "forwards" else -seconds)

    @rule(at=sizes)
    def repair(self, at: int) -> None:
        """A person repairs the clock, where it is in doubt."""
        process, one = self._who(at)
        self._agree(self.model.repair(process), lambda: one.repair_clock(by="ann"))

    # Tasks

    @rule(
        at=sizes,
        agent=names,
        by=st.one_of(st.just(None), names),
        parent=st.one_of(st.none(), sizes),
        grants=st.frozensets(st.sampled_from(sorted(GRANTS))),
        tiers=st.frozensets(st.integers(0, 3), max_size=2),
        budget=st.tuples(*[st.one_of(st.none(), st.integers(1, 3))] * 2),
        lasts=st.one_of(st.none(), spans),
        again=st.booleans(),
    )
    def issue(
        self,
        at: int,
        agent: str,
        by: str | None,
        parent: int | None,
        grants: frozenset[str],
        tiers: frozenset[int],
        budget: tuple[int | None, int | None],
        lasts: int | None,
        again: bool,
    ) -> None:
        above = self._pick(parent) if parent is not None and self.names else None
        name = self._pick(at) if again and self.names and at % 5 == 0 else f"r{self.run}.{len(self.names)}"
        self._issue(at, name, agent, by, above, grants, tiers, budget, lasts)

    def _issue(
        self,
        at: int,
        name: str,
        agent: str,
        by: str | None,
        above: str | None,
        grants: frozenset[str],
        tiers: frozenset[int],
        budget: tuple[int | None, int | None],
        lasts: int | None,
    ) -> None:
        process, one = self._who(at)
        expires = None
        if lasts is not None:
            with one.store.read() as view:
                assert one.clock.now(view) == moment(self.model.read(process)[0])
            expires = self.model.read(process)[0] + lasts
        new = model.Task(
            agent, above, grants, tiers, *budget, expires, by or "ann", "agent" if by is not None else "human"
        )
        limits = {key: most for key, most in zip(("calls", "writes"), budget, strict=True) if most is not None}
        more: dict[str, Any] = {"data_tiers": sorted(tiers), "by": new.by, "issuer": new.issuer}
        more |= {"budget": limits} if limits else {}
        more |= {"parent": above} if above is not None else {}
        more |= {"expires": moment(expires)} if expires is not None else {}
        made = task(self.world.rulebook, name, agent, grants=tuple(sorted(grants)), gates=["demo"], **more)
        expected = self.model.issue(process, name, new)
        if self._agree(expected, lambda: one.issue(self.world.rulebook, made)):
            self.names.append(name)

    @precondition(lambda self: 0 < len(self.names) < 8)
    @rule(at=sizes, parent=sizes, data=st.data())
    def hand_on(self, at: int, parent: int, data: st.DataObject) -> None:
        """As agents do it: to somebody they may hand work to, with some of what they have."""
        above = self._pick(parent)
        have = self.model.tasks[above]
        agent = data.draw(st.sampled_from(AGENTS[have.agent]["delegates_to"]))
        grants = data.draw(st.frozensets(st.sampled_from(sorted(have.grants)))) if have.grants else frozenset()
        tiers = data.draw(st.frozensets(st.sampled_from(sorted(have.tiers)))) if have.tiers else frozenset()
        self._issue(at, f"r{self.run}.{len(self.names)}", agent, have.agent, above, grants, tiers, (None, None), None)

    @precondition(lambda self: len(self.names) < 5)
    @rule(
        agent=st.sampled_from(["boss", "lead"]),
        tiers=st.sampled_from([(), (1,), (1, 2)]),
        budget=st.sampled_from([(2, 1), (None, None)]),
    )
    def person_issues(self, agent: str, tiers: tuple[int, ...], budget: tuple[int | None, int | None]) -> None:
        self.person_issues_to(agent, tiers, budget)

    @precondition(lambda self: self.names)
    @rule(
        at=sizes,
        which=sizes,
        what=st.sampled_from([("push", "p"), ("push", "q"), ("look", "a"), ("make", "a")]),
        hold=st.booleans(),
    )
    def act_in_a_task(self, at: int, which: int, what: tuple[str, str], hold: bool) -> None:
        self._attempt(at, "boss", len(self.names) - 1 - which % len(self.names), 1, what, hold)

    @precondition(lambda self: len(self.names) > 2)
    @rule(at=sizes, which=sizes)
    def end(self, at: int, which: int) -> None:
        process, one = self._who(at)
        name = self._pick(which)
        expected = self.model.end(process, name)
        ending = self._agree(expected, lambda: one.end(name, by="ann"))
        if ending:
            assert {state.task.capsule.id for state in ending.states} <= set(self.model.below(name))

    @precondition(lambda self: self.names)
    @rule(at=sizes, which=sizes)
    def pass_gate(self, at: int, which: int) -> None:
        process, one = self._who(at)
        name = self._pick(which)
        expected = self.model.pass_gate(process, name)
        self._agree(expected, lambda: one.pass_gate(name, "demo", by="ann"))

    # Calls

    @rule(
        at=sizes,
        agent=names,
        which=st.one_of(st.none(), sizes),
        mine=st.integers(0, 9),
        what=st.sampled_from(
            [("look", "a"), ("look", "one/a"), ("look", "two/a"), ("look", "three/a"), ("make", "a"), ("make", "one/b")]
            + [("extra", "x/a"), ("extra", "y/a")]
            + [("push", "p"), ("push", "q"), ("sign", "s"), ("sign", "s")] * 3
        ),
        hold=st.booleans(),
    )
    def attempt(self, at: int, agent: str, which: int | None, mine: int, what: tuple[str, str], hold: bool) -> None:
        self._attempt(at, agent, which, mine, what, hold)

    def _attempt(self, at: int, agent: str, which: int | None, mine: int, what: tuple[str, str], hold: bool) -> None:
        """Decided, and asked or begun as enforcement points do; perhaps something happens before it begins."""
        process, one = self._who(at)
        capsule = self._pick(which) if which is not None and self.names else None
        if capsule is not None and mine:
            agent = self.model.tasks[capsule].agent
        tool, value = what
        key: Key = (agent, capsule, tool, value)
        argument = {"push": "to", "sign": "what"}.get(tool, "path")
        chain = self.model.chain(capsule) if capsule is not None else ()
        made = call(agent, tool, {argument: value}, capsule, session=f"s{self.run}", chain=chain)
        verdict, counted = self.model.judged(process, key)
        decision, facts = judge(one, self.world.rulebook, made)
        assert decision.verdict.word == verdict, (decision.code, decision.reason, decision.detail)
        if verdict == "ask":
            name = self.model.ask(process, f"A-{self.asked + len(self.model.asks) + 1}", key, self.model.of(key))
            asked = one.ask(made, decision, self.world.rulebook, facts, point="test")
            assert asked.id == name
            assert asked.ask.of == self.model.of(key)
            assert one.arguments(name)["args"] == made.args
        elif verdict == "allow":
            if hold:
                self.held.append((key, made, decision, facts, counted))
            else:
                self._begin(process, one, key, made, decision, facts, counted)

    @precondition(lambda self: self.held)
    @rule(at=sizes, which=sizes, again=st.booleans())
    def begin_later(self, at: int, which: int, again: bool) -> None:
        process, one = self._who(at)
        index = which % len(self.held)
        self._begin(process, one, *self.held[index])
        if not again:
            del self.held[index]

    def _begin(
        self, process: Process, one: Authority, key: Key, made: Any, decision: Any, facts: Any, counted: frozenset[str]
    ) -> None:
        expected = self.model.start(process, key, counted)

        def begin() -> None:
            """As enforcement points do it: what has changed since is decided again."""
            try:
                one.begin(made, decision, self.world.rulebook, facts)
            except GrantError as error:
                if error.code != CHANGED:
                    raise
                anew, known = judge(one, self.world.rulebook, made)
                if not anew.allowed:
                    raise
                one.begin(made, anew, self.world.rulebook, known)

        self._agree(expected, begin)

    @precondition(lambda self: self.names)
    @rule(at=sizes, which=sizes, forged=st.lists(names, max_size=3))
    def forged_chain(self, at: int, which: int, forged: list[str]) -> None:
        """A call that says it came another way never begins, and is never put before anybody."""
        process, one = self._who(at)
        capsule = self._pick(which)
        line = self.model.line(capsule)
        known = self.model.chain(capsule)
        chain = tuple(forged)
        prefix = line[-1].issuer == "agent" and chain[len(chain) - len(known) :] == known
        if chain == known or prefix:
            return
        made = call(line[0].agent, "look", {"path": "a"}, capsule, chain=chain)
        self.model.judged(process, (line[0].agent, capsule, "look", "a"))
        decision, facts = judge(one, self.world.rulebook, made)
        if decision.allowed:
            with pytest.raises(GrantError):
                one.begin(made, decision, self.world.rulebook, facts)

    # Answers

    @precondition(lambda self: self.model.asks)
    @rule(
        at=sizes,
        which=sizes,
        verdict=st.sampled_from(["approve", "approve", "refuse"]),
        who=st.integers(0, 3),
        by=names,
    )
    def answer(self, at: int, which: int, verdict: Any, who: int, by: str) -> None:
        process, one = self._who(at)
        name = self._pick_ask(which)
        ask = self.model.asks[name]
        kind: Any = "agent" if who < 2 and ask.of != "human" else "human"
        if kind == "human":
            by = "ann"
        elif who == 0:
            by = ask.of
        expected = self.model.answer(process, name, verdict, by, kind)
        self._agree(expected, lambda: one.answer(name, verdict, by=by, kind=kind))

    @precondition(lambda self: self.model.asks)
    @rule(at=sizes, which=sizes, approve=st.booleans(), hold=st.sampled_from([False, False, True]))
    def retry(self, at: int, which: int, approve: bool, hold: bool) -> None:
        """Whoever asked comes again, perhaps once a person has approved."""
        process, one = self._who(at)
        name = self._pick_ask(which)
        agent, capsule, tool, value = self.model.asks[name].key
        if approve:
            expected = self.model.answer(process, name, "approve", "ann", "human")
            self._agree(expected, lambda: one.answer(name, "approve", by="ann"))
        at_ = self.names.index(capsule) if capsule is not None else None
        self._attempt(at + 1, agent, at_, 0, (tool, value), hold)

    @precondition(lambda self: len(self.model.asks) > 3)
    @rule(at=sizes, which=sizes)
    def cancel(self, at: int, which: int) -> None:
        process, one = self._who(at)
        name = self._pick_ask(which)
        expected = self.model.cancel(process, name)
        self._agree(expected, lambda: one.cancel(name, by="ann"))

    # Tickets

    @precondition(lambda self: self.names)
    @rule(at=sizes, which=sizes)
    def offer(self, at: int, which: int) -> None:
        process, one = self._who(at)
        name = self._pick(which)
        expected = self.model.offer(process, name)
        text = self._agree(expected, lambda: one.ticket(name))
        if text:
            self.texts.append(text)
            self.model.tickets[text] = model.Ticket(name, self.model.stored + model.TICKET_WITHIN)

    @precondition(lambda self: self.texts)
    @rule(at=sizes, which=sizes)
    def enter(self, at: int, which: int) -> None:
        """Taken, perhaps again, perhaps by another process."""
        process, one = self._who(at)
        text = self.texts[which % len(self.texts)]
        expected = self.model.enter(process, text)
        line = self._agree(expected, lambda: one.enter(text))
        if line:
            assert line[0].task.capsule.id == self.model.tickets[text].capsule

    # What holds after each of them

    @invariant()
    def store_is_as_the_model(self) -> None:
        if not hasattr(self, "model"):
            return
        with self.world.stores[0].read() as view:
            asks = {
                f"A-{seq}": state for seq, state in view.rows("SELECT seq, state FROM ask WHERE seq > ?", self.asked)
            }
            like = f"r{self.run}.%"
            ended = dict(view.rows("SELECT id, ended FROM capsule WHERE id LIKE ?", like))
            bodies = dict(view.rows("SELECT id, body FROM capsule WHERE id LIKE ?", like))
            spent = {name: newest(view, (SPENT, (name,)))[0] for name in self.names}
            sealed = {str(row[0]) for row in view.rows("SELECT id FROM sealed")}
            said = [msgspec.json.decode(e.body) for e in entries(view, self.first)]
        assert asks == {name: ask.state for name, ask in self.model.asks.items()}
        assert {n: e is not None for n, e in ended.items()} == {n: t.ended for n, t in self.model.tasks.items()}
        assert sealed == {name for name, ask in self.model.asks.items() if ask.state == "open"}
        self._bounded(spent, ended)
        self._narrowed(bodies)
        events = [e for e in said if e["type"] in KINDS and not str(e.get("what")).endswith("moved")]
        assert Counter(map(_told, events)) == Counter(self.model.log)
        ends = Counter(e["approval"] for e in events if e.get("what") in ("used", "refused", "expired", "cancelled"))
        assert set(ends.values()) <= {1}, "an ask ends once"
        assert set(self.model.runs.values()) <= {1}, "an approval runs once"

    def _bounded(self, spent: dict[str, Said | None], ended: dict[str, Any]) -> None:
        for name, found in self.model.tasks.items():
            said = spent.get(name)
            used = said.row if said is not None else {}
            if found.calls is not None:
                assert used.get("calls", 0) == found.ran <= found.calls
            if found.writes is not None:
                assert used.get("writes", 0) == found.wrote <= found.writes
            if found.parent is not None and ended[found.parent] is not None:
                assert ended[name] is not None, "alive below a task that has ended"

    def _narrowed(self, bodies: dict[str, Any]) -> None:
        kept = {name: msgspec.json.decode(bytes(body))["capsule"] for name, body in bodies.items()}
        for name, capsule in kept.items():
            record = AGENTS[capsule["agent"]]
            tiers = set(capsule.get("data_tiers", ()))
            assert tiers <= {*record["data_tiers"], *record["data_tiers_with_grant"]}
            if capsule.get("parent") is None:
                continue
            above = kept[capsule["parent"]]
            assert tiers <= set(above.get("data_tiers", ())), name
            assert _scopes(capsule) <= _scopes(above)
            assert "expires" not in above or capsule["expires"] <= above["expires"]


def _scopes(capsule: dict[str, Any]) -> set[str]:
    return {f"{rule['tools']} {rule['scope']}" for rule in capsule.get("grants", ())}


def _told(event: dict[str, Any]) -> tuple[str, ...]:
    kind = str(event["type"])
    if kind == "approval":
        return kind, event["what"], event["approval"]
    if kind != "capsule":
        return kind, event["capsule"]
    if event["what"] == "not-entered":
        return kind, event["what"]
    return (kind, event["what"], event["capsule"], *((event["by"],) if event["what"] == "issued" else ()))


def _run(url: str | None, folder: Path, examples: int, steps: int) -> None:
    world = World(url, folder)

    class Bound(Machine):
        pass

    Bound.world = world
    try:
        run_state_machine_as_test(Bound, settings=settings(max_examples=examples, stateful_step_count=steps))
    finally:
        world.close()


def test_on_sqlite(tmp_path: Path):
    _run(None, tmp_path / "state", 30, 35)


def test_on_postgres(tmp_path: Path, postgres: Postgres):
    _run(postgres.uri_of(postgres.new_database()), tmp_path / "state", 10, 30)


@pytest.mark.long
def test_long_on_sqlite(tmp_path: Path):
    _run(None, tmp_path / "state", 1500, 60)


@pytest.mark.long
def test_long_on_postgres(tmp_path: Path, postgres: Postgres):
    _run(postgres.uri_of(postgres.new_database()), tmp_path / "state", 800, 60)
