"""The table of docs/tampering.md again, with real processes: a Guard, `remit serve` and a hook, as users start them.

What the page says of *opens*, *hook* and *runs* must be so for each of them. A process that runs may notice more than
the page says: its keeper looks at keys and memory each second.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.record.anchor import configure
from remit.record.open import open_ledger
from tests.adapters.hooks.project import Project
from tests.faults.tampering.harms import HARMS, Harm, Scene
from tests.faults.tampering.test_tampering import COLUMNS, NOTHING, rows
from tests.record.project import deny

WRITE = {"file_path": "docs/new.md", "content": "New.\n"}
GUARD = """
import sys, warnings
from pathlib import Path
from remit import Guard
from remit.model.errors import RemitError
from remit.enforce.errors import CallDenied

state, root, calls = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
policy = {"remit": 1, "name": "direct", "agents": {"a": {"may": ["ping"]}}}
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    try:
        guard = Guard(policy, root=root, state=state)
        ping = guard.tool("ping", does={"network": "https://a.example/**"}, tier=1)(lambda: None)
        guard.start()
        code = "warns" if said else "–"
    except RemitError as error:
        print(error.code, flush=True)
        sys.exit()
    if calls:
        with guard.agent("a"):
            ping()
            guard.flush()
            print("ready", flush=True)
            sys.stdin.readline()
            try:
                ping()
                code = "–"
            except CallDenied as denied:
                code = denied.decision.code
    print(code, flush=True)
    import os
    os._exit(0)
"""


class Stage:
    """A project with twenty signed entries, put back as it was before each case."""

    def __init__(self, folder: Path, *, anchored: bool) -> None:
        self.project = Project(folder)
        self.kept, self.before = folder / "kept-state", folder / "kept-before"
        state, anchor = self.project.state, folder / "kept"
        self.scene = Scene(state, folder / "old", anchor)
        (folder / "elsewhere").mkdir()
        with open_ledger(self.project.root, point="test", state=state) as opened:
            if anchored:
                configure(opened.store, [f"file:{anchor}"])
            for number in range(10):
                deny(opened, args={"file": f"docs/{number}.md"})
            opened.push()
        shutil.copytree(state, folder / "old")
        if anchored:
            shutil.copy(anchor, folder / "old" / "kept")
        with open_ledger(self.project.root, point="test", state=state) as opened:
            for number in range(8):
                deny(opened, args={"file": f"docs/{number}.md"})
            opened.push()
        shutil.copytree(state, self.kept)
        if anchored:
            shutil.copy(anchor, self.before)

    def reset(self) -> None:
        state = self.project.state
        if state.is_symlink():
            state.unlink()
        for place in (state, state.with_name("moved")):
            shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.kept, state)
        self.scene.anchor.unlink(missing_ok=True)
        if self.before.exists():
            shutil.copy(self.before, self.scene.anchor)

    def guard(self, *, calls: bool) -> subprocess.Popen[str]:
        words = [sys.executable, "-c", GUARD, str(self.project.state), str(self.project.folder / "elsewhere")]
        pipe = subprocess.PIPE
        return subprocess.Popen([*words, str(int(calls))], stdin=pipe, stdout=pipe, text=True)


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Stage]:
    made: dict[bool, Stage] = {}

    def stage(anchored: bool) -> Stage:
        if anchored not in made:
            made[anchored] = Stage(tmp_path_factory.mktemp("stage"), anchored=anchored)
        made[anchored].reset()
        return made[anchored]

    return stage


def guard_starts(stage: Stage, harm: Harm) -> str:
    harm(stage.scene)
    out, _ = stage.guard(calls=False).communicate(timeout=120)
    return out.strip()


def guard_runs(stage: Stage, harm: Harm) -> str:
    process = stage.guard(calls=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    harm(stage.scene)
    out, _ = process.communicate("go\n", timeout=120)
    return out.strip()


def daemon_starts(stage: Stage, harm: Harm) -> str:
    """`refused`, `warns`, or nothing."""
    harm(stage.scene)
    env = {**os.environ, "XDG_STATE_HOME": str(stage.project.folder / "state")}
    words = [sys.executable, "-m", "remit", "serve", "--policy", str(stage.project.root / "remit.yaml")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, text=True)
    assert process.stdout is not None
    served = process.stdout.readline().startswith("serving")
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    if not served:
        assert process.returncode in (1, 2), said
        assert said.startswith("remit: "), said
        return "refused"
    return "warns" if said else NOTHING


def daemon_runs(stage: Stage, harm: Harm) -> str:
    project = stage.project
    process = project.serve()
    try:
        assert project.ask("Write", WRITE).decision == "allow"
        harm(stage.scene)
        return "refused" if project.ask("Write", WRITE).decision == "deny" else NOTHING
    finally:
        process.kill()
        process.communicate(timeout=60)


def hook(stage: Stage, harm: Harm) -> str:
    harm(stage.scene)
    said = stage.project.ask("Write", WRITE)
    return said.reason if said.decision == "deny" else NOTHING


POINTS: dict[Callable[[Stage, Harm], str], str] = {
    guard_starts: "opens",
    daemon_starts: "opens",
    guard_runs: "runs",
    daemon_runs: "runs",
    hook: "hook",
}


def as_the_page_says(column: str, expected: str, found: str) -> bool:
    """Whether a process said what the page says, or noticed more."""
    if expected == NOTHING:
        return column == "runs" or found in (NOTHING, "warns") or found == expected
    if expected == "warns":
        return found == "warns"
    if column == "runs":
        return found != NOTHING
    if (column, expected) == ("hook", "no-ledger") and "the store is gone (not-installed)" in found:
        return True  # its client says so before anything is opened
    return found in (expected, "refused") or f"({expected})" in found or expected in found


def _cases() -> Iterator[Any]:
    """A few in `make test`, one in eight in `test-more`, all in `test-long`."""
    number = 0
    for name in HARMS:
        for point in POINTS:
            for anchored in (False, True):
                number += 1
                mark = () if number % 173 == 0 else pytest.mark.more if number % 8 == 0 else pytest.mark.long
                words = ("anchored" if anchored else "alone", point.__name__, name)
                yield pytest.param(name, point, anchored, id=" - ".join(words), marks=mark)


@pytest.mark.parametrize(("name", "point", "anchored"), list(_cases()))
def test_a_real_process_notices(
    stages: Callable[[bool], Stage], name: str, point: Callable[[Stage, Harm], str], anchored: bool
):
    column = POINTS[point]
    expected = dict(rows())[name][COLUMNS.index(column) + len(COLUMNS) * anchored]
    found = point(stages(anchored), HARMS[name])
    assert as_the_page_says(column, expected, found), (expected, found)
