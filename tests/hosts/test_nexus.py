"""The nexus story in the real Claude Code: a plan gate, tier 3 acknowledged by the Orchestrator, tier 4 by a person."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.compile.file import read_rulebook, rulebook_path
from remit.compile.tasks import task_from
from remit.grant.authority import Authority
from remit.record.vault import Vault
from tests.grant.world import open_state
from tests.hosts.claude import Claude
from tests.hosts.fake_model import Use
from tests.hosts.terminal import QUESTION, Step, in_terminal
from tests.hosts.test_claude_code import HAND, remit
from tests.hosts.test_living import state_of

pytestmark = pytest.mark.hosts

NEXUS = Path(__file__).parents[2] / "examples" / "nexus" / "remit.yaml"
INSTALL = {"command": "npm install left-pad"}
PLAN = [{"Bash": {"shell": {"run": [{"npm": ["install"]}]}}}]
SAID = {"intent": "do it", "because": "the plan says so", "consequences": "one more of it"}


def own(own_tool: str, /, **args: Any) -> Use:
    return Use(f"mcp__remit__{own_tool}", args)


def with_authority(claude: Claude, do: Callable[[Authority], Any]) -> Any:
    """What a person does, who has set no passphrase here."""
    state = state_of(claude)
    store = open_state(state)
    try:
        return do(Authority(store, Vault(store, state / "keys")))
    finally:
        store.close()


@pytest.fixture
def nexus(claude: Claude) -> Claude:
    """The example as it stands, with a task whose plan a person has passed."""
    claude.env["XDG_STATE_HOME"] = str(claude.home / "state")
    tools = claude.home / "bin"
    tools.mkdir()
    npm = tools / "npm"
    npm.write_text('#!/bin/sh\necho "$@" >> installed\n')
    npm.chmod(0o755)
    claude.env["PATH"] = f"{tools}:/usr/bin:/bin"
    shutil.copy(NEXUS, claude.project / "remit.yaml")
    claude.put("src/auth/login.py", "a\n")
    claude.agent("Builder")
    remit(claude, "activate", "--yes")
    remit(claude, "install", "claude-code", "--yes")
    rulebook = read_rulebook(rulebook_path(claude.project))
    task = task_from(rulebook, {"id": "TASK-1", "agent": "Orchestrator", "goal": "ship it", "plan": PLAN})
    with_authority(claude, lambda found: found.issue(rulebook, task))
    with_authority(claude, lambda found: found.pass_gate("TASK-1", "requirements", by="ann"))
    with_authority(claude, lambda found: found.pass_gate("TASK-1", "plan", by="ann"))
    return claude


class Runs(list[Any]):
    """What an agent does each time that it is started; `before` is called before a turn of a run."""

    def __init__(self, *runs: list[Any], before: dict[tuple[int, int], Callable[[], Any]] | None = None) -> None:
        super().__init__(runs[0])
        self.runs, self.run, self.turn, self.before = runs, -1, -1, before or {}

    def __len__(self) -> int:
        return 99

    def __getitem__(self, turn: Any) -> Any:
        self.run, self.turn = self.run + (turn == 0), turn
        self.before.get((self.run, turn), lambda: None)()
        turns = self.runs[self.run]
        return turns[turn] if turn < len(turns) else "done"


def story(claude: Claude, before: dict[tuple[int, int], Callable[[], Any]] | None = None) -> dict[str, Any]:
    """The Orchestrator hands work on, acknowledges what waits for it, and hands it on again."""
    login = {"file_path": str(claude.project / "src/auth/login.py"), "content": "b\n"}
    start = Use("Agent", {**HAND, "subagent_type": "Builder"})
    acknowledge = own("remit_acknowledge", approval="A-1", answer="approve")
    first = [Use("Bash", INSTALL), own("remit_request", tool="Bash", args=INSTALL, **SAID), acknowledge, "A-1 waits"]
    second = [
        Use("Bash", INSTALL),
        Use("Read", {"file_path": login["file_path"]}),
        Use("Write", login),
        own("remit_request", tool="Write", args=login, **SAID),
        Use("Write", login),
        "done",
    ]
    main = [start, own("remit_waiting"), acknowledge, start, "done"]
    return {"main": main, "Builder": Runs(first, second, before=before)}


def told(session: Any) -> list[str]:
    return [result.text for result in session.model.results("Builder")]


def test_a_person_answers_in_the_inbox(nexus: Claude):
    def approve() -> None:
        assert (nexus.project / "src/auth/login.py").read_text() == "a\n"
        with_authority(nexus, lambda found: found.answer("A-2", "approve", by="ann"))

    run = nexus.run(story(nexus, {(1, 4): approve}), mode="dontAsk")
    builder = told(run)
    assert "state your intent" in builder[0]
    assert json.loads(builder[1])["approval"] == "A-1"
    assert run.model.results("Builder")[2].is_error  # nobody acknowledges itself
    waiting = json.loads(run.said[1])["waiting"]
    assert [(one["approval"], one["args"]["command"]) for one in waiting] == [("A-1", INSTALL["command"])]
    assert json.loads(run.said[2])["state"] == "approved"
    assert (nexus.project / "installed").read_text() == "install left-pad\n"
    assert "state your intent" in builder[5]
    assert json.loads(builder[6])["approval"] == "A-2"
    assert (nexus.project / "src/auth/login.py").read_text() == "b\n"
    remit(nexus, "ledger", "verify")


def test_a_person_answers_in_the_terminal(nexus: Claude):
    # How often the host asks the main model while subagents work in the background is its own affair: the Builder's
    # last answer is the end.
    steps: list[Step] = [(QUESTION, ["1"]), (lambda model: len(model.results("Builder")) >= 8, [])]
    session = in_terminal(nexus, story(nexus), steps)
    assert session.steps == 1 + len(steps), session.screen[-3000:]
    assert (nexus.project / "installed").exists()
    assert (nexus.project / "src/auth/login.py").read_text() == "b\n"
    assert with_authority(nexus, lambda found: found.waiting()) == []


def test_without_the_hook_its_server_does_nothing(nexus: Claude):
    for place in (nexus.project / ".claude" / "settings.json", nexus.config / "settings.json"):
        if place.exists():
            place.write_text("{}")
    run = nexus.run({"main": [own("remit_waiting"), "done"]}, mode="bypassPermissions")
    assert "no hook of Remit has seen this call" in run.said[0]
