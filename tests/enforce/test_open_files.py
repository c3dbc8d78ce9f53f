"""Tools that take open files: opened as the effect says, following no link, and closed when the call has ended."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import IO, Any, BinaryIO, TextIO

import msgspec
import pytest

from remit.enforce.errors import CallDenied, GuardError
from remit.enforce.guard import Guard
from remit.record.reader import entries


class Files:
    """A guard for one agent that may write below `src`, and what its tools got."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        (self.root / "src").mkdir(parents=True)
        (self.root / "src/old").write_text("old\nnew\n")
        agent = {"may": ["*"], "locks": {"may": ["src/**"]}, "may_not": [{"path": "src/secret"}]}
        self.guard = Guard({"remit": 1, "agents": {"a": agent}}, root=self.root, state=folder / "state")
        self.got: list[IO[Any]] = []

    def take(self, file: IO[Any]) -> IO[Any]:
        assert not file.closed
        self.got.append(file)
        return file

    def outcomes(self) -> list[tuple[str, str | None]]:
        self.guard.flush()
        with self.guard.authority.store.read() as view:
            said = [msgspec.json.decode(entry.body) for entry in entries(view)]
        return [(one["result"], one.get("error")) for one in said if one["type"] == "outcome"]

    @property
    def closed(self) -> bool:
        return bool(self.got) and all(file.closed for file in self.got)


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def test_it_is_opened_as_the_effect_says(files: Files):
    guard, take = files.guard, files.take

    @guard.tool(does={"read": "file"})
    def read(file: TextIO) -> str:
        return take(file).read()

    @guard.tool(does={"write": "file"})
    def write(file: BinaryIO, data: bytes) -> int:
        return take(file).write(data)

    @guard.tool(does={"read": "file", "write": "file"})
    def change(file: IO[str]) -> str:
        found = take(file).readline()
        file.seek(0)
        file.write("OLD")
        return str(found)

    @guard.tool(does={"read": "one", "write": "two"})
    def copy(one: IO[bytes], two: BinaryIO) -> int:
        return take(two).write(take(one).read())

    with guard, guard.agent("a"):
        assert guard.call("change", {"file": "src/old"}) == "old\n"
        assert guard.call("read", {"file": "src/old"}) == read("src/old") == "OLD\nnew\n"  # type: ignore[arg-type]
        assert guard.call("write", {"file": "src/b", "data": "AAH/"}) == 3
        assert guard.call("copy", {"one": "src/old", "two": "src/b"}) == 8
        assert files.outcomes() == [("done", None)] * 5
    assert (files.root / "src/b").read_text() == "OLD\nnew\n"
    assert [file.mode for file in files.got] == ["r+", "r", "r", "wb", "wb", "rb"]
    assert files.closed
    assert declared(guard) == {"read": {"file": "path"}, "write": {"file": "path", "data": "text"}} | {
        "change": {"file": "path"},
        "copy": {"one": "path", "two": "path"},
    }


def declared(guard: Guard) -> dict[str, Any]:
    return {name: tool["args"] for name, tool in guard.declarations.items()}


@pytest.mark.parametrize("path", ["src/secret", "docs/a", "../a", "src/../remit.yaml", "/etc/hostname"])
def test_it_is_judged_like_a_path(files: Files, path: str):
    (files.root / "docs").mkdir()

    @files.guard.tool(does={"write": "file"})
    def save(file: TextIO) -> None:
        files.take(file)

    with files.guard, files.guard.agent("a"), pytest.raises(CallDenied):
        files.guard.call("save", {"file": path})
    assert files.got == []


def test_a_link_that_comes_after_the_look_is_not_followed(files: Files, tmp_path: Path, monkeypatch: Any):
    outside = tmp_path / "outside"
    outside.write_text("kept")

    @files.guard.tool(does={"write": "file"})
    def save(file: TextIO) -> None:
        files.take(file).write("x")

    def swap(places: Any) -> None:
        (files.root / "src/a").symlink_to(outside)

    monkeypatch.setattr("remit.enforce.attempt.still_there", swap)
    with files.guard, files.guard.agent("a"):
        with pytest.raises(OSError, match="symbolic links"):
            files.guard.call("save", {"file": "src/a"})
        assert files.outcomes() == [("failed", "OSError")]
    assert outside.read_text() == "kept"


