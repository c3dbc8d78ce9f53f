"""Every tampering of `harms.py` at every point, with and without an anchor: docs/tampering.md says who notices what.

python -m tests.faults.tampering.test_tampering    prints the page's table as it is found now
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from remit.grant.activation import add_activation
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.errors import RemitError
from remit.model.terms import DENY
from remit.record.anchor import configure
from remit.record.audit import audit
from remit.record.open import Opened, open_for_hook, open_ledger, open_log
from tests.faults.tampering.harms import HARMS, Scene
from tests.record.project import allow

PAGE = Path(__file__).parents[3] / "docs" / "tampering.md"
COLUMNS = ("opens", "hook", "runs", "soon", "verify")
NOTHING = "–"
DENIES = "denies"
SAYS = "says"
"""It goes on, and says what is wrong."""


def _run(opened: Opened) -> None:
    """One call that runs."""
    receipt = allow(opened, agent="writer", tool="write", args={"file": "docs/a.md"})
    opened.ledger.outcome(receipt.call, "done")
    opened.ledger.flush()


def _write(opened: Opened, count: int) -> None:
    for number in range(count):
        call = Call("writer", "write", {"file": f"docs/{number}.md"})
        opened.ledger.intent(call, Decision(DENY, "writer", "write", "out-of-scope", "no"))


def build(folder: Path, *, anchored: bool) -> Scene:
    """Twenty entries, signed at 12 and at 20; the older copy has 12. Both know of a hook, and of something in force."""
    root = folder / "project"
    root.mkdir()
    scene = Scene(folder / "state", folder / "old", folder / "kept")
    with open_ledger(root, point="test", state=scene.state) as opened:
        if anchored:
            configure(opened.store, [f"file:{scene.anchor}"])
        with opened.store.write() as change:
            add_activation(change, None, policy="sha256:1", digest="1" * 64, at=1, by="ann")
        _write(opened, 10)
    _write_as_hook(scene.state)
    with open_ledger(root, point="test", state=scene.state) as opened:
        opened.push()
    shutil.copytree(scene.state, scene.old)
    if scene.anchor.exists():
        shutil.copy(scene.anchor, scene.old / "kept")
    with open_ledger(root, point="test", state=scene.state) as opened:
        _write(opened, 7)
    _write_as_hook(scene.state)
    with open_ledger(root, point="test", state=scene.state) as opened:
        opened.push()
    return scene


def _write_as_hook(state: Path) -> None:
    with open_for_hook(state, point="test", url=None) as opened:
        opened.ledger.intent(Call("writer", "read", {"file": "a.md"}), Decision(DENY, "writer", "read", "no", "no"))


def copied(scene: Scene, to: Path) -> Scene:
    shutil.copytree(scene.state, to / "state")
    if scene.anchor.exists():
        shutil.copy(scene.anchor, to / "kept")
        link = to / "state"
        with open_log(None, state=link) as opened:
            configure(opened.store, [f"file:{to / 'kept'}"])
        anchored = link / "keys" / "anchored"
        if anchored.exists():
            anchored.write_text(anchored.read_text().replace(str(scene.anchor), str(to / "kept")))
    return Scene(to / "state", scene.old, to / "kept")


def opens(scene: Scene, harm: Callable[[Scene], None]) -> str:
    """Guard, the daemon or a command is started afterwards."""
    harm(scene)
    with open_ledger(scene.state.parent, point="test", state=scene.state) as opened:
        return "warns" if opened.warnings else NOTHING


def runs(scene: Scene, harm: Callable[[Scene], None]) -> str:
    """A Guard or a daemon that runs decides its next call."""
    opened = open_ledger(scene.state.parent, point="test", state=scene.state)
    opened.ledger.deadline = 2.0
    try:
        _run(opened)
        harm(scene)
        return _tried(opened)
    finally:
        with suppress(RemitError):
            opened.close()


def soon(scene: Scene, harm: Callable[[Scene], None]) -> str:
    """The same after a minute, in which its keeper has looked."""
    said: list[str] = []
    opened = open_ledger(scene.state.parent, point="test", state=scene.state, on_fault=said.append)
    opened.ledger.deadline = 2.0
    keeper = opened.keeper
    assert keeper is not None
    try:
        keeper.stop()
        _run(opened)
        harm(scene)
        _tried(opened)
        for _ in range(3):  # the entries are read again as a whole, so few are there
            keeper.work(minute=True)
        found = _tried(opened)
        return SAYS if found == NOTHING and said else found
    finally:
        with suppress(RemitError):
            opened.close()


def _tried(opened: Opened) -> str:
    try:
        _run(opened)
    except RemitError:
        return DENIES
    return NOTHING


def verify(scene: Scene, harm: Callable[[Scene], None]) -> str:
    """`remit ledger verify` is run afterwards."""
    harm(scene)
    with open_log(None, state=scene.state) as opened:
        found = audit(opened.log, opened.signer)
        return found.problems[0].code if found.problems else NOTHING


POINTS = {"opens": opens, "runs": runs, "soon": soon, "verify": verify}
"""What a hook says is looked at in `test_processes.py` alone: it is a process of its own."""
REOPENED = ("the write-ahead log removed", "the write-ahead log cut to nothing")
"""Who does this in the same process makes SQLite open the file anew."""


def noticed(base: Scene, harm: Callable[[Scene], None], point: str, folder: Path) -> str:
    """The code that the point gives."""
    scene = copied(base, folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return POINTS[point](scene, harm)
        except RemitError as error:
            return error.code


def rows() -> Iterator[tuple[str, list[str]]]:
    """The table of the page: by tampering, the codes by point, without an anchor and with one."""
    for line in PAGE.read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if len(cells) == 1 + 2 * len(COLUMNS) and cells[0] not in ("tampering", "") and not cells[0].startswith("-"):
            yield cells[0], [cell.strip("`") for cell in cells[1:]]


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Scene]:
    return {anchored: build(tmp_path_factory.mktemp("base"), anchored=anchored) for anchored in (False, True)}


def test_the_page_has_every_tampering():
    said = [name for name, _ in rows()]
    assert said == list(HARMS)
    assert len(said) >= 70


WITHOUT_AN_ANCHOR = (
    "the anchor removed",
    "the list of anchors removed",
    "the memory `anchored` removed",
    "the memory `anchored` set back to an older one",
)
NOTHING_THERE = ("the write-ahead log removed", "the write-ahead log cut to nothing")
"""While nobody has the log open, there is no such file."""


@pytest.mark.sample(20)
@pytest.mark.parametrize("anchored", [False, True], ids=["alone", "anchored"])
@pytest.mark.parametrize("name", HARMS)
def test_each_changes_something(bases: dict[bool, Scene], tmp_path: Path, name: str, *, anchored: bool):
    if name in NOTHING_THERE or (name in WITHOUT_AN_ANCHOR and not anchored):
        pytest.skip("there is nothing to be changed")
    scene = copied(bases[anchored], tmp_path)
    before = seen(scene)
    HARMS[name](scene)
    assert seen(scene) != before


def seen(scene: Scene) -> dict[str, object]:
    """All files of the state and the anchor: kind, mode, links, and what is in them."""
    found: dict[str, object] = {}
    for path in sorted([scene.state, *scene.state.rglob("*"), scene.anchor]):
        if path.name.endswith(("-shm", "-wal")) or not (path.is_symlink() or path.exists()):
            continue
        about = path.lstat()
        what: object = path.read_bytes() if path.is_file() else b""
        if path.name == "remit.db" and what:
            with suppress(sqlite3.DatabaseError), closing(sqlite3.connect(path)) as link:
                what = list(link.iterdump())
        found[str(path)] = (about.st_mode, about.st_ino, about.st_nlink, what)
    return found


@pytest.mark.sample(60)
@pytest.mark.parametrize("anchored", [False, True], ids=["alone", "anchored"])
@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize("name", HARMS)
def test_who_notices(bases: dict[bool, Scene], tmp_path: Path, name: str, point: str, *, anchored: bool):
    expected = dict(rows())[name][COLUMNS.index(point) + len(COLUMNS) * anchored]
    if name in REOPENED and point in ("runs", "soon"):
        pytest.skip("only other processes can do this to one that runs")
    assert noticed(bases[anchored], HARMS[name], point, tmp_path) == expected


def main() -> None:
    """Print the table as it is found now, but for what only real processes tell, which stays as the page has it."""
    page = dict(rows())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bases = {}
        for anchored in (False, True):
            (folder / str(anchored)).mkdir()
            bases[anchored] = build(folder / str(anchored), anchored=anchored)
        print("| tampering | " + " | ".join(COLUMNS + COLUMNS) + " |")
        print("| --- |" + " --- |" * 2 * len(COLUMNS))
        first, step = map(int, sys.argv[1:] or ("0", "1"))
        for number, (what, harm) in list(enumerate(HARMS.items()))[first::step]:
            cells = []
            for anchored in (False, True):
                for point in COLUMNS:
                    if point not in POINTS or (what in REOPENED and point in ("runs", "soon")):
                        kept = page[what][COLUMNS.index(point) + len(COLUMNS) * anchored] if what in page else "?"
                        cells.append(kept if kept in (NOTHING, DENIES, SAYS, "warns") else f"`{kept}`")
                        continue
                    place = folder / f"{number}-{anchored}-{point}"
                    place.mkdir()
                    try:
                        found = noticed(bases[anchored], harm, point, place)
                    except Exception as error:
                        found = f"!{type(error).__name__}: {error}"
                    cells.append(found if found in (NOTHING, DENIES, SAYS, "warns") else f"`{found}`")
                    shutil.rmtree(place)
            print(f"| {what} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
