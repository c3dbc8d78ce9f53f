"""What every kind of store must do. `test_store.py` runs it for each."""

from __future__ import annotations

import pytest

from remit.store import Store, StoreError, StoreMisused, StoreRefused, StoreUnavailable
from tests.store.place import Place, code_of, hear, names, put
from tests.store.sharing import Forks, Together

# fmt: off
OUTSIDE = [
    "", ";", "COMMIT", "ROLLBACK", "BEGIN", "SAVEPOINT a", "DROP TABLE leaf", "CREATE TABLE a (b INTEGER)",
    "PRAGMA synchronous = OFF", "SET synchronous_commit = off", "ATTACH 'x' AS y", "VACUUM", "-- nothing",
    "SELECT 1; SELECT 2", "SELECT 1; COMMIT", "/**/ COMMIT", "SELECT $1", "SELECT :a", "SELECT ?1", "EXPLAIN SELECT 1",
    "SELECT 'open", "SELECT /* open", "SELECT $$a$$", "SELECT E'\\'; COMMIT --'",
]
CHANGES = [
    "UPDATE leaf SET body = ?", "DELETE FROM leaf WHERE body <> ?", "DELETE FROM checkpoint WHERE note <> ?",
    "UPDATE checkpoint SET note = ?", "INSERT INTO leaf (seq, hash, body) VALUES (0, ?, '')",
    "INSERT INTO head (one, size, range) VALUES (2, 0, ?)", "INSERT INTO meta (name, value) VALUES ('a', ?)",
]
# fmt: on
EMPTY = ("leaf", "checkpoint", "secret", "running", "writer_process", "meta")


class Statements:
    """What statements and values mean."""

    def test_values_come_back_as_they_were(self, place: Place):
        store = place.open()
        texts = ["", "a", "?", "%s %", "ä€𝄞", "\n\t\\'\"", "x" * 100_000]
        with store.write() as transaction:
            for text in texts:
                transaction.run("INSERT INTO meta (name, value) VALUES (?, ?)", text, text.encode())
            transaction.run("INSERT INTO meta (name, value) VALUES ('all', ?)", bytes(range(256)))
            transaction.run("INSERT INTO meta (name, value) VALUES ('none', ?)", None)
            for number in (-(2**63), -1, 0, 1, 2**31, 2**63 - 1):
                transaction.run("INSERT INTO secret (seq, path, salt) VALUES (?, ?, ?)", number, str(number), b"")
        with store.read() as transaction:
            found = dict(transaction.rows("SELECT name, value FROM meta"))
            assert found == {text: text.encode() for text in texts} | {"all": bytes(range(256)), "none": None}
            assert {type(value) for value in found.values()} == {bytes, type(None)}
            assert all(str(seq) == text for seq, text in transaction.rows("SELECT seq, path FROM secret"))
            assert transaction.row("SELECT seq FROM secret WHERE seq = ?", True) == (1,)
            assert transaction.row("SELECT seq FROM secret WHERE seq = ?", 5) is None

    @pytest.mark.parametrize("value", ["a\0b", "\ud800", 2**63, -(2**63) - 1, 1.5, bytearray(b"x"), [1], object()])
    def test_values_that_no_store_could_keep_are_refused(self, place: Place, value):
        store = place.open()
        with pytest.raises(StoreMisused):
            put(store, value)
        with pytest.raises(StoreMisused), store.write() as transaction:
            transaction.run_many("INSERT INTO meta (name) VALUES (?)", [("fine",), (value,)])
        assert names(store) == []

    def test_sums_are_integers_and_text_sorts_by_its_bytes(self, place: Place):
        store = place.open()
        with store.write() as transaction:
            transaction.run_many("INSERT INTO meta (name) VALUES (?)", [(name,) for name in "aBé_bA"])
            transaction.run_many(
                "INSERT INTO secret (seq, path, salt) VALUES (?, 'x', ?)", [(n, b"") for n in range(5)]
            )
        assert names(store) == ["A", "B", "_", "a", "b", "é"]
        with store.read() as transaction:
            row = transaction.row("SELECT sum(seq), count(*), max(seq) FROM secret")
        assert row == (10, 5, 4)
        assert [type(value) for value in row] == [int, int, int]

    def test_a_question_mark_in_quotes_or_comments_is_no_value(self, place: Place):
        with place.open().read() as transaction:
            sql = """SELECT '?''?', ? AS "a?" -- really?
                     FROM head /* is it? */ WHERE one = ? AND '%' = '%';"""
            assert transaction.row(sql, "x", 1) == ("?'?", "x")

    @pytest.mark.parametrize("sql", OUTSIDE)
    def test_what_is_outside_the_common_subset_is_refused(self, place: Place, sql: str):
        store = place.open()
        for block in (store.write, store.read):
            with pytest.raises(StoreMisused), block() as transaction:
                transaction.run(sql)
        put(store, "still works")

    @pytest.mark.parametrize("sql", ["SELECT nothing FROM meta", "SELECT 1 FROM nowhere", "SELECT FROM WHERE"])
    def test_wrong_sql_is_misuse(self, place: Place, sql: str):
        store = place.open()
        for act in ("rows", "row", "run", "each"):
            with pytest.raises(StoreMisused), store.read() as transaction:
                list(getattr(transaction, act)(sql) or ())
        with pytest.raises(StoreMisused), store.read() as transaction:
            transaction.rows("SELECT name FROM meta WHERE name = ?")

    def test_run_tells_how_many_rows_changed(self, place: Place):
        store = place.open()
        with store.write() as transaction:
            assert transaction.run("INSERT INTO meta (name) VALUES ('a'), ('b'), ('c')") == 3
            assert transaction.run("UPDATE meta SET value = ? WHERE name < ?", b"x", "c") == 2
            assert transaction.run("DELETE FROM meta WHERE name = ?", "z") == 0

    def test_each_is_flat_in_memory(self, place: Place):
        store = place.open()
        with store.write() as transaction:
            transaction.run(
                """INSERT INTO leaf (seq, hash, body)
                   WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 39999)
                   SELECT i, ?, ? FROM n""",
                bytes(32),
                bytes(2000),
            )
        count, megabytes = hear(place.worker("stream")).split()
        assert int(count) == 40_000
        assert int(megabytes) < 20  # of 80


