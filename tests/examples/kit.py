"""For the tests of the five documents: an example's rulebook, and what it says about a call."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from remit.compile import load_rulebook
from remit.decide import decide
from remit.model import Call, Context, Decision, Facts, Rulebook

EXAMPLES = Path(__file__).parents[2] / "examples"


@functools.cache
def rulebook(name: str, file: str = "remit.yaml") -> Rulebook:
    return load_rulebook(EXAMPLES / name / file)


class Asked:
    """Decides calls of one example: `ask("researcher", "create_file", filePath="x")` gives `allow`, `ask` or `deny`."""

    def __init__(self, name: str, file: str = "remit.yaml") -> None:
        self.rulebook = rulebook(name, file)

    def decision(
        self, agent: str, tool: str, args: dict[str, Any], facts: Facts | None = None, **context: Any
    ) -> Decision:
        return decide(self.rulebook, Call(agent, tool, args, Context(**context)), facts or Facts())

    def __call__(self, agent: str, tool: str, **args: Any) -> str:
        return self.decision(agent, tool, args).verdict.word

    def may(self, agent: str) -> set[str]:
        """The tools that a caller can use at all."""
        from remit.explain.access import make_report

        return {entry.tool for entry in make_report(self.rulebook, agent).accessible}
