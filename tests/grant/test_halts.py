"""Halts and incidents: what counts, who is halted, for how long, and what nobody but a person can lift."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.decide.case import STEP
from remit.enforce.attempt import Enforcer, Passage, wait
from remit.enforce.carrier import Carrier
from remit.grant.authority import Authority
from remit.grant.errors import GrantError
from remit.grant.halts import REASONS, SYSTEM, TASK
from remit.model.call import Call, Context
from remit.model.decision import Decision
from remit.model.facts import Facts
from remit.record.state import StateForged
from remit.record.writer import Ledger
from remit.store import Store
from tests.grant.world import Wall, authority, open_world
from tests.postgres import Postgres

POLICY: dict[str, Any] = {
    "remit": 1,
    "tools": {
        "look": {"args": {"path": "path"}, "does": {"read": "path"}},
        "make": {"args": {"path": "path"}, "does": {"write": "path"}},
        "term": {"args": {"command": "shell"}},
    },
    "agents": {
        "one": {"may": ["look"], "on_violation": {"halt": {"after": 1}}},
        "two": {
            "may": ["look"],
            "may_not": [{"make": {"path": "secret/**"}}],
            "on_violation": {"halt": {"after": 3, "within": "10m", "for": ["may_not"]}},
        },
        "free": {"may": ["look"]},
        "sub": {"may": ["look"], "on_violation": {"halt": {"after": 1}}},
        "sh": {
            "may": [{"term": {"shell": {"run": [{"git": ["status"]}]}}}],
            "on_violation": {"halt": {"after": 1}},
        },
    },
}
LOOK, MAKE = {"path": "a"}, {"path": "secret/a"}


class Plain(Carrier):
    """A call, and nothing that could be done for it."""

    def __init__(self, call: Call) -> None:
        self.call = call


class Place:
    """A store, and processes that share it."""

    def __init__(self, url: str | None, folder: Path) -> None:
        self.url, self.folder, self.wall = url, folder, Wall()
        self.stores: list[Store] = []
        self.ledgers: list[Ledger] = []

    def process(self) -> tuple[Enforcer, Authority]:
        """What one process has: an enforcer, and its authority."""
        store = open_world(self.url, self.folder)
        one = authority(store, self.folder, self.wall)
        ledger = Ledger(store, point="test")
        self.stores.append(store)
        self.ledgers.append(ledger)
        return Enforcer(one, ledger, lambda: RULES, lambda book: Facts(root="/w", store=True)), one

    def close(self) -> None:
        for ledger in self.ledgers:
            ledger.close()
        for store in self.stores:
            store.close()


RULES = build_rulebook(POLICY)


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    url = None
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.uri_of(server.new_database())
    found = Place(url, tmp_path / "state")
    yield found
    found.close()


def tried(enforcer: Enforcer, agent: str, tool: str, args: dict[str, Any], **context: Any) -> str:
    """`ran`, or the code by which it did not."""
    found = wait(enforcer.attempt(Plain(Call(agent, tool, args, Context(**context)))))
    if isinstance(found, Passage):
        found.run(lambda args: None)
        return "ran"
    return found.code


def test_the_first_violation_halts_the_agent_in_every_process(place: Place) -> None:
    (here, one), (there, other) = place.process(), place.process()
    assert [tried(p, "one", "look", LOOK) for p in (here, there)] == ["ran", "ran"]
    assert tried(here, "one", "make", LOOK) == "not-permitted"
    assert [tried(p, "one", "look", LOOK) for p in (here, there, place.process()[0])] == ["halted"] * 3
    assert tried(there, "free", "look", LOOK) == "ran"
    [halt], [incident] = other.halted(), other.incidents()
    assert (halt.who, halt.by, halt.incident) == ("one", "remit", "I-1")
    assert (incident.id, incident.state, incident.agent, incident.tool) == ("I-1", "open", "one", "make")
    assert (incident.code, incident.point, incident.policy) == ("not-permitted", "test", RULES.hash)
    one.resume("one", by="ann", because="a mistake")
    assert [tried(p, "one", "look", LOOK) for p in (here, there)] == ["ran", "ran"]
    assert other.incidents()[0].state == "open", "that somebody goes on closes nothing"


def test_only_what_the_policy_counts_and_only_within_the_time(place: Place) -> None:
    enforcer, one = place.process()
    for _ in range(5):
        assert tried(enforcer, "two", "make", {"path": "b"}) == "not-permitted"  # not among its reasons
    for _ in range(2):
        assert tried(enforcer, "two", "make", MAKE) == "may-not"
    place.wall.goes_on(601)
    for _ in range(2):
        assert tried(enforcer, "two", "make", MAKE) == "may-not"
        assert one.halted() == []
    assert tried(enforcer, "two", "make", MAKE) == "may-not"
    assert [halt.who for halt in one.halted()] == ["two"]
    assert one.incidents()[0].count == 3
    assert tried(enforcer, "two", "look", LOOK) == "halted"
    one.resume("two", by="ann", because="looked at")
    for _ in range(2):
        assert tried(enforcer, "two", "make", MAKE) == "may-not", "it begins anew"
    assert one.halted() == []


def test_without_on_violation_nobody_is_halted(place: Place) -> None:
    enforcer, one = place.process()
    for _ in range(20):
        assert tried(enforcer, "free", "make", MAKE) == "not-permitted"
    assert (one.halted(), one.incidents()) == ([], [])


def test_what_is_no_violation_halts_nobody(place: Place) -> None:
    enforcer, one = place.process()
    assert tried(enforcer, "one", "look", {}) != "ran"  # malformed
    assert tried(enforcer, "one", "nothing", {}) == "unknown-tool"
    assert tried(enforcer, "nobody", "look", LOOK) == "unknown-agent"
    assert tried(enforcer, "sh", "term", {"command": "git $x"}) == "not-permitted"  # nobody knows what it is
    assert one.halted() == []
    assert tried(enforcer, "sh", "term", {"command": "git push"}) == "not-permitted"
    assert [halt.who for halt in one.halted()] == ["sh"]


def test_who_works_for_a_halted_agent_is_halted_too(place: Place) -> None:
    enforcer, one = place.process()
    one.halt("free", by="ann", because="x")
    assert tried(enforcer, "sub", "look", LOOK, chain=("free",)) == "halted"
    assert tried(enforcer, "sub", "look", LOOK) == "ran"


def test_the_kill_switch(place: Place) -> None:
    (here, one), (there, other) = place.process(), place.process()
    assert tried(there, "free", "look", LOOK) == "ran"
    assert one.halt(SYSTEM, by="ann", because="stop") is True
    assert one.halt(SYSTEM, by="ann", because="stop") is False
    assert [tried(p, agent, "look", LOOK) for p in (here, there) for agent in ("free", "sub")] == ["halted"] * 4
    other.resume(SYSTEM, by="bob", because="over")
    assert tried(here, "free", "look", LOOK) == "ran"
    with pytest.raises(GrantError) as caught:
        other.resume(SYSTEM, by="bob", because="over")
    assert caught.value.code == "not-halted"


def test_a_task_alone(place: Place) -> None:
    enforcer, one = place.process()
    one.halt(f"{TASK}T-1", by="ann", because="x")
    assert one.halts() == {"capsule:T-1"}
    facts = Facts(root="/w", store=True, halts=one.halts())
    assert decide(RULES, Call("free", "look", LOOK, Context(capsule="T-1")), facts).code == "halted"
    assert tried(enforcer, "free", "look", LOOK) == "ran"


def test_halted_between_decision_and_begin(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (here, _), (_, other) = place.process(), place.process()
    carrier = Plain(Call("sub", "look", LOOK, Context(data_tier=2)))  # durable: it waits for the ledger
    before = here.ledger.intent
    done: list[bool] = []

    def intent(*args: Any, **more: Any) -> Any:
        if not done:
            done.append(other.halt("sub", by="ann", because="x"))
        return before(*args, **more)

    monkeypatch.setattr(here.ledger, "intent", intent)
    found = wait(here.attempt(carrier))
    assert isinstance(found, Decision)
    assert found.code == "halted"
    assert done == [True]


def test_on_a_server_the_last_look_is_within_the_commit(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A durable call asks a server once who is halted, and then within the commit of its intent."""
    here, one = place.process()
    looks: list[object] = []
    before = one.halts

    def halts(*args: Any) -> frozenset[str]:
        looks.append(args)
        return before(*args)

    monkeypatch.setattr(one, "halts", halts)
    assert tried(here, "sub", "look", LOOK, data_tier=2) == "ran"
    assert len(looks) == (1 if place.url is not None else 2)


