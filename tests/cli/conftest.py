"""A folder with the small policy, and a command line in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.kit import Remit
from tests.explain.kit import POLICY


@pytest.fixture
def remit(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remit:
    """The command line, in a folder with the small policy."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("REMIT_DEBUG", raising=False)
    found = Remit(tmp_path, capsys, monkeypatch)
    found.policy(POLICY)
    return found
