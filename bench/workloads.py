"""What is asked of the engines: a real matrix, and calls that it allows or refuses.

The matrix is the one of a published nine-agent coding pipeline (`examples/forge-pipeline`).
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from bench.timing import Args, Shot

POOL = 1_000
"""Different calls in a pool; no path or query comes again before all others had their turn."""

AGENTS = (
    "orchestrator",
    "researcher",
    "spec",
    "designer",
    "planner",
    "implementer",
    "verifier",
    "adversarial-reviewer",
    "knowledge",
)
# One letter an agent, in the order above: y allowed, s allowed within a scope, - not allowed.
CELLS = {
    "read_file": "yyyyyyyyy",
    "list_dir": "yyyyyyyyy",
    "grep_search": "-yyyyyyyy",
    "semantic_search": "-yyyyy-yy",
    "file_search": "-yyyyyyyy",
    "create_file": "-syyyysyy",
    "replace_string_in_file": "--yyyy--y",
    "multi_replace_string_in_file": "-----y---",
    "run_in_terminal": "s----yyss",
    "get_terminal_output": "y----yy--",
    "get_errors": "-----yy--",
    "memory": "y-------y",
    "ask_questions": "y-s------",
    "list_code_usages": "-----y---",
}
GLOBS = {"researcher": "research/*.yaml", "verifier": "verification-reports/*.yaml"}
"""Where these two may create files."""
TYPES: Mapping[str, type] = {"query": str, "isRegexp": bool, "maxResults": int}
"""The arguments of `grep_search`, all of them required, and no others."""


class Check(Enum):
    """What a workload makes an engine look at."""

    MATRIX = "agent and tool"
    TYPES = "closed, typed arguments"
    PATTERN = "a path pattern on an argument"


@dataclass(frozen=True, slots=True)
class Workload:
    """A policy in the abstract, calls to time, and calls that must be refused."""

    key: str
    title: str
    check: Check
    table: Mapping[str, frozenset[str]]
    pool: Sequence[Shot]
    allowed: bool
    """Whether the calls of the pool are allowed."""
    refused: Sequence[Shot]
    target: float | None = None
    """The most that Remit may cost, in multiples of the floor."""


def table() -> dict[str, frozenset[str]]:
    """Agent → its tools; a tool with a scope counts as allowed."""
    return {
        agent: frozenset(tool for tool, row in CELLS.items() if row[column] != "-")
        for column, agent in enumerate(AGENTS)
    }


def pick(cells: Sequence[tuple[str, str]], count: int = POOL) -> list[Shot]:
    """So many calls without arguments, drawn from these cells."""
    chance = random.Random(17)
    return [(agent, tool, {}) for agent, tool in chance.choices(cells, k=count)]


def _cells(allowed: bool) -> list[tuple[str, str]]:
    granted = table()
    return [(agent, tool) for agent in AGENTS for tool in CELLS if (tool in granted[agent]) is allowed]


def matrix() -> Workload:
    """W1: is this agent allowed this tool at all?"""
    yes, no = _cells(allowed=True), _cells(allowed=False)
    title = "no argument to look at, allowed"
    refused: list[Shot] = [(agent, tool, {}) for agent, tool in no]
    return Workload("W1", title, Check.MATRIX, table(), pick(yes), allowed=True, refused=refused, target=4.0)


def refusals() -> Workload:
    """W1d: the same, for the cells that say no."""
    no = _cells(allowed=False)
    title = "no argument to look at, refused"
    return Workload("W1d", title, Check.MATRIX, table(), pick(no), allowed=False, refused=pick(no, 50))


def typed() -> Workload:
    """W1b: the arguments of `grep_search` must be exactly the declared ones, with their types."""
    agents = [agent for agent, tools in table().items() if "grep_search" in tools]
    pool: list[Shot] = [
        (
            agents[n % len(agents)],
            "grep_search",
            {"query": f"def f{n}", "isRegexp": n % 2 == 0, "maxResults": n},
        )
        for n in range(1, POOL + 1)
    ]
    good: Args = {"query": "x", "isRegexp": False, "maxResults": 5}
    bad: list[Args] = [
        {**good, "includePattern": "**"},
        {**good, "query": 7},
        {**good, "maxResults": "5"},
        {**good, "isRegexp": "no"},
        {"isRegexp": False, "maxResults": 5},
    ]
    refused = [("spec", "grep_search", args) for args in bad]
    refused.append(("orchestrator", "grep_search", good))
    title = "three arguments, closed and typed"
    return Workload("W1b", title, Check.TYPES, table(), pool, allowed=True, refused=refused, target=12.0)


def pattern() -> Workload:
    """W2: `create_file` by the two agents that may create files in one place only."""
    content = "- finding: something\n" * 8
    agents = list(GLOBS)
    pool: list[Shot] = []
    for n in range(POOL):
        agent = agents[n % 2]
        path = GLOBS[agent].replace("*", f"topic-{n:04}")
        pool.append((agent, "create_file", {"filePath": path, "content": content}))
    paths = [
        "src/main.py",
        "research/notes.md",
        "research/deep/er.yaml",
        "research/../src/a.yaml",
        "/etc/research/a.yaml",
        "research/a.yaml.sh",
        "research/a.yaml\n",
    ]
    refused: list[Shot] = [("researcher", "create_file", {"filePath": path, "content": ""}) for path in paths]
    refused.append(("orchestrator", "create_file", {"filePath": "research/a.yaml", "content": ""}))
    title = "one path pattern on an argument"
    return Workload("W2", title, Check.PATTERN, table(), pool, allowed=True, refused=refused, target=25.0)


def all_of_them() -> list[Workload]:
    """In the order of the report."""
    return [matrix(), refusals(), typed(), pattern()]


GRIDS = {100: (10, 10), 1_000: (25, 40), 10_000: (100, 100), 100_000: (250, 400), 1_000_000: (1_000, 1_000)}
"""Cells → agents × tools, for the plot of cost against size."""


def grid(cells: int) -> Workload:
    """A matrix of that many cells, nine of ten allowed, and calls from all over it."""
    agents, tools = GRIDS[cells]
    names = [f"tool_{n}" for n in range(tools)]
    granted = {f"agent_{a}": frozenset(t for n, t in enumerate(names) if (a + n) % 10) for a in range(agents)}
    chance = random.Random(cells)
    pool: list[Shot] = []
    refused: list[Shot] = []
    while len(pool) < POOL:
        agent, tool = f"agent_{chance.randrange(agents)}", f"tool_{chance.randrange(tools)}"
        (pool if tool in granted[agent] else refused).append((agent, tool, {}))
    title = f"{cells:,} cells"
    return Workload(f"G{cells}", title, Check.MATRIX, granted, pool, allowed=True, refused=refused[:50])
