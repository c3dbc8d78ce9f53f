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
        ("It says `ready (30 agents found)` then.", []),
        ("9 agents + 4 skills", [("agents", 9), ("skills", 4)]),
        ("**88 agentes** em 8 setores + 5 chefes", [("agents", 88)]),
        ("Les cinq agents", [("agents", 5)]),
        ("Escopo dos agentes", []),
        ("6 个专注的子 Agent", [("agents", 6)]),
        ("九个智能体", [("agents", 9)]),
        ("├── agents/  # 代理配置（17个）", [("agents", 17)]),
        ("| 代理数量 | 17个 |", [("agents", 17)]),
        ("서브에이전트 4종", [("agents", 4)]),
        ("第3个智能体", []),
        ("| 2026-06-20 | 4 agents | first set-up |", []),
        ("| Foundation | v0.5.0 | 4 agents |", []),
        ('The page says "13 agents", and is wrong.', []),
        ("*Example: v1.3.0, 47 agents, 23 commands*", []),
        ("これで13のエージェント", [("agents", 13)]),
        ("|-- agents/   # 7 agents", [("agents", 7)]),
        ("Agent definitions (17)", [("agents", 17)]),
        ("### The 20-Agent Roster", [("agents", 20)]),
        ("A 5-agent pipeline", []),
        ("21 chatmodes", [("chatmodes", 21)]),
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
        ("## Agents (3)\n\n| Area | Agents |\n|---|---|\n| x | @aa, @bb |\n| y | @cc, @dd |\n", {4}),
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
        ("docs/sprints/notes.md", "It has 6 skills and 5 agents.", []),
        ("docs/guide.md", "All 7 agents wait.", ["the text speaks of 7 agents; `.claude/agents` defines 5"]),
        ("app/notes.md", "All 7 agents wait.", []),
        (
            "docs/guide.md",
            "```\n.claude/\n└── skills/   # 6 skills\n```",
            ["the text speaks of 6 skills; `.claude/skills` has 4"],
        ),
        ("docs/guide.md", "```\n.claude/\n└── skills.ts   # 6 skills\n```", []),
        ("docs/guide.md", "The 4 specialists and the orchestrator.", []),
        ("docs/guide.md", "| Other kit | 4 specialized agents |", []),
        ("README.md", "一共有 7 个专业智能体。", ["the text speaks of 7 agents; `.claude/agents` defines 5"]),
        ("README.md", "每次并行 7 个智能体。", []),
        ("docs/guide.md", "All 9+ specialized agents.", ["the text speaks of 9 agents; `.claude/agents` defines 5"]),
        ("docs/guide.md", "All 7 core agents wait.", []),
        ("user-docs/guide.md", "All 7 agents wait.", ["the text speaks of 7 agents; `.claude/agents` defines 5"]),
        ("README.md", "We have 7 agents.", ["the text speaks of 7 agents; `.claude/agents` defines 5"]),
        (
            "README.md",
            "There are three agents in this repo.",
            ["the text speaks of 3 agents; `.claude/agents` defines 5"],
        ),
        ("AGENTS.md", "Our team has 9 agents:", ["the text speaks of 9 agents; `.claude/agents` defines 5"]),
        ("README.md", "Wir haben 7 Agenten.", ["the text speaks of 7 agents; `.claude/agents` defines 5"]),
        ("README.md", "We have 7 agents for customers.", []),
        ("README.md", "We use 7 agents in parallel.", []),
        ("README.md", "The project has 7 agents that answer the phone.", []),
        ("docs/guide.md", "We have 7 agents.", []),
        ("docs/guide.md", "All 7 voting agents and the judge.", []),
        ("docs/guide.md", "All 7 testing agents wait.", ["the text speaks of 7 agents; `.claude/agents` defines 5"]),
        (".claude/skills/s0/references/people.md", "All 7 agents wait.", []),
    ],
)
def test_what_a_number_is_compared_with(tmp_path: Path, path: str, text: str, texts: list[str]):
    files = {**TEAM, **SKILLS, path: f"# Notes about agents\n\n{text}\n"}
    if "orchestrator" in text:
        files.pop(".claude/agents/echo.md")
        files[".claude/agents/orchestrator.md"] = definition("orchestrator", "Read")
    assert [one.text for one in found(tmp_path, files)] == texts


