"""Every entry proves that the log goes on from what its process has seen of it, whoever else wrote since."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from remit.record.append import TREE, append
from remit.record.entry import Entry, event_entry
from remit.record.errors import LedgerError, LedgerUnavailable
from remit.record.faults import faults
from remit.record.tree import CompactRange, leaf_hash
from remit.store import Store, open_store
from remit.store.errors import StoreFull
from tests.faults.tampering.harms import Scene, rewritten
from tests.postgres import Postgres
from tests.record.project import Project, deny

WRITER = "w"


class Place:
    """A store that several processes could open, and that somebody without a key can change."""

    def __init__(self, url: str | None, state: Path) -> None:
        self.url, self.state = url, state
        state.mkdir(mode=0o700)
        self._opened: list[Store] = []

    def open(self) -> Store:
        store = open_store(self.url, self.state, timeout=60)
        self._opened.append(store)
        return store

    def tamper(self, act: Callable[[Callable[..., Any]], None]) -> None:
        if self.url is not None:
            with psycopg.connect(self.url) as server:
                server.execute("SET search_path TO remit; SET session_replication_role = replica")
                act(lambda sql, *values: server.execute(sql.replace("?", "%s").encode(), values))
            return
        link = sqlite3.connect(self.state / "remit.db", timeout=60)
        for (name,) in link.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            link.execute(f"DROP TRIGGER {name}")
        act(lambda sql, *values: link.execute(sql, values))
        link.commit()
        link.close()

    def close(self) -> None:
        for store in self._opened:
            store.close()


@pytest.fixture(params=["sqlite", "postgres"])
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    url = None
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.uri_of(server.new_database())
    found = Place(url, tmp_path / "state")
    yield found
    found.close()


def _entry(number: int, text: str = "") -> Entry:
    return event_entry("heartbeat", number, WRITER, {"number": number, "text": text}, {})


def _write(store: Store, *numbers: int) -> None:
    with store.write() as change:
        append(change, [_entry(number) for number in numbers], WRITER)


def _rewrite(seq: int) -> Callable[[Callable[..., Any]], None]:
    """Replaces one entry, and makes the head fit."""

    def act(run: Callable[..., Any]) -> None:
        body = _entry(seq, "another").body
        run("UPDATE leaf SET body = ?, hash = ? WHERE seq = ?", body, leaf_hash(body), seq)
        _fit(run)

    return act


def _fit(run: Callable[..., Any]) -> None:
    tree = CompactRange()
    tree.extend(bytes(row[0]) for row in run("SELECT hash FROM leaf ORDER BY seq").fetchall())
    run("UPDATE head SET size = ?, range = ?", tree.size, tree.to_bytes())


@pytest.mark.parametrize("seq", [0, 2, 4, 7])
def test_a_fork_shows_also_where_others_wrote_since(place: Place, seq: int):
    """Whether what was replaced is one's own entry, one before it, or one that others wrote since."""
    mine, other = place.open(), place.open()
    _write(mine, *range(5))
    place.tamper(_rewrite(seq) if seq < 5 else lambda run: None)
    _write(other, 5, 6, 7, 8)
    if seq >= 5:
        with other.read() as view:
            assert view.recall(TREE).size == 9
        place.tamper(_rewrite(seq))
        _write(mine, 9)  # which has seen none of these: to this process, the log goes on
        mine, seen = other, 9
    else:
        seen = 5
    with mine.read() as view:
        assert view.recall(TREE).size == seen
    with pytest.raises(LedgerError) as caught:
        _write(mine, 10)
    assert caught.value.code == "ledger-forked"


def test_a_log_that_was_cut_and_is_long_again_is_forked(place: Place):
    mine, other = place.open(), place.open()
    _write(mine, *range(5))

    def cut(run: Callable[..., Any]) -> None:
        run("DELETE FROM leaf WHERE seq > 2")
        _fit(run)

    place.tamper(cut)
    with pytest.raises(LedgerError) as caught:
        _write(mine, 6)
    assert caught.value.code == "ledger-truncated"
    _write(other, *range(10, 20))
    with pytest.raises(LedgerError) as caught:
        _write(mine, 6)
    assert caught.value.code == "ledger-forked"


def test_a_log_that_goes_on_is_written_to_whoever_wrote_since(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("remit.record.append._TOGETHER", 3)
    stores = [place.open() for _ in range(3)]
    for number in range(40):
        _write(stores[number * number % 3], *range(1 + number % 4))
    for store in stores:
        _write(store, 1)


def test_what_was_rolled_back_is_not_remembered(place: Place):
    mine, other = place.open(), place.open()
    _write(mine, 0)

    def fail() -> None:
        with mine.write() as change:
            append(change, [_entry(1)], WRITER)
            append(change, [_entry(2)], WRITER)
            assert change.recall(TREE).size == 3
            raise StoreFull("no space left")

    with pytest.raises(StoreFull):
        fail()
    with mine.read() as view:
        assert view.recall(TREE).size == 1
    _write(other, 3)
    _write(mine, 4)


def test_a_reader_recalls_what_was_remembered_before_its_moment(place: Place):
    store = place.open()
    _write(store, 0)
    with store.read() as view:
        thread = threading.Thread(target=_write, args=(store, 1, 2))
        thread.start()
        thread.join()
        assert view.recall(TREE).size == 1
        view.remember(TREE, view.recall(TREE))
    with store.read() as view:
        assert view.recall(TREE).size == 3, "what the reader remembers is old"


@pytest.mark.filterwarnings("ignore::remit.record.errors.LedgerWarning")
@pytest.mark.parametrize("harm", ["cut", "rewritten"])
def test_a_look_at_everything_forgets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: str):
    """What this process wrote and nobody signed yet is known to it alone: looking at what was signed keeps that."""
    project = Project(tmp_path, monkeypatch)
    with project.open() as opened:
        opened.checkpoint()
        for _ in range(3):
            deny(opened)
        if harm == "cut":
            project.cut(1)
        else:
            Scene(project.state, tmp_path, tmp_path).sql(
                rewritten(Scene(project.state, tmp_path, tmp_path), 2), head=True
            )
        assert {one.code for one in faults(opened)} & {"ledger-truncated", "ledger-forked"}
        with pytest.raises(LedgerUnavailable):
            deny(opened)


def test_a_head_that_is_changed_while_an_entry_is_written_is_noticed(postgres: Postgres, tmp_path: Path):
    """PostgreSQL: who tampers takes no turn, so the head can change between a writer's look and its update."""
    place = Place(postgres.uri_of(postgres.new_database()), tmp_path / "state")
    mine = place.open()
    _write(mine, *range(5))
    found: list[BaseException] = []

    def write() -> None:
        try:
            _write(mine, 5)
        except BaseException as error:
            found.append(error)

    with psycopg.connect(place.url or "") as server, psycopg.connect(place.url or "", autocommit=True) as watch:
        server.execute("SET search_path TO remit; SET session_replication_role = replica")
        _rewrite(4)(lambda sql, *values: server.execute(sql.replace("?", "%s").encode(), values))
        thread = threading.Thread(target=write)
        thread.start()
        waits = b"SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        while (watch.execute(waits).fetchone() or (0,))[0] == 0:
            assert thread.is_alive(), found
            time.sleep(0.01)
        server.commit()
        thread.join()
    assert isinstance(found[0], LedgerError)
    assert found[0].code == "ledger-forked"
    with pytest.raises(LedgerError) as caught:
        _write(mine, 6)
    assert caught.value.code == "ledger-forked"
    place.close()
