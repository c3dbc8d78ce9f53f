"""SQLite alone: its file, the disk below it, and what may happen to both."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from remit.store import StoreCorrupt, StoreError, StoreFull, StoreUnavailable, StoreUnsafe, filesystem, sqlite
from remit.store.sqlite import APPLICATION, SqliteStore, translate
from tests.store.place import Place, code_of, count_up, counted, hear, in_child, names, put


@pytest.fixture
def place(sqlite_place: Place) -> Place:
    return sqlite_place


def database(place: Place) -> Path:
    return place.state / "remit.db"


def files(place: Place) -> list[str]:
    return sorted(path.name for path in place.state.iterdir())


def test_files_are_for_their_owner_only(place: Place):
    previous = os.umask(0)
    try:
        store = place.open()
        put(store, "a")
    finally:
        os.umask(previous)
    assert files(place) == ["remit.db", "remit.db-lock", "remit.db-shm", "remit.db-wal"]
    assert {path.stat().st_mode & 0o7777 for path in place.state.iterdir()} == {0o600}
    store.close()
    assert files(place) == ["remit.db", "remit.db-lock"]


def test_settings_are_in_force(place: Place):
    store = place.open()
    assert isinstance(store, SqliteStore)
    wanted = {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0, "recursive_triggers": 1}
    wanted |= {"secure_delete": 1, "application_id": APPLICATION, "fullfsync": 1, "cell_size_check": 1}
    for block in (store.write, store.read):
        with block() as transaction:
            connection = transaction._link.connection
            assert {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in wanted} == wanted


def test_replacing_a_row_is_deleting_it(place: Place):
    store = place.open()
    count_up(store, "first")
    for sql in ("INSERT OR REPLACE INTO leaf (seq, hash, body) VALUES (0, ?, ?)", "REPLACE INTO leaf VALUES (0, ?, ?)"):
        with pytest.raises(StoreError), store.write() as transaction:
            transaction.run(sql, bytes(32), b"other")
    assert counted(store) == [(0, "first")]


def test_what_was_erased_is_not_left_in_the_file(place: Place):
    store = place.open()
    value = b"a very secret value" * 3
    with store.write() as transaction:
        transaction.run("INSERT INTO secret (seq, path, salt, value) VALUES (1, 'a', ?, ?)", b"s", value)
    store.close()
    assert value in database(place).read_bytes()
    store = place.open()
    with store.write() as transaction:
        transaction.run("DELETE FROM secret")
    store.close()
    assert value not in database(place).read_bytes()


def test_a_child_of_a_busy_parent_can_not_open_the_file_anew(place: Place):
    store = place.open()
    with store.write():
        assert in_child(place.open) == "store-unavailable"
    assert in_child(place.open) == "ok"


class TestFull:
    """Nothing more can be written."""

    def fill(self, store) -> int:
        """Writes until it fails; how many were kept."""
        count = 0
        try:
            while True:
                put(store, f"{count:04}", bytes(20_000))
                count += 1
        except StoreFull:
            return count

    def test_too_many_pages(self, place: Place, monkeypatch: pytest.MonkeyPatch):
        place.open().close()
        with monkeypatch.context() as patch:
            patch.setitem(sqlite.SETTINGS, "max_page_count", "60")
            store = place.open()
            count = self.fill(store)
            assert 2 < count < 20
            assert code_of(lambda: put(store, "again", bytes(20_000))) == "store-full"
            put(store, "small")  # a small one still fits
        assert len(names(store)) == count + 1
        store.close()
        store = place.open()
        put(store, "more", bytes(20_000))

    def test_a_full_disk(self, small_disk: Path):
        store = SqliteStore(small_disk / "state" / "remit.db")
        sqlite_migrate(store)
        count = self.fill(store)
        assert len(names(store)) == count
        (small_disk / "ballast").unlink()
        put(store, "after", bytes(20_000))
        assert len(names(store)) == count + 1
        store.close()

    def test_no_room_to_make_it(self, small_disk: Path):
        with suppress(OSError), (small_disk / "rest").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))
        assert code_of(lambda: sqlite_migrate(SqliteStore(small_disk / "state" / "remit.db"))) == "store-full"

    def test_a_disk_that_turns_read_only(self, small_disk: Path):
        store = SqliteStore(small_disk / "state" / "remit.db")
        sqlite_migrate(store)
        put(store, "a")
        store.close()
        mount("-o", "remount,ro", str(small_disk))
        try:
            assert code_of(lambda: put(SqliteStore(small_disk / "state" / "remit.db"), "b")) == "store-full"
        finally:
            mount("-o", "remount,rw", str(small_disk))
        store = SqliteStore(small_disk / "state" / "remit.db")
        put(store, "b")
        assert names(store) == ["a", "b"]
        store.close()


def sqlite_migrate(store: SqliteStore) -> None:
    from remit.store.migrate import migrate

    migrate(store)


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True, capture_output=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MB, with a state directory and something else in it."""
    disk = tmp_path / "disk"
    disk.mkdir(mode=0o700)
    try:
        mount("-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", str(disk))
    except (subprocess.CalledProcessError, FileNotFoundError):
        pytest.skip("mounting a small file system needs root")
    try:
        (disk / "state").mkdir(mode=0o700)
        (disk / "ballast").write_bytes(bytes(300_000))
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_can_not_be_written(place: Place):
    place.state.chmod(0o500)
    assert code_of(place.open) == "store-unsafe"