def test_pages_beside_agents_that_are_marked_may_be_none(tmp_path: Path):
    files = {f".github/agents/{name}.agent.md": definition(name, "read") for name in ("ant", "bee", "cat", "dog")}
    files[".github/agents/rules.md"] = "---\nname: rules\ndescription: Rules\n---\nRules.\n"
    assert found(tmp_path, {**files, "README.md": "# Team\n\nAll 4 agents wait.\n"}) == []
    assert len(found(tmp_path, {**files, "README.md": "# Team\n\nAll 3 agents wait.\n"})) == 1


def test_the_number_of_a_section_counts_nothing(tmp_path: Path):
    page = "# Agents\n\n## {}2 Error Kinds\n\n| Kind | Use |\n|---|---|\n| a | x |\n| b | y |\n| c | z |\n"
    assert found(tmp_path, {**TEAM, "docs/a.md": page.format("§")}) == []


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


def test_a_part_of_a_team_by_the_word_in_its_names(tmp_path: Path):
    team = {f".claude/agents/{name}-reviewer.md": definition(f"{name}-reviewer", "Read") for name in "abcde"}
    page = "# Agents\n\n- 6 reviewer agents look at it\n- 4 quick agents\n"
    assert [one.text for one in found(tmp_path, {**TEAM, **team, "README.md": page})] == [
        "the text speaks of 6 reviewer agents; `.claude/agents` defines 5"
    ]


def test_a_page_belongs_to_the_nearest_team_and_not_to_one_below_its_folder(tmp_path: Path):
    other = {f"docs/kit/agents/{name}.md": definition(name, "Read") for name in ("xa", "xb", "xc", "xd")}
    pages = {"docs/guide.md": "# Agents\n\nAll 6 agents.\n", "docs/kit/README.md": "# Agents\n\nAll 4 agents.\n"}
    assert [one.text for one in found(tmp_path, {**TEAM, **other, **pages})] == [
        "the text speaks of 6 agents; `.claude/agents` defines 5"
    ]


def test_at_least_so_many_is_right_if_any_team_has_them(tmp_path: Path):
    copies = {f"docs/fr/agents/{name}.md": definition(name, "Read") for name in ("alpha", "bravo", "carol", "delta")}
    page = "# Agents\n\nAll 5+ agents and 3 skills.\n"
    assert found(tmp_path, {**TEAM, **copies, "docs/fr/README.md": page}) == []
    page = "# Agents\n\nAll 6+ agents and 3 skills.\n"
    assert len(found(tmp_path, {**TEAM, **copies, "docs/fr/README.md": page})) == 1


def test_an_agent_of_the_program_may_be_left_out_of_a_number(tmp_path: Path):
    files = {"opencode.json": '{"agent": {"build": {}, "b": {}, "c": {}, "d": {}, "e": {}}}'}
    page = "# Agents\n\nThe %d agents of `opencode.json`.\n"
    assert found(tmp_path, {**files, "README.md": page % 4}) == []
    assert len(found(tmp_path, {**files, "README.md": page % 6})) == 1


def test_a_read_only_helper_that_is_started_says_nothing_of_who_starts_it(tmp_path: Path):
    text = definition("alpha", "Read, Edit", "Dispatch a search with `Explore` (a read-only exploration agent).")
    assert found(tmp_path, {**TEAM, ".claude/agents/alpha.md": text}, "read-only-can-write") == []


# what a number is compared with


def test_a_number_of_another_programs_things_is_not_compared(tmp_path: Path):
    text = "# Set-up\n\n## {}\n\nAll 6 skills are included.\n"
    files = {**TEAM, **SKILLS}
    assert found(tmp_path / "a", {**files, "README.md": text.format("Claude Code")})
    assert found(tmp_path / "b", {**files, "README.md": text.format("Claude Code and Cursor")})
    assert found(tmp_path / "c", {**files, "README.md": text.format("Cursor")}) == []
    assert found(tmp_path / "d", {**files, "docs/cursor.md": text.format("Skills")}) == []


@pytest.mark.parametrize(
    ("rows", "listed"),
    [
        (["- file registering four hooks:", "  - one: x", "  - two: x", "- other", "- more"], {2}),
        (["- file registering four hooks:", "- other", "- more"], set()),
        (["Four hooks:", "- one", "- two", "  - deeper", "- three"], {3}),
        (
            ["### Tools (12)", "| Group | Tools |", "|---|---|", "| **Search** (2) | a, b |", "| **Files** (10) | c |"],
            {2, 12},
        ),
    ],
)
def test_what_is_listed_below_a_number(rows: list[str], listed: set[int]):
    assert listed_after(rows, 0, "hooks") == listed


