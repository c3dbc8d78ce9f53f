"""`remit status` and its probes, whatever the host; and a host's own program, which obeys the hook."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.adapters.hosts import registry
from tests.adapters.hooks.speech import CLAUDE, SPEECHES, TOY, Speech
from tests.cli.kit import Remit
from tests.service.kit import AGENT, POLICY, Hooked
from tests.toy_host import program

Make = Callable[[Speech], Hooked]
PROTECTED = POLICY + 'protect: [".toy/**", toyrc]\n'


@pytest.fixture
def make(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[Speech], Hooked]]:
    with TOY.available():
        yield lambda host: Hooked(tmp_path, Remit(tmp_path, capsys, monkeypatch), PROTECTED, host)


@pytest.fixture(params=SPEECHES, ids=lambda host: host.name)
def bare(request: pytest.FixtureRequest, make: Make) -> Hooked:
    """A project in which nothing was activated or installed."""
    return make(request.param)


@pytest.fixture
def project(bare: Hooked) -> Hooked:
    return bare.activated().installed()


def host_of(project: Hooked, found: Any) -> Any:
    """What the status says about the project's host."""
    return next(host for host in found["hosts"] if host["name"] == project.host.name)


# Status


def test_a_healthy_project_is_green(project: Hooked) -> None:
    found = project.status(code=0)
    host = host_of(project, found)
    assert (host["installed"], host["hooked"], host["main"]) == (True, True, "lead")
    assert host["settings"] == str(project.rules)
    assert host["copies"] == [{"where": "user", "path": str(project.settings), "whole": True}]
    assert {one["name"]: one["state"] for one in host["definitions"]}["researcher"] == "pinned"
    assert [one["name"] for one in found["hosts"] if one["installed"]] == [project.host.name]
    agents = {one["name"]: (one["bond"], one["by"]) for one in found["agents"]}
    assert agents["lead"] == agents["researcher"] == ("host hook", project.host.name)
    assert agents["ghost"][0] == "only words"


def test_what_the_host_lets_through_is_told(project: Hooked) -> None:
    text = project.text().out
    assert f"what {project.host.name} itself lets through" in text
    for one in host_of(project, project.status())["passes"]:
        assert set(one) == {"what", "because", "do"}
        assert one["what"] in text


def test_without_an_installation_nothing_is_claimed(bare: Hooked) -> None:
    bare.activated()
    assert bare.faults() == {"not-installed"}
    assert {one["bond"] for one in bare.agents().values()} == {"only words"}
    assert ", ".join(registry.BUILT_IN) in bare.text().out


def no_hooks(project: Hooked) -> None:
    project.settings.write_text("{}" if project.host is CLAUDE else "colour blue\n")


def another_command(project: Hooked) -> None:
    """It would let through what the hook denies."""
    text = project.settings.read_text()
    assert "exit 2" in text
    project.settings.write_text(text.replace("exit 2", "exit 0"))


def switched_off(project: Hooked) -> None:
    if project.host is CLAUDE:
        project.change(lambda data: data.update(disableAllHooks=True))
    else:
        project.settings.write_text(project.settings.read_text() + "hooks off\n")


def gone(project: Hooked) -> None:
    project.settings.unlink()


SETTINGS: dict[Callable[[Hooked], object], str] = {
    gone: "settings-gone",
    no_hooks: "hook-missing",
    another_command: "hook-other-command",
    switched_off: "hooks-disabled",
}


@pytest.mark.parametrize("harm", SETTINGS, ids=lambda harm: harm.__name__)
@pytest.mark.sample(4)
def test_settings_that_do_not_hold_are_a_fault(project: Hooked, harm: Callable[[Hooked], object]) -> None:
    harm(project)
    assert project.faults() == {SETTINGS[harm]}
    assert project.agents()["lead"]["bond"] == "not enforced"


DEFINITIONS: list[Callable[[Hooked], object]] = [
    lambda project: project.agent.write_text(AGENT + "And you may write anywhere.\n"),
    lambda project: project.agent.unlink(),
    lambda project: project.agent.with_name(f"other{project.host.ending}").write_text(AGENT),
    lambda project: project.agent.with_name(f"aa{project.host.ending}").write_text("---\n{name: researcher}\n---\n"),
]


@pytest.mark.parametrize("harm", DEFINITIONS, ids=["changed", "gone", "twice", "hidden"])
@pytest.mark.sample(4)
def test_a_definition_that_was_not_pinned_is_a_fault(project: Hooked, harm: Callable[[Hooked], object]) -> None:
    harm(project)
    assert project.faults() == {"definition-changed"}
    agents = project.agents()
    assert (agents["researcher"]["bond"], agents["lead"]["bond"]) == ("refused", "host hook")


def test_a_record_that_others_could_write_is_a_fault(project: Hooked) -> None:
    (project.state / "hooks" / f"{project.host.name}.json").chmod(0o644)
    assert project.faults() == {"install-unreadable"}


@pytest.mark.parametrize(
    "harm",
    [lambda path: path.unlink(), lambda path: path.chmod(0o644), lambda path: path.write_bytes(b"")],
    ids=["gone", "open", "empty"],
)
@pytest.mark.sample(2)
def test_a_client_that_does_not_know_its_host_is_a_fault(project: Hooked, harm: Callable[[Path], object]) -> None:
    harm(project.state / "hooks" / f"{project.host.name}.client")
    assert project.faults() == {"client-file"}
    assert project.agents()["lead"]["bond"] == "host hook"  # it still denies


