"""Remit as the bench uses it: the only file here that knows its interface."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import remit
from remit.decide import decide as remit_decide
from remit.model import Call, Context, Facts

from bench.peers.interface import Built, Engine
from bench.policies import policy_of
from bench.timing import Args, Shot
from bench.workloads import Check, Workload

load = remit.load
declare = remit.load


def save(p, path):
    path.write_text(repr(p))


ONE_DECISION = """
import sys
from remit.decide import decide, Stub
from remit.model.call import Call
import remit.model.facts
"""
FACTS = Facts(now="2026-11-15T12:00:00Z", halts=frozenset({"somebody-else"}))
SESSION = Context(mode="interactive", session="bench")
HANDED = Context(mode="interactive", session="bench", chain=("orchestrator",))
CHECKS = {
    Check.MATRIX: "the agent's rules for the tool; no arguments is what the tool declares",
    Check.TYPES: "closed and typed by the tool's declaration",
    Check.PATTERN: "the same; the path normalised, below the root, not protected, matched, labels looked up",
}


class Remit:
    name = "Remit"
    distribution = "remit"
    use = "`decide`, the `Call` built for each decision"
    checks = CHECKS
    grows = True

    def build(self, workload):
        rulebook = remit.policy(policy_of(workload))

        def decide(agent, tool, args):
            return remit_decide(rulebook, Call(agent, tool, args, SESSION), FACTS)

        return Built(decide)


class Handed(Remit):
    name = "Remit, handed over"
    grows = False


class AtHand(Remit):
    name = "Remit, `Call` at hand"
    grows = False


ENGINES = (Remit(), Handed(), AtHand())
