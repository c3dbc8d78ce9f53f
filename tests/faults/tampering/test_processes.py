"""The table of docs/tampering.md again, with real processes: a Guard, `remit serve` and a hook, as users start them.

What the page says of *opens*, *hook*, *runs* and *soon* must be so for each of them, word for word. A keeper may look
between a harm and the next call: then *runs* is what the page says of *soon*.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from remit.record.anchor import configure
from remit.record.open import open_ledger
from tests.adapters.hooks.project import Project
from tests.faults.tampering.harms import HARMS, Harm, Scene
from tests.faults.tampering.test_tampering import COLUMNS, DENIES, NOTHING, SAYS, rows
from tests.record.project import deny

WRITE = {"file_path": "docs/new.md", "content": "New.\n"}
LOOK_SOON = "import remit.record.keeper as keeper; keeper.LOOK_EVERY = 1.0\n"
"""A minute, in a second."""
GUARD = """
import os, sys, warnings
from pathlib import Path
from remit import Guard
from remit.model.errors import RemitError
from remit.enforce.errors import CallDenied

state, root, calls = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
policy = {"remit": 1, "name": "direct", "agents": {"a": {"may": ["ping"]}}}

def said_to(text: str) -> None:
    pass

def tried():
    try:
        ping("x")
        return "–"
    except CallDenied:
        return "denies"

def answer():
    print(tried() if sys.stdin.readline() == "call\\n" else "says" if said else "–", flush=True)

with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    try:
        guard = Guard(policy, root=root, state=state)
        ping = guard.tool("ping", does={"network": "https://a.example/**"}, tier=1)(said_to)
        guard.start()
    except RemitError as error:
        print(error.code, flush=True)
        os._exit(0)
    if not calls:
        print("warns" if said else "–", flush=True)
        os._exit(0)
    with guard.agent("a"):
        ping("x")
        guard.flush()
        print("ready", flush=True)
        while True:
            answer()
"""
SERVE = (
    LOOK_SOON
    + """
import sys
from remit.cli import faults
from remit.cli.main import main

