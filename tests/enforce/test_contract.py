"""What an agent is made with: no unknown tool, and none outside its remit."""

from __future__ import annotations

import pytest

import remit.testing
from remit import GuardError, InvalidToolError, build_rulebook, check_tools
from remit.enforce.contract import tools_within

TOOLS = {
    "read": {"args": {"path": "path"}, "does": {"read": "path"}, "aliases": ["cat"]},
    "write": {"args": {"path": "path"}, "does": {"write": "path"}},
    "deploy": {"args": {}, "does": {"deploy": "**"}},
}
POLICY = {
    "remit": 1,
    "tools": TOOLS,
    "agents": {
        "writer": {"may": ["read", {"write": {"path": "docs/**"}}], "must_ask": ["deploy"]},
        "reader": {"may": ["read"]},
        "nobody": {"may": []},
        "off": {"may": ["read"], "enabled": False},
    },
}
RULEBOOK = build_rulebook(POLICY)


@pytest.mark.parametrize(
    ("agent", "tools"),
    [("writer", ["read", "write", "deploy"]), ("reader", ["read", "cat"]), ("nobody", []), ("off", [])],
)
def test_tools_within_the_remit(agent: str, tools: list[str]) -> None:
    check_tools(RULEBOOK, agent, tools)


def test_an_unknown_tool_is_named_with_those_that_are_known() -> None:
    with pytest.raises(InvalidToolError) as found:
        check_tools(RULEBOOK, "nobody in particular", ["read", "wirte"])  # as in a base class, which is no agent
    error = found.value
    assert (error.tool, error.agent, error.code) == ("wirte", None, "unknown-tool")
    assert {"read", "write", "deploy"} <= set(error.known)
    assert str(error).startswith("unknown tool `wirte`; did you mean `write`?; known tools: deploy, read, ")
    assert isinstance(error, ValueError)


@pytest.mark.parametrize(
    ("agent", "tool", "may"), [("reader", "write", "read"), ("nobody", "read", "no tools"), ("off", "read", "no tools")]
)
def test_a_known_tool_outside_the_remit(agent: str, tool: str, may: str) -> None:
    with pytest.raises(InvalidToolError) as found:
        check_tools(RULEBOOK, agent, [tool])
    error = found.value
    assert (error.tool, error.agent, error.code) == (tool, agent, "not-permitted")
    assert str(error) == f"`{tool}` is outside the remit of {agent}, which may use: {may}"


def test_an_unknown_agent() -> None:
    with pytest.raises(GuardError) as found:
        check_tools(RULEBOOK, "who", ["read"])
    assert found.value.code == "unknown-agent"


def test_whatever_passes_here_could_pass_at_a_call_and_nothing_else_could() -> None:
    for agent in ("writer", "reader", "nobody", "off"):
        within = tools_within(RULEBOOK, agent)
        for tool in ("read", "write", "deploy"):
            args = {} if tool == "deploy" else {"path": "docs/a.md"}
            decision = remit.decide_call(RULEBOOK, remit.Call(agent, tool, args))
            assert (tool in within) is (decision.verdict.word != "deny"), (agent, tool)


def test_a_guard_checks_against_what_is_in_force() -> None:
    with remit.testing.guard(POLICY) as guard:
        guard.check_tools("reader", ["read"])
        with pytest.raises(InvalidToolError, match="outside the remit of reader"):
            guard.check_tools("reader", ["read", "write"])
