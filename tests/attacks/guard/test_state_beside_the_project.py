"""The state directory anywhere: nobody reads or changes it, and what lies beside it is no part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.enforce.errors import CallDenied
from remit.enforce.guard import Guard


@pytest.mark.parametrize("where", ["state", "root/state", "root/.remit-state/deep/kept"])
def test_it_alone_is_guarded(tmp_path: Path, where: str):
    root, state = (tmp_path / "root").resolve(), (tmp_path / where).resolve()
    for folder in (root / "src/state", state.parent):
        folder.mkdir(parents=True, exist_ok=True)
    (root / "link").symlink_to(state)
    outside = [f"{tmp_path.resolve()}/**"]
    may = [{tool: {"path": {"allow": "**", "outside": outside}}} for tool in ("look", "save")]
    guard = Guard({"remit": 1, "agents": {"a": {"may": may}}}, root=root, state=state)
    look = guard.tool("look", does={"read": "path"})(_look)
    save = guard.tool("save", does={"write": "path"}, tier=1)(_save)
    with guard, guard.agent("a"):
        for ours in ("src/state/a", "src/a"):
            assert look(Path(ours)) == look(root / ours) == save(Path(ours)) == save(root / ours) == root / ours
        for theirs in (state, state / "keys/x", root / "link/keys", Path("link"), Path("src/../link/remit.db")):
            for tool in (look, save):
                with pytest.raises(CallDenied) as denied:
                    tool(theirs)
                assert denied.value.code == "protected", theirs
        with pytest.raises(CallDenied):
            save(state.parent)


def _look(path: Path) -> Path:
    return path


def _save(path: Path) -> Path:
    return path
