"""The part of the acceptance suite about threads, processes and forks."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from remit.store import StoreBusy, StoreError
from tests.store.place import Place, code_of, count_up, counted, hear, in_child, names, put, tell


class Together:
    """Threads and processes."""

    def test_threads_count_without_gaps(self, place: Place):
        store = place.open(timeout=30)
        failures: list[BaseException] = []

        def work(name: str) -> None:
            try:
                for _ in range(15):
                    count_up(store, name)
                    counted(store)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(str(n),)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert [seq for seq, _ in counted(store)] == list(range(120))

    def test_processes_count_without_gaps(self, place: Place):
        workers = [place.worker("count", "25", f"p{n}") for n in range(4)]
        told: dict[int, str] = {}
        for n, worker in enumerate(workers):
            out, _ = worker.communicate(timeout=60)
            told |= {int(line): f"p{n}" for line in out.split()}
            assert worker.returncode == 0
        assert counted(place.open()) == sorted(told.items())
        assert sorted(told) == list(range(100))

    def test_processes_that_open_an_empty_store_at_once_all_succeed(self, place: Place):
        workers = [place.worker("open") for _ in range(4)]
        for worker in workers:
            tell(worker)
        assert [hear(worker) for worker in workers] == [place.open().kind] * 4

    def test_a_lock_that_is_held_too_long_is_busy_and_then_free(self, place: Place):
        store = place.open(timeout=2)
        holder = place.worker("hold")
        assert hear(holder) == "held"
        start = time.monotonic()
        with pytest.raises(StoreBusy):
            put(store, "a")
        assert time.monotonic() - start > 1.5
        assert names(store) == []
        tell(holder)
        assert holder.wait(timeout=30) == 0
        put(store, "a")
        assert names(store) == ["a", "held"]

    def test_a_thread_that_holds_too_long_makes_others_busy(self, place: Place):
        store = place.open(timeout=2)
        codes: list[str] = []
        with store.write():
            thread = threading.Thread(target=lambda: codes.append(code_of(lambda: put(store, "a"))))
            thread.start()
            thread.join()
        assert codes == ["store-busy"]
        put(store, "a")

    def test_many_readers_wait_for_their_turn(self, place: Place):
        store = place.open(timeout=30)
        put(store, "a")
        found: list[list[str]] = []
        threads = [threading.Thread(target=lambda: found.append(names(store))) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [["a"]] * 20

    def test_a_killed_writer_leaves_nothing_and_no_lock(self, place: Place):
        store = place.open()
        holder = place.worker("hold")
        assert hear(holder) == "held"
        holder.kill()
        holder.wait()
        put(store, "a")
        assert names(store) == ["a"]

    def test_what_a_killed_process_had_confirmed_is_kept(self, place: Place):
        confirmed: list[int] = []
        for cycle in range(6):
            worker = place.worker("count", "100000", f"c{cycle}")
            for _ in range(cycle * 3 + 1):
                confirmed.append(int(hear(worker)))
            worker.send_signal(signal.SIGKILL)
            assert worker.stdout is not None
            rest = worker.stdout.read()  # not `communicate`, which skips what this end has buffered
            confirmed += [int(line) for line in rest.splitlines(keepends=True) if line.endswith("\n")]
        store = place.open()
        kept = [seq for seq, _ in counted(store)]
        assert kept == list(range(len(kept)))
        assert set(confirmed) <= set(kept)
        assert len(kept) - len(confirmed) <= 6  # at most the one that each was about to tell


class Forks:
    """A child that inherited a store."""

    def test_a_child_and_its_parent_both_go_on(self, place: Place):
        store = place.open()
        put(store, "before")
        assert in_child(lambda: put(store, "child")) == "ok"
        put(store, "parent")
        assert names(store) == ["before", "child", "parent"]

    def test_what_a_child_commits_stays_when_the_parent_closes(self, place: Place):
        store = place.open()
        names(store)
        put(store, "parent")
        ready, closed = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            put(store, "first")
            os.write(ready[1], b".")
            os.read(closed[0], 1)  # the parent leaves, while this one has the store open
            os._exit(0 if code_of(lambda: put(store, "second")) == "ok" else 1)
        os.read(ready[0], 1)
        store.close()
        os.write(closed[1], b".")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        for end in (*ready, *closed):
            os.close(end)
        assert names(place.open()) == ["first", "parent", "second"]

    def test_a_child_of_a_busy_parent_is_refused_and_the_parent_goes_on(self, place: Place):
        store = place.open()
        with store.write() as transaction:
            transaction.run("INSERT INTO meta (name) VALUES ('a')")
            assert in_child(lambda: put(store, "child")) == "store-unavailable"
            assert in_child(lambda: transaction.run("DELETE FROM meta")) == "store-misused"
            transaction.run("INSERT INTO meta (name) VALUES ('c')")
        assert names(store) == ["a", "c"]

    def test_a_child_that_leaves_its_parents_block_commits_nothing(self, place: Place):
        store = place.open()

        code = "ok"
        try:
            with store.write() as transaction:
                transaction.run("INSERT INTO meta (name) VALUES ('a')")
                child = os.fork()
                if child:
                    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
                    transaction.run("INSERT INTO meta (name) VALUES ('b')")
        except StoreError as error:
            code = error.code
        if child == 0:
            os._exit(7 if code == "store-misused" else 1)
        assert code == "ok"
        assert names(store) == ["a", "b"]

    def test_a_thread_in_a_transaction_counts_as_busy(self, place: Place):
        store = place.open()
        inside, go = threading.Event(), threading.Event()

        def work() -> None:
            with store.read():
                inside.set()
                go.wait(30)

        thread = threading.Thread(target=work)
        thread.start()
        inside.wait(30)
        try:
            answer = in_child(lambda: names(store))
        finally:
            go.set()
            thread.join()
        assert answer == "store-unavailable"
        assert names(store) == []
