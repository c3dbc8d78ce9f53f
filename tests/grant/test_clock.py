"""The clock of authority: it recovers from every jump, and nobody gains time by one."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from remit.compile import build_rulebook
from remit.grant.authority import Authority
from remit.grant.clock import TOLERANCE, Clock, seconds_of
from remit.grant.errors import GrantError
from remit.grant.launches import add_launch, launches
from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.moments import moment
from remit.record.reader import entries
from remit.store import Store
from tests.grant.world import POLICY, START, Wall, authority, call, judge, open_world, rules, task
from tests.postgres import Postgres

HOUR, DAY = 3600, 24 * 3600
YEAR = 365 * DAY
RULES = rules()


class Site:
    """One store, and the machine that uses it."""

    def __init__(self, url: str | None, folder: Path) -> None:
        self.folder = folder / "state"
        self.store = open_world(url, self.folder)
        self.wall = Wall()
        self.one = self.process()

    def process(self, wall: Wall | None = None) -> Authority:
        """A new process."""
        return authority(self.store, self.folder, wall if wall is not None else self.wall)

    def approved(self, to: str = "a") -> Call:
        """A call that a person has approved."""
        made = call("boss", "push", {"to": to})
        decision, facts = judge(self.one, RULES, made)
        name = self.one.ask(made, decision, RULES, facts, point="test").id
        self.one.answer(name, "approve", by="ann")
        return made

    def issue(self, name: str, lasts: int | None = None, grants: tuple[str, ...] = ()) -> Call:
        """A call in a new task."""
        more = {"expires": self.one.clock.after(self.one.clock.now(), lasts)} if lasts is not None else {}
        self.one.issue(RULES, task(RULES, name, "boss", by="ann", grants=grants, **more))
        return call("boss", "look", {"path": "a"}, name)

    def code(self, made: Call, one: Authority | None = None) -> str:
        """`ran`, or why not."""
        return run(one if one is not None else self.one, made)

    def events(self) -> list[str]:
        with self.store.read() as view:
            said = [msgspec.json.decode(entry.body) for entry in entries(view)]
        return [event["what"] for event in said if event["type"] == "clock"]


def run(one: Authority, made: Call) -> str:
    decision, facts = judge(one, RULES, made)
    if not decision.allowed:
        return decision.code
    try:
        one.begin(made, decision, RULES, facts)
    except GrantError as error:
        return error.code
    return "ran"


def refused(does: Any) -> str:
    with pytest.raises(GrantError) as caught:
        does()
    return caught.value.code


@pytest.fixture
def site(url: str | None, tmp_path: Path) -> Iterator[Site]:
    found = Site(url, tmp_path)
    yield found
    found.store.close()


def test_forwards_and_set_right_again(site: Site) -> None:
    """What froze time before: an approval that is given after it lasts an hour."""
    free, old = site.issue("free"), site.approved("old")
    timed = site.issue("timed", DAY)
    site.wall.jumps(3 * YEAR)
    assert site.code(timed) == "capsule-ended"
    assert site.code(old) == "tier-asks"
    site.wall.jumps(-3 * YEAR)
    assert site.code(free) == "ran", "what doesn't end by itself goes on"
    assert site.code(timed) == "capsule-ended"
    assert refused(lambda: site.approved("b")) == "clock-in-doubt"
    assert refused(lambda: site.issue("more", HOUR)) == "clock-in-doubt"
    assert refused(lambda: site.one.ticket("free")) == "clock-in-doubt"
    site.one.repair_clock(by="ann")
    assert site.events() == ["jumped-forwards", "in-doubt", "repaired"]
    assert site.one.clock.now() == moment(START)
    for one in (site.one, site.process()):
        assert site.code(timed, one) == "capsule-ended"
        assert site.code(old, one) == "tier-asks"
    made = site.approved("c")
    site.wall.goes_on(HOUR - 1)
    assert site.code(made, site.process()) == "ran"
    made = site.approved("d")
    site.wall.goes_on(HOUR)
    assert site.code(made) == "tier-asks"


def test_what_was_given_in_the_wrong_time_gains_nothing_by_the_repair(site: Site) -> None:
    site.wall.jumps(YEAR)
    made, timed = site.approved(), site.issue("T", 2 * HOUR)
    ticket = site.one.ticket("T")
    site.wall.goes_on(HOUR // 2)
    site.wall.jumps(-YEAR)
    assert site.code(made) == site.code(timed) == "clock-in-doubt"
    assert refused(lambda: site.one.enter(ticket)) == "clock-in-doubt"
    assert site.one.repair_clock(by="ann").moved == 3
    assert site.one.state("T").task.capsule.expires == moment(START + 2 * HOUR)
    site.wall.goes_on(HOUR // 2 - 1)
    assert judge(site.one, RULES, made)[0].allowed
    site.wall.goes_on(1)
    assert site.code(made) == "tier-asks"
    assert refused(lambda: site.one.enter(ticket)) == "ticket-expired"
    site.wall.goes_on(HOUR - 1)
    assert site.code(timed) == "ran"
    site.wall.goes_on(1)
    assert site.code(timed) == "capsule-ended"


def test_a_new_process_on_the_same_machine_knows_how_much_time_has_passed(site: Site) -> None:
    """No process is there to see the jump: the steady clock of the machine is."""
    made = site.approved()
    site.wall.goes_on(HOUR)
    site.wall.jumps(-HOUR)
    assert site.code(made, site.process()) == "tier-asks"


def test_a_machine_that_was_off_and_comes_back_in_the_past(site: Site) -> None:
    """Nobody knows how long it was off, so repairing ends everything that ends by itself."""
    made, timed, free = site.approved(), site.issue("T", 30 * DAY), site.issue("free")
    ticket = site.one.ticket("free")
    site.wall.reboots(10)
    site.wall.jumps(-DAY)
    one = site.process()
    assert site.code(made, one) == site.code(timed, one) == "clock-in-doubt"
    assert site.code(free, one) == "ran"
    assert site.process().repair_clock(by="ann").gap
    assert site.code(made, one) == "tier-asks"
    assert site.code(timed, one) == "capsule-ended"
    assert refused(lambda: one.enter(ticket)) == "ticket-expired"
    assert site.code(free, one) == "ran"


def test_a_wall_clock_that_is_set_right_needs_no_person(site: Site) -> None:
    made = site.approved()
    site.wall.jumps(-DAY)
    assert site.code(made) == "clock-in-doubt"
    site.wall.goes_on(60)
    site.wall.jumps(DAY)
    assert site.code(made) == "ran"
    assert site.events() == ["in-doubt", "recovered"]
    assert refused(lambda: site.one.repair_clock(by="ann")) == "clock-sound"


def test_being_behind_outlasts_a_restart_of_the_machine(site: Site) -> None:
    made = site.approved()
    site.wall.jumps(-10 * 60)
    assert site.code(made) == "clock-in-doubt"
    site.wall.reboots(HOUR)
    assert site.code(made, site.process()) == "tier-asks"


def test_a_refusal_outlasts_a_repair(site: Site) -> None:
    made = site.approved()
    [name] = [f"A-{row[0]}" for row in _rows(site.store, "SELECT seq FROM ask")]
    site.one.answer(name, "refuse", by="bob")
    site.wall.jumps(-DAY)
    site.one.repair_clock(by="ann")
    assert site.code(made) == "refused"


def test_dates_in_the_policy_follow_the_repaired_clock(site: Site) -> None:
    until = moment(START + 30 * DAY)
    grant = {"agent": "hand", "may": ["extra"], "until": until, "adr": "ADR-1", "approved_by": "ann"}
    rulebook = build_rulebook(POLICY | {"grants": [grant]})
    made = call("hand", "extra", {"path": "a"})

    def verdict() -> str:
        return judge(site.one, rulebook, made)[0].verdict.word

    assert verdict() == "allow"
    site.wall.jumps(YEAR)
    assert verdict() == "deny"
    site.wall.jumps(-YEAR)
    assert verdict() == "deny"
    decision = judge(site.one, rulebook, made)[0]
    assert any("remit clock repair" in line for line in decision.detail)
    site.process().repair_clock(by="ann")
    site.wall.goes_on(6)
    assert verdict() == "allow", "also in a process that only ever looked"


def test_small_steps_are_nobody_s_business(site: Site) -> None:
    made = site.approved()
    for step in (-TOLERANCE, 200, -100):
        site.wall.jumps(step)
        site.wall.goes_on(10)
        assert judge(site.one, RULES, made)[0].allowed
    assert site.events() == []


def test_who_handed_work_to_whom_outlasts_a_jump(site: Site) -> None:
    add_launch(site.store, site.one.scribe, "s", "dev", ("lead",))
    site.wall.jumps(YEAR)
    add_launch(site.store, site.one.scribe, "other", "dev", ("lead",))
    assert launches(site.store, "s", "dev") == [("lead",)]


def test_machines_that_share_a_server_share_its_clock(postgres: Postgres, tmp_path: Path) -> None:
    url = postgres.uri_of(postgres.new_database())
    with_store = open_world(url, tmp_path / "state")
    try:
        astray = Clock(lambda: time.time() - YEAR, boot="astray")
        with with_store.read() as view:
            found = astray.read(view)
        assert found.doubt is None
        assert abs(seconds_of(found.now) - time.time()) < 60
    finally:
        with_store.close()


def test_the_reason_names_the_command(site: Site) -> None:
    made = site.issue("T", DAY)
    site.wall.jumps(-DAY)
    decision = judge(site.one, RULES, made)[0]
    assert decision.code == "clock-in-doubt"
    assert "remit clock repair" in decision.reason


def _rows(store: Store, sql: str) -> list[tuple[Any, ...]]:
    with store.read() as view:
        return view.rows(sql)


# Whatever happens


class Machines(RuleBasedStateMachine):
    """Two machines with one wall clock, which goes where it likes; `real` is the time that really passes.

    Nothing is usable for longer than it was granted, and nothing that was over is ever usable again. Two things can't
    be noticed by anybody, and don't happen here: a wall clock that is set back while a machine is off, by less than it
    was off; and one that is set back before the first look after a start. Steps within the tolerance count as nothing,
    so each start of a machine may cost one.
    """

    server: Postgres | None
    folder: Path

    @initialize()
    def start(self) -> None:
        url = self.server.uri_of(self.server.new_database()) if self.server is not None else None
        self.site = Site(url, self.folder / secrets.token_hex(4))
        self.walls = [self.site.wall, Wall()]
        self.ones = [self.site.process(wall) for wall in self.walls]
        self.real = 0
        self.starts = 0
        self.count = 0
        self.calls: dict[str, tuple[Call, int, int, int]] = {}
        """By name: the call, when it was granted, for how long, and how often machines had started by then."""
        self.tickets: dict[str, tuple[str, int, int, int]] = {}
        self.over: set[str] = set()
        self._look()

    def teardown(self) -> None:
        if hasattr(self, "site"):
            self.site.store.close()

    def _look(self) -> None:
        for one in self.ones:
            one.facts(None, Facts())

    def _passes(self, seconds: int) -> None:
        self.real += seconds
        for wall in self.walls:
            wall.steady += seconds

    def _set(self, at: float) -> None:
        for wall in self.walls:
            wall.at = at

    @rule(seconds=st.sampled_from([1, 60, 299, 301, 1800, HOUR, DAY]))
    def goes_on(self, seconds: int) -> None:
        self._passes(seconds)
        self._set(self.walls[0].at + seconds)

    @rule(seconds=st.sampled_from([200, 301, HOUR, DAY, YEAR]), back=st.booleans(), seen=st.booleans())
    def jumps(self, seconds: int, back: bool, seen: bool) -> None:
        self._set(self.walls[0].at + (-seconds if back else seconds))
        if seen:
            self._look()

    @rule(which=st.integers(0, 1))
    def process_starts_anew(self, which: int) -> None:
        self.ones[which] = self.site.process(self.walls[which])

    @rule(
        which=st.integers(0, 1),
        off=st.sampled_from([1, 600, DAY]),
        wrong=st.sampled_from([None, None, "ahead", "behind"]),
        seconds=st.sampled_from([1, HOUR, YEAR]),
    )
    def machine_starts_anew(self, which: int, off: int, wrong: str | None, seconds: int) -> None:
        self._look()
        self.starts += 1
        for wall in self.walls:
            wall.at += off
        self.real += off
        self.walls[1 - which].steady += off
        self.walls[which].steady, self.walls[which].boot = 1.0, secrets.token_hex(8)
        if wrong == "ahead":
            self._set(self.walls[0].at + seconds)
        elif wrong == "behind":
            [(seen,)] = _rows(self.site.store, "SELECT seen FROM moment")
            self._set(min(self.walls[0].at, seconds_of(seen) - TOLERANCE - seconds))
        self.ones[which] = self.site.process(self.walls[which])
        self._look()

    @rule(which=st.integers(0, 1))
    def person_repairs(self, which: int) -> None:
        one = self.ones[which]
        with self.site.store.read() as view:
            doubt = one.clock.read(view).doubt
        if doubt is None:
            assert refused(lambda: one.repair_clock(by="ann")) == "clock-sound"
        else:
            one.repair_clock(by="ann")
            with self.site.store.read() as view:
                assert one.clock.read(view) == (moment(self.walls[which].at), None)

    @rule(which=st.integers(0, 1), what=st.sampled_from(["approval", "task", "ticket"]))
    def person_gives(self, which: int, what: str) -> None:
        self.site.one, self.count = self.ones[which], self.count + 1
        name = f"{what}{self.count}"
        with self.site.store.read() as view:
            doubt = self.site.one.clock.read(view).doubt
        if doubt is not None:
            assert refused(lambda: self._give(what, name)) == "clock-in-doubt"
        else:
            self._give(what, name)

    def _give(self, what: str, name: str) -> None:
        if what == "approval":
            self.calls[name] = (self.site.approved(name), self.real, HOUR, self.starts)
        elif what == "task":
            self.calls[name] = (self.site.issue(name, 2 * HOUR), self.real, 2 * HOUR, self.starts)
        else:
            self.site.issue(name)
            self.tickets[name] = (self.site.one.ticket(name), self.real, HOUR, self.starts)

    @precondition(lambda self: self.calls)
    @rule(which=st.integers(0, 1), pick=st.integers(0, 10**6))
    def agent_uses(self, which: int, pick: int) -> None:
        name = sorted(self.calls)[pick % len(self.calls)]
        made, given, lasts, starts = self.calls[name]
        code = run(self.ones[which], made)
        if code == "ran":
            self._in_time(name, given, lasts, starts)
        elif code != "clock-in-doubt":
            self.over.add(name)
        if name.startswith("approval") and code == "ran":
            del self.calls[name]

    @precondition(lambda self: self.tickets)
    @rule(which=st.integers(0, 1), pick=st.integers(0, 10**6))
    def ticket_is_taken(self, which: int, pick: int) -> None:
        name = sorted(self.tickets)[pick % len(self.tickets)]
        text, given, lasts, starts = self.tickets[name]
        try:
            self.ones[which].enter(text)
        except GrantError as error:
            if error.code != "clock-in-doubt":
                self.over.add(name)
        else:
            self._in_time(name, given, lasts, starts)
            del self.tickets[name]

    def _in_time(self, name: str, given: int, lasts: int, starts: int) -> None:
        assert name not in self.over, "it was over already"
        assert self.real - given < lasts + TOLERANCE * (1 + self.starts - starts)


def _run(server: Postgres | None, folder: Path, examples: int, steps: int) -> None:
    class Bound(Machines):
        pass

    Bound.server, Bound.folder = server, folder
    run_state_machine_as_test(Bound, settings=settings(max_examples=examples, stateful_step_count=steps))


def test_a_clock_is_read_for_one_start_of_a_machine(tmp_path: Path) -> None:
    """What was read of the steady clock of one start says nothing about another's, within one process either."""

    class Two(Machines):
        pass

    Two.server, Two.folder = None, tmp_path
    two = Two()
    two.start()
    two.goes_on(seconds=1)
    two.person_gives(what="task", which=0)
    two.person_gives(what="ticket", which=0)
    two.machine_starts_anew(off=1, seconds=1, which=1, wrong=None)
    two.agent_uses(pick=0, which=1)
    two.person_repairs(which=0)
    two.teardown()


def test_on_sqlite(tmp_path: Path) -> None:
    _run(None, tmp_path, 25, 30)


def test_on_postgres(tmp_path: Path, postgres: Postgres) -> None:
    _run(postgres, tmp_path, 8, 30)


@pytest.mark.long
def test_long_on_sqlite(tmp_path: Path) -> None:
    _run(None, tmp_path, 1500, 60)


@pytest.mark.long
def test_long_on_postgres(tmp_path: Path, postgres: Postgres) -> None:
    _run(postgres, tmp_path, 500, 60)