class Tables:
    """What is there at first, and what can't be done to it."""

    def test_the_ledger_is_empty_at_first(self, place: Place):
        with place.open().read() as transaction:
            assert transaction.rows("SELECT one, size, range FROM head") == [(1, 0, b"")]
            for table in EMPTY:
                assert transaction.rows(f"SELECT * FROM {table}") == []  # noqa: S608 (a name from the list above)

    @pytest.mark.parametrize("sql", CHANGES)
    def test_records_are_only_added_to(self, place: Place, sql: str):
        store = place.open()
        with store.write() as transaction:
            transaction.run("INSERT INTO leaf (seq, hash, body) VALUES (0, ?, ?)", bytes(32), b"first")
            transaction.run("INSERT INTO checkpoint (size, note) VALUES (1, ?)", b"signed")
        put(store, "a")
        with pytest.raises(StoreRefused), store.write() as transaction:
            transaction.run(sql, b"other")
        with store.read() as transaction:
            assert transaction.rows("SELECT body FROM leaf") == [(b"first",)]
            assert transaction.rows("SELECT note FROM checkpoint") == [(b"signed",)]

    def test_a_secret_can_be_erased(self, place: Place):
        store = place.open()
        with store.write() as transaction:
            transaction.run("INSERT INTO secret (seq, path, salt, value) VALUES (1, 'a', ?, ?)", b"s", b"v")
        with store.write() as transaction:
            assert transaction.run("DELETE FROM secret WHERE seq = 1 AND path = 'a'") == 1