class TestDamage:
    """Files that are not what was left there."""

    @pytest.mark.parametrize(
        "content", [b"garbage" * 1000, b"SQLite format 3\0" + b"\xff" * 5000, b"x", bytes(511), bytes(4096)]
    )
    def test_no_database(self, place: Place, content: bytes):
        database(place).write_bytes(content)
        database(place).chmod(0o600)
        assert code_of(place.open) == "store-corrupt"
        assert database(place).read_bytes() == content

    def test_an_overwritten_header(self, place: Place):
        store = place.open()
        put(store, "a")
        store.close()
        with database(place).open("r+b") as file:
            file.write(os.urandom(100))
        assert code_of(place.open) == "store-corrupt"

    def test_a_database_of_another_program(self, place: Place):
        with sqlite3.connect(database(place)) as connection:
            connection.execute("CREATE TABLE theirs (a)")
        connection.close()
        database(place).chmod(0o600)
        assert code_of(place.open) == "store-corrupt"

    def test_an_empty_file_is_a_new_store(self, place: Place):
        database(place).touch(mode=0o600)
        put(place.open(), "a")

    def test_a_header_that_tells_another_version(self, place: Place):
        place.open().close()
        connection = sqlite3.connect(database(place))
        connection.execute("PRAGMA user_version = 700")
        connection.close()
        assert code_of(place.open) == "store-corrupt"

    def test_a_damaged_page_is_found_after_a_crash(self, place: Place):
        store = place.open()
        with store.write() as transaction:
            rows = ((f"{n:05}", bytes(300)) for n in range(2000))
            transaction.run_many("INSERT INTO meta (name, value) VALUES (?, ?)", rows)
        store.close()
        content = bytearray(database(place).read_bytes())
        worker = place.worker("hold")
        assert hear(worker) == "held"
        worker.kill()  # leaves its log behind
        worker.wait()
        for page in range(80, 100):  # among the values: the tables themselves lie before them
            content[page * 4096 : page * 4096 + 200] = os.urandom(200)
        with database(place).open("r+b") as file:
            file.write(content)
        (place.state / "remit.db-wal").write_bytes(b"")
        place.open().close()  # without a log it counts as closed, and isn't read as a whole
        crash(place)
        with pytest.raises(StoreCorrupt, match=r"damaged|malformed"):
            place.open()

    def test_a_store_that_was_closed_is_not_read_as_a_whole(self, place: Place, monkeypatch: pytest.MonkeyPatch):
        examined: list[Path] = []
        monkeypatch.setattr(sqlite, "_examine", lambda _, path: examined.append(path))
        put(place.open(), "a")
        place.open()  # beside another that is open
        place.clear()
        place.open().close()
        assert examined == []
        crash(place)
        place.open()
        assert examined == [database(place)]

    def test_a_crash_alone_is_no_damage(self, place: Place):
        put(place.open(), "a")
        place.clear()
        crash(place)
        assert names(place.open())[0] == "a"


def crash(place: Place) -> None:
    """A process that commits something and is killed, so that its log stays."""
    worker = place.worker("count", "100000", "x")
    hear(worker)
    worker.kill()
    worker.communicate()
    assert (place.state / "remit.db-wal").stat().st_size


