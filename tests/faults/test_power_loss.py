"""Row 2: the power fails. What was flushed before an entry was acknowledged is there; what came after is lost or torn.

The files are taken as they were when an entry was acknowledged, and what was written to them since is cut off, torn or
filled with rubbish: a disk may have kept any part of it.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from remit.record.append import head_of
from remit.record.audit import audit
from remit.record.open import open_ledger
from tests.record.project import Project, deny

LOG = "remit.db-wal"
COUNT = 12


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    return Project(tmp_path, monkeypatch)


def _torn(state: Path, flushed: int, how: str, chance: Random) -> None:
    """The log of the store, of which only so many bytes were flushed."""
    data = bytearray((state / LOG).read_bytes())
    lost = len(data) - flushed
    if how == "cut":
        del data[flushed:]
    elif how == "torn":
        del data[flushed + chance.randrange(lost + 1) :]
    elif how == "zeros":
        data[flushed:] = bytes(lost)
    else:
        start = flushed + chance.randrange(lost) if lost else flushed
        data[start:] = chance.randbytes(len(data) - start)
    (state / LOG).write_bytes(data)


@pytest.mark.parametrize("how", ["cut", "torn", "zeros", "rubbish"])
def test_row_2_what_was_acknowledged_survives(project: Project, tmp_path: Path, how: str):
    chance = Random(2)  # noqa: S311
    with project.open() as opened:
        with opened.store.read() as view:
            before = head_of(view).size
        flushed = []
        for _ in range(COUNT):
            deny(opened)
            flushed.append((project.state / LOG).stat().st_size)
        copy = tmp_path / "as it was"
        shutil.copytree(project.state, copy)
    assert flushed == sorted(flushed)
    assert flushed[0] < flushed[-1]
    for number, size in enumerate(flushed, 1):
        state = tmp_path / f"after {number}"
        shutil.copytree(copy, state)
        (state / "remit.db-shm").unlink()  # shared memory, which no power loss leaves behind
        _torn(state, size, how, chance)
        with open_ledger(project.root, point="test", state=state) as again:
            with again.store.read() as view:
                assert head_of(view).size >= before + number, "acknowledged, and lost"
            found = audit(again.log, again.signer)
        assert found.problems == ()
