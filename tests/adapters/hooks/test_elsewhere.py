"""Sessions outside of installed projects: let alone, but for calls that would write into one."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.adapters.hooks.elsewhere import why_not
from remit.adapters.hosts.claude_code import HOST
from remit.adapters.hosts.interface import Event


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root, other = tmp_path / "proj", tmp_path / "other"
    for place in (root / "src", other / ".claude"):
        place.mkdir(parents=True)
    (other / "link").symlink_to(root)
    return root, other


def refused(places: tuple[Path, Path], tool: str, **args: str) -> bool:
    root, other = places
    filled = {name: value.replace("ROOT", str(root)) for name, value in args.items()}
    return (
        why_not(HOST, Event("before", session="s", tool=tool, args=filled, use="u", cwd=str(other)), [str(root)])
        is not None
    )


@pytest.mark.parametrize("path", ["ROOT/src/a.py", "../proj/x", "link/x", "ROOT/.git/hooks/x", "ROOT"])
def test_writes_into_a_project_are_refused(places: tuple[Path, Path], path: str) -> None:
    assert refused(places, "Write", file_path=path, content="x")
    assert refused(places, "Edit", file_path=path, old_string="a", new_string="b")
    assert not refused(places, "Read", file_path=path)


@pytest.mark.parametrize(
    "command",
    [
        "echo x > ROOT/a",
        "cd ROOT && touch a",
        "cd ../proj; rm -rf src",
        "rm -rf ../proj",
        "mv ROOT elsewhere",
        "cp a ../proj/src/",
        "git -C ROOT stash",
        "ln -s a ROOT/b",
        "tee ROOT/x < a",
        "cd ROOT && remit uninstall claude-code --yes",
    ],
)
def test_so_are_commands_that_would(places: tuple[Path, Path], command: str) -> None:
    assert refused(places, "Bash", command=command)


@pytest.mark.parametrize(
    "command",
    [
        "ls ROOT",
        "cat ROOT/src/a.py > mine",
        "diff -r ROOT .",
        "cp ROOT/src/a.py .",
        "grep -r x ../proj",
        "echo x > .claude/settings.json",
        "git commit -am 'about ROOT'",
    ],
)
def test_everything_else_is_let_alone(places: tuple[Path, Path], command: str) -> None:
    assert not refused(places, "Bash", command=command)


def test_a_tool_that_nobody_knows_may_not_name_it(places: tuple[Path, Path]) -> None:
    assert refused(places, "mcp__files__put", path="ROOT/a")
    assert not refused(places, "mcp__files__put", path="/elsewhere/a")
