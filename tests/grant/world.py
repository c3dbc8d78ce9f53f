"""A small team for tests of authority: a policy, a store of either kind, and clocks that can be set."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from remit.compile import build_rulebook
from remit.compile.tasks import task_from
from remit.decide import decide
from remit.enforce.refusal import refusal
from remit.grant.authority import Authority
from remit.grant.clock import Clock
from remit.grant.errors import GrantError
from remit.model.call import Call, Context
from remit.model.decision import Decision
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.task import Task
from remit.model.terms import ASK
from remit.record.stamp import keep_stamps, read_stamps
from remit.record.vault import Vault
from remit.store import Store, open_store

START = 1_800_000_000
POLICY: dict[str, Any] = {
    "remit": 1,
    "gates": ["demo"],
    "labels": {"data": {1: {"path": ["one/**"]}, 2: {"path": ["two/**"]}, 3: {"path": ["three/**"]}}},
    "tools": {
        "look": {"args": {"path": "path"}, "does": {"read": "path"}},
        "make": {"args": {"path": "path"}, "does": {"write": "path"}},
        "extra": {"args": {"path": "path"}, "does": {"read": "path"}},
        "push": {"args": {"to": "text"}, "does": {"deploy": "https://prod.example/**"}},
        "sign": {"args": {"what": "text"}, "does": "nothing"},
    },
    "agents": {
        "boss": {
            "may": ["look", "make", "push"],
            "delegates_to": ["lead", "aide"],
            "acknowledges": True,
            "may_issue": {"capsules": True, "data_tiers": [1, 2]},
            "data_tiers": [0],
            "data_tiers_with_grant": [1, 2, 3],
        },
        "lead": {
            "may": ["look", "make", "push"],
            "must_ask": [{"sign": {"ask": "boss"}}],
            "delegates_to": ["hand"],
            "acknowledges": True,
            "may_issue": {"capsules": True, "data_tiers": [1]},
            "data_tiers": [0],
            "data_tiers_with_grant": [1, 2],
        },
        "aide": {
            "may": ["look", "push"],
            "delegates_to": ["hand"],
            "data_tiers": [0],
            "data_tiers_with_grant": [1],
        },
        "hand": {
            "may": ["look", "make", "push"],
            "must_ask": [{"sign": {"ask": "lead"}}],
            "delegates_to": ["boss"],
            "data_tiers": [0],
            "data_tiers_with_grant": [1, 2],
        },
    },
}
GRANTS: dict[str, dict[str, Any]] = {"x": {"extra": {"path": "x/**"}}, "y": {"extra": {"path": "y/**"}}}
"""Grants that tasks in these tests may have, by name."""


class Wall:
    """A wall clock that goes where it is set, and a steady one that only goes on."""

    def __init__(self, at: float = START) -> None:
        self.at, self.steady = at, 1000.0
        self.boot = secrets.token_hex(8)

    def clock(self) -> Clock:
        return Clock(lambda: self.at, lambda: self.steady, self.boot, shared=False)

    def goes_on(self, seconds: float) -> None:
        self.at += seconds
        self.steady += seconds

    def jumps(self, seconds: float) -> None:
        self.at += seconds

    def reboots(self, off: float) -> None:
        """The machine is off for so many seconds, which its wall clock counts and its steady clock doesn't."""
        self.at += off
        self.steady = 1.0
        self.boot = secrets.token_hex(8)


def open_world(url: str | None, folder: Path) -> Store:
    """The store of one process; several may be open on the same state."""
    folder.mkdir(mode=0o700, exist_ok=True, parents=True)
    (folder / "keys").mkdir(mode=0o700, exist_ok=True)
    return open_store(url, folder)


def open_state(state: Path) -> Store:
    """The store of a state directory that Remit made, as a process with its keys opens it."""
    store = open_store(None, state)
    keep_stamps(store, read_stamps(state / "keys"))
    return store


def authority(store: Store, folder: Path, wall: Wall | None = None) -> Authority:
    """What one process has of the store; without a wall, with the clock of the machine."""
    return Authority(
        store,
        Vault(store, folder / "keys"),
        clock=wall.clock() if wall is not None else None,
        writer=secrets.token_hex(4),
    )


def rules() -> Rulebook:
    return build_rulebook(POLICY)


def task(rulebook: Rulebook, name: str, agent: str, *, grants: tuple[str, ...] = (), **more: Any) -> Task:
    """A task as YAML would have it; `by` and `issuer` as `Task` has them."""
    import msgspec

    said = {key: more.pop(key) for key in ("by", "issuer") if key in more}
    data = {"id": name, "agent": agent, "goal": "a test", **more}
    if grants:
        data["grants"] = [GRANTS[one] for one in grants]
    return msgspec.structs.replace(task_from(rulebook, data), **said)


def call(agent: str, tool: str, args: dict[str, Any], capsule: str | None = None, **more: Any) -> Call:
    return Call(agent, tool, args, Context(capsule=capsule, **more))


def judge(one: Authority, rulebook: Rulebook, call: Call, base: Facts | None = None) -> tuple[Decision, Facts]:
    """As enforcement points do it: decided, and decided again with the answers that are there."""
    facts = base if base is not None else Facts(store=True)
    try:
        facts = one.facts(call.context.capsule, facts)
        decision = decide(rulebook, call, facts)
        if decision.verdict is ASK:
            facts = one.answered(call, rulebook, facts)
            decision = decide(rulebook, call, facts)
    except GrantError as error:
        return refusal(call, error.code, str(error)), facts
    return decision, facts
