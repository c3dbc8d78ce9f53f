"""What hosts mean by their own words: the last answer, a list of all tools there are, sandboxes, skills."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.declare.nodes import parse
from remit.draft.from_survey import draft_from
from remit.draft.model import Draft
from remit.forms.texts import plain
from remit.scan.survey import scan
from tests.scan.repositories import definition, write

TODAY = datetime.date(2026, 11, 19)


def drafted(folder: Path, files: dict[str, str], host: str | None = None) -> Draft:
    draft = draft_from(scan(str(write(folder, files)), today=TODAY), (), host)
    assert draft is not None
    return draft


def agents(draft: Draft) -> dict[str, Any]:
    """What the draft says of each agent; it loads."""
    data = plain(parse(draft.policy, "draft"))
    build_rulebook(data)
    found: dict[str, Any] = data["agents"]
    return found


def opencode(permission: str) -> str:
    return f"---\ndescription: Works.\nmode: subagent\npermission:\n{permission}---\nDo the work.\n"


@pytest.mark.parametrize(
    ("permission", "may", "must_ask"),
    [
        ("  read: allow\n  bash: allow\n  '*': deny\n", [], None),
        ("  '*': deny\n  read: allow\n", [["read"]], None),
        ("  '*': deny\n  webfetch: allow\n  'web*': deny\n  read: allow\n", [["read"]], None),
        ("  '*': deny\n  skill: {'*': deny, pdf: allow}\n", [{"skill": {"skill": ["pdf"]}}], None),
        ("  '*': deny\n  skill: {'in*': allow}\n", [], None),
        ("  '*': ask\n  read: allow\n", [["glob", "grep", "read"], ["read"]], ["glob", "grep"]),
    ],
)
def test_the_last_answer_of_opencode_counts(tmp_path: Path, permission: str, may: object, must_ask: object) -> None:
    found = agents(drafted(tmp_path, {".opencode/agent/alpha.md": opencode(permission)}))["alpha"]
    assert (found["may"], found.get("must_ask")) == (may, must_ask)


def test_an_agents_own_answer_comes_after_those_for_every_agent(tmp_path: Path) -> None:
    files = {
        ".opencode/agent/alpha.md": opencode("  '*': deny\n  grep: allow\n  edit: allow\n"),
        ".opencode/agent/beta.md": opencode("  read: allow\n"),
        "opencode.json": json.dumps({"permission": {"grep": "deny", "edit": "deny", "webfetch": "ask"}}),
    }
    found = agents(drafted(tmp_path, files))
    assert found["alpha"]["may"] == [["grep", "edit"]]
    assert found["beta"]["may"] == [["glob", "read"], ["read"]]
    assert {"grep", "edit", "write"}.isdisjoint(found["main"]["may"])


def test_there_are_no_other_tools_than_geminis_core(tmp_path: Path) -> None:
    files = {
        ".gemini/agents/alpha.md": definition("alpha", "[read_file, run_shell_command, replace]"),
        ".gemini/settings.json": json.dumps({"tools": {"core": ["read_file", "run_shell_command(git)"]}}),
    }
    found = agents(drafted(tmp_path, files))
    assert found["alpha"]["may"] == [["read_file"], {"run_shell_command": {"shell": {"run": ["git"]}}}]
    assert found["main"]["may"] == ["read_file", "run_shell_command"]


def test_agents_in_codexs_sandboxes(tmp_path: Path) -> None:
    files = {
        f".codex/agents/{name}.toml": f'name = "{name}"\ndescription = "x"\n{mode}developer_instructions = "x"\n'
        for name, mode in (
            ("judge", 'sandbox_mode = "read-only"\n'),
            ("smith", 'sandbox_mode = "workspace-write"\n'),
        )
    }
    looking = {"shell": {"sets": ["inspect", "git-read"]}}
    found = agents(drafted(tmp_path, files))
    assert found["judge"] == {"may": [{"Bash": looking}]}
    assert found["smith"] == {
        "may": [{"apply_patch": {"path": ["**"]}}, ["Bash"]],
        "must_ask": [{"Bash": {"except": {**looking, "path": ["**"]}}}],
    }


def test_a_host_without_tools_that_read_reads_by_its_shell(tmp_path: Path) -> None:
    draft = drafted(tmp_path, {".claude/agents/alpha.md": "---\nname: alpha\ndescription: x\n---\nx\n"}, "codex")
    assert agents(draft)["alpha"] == {"may": [{"Bash": {"shell": {"sets": ["inspect"]}}}]}


def test_what_another_host_denies_the_session_is_denied_here(tmp_path: Path) -> None:
    files = {
        ".claude/agents/alpha.md": definition("alpha", "Read, Bash"),
        ".claude/settings.json": json.dumps(
            {"permissions": {"deny": ["Read(.env)", "Bash(git push:*)"], "allow": ["Bash(npm run *)"]}}
        ),
    }
    draft = drafted(tmp_path, files, "opencode")
    for found in agents(draft).values():
        assert found["may_not"] == [{"read": {"path": ["**/.env", "**/.env/**"]}}]
        assert {"bash": {"shell": {"run": [{"git": ["push"]}]}}} in found["must_ask"]
    assert "npm" not in draft.policy
    assert "claude-code denies it" in draft.policy
    left = drafted(tmp_path, files, "codex").decisions
    assert any("`Read(.env)`: only its host follows this rule" in text for text in left)


def test_names_of_tools_that_the_editors_pack_lacks_mean_the_other_hosts(tmp_path: Path) -> None:
    text = definition("alpha", "[read, web, fetch, 'web/fetch']")
    draft = drafted(tmp_path, {".github/agents/alpha.agent.md": text})
    assert ["web_fetch"] in agents(draft)["alpha"]["may"]
    assert not [one for one in draft.decisions if "fetch" in one or "`web`" in one]


@pytest.mark.parametrize("cell", ["Any tools", "All tools", "everything"])
def test_who_is_denied_everything_gets_nothing(tmp_path: Path, cell: str) -> None:
    page = (
        "# Agents\n\n| Agent | Allowed tools |\n|---|---|\n| Smith | Read, Write |\n\n"
        f"| Agent | Prohibited |\n|---|---|\n| Clerk | {cell} |\n| Smith | Bash |\n"
    )
    found = agents(drafted(tmp_path, {"docs/agents.md": page}))
    assert (found["Clerk"]["may"], found["Smith"]["may"]) == ([], [["Read", "Write"]])


def test_tables_of_who_may_use_a_programs_tools(tmp_path: Path) -> None:
    """Each table has tools of its own; a tool with two rows goes to those whom both name."""

    def table(*rows: str) -> str:
        return "\n".join(["| Tool | Accessible by |", "|---|---|", *(f"| {row} |" for row in rows)]) + "\n\n"

    page = (
        "# Tool access\n\n## Files\n\n"
        + table("`readThing` | PLANNER, BUILDER", "`storeThing` | BUILDER", "`askPerson` | PLANNER, BUILDER")
        + "## Search\n\n"
        + table("`findThing` | PLANNER", "`askPerson` | BUILDER", "`rankThing` | BUILDER")
    )
    draft = drafted(tmp_path, {"docs/tools.md": page})
    found = {name: {tool for tools in one["may"] for tool in tools} for name, one in agents(draft).items()}
    assert found == {
        "BUILDER": {"readThing", "storeThing", "askPerson", "rankThing"},
        "PLANNER": {"readThing", "findThing"},
    }
    assert any("PLANNER: `askPerson` left out: denied by docs/tools.md" in text for text in draft.decisions)
    assert "PLANNER does not call askPerson" in draft.tests


def test_servers_that_nobody_may_call_are_named(tmp_path: Path) -> None:
    draft = drafted(tmp_path, {".mcp.json": json.dumps({"mcpServers": {"tracker": {"command": "x"}}})})
    assert any(text.startswith("main: `mcp__tracker__*` left out") for text in draft.decisions)