def test_numbers_of_another_day_or_from_elsewhere(tmp_path: Path):
    files = {**TEAM, **SKILLS}
    assert found(tmp_path / "a", {**files, "docs/all.md": "All 9 skills are here.\n"})
    assert found(tmp_path / "b", {**files, "docs/all.md": "All 9 skills (4 prior + 5 new) are here.\n"}) == []
    assert found(tmp_path / "c", {**files, "docs/all.md": "All 9 skills from the library are here.\n"}) == []
    assert found(tmp_path / "d", {**files, "docs/PRD-NEW-001.md": "All 9 skills are here.\n"}) == []
    assert found(tmp_path / "e", {**files, ".claude/completed/one.md": "All 9 skills are here.\n"}) == []


def test_tests_of_hooks_are_no_hooks(tmp_path: Path):
    names = ("one.sh", "two.sh", "three.py", "four.sh", "one_test.sh", "two-test.sh", "test_three.py", "four.test.js")
    hooks = {f".claude/hooks/{name}": "x\n" for name in names}
    page = "We have {} hooks in `.claude/hooks/`.\n"
    assert found(tmp_path / "a", {**TEAM, **hooks, "README.md": page.format(4)}) == []
    (one,) = found(tmp_path / "b", {**TEAM, **hooks, "README.md": page.format(5)})
    assert one.text == "the text speaks of 5 hooks; `.claude/hooks` has 4"


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("Two agents in `.opencode/agent` wait.", ["the text speaks of 2 agents; `.opencode/agent` defines 3"]),
        ("Three agents in `.opencode/agent` wait.", []),
        ("Two agents wait.", []),
        (
            "There are 4 commands (see `.opencode/command`).",
            ["the text speaks of 4 commands; `.opencode/command` has 2"],
        ),
        ("The 6 skills in `.opencode/skill/` load.", ["the text speaks of 6 skills; `.opencode/skill` has 4"]),
        (
            "```\n.opencode/\n├── agent/  # 2 core agent prompt files\n```",
            ["the text speaks of 2 agents; `.opencode/agent` defines 3"],
        ),
        ("```\n.opencode/\n├── agent/  # 2 more agents\n```", []),
    ],
)
def test_small_numbers_that_point_to_a_folder(tmp_path: Path, text: str, texts: list[str]):
    files = {
        f".opencode/agent/{name}.md": "---\nmode: subagent\ndescription: x\n---\nWork.\n" for name in ("a1", "b2", "c3")
    }
    files |= {f".opencode/command/{name}.md": "Do it.\n" for name in ("go", "halt")}
    files |= {f".opencode/skill/{name}/SKILL.md": f"# {name}\n" for name in ("one", "two", "three", "four")}
    assert [one.text for one in found(tmp_path, {**files, "README.md": f"# Agents\n\n{text}\n"})] == texts


@pytest.mark.parametrize(
    ("path", "text", "wrong"),
    [
        ("README.md", "Eleven agents bake bread.", True),
        ("README.md", "The bakery is 11 AI agents.", True),
        ("README.md", "| Speed | 11 agents bake |", False),
        ("docs/design.md", "The bakery is 11 AI agents.", False),
        ("README.md", "Spawn 11 agents.", False),
        ("README.md", "A tool of others that supports\n11 agents in one place.", False),
        ("README.md", "**Optional agents (11)**: many.", False),
        ("README.md", "It knows 11 agents: Aa, Bb, Cc, Dd, Ee, Ff, Gg, Hh, Ii, Jj, Kk.", False),
        ("README.md", "Up to 11 agents bake.", False),
        ("README.md", "The mill has 5 agents.", False),
        ("README.md", "All 11 agents are described in `docs/agents.md`.", True),
        ("CLAUDE.md", "## Team\n\nAll 11 agents bake.", True),
        (".claude/agents/a0.md", "You work with 11 specialized agents.", True),
        (".claude/agents/a0.md", "You work with 11 agents.", False),
    ],
)
def test_large_numbers_that_nothing_limits(tmp_path: Path, path: str, text: str, wrong: bool):
    folder = ".github" if path == "CLAUDE.md" else ".claude"
    suffix = ".agent.md" if path == "CLAUDE.md" else ".md"
    files = {f"{folder}/agents/a{one}{suffix}": definition(f"a{one}", "Read") for one in range(10)}
    page = definition("a0", "Read", text) if path in files else f"# Agents\n\n{text}\n"
    assert bool(found(tmp_path, {**files, path: page})) is wrong


def test_names_of_several_words_behind_a_number():
    (one,) = counts_in("README.md", "- 6 agents (Oven Keeper, Flour Miller, Porter, Tanner, Weaver)\n")
    assert one.listed == {5}
