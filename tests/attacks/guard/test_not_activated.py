"""Policies that nobody activated: an edit changes nothing, and another policy takes an explicit word."""

from __future__ import annotations

import asyncio
import os
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest

import remit.testing
from remit.enforce.errors import CallDenied, GuardError, NotActivated
from remit.enforce.guard import Guard
from remit.enforce.in_force import finish_activation
from remit.record.open import open_ledger
from remit.store.open import default_url
from tests.activated import activate
from tests.cli.kit import program

TOOLS = "tools: {refund: {args: {amount: number}, does: nothing}}\n"


def policy(*may: str, enabled: bool = True) -> str:
    return f"remit: 1\n{TOOLS}agents:\n  a: {{may: [{', '.join(may)}], enabled: {str(enabled).lower()}}}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str | None) -> Path:
    """Its policy and its ledger in either kind of store."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("REMIT_STORE", raising=False)
    if url is not None:
        monkeypatch.setenv("REMIT_STORE", url)
    (tmp_path / "project/sub").mkdir(parents=True)
    (tmp_path / "project/remit.yaml").write_text(policy())
    return tmp_path / "project"


def guarded(given: Any, **more: Any) -> tuple[Guard, Any]:
    guard = Guard(given, **more)
    return guard, declared(guard)


def declared(guard: Guard) -> Any:
    @guard.tool()
    def refund(amount: int) -> int:
        return amount

    return refund


def elsewhere(project: Path) -> dict[str, Any]:
    """A state and a store that have nothing to do with the project's."""
    state = project.parent / "state"
    return {"state": state, "store": default_url(state)}


@pytest.mark.parametrize("edit", [policy("refund"), "remit: 1\nnonsense: [\n"])
def test_an_edit_changes_nothing_and_is_said(project: Path, edit: str):
    activate(project / "remit.yaml")
    (project / "remit.yaml").write_text(edit)
    guard, refund = guarded(project / "remit.yaml")
    with pytest.warns(NotActivated, match="stays in force"):
        guard.start()
    with guard, guard.agent("a"), pytest.raises(CallDenied) as denied:
        refund(50)
    assert denied.value.code == "not-permitted"


def test_an_activation_reaches_a_running_guard(project: Path):
    file = project / "remit.yaml"
    file.write_text(policy("refund"))
    activate(file)
    guard, refund = guarded(file)

    async def later() -> Any:
        return await guard.acall("refund", {"amount": 2})

    with warnings.catch_warnings(), guard, guard.agent("a"):
        warnings.simplefilter("error")
        for _ in range(4):
            assert refund(1) == 1
        assert asyncio.run(later()) == 2
        file.write_text(policy("refund", enabled=False))
        assert refund(1) == 1
        activate(file)
        with pytest.raises(CallDenied):
            refund(1)
        with pytest.raises(CallDenied):
            asyncio.run(later())
        file.write_text(policy("refund"))
        activate(file)
        assert refund(1) == 1


@pytest.mark.parametrize("url", ["postgres"], indirect=True)  # SQLite is of one machine
def test_an_activation_on_another_machine_reaches_a_running_guard(project: Path):
    """The store is shared, the file is not: a rulebook that is no longer the newest is in force for nobody."""
    file, other = project / "remit.yaml", project.parent / "other"
    file.write_text(policy("refund"))
    activate(file)
    [state] = (project.parent / "xdg/remit").iterdir()
    shutil.copytree(project, other)
    shutil.copytree(state, project.parent / "state")
    guard, refund = guarded(file)
    with guard, guard.agent("a"):
        assert [refund(1) for _ in range(4)] == [1] * 4
        (other / "remit.yaml").write_text(policy())
        activate(other / "remit.yaml", state=project.parent / "state")
        for _ in range(2):
            with pytest.raises(CallDenied, match="not the rulebook that was activated last"):
                refund(1)
        for name in (".remit/rulebook", "remit.yaml"):
            shutil.copy(other / name, project / name)
        with pytest.raises(CallDenied) as denied:
            refund(1)
        assert denied.value.code == "not-permitted"


@pytest.mark.sample(2)
@pytest.mark.parametrize("where", [".", "sub", "../link/sub"])
def test_another_policy_takes_a_word(project: Path, where: str):
    activate(project / "remit.yaml")
    (project.parent / "link").symlink_to(project)
    own = {
        "remit": 1,
        "agents": {"a": {"may": ["refund"]}},
        "tools": {"refund": {"args": {"amount": "number"}, "does": "nothing"}},
    }
    place = project / where
    guard, refund = guarded(own, root=place, **elsewhere(project))
    with pytest.raises(GuardError) as refused:
        guard.start()
    assert refused.value.code == "not-activated"
    guard, refund = guarded(own, root=place, **elsewhere(project), unsafe_no_activation=True)
    with guard, guard.agent("a"):
        assert refund(1) == 1
    said = program("status", cwd=project).stdout.decode()
    assert "guard used a policy that nobody activated (unsafe_no_activation), last on 20" in said