say = faults.complain
faults.complain = lambda error: (say(error), print(f"({error.code})", file=sys.stderr))
main()
"""
)
"""`remit serve`, which also says the code of what keeps it from starting."""


class Stage:
    """A project with twenty signed entries or so, put back as it was before each case."""

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
        assert self.project.ask("Write", WRITE).decision == "allow"
        with open_ledger(self.project.root, point="test", state=state) as opened:
            opened.push()
        shutil.copytree(state, folder / "old")
        if anchored:
            shutil.copy(anchor, folder / "old" / "kept")
        with open_ledger(self.project.root, point="test", state=state) as opened:
            for number in range(6):
                deny(opened, args={"file": f"docs/{number}.md"})
        assert self.project.ask("Write", WRITE).decision == "allow"
        with open_ledger(self.project.root, point="test", state=state) as opened:
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
        words = [
            sys.executable,
            "-c",
            LOOK_SOON + GUARD,
            str(self.project.state),
            str(self.project.folder / "elsewhere"),
        ]
        pipe = subprocess.PIPE
        return subprocess.Popen([*words, str(int(calls))], stdin=pipe, stdout=pipe, text=True)

    def daemon(self, log: Path) -> subprocess.Popen[str]:
        """What it says about faults goes to the file."""
        env = {**os.environ, "XDG_STATE_HOME": str(self.project.folder / "state")}
        words = [sys.executable, "-c", SERVE, "serve", "--policy", str(self.project.root / "remit.yaml")]
        with log.open("w") as file:
            return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=file, env=env, text=True)


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> Callable[[bool], Stage]:
    made: dict[bool, Stage] = {}

    def stage(anchored: bool) -> Stage:
        if anchored not in made:
            made[anchored] = Stage(tmp_path_factory.mktemp("stage"), anchored=anchored)
        made[anchored].reset()
        return made[anchored]

    return stage


def code_in(text: str) -> str:
    """The code at the end of a reason or message."""
    return re.findall(r"\(([a-z-]+)\)", text)[-1]


def guard_starts(stage: Stage, harm: Harm) -> str:
    harm(stage.scene)
    out, _ = stage.guard(calls=False).communicate(timeout=120)
    return out.strip()


def daemon_starts(stage: Stage, harm: Harm) -> str:
    harm(stage.scene)
    log = stage.project.folder / "log"
    process = stage.daemon(log)
    assert process.stdout is not None
    served = process.stdout.readline().startswith("serving")
    process.kill()
    process.communicate(timeout=120)
    said = log.read_text()
    if served:
        return "warns" if said else NOTHING
    assert said.startswith("remit: "), said
    return code_in(said)


class Running(NamedTuple):
    """What a process that runs says to its next call, and how it stands in the end."""

    runs: str
    soon: str


def watched(expected: str, call: Callable[[], str], said: Callable[[], bool]) -> str:
    """How it stands when its keeper has looked: until it is as the page says, or long enough for it to be otherwise."""
    end = time.monotonic() + (3 if expected == NOTHING else 60)
    while True:
        time.sleep(0.2)
        found = call()
        found = found if found != NOTHING else SAYS if said() else NOTHING
        if time.monotonic() > end or (found == expected != NOTHING):
            return found


def guard_runs(stage: Stage, harm: Harm, expected: str) -> Running:
    process = stage.guard(calls=True)
    assert process.stdin is not None
    assert process.stdout is not None
    out = process.stdout

    def asked(word: str) -> str:
        assert process.stdin is not None
        process.stdin.write(f"{word}\n")
        process.stdin.flush()
        return out.readline().strip()

    try:
        assert out.readline() == "ready\n"
        harm(stage.scene)
        return Running(asked("call"), watched(expected, lambda: asked("call"), lambda: asked("said") == SAYS))
    finally:
        process.kill()
        process.communicate(timeout=60)


def daemon_runs(stage: Stage, harm: Harm, expected: str) -> Running:
    project, log = stage.project, stage.project.folder / "log"
    process = stage.daemon(log)

    def call() -> str:
        return DENIES if project.ask("Write", WRITE).decision == "deny" else NOTHING

    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("serving")
        assert call() == NOTHING
        harm(stage.scene)
        return Running(call(), watched(expected, call, lambda: log.stat().st_size > 0))
    finally:
        process.kill()
        process.communicate(timeout=60)


def hook(stage: Stage, harm: Harm) -> str:
    harm(stage.scene)
    said = stage.project.ask("Write", WRITE)
    return code_in(said.reason) if said.decision == "deny" else NOTHING


STARTING: dict[Callable[[Stage, Harm], str], str] = {guard_starts: "opens", daemon_starts: "opens", hook: "hook"}
RUNNING: tuple[Callable[[Stage, Harm, str], Running], ...] = (guard_runs, daemon_runs)


def _cases(points: Iterable[Callable[..., object]]) -> Iterator[Any]:
    """A few in `make test`; one in eight, and all of hooks, which are quick, in `test-more`; all in `test-long`."""
    number = 0
    for name in HARMS:
        for point in points:
            for anchored in (False, True):
                number += 1
                often = number % 8 == 0 or point is hook
                mark = () if number % 173 == 0 else pytest.mark.more if often else pytest.mark.long
                words = ("anchored" if anchored else "alone", point.__name__, name)
                yield pytest.param(name, point, anchored, id=" - ".join(words), marks=mark)


def said_of(name: str, column: str, *, anchored: bool) -> str:
    """What the page says."""
    return dict(rows())[name][COLUMNS.index(column) + len(COLUMNS) * anchored]


@pytest.mark.parametrize(("name", "point", "anchored"), list(_cases(STARTING)))
def test_a_real_process_notices(
    stages: Callable[[bool], Stage], name: str, point: Callable[[Stage, Harm], str], anchored: bool
):
    assert point(stages(anchored), HARMS[name]) == said_of(name, STARTING[point], anchored=anchored)


@pytest.mark.parametrize(("name", "point", "anchored"), list(_cases(RUNNING)))
def test_a_process_that_runs_notices(
    stages: Callable[[bool], Stage], name: str, point: Callable[[Stage, Harm, str], Running], anchored: bool
):
    runs, soon = (said_of(name, column, anchored=anchored) for column in ("runs", "soon"))
    found = point(stages(anchored), HARMS[name], soon)
    assert found.soon == soon
    assert found.runs in (runs, DENIES if soon == DENIES else runs)


def status(stage: Stage) -> set[str]:
    """The faults that `remit status` names; one in the state directory itself keeps it from saying more."""
    env = {**stage.project.environment(), "XDG_STATE_HOME": str(stage.project.folder / "state")}
    words = [sys.executable, "-m", "remit", "status", "--json", "--policy", str(stage.project.root / "remit.yaml")]
    done = subprocess.run(words, capture_output=True, text=True, env=env, timeout=120, check=False)
    if done.returncode == 2:
        assert done.stderr.startswith(f"remit: `{stage.project.state}`"), done.stderr
        return {"store-unsafe"}
    return {one["code"] for one in json.loads(done.stdout)["findings"] if one["level"] == "fault"}


def _said_by_status() -> Iterator[Any]:
    for number, name in enumerate(HARMS):
        for anchored in (False, True):
            if said_of(name, "opens", anchored=anchored) != NOTHING:
                mark = () if number % 40 == 39 and anchored else pytest.mark.more
                yield pytest.param(name, anchored, id=f"{'anchored' if anchored else 'alone'} - {name}", marks=mark)


@pytest.mark.parametrize(("name", "anchored"), list(_said_by_status()))
def test_status_says_whatever_is_said_at_a_start(stages: Callable[[bool], Stage], name: str, anchored: bool):
    stage = stages(anchored)
    before = status(stage)
    HARMS[name](stage.scene)
    assert status(stage) - before
