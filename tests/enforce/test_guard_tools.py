"""Tools declared at functions: what can't be one, what contradicts the policy, and what an agent sees."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.enforce.errors import CallDenied, GuardError
from remit.enforce.guard import Guard
from remit.model.errors import PolicyError
from remit.model.rulebook import Rulebook
from tests.enforce.team import POLICY, Team

ODD: Any = object()


def unknown(path) -> None: ...
def of_a_class(path: Guard) -> None: ...
def odd_default(path: str = ODD) -> None: ...


@pytest.mark.parametrize("function", [unknown, of_a_class, odd_default])
def test_what_cannot_be_a_tool(function: Callable[..., Any]):
    guard = Guard(POLICY)
    with pytest.raises(GuardError) as caught:
        guard.tool()(function)
    assert caught.value.code == "bad-tool"


def test_a_decorator_without_parentheses_is_refused():
    bare: Any = Guard(POLICY).tool
    with pytest.raises(GuardError, match="needs parentheses") as caught:
        bare(_same)
    assert caught.value.code == "bad-tool"


def test_a_name_is_declared_once(team: Team):
    guard = Guard(POLICY)
    guard.tool()(_same)
    with pytest.raises(GuardError, match="twice"):
        guard.tool("_same")(_same)


def _same(path: str) -> None: ...


def test_nothing_is_declared_after_the_start(team: Team):
    with pytest.raises(GuardError, match="after the guard was started"):
        team.guard.tool()(_same)


DECLARED = {
    "args": {"path": "path", "content": "text", "count": "number"},
    "optional": ["count"],
    "does": {"write": "path"},
    "tier": 2,
    "accessible_by": ["worker"],
    "risk": "high",
    "layer": "files",
}


def _agrees(path: Path, content: str, count: int | None = None) -> None: ...
def _other_kind(path: str, content: str, count: int | None = None) -> None: ...
def _missing(path: Path, content: str) -> None: ...
def _more(path: Path, content: str, count: int | None = None, mode: str = "w") -> None: ...
def _required(path: Path, content: str, count: int) -> None: ...
def _renamed(file: Path, content: str, count: int | None = None) -> None: ...


CONTRADICTIONS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "kind": (_other_kind, {}),
    "missing": (_missing, {}),
    "more": (_more, {}),
    "required": (_required, {}),
    "renamed": (_renamed, {}),
    "effect": (_agrees, {"does": {"read": "path"}}),
    "reach": (_agrees, {"does": {"write": "**"}}),
    "tier": (_agrees, {"tier": 1}),
    "access": (_agrees, {"accessible_by": ["worker", "idle"]}),
    "risk": (_agrees, {"risk": "low"}),
    "layer": (_agrees, {"layer": "other"}),
}


def _policy() -> dict[str, Any]:
    agents = {"worker": {"may": ["save"]}, "idle": {"may": []}}
    return {"remit": 1, "tools": {"save": DECLARED}, "agents": agents}


@pytest.mark.parametrize("form", ["mapping", "file", "rulebook"])
@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_a_contradiction_stops_the_start(tmp_path: Path, what: str, form: str):
    function, told = CONTRADICTIONS[what]
    policy: Any = _policy()
    if form == "rulebook":
        policy = build_rulebook(policy)
    elif form == "file":
        import json

        policy = tmp_path / "remit.yaml"
        policy.write_text(json.dumps(_policy()))
    guard = Guard(policy, root=tmp_path, state=tmp_path / "state")
    guard.tool("save", **told)(function)
    with pytest.raises(PolicyError) as caught:
        guard.start()
    assert "`save`" in str(caught.value)
    assert "do not agree" in str(caught.value)
    assert not (tmp_path / "state").exists(), "nothing was opened"


@pytest.mark.parametrize("told", [{}, {"tier": 2, "risk": "high"}, {"does": {"write": "path"}, "layer": "files"}])
def test_what_agrees_starts(tmp_path: Path, told: dict[str, Any]):
    policies: list[Any] = [_policy(), build_rulebook(_policy())]
    for number, policy in enumerate(policies):
        guard = Guard(policy, root=tmp_path, state=tmp_path / f"state{number}")
        guard.tool("save", **told)(_agrees)
        with guard:
            assert [tool["name"] for tool in guard.tools_for("worker")] == ["save"]
            assert guard.tools_for("idle") == []


def test_a_tool_that_the_rulebook_does_not_have(tmp_path: Path):
    guard = Guard(build_rulebook(_policy()), root=tmp_path, state=tmp_path / "state")
    guard.tool("other")(_same)
    with pytest.raises(GuardError, match="other"):
        guard.start()


def test_defaults_are_decided_on(tmp_path: Path):
    """What is left out is what the function would take: it is judged, and recorded."""
    policy = {"remit": 1, "agents": {"worker": {"may": [{"save": {"path": "ok/**"}}]}}}
    guard = Guard(policy, root=tmp_path, state=tmp_path / "state")
    ran: list[str] = []

    @guard.tool(does={"write": "path"})
    def save(content: str, path: Path = Path("secret/a")) -> None:
        ran.append(str(path))

    with guard, guard.agent("worker"):
        for call in (lambda: save("x"), lambda: guard.call("save", {"content": "x"})):
            with pytest.raises(CallDenied) as caught:
                call()
            assert caught.value.code == "not-permitted"
        save("x", Path("ok/a"))
    assert ran == [str(tmp_path.resolve() / "ok/a")]


def test_none_by_default_is_left_out(tmp_path: Path):
    policy = {"remit": 1, "agents": {"worker": {"may": ["look"]}}}
    guard = Guard(policy, root=tmp_path, state=tmp_path / "state")

    @guard.tool(does={"read": "path"})
    def look(path: Path, depth: int | None = None, tags: list[str] | None = None) -> Any:
        return path, depth, tags

    with guard, guard.agent("worker"):
        a = tmp_path.resolve() / "a"
        assert look(Path("a")) == (a, None, None)
        assert guard.call("look", {"path": "a", "depth": 2, "tags": ["x"]}) == (a, 2, ["x"])


def test_what_an_agent_sees_is_its_own_copy(team: Team):
    seen = team.guard.tools_for("worker")
    names = [tool["name"] for tool in seen]
    assert "deploy" in names
    assert "remit_delegate" not in names
    seen[0]["input_schema"]["properties"].clear()
    seen.pop()
    assert [tool["name"] for tool in team.guard.tools_for("worker")] == names
    assert team.guard.tools_for("worker")[0]["input_schema"]["properties"]
    assert team.guard.tools_for("idle") == []
    with pytest.raises(GuardError):
        team.guard.tools_for("nobody")


def test_what_is_seen_is_kept_and_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Looked up once for an agent and a policy; a policy that changed is looked at anew, and the old one forgotten."""
    import json

    policy = tmp_path / "remit.yaml"
    policy.write_text(json.dumps(_policy()))
    guard = Guard(policy, root=tmp_path, state=tmp_path / "state")
    guard.tool("save")(_agrees)
    looked: list[str] = []
    visible = guard._visible

    def counted(rulebook: Rulebook, agent: str) -> list[dict[str, Any]]:
        looked.append(agent)
        return visible(rulebook, agent)

    monkeypatch.setattr(guard, "_visible", counted)
    with guard:
        for _ in range(3):
            assert len(guard.tools_for("worker")) == 1
        assert looked == ["worker"]
    policy.write_text(
        json.dumps(_policy() | {"agents": {"worker": {"may": []}, "idle": {"may": []}}}).replace(
            '["worker"]', '["idle"]'
        )
    )
    with guard:
        assert guard.tools_for("worker") == []
        assert len(guard.tools_for("idle")) == 1
        assert len({key[2] for key in guard._seen}) == 1


def test_a_hand_over_keeps_where_it_runs(team: Team):
    """Environment, session and the data that was seen go along, unless something else is said."""
    with team.guard.agent("lead", environment="production", session="s", data_tier=2, mode="m"):
        with team.guard.agent("worker") as inner:
            context = inner.context
        with team.guard.agent("worker", environment="test", data_tier=0) as inner:
            other = inner.context
    assert (context.environment, context.session, context.data_tier, context.mode) == ("production", "s", 2, "m")
    assert (other.environment, other.session, other.data_tier) == ("test", "s", 0)
