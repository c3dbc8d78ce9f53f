"""Models that pages give to groups of agents, against the heads of the definitions."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from remit.scan.survey import scan
from tests.scan.repositories import write


def head(name: str, model: str) -> str:
    return f"---\nname: {name}\ndescription: Works\ntools: Read\nmodel: {model}\n---\nDo the work.\n"


TEAM = {
    f".claude/agents/{name}.md": head(name, model)
    for name, model in (("smith", "opus"), ("clerk", "sonnet"), ("guide-agent", "haiku"), ("scout", "inherit"))
}
CLERK = "a table gives another model than the definition: `clerk` (opus; sonnet)"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        # a table below a heading that names a model, a tier with a column of agents, and lists
        ("## Leads (opus)\n\n| Agent | Work |\n|---|---|\n| `smith` | plans |\n| `clerk` | files |\n", [CLERK]),
        ("| Tier | Model | Who |\n|---|---|---|\n| A | opus | `smith`, `clerk` |\n| B | haiku | `guide-agent` |\n", [CLERK]),
        ("## Opus agents\n\n- **smith**: plans\n- **clerk**: files\n", [CLERK.replace("(opus", "(Opus")]),
        ("# Agents\n\n- **smith** (opus): plans\n- **clerk** (opus): files\n", [CLERK]),
        ("| Agent | Model / effort |\n|---|---|\n| smith | opus/high |\n| clerk | opus/low |\n", [CLERK.replace("(opus", "(opus/low")]),
        (
            "All agents use `sonnet`.\n",
            ["a table gives another model than the definition: `guide-agent` (sonnet; haiku), `scout` (sonnet; inherit), `smith` (sonnet; opus)"],
        ),
        # the right one, a program, a part, or another sort of bracket
        ("## Leads (opus)\n\n| Agent | Work |\n|---|---|\n| `smith` | plans |\n", []),
        ("| Agent | Model |\n|---|---|\n| scout | Claude |\n| smith | Claude |\n", []),
        ("| Tier | Model | Who |\n|---|---|---|\n| A | opus | `smith`, `clerk` (opus for plans) |\n| B | haiku | `guide-agent` |\n", []),
        ("## Leads (two)\n\n| Agent | Work |\n|---|---|\n| `smith` | plans |\n| `clerk` | files |\n", []),
        ("# Agents\n\n- **clerk** (reads only): files\n", []),
        ("All agents use opus for plans.\n", []),
    ],
)  # fmt: skip
def test_models_of_groups(tmp_path: Path, page: str, expected: list[str]):
    survey = scan(str(write(tmp_path, {**TEAM, "docs/team.md": page})), today=datetime.date(2026, 11, 19))
    assert [one.text for one in survey.findings if one.code == "tables-differ"] == expected
