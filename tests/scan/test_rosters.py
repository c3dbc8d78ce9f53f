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
        (".claude/commands/go.md", "The runtime delegates to `metrics_sink`.", []),
        (".claude/skills/metrics/SKILL.md", "Delegates to `metrics-sink` for real output.", []),
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


TASKS = ("knead-dough", "grind-corn", "carry-sacks", "tan-hides")
THINGS = {f".claude/skills/{name}/SKILL.md": f"# {name}\n" for name in TASKS}
FIVE = "Agents: code-reviewer, doc-writer, test-runner, oven-keeper, flour-miller"
COLUMN = "| Skill | Use |\n|---|---|\n| `knead-dough` · `grind-corn` | x |\n| `carry-sacks` | x |\n"
NUMBERED = "| # | Skill ID |\n|---|---|\n| 1 | knead-dough |\n| 2 | grind-corn |\n| 3 | carry-sacks |\n"


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (
            f"# Kit\n\n- {FIVE} (plus one of the host)\n",
            ["no-section: a document lists the agents; not `db-expert`"],
        ),
        (f"# Kit\n\n- {FIVE} and more\n", []),
        (
            f"# Kit\n\n- {FIVE}\n\nAlso `db-expert`.\n",
            [],
        ),
        ("# Kit\n\n- Agents at work: code-reviewer, doc-writer, test-runner, oven-keeper, flour-miller\n", []),
        (
            f"# Kit\n\n{FIVE.replace('Agents:', '**Agents:** db-expert,')}, `api-expert`\n",
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
            f"# Skills (load by themselves)\n\n{COLUMN}",
            ["no-section: a document lists the skills of `.claude/skills`; not `tan-hides`"],
        ),
        (
            "# Skills\n\nSkills: `knead-dough`, `grind-corn`, `carry-sacks`, `hides`\n",
            [],
        ),
        (
            f"# Skills (optional)\n\n{COLUMN}",
            [],
        ),
        (
            f"# Skills\n\n{NUMBERED}",
            ["no-section: a document lists the skills of `.claude/skills`; not `tan-hides`"],
        ),
    ],
)
def test_enumerations_in_a_line_and_in_cells(tmp_path: Path, page: str, texts: list[str]):
    more = {f".claude/agents/{name}.md": definition(name, "Read") for name in ("oven-keeper", "flour-miller")}
    assert found(tmp_path, page, path="README.md", more={**THINGS, **more}) == texts


ROLES = """# Who does what

| Role | Skills |
|---|---|
| cook | `{}knead-dough`, `{}grind-corn` |
| mate | `{}carry-sacks` |
| hand | {} |
"""


@pytest.mark.parametrize(
    ("prefix", "last", "texts"),
    [
        ("", "`weave-cloth`", ["undefined-name: among the skills, and nowhere here: `weave-cloth`"]),
        ("", "—", []),
        ("", "`tan-hides`", []),
        ("", "whatever there is", []),
        ("mill-", "`mill-weave-cloth`", ["undefined-name: among the skills, and nowhere here: `mill-weave-cloth`"]),
        ("mill-", "`mill-tan-hides`", []),
        ("mill-", "`mill-tan`", []),
    ],
)
def test_a_column_that_gives_skills(tmp_path: Path, prefix: str, last: str, texts: list[str]):
    page = ROLES.format(prefix, prefix, prefix, last)
    more = {**THINGS, ".claude/skills/tan/SKILL.md": "# tan\n"} if "tan`" in last else THINGS
    assert found(tmp_path, page, path="README.md", more=more) == texts


def test_work_may_be_handed_to_a_workflow(tmp_path: Path):
    page = "# Agents\n\nDelegate to `night-build`.\n"
    there = {".github/workflows/night-build.yml": "on: push\n"}
    assert found(tmp_path / "a", page, path=".claude/commands/go.md", more=there) == []
    assert found(tmp_path / "b", page, path=".claude/commands/go.md") != []


WRITERS = ("write-page", "check-links", "sort-notes", "trim-words")
BENCH = {f".claude/skills/{name}/SKILL.md": f"# {name}\n" for name in WRITERS}


def spoken(root: Path, files: dict[str, str]) -> list[str]:
    survey = scan(str(write(root, {**TEAM, **BENCH, **files})), today=datetime.date(2026, 11, 18))
    return [f"{one.text} ({len(one.places)})" for one in survey.findings if one.code == "undefined-name"]


