"""Remit as the bench uses it: the only file here that knows its interface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from bench.peers.interface import Built
from bench.policies import policy_of
from bench.timing import Args, Shot
from bench.workloads import Check, Workload
from remit.compile import build_rulebook, load_rulebook
from remit.compile.file import rulebook_path, write_rulebook
from remit.decide import decide as judge
from remit.declare import load_policy
from remit.model import Call, Context, Decision, Facts
from remit.model.facts import Capsule
from remit.store import open_store

load = load_rulebook
declare = load_policy

FACTS = Facts(now="2026-11-15T12:00:00Z", halts=frozenset({"somebody-else"}))
ALONE = Context(mode="interactive", session="s1", data_tier=0)
HANDED = Context(mode="interactive", session="s1", data_tier=0, chain=("lead",))
CHECKS = {
    Check.MATRIX: "the agent's rules for the tool, and that no arguments is what the tool declares",
    Check.TYPES: "closed and typed by the tool's declaration",
    Check.PATTERN: "the same; the path normalised, below the root, unprotected, matched; labels looked up",
}


def _allowed(decision: Decision) -> bool:
    return decision.allowed


class Remit:
    """One call, from strings to a decision."""

    name = "Remit"
    distribution = "remit"
    use = "`decide`, with the `Call` built for it"
    checks = CHECKS
    grows = True
    context = ALONE

    def build(self, workload: Workload) -> Built:
        """The rulebook of the workload's policy."""
        rulebook = build_rulebook(policy_of(workload))
        context = self.context

        def decide(agent: str, tool: str, args: Args) -> Decision:
            return judge(rulebook, Call(agent, tool, args, context), FACTS)

        return Built(decide, _allowed)


class HandedOver(Remit):
    """The same for an agent that another one handed the work to."""

    name = "Remit, with a chain"
    use = "the same; the work was handed over by another agent"
    checks = dict.fromkeys(CHECKS, "the same, and the hand-over")
    grows = False
    context = HANDED


class InTask(Remit):
    """The same inside a task."""

    name = "Remit, in a task"
    use = "the same; the call belongs to a task of its agent, whose capsule is among the facts"
    checks = dict.fromkeys(CHECKS, "the same, and the task")
    grows = False

    def build(self, workload: Workload) -> Built:
        """The rulebook of the workload's policy, and a capsule for each agent."""
        rulebook = build_rulebook(policy_of(workload))
        capsules = {agent: Capsule(agent, agent, expires="2026-12-01T00:00:00Z") for agent in rulebook.book.callers}
        facts = msgspec.structs.replace(FACTS, capsules=capsules)
        contexts = {agent: Context(mode="interactive", session="s1", capsule=agent) for agent in capsules}

        def decide(agent: str, tool: str, args: Args) -> Decision:
            return judge(rulebook, Call(agent, tool, args, contexts[agent]), facts)

        return Built(decide, _allowed)


class NeverSeen(Remit):
    """The same without the memo: what a call costs that is like none before."""

    name = "Remit, never seen before"
    use = "the same with `memo=False`: a path, a command or a context that was not met before"
    checks = dict.fromkeys(CHECKS, "the same")
    grows = False

    def build(self, workload: Workload) -> Built:
        """The rulebook of the workload's policy."""
        rulebook = build_rulebook(policy_of(workload))

        def decide(agent: str, tool: str, args: Args) -> Decision:
            return judge(rulebook, Call(agent, tool, args, ALONE), FACTS, memo=False)

        return Built(decide, _allowed)


class AtHand(Remit):
    """The decision alone."""

    name = "Remit, Call at hand"
    use = "the same with the `Call` made beforehand"
    checks = dict.fromkeys(CHECKS, "the same")
    grows = False

    def build(self, workload: Workload) -> Built:
        """The rulebook of the workload's policy."""
        rulebook = build_rulebook(policy_of(workload))

        def decide(call: Call, _tool: None, _args: None) -> Decision:
            return judge(rulebook, call, FACTS)

        def prepare(shot: Shot) -> Shot:
            agent, tool, args = shot
            return Call(agent, tool, args, ALONE), None, None

        return Built(decide, _allowed, prepare)


ENGINES = (Remit(), HandedOver(), InTask(), NeverSeen(), AtHand())


def save(policy: Mapping[str, Any], path: Path) -> None:
    """Write the policy's rulebook in its compiled form."""
    write_rulebook(build_rulebook(policy), path)


def set_up(policy: Mapping[str, Any], root: Path) -> None:
    """A project with an activated policy, and a store beside it that has been opened before."""
    save(policy, rulebook_path(root))
    (root / "state").mkdir(mode=0o700)
    open_store(None, root / "state").close()


def one_decision(call: Shot) -> str:
    """What a hook does, as a program of its own; its argument is the project."""
    return f"""
import sys
from remit.compile.file import read_rulebook
from remit.decide import decide
from remit.enforce.paths import look_up
from remit.model.call import Call
from remit.model.facts import Facts
root = sys.argv[1]
rulebook = read_rulebook(root + "/.remit/rulebook")
call = Call{call!r}
decision = decide(rulebook, call, look_up(rulebook, call, Facts(root=root, resolved={{}})))
if not decision.allowed:
    sys.exit(decision.reason)
"""


# What comes on top where the call is recorded before the tool runs.
RECORDED = """
import time
from pathlib import Path
from remit.record.append import append
from remit.record.entry import intent_entry, intent_snapshot
from remit.store.open import open_store
entry = intent_entry(intent_snapshot("C1", call, decision, "bench", time.time_ns()), "bench")
store = open_store(None, Path(root, "state"))
with store.write() as change:
    append(change, [entry], "bench")
store.close()
"""
