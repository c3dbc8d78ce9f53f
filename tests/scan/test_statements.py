"""What pages say of known agents' rights, in whatever form, against what the definitions grant."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from remit.scan.survey import scan
from tests.scan.repositories import definition, write

TEAM = {
    ".claude/agents/code-reviewer.md": definition("code-reviewer", "Read, Grep, Edit"),
    ".claude/agents/explorer.md": definition("explorer", "Read, Grep, Bash"),
    ".claude/agents/builder.md": definition("builder", "Read, Edit, Write, Bash"),
    ".claude/agents/planner.md": definition("planner", "Read, Grep"),
    ".claude/agents/free.md": definition("free", None),
}
CODES = ("definition-wider", "definition-narrower", "tables-differ", "only-and-more", "allowed-and-prohibited")


def found(root: Path, page: str, **more: str) -> set[str]:
    files = {**TEAM, "docs/team.md": page, **{name.replace("__", "/") + ".md": text for name, text in more.items()}}
    survey = scan(str(write(root, files)), today=datetime.date(2026, 11, 18))
    return {f"{one.agent}: {one.code}" for one in survey.findings if one.code in CODES and one.weight.value != "note"}


REVIEWER, EXPLORER, FREE = (f"{name}: definition-wider" for name in ("code-reviewer", "explorer", "free"))
LESS = "planner: definition-narrower"


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        # a column of agents, under any heading and in any place; lists of tools under any heading
        ("| Task | Who | Equipment |\n|---|---|---|\n| a | code-reviewer | Read, Grep |\n| b | builder | Read, Edit, Write, Bash |\n", {REVIEWER}),
        ("| Kit | Done by |\n|---|---|\n| Read, Grep | `explorer` |\n| Read, Grep | `planner` |\n", {EXPLORER}),
        ("| Agent | Toolkit |\n|---|---|\n| explorer | `Read` `Grep` |\n| free | `Read` `Grep` `Edit` |\n", {EXPLORER, FREE}),
        ("| Agent | Tools |\n|---|---|\n| planner | Read, Grep |\n| code-reviewer | +Edit |\n", set()),
        ("| Agent | Tools |\n|---|---|\n| planner | Read, Grep |\n| explorer | + Edit |\n", {EXPLORER, "explorer: definition-narrower"}),
        # rights in cells of any kind
        ("| Agent | What it does |\n|---|---|\n| explorer | Digs in code (read-only) |\n| builder | Builds |\n", {EXPLORER}),
        ("| Agent | Rights |\n|---|---|\n| explorer | read |\n| builder | read + edit + run commands |\n", {EXPLORER}),
        ("| Agent | Rights |\n|---|---|\n| free | everything but Bash |\n| builder | all |\n", {FREE}),
        ("| Agent | Cannot |\n|---|---|\n| explorer | `Bash`, `Write` |\n| builder | - |\n", {EXPLORER}),
        # agents across
        ("| | code-reviewer | explorer |\n|---|---|---|\n| Tools | Read, Grep | Read, Grep, Bash |\n| Writes | - | x |\n", {REVIEWER}),
        ("| Right | code-reviewer | explorer |\n|---|---|---|\n| Edit files | no | no |\n| Run commands | no | no |\n", {REVIEWER, EXPLORER}),
        # who may use a tool: nobody else in the table
        ("| Tool | Who may use it |\n|---|---|\n| Bash | builder |\n| Grep | explorer, planner |\n", {EXPLORER}),
        ("| Tool | Who may use it |\n|---|---|\n| Bash | builder, explorer |\n| Grep | planner, explorer |\n", set()),
        # lists and sentences
        ("- **explorer** — digs; no shell\n- **code-reviewer**: reviews (Read, Grep)\n", {EXPLORER, REVIEWER}),
        ("- `explorer` digs and may use anything\n", set()),
        ("The explorer must not use Bash.\n\n`code-reviewer` never edits files.\n", {EXPLORER, REVIEWER}),
        ("The explorer must not use Bash unless asked.\n", set()),
        ("## explorer\n\n- may read anything\n- must not run commands\n", {EXPLORER}),
        ("## explorer (2 tools)\n\nRead, Grep. Digs.\n", {EXPLORER}),
        ("## explorer\n\n**Tools:**\n\n- `Read`: pages\n- `Grep`: words\n\n## code-reviewer\n\n### Cannot use\n\n- Edit\n", {EXPLORER, REVIEWER}),
        ("## explorer\n\n| Property | Value |\n|---|---|\n| Tools | Read, Grep |\n| Model | small |\n", {EXPLORER}),
        ("Only `builder` may edit files.\n", {REVIEWER, FREE}),
        ("Only builder and explorer may use Bash.\n", {FREE}),
        ("Only the lead may edit files.\n", set()),
        # levels that the page explains, in a table, in words or in a list
        ("| Level | Tools |\n|---|---|\n| A | Read, Grep |\n| B | adds Edit |\n\n| Agent | Level |\n|---|---|\n| explorer | A |\n| code-reviewer | B |\n", {EXPLORER}),
        ("| Level | May |\n|---|---|\n| A | read the workspace |\n| B | A and edit files |\n| C | B and run commands |\n\n| Agent | Level |\n|---|---|\n| explorer | B |\n| builder | C |\n| code-reviewer | A |\n", {EXPLORER, REVIEWER}),
        ("- **scout**: Read, Grep\n- **smith**: Read, Grep, Edit\n\n| Agent | Profile |\n|---|---|\n| explorer | scout |\n| code-reviewer | smith |\n", {EXPLORER}),
        ("| Agent | Level |\n|---|---|\n| explorer | A |\n| code-reviewer | B |\n", set()),
        # about something else, or with an exception
        ("| Agent | Rights |\n|---|---|\n| explorer | read-only (except reports) |\n| builder | all |\n", set()),
        ("| Agent | Notes | Drafts |\n|---|---|---|\n| explorer | read-only | read-only |\n| code-reviewer | read-only | read/write |\n", set()),
        ("| Agent | Typical tools |\n|---|---|\n| explorer | Read, Grep |\n| code-reviewer | Read, Grep |\n", set()),
        ("| Agent | Files |\n|---|---|\n| free | `src/**` |\n| explorer | `*.md` |\n", set()),
        ("| Case | Use | Do not use |\n|---|---|---|\n| a | explorer | free |\n| b | builder | `code-reviewer` |\n", set()),
        ("Status: superseded by the next page\n\n## explorer\n\nTools: Read, Grep\n", set()),
    ],
)  # fmt: skip
def test_forms(tmp_path: Path, page: str, expected: set[str]):
    assert found(tmp_path, f"# Team\n\n{page}") == expected
