"""`remit scan` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

from remit.cli.output import columns
from tests.cli.kit import Remit
from tests.scan.repositories import REVIEWER, definition, write


def test_the_command(remit: Remit, tmp_path: Path):
    root = write(
        tmp_path / "repository",
        {".claude/agents/code-reviewer.md": REVIEWER, ".claude/agents/evil.md": definition("<script>x", "Read")},
    )
    page = tmp_path / "page.html"
    ran = remit("scan", str(root), "--html", str(page))
    assert ran.code == 1
    assert "read-only-can-write" in ran.out
    assert "what enforces them today" in ran.out
    html = page.read_text("utf-8")
    assert "<script>x" not in html
    assert "&lt;script&gt;x" in html
    assert "<!--" not in html
    ran = remit("scan", str(root), "--json")
    assert ran.code == 1
    assert [one["code"] for one in json.loads(ran.out)["findings"]] == ["read-only-can-write"]


def test_columns_stand_below_their_heads_whatever_the_names(remit: Remit, tmp_path: Path):
    """A name that is a little too long is not made longer by saying so."""
    names = ("a", "b" * 27, "c" * 60)
    files = {f".claude/agents/{name}.md": definition(name, "Read") for name in names}
    head, *rows = [
        line
        for line in remit("scan", str(write(tmp_path / "r", files))).out.splitlines()
        if " read " in line or ".md:" in line
    ][:4]
    assert [row.index("✅") for row in rows] == [head.index("read") + 2] * 3
    assert [row.split()[0] for row in rows] == ["a", "b" * 27, f"{'c' * 14}…{'c' * 13}"]


def test_what_is_not_there(remit: Remit, tmp_path: Path):
    ran = remit("scan", str(tmp_path / "nope"))
    assert ran.code == 2
    assert "no such file or folder" in ran.err


def test_a_page_that_can_not_be_written(remit: Remit, tmp_path: Path):
    ran = remit("scan", str(tmp_path), "--html", str(tmp_path / "no" / "page.html"))
    assert ran.code == 2
    assert "--html" in ran.err


def test_nothing_found_is_no_error(remit: Remit, tmp_path: Path):
    root = write(tmp_path / "repository", {"README.md": "# Hello\n"})
    ran = remit("scan", str(root))
    assert ran.code == 0
    assert "no agents found" in ran.out
    assert "`remit init --team coding|data|ops|support` writes a first policy" in ran.out


def test_settings_are_no_agent(remit: Remit, tmp_path: Path):
    files = {
        ".claude/settings.json": '{"permissions": {"allow": ["Read"]}}',
        ".claude/agents/a.md": definition("a", "Read"),
    }
    assert remit("scan", str(write(tmp_path / "repository", files))).out.startswith("1 agent in 2 texts")


def test_only_strict_minds_warnings(remit: Remit, tmp_path: Path):
    root = write(tmp_path / "repository", {".claude/agents/a.md": definition("a", None)})
    assert remit("scan", str(root)).code == 0
    assert remit("scan", str(root), "--strict").code == 1


def test_what_to_do_first(remit: Remit, tmp_path: Path):
    """The most harmful finding comes first, then what to do; nobody is told that all is well where nothing was read."""
    files = {
        ".claude/settings.json": '{"permissions": {"allow": ["Bash(*)"], "deny": ["Read(./.env)"]}}',
        ".claude/agents/검토자.md": definition("검토자", "Read"),
        ".claude/agents/an-agent.md": definition("an-agent", None),
        ".claude/agents/code-reviewer.md": REVIEWER,
    }
    root = write(tmp_path / "repository", files)
    said = remit("scan", str(root)).out.splitlines()
    assert said[-1] == "next: correct what is marked ❌, then `remit init` writes a policy from this"
    codes = [line.rpartition("[")[2].rstrip("]") for line in said if line.endswith("]")]
    assert codes == ["read-only-can-write", "settings-allow-everything", "moot-scope", "no-tool-list"]
    assert "1 error, 3 warnings:" in said
    rows = [line.partition(".claude/")[0] for line in said if " .claude/" in line and "✅" in line]
    assert len(rows) == 4
    assert len(set(map(columns, rows))) == 1
    assert rows[0].split()[2] == "🔒", "only one file may not be read"
    (root / "remit.yaml").write_text("remit: 1\n")
    assert remit("scan", str(root)).out.endswith("`remit check` compares these places with the policy\n")
    assert "✅" not in remit("scan", str(write(tmp_path / "empty", {"README.md": "# Hello\n"}))).out


def test_what_only_all_shows(remit: Remit, tmp_path: Path):
    """Rows that say nothing certain, and names that were joined although they differ in form only."""
    files = {
        ".claude/agents/scout.md": definition("scout", "Read"),
        ".claude/agents/clerk.md": "---\nname: clerk\ndescription: x\ntools: {a: {b: 1}}\n---\n",
        "docs/team.md": "# Agents\n\n| Agent | Tools |\n|---|---|\n| Scout | Read |\n| Clerk | Read |\n",
    }
    root = str(write(tmp_path / "repository", files))
    some, every = remit("scan", root).out, remit("scan", root, "--all").out
    assert "joined:" not in some
    assert "joined: " in every
    assert "？  .claude/agents/clerk.md:" not in some
    assert "？  .claude/agents/clerk.md:" in every


def test_a_file_name_that_is_no_unicode(remit: Remit, tmp_path: Path):
    root = write(tmp_path / "r", {".claude/agents/code-reviewer.md": REVIEWER})
    (root / ".claude/agents/code-reviewer.md").rename(root / ".claude/agents" / "x\udcff\x1b[31m.md")
    ran = remit("scan", str(root), "--json")
    assert ran.code == 1
    (one,) = json.loads(ran.out)["findings"]
    assert one["places"][0]["file"] == ".claude/agents/x\udcff\x1b[31m.md"
    assert "\x1b" not in ran.out + remit("scan", str(root)).out
