"""Remit, installed as `remit install` does it, in front of the real Claude Code."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from tests.hosts.claude import Claude
from tests.hosts.fake_model import Script, Use
from tests.hosts.terminal import QUESTION, Step, in_terminal

pytestmark = pytest.mark.hosts

REMIT = Path(sys.executable).with_name("remit")

POLICY = """\
remit: 1
name: hosted
use: [claude-code]
hosts: {claude-code: {main: lead}}
agents:
  lead:
    may: [Read, Agent, {Write: {path: "notes/**"}}, {Bash: {shell: {run: [touch, pwd]}}}]
    must_ask: [{Write: {path: "docs/**"}}]
    delegates_to: [scribe]
  scribe:
    may: [Read, {Write: {path: "scribe/**"}}]
"""


@pytest.fixture
def project(claude: Claude) -> Claude:
    """A project with a policy in force, an agent, and the hooks installed."""
    claude.env["XDG_STATE_HOME"] = str(claude.home / "state")
    claude.put("remit.yaml", POLICY)
    claude.agent("scribe")
    remit(claude, "activate", "--yes")
    remit(claude, "install", "claude-code", "--yes")
    return claude


def remit(claude: Claude, *args: str) -> str:
    """A command of the person who owns the project."""
    done = subprocess.run(
        [REMIT, *args],
        cwd=claude.project,
        env=own(claude),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def own(claude: Claude) -> dict[str, str]:
    return {"HOME": str(claude.home), "CLAUDE_CONFIG_DIR": str(claude.config), "PATH": "/usr/bin:/bin", **claude.env}


@contextmanager
def serving_hooks(claude: Claude) -> Iterator[None]:
    """The project's daemon, listening."""
    process = subprocess.Popen([REMIT, "serve"], cwd=claude.project, env=own(claude), stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 30
        while not list((claude.home / "state").rglob("serve.sock")):
            assert process.poll() is None
            assert time.monotonic() < end
            time.sleep(0.05)
        yield
    finally:
        process.terminate()
        process.wait(30)


def write(claude: Claude, path: str) -> Use:
    return Use("Write", {"file_path": str(claude.project / path), "content": "x"})


HAND = {"description": "d", "prompt": "p", "run_in_background": False}


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "bypassPermissions", "dontAsk"])
def test_the_policy_decides_in_every_mode(project: Claude, mode: str):
    run = project.run({"main": [write(project, "notes/a.txt"), write(project, "src/a.txt"), "done"]}, mode=mode)
    assert (project.project / "notes/a.txt").exists()
    assert not (project.project / "src/a.txt").exists()
    assert "Remit: " in run.said[1]


def test_a_subagent_has_its_own_rules(project: Claude):
    script: Script = {
        "main": [Use("Agent", {**HAND, "subagent_type": "scribe"}), "done"],
        "scribe": [write(project, "scribe/a.txt"), write(project, "notes/a.txt"), "done"],
    }
    run = project.run(script, mode="bypassPermissions")
    assert (project.project / "scribe/a.txt").exists()
    assert not (project.project / "notes/a.txt").exists()
    assert [result.is_error for result in run.model.results("scribe")] == [False, True]


@pytest.mark.parametrize("agent", ["general-purpose", "Explore", "explore", "fork", None])
def test_work_is_handed_only_to_whom_the_policy_names(project: Claude, agent: str | None):
    hand = HAND if agent is None else {**HAND, "subagent_type": agent}
    run = project.run({"main": [Use("Agent", hand), "done"]}, mode="bypassPermissions")
    assert len(run.model.of("main")) == 2
    assert "Remit: " in run.said[0]


def test_the_model_is_offered_only_what_somebody_may_use(project: Claude):
    run = project.run({"main": ["done"]})
    assert run.model.offered() - {"DeferredToolPlaceholder"} == {"Agent", "Bash", "Read", "Write"}


@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_what_must_be_asked_does_not_run_where_nobody_sits(project: Claude, mode: str):
    run = project.run({"main": [write(project, "docs/a.txt"), "done"]}, mode=mode)
    assert not (project.project / "docs/a.txt").exists()
    assert "Remit" in run.said[0]


@pytest.mark.parametrize(("key", "runs"), [("1", True), ("\x1b", False)])
def test_in_a_terminal_the_person_is_asked(project: Claude, key: str, runs: bool):
    steps: list[Step] = [(QUESTION, [key])]
    if runs:
        steps.append((lambda model: len(model.of("main")) >= 2, []))
    session = in_terminal(project, {"main": [write(project, "docs/a.txt"), "done"]}, steps)
    assert session.steps == 1 + len(steps)
    assert (project.project / "docs/a.txt").exists() == runs


@pytest.mark.parametrize(
    "command",
    [
        "touch .claude/settings.local.json",
        "cd .claude && touch settings.json",
        "touch .remit/x",
        "touch ../outside",
        "touch notes/a.txt; python3 -c 1",
    ],
)
def test_a_shell_does_not_reach_what_governs_it(project: Claude, command: str):
    before = {path: path.stat().st_mtime_ns for path in project.project.rglob("*")}
    project.run({"main": [Use("Bash", {"command": command}), "done"]}, mode="bypassPermissions")
    assert {path: path.stat().st_mtime_ns for path in project.project.rglob("*")} == before
    assert not (project.project.parent / "outside").exists()


@pytest.mark.parametrize("daemon", [False, True], ids=["alone", "daemon"])
def test_every_call_and_its_outcome_is_in_the_ledger(project: Claude, daemon: bool):
    calls = [write(project, "notes/a.txt"), write(project, "src/a.txt"), Use("Bash", {"command": "touch none/a"})]
    with serving_hooks(project) if daemon else nullcontext():
        project.run({"main": [*calls, "done"]}, mode="bypassPermissions")
    lines = [json.loads(line)["entry"] for line in remit(project, "ledger", "show", "--json").splitlines()]
    entries = [entry for entry in lines if entry["type"] in ("intent", "outcome")]
    assert [(entry.get("tool"), entry.get("decision"), entry.get("result")) for entry in entries] == [
        ("Write", "allow", None),
        (None, None, "done"),
        ("Write", "deny", None),
        ("Bash", "allow", None),
        (None, None, "failed"),
    ]
    assert [entry["call"].rpartition("/")[2] for entry in entries] == [
        "toolu_001_0",
        "toolu_001_0",
        "toolu_002_0",
        "toolu_003_0",
        "toolu_003_0",
    ]
    remit(project, "ledger", "verify")
