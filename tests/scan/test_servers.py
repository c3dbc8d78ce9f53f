"""MCP servers in documents: tables that differ, and lists that leave one out."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from remit.scan.survey import scan
from tests.scan.repositories import definition, write

SETTINGS = '{"mcpServers": {"maps": {}, "mail": {}, "files": {}, "clock": {}}}'
TEAM = {f".claude/agents/{name}.md": definition(name, "Read") for name in ("pilot", "scout")}
LIST = "# Access\n\n| Agent | MCP servers |\n|---|---|\n| pilot | maps, mail |\n| scout | files |\n"
SAME = (
    "# Access\n\n| Agent | maps | mail | clock |\n|---|---|---|---|\n"
    "| @pilot | ✅ | ✅ | ❌ |\n| @scout | ❌ | ❌ | ❌ |\n"
)


def found(root: Path, files: dict[str, str], *codes: str) -> list[str]:
    survey = scan(str(write(root, {".mcp.json": SETTINGS, **TEAM, **files})), today=datetime.date(2026, 11, 18))
    return [one.text for one in survey.findings if one.code in codes]


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (SAME, []),
        (
            SAME.replace("| @pilot | ✅ | ✅ | ❌ |", "| @pilot | ✅ | ❌ | ✅ |"),
            ["two tables give different servers to `pilot`"],
        ),
        (LIST.replace("maps, mail", "maps"), ["two tables give different servers to `pilot`"]),
        (LIST.replace("| pilot | maps, mail |", "| pilot, scout | maps |"), []),
        ("# Use\n\n| Server | Agents |\n|---|---|\n| maps | scout |\n", []),
    ],
)
def test_two_tables_of_servers(tmp_path: Path, page: str, texts: list[str]):
    assert found(tmp_path, {"docs/a.md": LIST, "docs/b.md": f"{page}\nFor agents.\n"}, "tables-differ") == texts


ITEMS = "- **maps**: x\n- **mail**: y\n- **files**: z\n"


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (f"# Agents\n\n## 2. Active MCP Servers\n\n{ITEMS}", ["a document lists the servers; not `clock`"]),
        (f"# Agents\n\n## Active MCP Servers\n\n{ITEMS}\nAnd `clock`, started by hand.\n", []),
        (f"# Agents\n\n## MCP servers for pilots\n\n{ITEMS}", []),
    ],
)
def test_a_list_of_servers(tmp_path: Path, page: str, texts: list[str]):
    assert found(tmp_path, {"docs/a.md": page}, "no-section") == texts


@pytest.mark.parametrize(
    ("rows", "texts"),
    [
        ("| stars | x |", ["among the servers, and declared by no settings here: `stars`"]),
        ("| stars | optional |", []),
        ("| the maps | x |", []),
    ],
)
def test_a_server_that_only_a_list_has(tmp_path: Path, rows: str, texts: list[str]):
    table = "| Server | For |\n|---|---|\n| maps | x |\n| mail | y |\n| files | z |\n| clock | t |\n"
    page = f"# Agents\n\n## MCP servers\n\n{table}{rows}\n"
    assert found(tmp_path, {"docs/a.md": page}, "undefined-name") == texts


def test_a_column_of_those_that_use_a_server(tmp_path: Path):
    team = {f".claude/agents/{name}.md": definition(name, f"Read, mcp__{name}__find") for name in ("maps", "mail")}
    page = "# Agents\n\n| Server | Used by |\n|---|---|\n| maps | maps |\n| mail | mail, maps |\n"
    lacks = "a table gives agents servers that no tool of their definitions belongs to: `mail` (maps)"
    assert found(tmp_path / "a", {**team, "docs/a.md": page}, "definition-narrower") == [lacks]
    assert found(tmp_path / "b", {**team, "docs/a.md": page.replace(", maps", "")}, "definition-narrower") == []


HEAD = "---\ndescription: Works\nmode: subagent\npermission:\n  bash: allow\n---\nWork.\n"


@pytest.mark.parametrize(
    ("settings", "texts"),
    [
        ('{"mode": "subagent", "permission": {"bash": "allow"}}', []),
        ('{"permission": {"edit": "deny"}}', []),
        (
            '{"permission": {"bash": "ask"}}',
            ["`bash` is allowed in the definition and asked about in the settings"],
        ),
        ('{"mode": "primary"}', ["is a subagent agent in the definition and a primary agent in the settings"]),
    ],
)
def test_a_definition_and_the_settings_of_its_host(tmp_path: Path, settings: str, texts: list[str]):
    files = {".opencode/agents/worker.md": HEAD, "opencode.json": f'{{"agent": {{"worker": {settings}}}}}'}
    assert found(tmp_path, files, "defined-twice") == texts


def test_read_only_in_a_table_of_another_language(tmp_path: Path):
    head = "---\ndescription: 工作\nmode: subagent\ntools:\n  bash: true\n---\n工作。\n"
    team = {f".opencode/agents/{name}.md": head for name in ("kan", "xie")}
    page = "# 代理\n\n| 代理 | 权限 |\n|---|---|\n| kan | 只读 |\n| xie | bash |\n"
    assert found(tmp_path, {**team, "docs/a.md": page}, "definition-wider") == [
        "the text says “权限: 只读”, and the definition grants every tool, since it has no tool list"
    ]
