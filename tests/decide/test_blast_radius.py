"""What coding agents do every day, and how far the damage could reach: each call has just the tier it should."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.explain.why import tier_reason
from remit.forms.texts import plain
from remit.model import Call, Context, Facts, Rulebook
from remit.model.facts import Capsule

ROOT = "/home/me/project"
LABELS = {
    "production": {
        "branch": ["main", "release/*"],
        "host": ["*.prod.example"],
        "kube_context": ["prod-*"],
    }
}
PATHS = {"production": {**LABELS["production"], "path": ["deploy/prod/**"]}}
ARGUMENTS: dict[str, Any] = {
    "Bash": lambda text: {"command": text},
    "Read": lambda path: {"file_path": path},
    "Write": lambda path: {"file_path": path, "content": "x"},
    "Edit": lambda path: {"file_path": path, "old_string": "a", "new_string": "b"},
    "Glob": lambda pattern: {"pattern": pattern},
    "Grep": lambda pattern: {"pattern": pattern},
    "WebFetch": lambda url: {"url": url, "prompt": "x"},
    "WebSearch": lambda query: {"query": query},
}


class Row(NamedTuple):
    """One call with the tier that it should have."""

    action: str
    tool: str
    value: str
    tier: int
    context: dict[str, Any]
    capsule: tuple[str, ...] | None

    def __str__(self) -> str:
        return f"{self.action}: {self.tool} {self.value}"


def rows(section: str) -> list[Row]:
    """The calls of one part of the table."""
    data = plain(parse((Path(__file__).parent / "blast_radius.yaml").read_text("utf-8"), "blast_radius.yaml"))
    found = []
    for group in data[section]:
        for call in group["calls"]:
            [(tool, value)] = call.items() if isinstance(call, dict) else [("Bash", call)]
            capsule = tuple(group["capsule"]) if "capsule" in group else None
            row = Row(group.get("action", "everyday"), tool, value, group["tier"], group.get("context", {}), capsule)
            found.append(row)
    return found


@cache
def rulebook(*, paths: bool = False) -> Rulebook:
    """One agent that may do anything, in a project that says what production is; with `paths` also which files."""
    tools = ["Bash", "Read", "Write", "Edit", "Glob", "Grep", "WebFetch", "WebSearch"]
    return build_rulebook(
        {"remit": 1, "use": ["claude-code"], "labels": PATHS if paths else LABELS, "agents": {"dev": {"may": tools}}}
    )


def measured(row: Row) -> tuple[int, str]:
    """The tier of the call, and why."""
    capsules = {"T": Capsule("T", "dev", scope=row.capsule)} if row.capsule is not None else {}
    context = Context(**row.context, capsule="T" if capsules else None)
    call = Call("dev", row.tool, ARGUMENTS[row.tool](row.value), context)
    facts = Facts(root=ROOT, capsules=capsules)
    book = rulebook(paths="deploy" in row.value)
    return decide(book, call, facts).tier, tier_reason(book, call, facts)


@pytest.mark.parametrize("row", rows("raised"), ids=str)
def test_what_reaches_far(row: Row) -> None:
    tier, why = measured(row)
    assert (tier, bool(why)) == (row.tier, True), why


@pytest.mark.parametrize("row", rows("harmless"), ids=str)
def test_what_does_not(row: Row) -> None:
    tier, why = measured(row)
    assert tier <= row.tier, why


def test_there_is_enough_of_each() -> None:
    counts: dict[str, int] = {}
    for row in rows("raised"):
        counts[row.action] = counts.get(row.action, 0) + 1
    counts.pop("the same by another name")
    assert min(counts.values()) >= 8
    assert len(rows("harmless")) >= 120
