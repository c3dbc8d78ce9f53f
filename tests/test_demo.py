"""`make demo`: a team through Guard on real files, git and SQLite. What it prints must be what happened."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from unicodedata import east_asian_width

import pytest

ROOT = Path(__file__).parent.parent

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the demo works on a real repository")


def run_demo(folder: Path) -> list[str]:
    env = {**os.environ, "TMPDIR": str(folder), "PYTHONUTF8": "1"}
    run = subprocess.run([sys.executable, "-m", "remit", "demo"], env=env, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stderr) == (0, "")
    return run.stdout.splitlines()


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], Path]:
    folder = tmp_path_factory.mktemp("demo")
    lines = run_demo(folder)
    (place,) = folder.glob("remit-demo-*")
    return lines, place


def git(place: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=place, check=True, capture_output=True, text=True).stdout


def section(lines: list[str], title: str) -> str:
    """The lines under a heading, as one text; what was wrapped is one line again."""
    start = lines.index(next(line for line in lines if line.startswith(title)))
    return "\n".join(lines[start + 1 : lines.index("", start)]).replace("\n   ", " ")


def order(text: str, *parts: str) -> None:
    """The parts follow one another."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} does not come after {text[:at][-80:]!r}"
        at = found + len(part)


def test_scopes(shown):
    text = section(shown[0], "Allowed") + section(shown[0], "Attacks")
    order(
        text,
        "✅ researcher: write_file('research/sessions.md'",
        "❌ researcher: write_file('research/../src/app.py')",
        "deny not-permitted",
        '✅ researcher: query("INSERT',
        "→ [('sessions', 'end at midnight')]",
        "❌ researcher: query('SELECT 1; DROP TABLE findings')",
        "❌ reviewer: run(\"git dif''f",
    )


def test_a_person_is_asked_for_each_call(shown):
    text = section(shown[0], "Asked of a person")
    push = "implementer: run('git push -q origin main')"
    order(
        text,
        f"✋ {push}",
        "ask A-1",
        "👤 ann approved A-1",
        f"✅ {push}",
        f"✋ {push}",
        "ask A-2",
        "👤 ann refused A-2",
    )
    order(text, "👤 ann refused A-2", f"❌ {push}", "deny refused: ann refused this call")


def test_limits_are_handed_on(shown):
    text = section(shown[0], "A task with limits")
    order(
        text,
        "✅ orchestrator → implementer: write_file('src/session.py'",
        "deny capsule-constraint",
        "✅ orchestrator → implementer: write_file('tests/test_session.py'",
        "deny budget-spent",
        "✅ orchestrator → reviewer: read_file",
        "👤 ann ends TASK-1",
        "❌ orchestrator → reviewer: read_file",
        "deny capsule-ended",
    )


def test_a_plan_is_approved_once(shown):
    text = section(shown[0], "A plan")
    before, after = text.split("👤 ann passes the plan of TASK-3")
    assert "ask A-3" in before
    assert after.count("✅ orchestrator → implementer: run(") == 3
    order(after, "ask A-4: tier 3 asks orchestrator", "✅ orchestrator: remit_acknowledge(approval='A-4'", "✅")


def test_data_is_open_in_its_task_only(shown):
    text = section(shown[0], "Data that a task grants")
    order(
        text, "❌ reviewer: read_file", "data-tier", "✅ reviewer in TASK-4", "❌ reviewer in TASK-4", "capsule-ended"
    )
    assert "TASK-3 ended; left unused: plan[2], write_file path src/schema.py" in text


def test_it_ends_with_a_report_and_a_verified_ledger(shown):
    text = section(shown[0], "What happened")
    shown_as = Counts(shown[0])
    order(text, f"{shown_as.calls} calls: {shown_as.allowed} allow", "refused: 1 budget-spent", "prompts: 2 in TASK-3")
    assert re.search(r"✅ ledger verified: \d\d entries, \d\d values, signed", text)
    assert "Where to go next" in shown[0]


