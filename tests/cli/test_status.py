"""`remit status`: green only where everything is enforced, and every fault is found."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.adapters.hooks.command import LONGEST
from remit.adapters.hooks.local import answer_alone
from remit.adapters.hosts.claude_code import status as claude_status
from remit.adapters.hosts.claude_code.catalog import catalog
from remit.enforce.guard import Guard
from remit.grant.clock import Clock
from remit.record.open import open_ledger
from remit.service.status.ledger import seen
from tests.cli.kit import program
from tests.service.kit import AGENT, POLICY, Hooked, make

LATER = time.strftime("%Y-%m-%d", time.gmtime(time.time() + 20 * 86400))


@pytest.fixture
def bare(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Hooked:
    return make(tmp_path, capsys, monkeypatch)


@pytest.fixture
def project(bare: Hooked) -> Hooked:
    return bare.activated().installed()


def with_policy(bare: Hooked, policy: str) -> Hooked:
    bare.remit.policy(policy)
    return bare.activated().installed()


def call(tool: str, agent: str | None = None, session: str = "s-1", **args: Any) -> bytes:
    found = {"session_id": session, "cwd": os.getcwd(), "permission_mode": "default", "hook_event_name": "PreToolUse"}
    named = {"agent_type": agent, "agent_id": "a1"} if agent else {}
    return json.dumps({**found, **named, "tool_name": tool, "tool_input": args, "tool_use_id": "toolu_1"}).encode()


def test_a_healthy_project_is_green(project: Hooked) -> None:
    found = project.status(code=0)
    assert found["policy"]["state"] == "same"
    assert found["policy"]["name"] == "docs-team"
    assert found["policy"]["hash"].startswith("sha256:")
    assert found["policy"]["by"].endswith("(no credential)")
    [host] = [one for one in found["hosts"] if one["installed"]]
    assert (host["installed"], host["hooked"], host["main"]) == (True, True, "lead")
    assert {one["name"]: one["state"] for one in host["definitions"]}["researcher"] == "pinned"
    assert found["ledger"]["reachable"]
    assert found["ledger"]["signed"] == found["ledger"]["size"]
    assert found["serving"] is False
    assert found["credential"] == {"set": False, "since": None, "lifted": False}


def test_each_agent_is_told_how_strongly_it_is_bound(project: Hooked) -> None:
    agents = project.agents()
    assert {name: one["bond"] for name, one in agents.items()} == {
        "lead": "host hook",
        "researcher": "host hook",
        "ghost": "only words",
        "Releases": "only words",
    }
    assert agents["lead"]["since"] == project.status()["hosts"][0]["at"]
    assert agents["ghost"]["since"] is None
    assert agents["lead"]["project_code"] == ["Bash"]
    assert agents["researcher"]["project_code"] == []
    text = project.text().out
    assert "only words: nothing enforces it" in text
    assert "lead may run it by Bash" in text


def test_the_text_starts_and_ends_with_what_it_comes_to(project: Hooked) -> None:
    found = project.text()
    assert (found.code, found.err) == (0, "")
    lines = found.out.splitlines()
    assert "enforced as it should be" in lines[0]
    assert "NOT" not in lines[0]
    assert lines[-1] == lines[0]
    project.settings.unlink()
    lines = project.text().out.splitlines()
    assert "NOT enforced as it should be" in lines[0]
    assert lines[-1] == lines[0]


def test_what_the_host_lets_through_is_told_with_reasons(project: Hooked) -> None:
    [host] = [one for one in project.status()["hosts"] if one["installed"]]
    assert len(host["passes"]) >= 10
    text = project.text().out
    for one in host["passes"]:
        assert set(one) == {"what", "because", "do"}
        assert all(one.values())
        assert one["what"] in text


def test_without_activation_and_installation_nothing_is_claimed(bare: Hooked) -> None:
    assert bare.faults() == {"never-activated", "not-installed"}
    assert {one["bond"] for one in bare.agents().values()} == {"only words"}
    bare.activated()
    assert bare.faults() == {"not-installed"}
    assert {one["bond"] for one in bare.agents().values()} == {"only words"}


def test_no_policy_is_bad_input(bare: Hooked) -> None:
    (bare.root / "remit.yaml").unlink()
    assert bare.text().code == 2
    assert bare.text("--policy", "other.yaml").code == 2


# The policy


def test_a_changed_policy_is_only_a_note(project: Hooked) -> None:
    project.remit.policy(POLICY.replace("[Read, Glob, Grep, Task, Bash]", "[Read]"))
    found = project.status(code=0)
    assert found["policy"]["state"] == "pending"
    assert "remit activate" in project.text().out


def test_a_broken_policy_is_a_fault(project: Hooked) -> None:
    project.remit.policy("remit: 1\nname: x\nagents: {lead: {mya: [Read]}}\n")
    assert project.faults() == {"broken-policy"}
    assert project.agents()["lead"]["bond"] == "host hook"  # what was activated stays in force


def test_a_rulebook_that_was_swapped_is_a_fault(project: Hooked) -> None:
    path = project.root / ".remit" / "rulebook"
    path.write_bytes(path.read_bytes() + b" ")
    assert project.faults() == {"nothing-in-force"}
    agents = project.agents()
    assert (agents["lead"]["bond"], agents["lead"]["why"]) == ("refused", "no policy is in force")
    assert project.status()["policy"]["state"] == "unusable"
    text = project.text().out
    assert "nothing is in force" in text
    assert "in force as it is written" not in text


def test_what_weakens_is_loud(bare: Hooked) -> None:
    observe = f"enforce: {{observe: {{until: {LATER}}}}}\n"
    unsafe = "unsafe_no_credential: true\nunsafe_unprotect: ['notes/.claude/**']\n"
    project = with_policy(bare, POLICY + observe + unsafe)
    found = project.status(code=0)
    assert {one["what"].partition(":")[0] for one in found["weaknesses"]} == {
        "observe",
        "unsafe_no_credential",
        "unsafe_unprotect",
    }
    assert found["credential"]["lifted"] is True
    assert project.agents()["lead"]["bond"] == "observed"
    assert project.agents()["lead"]["until"].startswith(LATER)
    text = project.text().out
    assert "approvals: not protected from a shell" in text
    assert f"OBSERVED ONLY for lead, until {LATER}" in text
    assert "UNSAFE: unsafe_unprotect" in text


def test_what_confines_commands_is_told(bare: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    project = with_policy(bare, POLICY + "confine: required\n")
    monkeypatch.setattr("remit.confine.pick.backends", lambda state: ())
    found = project.status(code=1)
    assert found["confinement"] == ["no command can be confined on this machine"]
    assert "confine-unavailable" in {one["code"] for one in found["findings"]}
    assert "no command can be confined on this machine" in project.text().out


def test_where_nobody_is_confined_nothing_is_tried(project: Hooked) -> None:
    assert project.status()["confinement"] == []


def test_a_disabled_agent_is_told(bare: Hooked) -> None:
    project = with_policy(bare, POLICY.replace("  researcher:\n", "  researcher:\n    enabled: false\n"))
    assert project.agents()["researcher"]["bond"] == "disabled"


# The host's settings


def pre(data: Any) -> dict[str, Any]:
    found: dict[str, Any] = data["hooks"]["PreToolUse"][0]
    return found


EDITS: dict[str, tuple[Callable[[Any], None], str]] = {
    "no hooks": (lambda data: data.pop("hooks"), "hook-missing"),
    "one event less": (lambda data: data["hooks"].pop("PreToolUse"), "hook-missing"),
    "no report": (lambda data: data["hooks"].pop("PostToolUseFailure"), "hook-missing"),
    "an empty event": (lambda data: data["hooks"].update(PreToolUse=[]), "hook-missing"),
    "another command": (lambda data: pre(data)["hooks"][0].update(command="echo {}"), "hook-missing"),
    "another state": (
        lambda data: pre(data)["hooks"][0].update(command=pre(data)["hooks"][0]["command"] + "x"),
        "hook-other-command",
    ),
    "no onFailure": (lambda data: pre(data)["hooks"][0].pop("onFailure"), "hook-incomplete"),
    "onFailure continue": (lambda data: pre(data)["hooks"][0].update(onFailure="continue"), "hook-incomplete"),
    "a short timeout": (lambda data: pre(data)["hooks"][0].update(timeout=LONGEST), "hook-incomplete"),
    "no timeout": (lambda data: pre(data)["hooks"][0].pop("timeout"), "hook-incomplete"),
    "only some tools": (lambda data: pre(data).update(matcher="Write"), "hook-incomplete"),
    "async": (lambda data: pre(data)["hooks"][0].update({"async": True}), "hook-incomplete"),
    "if": (lambda data: pre(data)["hooks"][0].update({"if": "Bash(git *)"}), "hook-incomplete"),
    "arguments": (lambda data: pre(data)["hooks"][0].update(args=[]), "hook-incomplete"),
    "disableAllHooks": (lambda data: data.update(disableAllHooks=True), "hooks-disabled"),
    "a preloaded library": (lambda data: data.update(env={"LD_PRELOAD": "/tmp/x.so"}), "hook-injected"),
    "a model that is no text": (lambda data: data.update(model=5), "settings-invalid"),
    "a deny that is no list": (lambda data: data.setdefault("permissions", {}).update(deny=5), "settings-invalid"),
    "a hook of unknown type": (
        lambda data: data["hooks"].update(Stop=[{"hooks": [{"type": "odd"}]}]),
        "settings-invalid",
    ),
}


@pytest.mark.sample(5)
@pytest.mark.parametrize(("edit", "code"), EDITS.values(), ids=list(EDITS))
def test_settings_that_do_not_hold_are_a_fault(project: Hooked, edit: Callable[[Any], None], code: str) -> None:
    project.change(edit)
    assert project.faults() == {code}
    assert project.agents()["lead"]["bond"] == "not enforced"
    assert project.agents()["lead"]["since"] is None


@pytest.mark.sample(2)
@pytest.mark.parametrize("text", ["{,}", "// none\n{}", "", "[]", '{"hooks": {}, "hooks": {}}', "\udcff"])
def test_settings_that_are_no_json_are_a_fault(project: Hooked, text: str) -> None:
    project.settings.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert project.faults() == {"settings-invalid"}


def test_settings_that_are_gone_are_a_fault(project: Hooked) -> None:
    project.settings.unlink()
    assert project.faults() == {"settings-gone"}


@pytest.mark.parametrize("where", ["local", "user"])
def test_hooks_switched_off_elsewhere_are_a_fault(project: Hooked, where: str) -> None:
    path = project.root / ".claude" / "settings.local.json" if where == "local" else project.user / "settings.json"
    project.change(lambda data: data.update(disableAllHooks=False), path)
    assert project.faults() == set()
    project.change(lambda data: data.update(disableAllHooks=True), path)
    assert project.faults() == {"hooks-disabled"}
    assert str(path) in project.text().out


def test_managed_settings_that_admit_no_other_hooks_are_a_fault(
    project: Hooked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = msgspec.structs.replace
    found = replace(catalog(), files=replace(catalog().files, managed=(str(tmp_path / "managed.d" / "*.json"),)))
    monkeypatch.setattr(claude_status, "catalog", lambda: found)
    (tmp_path / "managed.d").mkdir()
    path = tmp_path / "managed.d" / "a.json"
    project.change(lambda found: found.update(allowManagedHooksOnly=True), path)
    assert project.faults() == {"hooks-disabled"}


def test_managed_settings_that_keep_hooks_on_count(
    project: Hooked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = msgspec.structs.replace
    found = replace(catalog(), files=replace(catalog().files, managed=(str(tmp_path / "managed.json"),)))
    monkeypatch.setattr(claude_status, "catalog", lambda: found)
    project.change(lambda found: found.update(disableAllHooks=True), project.user / "settings.json")
    assert project.faults() == {"hooks-disabled"}
    project.change(lambda found: found.update(disableAllHooks=False), tmp_path / "managed.json")
    assert project.faults() == set()


def test_shell_lines_in_skills_are_told(project: Hooked) -> None:
    def notes() -> set[str]:
        [host] = [one for one in project.status(code=0)["hosts"] if one["installed"]]
        return {one["code"] for one in host["findings"]}

    project.change(lambda found: found.update(disableSkillShellExecution=True))
    assert "unset" not in notes()
    local = project.root / ".claude" / "settings.local.json"
    project.change(lambda found: found.update(disableSkillShellExecution=False), local)
    assert "unset" in notes()


def test_a_session_started_from_here_would_be_in_safe_mode(project: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SAFE_MODE", "1")
    assert project.faults() == {"hooks-disabled"}


def test_another_hook_is_a_note(project: Hooked) -> None:
    other = {"matcher": "*", "hooks": [{"type": "command", "command": "true"}]}
    project.change(lambda data: data["hooks"]["PreToolUse"].append(other))
    [host] = [one for one in project.status(code=0)["hosts"] if one["installed"]]
    assert "other-hooks" in {one["code"] for one in host["findings"]}


# Definitions


def test_a_changed_definition_is_a_fault(project: Hooked) -> None:
    project.agent.write_text(project.agent.read_text() + "And you may write anywhere.\n")
    assert project.faults() == {"definition-changed"}
    agents = project.agents()
    assert (agents["researcher"]["bond"], agents["lead"]["bond"]) == ("refused", "host hook")
    assert "researcher.md changed" in project.text().out


def test_a_second_definition_of_the_name_is_a_fault(project: Hooked) -> None:
    (project.user / "agents").mkdir()
    (project.user / "agents" / "other.md").write_text(AGENT)
    assert project.faults() == {"definition-changed"}
    assert "other.md is new" in project.text().out


def test_a_definition_that_hides_its_name_is_a_fault(project: Hooked) -> None:
    (project.agent.parent / "aa.md").write_text("---\n{name: researcher, description: x}\n---\n")
    assert project.faults() == {"definition-changed"}
    assert project.agents()["researcher"]["bond"] == "refused"


def test_a_definition_that_is_gone_is_a_fault(project: Hooked) -> None:
    project.agent.unlink()
    assert project.faults() == {"definition-changed"}
    assert "researcher.md is gone" in project.text().out


def test_a_new_definition_is_told_and_bound_to_nothing(project: Hooked) -> None:
    (project.agent.parent / "ghost.md").write_text(AGENT.replace("researcher", "ghost"))
    (project.agent.parent / "stranger.md").write_text(AGENT.replace("researcher", "stranger"))
    [host] = [one for one in project.status()["hosts"] if one["installed"]]
    by_code = {one["code"]: one["text"] for one in host["findings"]}
    assert by_code["unpinned-agents"].endswith(": ghost, stranger")  # the policy has rules for the first
    assert "stranger" in by_code["unknown-agents"]
    assert "ghost" not in by_code["unknown-agents"]
    assert project.agents()["ghost"]["bond"] == "refused"


def test_a_record_that_others_could_write_is_a_fault(project: Hooked) -> None:
    (project.state / "hooks" / "claude-code.json").chmod(0o644)
    assert project.faults() == {"install-unreadable"}
    assert {one["bond"] for one in project.agents().values()} == {"only words"}


# The ledger


def test_who_was_seen_comes_from_the_ledger_without_probes(project: Hooked) -> None:
    state = str(project.state)
    for number in range(3):
        answer_alone("claude-code", state, call("Read", session=f"s-{number}", file_path="README.md"))
    answer_alone("claude-code", state, call("Read", "researcher", file_path="README.md"))
    answer_alone("claude-code", state, call("Read", "researcher", "remit-probe-1", file_path="README.md"))
    agents = project.agents()
    [lead], [researcher] = agents["lead"]["seen"], agents["researcher"]["seen"]
    assert (lead["point"], lead["entries"], researcher["entries"]) == ("claude-code", 3, 1)
    assert lead["last"] <= time.strftime("%Y-%m-%dT%H:%M:%S~", time.gmtime())
    assert "last seen at claude-code" in project.text().out


def test_looking_back_has_an_end(project: Hooked) -> None:
    from remit.record.open import open_log

    for number in range(5):
        answer_alone("claude-code", str(project.state), call("Read", session=f"s-{number}", file_path="README.md"))
    with open_log(project.root) as opened:
        found, looked, _ = seen(opened, back=2)
        assert (found["lead"][0].entries, looked.entries, looked.all) == (2, 2, False)
        found, looked, _ = seen(opened)
        assert (found["lead"][0].entries, looked.all) == (5, True)


def test_a_ledger_that_can_not_be_used_is_a_fault(project: Hooked) -> None:
    database = project.state / "remit.db"
    for path in project.state.glob("remit.db*"):
        path.unlink()
    assert "ledger-unavailable" in project.faults()
    database.write_bytes(b"no database at all" * 100)
    database.chmod(0o600)
    assert {"ledger-unavailable", "nothing-in-force"} <= project.faults()
    assert "everything is denied" in project.text().out


def test_another_store_than_the_hooks_is_a_fault(project: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMIT_STORE", f"sqlite://{project.folder}/other.db")
    assert project.faults() == {"other-store"}
    assert project.status()["policy"]["state"] == "same"  # it looks where the hook looks


def test_the_program_itself(project: Hooked) -> None:
    ran = program("status", cwd=project.root)
    assert ran.returncode == 0, ran
    project.settings.unlink()
    assert program("status", cwd=project.root).returncode == 1


@pytest.mark.parametrize("used", [False, True], ids=["alone", "beside a writer"])
def test_it_changes_nothing(project: Hooked, used: bool) -> None:
    def files() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in project.folder.rglob("*") if path.is_file()}

    with sqlite3.connect(project.state / "remit.db") if used else nullcontext() as writer:
        if writer is not None:  # then there is a log beside the database, with something in it
            writer.execute("PRAGMA wal_autocheckpoint = 0")
            writer.execute("UPDATE meta SET value = value")
            writer.commit()
        before = files()
        project.status(code=0)
        assert files() == before
    if writer is not None:
        writer.close()


# The clock, and what is spent by it

PAYING = """
remit: 1
tools: {pay: {args: {amount: number}, does: nothing}}
agents:
  lead: {may: [pay], daily_sum: {pay.amount: 12.5}}
  other: {may: [pay]}
