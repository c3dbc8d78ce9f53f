"""Remit as the bench uses it: the only file here that knows its interface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.peers.interface import Built
from bench.policies import policy_of
from bench.timing import Args, Shot
from bench.workloads import Check, Workload
from remit.compile import build_rulebook, load_rulebook
from remit.compile.file import write_rulebook
from remit.decide import decide as judge
from remit.declare import load_policy
from remit.model import Call, Context, Decision, Facts

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


ENGINES = (Remit(), HandedOver(), AtHand())


def save(policy: Mapping[str, Any], path: Path) -> None:
    """Write the policy's rulebook in its compiled form."""
    write_rulebook(build_rulebook(policy), path)


# What a hook does, as a program of its own; its argument is the rulebook.
ONE_DECISION = """
import sys
from pathlib import Path
from remit.compile.file import read_rulebook
from remit.decide import decide
from remit.model import Call
rulebook = read_rulebook(Path(sys.argv[1]))
args = {"filePath": "research/a.yaml", "content": ""}
if not decide(rulebook, Call("researcher", "create_file", args)).allowed:
    sys.exit("refused")
"""
