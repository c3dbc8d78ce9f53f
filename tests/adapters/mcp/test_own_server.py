"""Remit's own tools in a host: the hook stamps a call, and the server believes nothing else."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters

from remit.adapters.hooks import stamp
from remit.adapters.install.own_server import server_command
from remit.adapters.mcp.server import OwnTools
from remit.declare.load import read_pack
from remit.enforce.own import _TOOLS
from remit.enforce.own_names import OWN, OWN_IN_HOST
from tests.adapters.hooks.project import HOST, JSON, Project
from tests.adapters.hooks.test_authority import authority, hand

POLICY: JSON = {
    "remit": 1,
    "name": "own",
    "use": ["claude-code", "remit"],
    "hosts": {HOST: {"main": "lead"}},
    "include": ["team.yaml"],
    "agents": {
        "lead": {
            "may": ["Read", "Task", "remit_why", "remit_waiting", "remit_acknowledge", "remit_delegate"],
            "delegates_to": ["asker", "researcher"],
            "acknowledges": True,
        },
        "asker": {
            "may": [
                "Read",
                "remit_why",
                "remit_request",
                "remit_task",
                {"Bash": {"shell": {"run": [{"npm": ["install"]}]}}},
            ],
            "capsule": "required",
        },
        "researcher": {"may": ["Read", "remit_acknowledge", "remit_request"], "acknowledges": True},
    },
    "tiers": {
        3: {"ask": "chain", "planned": True, "statement": "required"},
        4: {"ask": "human", "statement": "required"},
    },
}
QUIET: dict[str, Any] = {"permission_mode": "dontAsk"}
INSTALL = {"command": "npm install left-pad"}
SAID = {"intent": "add left-pad", "because": "the plan says so", "consequences": "one more dependency"}
PLAN = [{"Bash": {"shell": {"run": [{"npm": ["install"]}]}}}]


class Own(Project):
    """A project whose agents turn to Remit."""

    def stamped(self, tool: str, args: JSON, agent: str | None = None, **more: Any) -> JSON:
        """The arguments as the host passes them on; fails unless the hook allowed the call."""
        said = self.ask(f"mcp__remit__{tool}", args, agent, **QUIET, **more)
        assert said.decision == "allow", said
        found: JSON = said.answer["hookSpecificOutput"]["updatedInput"]
        return found

    def own(self, tool: str, args: JSON, agent: str | None = None) -> JSON:
        """A whole call of such a tool; fails unless it answers."""
        text, failed = OwnTools(HOST, self.state).call(tool, self.stamped(tool, args, agent))
        assert not failed, text
        found: JSON = json.loads(text)
        return found

    def try_to(self, tool: str, args: JSON, words: str) -> None:
        """Fails unless the server refuses these arguments with these words."""
        text, failed = OwnTools(HOST, self.state).call(tool, args)
        assert failed, text
        assert words in text

    def start(self, agent: str) -> None:
        """The main agent hands work to another one."""
        args = {"description": "d", "prompt": "p", "subagent_type": agent}
        assert self.ask("Agent", args, **QUIET).decision == "allow"


@pytest.fixture
def project(tmp_path: Path) -> Own:
    found = Own(tmp_path, POLICY)
    hand(found, id="TASK-1", agent="lead", plan=PLAN)
    with authority(found) as own:
        own.pass_gate("TASK-1", "plan", by="ann")
    found.start("asker")
    return found


@pytest.fixture
def calm(tmp_path: Path) -> Own:
    return Own(tmp_path, POLICY)


def test_a_planned_call_is_stated_acknowledged_and_made(project: Own):
    project.ask("Bash", INSTALL, "asker", **QUIET).denied("state your intent", "remit_request")
    asked = project.own("remit_request", {"tool": "Bash", "args": INSTALL, **SAID}, "asker")
    assert (asked["decision"], asked["approval"]) == ("ask", "A-1")
    project.ask("Bash", INSTALL, "asker", **QUIET).denied("it waits as A-1", "when lead has approved it")
    [waiting] = project.own("remit_waiting", {})["waiting"]
    assert (waiting["approval"], waiting["args"], waiting["statement"]["intent"]) == ("A-1", INSTALL, SAID["intent"])
    assert waiting["anticipated"] is True
    assert project.own("remit_acknowledge", {"approval": "A-1", "answer": "approve"})["state"] == "approved"
    question = project.question("Bash", INSTALL, "asker", **QUIET)
    assert project.run(question).decision == "allow"
    assert project.intent(question)["capsule"] == "TASK-1.asker"
    with authority(project) as own:
        assert own.state("TASK-1").spent["plan[0]"] == 1  # the plan that was used is the parent's
    project.ask("Bash", INSTALL, "asker", **QUIET).denied("state your intent")
    project.verify()


def test_outside_the_plan_a_person_is_asked(project: Own):
    args = {"command": "npm install left-pad && npm install right-pad > x"}
    asked = project.own("remit_request", {"tool": "Bash", "args": args, **SAID}, "asker")
    assert asked["decision"] == "deny"  # nobody may write x
    with authority(project) as own:
        own.end("TASK-1", by="ann")
    hand(project, id="TASK-2", agent="lead")
    project.own("remit_request", {"tool": "Bash", "args": INSTALL, **SAID}, "asker")
    with authority(project) as own:
        [waiting] = own.waiting()
    assert waiting.ask.of == "human"
    said = project.ask("mcp__remit__remit_acknowledge", {"approval": "A-1", "answer": "approve"}, **QUIET)
    project.try_to("remit_acknowledge", said.answer["hookSpecificOutput"]["updatedInput"], "(not-asked)")


def test_nobody_acknowledges_itself(project: Own):
    project.start("researcher")
    project.own("remit_request", {"tool": "Bash", "args": INSTALL, **SAID}, "asker")
    own = {"approval": "A-1", "answer": "approve"}
    project.ask("mcp__remit__remit_acknowledge", own, "asker", **QUIET).denied("not-permitted")
    project.try_to("remit_acknowledge", project.stamped("remit_acknowledge", own, "researcher"), "(not-asked)")


def test_only_a_fresh_stamp_of_exactly_this_call_counts(calm: Own, monkeypatch: pytest.MonkeyPatch):
    args = {"tool": "Read", "args": {"file_path": "README.md"}}
    good = calm.stamped("remit_why", args)
    calm.try_to("remit_why", args, "no hook of Remit has seen this call")
    calm.try_to("remit_waiting", good, "the stamp is for another tool")
    calm.try_to("remit_why", {**good, "tool": "Write"}, "not those that the hook has judged")
    calm.try_to("remit_why", {**good, "more": 1}, "not those that the hook has judged")
    body, _, mac = good[stamp.FIELD].partition(".")
    for bad in (
        f"{body}.{mac[:-1]}",
        f"{body}.{'0' * 64}",
        f"{body[:-4]}AAAA.{mac}",
        body,
        "",
        7,
        None,
        "ä",
        "x" * 99999,
    ):
        calm.try_to("remit_why", {**good, stamp.FIELD: bad}, "Remit: ")
    text, failed = OwnTools(HOST, calm.state).call("remit_why", good)
    assert (json.loads(text)["decision"], failed) == ("allow", False)
    calm.try_to("remit_why", good, "was used already")
    late = calm.stamped("remit_why", args)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + stamp.LIFE + 5)
    calm.try_to("remit_why", late, "has run out")
    monkeypatch.setattr(time, "time", lambda: now - 60)
    calm.try_to("remit_why", late, "has run out")


def test_another_projects_stamp_counts_for_nothing(calm: Own, tmp_path: Path):
    (tmp_path / "other").mkdir()
    other = Own(tmp_path / "other", POLICY)
    calm.try_to("remit_waiting", other.stamped("remit_waiting", {}), "is not from Remit's hook")


def test_an_agent_can_not_bring_a_stamp_along(calm: Own):
    good = calm.stamped("remit_waiting", {})
    calm.ask("mcp__remit__remit_waiting", good, **QUIET).denied("undeclared-argument")


def test_the_key_is_its_owners_alone(calm: Own):
    good = calm.stamped("remit_waiting", {})
    key = calm.state / "keys" / "stamp"
    assert key.stat().st_mode & 0o777 == 0o600
    os.chmod(key, 0o644)
    calm.try_to("remit_waiting", good, "Remit: ")
    calm.ask("mcp__remit__remit_waiting", {}, **QUIET).denied("stamp")
    os.chmod(key, 0o600)
    key.write_bytes(b"short")
    calm.ask("mcp__remit__remit_waiting", {}, **QUIET).denied("is damaged")


@pytest.fixture
def choosing(tmp_path: Path) -> Iterator[Own]:
    found = Own(tmp_path, POLICY)
    for name in ("TASK-1", "TASK-2"):
        hand(found, id=name, agent="asker")
    found.start("asker")
    yield found
    found.verify()


def test_an_agent_with_several_tasks_chooses_one(choosing: Own):
    read = {"file_path": "README.md"}
    choosing.ask("Read", read, "asker", **QUIET).denied("has several tasks", "remit_task")
    listed = choosing.own("remit_task", {}, "asker")
    assert ([one["capsule"] for one in listed["tasks"]], listed["chosen"]) == (["TASK-1", "TASK-2"], None)
    assert choosing.own("remit_task", {"capsule": "TASK-2"}, "asker")["chosen"] == "TASK-2"
    assert choosing.ask("Read", read, "asker", **QUIET).decision == "allow"
    assert choosing.intent()["capsule"] == "TASK-2"
    choosing.try_to("remit_task", choosing.stamped("remit_task", {"capsule": "TASK-9"}, "asker"), "no open task")
    with authority(choosing) as own:
        own.end("TASK-2", by="ann")
    assert choosing.ask("Read", read, "asker", **QUIET).decision == "allow"
    assert choosing.intent()["capsule"] == "TASK-1"  # the only one that is left


def test_a_choice_is_of_one_session(choosing: Own):
    choosing.own("remit_task", {"capsule": "TASK-2"}, "asker")
    args = {"description": "d", "prompt": "p", "subagent_type": "asker"}
    choosing.ask("Agent", args, session_id="other", **QUIET)
    choosing.ask("Read", {"file_path": "README.md"}, "asker", session_id="other", **QUIET).denied("several tasks")


def test_work_is_handed_on_within_the_task(project: Own):
    made = project.own("remit_delegate", {"agent": "asker", "goal": "install it", "may_not": [{"effect": "publish"}]})
    with authority(project) as own:
        assert own.state(made["capsule"]).task.capsule.parent == "TASK-1"


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28", "auto"])
def test_the_real_client_speaks_with_it(project: Own, mode: str):
    """The program as a host starts it, and the protocol's own client, in both eras."""
    given = project.stamped("remit_why", {"tool": "Bash", "args": INSTALL}, "asker")
    first, *rest = server_command(project.state, HOST)
    server = StdioServerParameters(command=first, args=rest, env=project.environment(), cwd=str(project.root))

    async def talk() -> tuple[list[str], Any, Any]:
        async with Client(server, mode=mode) as client:
            tools = await client.list_tools()
            return (
                [tool.name for tool in tools.tools],
                await client.call_tool("remit_why", given),
                await client.call_tool("remit_why", {"tool": "Bash", "args": INSTALL}),
            )

    names, answered, refused = anyio.run(talk)
    assert names == sorted(
        ["remit_acknowledge", "remit_delegate", "remit_request", "remit_task", "remit_waiting", "remit_why"]
    )
    assert not answered.is_error
    assert json.loads(answered.content[0].text)["decision"] == "ask"
    assert refused.is_error
    assert "no hook of Remit has seen this call" in refused.content[0].text


def test_every_tool_of_the_pack_is_served():
    assert set(_TOOLS) == OWN
    assert set(read_pack("remit")) == OWN_IN_HOST
