"""`remit status --probe`: the real hook, asked as the host asks; whatever would let a call run is an alarm."""

from __future__ import annotations

import json
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from remit.adapters.hooks.roots import roots_path
from remit.cli import status
from remit.record.open import open_log
from remit.record.reader import entries
from remit.service import probe
from tests.service.kit import POLICY, Hooked, make

DENY = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "no"}


@pytest.fixture
def project(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hooked:
    return make(tmp_path, capsys, monkeypatch).activated().installed()


def verdicts(found: Any) -> dict[str, set[str]]:
    by: dict[str, set[str]] = {}
    for one in found["probes"]["results"]:
        by.setdefault(one["verdict"], set()).add(one["probe"])
    return by


def hook(project: Hooked, command: str) -> None:
    """Another command in the place of our own."""
    project.change(lambda data: data["hooks"]["PreToolUse"][0]["hooks"][0].update(command=command))


def test_a_healthy_project_denies_every_probe(project: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    monkeypatch.setattr(status, "watched", lambda *, machine: nullcontext(shown.append))
    found = project.status("--probe", code=0)
    assert shown == [f"claude-code: {number} of 27 probes answered" for number in range(1, 28)]
    results = found["probes"]["results"]
    assert {one["agent"] for one in results} == {"lead", "researcher", "remit-probe-nobody"}
    assert {one["verdict"] for one in results} == {"denied", "answered"}
    assert len([one for one in results if one["verdict"] == "denied"]) == 25
    for one in results:
        assert re.match(r"deny: Remit: |allow|ask: Remit asks: ", one["text"]), one
    text = project.text("--probe").out
    assert "25 denied as they must be, 2 answered" in text


@pytest.mark.more
def test_probes_are_in_the_ledger_and_nothing_stays_open(project: Hooked) -> None:
    session = project.status("--probe")["probes"]["session"]
    assert session.startswith("remit-probe-")
    with open_log(project.root) as opened, opened.store.read() as view:
        found = [one.data for one in entries(view)]
        [running] = view.row("SELECT count(*) FROM running") or [None]
    mine = [one for one in found if one.get("session") == session]
    allowed = [one["call"] for one in mine if one["decision"] == "allow"]
    assert sum(1 for one in found if one["type"] == "intent") == 27
    assert 24 <= len(mine) <= 25  # those that could not be read belong to no session
    assert {one["call"] for one in found if one["type"] == "outcome" and one["result"] == "failed"} == set(allowed)
    assert len(allowed) == 2
    assert running == 0
    assert all(one["seen"] == [] for one in project.status()["agents"])


def test_probes_are_nobodys_work_and_halt_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = f"{POLICY}on_violation: {{halt: {{after: 2}}}}\n"
    project = make(tmp_path, capsys, monkeypatch, policy=policy).activated().installed()
    project.status("--probe", code=0)
    project.status("--probe", code=0)
    assert json.loads(project.remit("incidents", "--json").out)["halts"] == []
    assert json.loads(project.remit("usage", "--json").out)["calls"] == 0
    assert "replayed 0 calls" in project.remit("replay").out


def say(text: str) -> str:
    return f"printf %s {shlex.quote(text)}"


OTHERS = {
    "nothing decided": say("{}"),
    "allow": say(json.dumps({"hookSpecificOutput": DENY | {"permissionDecision": "allow"}})),
    "ask": say(json.dumps({"hookSpecificOutput": DENY | {"permissionDecision": "ask"}})),
    "silence": "true",
    "junk": say("junk"),
    "half": say('{"a": '),
    "a list": say("[]"),
    "text before": say("hello\n" + json.dumps({"hookSpecificOutput": DENY})),
    "text after": say(json.dumps({"hookSpecificOutput": DENY}) + "\nbye"),
    "at the top level": say('{"permissionDecision": "deny"}'),
    "another event": say(json.dumps({"hookSpecificOutput": DENY | {"hookEventName": "PostToolUse"}})),
    "another word": say(json.dumps({"hookSpecificOutput": DENY | {"permissionDecision": "no"}})),
    "stops instead": say(json.dumps({"hookSpecificOutput": DENY, "continue": False})),
    "exit 1": "exit 1",
    "deny and exit 1": say(json.dumps({"hookSpecificOutput": DENY})) + "; exit 1",
    "not there": "/nowhere/hook",
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("command", OTHERS.values(), ids=list(OTHERS))
def test_a_hook_that_lets_go_is_an_alarm(project: Hooked, command: str) -> None:
    hook(project, command)
    found = verdicts(project.status("--probe", code=1))
    assert "denied" not in found
    assert "ALARM" in found
    assert len(found["ALARM"]) >= 14


def test_a_deny_without_a_reason_of_ours_does_not_count(project: Hooked) -> None:
    hook(project, say(json.dumps({"hookSpecificOutput": DENY})))
    found = verdicts(project.status("--probe", code=1))
    assert set(found) == {"only-broken"}


def test_a_command_that_only_looks_like_ours_is_found(project: Hooked) -> None:
    command = json.loads(project.settings.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    hook(project, f"echo '{{}}' # {command}")
    assert set(verdicts(project.status("--probe", code=1))) == {"ALARM"}


@pytest.mark.more  # waits for the host's time limit
def test_a_hook_that_hangs_is_an_alarm(project: Hooked) -> None:
    hook(project, "sleep 100")
    project.change(lambda data: data["hooks"]["PreToolUse"][0]["hooks"][0].update(timeout=1))
    found = project.status("--probe", code=1)["probes"]["results"]
    assert {one["text"] for one in found} == {"no answer in 1 seconds"}


@pytest.mark.more
def test_a_hook_that_is_asked_about_some_tools_only(project: Hooked) -> None:
    project.change(lambda data: data["hooks"]["PreToolUse"][0].update(matcher="Write|Edit"))
    found = verdicts(project.status("--probe", code=1))
    assert {"remit activate", "read the rulebook", "an unknown tool"} <= found["ALARM"]
    assert "write the rulebook" in found["denied"]


@pytest.mark.more
@pytest.mark.sample(1)
@pytest.mark.parametrize("fault", ["rulebook", "store", "record", "state"])
def test_a_deny_because_nothing_works_is_told_apart(project: Hooked, fault: str) -> None:
    if fault == "rulebook":
        (project.root / ".remit" / "rulebook").unlink()
    elif fault == "store":
        (project.state / "remit.db").chmod(0o644)
    elif fault == "record":
        path = project.state / "hooks" / "claude-code.json"
        path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    else:  # the list of projects names another
        path = roots_path("claude-code")
        text = path.read_text()
        assert str(project.state) in text
        path.write_text(text.replace(str(project.state), f"{project.state}-other"))
    ran = project.text("--probe")
    assert ran.code == 1
    unread = fault == "record"  # nobody knows of a hook then
    assert ("ALARM" in ran.out, "only because nothing works" in ran.out) == (unread, not unread), ran.out


@pytest.mark.more
def test_what_nobody_could_decide_is_no_work_of_an_agent(project: Hooked) -> None:
    (project.root / ".remit" / "rulebook").unlink()
    project.status("--probe", code=1)
    assert all(one["seen"] == [] for one in project.status()["agents"])


@pytest.fixture
def daemon(project: Hooked) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "remit", "serve"]
    with subprocess.Popen(command, cwd=project.root, stdout=subprocess.PIPE) as process:
        try:
            if process.stdout is None:
                raise AssertionError
            assert b"serving" in process.stdout.readline()
            threading.Thread(target=process.stdout.read, daemon=True).start()
            yield process
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()


def test_the_daemon_is_asked_where_there_is_one(project: Hooked, daemon: subprocess.Popen[bytes]) -> None:
    found = project.status("--probe", code=0)
    assert found["serving"] is True
    assert {one["verdict"] for one in found["probes"]["results"]} == {"denied", "answered"}


@pytest.mark.long  # each probe waits for it
def test_a_daemon_that_is_silent_is_told(project: Hooked, daemon: subprocess.Popen[bytes]) -> None:
    daemon.send_signal(signal.SIGSTOP)
    silent = project.status("--probe", code=1)["probes"]["results"]
    assert {one["verdict"] for one in silent} == {"only-broken"}


def test_no_hook_at_all_is_an_alarm(project: Hooked) -> None:
    project.change(lambda data: data["hooks"].pop("PreToolUse"))
    assert "every call would run" in project.status("--probe", code=1)["probes"]["problem"]
    project.settings.unlink()
    assert "no hook would run" in project.status("--probe", code=1)["probes"]["problem"]


@pytest.mark.more
def test_an_observed_agent_is_still_kept_from_what_is_protected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    later = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 20 * 86400))
    policy = POLICY + f"enforce: {{observe: {{until: {later}}}}}\n"
    project = make(tmp_path, capsys, monkeypatch, policy).activated().installed()
    found = project.status("--probe", code=0)["probes"]["results"]
    assert {one["verdict"] for one in found} == {"denied", "answered"}


def test_settings_reach_the_hook_as_they_do_in_the_host(project: Hooked) -> None:
    say_env = f"{shlex.quote(sys.executable)} -c \"import os, sys; sys.exit(int(os.environ['PROBED']))\""
    hook(project, say_env)
    project.change(lambda data: data.update(env={"PROBED": "7"}))
    found = project.status("--probe", code=1)["probes"]["results"]
    assert {one["text"] for one in found} == {"it ended with 7"}


def test_every_code_of_a_decision_is_known() -> None:
    folder = Path(__file__).parents[2] / "src" / "remit" / "decide"
    text = "\n".join(path.read_text("utf-8") for path in folder.glob("*.py"))
    codes = set(re.findall(r'case\.deny\(\s*"([a-z-]+)"', text))
    codes |= set(re.findall(r'_refusal\(\s*rulebook, call, "([a-z-]+)"', text)) | set(
        re.findall(r'BadArguments\("([a-z-]+)"', text)
    )
    assert len(codes) > 20
    assert codes - probe.DECIDED == {"malformed-call", "rule-failed", "unknown-agent"}