class Counts:
    """What the signs say."""

    def __init__(self, lines: list[str]) -> None:
        signs = [line[0] for line in lines if re.match(r"[✅❌✋] \w+.*: \w+\(", line)]
        self.calls, self.not_begun = len(signs), 1
        self.allowed = signs.count("✅") + self.not_begun  # the call that found the budget spent was decided before


def test_what_it_says_has_happened(shown):
    """Not only decided: the files, the commits and the rows are there, and what was refused is not."""
    place = shown[1]
    work = place / "workspace"
    assert (work / "research/sessions.md").read_text() == "Sessions end at midnight.\n"
    assert (work / "src/app.py").read_text().startswith("def main()")
    assert not (work / "src/more.py").exists()
    assert (work / "src/legacy/billing.py").read_text() == "# nobody dares to touch this\n"
    assert (work / "migrations/001.sql").exists()
    assert git(work, "log", "--format=%s").split("\n")[:4] == ["notes", "a test", "sessions", "start"]
    assert git(place / "remote.git", "log", "--format=%s", "main").split() == ["start"]
    database = sqlite3.connect(work / "team.db")
    assert database.execute("SELECT count(*) FROM findings").fetchone() == (1,)
    database.close()


def test_it_prints_the_same_each_time(shown, tmp_path):
    """Hashes, random ids and the folder apart."""

    def plain(lines: list[str], folder: Path) -> list[str]:
        text = "\n".join(lines).replace(str(folder), "FOLDER")
        return re.sub(r"TASK-1\.[0-9a-f]{8}|sha256:[0-9a-f]+|remit-demo-\w+", "X", text).split("\n")

    assert plain(run_demo(tmp_path), tmp_path) == plain(shown[0], shown[1].parent)


def test_no_colours_outside_a_terminal(shown):
    assert "\033" not in "\n".join(shown[0])
    assert 40 <= len(shown[0]) <= 125


def test_it_fits_a_terminal(shown):
    """Symbols and their variation aside, nothing is wider than 80 columns but paths that can't be broken."""
    wide = [line for line in shown[0] if sum(2 if east_asian_width(c) in "WF" else 1 for c in line) > 80]
    assert not [line for line in wide if "/" not in line]


def test_marks_are_words_where_there_are_no_symbols(tmp_path):
    """Three question marks for what ran, what a person is asked and what was denied would tell nothing."""
    env = {**os.environ, "TMPDIR": str(tmp_path), "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    shown = subprocess.run([sys.executable, "-m", "remit", "demo"], env=env, capture_output=True, check=True).stdout
    assert b"yes it ran   ask a person is asked   no denied: it did not run" in shown
    assert b"person: ann refused A-2: one release a day" in shown
    assert b"?" not in shown.replace(b"answered?", b"").replace(b"make?", b"")


def test_two_at_once_do_not_meet(tmp_path):
    env = {**os.environ, "NO_COLOR": "1", "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    command = [sys.executable, "-m", "remit", "demo"]
    running = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    outputs = [one.communicate(timeout=240)[0] for one in running]
    assert [one.returncode for one in running] == [0, 0]
    assert all("✅ ledger verified: " in text for text in outputs)


def test_a_folder_that_can_not_be_made_is_said_and_removed(tmp_path):
    (tmp_path / "bin").mkdir()
    git = tmp_path / "bin" / "git"
    git.write_text("#!/bin/sh\necho 'fatal: no room' >&2\nexit 128\n")
    git.chmod(0o755)
    env = {**os.environ, "TMPDIR": str(tmp_path), "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"}
    run = subprocess.run([sys.executable, "-m", "remit", "demo"], env=env, capture_output=True, text=True, timeout=120)
    assert run.returncode == 2
    assert "the demo can't have its folder in" in run.stderr
    assert "fatal: no room\n" in run.stderr
    assert not list(tmp_path.glob("remit-demo-*"))