class TestSwapped:
    """Files that are moved while a store is open."""

    def test_another_file_in_its_place(self, place: Place, tmp_path: Path):
        store = place.open()
        put(store, "a")
        away = tmp_path / "away"
        os.rename(database(place), away)
        (tmp_path / "other").mkdir(mode=0o700)
        other = SqliteStore(tmp_path / "other" / "remit.db")
        sqlite_migrate(other)
        other.close()
        shutil.copy(tmp_path / "other" / "remit.db", database(place))
        database(place).chmod(0o600)
        for _ in range(3):
            with pytest.raises(StoreCorrupt, match="replaced"):
                put(store, "b")
            with pytest.raises(StoreCorrupt, match="replaced"):
                names(store)
        os.rename(away, database(place))
        put(store, "c")
        assert names(store) == ["a", "c"]

    def test_no_file_in_its_place(self, place: Place, tmp_path: Path):
        store = place.open()
        put(store, "a")
        os.rename(database(place), tmp_path / "away")
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match="gone"):
                put(store, "b")
        assert not database(place).exists()
        os.rename(tmp_path / "away", database(place))
        put(store, "b")

    @pytest.mark.parametrize("end", ["-wal", "-shm"])
    def test_a_log_that_is_deleted_in_between(self, place: Place, end: str):
        store = place.open()
        put(store, "a")
        (place.state / f"remit.db{end}").unlink()
        with pytest.raises(StoreCorrupt, match="replaced"):
            put(store, "b")

    @pytest.mark.parametrize("kept", [0, 32, 5_000])
    def test_a_log_that_is_cut_in_between(self, place: Place, kept: int):
        """SQLite itself would write on, from memory, and leave zeroes where the log was."""
        store = place.open()
        for name in ("a", "b", "c"):
            put(store, name)
        os.truncate(place.state / "remit.db-wal", kept)
        for _ in range(3):
            with pytest.raises(StoreError):
                put(store, "d")
        assert (place.state / "remit.db-wal").stat().st_size == kept

    def test_a_log_that_another_process_empties_is_not_cut(self, place: Place):
        store = place.open()
        put(store, "a")
        code = """
import sqlite3, sys
print(sqlite3.connect(sys.argv[1]).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone())
"""
        words = [sys.executable, "-c", code, str(database(place))]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        assert done.stdout == "(0, 0, 0)\n"
        assert (place.state / "remit.db-wal").stat().st_size == 0
        put(store, "b")
        assert names(store) == ["a", "b"]

    def test_a_swap_inside_a_transaction_is_told_at_its_end(self, place: Place, tmp_path: Path):
        store = place.open()
        with pytest.raises(StoreError) as caught, store.write() as transaction:  # noqa: PT012 (the end of it raises)
            transaction.run("INSERT INTO meta (name) VALUES ('a')")
            os.rename(database(place), tmp_path / "away")
        assert caught.value.uncertain


class TestPlace:
    """Where it may lie, and how."""

    @pytest.mark.parametrize("mode", [0o755, 0o750, 0o701, 0o770, 0o500])
    def test_a_directory_with_another_mode(self, place: Place, mode: int):
        place.state.chmod(mode)
        with pytest.raises(StoreUnsafe) as caught:
            place.open()
        assert caught.value.help == f"chmod 700 {place.state}"
        place.state.chmod(0o700)
        place.open()

    @pytest.mark.parametrize("name", ["remit.db", "remit.db-wal", "remit.db-lock"])
    @pytest.mark.parametrize("mode", [0o644, 0o640, 0o660, 0o602])
    def test_a_file_with_another_mode(self, place: Place, name: str, mode: int):
        place.open().close()
        (place.state / name).touch()
        (place.state / name).chmod(mode)
        with pytest.raises(StoreUnsafe) as caught:
            place.open()
        assert caught.value.help == f"chmod 600 {place.state / name}"

    @pytest.mark.parametrize("name", ["remit.db", "remit.db-wal", "remit.db-lock"])
    def test_a_link(self, place: Place, tmp_path: Path, name: str):
        (tmp_path / "target").touch(mode=0o600)
        (place.state / name).symlink_to(tmp_path / "target")
        assert code_of(place.open) == "store-unsafe"
        assert (tmp_path / "target").read_bytes() == b""

    @pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs root")
    @pytest.mark.parametrize("name", ["", "remit.db"])
    def test_something_that_belongs_to_another(self, place: Place, name: str):
        place.open().close()
        os.chown(place.state / name, 12345, 12345)
        assert code_of(place.open) == "store-unsafe"

    @pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs", "fuse.unheard-of", "virtiofs"])
    def test_a_network(self, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str):
        mounts = tmp_path / "mountinfo"
        mounts.write_text(
            "22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw\n"
            f"40 22 0:40 / {place.state} rw shared:2 - {kind} server:/share rw\n"
        )
        monkeypatch.setattr(filesystem, "MOUNTS", mounts)
        with pytest.raises(StoreUnsafe, match=kind):
            place.open()
        assert files(place) == []

    def test_a_place_that_the_kernel_does_not_tell(self, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(filesystem, "MOUNTS", tmp_path / "nothing")
        assert code_of(place.open) == "store-unsafe"


def test_an_error_without_a_code_is_never_lost():
    assert translate(sqlite3.OperationalError("Could not decode to UTF-8")).code == "store-corrupt"
    assert translate(sqlite3.ProgrammingError("x")).code == "store-misused"
    assert translate(sqlite3.InterfaceError("x")).code == "store-misused"


@pytest.mark.parametrize(
    ("code", "help_"),
    [
        (sqlite3.SQLITE_FULL, "the disk is full, read-only or failing"),
        (sqlite3.SQLITE_IOERR, "the disk is full, read-only or failing"),
        (sqlite3.SQLITE_READONLY, "the disk is full, read-only or failing"),
        (sqlite3.SQLITE_BUSY, None),
    ],
)
def test_a_disk_that_takes_nothing_is_called_that(code, help_):
    """SQLite says `disk I/O error` on a full disk."""
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorcode = code
    assert translate(error).help == help_
