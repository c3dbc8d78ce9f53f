"""Remit, installed as `remit install` does it, in front of the real Copilot CLI, OpenCode, Codex and Gemini CLI."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.fake_model import Script
from tests.hosts.others import OTHERS, Other, other

pytestmark = pytest.mark.hosts


@pytest.fixture(params=OTHERS, ids=lambda kind: kind.name)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Other:
    return other(request.param, tmp_path)


@pytest.fixture
def installed(host: Other) -> Other:
    host.install()
    return host


def test_the_policy_decides_and_everything_is_in_the_ledger(installed: Other):
    host = installed
    calls = [host.write("notes/a.txt"), host.write("src/a.txt"), host.shell("rm -rf notes"), host.shell("touch b")]
    run = host.run({"main": [*calls, "done"]})
    assert host.files() >= {"notes/a.txt", "b"}
    assert "src/a.txt" not in host.files()
    assert ["Remit: " in text for text in run.said] == [False, True, True, False], run.said
    assert "notes/**" in run.said[1]
    host.remit("ledger", "verify")
    listed = host.remit("ledger", "show", "--json")
    assert listed.count('"outcome"') + listed.count("intent") > 0


def test_several_calls_of_one_turn(installed: Other):
    host = installed
    host.run({"main": [[host.write("notes/a.txt"), host.write("src/a.txt"), host.write("notes/b.txt")], "done"]})
    assert {one for one in host.files() if one.endswith(".txt")} == {"notes/a.txt", "notes/b.txt"}


@pytest.mark.parametrize("kind", [one for one in OTHERS if one.agents is not None], ids=lambda kind: kind.name)
def test_a_subagent_has_its_own_rules(kind: type[Other], tmp_path: Path):
    host = other(kind, tmp_path)
    host.install()
    script: Script = {
        "main": [host.hand("scribe"), host.shell("pwd"), host.shell("pwd"), "done"],
        "scribe": [host.write("scribe/a.txt"), host.write("notes/a.txt"), "done"],
    }
    run = host.run(script)
    assert len(run.model.of("scribe")) >= 2, [one.who for one in run.model.asked]
    assert "scribe/a.txt" in host.files()
    assert "notes/a.txt" not in host.files()


def test_an_observed_agent_is_recorded_and_let_through(host: Other):
    host.observed = True
    host.install()
    host.run({"main": [host.write("src/a.txt"), "done"]})
    assert "src/a.txt" in host.files()
    assert '"would"' in host.remit("ledger", "show", "--json")


def test_status_probe_and_uninstall(host: Other):
    before = {path: path.read_bytes() for path in (host.home / host.folder).rglob("*") if path.is_file()}
    host.install()
    assert "denied as they must be" in host.remit("status", "--probe")
    host.remit("uninstall", host.name, "--yes")
    after = {path: path.read_bytes() for path in (host.home / host.folder).rglob("*") if path.is_file()}
    assert after == before
    host.run({"main": [host.write("src/a.txt"), "done"]})
    assert "src/a.txt" in host.files()
