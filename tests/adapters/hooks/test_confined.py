"""Commands that a hook has run confined, from the question to the report; the test's shell plays the host's."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.adapters.hosts import registry
from remit.adapters.hosts.interface import RunsConfined
from remit.confine.pick import holds
from tests.adapters.hooks.project import JSON, POLICY, Project
from tests.adapters.hooks.speech import SESSION, TOY

CONFINED = {**POLICY, "confine": "required", "sandbox": {"network": "none"}}


def test_only_claude_code_runs_commands_confined():
    """Where another host begins to, its part of docs/hosts.md changes as well."""
    hosts = [registry.find(name) for name in registry.BUILT_IN]
    assert [host.name for host in hosts if isinstance(host, RunsConfined)] == ["claude-code"]


def test_where_a_host_cannot_what_is_required_is_denied(tmp_path: Path):
    project = Project(tmp_path, CONFINED, TOY)
    project.ask("Bash", {"command": "touch made"}).denied("only confined", "(confine-unavailable)")
    assert project.intent()["code"] == "confine-unavailable"
    assert project.ask("Read", {"file_path": str(project.root / "remit.yaml")}).decision == "allow"


def test_where_it_is_only_preferred_the_command_runs_as_before(tmp_path: Path):
    project = Project(tmp_path, {**CONFINED, "confine": "preferred"}, TOY)
    assert project.ask("Bash", {"command": "ls"}).decision == "allow"


@pytest.fixture(params=["alone", pytest.param("daemon", marks=pytest.mark.more)])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Project]:
    """A project whose commands are confined here, by whatever can."""
    if not holds(tmp_path / "trial") >= {"write", "network"}:
        pytest.skip("nothing here can confine commands")
    found = Project(tmp_path, CONFINED)
    if request.param == "alone":
        yield found
    else:
        with found.serving():
            yield found
    found.run(json.dumps({"hook_event_name": "SessionEnd", "session_id": SESSION}).encode())
    found.verify()


def allowed(project: Project, command: str) -> tuple[JSON, str]:
    """The question, and what the host runs in the place of the command."""
    question = project.question("Bash", {"command": command, "timeout": 1000})
    said = project.run(json.dumps(question).encode())
    assert said.decision == "allow", said
    changed = said.answer["hookSpecificOutput"]["updatedInput"]
    assert changed.keys() == {"command", "timeout"}
    return question, changed["command"]


def shell(project: Project, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["/bin/bash", "-c", text], cwd=project.root, capture_output=True, text=True, timeout=120, check=False
    )


def told(project: Project, question: JSON, response: object = None, **more: object) -> str:
    """What the agent is told after the call; with an `error`, after one that failed."""
    said = project.run(json.dumps(project.report(question, response, failed="error" in more, **more)).encode())
    assert said.code == 0
    return str(said.answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def confine_folder(project: Project) -> Path:
    return project.state / "confine"


def test_a_command_runs_confined_and_is_finished(project: Project):
    (project.root / "x.sh").write_text("echo hello; touch made; touch .claude/settings.json")
    question, text = allowed(project, "bash x.sh")
    assert "x.sh" not in text
    done = shell(project, text)
    assert done.stdout == "hello\n"
    assert not (project.root / ".claude/settings.json").exists()
    assert told(project, question) == ""
    assert (project.root / "made").exists()  # at once under bubblewrap, only now under the overlay
    assert list((confine_folder(project) / "tickets").iterdir()) == []
    assert not (project.root / ".claude/settings.json").exists()
    [ran] = (entry for entry in project.entries() if entry["type"] == "confined")
    assert (ran["what"], ran["call"], ran["agent"], ran["findings"]) == ("ran", project.call_id(question), "lead", [])
    assert ran["profile"].startswith("sha256:")


def test_what_it_made_in_protected_places_lies_aside_and_the_agent_is_told(project: Project):
    (project.root / "x.sh").write_text("mkdir sub; echo evil > sub/CLAUDE.md")
    question, text = allowed(project, "bash x.sh")
    shell(project, text)
    assert "`sub/CLAUDE.md` is protected" in told(project, question)
    assert not (project.root / "sub/CLAUDE.md").exists()


GIT = "error: could not write config file .git/config: Device or resource busy"
HINT = "Remit: `.git/config` is protected; the command could not write it"
REPORTS: dict[str, tuple[object, JSON]] = {
    "it failed": (None, {"error": f"Exit code 4\n{GIT}"}),
    "on stderr": ({"stdout": "", "stderr": GIT, "interrupted": False}, {}),
    "both streams in one": ({"stdout": f"one\n{GIT}\ntwo", "stderr": ""}, {}),
    "at the end of much": ({"stdout": "x\n" * 500_000 + GIT, "stderr": "\u2018"}, {}),
}
SILENT: tuple[tuple[object, JSON], ...] = (
    (None, {"error": "Exit code 1\nfatal: .git/config: No such file or directory"}),
    ({"stdout": 1, "stderr": [GIT]}, {}),
    ([GIT], {}),
    (None, {"error": {"message": GIT}}),
    ({"stdout": "\ud800", "stderr": GIT}, {}),
)


@pytest.mark.parametrize("name", REPORTS)
def test_what_its_output_suggests_is_a_hint(project: Project, name: str):
    question, text = allowed(project, "true")
    shell(project, text)
    response, more = REPORTS[name]
    assert told(project, question, response, **more) == HINT


def test_other_output_is_none(project: Project):
    for response, more in SILENT:
        question, text = allowed(project, "true")
        shell(project, text)
        assert told(project, question, response, **more) == ""
    assert len([entry for entry in project.entries() if entry["type"] == "confined"]) == len(SILENT)


def test_what_a_command_really_says_gives_the_hint(project: Project):
    """A mount is in the way; where changes are judged afterwards, it hears nothing, and the sweep tells."""
    (project.root / "x.sh").write_text("git init -q 2>/dev/null; git config core.pager less; touch remit.yaml.new")
    subprocess.run(["git", "init", "-q"], cwd=project.root, check=True)
    question, text = allowed(project, "bash x.sh")
    done = shell(project, text)
    found = told(project, question, {"stdout": done.stdout, "stderr": done.stderr})
    assert ("resource busy" in done.stderr) == (HINT in found)
    assert "`.git/config`" in found
    assert "remit.yaml.new" not in found


def assert_names(ran: JSON, path: str) -> None:
    """The only finding is about a path. The overlay applies none of the changes, and names it among the reasons."""
    [finding] = ran["findings"]
    assert finding["path"] == path or (finding["path"] == "." and f"`{path}` is protected" in finding["text"])


def test_a_command_can_not_hide_that_it_ran(project: Project):
    """It empties every file that its shell has open, also those that were saved while it runs."""
    (project.root / "x.sh").write_text("mkdir sub; echo evil > sub/CLAUDE.md; for f in /proc/$$/fd/*; do : > $f; done")
    question, text = allowed(project, ". ./x.sh")
    shell(project, text)
    assert "`sub/CLAUDE.md` is protected" in told(project, question)
    [ran] = (entry for entry in project.entries() if entry["type"] == "confined")
    assert_names(ran, "sub/CLAUDE.md")


def test_a_program_that_an_agent_put_into_the_path_is_not_run_outside(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Whoever activates the environment of a project and starts a host has such a folder in `PATH`."""
    planted = project.root / ".venv/bin"
    names = "env sh bash zsh sleep cat git bwrap nsenter perl timeout prlimit stat python3"
    (project.root / "x.sh").write_text(
        f"mkdir -p .venv/bin; for p in {names}; do "
        f"printf '#!/bin/sh\\n/usr/bin/touch {tmp_path}/ran-%s\\nexec /usr/bin/%s \"$@\"\\n' $p $p > .venv/bin/$p; "
        "/bin/chmod +x .venv/bin/$p; done"
    )
    question, text = allowed(project, "bash x.sh")
    shell(project, text)
    told(project, question)
    assert (planted / "env").exists()
    monkeypatch.setenv("PATH", f"{planted}:{os.environ['PATH']}")
    question, text = allowed(project, "env; git status; true")
    shell(project, text)
    told(project, question)
    assert list(tmp_path.glob("ran-*")) == []


