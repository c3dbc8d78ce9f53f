"""The quick way through a guard: the same answers and the same record as the long one, and never a wait."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from remit.compile.tasks import task_from
from remit.enforce.acting import acting_for
from remit.enforce.errors import CallDenied
from remit.enforce.guard import Guard
from remit.record import writer
from remit.record.errors import LedgerError
from remit.record.reader import entries
from remit.record.writer import Ledger

POLICY = {
    "remit": 1,
    "agents": {
        "reader": {"may": ["search", "asearch", "read"], "data_tiers": [0]},
        "other": {"may": []},
    },
    "labels": {"data": {2: {"path": ["secret/**"]}}},
}


class Subject:
    """A guard, its functions, and what ran."""

    def __init__(self, folder: Path) -> None:
        self.ran: list[Any] = []
        self.guard = Guard(POLICY, root=folder, state=folder / "state")
        ran = self.ran

        @self.guard.tool(does="nothing")
        def search(query: str, most: int = 3) -> str:
            ran.append((query, most))
            return query

        @self.guard.tool(does="nothing")
        async def asearch(query: str) -> str:
            ran.append(threading.current_thread() is threading.main_thread())
            return query

        @self.guard.tool(does={"read": "path"})
        def read(path: Path) -> str:
            ran.append(str(path))
            return str(path)

        self.search, self.read = self._as_reader(search), self._as_reader(read)
        self.asearch = asearch

    def _as_reader(self, function: Any) -> Any:
        """Called by the reader, where no test says who calls."""

        def called(*args: Any) -> Any:
            if acting_for(self.guard.blocks) is not None:
                return function(*args)
            with self.guard.agent("reader"):
                return function(*args)

        return called

    def warm(self) -> None:
        """From now on the quick way is known."""
        for _ in range(3):
            self.search("warm")
            self.read(Path("warm"))
        self.ran.clear()

    def taken(self, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
        """Whether each call from now on took the quick way."""
        found: list[bool] = []
        ledger = cast("Ledger", self.guard.enforcer.ledger)
        queue, intent = ledger.queue_intent, ledger.intent

        def queued(*args: Any) -> Any:
            name = queue(*args)
            found.extend([True] if name is not None else [])
            return name

        def waited(*args: Any, **named: Any) -> Any:
            found.append(False)
            return intent(*args, **named)

        monkeypatch.setattr(ledger, "queue_intent", queued)
        monkeypatch.setattr(ledger, "intent", waited)
        return found

    def record(self) -> list[dict[str, Any]]:
        self.guard.flush()
        with self.guard.authority.store.read() as view:
            return [one.data for one in entries(view) if one.data["type"] in ("intent", "outcome")]


@pytest.fixture
def subject(tmp_path: Path) -> Iterator[Subject]:
    made = Subject(tmp_path)
    with made.guard:
        yield made


def test_what_it_records_is_the_same(subject: Subject, monkeypatch: pytest.MonkeyPatch):
    taken = subject.taken(monkeypatch)
    for _ in range(6):
        assert subject.search("x") == "x"
    assert taken[0] is False
    assert taken[-1] is True
    found = subject.record()
    intents = [one for one in found if one["type"] == "intent"]
    outcomes = {one["call"]: one for one in found if one["type"] == "outcome"}
    assert len(intents) == len(outcomes) == 6
    shapes = {tuple(sorted((k, str(v)) for k, v in one.items() if k not in ("at", "call", "args"))) for one in intents}
    assert len(shapes) == 1
    for one in intents:
        assert outcomes[one["call"]]["result"] == "done"
        assert found.index(one) < found.index(outcomes[one["call"]])


def test_paths_are_looked_up_each_time(subject: Subject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    subject.warm()
    taken = subject.taken(monkeypatch)
    subject.read(Path("plain"))
    (tmp_path / "secret").mkdir()
    (tmp_path / "link").symlink_to("secret")
    with pytest.raises(CallDenied) as denied:
        subject.read(Path("link/a"))
    assert denied.value.code == "data-tier"
    assert taken == [True, False]
    assert subject.ran == [str(tmp_path.resolve() / "plain")]


@pytest.mark.parametrize(("args", "code"), [((5,), "mistyped-argument"), (("x", "many"), "mistyped-argument")])
def test_it_refuses_nothing_itself_and_allows_nothing_else(subject: Subject, args: Any, code: str):
    subject.warm()
    with pytest.raises(CallDenied) as denied:
        subject.search(*args)
    assert denied.value.code == code
    assert subject.ran == []


def test_what_cannot_be_written_down_does_not_run(subject: Subject):
    subject.warm()
    with pytest.raises(CallDenied):
        subject.search(object())
    assert subject.ran == []


def test_a_stopped_ledger_stops_it(subject: Subject):
    subject.warm()
    cast("Ledger", subject.guard.enforcer.ledger).stopped = LedgerError("not the log that was signed")
    with pytest.raises(CallDenied) as denied:
        subject.search("x")
    assert denied.value.code == "ledger-unavailable"
    assert subject.ran == []
    cast("Ledger", subject.guard.enforcer.ledger).stopped = None


def test_a_ledger_that_is_down_stops_it(subject: Subject, monkeypatch: pytest.MonkeyPatch):
    subject.warm()
    ledger = cast("Ledger", subject.guard.enforcer.ledger)
    monkeypatch.setattr(ledger, "deadline", 0.2)

    def broken(batch: Any) -> Any:
        raise OSError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(ledger._committer, "commit", broken)
        subject.search("queued")  # nobody has noticed yet
        codes = set()
        for _ in range(3):
            try:
                subject.search("x")
            except CallDenied as denied:
                codes.add(denied.code)
            threading.Event().wait(0.3)
        assert codes == {"ledger-unavailable"}
    monkeypatch.setattr(ledger, "deadline", 5.0)
    threading.Event().wait(1.0)
    assert subject.search("again") == "again"


def test_a_full_queue_makes_it_wait(subject: Subject, monkeypatch: pytest.MonkeyPatch):
    subject.warm()
    taken = subject.taken(monkeypatch)
    monkeypatch.setattr(writer, "QUEUE", 0)
    assert subject.search("x") == "x"
    assert taken == [False]
    assert [one["result"] for one in subject.record() if one["type"] == "outcome"][-1] == "done"


def test_large_arguments_wait(subject: Subject, monkeypatch: pytest.MonkeyPatch):
    subject.warm()
    taken = subject.taken(monkeypatch)
    subject.search("x" * (writer.LARGE + 1))
    assert taken == [False]


def test_a_task_takes_the_long_way(subject: Subject, monkeypatch: pytest.MonkeyPatch):
    """Its budget is counted, and its end counts at once."""
    subject.warm()
    guard = subject.guard
    data = {"id": "T-1", "agent": "reader", "goal": "x", "budget": {"calls": 1}}
    guard.authority.issue(guard.rulebook, task_from(guard.rulebook, data))
    taken = subject.taken(monkeypatch)

    def within() -> None:
        with guard.agent("reader", capsule="T-1"):
            subject.search("x")
            with pytest.raises(CallDenied) as denied:
                subject.search("x")
            assert denied.value.code == "budget-spent"

    thread = threading.Thread(target=within)  # by itself: no hand-over
    thread.start()
    thread.join()
    assert taken == [False, False, False]  # the last one anew, without what it would have used up
    assert guard.authority.state("T-1").spent["calls"] == 1


def test_async_calls_take_no_thread(subject: Subject, monkeypatch: pytest.MonkeyPatch):
    async def main() -> None:
        with subject.guard.agent("reader"):
            for _ in range(5):
                assert await subject.asearch("x") == "x"

    asyncio.run(main())
    taken = subject.taken(monkeypatch)
    threads = []
    monkeypatch.setattr(asyncio, "to_thread", lambda *args, **named: threads.append(args))
    asyncio.run(main())
    assert taken == [True] * 5
    assert threads == []
    assert len([one for one in subject.record() if one["type"] == "outcome"]) == 10


def test_a_function_that_raises(subject: Subject, tmp_path: Path):
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["fail"]}}}, root=tmp_path, state=tmp_path / "other")

    @guard.tool(does="nothing")
    def fail(now: bool) -> None:
        if now:
            raise ValueError("no")

    with guard, guard.agent("a"):
        for _ in range(3):
            fail(False)
        with pytest.raises(ValueError, match="no"):
            fail(True)
        guard.flush()
        with guard.authority.store.read() as view:
            results = [one.data["result"] for one in entries(view) if one.data["type"] == "outcome"]
    assert results == ["done", "done", "done", "failed"]


def test_after_a_fork(subject: Subject):
    subject.warm()
    child = os.fork()
    if child == 0:
        try:
            subject.search("child")
            subject.guard.flush()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    subject.search("parent")
    found = subject.record()
    writers = [one["writer"] for one in found if one["type"] == "intent"]
    assert len(set(writers)) == 2
    assert len({one["call"] for one in found if one["type"] == "intent"}) == len(writers)


def test_what_many_threads_queue_is_written_without_anybody_asking(subject: Subject):
    subject.warm()
    guard = subject.guard
    for _ in range(20):
        barrier = threading.Barrier(4)

        def work(barrier: threading.Barrier = barrier) -> None:
            with guard.agent("reader"):
                barrier.wait()
                subject.search("x")

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        ledger, pause = guard.enforcer.ledger, threading.Event()
        assert isinstance(ledger, writer.Ledger)
        for _ in range(200):
            if not ledger._open.items:
                break
            pause.wait(0.02)
        assert ledger._open.items == []
