"""The pages that Remit writes, in a real browser: they filter, group and open, ask nobody, and nothing hostile runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from remit.explain.cells import MatrixCell
from remit.explain.matrix import Matrix
from remit.explain.matrix_page import html_page
from tests.cli.kit import Remit, program
from tests.explain.kit import POLICY
from tests.explain.test_pages import EVIL
from tests.record.project import Project, allow, deny

pytestmark = pytest.mark.hosts
ROOT = Path(__file__).parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ROWS = "tbody tr:not(.group) th"
HEADS = "thead th"


def browse(tmp_path: Path, pages: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """What each page showed."""
    browser = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    python = os.environ.get("REMIT_PLAYWRIGHT") or str(ROOT / ".venv-hosts" / "bin" / "python")
    if browser is None:
        pytest.skip(f"no browser is on PATH: one of {', '.join(BROWSERS)}")
    known = [python, "-c", "import playwright"]
    if not Path(python).exists() or subprocess.run(known, capture_output=True, timeout=60).returncode:
        pytest.skip("Playwright is not here: run `make test-hosts`, or name its Python in REMIT_PLAYWRIGHT")
    steps = tmp_path / "steps.json"
    steps.write_text(json.dumps(pages), "utf-8")
    command = [python, str(Path(__file__).parent / "browse.py"), browser, str(steps)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def written(tmp_path: Path, name: str, text: str) -> str:
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return str(path)


def test_the_matrix_filters_groups_and_opens(tmp_path: Path):
    (tmp_path / "remit.yaml").write_text(POLICY, "utf-8")
    made = program("matrix", "--format", "html", cwd=tmp_path)
    assert made.returncode == 0
    path = written(tmp_path, "matrix.html", made.stdout.decode())
    steps = [
        ["texts", ROWS],
        ["fill", "#tools", "wri"],
        ["texts", ROWS],
        ["fill", "#tools", ""],
        ["fill", "#agents", "boss"],
        ["texts", HEADS],
        ["fill", "#agents", ""],
        ["select", "#state", "✋"],
        ["texts", HEADS],
        ["texts", ROWS],
        ["select", "#state", ""],
        ["select", "#group", "category"],
        ["texts", "tr.group th"],
        ["select", "#role", "quiet"],
        ["texts", HEADS],
        ["select", "#role", ""],
        ["select", "#group", ""],
        ["click", 'button[data-c="1-1"]'],
        ["texts", "#inside h2, #inside h3"],
        ["texts", "#inside li"],
        ["texts", "#inside pre"],
        ["focus", ""],
        ["press", "Escape"],
        ["texts", "#inside h2"],
        ["focus", ""],
    ]
    picture = os.environ.get("REMIT_PICTURES")
    told = {"path": path, "steps": steps, "picture": picture and str(Path(picture) / "matrix.png")}
    found = browse(tmp_path, {"matrix": told})["matrix"]
    assert found["troubles"] == []
    seen = [one for one, (what, *_) in zip(found["seen"], steps, strict=True) if what in ("texts", "focus")]
    every = ["read", "write", "fetch", "term", "ship", "wipe", "log"]
    assert seen[0] == every
    assert seen[1] == ["write"]
    assert seen[2] == ["Tool", "boss"]
    assert (seen[3], seen[4]) == (["Tool", "boss", "keeper"], ["write", "wipe"])
    assert seen[5] == ["Files", "Web", "without category"]
    assert seen[6] == ["Tool", "writer"]
    assert seen[7] == ["writer · write", "Limits", "In the policy", "Passes, for example", "Does not pass, for example"]
    assert "path docs/**" in seen[8]
    assert any('"docs/x"' in line for line in seen[8])
    assert any("../other/x" in line or ".env" in line for line in seen[8])
    assert '> 28 |       - write: {path: "docs/**"}' in seen[9][0]
    assert (seen[10], seen[11], seen[12]) == ("close", [], "1-1")


def test_names_that_are_markup_run_nothing(tmp_path: Path):
    evil = EVIL + "<img src=x onerror=alert(1)>"
    cell = MatrixCell("🔒", scopes=(evil,), why=evil, in_full=(evil,), rules=(evil,))
    page = html_page(
        Matrix(evil, "sha256:x", (evil,), (evil,), {evil: {evil: cell}}, (evil,)), quote=lambda place: [evil]
    )
    steps = [["click", "button[data-c]"], ["texts", "#inside pre"]]
    found = browse(tmp_path, {"evil": {"path": written(tmp_path, "evil.html", page), "steps": steps}})["evil"]
    assert found["troubles"] == []
    assert "<script>alert(1)</script>" in found["seen"][1][0]


def test_tests_scans_and_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    project = Project(tmp_path, monkeypatch)
    monkeypatch.chdir(project.root)
    remit = Remit(project.root, capsys, monkeypatch)
    remit.policy(POLICY)
    remit.policy(
        "remit_tests: 1\ntests:\n"
        "  - {name: one, call: {agent: reader, tool: read, args: {file: a}}, expect: allow}\n"
        "  - {name: two, call: {agent: reader, tool: write, args: {file: a, text: x}}, expect: allow}\n",
        "x.test.yaml",
    )
    remit.policy("---\nname: helper\ntools: Read, Bash\n---\nYou help.\n", ".claude/agents/helper.md")
    with project.open() as opened:
        allow(opened)
        deny(opened, agent="<script>alert(1)</script>")
        opened.ledger.flush()
    assert remit("check", "--html", "tests.html").code == 1
    remit("scan", "--html", "scan.html")
    assert remit("ledger", "stats", "--html", "stats.html").code == 0
    pages = {
        "tests": [
            ["texts", "tbody tr"],
            ["click", "#failed"],
            ["texts", "tbody tr"],
            ["fill", "#q", "one"],
            ["texts", "tbody tr"],
        ],
        "scan": [["texts", "td.agent"], ["fill", "#q", "nobody"], ["texts", "td.agent"]],
        "stats": [["texts", "svg text"]],
    }
    told = {name: {"path": str(project.root / f"{name}.html"), "steps": steps} for name, steps in pages.items()}
    found = browse(tmp_path, told)
    assert {name: one["troubles"] for name, one in found.items()} == {name: [] for name in pages}
    rows = found["tests"]["seen"]
    assert (len(rows[0]), len(rows[2]), rows[4]) == (2, 1, [])
    assert rows[2][0].startswith("❌ failed")
    assert (found["scan"]["seen"][0], found["scan"]["seen"][2]) == (["helper"], [])
    assert "<script>alert(1)</script>" in found["stats"]["seen"][0]
