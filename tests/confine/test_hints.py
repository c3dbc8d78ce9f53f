"""What the output of a command suggests that it could not write."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.confine.interface import Place
from remit.confine.run import hints
from tests.confine.places import profile

PLACE = Place(Path("/w/p"), Path("/w/p/src"), Path("/w/state"))
SAID = {
    "touch: cannot touch '../top': Read-only file system": "top",
    "x.sh: line 1: ../top2: Read-only file system": "top2",
    "mkdir: cannot create directory \u2018../docs/new\u2019: Read-only file system": "docs/new",
    "OSError: [Errno 30] Read-only file system: '../dist'": "dist",
    "Error: EROFS: read-only file system, open '../out.js'": "out.js",
    "error: Failed to initialize cache at /w/p/.ruff_cache: Read-only file system (os error 30)": ".ruff_cache",
}
SILENT = (
    "Read-only file system: hello world",
    "  code: 'EROFS',",
    "cannot touch 'a.py': Read-only file system",  # it may be written: something else is the matter
    "cannot touch '/usr/x': Read-only file system",
    "cannot touch '../top': No such file or directory",
)


@pytest.mark.parametrize("line", SAID)
def test_what_may_not_be_written_is_named(line: str) -> None:
    (found,) = hints(line, profile("src/**"), PLACE)
    assert found == f"Remit: `{SAID[line]}` may not be written by this agent; the command could not write it"


@pytest.mark.parametrize("line", SILENT)
def test_other_words_are_not(line: str) -> None:
    assert hints(line, profile("src/**"), PLACE) == ()


def test_what_is_protected_comes_first() -> None:
    lines = [f"x.sh: line 1: ../{name}: Read-only file system" for name in ("a", "b", "c", "remit.yaml")]
    first, *_ = hints("\n".join(lines), profile("src/**"), PLACE)
    assert first == "Remit: `remit.yaml` is protected; the command could not write it"
