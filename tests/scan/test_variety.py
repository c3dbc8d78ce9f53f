"""Invented repositories that imitate what is out there: each is scanned, drafted and checked."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from remit.compile import load_rulebook
from remit.draft.from_survey import draft_from
from remit.scan.model import Extent, Survey, Weight
from remit.scan.survey import scan
from remit.service.documents import document_findings
from remit.testing.policy_tests import run_tests
from tests.scan.repositories import CALLERS, MATRIX, RECORD, REVIEWER, definition, write

TODAY = datetime.date(2026, 11, 18)


def head(**keys: str) -> str:
    return "---\n" + "".join(f"{key}: {value}\n" for key, value in keys.items()) + "---\nWork.\n"


REPOSITORIES: dict[str, dict[str, str]] = {
    "comma lists": {
        ".claude/agents/scout.md": definition("scout", "Read, Grep, Glob"),
        ".claude/agents/smith.md": definition("smith", "Read, Write, Edit, Bash"),
        ".claude/agents/code-reviewer.md": REVIEWER,
        ".claude/settings.json": json.dumps({"permissions": {"allow": ["Bash(git:*)"], "deny": ["WebFetch"]}}),
        "AGENTS.md": "# Agents\n\n| Agent | Tools |\n|---|---|\n| scout | Read, Grep |\n| smith | All tools |\n",
    },
    "heads that are no YAML": {
        ".claude/agents/a/one.md": "---\nname: one\ndescription: Use: when: asked\ntools: Read, Bash\n---\nx\n",
        ".claude/agents/b/two.md": "\ufeff" + definition("two", "\n  - Read\n  - Write").replace("\n", "\r\n"),
        ".claude/agents/three.md": "---\nname: '🔍 Three Agent'\ntools: {primary: [Read], more: [Grep]}\n---\nx\n",
        ".claude/agents/four.md": "---\nname: four\ntools:\n  - {name: Read, description: reads}\n---\n",
        ".claude/agents/notes.md": "# Not an agent\n",
        ".claude/agents/copy.md": "---\nname: one\ndescription: again\ntools: Read\n---\nx\n",
    },
    "Copilot": {
        ".github/agents/plan.agent.md": head(name="Plan It", description="x", tools="['search', 'read', 'web/fetch']"),
        ".github/agents/build.agent.md": head(
            description="x", tools="[edit, 'execute/runInTerminal', 'github/*', x/y]"
        ),
        ".github/agents/pass.agent.md": "# No head\n",
        ".github/chatmodes/ask.chatmode.md": head(description="Asks", tools="['codebase', 'editFiles']"),
        ".vscode/mcp.json": '{"servers": {"db": {"command": "x"}}, // note\n}',
        "docs/agents.md": "# Agents\n\n| Agent | Posture |\n|---|---|\n| Plan It | read-only |\n"
        "| build | read + create |\n| pass | full |\n",
    },
    "OpenCode": {
        ".opencode/agent/plan.md": head(description="x", tools="{write: false, bash: false}"),
        ".opencode/agent/build.md": head(description="x", permission="{edit: ask, bash: {'git *': allow}}"),
        "opencode.jsonc": '{"agent": {"plan": {"tools": {"write": false}}}, /* c */ "permission": {"edit": "deny"},}',
    },
    "Gemini, Codex and Cursor": {
        ".gemini/agents/dig.md": head(name="dig", description="x", tools="[read_file, search_file_content]"),
        ".gemini/settings.json": json.dumps({"coreTools": ["run_shell_command"], "mcpServers": {"x": {}}}),
        ".codex/config.toml": 'sandbox_mode = "workspace-write"\n[mcp_servers.db]\ncommand = "x"\n',
        ".cursor/agents/look.md": head(name="look", description="x", readonly="true"),
        ".cursor/cli.json": json.dumps({"permissions": {"allow": ["Shell(ls)"], "deny": ["Write(**)"]}}),
        ".cursor/rules/team.mdc": "---\ndescription: x\n---\n| Agent | Tools |\n|---|---|\n| dig | Read |\n",
    },
    "a matrix": {"docs/access.md": MATRIX},
    "callers": {
        "docs/callers.md": CALLERS,
        "src/tools.ts": "export const t = {\n  name: 'read',\n  parameters: { a: {} },\n  accessibleBy: [C.LEAD]\n};\n",
    },
    "records": {
        "records/one.yaml": "agent_id: one\ntools_allowed: [read_file]\nmay_delegate_to: [two]\n",
        "A.md": RECORD,
    },
    "a plugin": {
        "plugins/a/agents/scout.md": definition("acme-scout", "Read"),
        "plugins/a/agents/smith.md": definition("acme-smith", "Read, Write"),
        "plugins/a/agents/clerk.md": definition("acme-clerk", "Read, Bash(git log:*)"),
        "plugins/a/README.md": "# Agents\n\n| Agent | Tools |\n|---|---|\n| scout | Read |\n| Smith | Read |\n"
        "| clerk | Read |\n",
        "plugins/b/agents/scout.md": definition("scout", None),
    },
    "Spanish": {
        ".claude/agents/revisor.md": definition("revisor", "Read, Grep, Bash"),
        "docs/equipo.md": "# Agentes\n\n| Agente | Herramientas |\n|---|---|\n| revisor | Read, Grep |\n",
    },
    "Korean and Chinese": {
        ".claude/agents/검토자.md": definition("검토자", "Read", "검토만 합니다.", "검토"),
        ".claude/agents/代码审查.md": definition("代码审查", "Read, Edit"),
        "docs/team.md": "# 에이전트 도구\n\n| 에이전트 | Read | Edit |\n|---|---|---|\n"
        "| 검토자 | 예 | 아니오 |\n| 代码审查 | 是 | 否 |\n",
    },
    "wrongly decoded": {"docs/access.md": MATRIX.encode().decode("cp1252", "ignore")},
    "nothing": {"README.md": "# A library\n\n| Feature | State |\n|---|---|\n| Tools | yes |\n"},
}


def surveyed(root: Path, files: dict[str, str]) -> Survey:
    return scan(str(write(root, files)), today=TODAY)


@pytest.mark.parametrize("name", REPOSITORIES)
def test_scan_init_and_check(name: str, tmp_path: Path):
    survey = surveyed(tmp_path, REPOSITORIES[name])
    assert all(one.places and one.why and one.fix for one in survey.findings)
    draft = draft_from(survey)
    assert (draft is None) == (not survey.agents), "nothing"
    if draft is None:
        return
    policy = tmp_path / "remit.yaml"
    policy.write_text(draft.policy, "utf-8")
    policy.chmod(0o644)
    if draft.tests:
        (tmp_path / "remit.test.yaml").write_text(draft.tests, "utf-8")
    rulebook = load_rulebook(policy)
    if draft.tests:
        assert {result.outcome for result in run_tests(rulebook, policy)} == {"passed"}
    found = document_findings(policy, rulebook)
    assert [one for one in found if one.code == "policy-wider"] == [], "a draft is never wider than its sources"
    held = [one for one in found if one.code == "read-only-can-write" and one.weight is Weight.ERROR]
    assert held == [], "nor does it let an agent write that calls itself read-only"


def test_what_the_variants_say(tmp_path: Path):
    survey = surveyed(tmp_path, REPOSITORIES["heads that are no YAML"])
    tools = {agent.name: [e.tool for e in agent.accounts[0].entries] for agent in survey.agents}
    assert tools == {
        "one": ["Read", "Bash"],
        "two": ["Read", "Write"],
        "🔍 Three Agent": ["Read", "Grep"],
        "four": ["Read"],
    }
    survey = surveyed(tmp_path / "c", REPOSITORIES["Copilot"])
    extents = {agent.name: agent.accounts[0].extent for agent in survey.agents if "agent" not in agent.name}
    assert extents == {
        "Plan It": Extent.LIST,
        "build": Extent.LIST,
        "pass": Extent.EVERYTHING,
        "ask": Extent.LIST,
    }
    assert {(one.code, one.agent) for one in survey.findings if one.weight is Weight.ERROR} == {
        ("definition-wider", "build")
    }


BOMB = (
    "---\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9) if n else 'x'}]\n" for n in range(30)) + "---\nx\n"
)
SMALL = "import resource, sys\nresource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))\n"
SMALL += "from remit.cli.main import run\nsys.exit(run(sys.argv[1:]))\n"


@pytest.mark.more
def test_hostile_files_in_little_memory(tmp_path: Path):
    """Fifty megabytes of Markdown, a loop of links, a bomb and a thousand large tables: in 600 MiB of addresses."""
    root = write(
        tmp_path / "r",
        {
            ".claude/agents/bomb.md": BOMB,
            ".claude/agents/fine.md": definition("fine", "Read"),
            ".claude/agents/long.md": definition("long", ", ".join(f"T{n}" for n in range(50_000))),
            ".mcp.json": "[" * 100_000,
            "docs/names.md": "# agents tools\n\n"
            + "".join(f"## Agent {n}\n\nTools: Read, T{n}\n\n" for n in range(5_000)),
            "docs/open.ts": "accessibleBy: [" * 50_000 + "{" * 50_000,
        },
    )
    table = "| Agent | Read | Write | Bash |\n|---|---|---|---|\n" + "".join(
        f"| a{n} | ✅ | ❌ | ❌ |\n" for n in range(60)
    )
    (root / "docs/tables.md").write_text("# agents tools\n\n" + (table + "\n") * 300)
    with (root / "docs/big.md").open("wb") as file:
        for _ in range(50):
            file.write(b"| a | read-only | never edit files |\n" * 29_000)
    os.symlink(root, root / "docs/loop")
    os.symlink("loop.md", root / "docs/loop.md")
    for command in (
        ["scan", str(root), "--json"],
        ["init", str(root)],
        ["check", "--policy", str(root / "remit.yaml")],
    ):
        done = subprocess.run([sys.executable, "-c", SMALL, *command], capture_output=True, timeout=300, cwd=tmp_path)
        assert b"Traceback" not in done.stderr, done.stderr[-2000:]
        assert done.returncode in (0, 1), done.stderr[-2000:]


def test_progress_is_told(tmp_path: Path):
    root = write(tmp_path, {f"docs/p{n}.md": "# Agents and tools\n" for n in range(600)})
    told: list[str] = []
    scan(str(root), today=TODAY, progress=told.append)
    assert told[0] == "looked at 500 files, read 499"
    assert told[-1] == "100 documents to compare"


@pytest.mark.more
def test_time_grows_with_the_number_of_files(tmp_path: Path):
    """Four times the files and the agents: not sixteen times the time."""

    def spent(count: int) -> float:
        files = {f".claude/agents/a{n}.md": definition(f"agent-{n}", "Read") for n in range(count // 4)}
        row = "| Agent | Read | Write |\n|---|---|---|\n"
        for n in range(count):
            cells = "".join(f"| agent-{(n * 7 + k) % count} | ✅ | ❌ |\n" for k in range(12))
            files[f"docs/p{n}.md"] = f"# Agents and tools\n\nWords about agents. {n}\n\n{row}{cells}"
        root = write(tmp_path / str(count), files)
        best = min(_cpu(root) for _ in range(2))
        return best

    few, many = spent(150), spent(600)
    assert many < 10 * few


def _cpu(root: Path) -> float:
    began = time.process_time()
    scan(str(root), today=TODAY)
    return time.process_time() - began
