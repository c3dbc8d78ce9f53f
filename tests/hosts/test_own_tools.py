"""Remit's own tools in the real Copilot CLI, OpenCode, Codex and Gemini CLI: registered and stamped."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.compile.file import read_rulebook, rulebook_path
from remit.compile.tasks import task_from
from remit.grant.authority import Authority
from remit.record.vault import Vault
from tests.grant.world import open_state
from tests.hosts.fake_model import Use
from tests.hosts.others import OTHERS, Codex, Copilot, Gemini, OpenCode, Other, other
from tests.hosts.test_nexus import PLAN, SAID, Runs

pytestmark = pytest.mark.hosts

START = {Copilot: "remit-", OpenCode: "remit_", Codex: "mcp__remit.", Gemini: "mcp_remit_"}
SHELL = {Copilot: "bash", OpenCode: "bash", Codex: "Bash", Gemini: "run_shell_command"}
PATIENCE = 40.0
"""Seconds for another agent."""
COMMAND = "npm install left-pad"
POLICY = """\
remit: 1
name: own
use: [HOST, remit]
hosts: {HOST: {main: lead}}
agents:
  lead:
    may: [HANDS remit_why, remit_waiting, remit_acknowledge, remit_request, {TOOL: {shell: {run: [touch]}}}]
    DELEGATES
    acknowledges: true
AGENTS
tiers:
  3: {ask: chain, planned: true, statement: required}
  4: {ask: human, statement: required}
"""
SCRIBE = """\
  scribe:
    may: [remit_request, remit_acknowledge, {TOOL: {shell: {run: [{npm: [install]}]}}}]
    capsule: required
"""


class Team:
    """A host with a lead, a scribe where the host names its agents, and a task whose plan a person has passed."""

    def __init__(self, host: Other) -> None:
        self.host, self.kind = host, type(host)
        tools = host.home / "bin"
        tools.mkdir()
        (tools / "npm").write_text('#!/bin/sh\necho "$@" >> installed\n')
        (tools / "npm").chmod(0o755)
        hand = host.hand("scribe").tool.rpartition(".")[2] + "," if host.agents is not None else ""
        text = POLICY.replace("AGENTS", SCRIBE if host.agents is not None else "").replace("HOST", host.name)
        text = text.replace("DELEGATES", "delegates_to: [scribe]" if host.agents is not None else "")
        host.put("remit.yaml", text.replace("HANDS", hand).replace("TOOL", SHELL[self.kind]))
        if host.agents is not None:
            host.define("scribe")
        host.remit("activate", "--yes")
        host.remit("install", host.name, "--yes")
        rulebook = read_rulebook(rulebook_path(host.project))
        plan = [{SHELL[self.kind]: one["Bash"]} for one in PLAN] if host.agents is not None else []
        task = task_from(rulebook, {"id": "TASK-1", "agent": "lead", "goal": "ship it", "plan": plan})
        self.do(lambda found: found.issue(rulebook, task))
        if plan:
            self.do(lambda found: found.pass_gate("TASK-1", "plan", by="ann"))
        host.env["PATH"] = f"{tools}:{os.environ['PATH']}"

    def do(self, what: Callable[[Authority], Any]) -> Any:
        store = open_state(self.host.state)
        try:
            return what(Authority(store, Vault(store, self.host.state / "keys")))
        finally:
            store.close()

    def own(self, own_tool: str, /, **args: Any) -> Use:
        return Use(START[self.kind] + own_tool, args)


@pytest.fixture(params=OTHERS, ids=lambda kind: kind.name)
def team(request: pytest.FixtureRequest, tmp_path: Path) -> Team:
    return Team(other(request.param, tmp_path))


def until(ready: Callable[[], object]) -> Callable[[], None]:
    """Waits, as long as a session may take."""

    def wait() -> None:
        end = time.monotonic() + PATIENCE
        while not ready() and time.monotonic() < end:
            time.sleep(0.1)

    return wait


@pytest.mark.parametrize("kind", [one for one in OTHERS if one.agents is not None], ids=lambda kind: kind.name)
def test_one_agent_asks_and_another_acknowledges(kind: type[Other], tmp_path: Path):
    team = Team(other(kind, tmp_path))
    host = team.host
    call = {"command": COMMAND} if kind is Codex else host.shell(COMMAND).input  # as its hooks are told
    request = team.own("remit_request", tool=SHELL[kind], args=call, **SAID)
    acknowledge = team.own("remit_acknowledge", approval="A-1", answer="approve")
    scribe = Runs([host.shell(COMMAND), request, acknowledge, "A-1 waits"], [host.shell(COMMAND), "done"])
    main = Runs(
        [
            host.hand("scribe"),
            team.own("remit_waiting"),
            acknowledge,
            host.hand("scribe"),
            host.shell("touch x"),
            "done",
        ],
        before={
            (0, 1): until(lambda: scribe.turn >= 3),
            (0, 4): until(lambda: scribe.run == 1 and scribe.turn >= 1),
        },
    )
    run = host.run({"main": main, "scribe": scribe})
    told = [one.text for one in run.model.results("scribe")]
    assert "state your intent" in told[0]
    assert '"approval":"A-1"' in told[1]
    assert "Remit" in told[2], "nobody acknowledges itself"
    assert any('"state":"approved"' in text for text in run.said), run.said
    assert "Remit" not in told[3], told
    host.remit("ledger", "verify")


def test_what_is_told_and_a_person_answers(team: Team):
    host, call = team.host, {"command": "rm -rf /srv/x"}
    calls = [
        team.own("remit_why", tool=SHELL[team.kind], args={"command": "touch x"}),
        team.own("remit_why", tool=SHELL[team.kind], args=call),
        team.own("remit_why", tool=SHELL[team.kind], args=call, remit_stamp="forged"),
    ]
    run = host.run({"main": [*calls, "done"]})
    assert '"decision":"allow"' in run.said[0]
    assert '"decision":"deny"' in run.said[1]
    assert '"decision"' not in run.said[2], run.said[2]
    assert host.agents is not None or not any("remit_acknowledge" in name for name in run.model.offered())


def test_without_the_hook_its_server_does_nothing(team: Team):
    host = team.host
    settings = host.home / {Copilot: ".copilot/hooks/remit.json", Gemini: ".gemini/settings.json"}.get(
        team.kind, "missing"
    )
    if team.kind is Codex:
        run = host.run({"main": [team.own("remit_waiting"), "done"]}, "--disable", "hooks")
    elif team.kind is OpenCode:
        run = host.run({"main": [team.own("remit_waiting"), "done"]}, env={"OPENCODE_PURE": "1"})
        assert '"waiting"' not in "".join(run.said)  # the floor denies it already
        return
    else:
        said = json.loads(settings.read_text())
        settings.write_text(json.dumps({key: value for key, value in said.items() if key != "hooks"}))
        run = host.run({"main": [team.own("remit_waiting"), "done"]})
    assert "no hook of Remit has seen this call" in run.said[0]


def test_a_session_elsewhere_has_a_server_without_tools(team: Team, tmp_path: Path):
    place = tmp_path / "elsewhere"
    place.mkdir()
    host = team.host
    run = host.run({"main": [host.shell("touch y"), "done"]}, cwd=place)
    assert (place / "y").exists(), run.said
    assert not any("remit" in name for name in run.model.offered())
    host.remit("uninstall", host.name, "--yes")
    left = [path for path in host.home.rglob("*") if path.is_file() and b"remit/hosts" in path.read_bytes()]
    assert [path for path in left if path.suffix in (".json", ".toml")] == []