"""


def test_what_is_spent_today(bare: Hooked) -> None:
    bare.remit.policy(PAYING)
    bare.activated()
    assert [(one["used"], one["most"]) for one in bare.status()["daily"]] == [("0", "12.5")]
    guard = Guard(bare.root / "remit.yaml")

    @guard.tool()
    def pay(amount: float) -> float:
        return amount

    for agent, amount in (("lead", 2), ("lead", 0.25), ("other", 100)):
        with guard, guard.agent(agent):
            pay(amount)
    found = bare.status()
    assert found["daily"] == [{"agent": "lead", "what": "pay.amount", "used": "2.25", "most": "12.5"}]
    assert f"daily sums, on {found['clock']['now'][:10]} (UTC)\n  lead: 2.25 of 12.5 in pay.amount\n" in bare.text().out


def test_a_clock_in_doubt_is_a_fault(project: Hooked) -> None:
    found = project.status(code=0)
    assert found["clock"]["doubt"] is None
    assert found["daily"] == []
    with open_ledger(project.root, point="test") as opened, opened.store.write() as change:
        Clock(lambda: time.time() + 86400).tick(change)
    found = project.status(code=1)
    assert [one["code"] for one in found["findings"] if one["level"] == "fault"] == ["clock-in-doubt"]
    assert "the clock is in doubt" in found["clock"]["doubt"]
    assert "the clock is in doubt" in project.text().out


# On one screen


def test_the_short_form_says_first_what_is_wrong(project: Hooked) -> None:
    lines = project.short().out.splitlines()
    assert lines[0].startswith("✅")
    assert len(lines) < 25
    assert "--all" in lines[-1]
    assert "lets through" not in "\n".join(lines[:-1])
    project.settings.unlink()
    lines = project.short().out.splitlines()
    assert lines[0].startswith("❌")
    assert "is gone: no hook runs" in lines[1]
    assert "run `remit install claude-code` again" in lines[2]


def test_advice_that_is_followed_is_not_given(project: Hooked) -> None:
    assert "disableSkillShellExecution" not in project.text().out  # install has set it
    project.change(lambda data: data.update(disableSkillShellExecution=False), project.rules)
    assert "disableSkillShellExecution" in project.text().out


def test_a_policy_that_is_gone_is_a_fault_since_what_was_activated_binds(project: Hooked) -> None:
    (project.root / "remit.yaml").unlink()
    found = project.status(code=1)
    assert found["policy"]["at"] is not None
    assert "broken-policy" in {one["code"] for one in found["findings"]}


def test_agents_that_were_there_are_not_called_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = make(tmp_path, capsys, monkeypatch).activated()
    (found.agent.parent / "stranger.md").write_text("---\nname: stranger\ndescription: x\n---\n")
    found.installed()
    (found.agent.parent / "later.md").write_text("---\nname: later\ndescription: x\n---\n")
    notes = {one["code"]: one["text"] for one in found.status()["hosts"][0]["findings"] if one["level"] == "note"}
    assert "later" in notes["unpinned-agents"]
    assert "stranger" not in notes["unpinned-agents"]
    assert "stranger" in notes["unknown-agents"]


def test_imports_that_the_main_agent_may_not_read_are_a_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = POLICY.replace("  lead:\n", "  lead:\n    may_not: [{path: [.env]}]\n", 1)
    found = make(tmp_path, capsys, monkeypatch, policy).activated().installed()
    (found.root / ".env").write_text("x")
    (found.root / "fine.md").write_text("x `@.env` and @missing and a@b.example\n```\n@.env\n```\n")
    (found.root / "CLAUDE.md").write_text("See @fine.md for more.\n")
    assert "import-forbidden" not in found.faults()
    (found.root / "fine.md").write_text("x @./.env\n")
    assert "import-forbidden" in found.faults()


def test_what_ran_and_is_not_in_the_ledger_is_an_alarm(project: Hooked) -> None:
    """As the host writes it down: `make test-hosts` sees it in a real one."""
    later = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 60))

    def said(use: str, *, at: str = later, error: bool = False) -> str:
        about = {"cwd": str(project.root), "sessionId": "s", "timestamp": at}
        call = {"type": "tool_use", "id": use, "name": "Bash", "input": {}}
        result = {"type": "tool_result", "tool_use_id": use, "content": "x", "is_error": error}
        lines = ({**about, "message": {"content": [block]}} for block in (call, result))
        return "".join(json.dumps(line) + "\n" for line in lines)

    folder = project.user / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(project.root))
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_text("junk\n" + said("refused", error=True) + said("before", at="2020-01-01T00:00:00Z"))
    os.utime(folder / "s.jsonl", (time.time() + 60, time.time() + 60))
    assert project.faults() == set()
    (folder / "s.jsonl").write_text(said("unseen"))
    os.utime(folder / "s.jsonl", (time.time() + 60, time.time() + 60))
    assert project.faults() == {"ledger-silent"}
    assert "1 uses of tools ran in claude-code" in project.short().out


def test_a_daemon_that_hangs_is_a_fault(project: Hooked) -> None:
    words = [sys.executable, "-m", "remit", "serve"]
    with subprocess.Popen(words, cwd=project.root, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith(b"serving")
            assert project.status(code=0)["serving"] is True
            process.send_signal(signal.SIGSTOP)
            assert project.faults() == {"daemon-hung"}
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()


def test_a_sandbox_of_the_hosts_own_is_a_note(project: Hooked) -> None:
    project.change(lambda data: data.update(sandbox={"enabled": True}))
    [host] = [one for one in project.status(code=0)["hosts"] if one["installed"]]
    assert "host-sandbox" in {one["code"] for one in host["findings"]}
