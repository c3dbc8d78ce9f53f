"""Claims in more words, rules against settings, and places that only look like a team."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from remit.scan.claims import claims_to_look, describes_read_only
from remit.scan.survey import scan
from remit.scan.vocabulary import mutates
from tests.scan.repositories import definition, write


def found(root: Path, files: dict[str, str], code: str) -> list[str]:
    survey = scan(str(write(root, files)), today=datetime.date(2026, 11, 19))
    return [one.text for one in survey.findings if one.code == code]


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("Read-only。", True),
        ("审查设计，只读。", True),
        ("コードを書き換えることはしません。", True),
        ("ファイルは一切変更しない", True),
        ("コードを変更しない場合は", False),
        ("コード以外のファイルを変更しません", False),
        ("严禁修改任何代码", True),
        ("禁止修改文件以外的内容", False),
        ("코드를 수정할 수 없습니다", True),
        ("You never write code or modify files.", True),
        ("Never write code, never modify files except reports", False),
    ],
)
def test_read_only_in_more_words(sentence: str, claims: bool):
    assert describes_read_only(sentence) is claims


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("You only review and critique", True),
        ("You only analyse, advise, and report — never edit.", True),
        ("You review and report only.", True),
        ("You only report issues that are certain.", False),
        ("You only review and fix.", False),
        ("You only review and critique unless asked to fix.", False),
    ],
)
def test_an_agent_that_only_looks(sentence: str, claims: bool):
    assert claims_to_look(sentence) is claims


@pytest.mark.parametrize(
    ("tools", "body", "wrong"),
    [
        ("Read, Edit", "You only review and critique.", True),
        ("Read, Bash", "You only review and critique.", False),  # a shell shows what changed
        (None, "You only review and critique.", False),
        ("Read, Edit", "説明。ファイルは変更しません。", True),
        ("Read, mcp__web__browser_run", "You are read-only plus browser interaction.", False),
        ("Read, mcp__shop__order_create", "You are read-only plus browser interaction.", True),
        ("Read, mcp__forge__get_commit, mcp__forge__list_merges", "You are a read-only agent.", False),
        ("Read, mcp__forge__get_or_create", "You are a read-only agent.", True),
    ],
)
def test_what_a_claim_is_held_against(tmp_path: Path, tools: str | None, body: str, wrong: bool):
    files = {".claude/agents/smith.md": definition("smith", tools, body)}
    assert bool(found(tmp_path, files, "read-only-can-write")) is wrong


@pytest.mark.parametrize(
    ("tool", "changes"),
    [
        ("mcp__a__get_commit", False),
        ("mcp__a__findMerge", False),
        ("mcp__a__commit_list", True),
        ("a/find_and_delete", True),
    ],
)
def test_a_name_that_begins_with_reading_only_reads(tool: str, changes: bool):
    assert mutates(tool) is changes


TEAM = {f".claude/agents/a{n}.md": definition(f"a{n}", "Read") for n in range(10)}


@pytest.mark.parametrize(
    ("path", "page", "wrong"),
    [
        ("docs/guide.md", "All 12 agents of this team.\n", True),
        ("docs/phase-3-v2.0.0-agents.md", "All 12 agents of this team.\n", False),
        ("docs/sprint-22/state.md", "All 12 agents of this team.\n", False),
        ("docs/guide.md", "## State after Sprint-22\n\nAll 12 agents of this team.\n", False),
        ("docs/sprint-planning.md", "All 12 agents of this team.\n", True),
    ],
)
def test_a_page_of_one_phase_is_of_that_day(tmp_path: Path, path: str, page: str, wrong: bool):
    assert bool(found(tmp_path, {**TEAM, path: page}, "count-mismatch")) is wrong


def test_a_copy_that_a_site_shows_is_told_once_and_is_no_team(tmp_path: Path):
    settings = json.dumps({"permissions": {"allow": ["Bash"]}})
    files = {**TEAM, ".claude/settings.json": settings, "README.md": "All 10 agents of this team.\n"}
    copies = {f"website/data/{path}": text for path, text in files.items()}
    copies |= {f"web/data/agents/a{n}.md": definition(f"a{n}", "Read") for n in range(10)}
    for code in ("count-mismatch", "settings-allow-everything"):
        alone = found(tmp_path / "one", files, code)
        assert found(tmp_path / "two", {**files, **copies}, code) == alone
    assert alone


@pytest.mark.parametrize(("said", "wrong"), [(10, False), (9, False), (8, True), (12, True)])
def test_a_number_may_mean_the_subagents_alone(tmp_path: Path, said: int, wrong: bool):
    head = "---\ndescription: Works\nmode: {}\ntools:\n  write: false\n---\nx\n"
    files = {f".opencode/agents/b{n}.md": head.format("subagent") for n in range(9)}
    files |= {".opencode/agents/chief.md": head.format("primary"), "README.md": f"All {said} agents of this team.\n"}
    assert bool(found(tmp_path, files, "count-mismatch")) is wrong


@pytest.mark.parametrize(("said", "right"), [(8, True), (6, True), (11, False), (7, False)])
def test_hooks_are_those_that_settings_start_or_the_top_level(tmp_path: Path, said: int, right: bool):
    files = {f".claude/hooks/h{n}.js": "x" for n in range(8)}
    files |= {f".claude/hooks/lib/l{n}.js": "x" for n in range(3)}
    starts = [{"hooks": [{"command": f"node .claude/hooks/h{n}.js"}]} for n in range(6)]
    files |= {".claude/settings.json": json.dumps({"hooks": {"Stop": starts}})}
    files |= {".claude/agents/a.md": definition("a", "Read"), "README.md": f"`.claude/hooks/` ({said} hooks)\n"}
    texts = found(tmp_path, files, "count-mismatch")
    assert (texts == []) if right else ("`.claude/hooks` has 8" in texts[0])


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("Run `scripts/queue.sh start x`.", True),
        ("`scripts/queue.sh start` を実行する。", True),
        ("Run this first:\n\n```bash\n# begin\nscripts/queue.sh start x\n```", True),
        ("## Start\n\n```bash\n./bin/jobs.sh start\n```\n\n## End\n\n```bash\n./bin/jobs.sh done\n```", True),
        ("## Start\n\n```bash\n./bin/jobs.sh start\n```\n\n## Example\n\n```bash\n./bin/jobs.sh done\n```", False),
        ("People run this:\n\n```bash\nscripts/queue.sh start x\n```", False),
        ("Run this if available:\n\n```bash\nscripts/queue.sh start x\n```", False),
        ("Run this query:\n\n```sql\nselect 1\n```", False),
    ],
)
def test_scripts_that_a_text_orders_need_a_shell(tmp_path: Path, body: str, told: bool):
    for tools, expected in (("Read", told), ("Read, Bash", False), (None, False)):
        files = {".claude/agents/smith.md": definition("smith", tools, body)}
        assert bool(found(tmp_path / str(tools), files, "definition-narrower")) is expected


@pytest.mark.parametrize(
    ("rule", "permissions", "wrong"),
    [
        ("Never run `git push --force`.", {"allow": ["Bash(git push *)"]}, True),
        ("- Never push without approval.", {"allow": ["Bash(git push:*)"]}, True),
        (
            "NEVER push code to any remote branch, or deploy, without explicit approval.",
            {"allow": ["Bash(git push *)"]},
            True,
        ),
        ("Never push secrets to a remote without approval.", {"allow": ["Bash(git push *)"]}, False),
        ("Never run `git push --force`.", {"allow": ["Bash(git push:*)"], "deny": ["Bash(git push --force:*)"]}, False),
        ("Never push without approval.", {"allow": ["Bash(git *)"], "ask": ["Bash(git push:*)"]}, False),
        ("Never run `git push --force` unless asked.", {"allow": ["Bash(git push *)"]}, False),
        ("Never run `git push --force`.", {"allow": ["Bash(git status:*)"]}, False),
    ],
)
def test_what_rules_forbid_and_settings_allow(
    tmp_path: Path, rule: str, permissions: dict[str, list[str]], wrong: bool
):
    settings = json.dumps({"permissions": permissions})
    files = {"CLAUDE.md": f"# Rules for agents\n\n{rule}\n", ".claude/settings.json": settings}
    assert bool(found(tmp_path, files, "definition-wider")) is wrong


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        (("enabled", "✅ enabled"), ["a table calls `wiki` enabled, and the settings switch it off"]),
        (("Disabled", "Disabled"), ["a table calls `forge` disabled, and the settings have it switched on"]),
        (("enabled", "disabled"), []),
        (("enabled", "enabled for leads"), []),
    ],
)
def test_servers_that_a_table_and_the_settings_switch_differently(
    tmp_path: Path, states: tuple[str, str], expected: list[str]
):
    settings = {"mcp": {"forge": {"type": "local"}, "wiki": {"type": "local", "enabled": False}}}
    rows = f"| `forge` | {states[0]} |\n| `wiki` | {states[1]} |\n"
    page = f"# MCP servers for agents\n\n| Server | State |\n|---|---|\n{rows}"
    files = {"opencode.json": json.dumps(settings), "docs/servers.md": page}
    assert found(tmp_path, files, "defined-twice") == expected
