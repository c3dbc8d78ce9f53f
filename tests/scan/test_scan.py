"""A scan of whole repositories: what is found, what is joined, what is not said."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path

import pytest

from remit.scan.board import board
from remit.scan.model import Extent, Kind, Mark, Survey, Weight
from remit.scan.survey import ScanError, scan
from tests.scan.repositories import CALLERS, MATRIX, RECORD, REVIEWER, definition, write

TODAY = datetime.date(2026, 11, 18)


def found(survey: Survey) -> set[tuple[str, str | None]]:
    return {(one.code, one.agent) for one in survey.findings}


def errors(survey: Survey) -> set[tuple[str, str | None]]:
    return {(one.code, one.agent) for one in survey.findings if one.weight is Weight.ERROR}


def looked(tmp_path: Path, files: dict[str, str]) -> Survey:
    return scan(str(write(tmp_path, files)), today=TODAY)


def test_a_read_only_agent_with_a_shell(tmp_path: Path):
    survey = looked(tmp_path, {".claude/agents/code-reviewer.md": REVIEWER})
    assert errors(survey) == {("read-only-can-write", "code-reviewer")}
    (finding,) = survey.findings
    assert "`Bash`" in finding.text
    assert [str(place) for place in finding.places] == [
        ".claude/agents/code-reviewer.md:3",
        ".claude/agents/code-reviewer.md:4",
    ]


@pytest.mark.parametrize(
    ("tools", "extent", "names"),
    [
        ("Read, Bash(git diff:*), mcp__db__query", Extent.LIST, ["Read", "Bash", "mcp__db__query"]),
        ("[read, 'edit/editFiles']", Extent.LIST, ["read", "edit/editFiles"]),
        ("\n  - Read\n  - Write", Extent.LIST, ["Read", "Write"]),
        ("\n  - name: Read\n    description: reads", Extent.LIST, ["Read"]),
        ("\n  primary: [Read]\n  also: [Bash]", Extent.LIST, ["Read", "Bash"]),
        ("[]", Extent.LIST, []),
        ("'*'", Extent.EVERYTHING, []),
        ("", Extent.EVERYTHING, []),
        (None, Extent.EVERYTHING, []),
        ("\n  a:\n    b: 1", Extent.UNCLEAR, []),
    ],
)
def test_the_forms_of_a_tool_list(tmp_path: Path, tools: str | None, extent: Extent, names: list[str]):
    survey = looked(tmp_path, {".claude/agents/a.md": definition("a", tools)})
    (account,) = survey.agents[0].accounts
    assert (account.extent, [entry.tool for entry in account.entries]) == (extent, names)


def test_an_unquoted_colon_is_read_line_by_line(tmp_path: Path):
    text = "---\nname: a\ndescription: Use it: always: now\ntools: Read, Bash\n---\nx\n"
    survey = looked(tmp_path, {".claude/agents/a.md": text})
    (account,) = survey.agents[0].accounts
    assert account.recovered
    assert [entry.tool for entry in account.entries] == ["Read", "Bash"]
    assert ("invalid-front-matter", "a") in found(survey)


def test_a_matrix_with_short_names_and_its_sections(tmp_path: Path):
    survey = looked(tmp_path, {"docs/access.md": MATRIX})
    names = {agent.name: agent.names for agent in survey.agents}
    assert names == {
        "Lead": ("Lead",),
        "Digger": ("Digger", "Dig"),
        "Builder": ("Builder", "Build"),
        "Check Reporter": ("Check Reporter", "CheckRep"),
    }
    assert found(survey) == {
        ("list-against-matrix", "Lead"),
        ("claims-everything", "Builder"),
        ("count-mismatch", "Check Reporter"),
        ("moot-scope", "Check Reporter"),
    }
    dig = next(agent for agent in survey.agents if agent.name == "Digger")
    scoped = [e for a in dig.accounts if a.kind is Kind.SECTION for e in a.entries if e.mark is Mark.SCOPED]
    assert [entry.scope for entry in scoped] == ["`notes/*.md` only"]


def test_wrongly_decoded_text_is_read_as_meant(tmp_path: Path):
    broken = MATRIX.encode().decode("cp1252", "ignore")
    survey = looked(tmp_path, {"docs/access.md": broken})
    assert {agent.name for agent in survey.agents} == {"Lead", "Digger", "Builder", "Check Reporter"}
    assert ("mojibake", None) in found(survey)
    assert found(survey) - {("mojibake", None)} == found(
        scan(str(write(tmp_path / "b", {"docs/access.md": MATRIX})), today=TODAY)
    )


def test_a_table_of_callers_its_statistics_and_examples(tmp_path: Path):
    survey = looked(tmp_path, {"docs/callers.md": CALLERS})
    assert {(one.code, one.text) for one in survey.findings} == {
        ("count-mismatch", "the statistics say 2 tools, the tables grant 1"),
        ("undefined-name", "`Caller.HELPER` is used once and never declared"),
        ("nobody-named", "`search` has an empty cell for who may use it"),
        ("example-against-table", "an example grants `writeDisk`; the table does not"),
    }


def test_a_record_that_lost_its_indentation(tmp_path: Path):
    survey = looked(tmp_path, {"AGENT.md": RECORD})
    assert found(survey) == {
        ("record-flattened", "night-shift"),
        ("placeholder", "night-shift"),
        ("dead-prohibition", "night-shift"),
        ("review-overdue", "night-shift"),
    }


def test_a_document_that_denies_what_the_definition_grants(tmp_path: Path):
    table = "# Agents and tools\n\n| Agent | Allowed tools |\n|---|---|\n"
    table += "| Scout Agent | Read, Grep |\n| `smith` | Read, Write |\n"
    survey = looked(
        tmp_path,
        {
            ".claude/agents/scout.md": definition("scout", "Read, Grep, Bash"),
            ".claude/agents/smith.md": definition("smith", "Read"),
            "AGENTS-AND-TOOLS.md": table,
        },
    )
    assert errors(survey) == {("definition-wider", "scout")}
    assert ("definition-narrower", "smith") in found(survey)


def test_teams_in_one_repository_are_not_mixed(tmp_path: Path):
    survey = looked(
        tmp_path,
        {
            "one/.claude/agents/scout.md": definition("scout", "Read"),
            "two/.claude/agents/scout.md": definition("scout", "Read, Bash"),
        },
    )
    assert [(agent.name, agent.team) for agent in survey.agents] == [("scout", "one"), ("scout", "two")]
    assert not survey.findings


def test_settings_of_every_host(tmp_path: Path):
    survey = looked(
        tmp_path,
        {
            ".claude/settings.json": json.dumps(
                {"permissions": {"allow": ["Bash", "Read(src/**)"], "deny": ["WebFetch"]}}
            ),
            ".mcp.json": json.dumps({"mcpServers": {"db": {"command": "x"}}}),
            ".gemini/settings.json": '{"tools": {"exclude": ["run_shell_command"]}, // why\n}',
            "opencode.json": json.dumps(
                {"permission": {"edit": "ask"}, "agent": {"plan": {"tools": {"write": False}}}}
            ),
            ".codex/config.toml": 'sandbox_mode = "danger-full-access"\n',
            ".cursor/cli.json": "{",
        },
    )
    hosts = {account.host for agent in survey.agents for account in agent.accounts}
    assert hosts == {"claude-code", "gemini-cli", "opencode", "codex"}
    codes = [one.code for one in survey.findings]
    assert codes.count("settings-allow-everything") == 2
    assert codes.count("unreadable-settings") == 1


@pytest.mark.parametrize(
    "table",
    [
        # a product's own roles
        "# Permissions\n\n| Permission | Admin | User |\n|---|---|---|\n| read | ✅ | ✅ |\n| write | ✅ | ❌ |\n",
        # features of programs
        "# Features\n\n| Feature | Ours | Theirs |\n|---|---|---|\n| Dark mode | ✅ | ❌ |\n| Search | ✅ | ✅ |\n",
        # how many, not which
        "# Agents\n\n| Agent | Tools |\n|---|---|\n| a | 4 |\n| b | 7 |\n",
        # prose that says yes
        "# Notes\n\n| Question | Answer |\n|---|---|\n| Does it scale? | yes |\n| Is it done? | no |\n",
    ],
)
def test_other_tables_are_left_alone(tmp_path: Path, table: str):
    survey = looked(tmp_path, {"README.md": table})
    assert not survey.agents
    assert not survey.findings


@pytest.mark.parametrize(
    "sentence",
    [
        "Never write code.",
        "You are read-only for source code, and write reports.",
        "Do not modify files outside of docs/.",
        "Use read-only commands such as git log.",
        "Read-only queries only, unless the user asks.",
        "The database is a read-only replica.",
        "Never edit files without permission.",
        "Registry operations are strictly read-only.",
        "Read-only analysis; applying a plan is a gated, approved change.",
        "- Read-only: `cloud list` / `cloud show`",
        "- **Scout** (green) — Looks around. Read-only. Reports what it saw.",
        "- **Scout**: read-only.",
    ],
)
def test_sentences_that_are_no_claim(tmp_path: Path, sentence: str):
    survey = looked(tmp_path, {".claude/agents/a.md": definition("a", "Read, Write, Bash", sentence)})
    assert not errors(survey)


@pytest.mark.parametrize(
    "sentence",
    [
        "You are a read-only agent.",
        "Strictly read-only.",
        "You must never modify any files.",
        "Do not edit any files.",
        "This agent is read-only.",
        "You NEVER write code, edit files, or run commands.",
        "- **Read-only.** Look, and report.",
        "- **Never edit or write files.** Review only.",
        "Read-only diagnosis: no code modifications.",
    ],
)
def test_sentences_that_are_one(tmp_path: Path, sentence: str):
    survey = looked(tmp_path, {".claude/agents/a.md": definition("a", "Read, Edit", sentence)})
    assert errors(survey) == {("read-only-can-write", "a")}


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("", "has no tool list, so it holds every tool"),
        ("tools: '*'\n", "has no tool list, so it holds every tool"),
        ("disallowedTools: Write, Edit\n", "may run any command, since nothing takes the shell away"),
        ("disallowedTools: Write, Edit, Bash\n", None),
    ],
)
def test_a_read_only_agent_that_starts_from_everything(tmp_path: Path, head: str, told: str | None):
    text = f"---\nname: a\ndescription: Looks.\n{head}---\nYou are a read-only agent.\n"
    survey = looked(tmp_path, {".claude/agents/a.md": text})
    said = [one.text for one in survey.findings if one.code == "read-only-can-write"]
    assert said == ([f"calls itself read-only (“You are a read-only agent.”) and {told}"] if told else [])


@pytest.mark.parametrize(
    ("head", "yes", "no"),
    [
        ("Agente", "sí", "no"),
        ("代理", "是", "否"),
        ("에이전트", "예", "아니오"),
        ("Agent", "oui", "non"),
        ("Agent", "x", ""),
    ],
)
def test_matrices_in_other_languages(tmp_path: Path, head: str, yes: str, no: str):
    table = f"# Agentes\n\n| {head} | Read | Write | Bash |\n|---|---|---|---|\n"
    table += f"| scout | {yes} | {no} | {no} |\n| smith | {yes} | {yes} | {yes} |\n"
    survey = looked(tmp_path, {"docs/equipo.md": table})
    marks = {agent.name: [entry.mark for entry in agent.accounts[0].entries] for agent in survey.agents}
    assert marks == {"scout": [Mark.YES, Mark.NO, Mark.NO], "smith": [Mark.YES] * 3}


def test_hostile_files(tmp_path: Path):
    bomb = (
        "---\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(30)) + "---\n"
    )
    root = write(
        tmp_path,
        {
            ".claude/agents/bomb.md": bomb,
            ".claude/agents/deep.md": "---\nname: deep\ntools: " + "[" * 5000 + "\n---\n",
            ".claude/agents/open.md": "---\nname: open\n" + "x" * 200_000,
            ".claude/agents/controls.md": definition("ev\x1b[31mil\u202e", "Read"),
            ".claude/settings.json": '{"permissions": ' + "[" * 20_000,
            "docs/wide.md": "# agents tools\n\n|"
            + " x |" * 5000
            + "\n|"
            + "---|" * 5000
            + "\n|"
            + " ✅ |" * 5000
            + "\n",
            "docs/bars.md": "|" * 100_000 + "\n" + "|-" * 50_000 + "\n",
            "docs/ticks.md": "`" * 50_000 + "|\n|-|-|\n",
        },
    )
    (root / "docs/big.md").write_bytes(b"# agents\n" + b"| a | b |\n|---|---|\n" * 1_500_000)
    (root / "docs/bytes.md").write_bytes(bytes(range(256)) * 100)
    os.symlink(root, root / "docs/loop")
    os.symlink("/etc/passwd", root / "docs/out.md")
    os.mkfifo(root / "docs/pipe.md")
    survey = scan(str(root), today=TODAY)
    skipped = dict(survey.skipped)
    assert "MiB" in skipped["docs/big.md"]
    assert "leads out" in skipped["docs/out.md"]
    assert "docs/pipe.md" in skipped
    assert {agent.name for agent in survey.agents} >= {"deep"}


def test_what_is_not_there(tmp_path: Path):
    with pytest.raises(ScanError, match="no such file"):
        scan(str(tmp_path / "nope"), today=TODAY)


def test_a_list_that_nests_without_end_is_read_as_words(tmp_path: Path):
    head = f"---\nname: deep\ntools: {'[' * 5000}{']' * 5000}\n---\n"
    survey = looked(tmp_path, {".claude/agents/deep.md": head, ".claude/agents/b.md": definition("b", "Read")})
    assert {agent.name for agent in survey.agents} == {"b", "deep"}


def test_names_without_words_and_the_name_of_everybody_join_nobody(tmp_path: Path):
    files = {
        ".claude/settings.json": json.dumps({"permissions": {"deny": ["WebFetch"]}}),
        ".claude/agents/a.md": definition('"$(x)"', "Read"),
        ".claude/agents/b.md": definition('"!!!"', "Read"),
        ".claude/agents/c.md": definition('"(every agent)"', None),
    }
    survey = looked(tmp_path, files)
    assert ("no-tool-list", "(every agent)") in found(survey)
    assert all(len(agent.names) == 1 for agent in survey.agents)
    assert {"$(x)", "!!!", "(every agent)"} <= {agent.name for agent in survey.agents}


@pytest.mark.parametrize("other", ["Prüfer", "Pru\u0308fer", "PRÜFER", "pruefer"])
def test_letters_with_marks_are_joined_as_files_write_them(tmp_path: Path, other: str):
    table = (
        f"# Rechte\n\n| Rolle | Lesen | Schreiben |\n|---|---|---|\n| {other} | ja | nein |\n| Leser | ja | nein |\n"
    )
    files = {".claude/agents/pruefer.md": definition("pruefer", "Read, Write"), "docs/rechte.md": table}
    assert ("definition-wider", "pruefer") in errors(looked(tmp_path, files))


@pytest.mark.parametrize(
    ("description", "claims"),
    [
        ("Explores code (read-only)", True),
        ("Security review, read-only", True),
        ("Read-only helper", True),
        ("Reviews code. Has read-only access to the repository.", True),
        ("Code reviewer with read-only permissions", True),
        ("Performs read-only analysis of diffs", True),
        ("READ-ONLY disposition agent with two modes", True),
        ("Use this agent for read-only status reconnaissance across branches", True),
        ("Read-only database queries for the analyst", False),
        ("Nur lesend. Prüft Code.", True),
        ("Vérifie le code, lecture seule.", True),
        ("Runs queries with read-only access to the database", False),
        ("Builds features; finds read-only properties", False),
        ("Explains read-only mounts", False),
        ("Makes fields, read-only ones too", False),
        ("Refactors (read-only by default)", False),
    ],
)
def test_descriptions_that_call_an_agent_read_only(tmp_path: Path, description: str, claims: bool):
    head = f'---\nname: a\ndescription: "{description}"\ntools: Read, Bash\n---\n'
    survey = looked(tmp_path, {".claude/agents/a.md": head})
    assert (("read-only-can-write", "a") in errors(survey)) == claims


@pytest.mark.parametrize(
    ("heading", "line", "agents"),
    [
        ("Scout agent", "**Allowed:** Read, Grep", ["Scout agent"]),
        ("— Scout Agent", "**Allowed:** Read, Grep", ["Scout Agent"]),
        ("Agent: Scout", "**Allowed:** Read, Grep", ["Agent: Scout"]),
        ("AI agent requirements", "**Allowed:** Read, Grep", []),
        ("Scout agent", "Allowed files here: NOTES.md, .agents/*, .notes/plans/*", []),
        ("Scout agent", "**Allowed actions:** harden compose/config, fix checks/CI/texts", []),
    ],
)
def test_sections_that_are_about_an_agent(tmp_path: Path, heading: str, line: str, agents: list[str]):
    survey = looked(tmp_path, {"docs/a.md": f"# Work\n\n## {heading}\n\n- {line}\n"})
    assert [one.name for one in survey.agents] == agents


def test_what_a_skill_says_of_agents_in_general(tmp_path: Path):
    page = "# Patterns\n\n| Role | Tools |\n|---|---|\n| Looks only | Read, Grep |\n| Builds | Read, Write |\n"
    files = {".claude/agents/alpha.md": definition("alpha", "Read")}
    for path, names in (("skills/make/SKILL.md", ["alpha"]), ("docs/make.md", ["alpha", "Builds", "Looks only"])):
        survey = looked(tmp_path / path.partition("/")[0], {**files, f".claude/{path}": page})
        assert [one.name for one in survey.agents] == names


def test_what_a_host_takes_away_or_limits_is_enforced(tmp_path: Path):
    head = "description: x\nmode: subagent\npermission:\n  edit: deny\n  bash:\n    'git *': allow\n    '*': ask\n"
    survey = looked(tmp_path, {".opencode/agent/a.md": f"---\n{head}---\nx\n"})
    assert survey.enforced == (
        ("tool lists and settings that a host follows", 2, 2),
        ("nothing: on paper only", 0, 2),
    )


def test_a_rule_of_settings_is_where_it_stands(tmp_path: Path):
    text = '{"hooks": {"PreToolUse": [{"matcher": "Bash"}]},\n "permissions": {\n  "allow": [\n   "Bash"]}}\n'
    survey = looked(tmp_path, {".claude/settings.json": text})
    (finding,) = survey.findings
    assert [str(place) for place in finding.places] == [".claude/settings.json:4"]


def test_one_row_for_all_that_a_place_says(tmp_path: Path):
    page = "# Agents\n\n| Agent | Tools | Write access |\n|---|---|---|\n"
    names = ("alpha", "bravo", "carol")
    files = {f".claude/agents/{name}.md": definition(name, "Read") for name in names}
    page += "".join(f"| {name} | Read, Grep | none |\n" for name in names)
    rows = [line for line in board(looked(tmp_path, {**files, "docs/team.md": page})) if line.agent == "alpha"]
    assert [str(row.account.place) for row in rows] == [".claude/agents/alpha.md:2", "docs/team.md:5"]
    assert [cell.mark for cell in rows[1].cells[:3]] == [Mark.YES, Mark.YES, Mark.NO]
