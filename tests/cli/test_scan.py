"""`remit scan` as people type it."""

from __future__ import annotations

import json
from pathlib import Path

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
    assert all(row.startswith(name[:27]) for row, name in zip(rows, names, strict=True))


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