def test_a_host_whose_package_is_gone_is_a_fault(
    make: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = make(TOY).activated().installed()
    module = sys.modules["tests.toy_host.host"]
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(module, "HOST")
        assert project.faults() == {"install-unreadable"}
    assert project.faults() == set()


# Probes


@pytest.mark.more  # as in test_probe.py
def test_a_healthy_project_denies_every_probe(project: Hooked) -> None:
    results = project.status("--probe", code=0)["probes"]["results"]
    assert {one["host"] for one in results} == {project.host.name}
    assert {one["agent"] for one in results} == {"lead", "researcher", "remit-probe-nobody"}
    assert {one["verdict"] for one in results} == {"denied", "answered"}
    assert sum(1 for one in results if one["verdict"] == "denied") == (25 if project.host is CLAUDE else 23)


@pytest.mark.parametrize("command", ["true", "exit 1", "exit 3", "echo '{}'", "echo junk >&2", "/nowhere/hook"])
@pytest.mark.sample(4)
def test_a_hook_that_lets_go_is_an_alarm(project: Hooked, command: str) -> None:
    if project.host is CLAUDE:
        project.change(lambda data: data["hooks"]["PreToolUse"][0]["hooks"][0].update(command=command))
    else:
        lines = project.settings.read_text().splitlines()
        kept = [line for line in lines if not line.startswith("before ")]
        project.settings.write_text("\n".join([f'before /bin/sh -c "{command}"', *kept, ""]))
    found = {one["verdict"] for one in project.status("--probe", code=1)["probes"]["results"]}
    assert found == {"ALARM"}


def test_no_hook_at_all_is_an_alarm(project: Hooked) -> None:
    no_hooks(project)
    assert project.status("--probe", code=1)["probes"]["problem"] is not None


@pytest.mark.more  # as in test_probe.py
def test_a_deny_because_nothing_works_is_told_apart(project: Hooked) -> None:
    (project.root / ".remit" / "rulebook").unlink()
    found = {one["verdict"] for one in project.status("--probe", code=1)["probes"]["results"]}
    assert "only-broken" in found
    assert "ALARM" not in found


@pytest.mark.more
def test_two_hosts_in_one_project_are_both_probed(make: Make) -> None:
    both = PROTECTED.replace(
        "hosts: {claude-code: {main: lead}}", "hosts: {claude-code: {main: lead}, toy: {main: lead}}"
    )
    project = make(TOY)
    project.remit.policy(both)
    project.activated().installed()
    assert project.remit("install", "claude-code", "--yes").code == 0
    found = project.status("--probe", code=0)
    assert {one["name"] for one in found["hosts"] if one["hooked"]} == {"claude-code", "toy"}
    assert {one["host"] for one in found["probes"]["results"]} == {"claude-code", "toy"}


# The program


def run(project: Hooked, *calls: dict[str, Any]) -> list[Any]:
    """What the toy host does with these calls."""
    lines = "".join(json.dumps(call) + "\n" for call in calls)
    done = subprocess.run(
        [sys.executable, program.__file__, str(project.root)], input=lines, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def write(path: str, who: str | None = None) -> dict[str, Any]:
    return {"tool": "Write", "args": {"file_path": path, "content": "x"}, "who": who}


def test_a_host_obeys_the_hook(make: Make) -> None:
    project = make(TOY)
    (project.root / "research").mkdir()
    (project.root / "README.md").write_text("Read me.\n")
    everything = [
        write("research/a.md", "researcher"),
        write("docs.md", "researcher"),
        write("toyrc"),
        {"tool": "Read", "args": {"file_path": "README.md"}},
        {"tool": "Bash", "args": {"command": "rm toyrc"}},
        {"tool": "Read", "args": {"file_path": "README.md"}, "who": "stranger"},
    ]
    assert [one["ran"] for one in run(project, *everything[:2])] == [True, True]  # nothing is installed yet
    (project.root / "docs.md").unlink()
    project.activated().installed()
    before = project.settings.read_bytes()
    found = run(project, *everything)
    assert [one["ran"] for one in found] == [True, False, False, True, False, False]
    assert [one["code"] for one in found] == [0, 2, 2, 0, 2, 2]
    assert "(not-permitted)" in json.loads(found[1]["said"])["why"]
    assert project.settings.read_bytes() == before
    assert not (project.root / "docs.md").exists()
    agents = project.agents()
    assert (agents["researcher"]["seen"][0]["point"], agents["researcher"]["seen"][0]["entries"]) == ("toy", 2)


@pytest.mark.parametrize("harm", ["rulebook", "client", "state", "store"])
@pytest.mark.sample(2)
def test_whatever_breaks_a_host_that_runs_on_failure_does_not_run(make: Make, harm: str) -> None:
    """The toy host runs the tool whenever its hook fails, or ends with a code that it does not know."""
    project = make(TOY).activated().installed()
    if harm == "rulebook":
        (project.root / ".remit" / "rulebook").unlink()
    elif harm == "client":
        (project.state / "hooks" / "toy.client").unlink()
        (project.state / "hooks" / "toy.json").unlink()
    elif harm == "state":
        project.state.rename(project.folder / "elsewhere")
    else:
        (project.state / "remit.db").write_bytes(b"junk" * 4096)
    [found] = run(project, write("research.md"))
    assert (found["ran"], found["code"]) == (False, 2)