README = {"may": ["Bash"], "locks": {"may": ["src/**", "tests/**"]}}


def test_an_agent_with_locks_commits_its_work(tmp_path: Path):
    """The host says where it stands by an absolute path."""
    if not holds(tmp_path / "trial") >= {"write", "network"}:
        pytest.skip("nothing here can confine commands")
    found = Project(tmp_path, {**CONFINED, "agents": {**CONFINED["agents"], "lead": README}})
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b.example"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], cwd=found.root, check=True)
    (found.root / "src").mkdir()
    for where in (".", "src"):
        command = f"cd {where}; echo x > {found.root}/src/new-{where[0]}; git add -A; {' '.join(git)} commit -qm work"
        question, text = allowed(found, f"bash -c {command!r}")
        done = shell(found, text)
        assert done.returncode == 0, done
        assert "moved aside" not in told(found, question)
    count = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=found.root, capture_output=True, check=True)
    assert count.stdout == b"3\n"
    found.run(json.dumps({"hook_event_name": "SessionEnd", "session_id": SESSION}).encode())


HANDLES = "ls /proc/$$/fd/7/ /proc/$$/fd/23/; echo x > /proc/$$/fd/23/made; cat <&7; cat <&12; ls /proc/self/fd"


def test_a_command_gets_no_handle_of_the_hosts_shell(project: Project, tmp_path: Path):
    """A folder that the shell has open would lead out, whatever the command may name."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret").write_text("secret\n")
    (project.root / "x.sh").write_text(HANDLES)
    question, text = allowed(project, "bash x.sh")
    opened = f"exec 7< / 23< {tmp_path}/outside 12< {tmp_path}/outside/secret; {text}; ls /proc/self/fd/23/"
    done = shell(project, opened)
    assert done.stdout.split() == ["0", "1", "2", "3", "secret"]  # 3 is what `ls` reads; the shell itself keeps its own
    assert os.listdir(tmp_path / "outside") == ["secret"]
    assert told(project, question) == ""


def test_a_ticket_that_nobody_takes_up_ends_with_the_session(project: Project):
    _, text = allowed(project, "touch made")
    end = json.dumps({"hook_event_name": "SessionEnd", "session_id": SESSION}).encode()
    project.run(end)
    assert list((confine_folder(project) / "tickets").iterdir()) == []
    assert shell(project, text).returncode != 0
    assert not (project.root / "made").exists()
    assert [entry for entry in project.entries() if entry["type"] == "confined"] == []


def test_what_runs_on_is_finished_later_and_ends_with_the_session(project: Project):
    question, text = allowed(project, "echo begun; exec sleep 1000")
    words = ["sh", "-c", f"bash -c '{text}'; :"]
    with subprocess.Popen(words, cwd=project.root, stdout=subprocess.PIPE) as running:
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == b"begun\n"
            assert told(project, question) == ""
            assert len(list((confine_folder(project) / "tickets").iterdir())) == 1
            project.run(json.dumps({"hook_event_name": "SessionEnd", "session_id": SESSION}).encode())
            running.wait(60)
        finally:
            running.kill()
    assert list((confine_folder(project) / "tickets").iterdir()) == []
    assert not list((confine_folder(project) / "sessions").glob("*"))


def test_a_rule_of_the_hosts_own_and_its_sandbox_are_in_the_way(project: Project):
    settings = project.root / ".claude" / "settings.json"
    settings.parent.mkdir(exist_ok=True)
    settings.write_text(json.dumps({"permissions": {"deny": ["Bash(touch:*)"]}}), "utf-8")
    project.ask("Bash", {"command": "true; touch made"}).denied("(host-rule)", "`Bash(touch:*)`")
    settings.write_text(json.dumps({"sandbox": {"enabled": True}}), "utf-8")
    project.ask("Bash", {"command": "ls"}).denied("(confine-unavailable)")
    settings.unlink()
    assert project.ask("Bash", {"command": "ls"}).decision == "allow"


def ended(project: Project, question: JSON, text: str) -> str:
    """What a command says; it is over for the hook, too."""
    done = shell(project, text)
    told(project, question)
    return done.stdout


def test_agents_of_one_session_share_neither_network_nor_temporary_files(tmp_path: Path):
    """One may do what the other may not: a server or a file of the first is no way for the second."""
    if not holds(tmp_path / "trial") >= {"write", "network"}:
        pytest.skip("nothing here can confine commands")
    agents = {**POLICY["agents"], "researcher": {"may": ["Bash"], "roles": ["team"]}}
    project = Project(tmp_path, {**CONFINED, "agents": agents})
    serve = "echo mine > /tmp/note; echo /tmp/*; cat /proc/net/unix | wc -l; readlink /proc/self/ns/net"
    said = []
    for agent in (None, "researcher", None):
        question = project.question("Bash", {"command": serve}, agent)
        answer = project.run(json.dumps(question).encode())
        assert answer.decision == "allow", answer
        said.append(ended(project, question, answer.answer["hookSpecificOutput"]["updatedInput"]["command"]).split())
    lead, other, again = said
    assert lead[-1] == again[-1] != other[-1]
    question = project.question("Bash", {"command": "ls /tmp/note*; cat /tmp/note"}, "researcher")
    text = project.run(json.dumps(question).encode()).answer["hookSpecificOutput"]["updatedInput"]["command"]
    assert ended(project, question, text) == "/tmp/note\nmine\n"  # its own, of before
    (folder,) = (confine_folder(project) / "scratch").iterdir()
    assert len(list(folder.iterdir())) == 2
    project.run(json.dumps({"hook_event_name": "SessionEnd", "session_id": SESSION}).encode())
    assert not folder.exists()


def test_a_question_that_is_asked_again_gives_one_run(project: Project):
    question, text = allowed(project, "echo x >> made")
    again = project.run(json.dumps(question).encode())
    if again.decision == "allow":
        assert again.answer["hookSpecificOutput"]["updatedInput"]["command"] == text
    assert shell(project, text).returncode == 0
    assert shell(project, text).returncode == 126
    told(project, question)
    assert (project.root / "made").read_text() == "x\n"


def test_the_end_of_another_session_ends_nothing(project: Project):
    question, text = allowed(project, "echo x > made")
    project.run(json.dumps({"hook_event_name": "SessionEnd", "session_id": "another"}).encode())
    assert shell(project, text).returncode == 0
    told(project, question)
    assert (project.root / "made").exists()


@pytest.mark.more
def test_a_daemon_that_dies_while_a_command_runs(tmp_path: Path):
    """The command goes on inside its limits; whoever is asked next, without the daemon, sweeps and records."""
    if not holds(tmp_path / "trial") >= {"write", "network"}:
        pytest.skip("nothing here can confine commands")
    project = Project(tmp_path, CONFINED)
    (project.root / "x.sh").write_text("echo begun; read x; mkdir sub; echo evil > sub/CLAUDE.md; echo x > good")
    daemon = project.serve()
    try:
        question, text = allowed(project, "bash x.sh")
        words = ["bash", "-c", text]
        pipe = subprocess.PIPE
        with subprocess.Popen(words, cwd=project.root, stdin=pipe, stdout=pipe) as running:
            assert running.stdout is not None
            assert running.stdout.readline() == b"begun\n"
            daemon.kill()
            daemon.communicate()
            running.communicate(b"on\n")
    finally:
        daemon.kill()
        daemon.communicate()
    assert "`sub/CLAUDE.md` is protected" in told(project, question)
    assert not (project.root / "sub/CLAUDE.md").exists()
    [ran] = (entry for entry in project.entries() if entry["type"] == "confined")
    assert_names(ran, "sub/CLAUDE.md")
    project.run(json.dumps({"hook_event_name": "SessionEnd", "session_id": SESSION}).encode())
