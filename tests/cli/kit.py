"""Running the command line: in this process, or as people do."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.cli.main import run


class Ran(msgspec.Struct, frozen=True):
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Stdout as one JSON value."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Stdout as JSONL."""
        return [json.loads(line) for line in self.out.splitlines()]


class Remit:
    """`remit(…)` runs a command in a folder that has a policy."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self.folder, self.capture, self.patch = folder, capture, patch

    def __call__(self, *args: str, stdin: bytes | None = None) -> Ran:
        if stdin is not None:
            self.patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        self.capture.readouterr()
        code = run(list(args))
        found = self.capture.readouterr()
        return Ran(code, found.out, found.err)

    def policy(self, text: str, name: str = "remit.yaml") -> Path:
        """Writes a policy into the folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path


def program(*args: str, cwd: Path, **more: Any) -> subprocess.CompletedProcess[bytes]:
    """The program itself, in a process of its own."""
    command = [sys.executable, "-m", "remit", *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, timeout=60, check=False, **more)
