"""What judging a shell command costs, in multiples of tree-sitter's bare parse of the same text.

    python -m bench.shell

The texts are the everyday commands that the tests try. Remit does not need tree-sitter or its grammar for bash; without
them there is nothing to compare with.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time_ns
from typing import Any

import yaml

from bench.timing import quiet
from remit.compile import build_rulebook
from remit.decide import decide
from remit.languages.bash.reader import read_script
from remit.languages.programs import understand
from remit.model import Call
from remit.model.rulebook import Rulebook

TARGET = 5.0
TEXTS = Path(__file__).parents[1] / "tests" / "languages" / "programs" / "everyday.yaml"


@dataclass(frozen=True, slots=True)
class ShellCost:
    """Medians over all commands, in multiples of the bare parse of each; of each text the quickest round counts."""

    decision: float
    """The whole decision, without a memo."""
    reading: float
    """The part of it that parses the text."""
    again: float
    """The decision on a command that was seen before."""
    commands: int


def measure(rounds: int) -> ShellCost | None:
    """Parse and decide each command in turn; None without tree-sitter."""
    try:
        import tree_sitter
        import tree_sitter_bash
    except ImportError:
        return None
    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    ratios = []
    with quiet():
        for rulebook, texts in _groups():
            for text in texts:
                call, raw = Call("agent", "terminal", {"command": text}), text.encode()
                decide(rulebook, call)
                works: tuple[Callable[[], object], ...] = (
                    lambda: parser.parse(raw),  # noqa: B023  called here and now
                    lambda: (understand.forget(), decide(rulebook, call, memo=False)),  # noqa: B023
                    lambda: read_script(text),  # noqa: B023
                    lambda: decide(rulebook, call),  # noqa: B023
                )
                bare, *ours = _least(works, rounds)
                ratios.append([each / bare for each in ours])
    decision, reading, again = (statistics.median(column) for column in zip(*ratios, strict=True))
    return ShellCost(decision, reading, again, len(ratios))


def _groups() -> list[tuple[Rulebook, list[str]]]:
    """The commands, each with the rulebook under which the tests try it."""
    found = []
    for group in yaml.safe_load(TEXTS.read_text(encoding="utf-8")):
        policy: dict[str, Any] = {
            "remit": 1,
            "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
            "tiers": {3: "allow", 4: "allow"},
            "agents": {"agent": {"may": [{"terminal": {"shell": group["shell"]}}]}},
        }
        found.append((build_rulebook(policy), [entry["run"] for entry in group["commands"]]))
    return found


def _least(works: Sequence[Callable[[], object]], rounds: int, each: int = 5) -> list[float]:
    """The least CPU time of each, taking turns, a few calls at a time since reading the clock takes long."""
    times: list[list[int]] = [[] for _ in works]
    for _ in range(rounds):
        for work, taken in zip(works, times, strict=True):
            start = process_time_ns()
            for _ in range(each):
                work()
            taken.append(process_time_ns() - start)
    return [max(1, min(taken)) for taken in times]


def said(cost: ShellCost | None) -> str:
    """In words for people."""
    if cost is None:
        return "Not measured: tree-sitter and tree-sitter-bash were not installed."
    return (
        f"Deciding on a shell command takes {cost.decision:.0f} × the time of tree-sitter's bare parse of its text. Our"
        f" own parse takes {cost.reading:.1f} ×; the rest is what each program does with its arguments, and the rules."
        f" For a command seen before it is {cost.again:.1f} ×. Medians over {cost.commands} everyday commands."
    )


def main() -> None:
    """Measure and print."""
    print(said(measure(20)))


if __name__ == "__main__":
    main()
