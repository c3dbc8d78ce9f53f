"""A commit whose process is killed, at every moment: the next one to come finds the project as it was before."""

from __future__ import annotations

import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.confine import commit as making
from remit.confine import journal as journals
from remit.confine.commit import alone, commit
from remit.confine.journal import LEFT, open_journals
from remit.confine.upper import NotCommitted, Step, identity

NEW = {"a": b"new a", "made": b"new", "folder/in": b"inside", os.fsdecode(b"n\xff"): b"bytes"}


class Stage:
    """A project, and the steps of a run that changes, deletes, makes, links and sets permissions."""

    def __init__(self, folder: Path) -> None:
        self.state, self.root = folder / "state", folder / "root"
        self.launch = self.state / "launches/one"
        self.upper = self.launch / "upper-0"
        (self.launch / "aside").mkdir(parents=True)
        (self.upper / "folder").mkdir(parents=True)
        (self.root / "gone").mkdir(parents=True)
        (self.root / "kept").mkdir(mode=0o755)
        for name in ("a", "b", "gone/c"):
            (self.root / name).write_text(f"old {name}")
        (self.root / "l").symlink_to("a")
        for name, content in NEW.items():
            (self.upper / name).write_bytes(content)
        (self.upper / "kept").mkdir(mode=0o700)
        (self.upper / "l").symlink_to("b")
        self.steps = [
            self.step("gone/c", "delete"),
            self.step("gone", "delete"),
            self.step("b", "delete"),
            self.step("a", "file"),
            self.step("l", "link"),
            self.step("made", "file"),
            Step("twice", "file", None, same_as="made"),
            self.step("folder", "folder"),
            self.step("folder/in", "file"),
            self.step(os.fsdecode(b"n\xff"), "file"),
            self.step("kept", "mode"),
        ]

    def step(self, path: str, how: str) -> Step:
        return Step(path, how, identity(str(self.root / path)), str(self.upper / path))  # type: ignore[arg-type]

    def seen(self) -> dict[str, object]:
        return dict(sorted(_seen(str(self.root))))

    def killed(self, moment: int) -> bool:
        """Commits in a process that is killed before one of the calls that change something; False if it ended."""
        child = os.fork()
        if child == 0:
            try:
                _kill_before(moment)
                with alone(self.state):
                    commit(self.steps, self.root, self.launch / "aside")
            finally:
                os._exit(0)
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def _seen(folder: str, below: str = "") -> Iterator[tuple[str, object]]:
    with os.scandir(folder) as entries:
        for one in entries:
            status = one.stat(follow_symlinks=False)
            if one.is_symlink():
                yield below + one.name, os.readlink(one.path)
            elif one.is_dir():
                yield below + one.name, stat.S_IMODE(status.st_mode)
                yield from _seen(one.path, f"{below}{one.name}/")
            else:
                yield below + one.name, (Path(one.path).read_bytes(), stat.S_IMODE(status.st_mode))


def _kill_before(moment: int) -> None:
    """The process kills itself before its n-th change of a file system."""
    left = [moment]
    for name in ("rename", "link", "unlink", "mkdir", "rmdir", "symlink", "fchmod", "write", "replace"):
        real = getattr(os, name)

        def change(*args: object, _real: object = real, **more: object) -> object:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return _real(*args, **more)  # type: ignore[operator]

        setattr(os, name, change)


def test_killed_at_every_moment_it_is_as_before(tmp_path: Path) -> None:
    moment, ended = 0, False
    while not ended:
        stage = Stage(tmp_path / str(moment))
        before = stage.seen()
        ended = not stage.killed(moment)
        with alone(stage.state):
            pass
        assert open_journals(stage.state) == open_journals(stage.state, LEFT) == []
        if not ended:
            assert stage.seen() == before, moment
        moment += 1
    assert moment > 2 * len(stage.steps)
    assert (stage.root / "a").read_bytes() == b"new a"
    assert (stage.root / "twice").stat().st_nlink >= 2
    assert not (stage.root / "gone").exists()


def test_what_somebody_changed_since_stays_and_is_told(tmp_path: Path) -> None:
    moment = 0
    while True:
        stage = Stage(tmp_path / str(moment))
        assert stage.killed(moment)
        if (stage.root / "made").exists():
            break
        moment += 1
    for name in ("made", "a"):
        (stage.root / name).unlink()
        (stage.root / name).write_text("a person's")
    with alone(stage.state):
        pass
    assert (stage.root / "made").read_text() == (stage.root / "a").read_text() == "a person's"
    assert (stage.root / "b").read_text() == "old b"
    assert open_journals(stage.state, LEFT) == [stage.launch]
    assert (stage.launch / "aside/3").read_text() == "old a"


@pytest.mark.parametrize("name", ["a", "made", "gone/c"])
def test_what_somebody_changed_meanwhile_is_no_half_commit(tmp_path: Path, name: str) -> None:
    stage = Stage(tmp_path)
    (stage.root / "new").write_text("a person's")
    os.replace(stage.root / "new", stage.root / name)
    before = stage.seen()
    with pytest.raises(NotCommitted, match="meanwhile"):
        commit(stage.steps, stage.root, stage.launch / "aside")
    assert stage.seen() == before
    assert open_journals(stage.state) == open_journals(stage.state, LEFT) == []


def test_a_journal_that_nobody_can_read_is_kept(tmp_path: Path) -> None:
    stage = Stage(tmp_path)
    (stage.launch / journals.NAME).write_text("{")
    with alone(stage.state):
        pass
    assert open_journals(stage.state, LEFT) == [stage.launch]


def test_a_commit_that_fails_leaves_no_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = Stage(tmp_path)
    before = stage.seen()

    def fails(*_: object) -> None:
        raise OSError("no space")

    monkeypatch.setattr(making, "_put", fails)
    with pytest.raises(NotCommitted, match="none was"):
        commit(stage.steps, stage.root, stage.launch / "aside")
    assert stage.seen() == before
    assert open_journals(stage.state) == []
