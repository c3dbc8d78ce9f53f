"""Completion: names from the policy wherever one is asked for, and silence where there is none."""

from __future__ import annotations

import inspect
from typing import get_args, get_type_hints

import pytest

from remit.cli.completion import completer
from remit.cli.parameters import Argument, Option
from remit.cli.table import Command
from remit.cli.typer_app import function_of
from tests.cli.kit import Ran, Remit
from tests.cli.test_help import PAGES

FUNCTIONS = {
    " ".join(path): function_of(command)
    for path, entry in PAGES.items()
    if (command := entry if isinstance(entry, Command) else entry.alone) is not None
}


def completed(remit: Remit, monkeypatch: pytest.MonkeyPatch, line: str) -> Ran:
    monkeypatch.setenv("_REMIT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - (0 if line.endswith(" ") else 1)))
    return remit()


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("remit rep", ["report", "replay"]),
        ("remit ledger keys r", ["rotate"]),
        ("remit report ", ["reader", "writer", "boss", "keeper", "everyone", "quiet", "Shipper"]),
        ("remit report b", ["boss"]),
        ("remit explain --agent w", ["writer"]),
        ("remit explain --agent writer --tool w", ["write", "wipe"]),
        ("remit who-can te", ["term"]),
        ("remit halt re", ["reader"]),
        ("remit ledger show --tool fe", ["fetch"]),
        ("remit matrix --agents reader,b", ["reader,boss"]),
        ("remit matrix --tools f", ["fetch", "files"]),
        ("remit install cl", ["claude-code"]),
        ("remit report nobody", []),
    ],
)
def test_names_come_from_the_policy(remit: Remit, monkeypatch: pytest.MonkeyPatch, line: str, names: list[str]):
    ran = completed(remit, monkeypatch, line)
    assert (ran.out.split(), ran.err) == (names, "")


def test_a_policy_that_is_named_is_the_one(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    remit.policy("remit: 1\nagents:\n  other: {may: []}\n", "elsewhere/remit.yaml")
    assert completed(remit, monkeypatch, "remit report --policy elsewhere/remit.yaml ").out.split() == ["other"]


@pytest.mark.parametrize("policy", ["remit: 1\nagents: [", "", "\x00", None])
def test_without_a_policy_there_is_nothing_and_no_complaint(
    remit: Remit, monkeypatch: pytest.MonkeyPatch, policy: str | None
):
    if policy is None:
        (remit.folder / "remit.yaml").unlink()
    else:
        remit.policy(policy)
    ran = completed(remit, monkeypatch, "remit report ")
    assert (ran.code, ran.out.strip(), ran.err) == (0, "", "")


def test_an_open_quotation_is_no_fault(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    assert completed(remit, monkeypatch, "remit report 'b").code == 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_agent_tool_and_host_is_completed(name: str):
    """Whatever a command calls its parameters: one that takes an agent, a tool or a host has their names."""
    function = FUNCTIONS[name]
    hints = get_type_hints(function, include_extras=True)
    for keyword in inspect.signature(function).parameters:
        if keyword in ("agent", "tool", "agents", "tools", "host"):
            about = next(one for one in get_args(hints[keyword]) if isinstance(one, Option | Argument))
            assert completer(about) is not None, keyword
