"""Numbers that documents give: which are read, and which of them are wrong."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from remit.scan.counts import counts_in, listed_after
from remit.scan.model import Finding
from remit.scan.survey import scan
from tests.scan.repositories import definition, write

TEAM = {f".claude/agents/{name}.md": definition(name, "Read") for name in ("alpha", "bravo", "carol", "delta", "echo")}
SKILLS = {f".claude/skills/{name}/SKILL.md": f"# {name}\n" for name in ("one", "two", "three", "four")}


def found(root: Path, files: dict[str, str], code: str = "count-mismatch") -> list[Finding]:
    survey = scan(str(write(root, files)), today=datetime.date(2026, 11, 18))
    return [one for one in survey.findings if one.code == code]


@pytest.mark.parametrize(
    ("line", "counted"),
    [
        ("47 skills • 10 specialist agents • 16 prompts", [("skills", 47), ("agents", 10), ("prompts", 16)]),
        ("## Agents (10)", [("agents", 10)]),
        ("| **AI Agents** | 17 |", [("agents", 17)]),
        ("**Total agents:** 34", [("agents", 34)]),
        ("![x](https://img.shields.io/badge/Skills-46-blue)", [("skills", 46)]),
        ("│   ├── agents/ (7)   # review agents", [("agents", 7)]),
        ("共 12 个智能体", [("agents", 12)]),
        ("Die 8 Agenten", [("agents", 8)]),
        ("13 servers and 3-5 agents, version 2.4 agents", []),
        ("15 reusable skills for agents", [("skills", 15)]),
        ("the nine specialist agents", [("agents", 9)]),
        ("13 specialized agents (+ 13 reviewer agents)", []),
        ("## Agents (1 primary + 5 subagents)", []),
        ("All three commands share a pipeline.", []),
        ("```\n30 agents, 23 commands\n```", []),
    ],
)
def test_what_is_a_count(line: str, counted: list[tuple[str, int]]):
    assert [(one.kind, one.said) for one in counts_in("README.md", line)] == counted


@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        ("## Agents (3)\n\n| Agent | Use |\n|---|---|\n| `a` | x |\n| `b` | y |\n", {2}),
        ("## Agents (3)\n\n- **a**: x\n  - more of it\n- **b**: y\n", {2}),
        ("## Agents (3)\n\n| Agent | Use |\n|---|---|\n| `a`, `c` | x |\n| `b` | y |\n", {2, 3}),
        ("## Agents (3)\n\n- `a`\n- `b`\n- and more\n", set()),
        ("## Agents (3)\n\nThey include:\n\n- `a`\n- `b`\n", set()),
        ("## Agents (3)\n\n- `a`\n- `b`\n\n| Agent | Use |\n|---|---|\n| `a` | x |\n| `b` | y |\n", set()),
        ("## Agents (3)\n\n- First we look at what there is to be done here\n- Then we go and do it\n", set()),
    ],
)
def test_how_many_are_listed_below(text: str, sizes: set[int]):
    assert listed_after(text.split("\n"), 0) == sizes


@pytest.mark.parametrize(
    ("path", "text", "texts"),
    [
        ("README.md", "It has 6 skills and 5 agents.", ["the text speaks of 6 skills; `.claude/skills` has 4"]),
        ("README.md", "It has 4 skills and 5 agents.", []),
        ("README.md", "It has 3+ skills and 5 agents.", []),
        ("README.md", "We added 6 skills and 5 agents.", []),
        ("docs/report.md", "It has 6 skills and 5 agents.", []),
        ("docs/guide.md", "All 7 agents wait.", ["the text speaks of 7 agents; `.claude/agents` defines 5"]),
        ("app/notes.md", "All 7 agents wait.", []),
        (
            "docs/guide.md",
            "```\n.claude/\n└── skills/   # 6 skills\n```",
            ["the text speaks of 6 skills; `.claude/skills` has 4"],
        ),
        ("docs/guide.md", "```\n.claude/\n└── skills.ts   # 6 skills\n```", []),
        ("docs/guide.md", "The 4 specialists and the orchestrator.", []),
        ("docs/guide.md", "| Other kit | 7 specialized agents |", []),
    ],
)
def test_what_a_number_is_compared_with(tmp_path: Path, path: str, text: str, texts: list[str]):
    files = {**TEAM, **SKILLS, path: f"# Notes about agents\n\n{text}\n"}
    if "orchestrator" in text:
        files.pop(".claude/agents/echo.md")
        files[".claude/agents/orchestrator.md"] = definition("orchestrator", "Read")
    assert [one.text for one in found(tmp_path, files)] == texts


def test_servers_and_agents_that_settings_name(tmp_path: Path):
    files = {
        "opencode.json": '{"agent": {"a": {}, "b": {}, "c": {}, "d": {}}, "mcp": {"x": {}, "y": {}, "z": {}, "w": {}}}',
        "README.md": "# Agents\n\nFive agents and 3 MCP servers are registered in `opencode.json`.\n",
    }
    assert sorted(one.text for one in found(tmp_path, files)) == [
        "the text speaks of 3 servers; `opencode.json` has 4",
        "the text speaks of 5 agents; `opencode.json` defines 4",
    ]


def test_one_number_in_many_places_is_told_once(tmp_path: Path):
    pages = dict.fromkeys(("README.md", "AGENTS.md", "docs/a.md"), "# Agents\n\nAll 7 agents wait.\n")
    (one,) = found(tmp_path, {**TEAM, **pages})
    assert [place.file for place in one.places[:3]] == ["AGENTS.md", "README.md", "docs/a.md"]


def test_a_readme_is_no_command(tmp_path: Path):
    commands = {f".claude/commands/{name}.md": "Do it.\n" for name in ("go", "stop", "wait", "turn", "README")}
    assert (
        found(tmp_path, {**TEAM, **commands, "README.md": "# Team\n\nThe 4 commands are in `.claude/commands/`.\n"})
        == []
    )


def test_who_deletes_nothing_may_still_write(tmp_path: Path):
    text = definition("alpha", "Read, Edit", "Works on code.") + "\nIt does not delete files.\n"
    assert found(tmp_path, {**TEAM, ".claude/agents/alpha.md": text}, "read-only-can-write") == []
    text = definition("alpha", "Read, Edit", "Works on code.") + "\nIt does not edit or delete files.\n"
    assert len(found(tmp_path, {**TEAM, ".claude/agents/alpha.md": text}, "read-only-can-write")) == 1
