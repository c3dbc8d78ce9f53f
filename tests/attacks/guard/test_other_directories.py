"""Paths from other directories, and links that are swapped: the function gets the place that was judged, or nothing."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from remit.enforce.attempt import Passage
from remit.enforce.errors import CallDenied
from remit.enforce.guard import Guard
from remit.enforce.safe_path import SafePath

POLICY: dict[str, Any] = {"remit": 1, "agents": {"a": {"may": ["*"], "locks": {"may": ["src/**"]}}}}


@dataclass
class Edit:
    path: Path


class Two:
    """A project, and another directory that the process is in, with a link where the project has a folder."""

    def __init__(self, folder: Path, **more: Any) -> None:
        self.project, self.other, self.outside = folder / "project", folder / "other", folder / "outside"
        for place in (self.project / "src/deep", self.other, self.outside):
            place.mkdir(parents=True, exist_ok=True)
        if not (self.other / "src").is_symlink():
            (self.other / "src").symlink_to(self.outside)
        (self.outside / "hostname").write_text("secret")
        self.guard = Guard(POLICY, root=self.project, state=folder / "state", **more)
        self.got: list[str] = []
        self._declare()

    def _declare(self) -> None:
        @self.guard.tool(does={"write": "path"}, tier=1)
        def write(path: Path) -> None:
            self.got.append(str(path))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("x")

        @self.guard.tool("write_text", does={"write": "path"}, tier=1)
        def write_text(path: str) -> None:
            write_it(path)

        @self.guard.tool(does={"write": "edits"}, tier=1)
        def edit(edits: list[Edit]) -> None:
            for one in edits:
                write_it(str(one.path))

        @self.guard.tool(does={"read": "paths"})
        async def read_all(*paths: Path) -> list[str]:
            self.got += map(str, paths)
            return [path.read_text() for path in paths]

        @self.guard.tool(does={"write": "file"}, tier=1)
        def save(file: SafePath) -> None:
            self.got.append(os.fspath(file))
            with file.open("w") as opened:
                opened.write("x")

        def write_it(path: str) -> None:
            self.got.append(path)
            Path(path).write_text("x")

        self.write, self.write_text, self.edit, self.read_all, self.save = write, write_text, edit, read_all, save


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Two:
    found = Two(tmp_path)
    monkeypatch.chdir(found.other)
    return found


def test_a_relative_path_is_the_project_s(two: Two):
    with two.guard, two.guard.agent("a"):
        two.write(Path("src/x.txt"))
        two.write_text("src/y.txt")
        two.edit([Edit(Path("src/z.txt")), Edit(Path("src/./deep/../q.txt"))])
        two.save(SafePath("src/s.txt"))
    real = two.project.resolve()
    assert two.got == [str(real / "src" / f"{name}.txt") for name in "xyzqs"]
    assert [os.path.exists(path) for path in two.got] == [True] * 5
    assert sorted(os.listdir(two.outside)) == ["hostname"]


def test_a_link_in_the_process_s_directory_is_not_followed(two: Two):
    async def main() -> None:
        with two.guard.agent("a"), pytest.raises(FileNotFoundError):
            await two.read_all(Path("src/hostname"))

    with two.guard:
        asyncio.run(main())
    assert two.got == [str(two.project.resolve() / "src/hostname")]


def test_the_agent_s_own_directory(two: Two):
    with two.guard, two.guard.agent("a", cwd="src"):
        two.write(Path("deep/x.txt"))
        assert two.guard.directory == two.project.resolve() / "src"
    assert two.got == [str(two.project.resolve() / "src/deep/x.txt")]


def test_a_root_that_is_not_there_yet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")
    guard = Guard(POLICY, root=tmp_path / "later", state=tmp_path / "state")
    got: list[Path] = []
    guard.tool("look", does={"read": "path"})(_taking(got))
    with guard, guard.agent("a"):
        guard.call("look", {"path": "src/x"})
        assert got == [tmp_path.resolve() / "later/src/x"]
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "later").symlink_to(tmp_path / "elsewhere")
        guard.call("look", {"path": "src/x"})
    assert got[1] == tmp_path.resolve() / "elsewhere/src/x"


def _taking(got: list[Path]) -> Any:
    def look(path: Path) -> None:
        got.append(path)

    return look


def test_a_glob_begins_at_the_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from remit.enforce.declared import Glob

    monkeypatch.chdir("/")
    guard = Guard(POLICY, root=tmp_path, state=tmp_path / "state")

    def find(pattern: Glob) -> str:
        return pattern

    found = guard.tool("find", does={"read": "pattern"})(find)
    with guard, guard.agent("a", cwd="src"):
        assert found("*.py") == f"{tmp_path.resolve()}/src/*.py"


@pytest.mark.parametrize("where", ["file", "folder"])
@pytest.mark.parametrize("later", [False, True])
def test_a_link_that_comes_after_the_decision(two: Two, monkeypatch: pytest.MonkeyPatch, where: str, later: bool):
    """Between `begin` and the function: it does not run, and the ledger says so."""
    checked = Passage.checked

    def swapped(passage: Passage) -> Any:
        if where == "file":
            (two.project / "src/x").symlink_to(two.outside / "hostname")
        else:
            (two.project / "src/deep").rmdir()
            (two.project / "src/deep").symlink_to(two.outside)
        return checked(passage)

    path = "src/x" if where == "file" else "src/deep/hostname"

    async def main() -> None:
        with two.guard.agent("a"):
            await two.read_all(Path(path)) if later else two.write(Path(path))

    with two.guard:
        monkeypatch.setattr(Passage, "checked", swapped)
        with pytest.raises(CallDenied) as denied:
            asyncio.run(main())
    assert denied.value.code == "path-changed"
    assert two.got == []
    assert (two.outside / "hostname").read_text() == "secret"


@pytest.mark.parametrize("where", ["file", "folder"])
def test_a_link_that_comes_while_the_function_runs(two: Two, where: str):
    """A function that opens its `SafePath` meets the link, and does not follow it."""

    def save(file: SafePath) -> None:
        if where == "file":
            (two.project / "src/x").symlink_to(two.outside / "hostname")
        else:
            (two.project / "src/deep").rmdir()
            (two.project / "src/deep").symlink_to(two.outside)
        file.open("w")

    tool = two.guard.tool("slow_save", does={"write": "file"}, tier=1)(save)
    with two.guard, two.guard.agent("a"), pytest.raises(OSError, match=r"."):
        tool(SafePath("src/x" if where == "file" else "src/deep/hostname"))
    assert (two.outside / "hostname").read_text() == "secret"


def test_a_safe_path_that_nobody_judged():
    with pytest.raises(OSError, match="not judged"):
        SafePath("x").open()


PARTS = st.sampled_from(["src", "deep", "..", ".", "x.txt", "link", "up"])


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(PARTS, min_size=1, max_size=6), st.sampled_from([None, "src", "src/deep", "src/link"]))
def test_what_the_function_gets_has_no_link_in_it(tmp_path: Path, parts: list[str], cwd: str | None):
    two = Two(tmp_path)
    if not (two.project / "src/link").is_symlink():
        (two.project / "src/link").symlink_to("deep")
        (two.project / "src/up").symlink_to("../..")
    got: list[Path] = []
    look = two.guard.tool("look", does={"write": "path"}, tier=1)(_taking(got))
    text = "/".join(parts)
    expected = os.path.realpath(os.path.join(two.project, cwd or "", text))
    with two.guard, two.guard.agent("a", cwd=cwd):
        try:
            look(Path(text))
        except CallDenied:
            return
    assert [str(path) for path in got] == [expected]
    assert expected.startswith(f"{two.project.resolve()}/src/")