class Transactions:
    """All or nothing, one writer, a state that holds still."""

    def test_what_was_written_is_there_for_everyone(self, place: Place):
        first, second = place.open(), place.open()
        put(first, "a")
        assert names(second) == ["a"]
        first.close()
        put(second, "b")
        assert names(place.open()) == ["a", "b"]

    def test_an_exception_rolls_back_and_passes_through(self, place: Place):
        store = place.open()
        for error in (ValueError("mine"), KeyboardInterrupt(), GeneratorExit()):
            with pytest.raises(type(error)) as caught:
                _fail(store, error)
            assert caught.value is error
        assert names(store) == []

    def test_a_failed_statement_fails_the_block_also_if_it_was_caught(self, place: Place):
        store = place.open()
        put(store, "there")

        def block() -> None:
            with store.write() as transaction:
                transaction.run("INSERT INTO meta (name) VALUES ('lost')")
                with pytest.raises(StoreRefused):
                    transaction.run("INSERT INTO meta (name) VALUES ('there')")
                with pytest.raises(StoreMisused, match="failed before"):
                    transaction.run("INSERT INTO meta (name) VALUES ('more')")

        assert code_of(block) == "store-refused"
        assert names(store) == ["there"]

    def test_rows_that_end_in_an_exception_are_not_kept(self, place: Place):
        store = place.open()

        def rows():
            yield ("a",)
            raise ZeroDivisionError

        def block() -> None:
            with store.write() as transaction, pytest.raises(ZeroDivisionError):
                transaction.run_many("INSERT INTO meta (name) VALUES (?)", rows())

        assert code_of(block) == "store-misused"
        assert names(store) == []

    def test_a_reader_sees_one_moment(self, place: Place):
        store, other = place.open(), place.open()
        put(store, "a")
        with store.read() as transaction:
            put(other, "b")
            put(store, "c")
            assert transaction.rows("SELECT name FROM meta") == [("a",)]
            put(other, "d")
            assert list(transaction.each("SELECT name FROM meta")) == [("a",)]
        assert names(store) == ["a", "b", "c", "d"]

    def test_a_stream_holds_still_while_others_write(self, place: Place):
        store = place.open()
        with store.write() as transaction:
            transaction.run_many(
                "INSERT INTO secret (seq, path, salt) VALUES (?, 'x', ?)", ((n, b"") for n in range(1000))
            )
        seen = 0
        with store.read() as transaction:
            for (seq,) in transaction.each("SELECT seq FROM secret ORDER BY seq"):
                if seq % 100 == 0:
                    with store.write() as writing:
                        writing.run("DELETE FROM secret WHERE seq > ?", seq)
                seen += 1
        assert seen == 1000

    @pytest.mark.parametrize(
        "sql", ["INSERT INTO meta (name) VALUES ('x')", "UPDATE head SET size = 9", "DELETE FROM head"]
    )
    def test_a_reader_can_not_write(self, place: Place, sql: str):
        store = place.open()
        with pytest.raises(StoreMisused, match="only reads"), store.read() as transaction:
            transaction.run(sql)
        with store.read() as transaction:
            assert transaction.row("SELECT size FROM head") == (0,)

    def test_a_write_inside_a_write_is_refused_at_once(self, place: Place):
        store = place.open()
        with store.write() as transaction:
            with pytest.raises(StoreMisused, match="write inside a write"):  # which is not "busy", after waiting
                put(store, "inner")
            transaction.run("INSERT INTO meta (name) VALUES ('outer')")
        assert names(store) == ["outer"]

    def test_a_read_inside_a_write_sees_what_was_before(self, place: Place):
        store = place.open()
        with store.write() as transaction:
            transaction.run("INSERT INTO meta (name) VALUES ('new')")
            assert names(store) == []
            assert transaction.rows("SELECT name FROM meta") == [("new",)]

    def test_a_transaction_ends_with_its_block(self, place: Place):
        store = place.open()
        put(store, "a")
        with store.read() as reading:
            stream = reading.each("SELECT name FROM meta")
            half = reading.each("SELECT one FROM head UNION ALL SELECT 2")
            next(half)
        with store.write() as writing:
            pass
        for act in (lambda: reading.rows("SELECT 1"), lambda: next(stream), lambda: next(half)):
            with pytest.raises(StoreMisused, match="is over"):
                act()
        with pytest.raises(StoreMisused, match="is over"):
            writing.run("DELETE FROM meta")
        assert names(store) == ["a"]

    def test_a_closed_store_says_so(self, place: Place):
        store = place.open()
        store.close()
        store.close()
        for act in (lambda: put(store, "a"), lambda: names(store)):
            with pytest.raises(StoreMisused, match="closed"):
                act()


def _fail(store: Store, error: BaseException) -> None:
    with store.write() as transaction:
        transaction.run("INSERT INTO meta (name) VALUES ('lost')")
        raise error


class Words:
    """What people are told."""

    def test_a_description_tells_where(self, place: Place):
        store = place.open()
        assert store.describe().lower().startswith(store.kind)

    def test_codes_are_stable(self):
        codes = {kind.__name__: kind.code for kind in StoreError.__subclasses__()}
        assert codes == {
            "StoreUnavailable": "store-unavailable",
            "StoreBusy": "store-busy",
            "StoreFull": "store-full",
            "StoreCorrupt": "store-corrupt",
            "StoreUnsafe": "store-unsafe",
            "StoreTooNew": "store-too-new",
            "StoreMisconfigured": "store-misconfigured",
            "StoreRefused": "store-refused",
            "StoreMisused": "store-misused",
        }
        assert StoreUnavailable("x").uncertain is False


class Acceptance(Statements, Tables, Transactions, Together, Forks, Words):
    """All of it. A subclass gives the fixture `place`."""
