"""Grants that an orchestrator gives by itself, within what the policy lets it; nobody has to grant it that first."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.compile import build_rulebook
from remit.compile.tasks import task_from
from remit.decide import decide
from remit.enforce.errors import CallRefused
from remit.enforce.guard import Guard
from remit.grant.authority import Authority
from remit.grant.errors import GrantError
from remit.model.errors import PolicyError
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.task import Task
from remit.record.state import CAPSULE, StateForged
from remit.store import Store
from tests.grant.world import POLICY, authority, call, open_world
from tests.postgres import Postgres

ALONE: dict[str, Any] = {"grants": [{"extra": {"path": ["x/**", "y/*.md"]}}], "data_tiers": [1]}
CHAIN = ("boss",)


def rules(alone: Any = ALONE) -> Rulebook:
    agents = {name: dict(record) for name, record in POLICY["agents"].items()}
    agents["boss"]["may_issue"] = {"capsules": True, "data_tiers": [2], **({"alone": alone} if alone else {})}
    return build_rulebook({**POLICY, "agents": agents})


RULES = rules()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = None
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.uri_of(server.new_database())
    found = open_world(url, tmp_path / "state")
    yield found
    found.close()


def granted(name: str, agent: str, grants: list[Any], tiers: list[int], by: str = "boss", **more: Any) -> Task:
    """A task that an agent issues."""
    data = {"id": name, "agent": agent, "goal": "a test", "grants": grants, "data_tiers": tiers, **more}
    return msgspec.structs.replace(task_from(RULES, data), by=by, issuer="agent")


def found(
    one: Authority, rulebook: Rulebook, path: str, name: str, agent: str = "lead", chain: tuple[str, ...] = CHAIN
) -> str:
    """What is decided about a call in the task."""
    made = call(agent, "extra", {"path": path}, name, chain=chain)
    return decide(rulebook, made, one.facts(name, Facts(store=True), rulebook)).code


def test_an_orchestrator_grants_what_the_policy_lets_it(store: Store, tmp_path: Path) -> None:
    one, other = (authority(store, tmp_path / "state") for _ in range(2))
    narrow = [{"extra": {"path": "x/deep/*.txt"}}]
    one.issue(RULES, granted("A", "lead", narrow, [1]))
    assert found(other, RULES, "x/deep/a.txt", "A") == "allowed"
    assert found(other, RULES, "x/a", "A") == "not-permitted"
    one.issue(RULES, granted("B", "hand", narrow, [1], "lead", parent="A"))  # and it is passed on
    assert found(other, RULES, "x/deep/a.txt", "B", "hand", ("boss", "lead")) == "allowed"


@pytest.mark.parametrize(
    ("grants", "tiers", "agent", "code"),
    [
        ([{"extra": {"path": "z/**"}}], [], "lead", "beyond-parent"),
        ([{"extra": {"path": "**"}}], [], "lead", "beyond-parent"),
        ([{"extra": {"path": ["x/a", "y/a.py"]}}], [], "lead", "beyond-parent"),
        (["extra"], [], "lead", "beyond-parent"),
        ([{"make": {"path": "x/**"}}], [], "lead", "beyond-parent"),
        ([{"effect": "read"}], [], "lead", "beyond-parent"),
        ([], [2], "lead", "beyond-parent"),
        ([], [1], "boss", "self-issue"),
        ([], [1], "hand", "delegation-not-allowed"),
    ],
)
def test_and_no_more_than_that(grants: list[Any], tiers: list[int], agent: str, code: str, tmp_path: Path) -> None:
    store = open_world(None, tmp_path / "state")
    one = authority(store, tmp_path / "state")
    with pytest.raises(GrantError) as error:
        one.issue(RULES, granted("A", agent, grants, tiers))
    assert error.value.code == code
    with pytest.raises(GrantError) as error:  # who has no such right
        one.issue(RULES, granted("B", "hand", [{"extra": {"path": "x/**"}}], [], "lead"))
    assert error.value.code == "beyond-issuer"
    store.close()


def test_once_the_policy_lets_it_no_more_the_task_gives_nothing(store: Store, tmp_path: Path) -> None:
    one, other = (authority(store, tmp_path / "state") for _ in range(2))
    one.issue(RULES, granted("A", "lead", [{"extra": {"path": "x/**"}}], [1]))
    assert found(other, RULES, "x/a", "A") == "allowed"
    for less in (None, {**ALONE, "grants": [{"extra": {"path": "x/b"}}]}, {**ALONE, "data_tiers": []}):
        assert found(other, rules(less), "x/a", "A") == "not-permitted"
    assert found(other, RULES, "x/a", "A") == "allowed"


def test_a_task_that_only_says_so_counts_for_nothing(store: Store, tmp_path: Path) -> None:
    """Somebody who can write entries claims for an agent what the policy does not let it grant."""
    writer = authority(store, tmp_path / "state")
    for alone, name in ((True, "B"), (False, "C")):
        forged = msgspec.structs.replace(granted(name, "lead", [{"extra": {"path": "**"}}], []), alone=alone)
        row = dict.fromkeys(CAPSULE.columns) | {"id": name, "agent": "lead", "salt": bytes(16)}
        row["body"] = msgspec.json.encode(forged)
        with store.write() as change:
            writer.scribe.put(change, CAPSULE, (name,), row, "capsule", {"what": "issued"})
    reader = authority(store, tmp_path / "state")
    assert found(reader, RULES, "z", "B") == "not-permitted"
    with pytest.raises(StateForged):
        found(reader, RULES, "z", "C")


def test_the_key_is_for_who_may_issue_at_all() -> None:
    aide = {"may": [], "may_issue": {"alone": ALONE}}
    with pytest.raises(PolicyError) as error:
        build_rulebook({**POLICY, "agents": {**POLICY["agents"], "aide": aide}})
    assert error.value.problems[0].code == "never-applies"
    with pytest.raises(PolicyError):
        rules({"grants": [{"nothing": {"path": "x"}}]})


def test_it_does_so_with_its_own_tool(tmp_path: Path) -> None:
    """The orchestrator is a program's agent: it hands on work with a grant, and whoever takes it on has that."""
    policy: dict[str, Any] = {
        "remit": 1,
        "use": ["remit"],
        "tools": {"fetch": {"args": {"path": "path"}, "does": {"read": "path"}}},
        "agents": {
            "chief": {
                "may": ["remit_delegate"],
                "delegates_to": ["worker"],
                "may_issue": {"capsules": True, "alone": {"grants": [{"fetch": {"path": "reports/**"}}]}},
            },
            "worker": {"may": []},
        },
    }
    guard = Guard(policy, root=tmp_path, state=tmp_path / "state")

    @guard.tool("fetch")
    def fetch(path: Path) -> str:
        return "text"

    def hand(glob: str) -> Any:
        args = {"agent": "worker", "goal": "read it", "grants": [{"fetch": {"path": glob}}]}
        with guard.agent("chief"):
            return guard.call("remit_delegate", args)

    def fetched(path: str) -> str:
        try:
            return str(guard.call("fetch", {"path": path}))
        except CallRefused as refused:
            return refused.code

    with guard:
        with pytest.raises(Exception, match="no such grant of fetch"):
            hand("secret/**")
        ticket = hand("reports/2026/**")["ticket"]
        with guard.agent("worker", ticket=ticket):
            assert fetched("reports/2026/a") == "text"
            assert fetched("reports/2025/a") == "not-permitted"