def test_a_violation_that_can_not_be_recorded_halts_here(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (here, _), (there, other) = place.process(), place.process()
    with monkeypatch.context() as patch:
        patch.setattr(here.ledger, "intent", lambda *args, **more: 1 / 0)
        assert tried(here, "one", "make", LOOK) == "not-permitted"
    assert tried(here, "one", "look", LOOK) == "halted"
    assert tried(there, "one", "look", LOOK) == "halted", "it is recorded as soon as that works"
    other.resume("one", by="ann", because="x")
    assert tried(here, "one", "look", LOOK) == "ran"


def test_nobody_but_a_person_lifts_it(place: Place) -> None:
    """With a passphrase set, a resumption that nobody signed counts for nothing: everything is denied."""
    from remit.grant.credential import set_passphrase, unlock

    (here, one), (_, other) = place.process(), place.process()
    set_passphrase(place.stores[0], "correct horse battery")
    assert tried(here, "one", "make", LOOK) == "not-permitted"
    other.resume("one", by="mallory", because="x")  # unsigned, by another process
    assert tried(here, "one", "look", LOOK) == "state-unsigned"
    with pytest.raises(StateForged):
        one.halted()
    sign = unlock(place.stores[0], "correct horse battery", who="ann", doing="resume")
    other.halt("one", by="ann", because="again")
    other.resume("one", by="ann", because="x", sign=sign)
    assert tried(here, "one", "look", LOOK) == "ran"


def test_incidents_are_closed_by_people(place: Place) -> None:
    enforcer, one = place.process()
    for agent in ("one", "sub"):
        assert tried(enforcer, agent, "make", LOOK) == "not-permitted"
    done = one.close_incident("I-1", by="ann", because="a typo")
    assert (done.state, done.closed_by, done.because) == ("closed", "ann", "a typo")
    assert [(i.id, i.state) for i in one.incidents()] == [("I-1", "closed"), ("I-2", "open")]
    assert [halt.who for halt in one.halted()] == ["one", "sub"], "closing resumes nobody"
    for name, code in (("I-1", "incident-closed"), ("I-9", "unknown-incident")):
        with pytest.raises(GrantError) as caught:
            one.close_incident(name, by="ann", because="x")
        assert caught.value.code == code


def test_every_code_of_a_violation_has_a_name_in_the_policy() -> None:
    """The table and the procedure agree: a new code would be counted by no `for`."""
    codes = {code for code, step in STEP.items() if 2 <= step <= 6}
    assert codes - {"halted", "capsule-ended", "gate-open", "not-understood"} == set(REASONS)


def test_killed_while_halting_it_is_halted_or_was_not_recorded(tmp_path: Path) -> None:
    """SIGKILL at any step of a violation: denial and halt are both there, or neither; and nobody waits for a lock."""
    words = [sys.executable, "-c", _KILLED, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    late = []
    for name in json.loads(done.stdout):
        store = open_world(None, tmp_path / name)
        try:
            one = authority(store, tmp_path / name)
            with store.read() as view:
                rows = [bytes(row[0]) for row in view.rows("SELECT body FROM leaf")]
            denied = ["a" for row in rows if b'"type":"intent"' in row and b'"code":"not-permitted"' in row]
            assert [halt.who for halt in one.halted()] == [found.agent for found in one.incidents()] == denied
            assert one.halts() == set(denied)
            assert one.halt("free", by="ann", because="x")
            assert "free" in one.halts()
            late.append(bool(denied))
        finally:
            store.close()
    assert late.count(False) > 20
    assert late.count(True) > 2


_KILLED = """
import itertools, json, os, signal, sys, threading
sys.path.insert(0, os.getcwd())
from pathlib import Path
from remit.compile import build_rulebook
from remit.enforce.attempt import Enforcer, wait
from remit.model.call import Call
from remit.model.facts import Facts
from remit.record.writer import Ledger
from tests.grant.test_halts import Plain
from tests.grant.world import authority, open_world

rules = build_rulebook({"remit": 1, "tools": {"make": {"args": {}, "does": "nothing"}},
    "agents": {"a": {"may": [], "on_violation": {"halt": {"after": 1}}}}})

def violate(state, last):
    # The process ends at the step with this number, in whichever thread it falls; says how many there were.
    store = open_world(None, state)
    enforcer = Enforcer(
        authority(store, state), Ledger(store, point="test"), lambda: rules, lambda book: Facts(root="/w", store=True)
    )
    steps = itertools.count()
    def step(frame, event, argument):
        if next(steps) == last:
            os.kill(os.getpid(), signal.SIGKILL)
    threading.setprofile(step)
    sys.setprofile(step)
    wait(enforcer.attempt(Plain(Call("a", "make", {}))))
    sys.setprofile(None)
    return next(steps)

def forked(state, last):
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(into, b"%d" % violate(state, last))
        os._exit(0)
    os.close(into)
    with os.fdopen(out) as said:
        text = said.read()
    _, status = os.waitpid(child, 0)
    return int(text or 0), os.WIFSIGNALED(status)

total, _ = forked(Path(sys.argv[1], "whole"), -1)
lasts = [*range(0, total, total // 30), *range(total - 30, total)]  # over all of them, and each of the last
killed = [str(last) for last in lasts if forked(Path(sys.argv[1], str(last)), last)[1]]
print(json.dumps(killed))
"""