LOST = "`bind-book` is named among the skills, and nothing defines it (1)"


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (
            "Use the `write-page` skill, the `check-links` skill, the `sort-notes` skill and the `bind-book` skill.",
            [LOST],
        ),
        ("**Key Skills:** `write-page`, `check-links`\n\n**Key Skills:** `sort-notes`, `bind-book`", [LOST]),
        ("- **write-page**: x\n- **check-links**: x\n- **sort-notes**: x\n- **bind-book**: x", [LOST]),
        ("Use the skill `write-page`.\n\nSkills: `check-links`, `sort-notes`\n\nUse the `trim-words` skill.", []),
        ("Skills: `write-page`, `check-links`\n\nSkills: `bind-book`, `glue-spine`", []),
        ("Skills: `write-page`, `check-links`, `sort-notes`\n\nCreate the `bind-book` skill.", []),
        ("Skills: `write-page`, `check-links`, `sort-notes`\n\nThe `bind-book` skill of the plugin is needed.", []),
        ("Skills: `write-page`, `check-links`, `sort-notes`\n\n- **bind-book**: a field of the head", []),
        ("Skills: `zz-write-page`, `zz-check-links`\n\nSkills: `zz-sort-notes`, `zz-trim-words`", []),
    ],
)
def test_skills_that_a_text_speaks_of(tmp_path: Path, page: str, texts: list[str]):
    assert spoken(tmp_path, {"docs/guide.md": f"# Guide to the skills\n\n{page}\n"}) == texts


def test_a_skill_that_two_documents_name_is_one_finding(tmp_path: Path):
    page = "# Guide\n\n**Skills:** `write-page`, `check-links`, `sort-notes`\n\nUse the `bind-book` skill.\n"
    assert spoken(tmp_path, {"docs/one.md": page, "docs/two.md": page}) == [LOST.replace("(1)", "(2)")]


@pytest.mark.parametrize(("says", "count"), [("**Invoked via:** /bind-book", 0), ("Binds.", 1)])
def test_a_skill_may_say_by_which_command_it_is_called(tmp_path: Path, says: str, count: int):
    page = "# Kit\n\nCommands: `/write-page`, `/check-links`\n\nCommands: `/sort-notes`, `/bind-book`\n"
    skill = f"# Paste, for agents and their tools\n\n- {says}\n"
    files = {".claude/skills/paste-cover/SKILL.md": skill, "docs/guide.md": page}
    assert len(spoken(tmp_path, files)) == count


@pytest.mark.parametrize(
    ("heading", "last", "found"),
    [
        ("## Works with", "- **api-expert**: x", 1),
        ("This agent collaborates with:", "- **api-expert**", 1),
        ("## Works with", "- **db-expert**: x", 0),
        ("## Works with", "- **Customer Support**: x", 0),
        ("## Remember", "- **api-expert**: x", 0),
    ],
)
def test_agents_that_definitions_say_theirs_work_with(tmp_path: Path, heading: str, last: str, found: int):
    first = f"{heading}\n\n- **code-reviewer**: x\n- **doc-writer**: x\n"
    bodies = {"db-expert": first, "code-reviewer": f"{heading}\n\n- **test-runner**: x\n{last}\n"}
    files = {f".claude/agents/{name}.md": f"{definition(name, 'Read')}\n{body}" for name, body in bodies.items()}
    texts = spoken(tmp_path, files)
    expected = "`api-expert` is named as an agent to work with, and nothing defines it (1)"
    assert texts == [expected] * found


@pytest.mark.parametrize(
    ("heading", "path", "found"),
    [
        ("All Skills Catalog", "docs/guide.md", 1),
        ("Skills Reference", "docs/guide.md", 1),
        ("Available Skills", "docs/guide.md", 1),
        ("Skills", "docs/guide.md", 0),
        ("Skills for a hurry", "docs/guide.md", 0),
        ("Available Skills", ".claude/agents/db-expert.md", 0),
    ],
)
def test_a_catalogue_may_leave_out_more(tmp_path: Path, heading: str, path: str, found: int):
    more = {".claude/skills/bind-book/SKILL.md": "# x\n"}
    page = f"# Kit\n\n## {heading}\n\n- `write-page`: x\n- `check-links`: x\n- `sort-notes`: x\n"
    page = page if path.startswith("docs") else f"{definition('db-expert', 'Read')}\n{page}"
    survey = scan(str(write(tmp_path, {**TEAM, **BENCH, **more, path: page})), today=datetime.date(2026, 11, 18))
    assert sum(one.code == "no-section" for one in survey.findings) == found
