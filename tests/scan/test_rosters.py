"""Enumerations of agents and names in passing, against who is defined."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from remit.scan.lint.rosters import is_directory
from remit.scan.survey import scan
from tests.scan.repositories import definition, write

NAMES = ("code-reviewer", "doc-writer", "test-runner", "db-expert")
TEAM = {f".claude/agents/{name}.md": definition(name, "Read") for name in NAMES}


def found(root: Path, page: str, *, path: str = "docs/guide.md", more: dict[str, str] | None = None) -> list[str]:
    files = {**TEAM, path: page, **(more or {})}
    survey = scan(str(write(root, files)), today=datetime.date(2026, 11, 18))
    codes = ("no-section", "undefined-name", "missing-file")
    return [f"{one.code}: {one.text}" for one in survey.findings if one.code in codes and one.weight.value != "note"]


ROWS = "".join(f"| `{name}` | works |\n" for name in NAMES[:3])
PAIR = "| db-expert | x |\n| api-expert | x |\n"
TREE = "```\n.claude/\n└── agents/\n" + "".join(f"    ├── {name}.md\n" for name in NAMES[:3]) + "```\n"


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (
            f"# Agents\n\n| Agent | Use |\n|---|---|\n{ROWS}",
            ["no-section: a document lists the agents; not `db-expert`"],
        ),
        (f"# Agents\n\n| Agent | Use |\n|---|---|\n{ROWS}\nAsk `db-expert` too.\n", []),
        (f"# Dispatch when in a hurry\n\n| Agent | Use |\n|---|---|\n{ROWS}", []),
        (f"# Files\n\n{TREE}", ["no-section: a document lists the agents; not `db-expert`"]),
        (f"# Files\n\n{TREE.replace('runner.md', 'runner.md' + chr(10) + '    └── ...')}", []),
        (
            f"# Agents\n\n| Agent | Use |\n|---|---|\n{ROWS}| `db-expert` | x |\n| `api-expert` | y |\n",
            ["undefined-name: among the agents, without a definition: `api-expert`"],
        ),
        (f"# Agents\n\n| Agent | Use |\n|---|---|\n{ROWS}| `db-expert/doc-writer` | x |\n| `readme` | y |\n", []),
        (f"# Who\n\n| Role | Use |\n|---|---|\n{ROWS}| Customer | y |\n", []),
        (f"# Agents\n\n| Agent | Use |\n|---|---|\n{ROWS}| `db-expert` | x |\n| Explore | y |\n", []),
        (f"# Agents\n\n| Agent | Kind |\n|---|---|\n{ROWS}| `db-expert` | x |\n| `duck` | Built-in |\n", []),
        (f"# Agents\n\n| Agent | Use |\n|---|---|\n{ROWS}| `db-expert` | x |\n| varies | y |\n", []),
        (
            "# Steps\n\n| Agent | Use |\n|---|---|\n| doc-writer | x |\n| db-expert | x |\n| gone | y |\n| lost | |\n",
            ["undefined-name: among the agents, without a definition: `gone`, `lost`"],
        ),
        ("# Steps\n\n| Who | Use |\n|---|---|\n| doc-writer | x |\n| db-expert | x |\n| gone | y |\n", []),
        (
            "# Skills\n\n| Skill | Used by |\n|---|---|\n| a | @doc-writer, @db-expert |\n| b | @test-runner, @ops |\n",
            ["undefined-name: among the agents, without a definition: `ops`"],
        ),
        ("# Skills\n\n| Skill | Owner |\n|---|---|\n| a | @doc-writer |\n| b | @ann, @bob |\n", []),
        (
            "# Agents\n\n1. Offer:\n   - **choices** (label):\n"
            + "".join(f"     - **{name}** — x\n" for name in (*NAMES, "api-expert")),
            ["undefined-name: among the agents, without a definition: `api-expert`"],
        ),
        (
            "# Paths\n\n| Path | Owner agent |\n|---|---|\n| a | doc-writer |\n| b | db-expert |\n| c | read-only |\n",
            [],
        ),
        (
            f"# Review\n\n**Available agents:**\n\n| Agent | Use |\n|---|---|\n{ROWS}",
            ["no-section: a document lists the agents; not `db-expert`"],
        ),
        (
            f"# Files\n\n{TREE.replace('├── ', '|-- ').replace('└── ', '|-- ')}",
            ["no-section: a document lists the agents; not `db-expert`"],
        ),
        (
            f"# Agents\n\n## One\n\n| Agent | Use |\n|---|---|\n{ROWS}\n## Two\n\n| Agent | Use |\n|---|---|\n{PAIR}",
            ["undefined-name: among the agents, without a definition: `api-expert`"],
        ),
        (f"# Review\n\n**In a hurry:**\n\n| Agent | Use |\n|---|---|\n{ROWS}", []),
        (
            f"# Kit\n\n## 代理列表\n\n### 常用\n\n| 代理 | 用途 |\n|---|---|\n{ROWS}",
            ["no-section: a document lists the agents; not `db-expert`"],
        ),
    ],
)
def test_enumerations(tmp_path: Path, page: str, texts: list[str]):
    assert found(tmp_path, page) == texts


@pytest.mark.parametrize(
    ("path", "page", "texts"),
    [
        (
            ".claude/commands/go.md",
            "Delegate to `api-expert`.",
            ["undefined-name: `api-expert` is given work and is defined nowhere here"],
        ),
        (".claude/commands/go.md", "Delegate to `db-expert`.", []),
        (
            ".github/prompts/go.prompt.md",
            "---\nagent: Api Expert\n---\nDo it.",
            ["undefined-name: `Api Expert` is given work and is defined nowhere here"],
        ),
        (".github/prompts/go.prompt.md", "---\nagent: DB Expert\n---\nDo it.", []),
        (".github/prompts/go.prompt.md", "---\nagent: agent\n---\nDo it.", []),
        (".claude/commands/go.md", "Delegate to `my-agent`.", []),
        ("docs/guide.md", "Agents elsewhere delegate to `api-expert`.", []),
        (
            "docs/guide.md",
            "Agents: @code-reviewer, @doc-writer, @test-runner and @api-expert; not @platform-team.",
            ["undefined-name: `api-expert` is given work and is defined nowhere here"],
        ),
        ("docs/guide.md", "Agents: `.claude/agents/api-expert.md`.", []),
        (
            "docs/guide.md",
            "Agents: `.claude/agents/db-expert.md`, `.claude/agents/doc-writer.md`, `.claude/agents/api-expert.md`.",
            ["missing-file: `.claude/agents/api-expert.md` does not exist"],
        ),
        ("docs/guide.md", "Agents: `agents/db-expert.md`, `agents/doc-writer.md`.", []),
    ],
)
def test_names_in_passing(tmp_path: Path, path: str, page: str, texts: list[str]):
    page = page if page.startswith("---") else f"# Agents and tools\n\n{page}"
    assert found(tmp_path, f"{page}\n", path=path) == texts


def test_a_skill_or_a_file_of_that_name_is_no_missing_agent(tmp_path: Path):
    skill = {".claude/skills/api-expert/SKILL.md": "# Skill\n"}
    assert found(tmp_path, "Delegate to `api-expert`.", path=".claude/commands/go.md", more=skill) == []


@pytest.mark.parametrize(
    ("heading", "whole"),
    [
        ("Agents", True),
        ("6. Agent roster (v1)", True),
        ("Available Agents", True),
        ("Agent dispatch table", False),
        ("", False),
    ],
)
def test_headings_that_introduce_everybody(heading: str, whole: bool):
    assert is_directory(heading) is whole


def test_names_without_the_prefix_of_their_team(tmp_path: Path):
    team = {f".claude/agents/zz-{name}.md": definition(f"zz-{name}", "Read") for name in (*NAMES, "planner", "tester")}
    page = "# Agents\n\n" + "".join(f"- `@{name}`: works\n" for name in (*NAMES, "planner", "painter"))
    survey = scan(str(write(tmp_path, {**team, "README.md": page})), today=datetime.date(2026, 11, 18))
    assert [one.text for one in survey.findings if one.code == "undefined-name"] == [
        "among the agents, without a definition: `painter`"
    ]


def test_who_manages_a_matter_leads_nobody_and_a_whole_team_is_enough(tmp_path: Path):
    page = f"# Agents\n\n| Agent | Use |\n|---|---|\n{ROWS}| `db-expert` | x |\n"
    more = {".claude/agents/memory-manager.md": definition("memory-manager", "Read")}
    assert found(tmp_path / "a", page, more=more) == ["no-section: a document lists the agents; not `memory-manager`"]
    copy = {f"docs/fr/agents/{name}.md": definition(name, "Read") for name in (*NAMES, "echo")}
    assert found(tmp_path / "b", page, more=copy) == []


THINGS = {
    f".claude/skills/{name}/SKILL.md": f"# {name}\n"
    for name in ("knead-dough", "grind-corn", "carry-sacks", "tan-hides")
}


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (
            "# Kit\n\n- Agents: code-reviewer, doc-writer, test-runner, oven-keeper, flour-miller (plus one of the host)\n",
            ["no-section: a document lists the agents; not `db-expert`"],
        ),
        ("# Kit\n\n- Agents: code-reviewer, doc-writer, test-runner, oven-keeper, flour-miller and more\n", []),
        (
            "# Kit\n\n- Agents: code-reviewer, doc-writer, test-runner, oven-keeper, flour-miller\n\nAlso `db-expert`.\n",
            [],
        ),
        ("# Kit\n\n- Agents at work: code-reviewer, doc-writer, test-runner, oven-keeper, flour-miller\n", []),
        (
            "# Kit\n\n**Agents:** `code-reviewer`, `doc-writer`, `test-runner`, `db-expert`, `oven-keeper`, `flour-miller`, `api-expert`\n",
            ["undefined-name: among the agents, without a definition: `api-expert`"],
        ),
        (
            "# Kit\n\nSkills: `knead-dough`, `grind-corn`, `carry-sacks`\n",
            ["no-section: a document lists the skills of `.claude/skills`; not `tan-hides`"],
        ),
        (
            "# Kit\n\nSkills: `knead-dough`, `grind-corn`, `carry-sacks`, `tan-hides`, `weave-cloth`\n",
            ["undefined-name: among the skills, and nowhere here: `weave-cloth`"],
        ),
        (
            "# Skills (load by themselves)\n\n| Skill | Use |\n|---|---|\n| `knead-dough` · `grind-corn` | x |\n| `carry-sacks` | x |\n",
            ["no-section: a document lists the skills of `.claude/skills`; not `tan-hides`"],
        ),
        (
            "# Skills (optional)\n\n| Skill | Use |\n|---|---|\n| `knead-dough` · `grind-corn` | x |\n| `carry-sacks` | x |\n",
            [],
        ),
        (
            "# Skills\n\n| # | Skill ID | Use |\n|---|---|---|\n| 1 | knead-dough | x |\n| 2 | grind-corn | x |\n| 3 | carry-sacks | x |\n",
            ["no-section: a document lists the skills of `.claude/skills`; not `tan-hides`"],
        ),
    ],
)
def test_enumerations_in_a_line_and_in_cells(tmp_path: Path, page: str, texts: list[str]):
    more = {f".claude/agents/{name}.md": definition(name, "Read") for name in ("oven-keeper", "flour-miller")}
    assert found(tmp_path, page, path="README.md", more={**THINGS, **more}) == texts
