"""Paths that documents name, in sentences, drawn trees and tables of files."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from remit.scan.survey import scan
from tests.scan.repositories import definition, write

KIT = {
    ".claude/agents/baker.md": definition("baker", "Read"),
    ".claude/rules/flour.md": "# Flour\n",
    ".claude/guide.md": "# Guide\n",
    ".claude/oven.md": "# Oven\n",
    ".claude/scripts/weigh.py": "pass\n",
    "shop/prices.toml": "x = 1\n",
    ".gitignore": ".claude/kept/\n",
}
TREE = "# Layout of agents\n\n```\nkit/\n├── .claude/\n│   ├── guide.md\n│   ├── oven.md\n│   ├── rules/\n│   │   └── flour.md\n│   ├── scripts/\n│   │   └── weigh.py\n│   └── {}\n└── shop/\n```\n"
TABLE = "# Files of the agents\n\n| File | Use |\n|---|---|\n| `.claude/guide.md` | x |\n| `.claude/oven.md` | x |\n| `.claude/rules/flour.md` | x |\n| `shop/prices.toml` | x |\n| `{}` | {} |\n"


@pytest.mark.parametrize(
    ("page", "lost"),
    [
        (TREE.format("pantry/"), [".claude/pantry"]),
        (TREE.format("pantry/   # Notes of each day"), [".claude/pantry"]),
        (TREE.format("pantry/   # generated, one for each run"), []),
        (TREE.format("scripts/weigh.py"), []),
        (TREE.format("settings.local.json"), []),
        (TREE.format("kept/"), []),
        (TREE.format("a/\n│   ├── b.md\n│   ├── c.md\n│   └── d.md"), []),
        (TABLE.format("shop/debts.toml", "the debts"), ["shop/debts.toml"]),
        (TABLE.format("shop/debts.toml", "created by the first run"), []),
        (TABLE.format("shop/prices.toml", "x"), []),
        (TABLE.format("kit.toml", "of each project"), []),
        ("# Agents\n\nRun `python .claude/scripts/bake.py` before work.\n", [".claude/scripts/bake.py"]),
        ("# Agents\n\nRun `python ~/.claude/scripts/bake.py` before work.\n", []),
        ("# Agents\n\n```\nLEAK .claude/scripts/bake.py\n```\n", []),
        ("# Agents\n\n```sh\npython .claude/scripts/bake.py\n```\n", [".claude/scripts/bake.py"]),
        ("# Agents\n\nOnly `docs/*` and `.claude/scripts/bake.py` may change.\n", []),
        ("# Agents\n\nIt writes `.claude/scripts/bake.py`.\n", []),
        ("# Agents\n\nRun `.cursor/scripts/bake.py`.\n", []),
        ("# Agents\n\nRead `.claude/bread.md`.\n", []),
        (
            "# Agents\n\nRead `.claude/bread.md`.\nThen `.claude/guide.md` and `.claude/oven.md`.\n",
            [".claude/bread.md"],
        ),
    ],
)
def test_paths_that_lead_nowhere(tmp_path: Path, page: str, lost: list[str]):
    survey = scan(str(write(tmp_path, {**KIT, "docs/kit.md": page})), today=datetime.date(2026, 11, 19))
    texts = [one.text for one in survey.findings if one.code == "missing-file"]
    assert texts == [f"`{path}` does not exist" for path in lost]


def test_what_an_agent_reads_at_work_may_lie_in_another_repository(tmp_path: Path):
    text = "# Bake\n\nAs an agent, read `.claude/bread.md`, `.claude/guide.md` and `.claude/oven.md`.\n"
    survey = scan(str(write(tmp_path, {**KIT, ".claude/commands/bake.md": text})), today=datetime.date(2026, 11, 19))
    assert [one.text for one in survey.findings if one.code == "missing-file"] == []
