"""A halt reaches the hook, with and without a daemon, before the next call; a violation there halts everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from remit.grant.authority import Authority
from remit.record.open import open_ledger
from tests.adapters.hooks.project import POLICY, Project

HALTING = {**POLICY, "on_violation": {"halt": {"after": 1}}}
READ, WRITE = {"file_path": "README.md"}, {"file_path": "src/x.py", "content": ""}


@contextmanager
def authority(project: Project) -> Iterator[Authority]:
    with open_ledger(project.root, point="test", state=project.state) as opened:
        yield Authority(opened.store, opened.vault)


@pytest.mark.parametrize("served", [False, True], ids=["alone", "daemon"])
def test_a_violation_halts_the_agent(tmp_path: Path, served: bool) -> None:
    project = Project(tmp_path, HALTING)
    with project.serving() if served else nullcontext():
        assert project.ask("Read", READ, "researcher").decision == "allow"
        project.ask("Write", WRITE, "researcher").denied("not-permitted")
        project.ask("Read", READ, "researcher").denied("halted")
        assert project.ask("Read", READ).decision == "allow", "the main agent goes on"
        with authority(project) as one:
            assert [halt.who for halt in one.halted()] == ["researcher"]
            [incident] = one.incidents()
            assert (incident.tool, incident.code, incident.session is not None) == ("Write", "not-permitted", True)
            one.resume("researcher", by="ann", because="a typo")
        assert project.ask("Read", READ, "researcher").decision == "allow"


@pytest.mark.parametrize("served", [False, True], ids=["alone", "daemon"])
def test_the_kill_switch(tmp_path: Path, served: bool) -> None:
    project = Project(tmp_path)
    with project.serving() if served else nullcontext():
        assert project.ask("Read", READ).decision == "allow"
        with authority(project) as one:
            one.halt("system", by="ann", because="stop")
        project.ask("Read", READ).denied("halted")
        project.ask("Read", READ, "researcher").denied("halted")
        project.ask("Read", READ, "watcher").denied("halted")  # observing does not lift it
        with authority(project) as one:
            one.resume("system", by="ann", because="over")
        assert project.ask("Read", READ).decision == "allow"
