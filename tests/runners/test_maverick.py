"""Maverick's second policy, and its workflow with real git."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from remit.compile import load_rulebook
from remit.testing.policy_tests import run_tests

LATER = Path(__file__).parents[2] / "examples" / "maverick" / "later"


def test_the_second_policy_holds() -> None:
    rulebook = load_rulebook(LATER / "remit.yaml")
    results = run_tests(rulebook, LATER / "remit.yaml")
    assert [f"{one.name}: {one.message}" for one in results if one.outcome != "passed"] == []
    assert len(results) >= 16
    assert rulebook.book.unsafe == ()


def test_its_workflow_runs() -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith(("REMIT", "GIT"))}
    done = subprocess.run(
        [sys.executable, LATER / "workflow.py"], env=env, capture_output=True, text=True, timeout=120, check=True
    )
    first, second, _, third, fourth, _ = done.stdout.splitlines()
    assert first == "ImplementerAgent: made"
    assert second.startswith("with Bash: `Bash` is outside the remit of ImplementerAgent, which may use: Edit, Glob,")
    assert third.startswith("[main (root-commit) ")
    assert third.endswith("it's a start")
    assert fourth == "denied: ImplementerAgent may not hand work to GitRunner"