def test_it_stays_open_as_long_as_the_call_lasts(files: Files):
    guard, take = files.guard, files.take

    @guard.tool(does={"read": "file"})
    def lines(file: TextIO) -> Iterator[str]:
        yield from take(file)

    @guard.tool(does={"read": "file"})
    async def later(file: TextIO) -> str:
        take(file)
        await asyncio.sleep(0)
        return file.read()

    @guard.tool(does={"read": "file"})
    async def alines(file: TextIO) -> AsyncIterator[str]:
        for line in take(file):
            await asyncio.sleep(0)
            yield line

    async def run() -> list[str]:
        found = [await guard.acall("later", {"file": "src/old"})]
        return found + [line async for line in await guard.acall("alines", {"file": "src/old"})]

    with guard, guard.agent("a"):
        stream = guard.call("lines", {"file": "src/old"})
        assert next(stream) == "old\n"
        assert not files.closed
        assert list(stream) == ["new\n"]
        assert files.closed
        assert asyncio.run(run()) == ["old\nnew\n", "old\n", "new\n"]
        assert files.closed
        assert files.outcomes() == [("done", None)] * 3
        stream = guard.call("lines", {"file": "src/old"})
        next(stream)
        del stream
        gc.collect()
        assert files.outcomes()[3:] == [("abandoned", None)]
        assert files.closed


def test_it_is_closed_when_the_tool_fails(files: Files):
    @files.guard.tool(does={"write": "file"})
    def save(file: TextIO) -> None:
        files.take(file).write("half")
        raise RuntimeError("full")

    with files.guard, files.guard.agent("a"):
        with pytest.raises(RuntimeError):
            files.guard.call("save", {"file": "src/a"})
        assert files.outcomes() == [("failed", "RuntimeError")]
    assert files.closed
    assert (files.root / "src/a").read_text() == "half"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_what_cannot_be_written_is_a_failure(tmp_path: Path):
    """The function has returned by then: only closing says it."""
    guard = Guard({"remit": 1, "root": "/", "agents": {"a": {"may": ["*"]}}}, root="/dev", state=tmp_path / "state")

    @guard.tool(does={"write": "file"})
    def save(file: TextIO) -> None:
        file.write("x")

    with guard, guard.agent("a"):
        with pytest.raises(OSError, match="No space"):
            guard.call("save", {"file": "full"})
        guard.flush()
        with guard.authority.store.read() as view:
            said = [msgspec.json.decode(entry.body) for entry in entries(view)]
    assert [(one["result"], one["error"]) for one in said if one["type"] == "outcome"] == [("failed", "OSError")]


def test_a_file_that_is_not_there(files: Files):
    @files.guard.tool(does={"read": "file"})
    def read(file: TextIO | None = None) -> str:
        return file.read() if file is not None else "none"

    with files.guard, files.guard.agent("a"):
        assert (read(), files.guard.call("read", {"file": None})) == ("none", "none")
        with pytest.raises(FileNotFoundError):
            files.guard.call("read", {"file": "src/none"})
        assert files.outcomes()[2:] == [("failed", "FileNotFoundError")]


def test_an_open_file_is_not_taken(files: Files):
    """Nobody could tell where it leads."""

    @files.guard.tool(does={"read": "file"})
    def read(file: TextIO) -> str:
        return file.read()

    with files.guard, files.guard.agent("a"), (files.root / "src/old").open() as opened:
        with pytest.raises(CallDenied, match="must be the path of the file") as refused:
            read(opened)
        assert refused.value.code == "mistyped-argument"


def r_list(file: list[TextIO]) -> None: ...
def r_many(*file: TextIO) -> None: ...
def r_one(file: TextIO) -> None: ...


@pytest.mark.parametrize(
    ("function", "does"),
    [
        (r_one, "nothing"),
        (r_one, {"delete": "file"}),
        (r_one, {"read": "file", "delete": "file"}),
        (r_one, {"read": {"below": "file"}}),
        (r_one, {"read": {"records": "rows"}}),
        (r_list, {"read": "file"}),
        (r_many, {"read": "file"}),
    ],
)
def test_what_nobody_could_open_is_refused(files: Files, function: Any, does: Any):
    with pytest.raises(GuardError) as refused:
        files.guard.tool("tool", does=does)(function)
    assert "SafePath" in str(refused.value.help)
