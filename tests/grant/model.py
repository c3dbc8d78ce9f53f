"""What authority ought to be, in plain Python: no store, no transactions, one state after the other.

Each method returns whether it should succeed; what it changes it also writes to `log`, as the ledger ought to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.grant.world import POLICY, Wall

ANSWER_WITHIN, USE_WITHIN, TICKET_WITHIN = 24 * 3600, 3600, 3600
TOLERANCE = 300
AGENTS: dict[str, dict[str, Any]] = POLICY["agents"]
LIMIT = {"one": 1, "two": 2, "three": 3}
Key = tuple[str, str | None, str, str]
"""Agent, capsule, tool, value of the one argument: what an approval is for."""


@dataclass
class Task:
    agent: str
    parent: str | None
    grants: frozenset[str]
    tiers: frozenset[int]
    calls: int | None
    writes: int | None
    expires: int | None
    by: str
    issuer: str
    ended: bool = False
    passed: bool = False
    ran: int = 0
    wrote: int = 0


@dataclass
class Ask:
    key: Key
    of: str
    expires: int
    state: str = "open"
    by: str = ""
    kind: str = ""


@dataclass
class Ticket:
    capsule: str
    expires: int
    used: bool = False
    expired: bool = False


@dataclass
class Process:
    """One process: its clocks, and what it knew when it looked last."""

    wall: Wall
    latest: int | None = None
    at: float = 0.0
    era: int = -1
    looked: float | None = None
    news: bool = False
    gap: bool = False


@dataclass
class Model:
    stored: int = 0
    era: int = 0
    behind: int | None = None
    gap: bool = False
    anchors: dict[str, tuple[float, int]] = field(default_factory=dict)
    """By start of a machine: its steady clock, and the moment."""
    tasks: dict[str, Task] = field(default_factory=dict)
    asks: dict[str, Ask] = field(default_factory=dict)
    tickets: dict[str, Ticket] = field(default_factory=dict)
    log: list[tuple[str, ...]] = field(default_factory=list)
    runs: dict[str, int] = field(default_factory=dict)
    """How often each approval let something run."""

    # Time

    def read(self, process: Process) -> tuple[int, bool]:
        """The moment, and whether it is in doubt."""
        wall, steady = int(process.wall.at), process.wall.steady
        if process.era != self.era:
            process.latest, process.gap, process.era = None, False, self.era
        own = process.latest + int(steady - process.at) if process.latest is not None else 0
        anchor = self.anchors.get(process.wall.boot)
        ran = anchor[1] + int(steady - anchor[0]) if anchor is not None else 0
        new = not own and not ran
        known = max(own, ran, wall + (self.behind or 0 if new else 0))
        now = max(known, self.stored)
        behind = wall < now - TOLERANCE
        forward = anchor is not None and wall > max(ran, self.stored) + TOLERANCE
        process.gap = behind and (process.gap or self.gap or known < self.stored - TOLERANCE)
        process.news = forward or anchor is None or behind != (self.behind is not None) or process.gap != self.gap
        process.latest, process.at, process.looked = now, steady, steady
        return now, behind

    def fresh(self, process: Process) -> bool:
        """Whether it needs no look at the store where no task is involved."""
        wall = process.wall
        if process.looked is None or process.latest is None or wall.steady - process.looked >= 5 or process.news:
            return False
        return abs(wall.at - process.latest - (wall.steady - process.at)) <= TOLERANCE

    def tick(self, process: Process) -> None:
        """What it knows is written."""
        now, behind = self.read(process)
        self.stored = max(now, self.stored)
        self.behind = now - int(process.wall.at) if behind else None
        self.gap = process.gap
        self.anchors[process.wall.boot] = (process.wall.steady, now)

    def sweep(self, process: Process) -> int:
        """What has run out ends for good, since somebody has seen it."""
        now = self.read(process)[0]
        if self._late(now) or process.news:
            self.tick(process)
            self._end_late(now)
        return now

    def _late(self, now: int) -> bool:
        asks = any(a.state in ("open", "approved") and a.expires <= now for a in self.asks.values())
        tickets = any(not t.used and not t.expired and t.expires <= now for t in self.tickets.values())
        return asks or tickets or any(not t.ended and t.expires and t.expires <= now for t in self.tasks.values())

    def _end_late(self, now: int) -> None:
        for name, ask in self.asks.items():
            if ask.state in ("open", "approved") and ask.expires <= now:
                self._close(name, "expired")
        for ticket in self.tickets.values():
            if not ticket.used and not ticket.expired and ticket.expires <= now:
                ticket.expired = True
                self.log.append(("capsule", "offer-expired", ticket.capsule))
        for name, task in list(self.tasks.items()):
            if not task.ended and task.expires is not None and task.expires <= now:
                self._end(name)

    def repair(self, process: Process) -> bool:
        """A person says that the wall clock is right: nobody gains time by it."""
        now, doubt = self.read(process)
        if not doubt:
            return False
        self._end_late(now)
        if process.gap:
            for name, ask in self.asks.items():
                if ask.state in ("open", "approved"):
                    self._close(name, "expired")
            for ticket in self.tickets.values():
                if not ticket.used and not ticket.expired:
                    ticket.expired = True
                    self.log.append(("capsule", "offer-expired", ticket.capsule))
            for name, task in list(self.tasks.items()):
                if not task.ended and task.expires is not None:
                    self._end(name)
        wall = int(process.wall.at)
        things: list[Task | Ask | Ticket] = [*self.asks.values(), *self.tickets.values(), *self.tasks.values()]
        for thing in things:
            if thing.expires is not None:
                thing.expires -= now - wall
        self.stored, self.behind, self.gap, self.era = wall, None, False, self.era + 1
        self.anchors = {boot: (steady, at - (now - wall)) for boot, (steady, at) in self.anchors.items()}
        self.anchors[process.wall.boot] = (process.wall.steady, wall)
        process.latest, process.gap = None, False
        return True

    # Tasks

    def line(self, name: str) -> list[Task]:
        found = [self.tasks[name]]
        while (parent := found[-1].parent) is not None:
            found.append(self.tasks[parent])
        return found

    def chain(self, name: str) -> tuple[str, ...]:
        line = self.line(name)
        first = (line[-1].by,) if line[-1].issuer == "agent" else ()
        return (*first, *(task.agent for task in reversed(line[1:])))

    def alive(self, name: str, now: int) -> bool:
        return not any(t.ended or (t.expires is not None and t.expires <= now) for t in self.line(name))

    def below(self, name: str) -> list[str]:
        found = [name]
        for one in found:
            found += [other for other, task in self.tasks.items() if task.parent == one]
        return found

    def issue(self, process: Process, name: str, task: Task) -> bool:
        now = self.sweep(process)
        if not self._may_issue(name, task, now):
            return False
        if task.parent is not None:
            ends = [t.expires for t in (task, *self.line(task.parent)) if t.expires is not None]
            task.expires = min(ends, default=None)
        if task.expires is not None and self.read(process)[1]:
            return False
        self.tasks[name] = task
        self.log.append(("capsule", "issued", name, task.by))
        self.tick(process)
        return True

    def _may_issue(self, name: str, task: Task, now: int) -> bool:
        record = AGENTS[task.agent]
        if name in self.tasks or (task.expires is not None and task.expires <= now):
            return False
        if not task.tiers <= {*record["data_tiers"], *record["data_tiers_with_grant"]}:
            return False
        if task.parent is not None:
            if not self.alive(task.parent, now):
                return False
            line = self.line(task.parent)
            if any(t.expires is not None and t.expires <= now for t in line):
                return False
            if task.agent in [t.agent for t in line]:
                return False
            if not task.grants <= line[0].grants or not task.tiers <= line[0].tiers:
                return False
            giver = line[0].agent if task.issuer == "human" else task.by
            if giver != line[0].agent or task.agent not in AGENTS[giver]["delegates_to"]:
                return False
        if task.issuer == "agent":
            if task.by == task.agent or task.agent not in AGENTS[task.by]["delegates_to"]:
                return False
            if task.grants or task.tiers:
                rights = AGENTS[task.by].get("may_issue", {})
                return task.parent is not None and bool(rights) and task.tiers <= set(rights["data_tiers"])
        return True

    def end(self, process: Process, name: str) -> bool:
        self.sweep(process)
        if self.tasks[name].ended:
            return False
        self._end(name)
        self.tick(process)
        return True

    def _end(self, name: str) -> None:
        for one in self.below(name):
            task = self.tasks[one]
            if task.ended:
                continue
            task.ended = True
            self.log.append(("capsule", "ended", one))
            if task.grants or task.tiers:
                self.log.append(("revocation", one))
            for ask, found in self.asks.items():
                if found.key[1] == one and found.state in ("open", "approved"):
                    self._close(ask, "cancelled")
            self.tickets = {d: t for d, t in self.tickets.items() if t.capsule != one or t.used}

    def pass_gate(self, process: Process, name: str) -> bool:
        now = self.sweep(process)
        if not self.alive(name, now) or self.tasks[name].passed:
            return False
        self.tasks[name].passed = True
        self.log.append(("gate", name))
        self.tick(process)
        return True

    # Asks

    def _close(self, name: str, state: str) -> None:
        self.asks[name].state = state
        self.log.append(("approval", state, name))

    def ask(self, process: Process, name: str, key: Key, of: str) -> str:
        """The ask that is open for this call, or a new one under the name."""
        now = self.sweep(process)
        self.tick(process)
        for known, found in self.asks.items():
            if found.key == key and found.state == "open":
                return known
        self.asks[name] = Ask(key, of, now + ANSWER_WITHIN)
        self.log.append(("approval", "asked", name))
        return name

    def answer(self, process: Process, name: str, verdict: str, by: str, kind: str) -> bool:
        self.sweep(process)
        now = self.read(process)[0]  # also where it comes to nothing: what the sweep has written is no news then
        ask = self.asks[name]
        if kind == "agent" and by == ask.key[0]:
            return False
        state = {"approve": "approved", "refuse": "refused"}[verdict]
        if ask.state == state:
            self.tick(process)
            return True
        if ask.state != "open" and not (ask.state == "approved" and verdict == "refuse"):
            return False
        if verdict == "approve" and self.read(process)[1]:
            return False
        ask.state, ask.by, ask.kind = state, by, kind
        if verdict == "approve":
            ask.expires = min(ask.expires, now + USE_WITHIN)
        self.log.append(("approval", state, name))
        self.tick(process)
        return True

    def cancel(self, process: Process, name: str) -> bool:
        self.sweep(process)
        if self.asks[name].state not in ("open", "approved"):
            return False
        self._close(name, "cancelled")
        return True

    # Calls

    def judged(self, process: Process, key: Key) -> tuple[str, frozenset[str]]:
        """`allow`, `ask` or `deny` now, and the approvals that it rests on."""
        agent, capsule, tool, value = key
        if capsule is not None:
            now, doubt = self.read(process)
            timed = [t for t in self.line(capsule) if t.expires is not None and not t.ended]
            if process.news or any(t.expires is not None and t.expires <= now for t in timed):
                self.sweep(process)
            if doubt and timed:
                return "deny", frozenset()
            if self.tasks[capsule].agent != agent or not self.alive(capsule, now):
                return "deny", frozenset()
        elif not self.fresh(process):
            self.read(process)
            if process.news:
                self.sweep(process)
        own = self.tasks[capsule] if capsule is not None else None
        record = AGENTS[agent]
        if tool == "extra":
            if own is None or value.split("/")[0] not in own.grants:
                return "deny", frozenset()
        elif tool not in record["may"] and not (tool == "sign" and "must_ask" in record):
            return "deny", frozenset()
        tier = LIMIT.get(value.split("/")[0], 0)
        granted = own is not None and tier in own.tiers and tier in record["data_tiers_with_grant"]
        if tier not in record["data_tiers"] and not granted:
            return "deny", frozenset()
        if tool not in ("push", "sign"):
            return "allow", frozenset()
        now, doubt = self.read(process)
        answers = {n: a for n, a in self.asks.items() if a.key == key and a.expires > now}
        if doubt and any(a.state in ("approved", "refused") for a in answers.values()):
            return "deny", frozenset()
        answers = {n: a for n, a in answers.items() if a.by != agent}
        if any(a.state == "refused" for a in answers.values()):
            return "deny", frozenset()
        said = {n: a for n, a in answers.items() if a.state == "approved"}
        of = self.of(key)
        if any(a.kind == "human" or (of != "human" and a.by == of) for a in said.values()):
            return "allow", frozenset(said)
        return "ask", frozenset()

    def of(self, key: Key) -> str:
        return "human" if key[2] == "push" else str(AGENTS[key[0]]["must_ask"][0]["sign"]["ask"])

    def start(self, process: Process, key: Key, counted: frozenset[str]) -> bool:
        """Whether a call that was allowed may begin, now."""
        _, capsule, tool, _ = key
        if capsule is None and not counted:
            return True
        now, doubt = self.read(process)
        line = self.line(capsule) if capsule is not None else []
        if doubt and (counted or any(t.expires is not None for t in line)):
            return False
        if capsule is not None:
            if not self.alive(capsule, now):
                return False
            for task in line:
                if task.calls is not None and task.ran >= task.calls:
                    return False
                if tool == "make" and task.writes is not None and task.wrote >= task.writes:
                    return False
        mine = {n: a for n, a in self.asks.items() if a.key == key and a.expires > now}
        if counted:
            if any(a.state == "refused" for a in mine.values()):
                return False
            there = {n for n, a in mine.items() if a.state == "approved"}
            if not counted <= there:
                return False
            for name in sorted(there, key=lambda n: int(n[2:])):
                self.asks[name].state = "used"
                self.runs[name] = self.runs.get(name, 0) + 1
                self.log.append(("approval", "used", name))
        for task in line:
            task.ran += 1
            task.wrote += tool == "make"
        self.tick(process)
        return True

    # Tickets

    def offer(self, process: Process, capsule: str) -> bool:
        now, doubt = self.read(process)
        if doubt or not self.alive(capsule, now):
            return False
        self.log.append(("capsule", "offered", capsule))
        self.tick(process)
        return True

    def enter(self, process: Process, text: str) -> bool:
        now = self.sweep(process)
        ticket = self.tickets.get(text)
        gone = ticket is None or ticket.used or ticket.expired or ticket.expires <= now
        if ticket is None or gone or self.read(process)[1] or not self.alive(ticket.capsule, now):
            self.log.append(("capsule", "not-entered"))
            return False
        ticket.used = True
        self.log.append(("capsule", "entered", ticket.capsule))
        self.tick(process)
        return True