def test_another_state_is_another_policy(project: Path):
    """Who points the guard to an empty store would escape the activation."""
    activate(project / "remit.yaml")
    (project / "remit.yaml").write_text(policy("refund"))
    guard, _ = guarded(project / "remit.yaml", **elsewhere(project))
    with pytest.raises(GuardError) as refused:
        guard.start()
    assert refused.value.code == "not-activated"


def test_outside_of_any_project_it_takes_one_line(project: Path):
    activate(project / "remit.yaml")
    (project.parent / "other").mkdir()
    guard, refund = guarded(
        {
            "remit": 1,
            "agents": {"a": {"may": ["refund"]}},
            "tools": {"refund": {"args": {"amount": "number"}, "does": "nothing"}},
        },
        root=project.parent / "other",
        **(elsewhere(project) if "REMIT_STORE" in os.environ else {}),  # a database holds one project's ledger
    )
    with guard, guard.agent("a"):
        assert refund(3) == 3


def test_a_guard_for_tests(project: Path, monkeypatch: pytest.MonkeyPatch):
    activate(project / "remit.yaml")
    (project / "remit.yaml").write_text(policy("refund"))
    with remit.testing.guard(project / "remit.yaml") as guard:
        refund = declared(guard)
        with guard.agent("a"):
            assert refund(4) == 4
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    with remit.testing.guard(project / "remit.yaml") as guard, pytest.raises(GuardError) as refused:
        guard.start()
    assert refused.value.code == "not-a-test"


def test_the_first_activation_reaches_a_running_guard(project: Path):
    file = project / "remit.yaml"
    file.write_text(policy("refund"))
    guard, refund = guarded(file)

    async def later() -> Any:
        return await guard.acall("refund", {"amount": 2})

    with guard, guard.agent("a"):
        for _ in range(4):  # the last of them take the shortest way
            assert refund(1) == 1
        file.write_text(policy())
        assert refund(1) == 1
        activate(file)
        with pytest.raises(CallDenied):
            refund(1)
        with pytest.raises(CallDenied):
            asyncio.run(later())
        file.write_text(policy("refund"))
        activate(file)
        assert refund(1) == 1


def test_an_activation_that_was_interrupted_stops_a_running_guard(project: Path, monkeypatch: pytest.MonkeyPatch):
    """Between the store and the file nothing is in force, also if it was the first activation."""
    file = project / "remit.yaml"
    file.write_text(policy("refund"))
    guard, refund = guarded(file)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with guard, guard.agent("a"):
        for name in ("first", "second"):
            file.write_text(policy("refund") + f"name: {name}\n")
            assert [refund(1) for _ in range(4)] == [1] * 4
            with monkeypatch.context() as patch:
                patch.setattr("remit.enforce.in_force.put_in_place", killed)
                with pytest.raises(KeyboardInterrupt):
                    activate(file)
            for _ in range(2):
                with pytest.raises(CallDenied, match="rulebook"):
                    refund(1)
            with open_ledger(project, point="test") as opened:
                assert finish_activation(opened, project)


def test_a_root_that_an_activation_changes(project: Path):
    text = "remit: 1\nroot: {root}\nagents: {{a: {{may: [save: {{path: 'x/**'}}]}}}}\n"
    text += "tools: {{save: {{args: {{path: path}}, does: {{write: path}}}}}}\n"
    file = project / "remit.yaml"
    (project / "sub/x").mkdir()
    (project / "x").mkdir()
    file.write_text(text.format(root="."))
    guard = Guard(file)

    @guard.tool(does={"write": "path"})
    def save(path: Path) -> Path:
        return path

    with guard, guard.agent("a"):
        assert save(Path("x/a")) == project / "x/a"
        file.write_text(text.format(root="sub"))
        activate(file)
        assert save(Path("x/a")) == project / "sub/x/a"
        assert guard.root == project / "sub"


def test_an_activation_with_other_tools_stops_a_running_guard(project: Path):
    file = project / "remit.yaml"
    file.write_text(policy("refund"))
    guard, refund = guarded(file)
    with guard, guard.agent("a"):
        assert refund(1) == 1
        file.write_text(policy("refund").replace("amount: number", "amount: text"))
        activate(file)
        with pytest.raises(CallDenied, match="refund"):
            refund(1)


def test_a_guard_of_its_own_policy_ends_where_one_is_activated(project: Path, monkeypatch: pytest.MonkeyPatch):
    own = {
        "remit": 1,
        "agents": {"a": {"may": ["refund"]}},
        "tools": {"refund": {"args": {"amount": "number"}, "does": "nothing"}},
    }
    guard, refund = guarded(own, root=project / "sub", **elsewhere(project))
    with guard, guard.agent("a"):
        assert refund(1) == 1
        activate(project / "remit.yaml")
        monkeypatch.setattr(guard, "_looked", -1)  # as a second later
        with pytest.raises(CallDenied, match="activated"):
            refund(1)
