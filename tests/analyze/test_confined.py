"""What confinement proves, and where mounts hold less than the rules."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.model.errors import PolicyError


def load(agent: dict[str, Any], **more: Any) -> tuple[str, ...]:
    agents = {"dev": {"may": ["Bash"], **agent}}
    data = {"remit": 1, "use": ["claude-code"], "confine": "required", "agents": agents, **more}
    return build_rulebook(data).book.notices


def never(effect: str, agent: dict[str, Any], **more: Any) -> str:
    """`proved`, `assumed`, or the code of the problem."""
    statement = {"agent": "dev", "tool": "Bash", "effect": effect, "assuming": "sandbox"}
    try:
        notices = load(agent, never=[statement], **more)
    except PolicyError as error:
        return error.problems[0].code
    return "assumed" if any("assuming that" in notice for notice in notices) else "proved"


PYTEST = {"may": [{"Bash": {"shell": {"run": ["pytest"]}}}]}
READS = {"may": [{"Bash": {"shell": {"run": ["pytest"], "path": {"read": ["**"]}}}}]}


@pytest.mark.parametrize(
    ("effect", "agent", "confined", "plain"),
    [
        ("network", {}, "proved", "never-violated"),
        ("publish", {}, "proved", "never-violated"),
        ("system", {}, "proved", "never-violated"),
        ("write", {}, "never-violated", "never-violated"),
        ("network", PYTEST, "proved", "assumed"),
        ("write", PYTEST, "never-violated", "never-violated"),
        ("write", READS, "proved", "never-unknown"),
        ("network", {"sandbox": {"network": "open"}}, "never-violated", "never-violated"),
        ("network", {**PYTEST, "apis": ["https://a.example/**"]}, "assumed", "assumed"),
    ],
)
def test_a_sandbox_that_is_required_is_no_assumption(effect: str, agent: Any, confined: str, plain: str) -> None:
    assert never(effect, agent) == confined
    assert never(effect, agent, confine="off") == plain
    assert never(effect, agent, confine="preferred") == plain


def test_a_rule_for_some_contexts_proves_nothing() -> None:
    rules = [
        {"Bash": {"shell": {"run": ["pytest"]}}},
        {"WebFetch": {"url": "https://a.example/**", "when": {"mode": "x"}}},
    ]
    assert never("network", {"may": rules}) == "assumed"


def test_a_standing_grant_counts() -> None:
    grant = {"agent": "dev", "may": ["Bash"], "adr": "1", "approved_by": "ann", "until": "2099-01-01"}
    assert never("write", READS) == "proved"
    assert never("write", READS, grants=[grant]) == "never-violated"


@pytest.mark.parametrize(
    ("glob", "narrower"),
    [("**", False), ("src/**", False), ("research/*.yaml", True), ("a.txt", True), ("spikes/S-[0-9]*/**", True)],
)
def test_where_mounts_are_narrower_than_a_glob(glob: str, narrower: bool) -> None:
    found = [notice for notice in load({"locks": {"may": [glob]}}) if "mounts can enforce" in notice]
    assert bool(found) is narrower
    assert not [notice for notice in load({"locks": {"may": [glob]}}, confine="off") if "mounts" in notice]


def test_what_may_be_deleted_and_not_written_is_said() -> None:
    scope = {"run": ["rm", "touch"], "path": {"read": ["**"], "write": ["src/**"], "delete": ["src/**", "old/**"]}}
    found = load({"may": [{"Bash": {"shell": scope}}]})
    assert [notice for notice in found if "`old/**` may be deleted but not written" in notice]
    assert not [notice for notice in found if "`src/**` may" in notice]
