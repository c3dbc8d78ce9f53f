"""The passphrase: kept as a hash, slow to guess, and never without an entry in the ledger."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from remit.grant import credential
from remit.grant.activation import Activation, add_activation, newest_activation
from remit.grant.credential import (
    FREE,
    LONGEST_WAIT,
    CredentialError,
    Parameters,
    Throttled,
    check_passphrase,
    is_set,
    set_passphrase,
    status,
    unfit,
    unlock,
    wait_after,
)
from remit.record.people import public_keys, verifies
from remit.record.state import CREDENTIAL, StateForged, put
from remit.store import Store, StoreError, StoreRefused, open_store
from remit.store.interface import Transaction
from tests.postgres import Postgres
from tests.record.stores import FaultyStore, new_store, said

RIGHT, WRONG = "correct horse battery", "correct horse batterx"
SECOND = 1_000_000_000


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "sqlite":
        found = new_store(tmp_path)
    else:
        server: Postgres = request.getfixturevalue("postgres")
        found = open_store(server.uri_of(server.new_database()), tmp_path)
    yield found
    found.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cheap hash; what it costs in earnest has tests of its own, which undo this."""
    monkeypatch.setattr(credential, "NOW", Parameters(n=2**8, r=8, p=1, length=32))


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_800_000_000 * SECOND

    def __call__(self) -> int:
        return self.now


def raw(store: Store) -> tuple[Any, ...]:
    with store.read() as view:
        row = view.row("SELECT salt, parameters, hash, failures, failed_at FROM credential")
    assert row is not None
    return row


def test_set_and_checked(store: Store) -> None:
    assert not is_set(store)
    assert not check_passphrase(store, RIGHT)
    set_passphrase(store, RIGHT, who="anna")
    assert is_set(store)
    assert check_passphrase(store, RIGHT, who="anna", doing="activate small")
    assert not check_passphrase(store, WRONG, who="bob", doing="activate small")
    assert not check_passphrase(store, "")
    events = [(entry["type"], entry["what"], entry["who"], entry["doing"]) for entry in said(store)]
    assert events == [
        ("credential", "set", "anna", "set the passphrase"),
        ("credential", "given", "anna", "activate small"),
        ("credential", "refused", "bob", "activate small"),
        ("credential", "refused", "unknown", ""),
    ]


def test_only_a_salted_hash_is_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    set_passphrase(store, RIGHT)
    salt, parameters, hash_, *_ = raw(store)
    assert (len(salt), len(hash_)) == (16, 32)
    assert json.loads(parameters) == {"scrypt": {"n": 32768, "r": 8, "p": 1, "length": 32}}
    set_passphrase(store, RIGHT, old=RIGHT)
    assert raw(store)[0] != salt
    assert raw(store)[2] != hash_
    assert RIGHT not in json.dumps(said(store))
    assert WRONG not in json.dumps(said(store))


def test_changing_needs_the_old_one(store: Store) -> None:
    set_passphrase(store, RIGHT)
    with pytest.raises(CredentialError) as caught:
        set_passphrase(store, "something else")
    assert caught.value.code == "credential-set"
    with pytest.raises(CredentialError) as caught:
        set_passphrase(store, "something else", old=WRONG)
    assert caught.value.code == "wrong-passphrase"
    assert check_passphrase(store, RIGHT)
    set_passphrase(store, "something else", old=RIGHT)
    assert check_passphrase(store, "something else")
    assert not check_passphrase(store, RIGHT)
    assert [entry["what"] for entry in said(store)] == [
        "set", "refused", "given", "given", "changed", "given", "refused",
    ]  # fmt: skip


def test_two_that_set_the_first_one_at_once(store: Store) -> None:
    answers: list[str] = []

    def work(text: str) -> None:
        try:
            set_passphrase(store, text)
            answers.append(text)
        except CredentialError as error:
            answers.append(error.code)

    threads = [threading.Thread(target=work, args=(text,)) for text in ("first passphrase", "second passphrase")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    [kept] = [answer for answer in answers if answer != "credential-set"]
    assert len(answers) == 2
    assert check_passphrase(store, kept)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "fewer than 8"),
        ("1234567", "fewer than 8"),
        ("e\u0301" * 7, "fewer than 8"),  # seven letters once they are composed
        ("x" * 1001, "more than 1000"),
        ("good enough\x1b", "control"),
        ("good\0enough", "control"),
        ("good enough\ud800", "surrogate"),
        ("12345678", None),
        ("é" * 8, None),
        ("x" * 1000, None),
        ("ключ от дома", None),
        ("🔑🔑🔑🔑🔑🔑🔑🔑", None),
    ],
)
def test_what_can_be_a_passphrase(tmp_path: Path, text: str, fault: str | None) -> None:
    found = unfit(text)
    assert found is None if fault is None else found is not None and fault in found
    store = new_store(tmp_path)
    if fault is None:
        set_passphrase(store, text)
        assert check_passphrase(store, text)
        assert not check_passphrase(store, text + "x")
    else:
        with pytest.raises(CredentialError) as caught:
            set_passphrase(store, text)
        assert caught.value.code == "unfit-passphrase"
        assert not is_set(store)
    store.close()


def test_it_does_not_matter_how_a_letter_is_composed(store: Store) -> None:
    set_passphrase(store, "cafe\u0301 au lait")
    assert check_passphrase(store, "caf\u00e9 au lait")
    assert not check_passphrase(store, "cafe au lait")
    assert not check_passphrase(store, "caf\ud800 au lait")


def test_waits_double(store: Store) -> None:
    assert [wait_after(count) for count in range(14)] == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert wait_after(2**62) == LONGEST_WAIT
    clock = Clock()
    set_passphrase(store, RIGHT, clock=clock)
    for count in range(FREE + 3):
        clock.now += wait_after(count) * SECOND
        assert not check_passphrase(store, WRONG, clock=clock)
    assert status(store) is not None
    assert raw(store)[3] == FREE + 3
    for text in (WRONG, RIGHT):  # not even the right one is looked at
        with pytest.raises(Throttled) as caught:
            check_passphrase(store, text, clock=clock)
        assert caught.value.seconds == 8
    clock.now += 8 * SECOND - 1
    with pytest.raises(Throttled) as caught:
        check_passphrase(store, RIGHT, clock=clock)
    assert (caught.value.seconds, raw(store)[3]) == (1, FREE + 3)
    clock.now += 1
    assert check_passphrase(store, RIGHT, clock=clock)
    assert raw(store)[3] == 0


def test_a_clock_that_goes_back_helps_nobody_and_locks_nobody_out(store: Store) -> None:
    clock = Clock()
    set_passphrase(store, RIGHT, clock=clock)
    for count in range(FREE + 1):
        clock.now += wait_after(count) * SECOND
        assert not check_passphrase(store, WRONG, clock=clock)
    for _ in range(3):
        clock.now -= 365 * 86_400 * SECOND
        with pytest.raises(Throttled) as caught:
            check_passphrase(store, WRONG, clock=clock)
        assert caught.value.seconds == 2
    clock.now += 2 * SECOND
    assert check_passphrase(store, RIGHT, clock=clock)


def test_an_attempt_counts_before_it_is_looked_at(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever ends the process before the answer has used up an attempt all the same."""
    set_passphrase(store, RIGHT)

    def killed(*_: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr(credential, "_derived", killed)
    for _ in range(FREE):
        with pytest.raises(KeyboardInterrupt):
            check_passphrase(store, RIGHT)
    with pytest.raises(Throttled):
        check_passphrase(store, RIGHT)


def test_many_at_once_get_no_more_attempts(store: Store) -> None:
    set_passphrase(store, RIGHT)
    clock = Clock()
    answers: list[object] = []

    def work() -> None:
        try:
            answers.append(check_passphrase(store, WRONG, clock=clock))
        except Throttled:
            answers.append("throttled")

    threads = [threading.Thread(target=work) for _ in range(FREE + 4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, answers)) == ["False"] * FREE + ["throttled"] * 4


class NthFails(FaultyStore):
    """A store whose write number `nth` fails; the first is 0."""

    def __init__(self, inner: Store, fault: str, nth: int) -> None:
        super().__init__(inner)
        self.how, self.nth = fault, nth

    @contextmanager
    def write(self, look: str | None = None) -> Iterator[Transaction]:
        self.fault = self.how if self.nth == 0 else None
        self.nth -= 1
        with super().write(look) as change:
            yield change


@pytest.mark.parametrize("fault", ["begin", "end", "lost", "kept"])
@pytest.mark.parametrize("nth", [0, 1])
def test_no_answer_without_an_entry(tmp_path: Path, fault: str, nth: int) -> None:
    inner = new_store(tmp_path)
    set_passphrase(inner, RIGHT)
    store = NthFails(inner, fault, nth)
    with pytest.raises(StoreError):
        check_passphrase(store, RIGHT)
    assert store.failed == 1
    assert check_passphrase(inner, RIGHT)
    inner.close()


def test_parameters_can_be_raised(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    set_passphrase(store, RIGHT)
    weak = raw(store)
    monkeypatch.undo()
    assert not check_passphrase(store, WRONG)
    assert raw(store)[:3] == weak[:3]
    assert check_passphrase(store, RIGHT)
    salt, parameters, hash_, failures, _ = raw(store)
    assert json.loads(parameters)["scrypt"]["n"] == 2**15
    assert salt != weak[0]
    assert hash_ != weak[2]
    assert failures == 0
    assert check_passphrase(store, RIGHT)


@pytest.mark.parametrize(
    "parameters",
    [
        "",
        "{}",
        "[]",
        '{"scrypt": {}}',
        '{"argon2": {"n": 2, "r": 8, "p": 1, "length": 32}}',
        '{"scrypt": {"n": 0, "r": 8, "p": 1, "length": 32}}',
        '{"scrypt": {"n": 1000, "r": 8, "p": 1, "length": 32}}',
        '{"scrypt": {"n": 1048576, "r": 32, "p": 16, "length": 32}}',
        '{"scrypt": {"n": 32768, "r": 8, "p": 1, "length": 0}}',
        '{"scrypt": {"n": 99999999999999999999, "r": 8, "p": 1, "length": 32}}',
    ],
)
def test_a_row_that_was_tampered_with_proves_nothing(tmp_path: Path, parameters: str) -> None:
    store = new_store(tmp_path)
    set_before_keys(store, parameters=parameters)
    with pytest.raises(CredentialError) as caught:
        check_passphrase(store, RIGHT)
    assert caught.value.code == "credential-corrupt"
    store.close()


def test_a_hash_of_another_length_is_not_matched(store: Store) -> None:
    set_before_keys(store, hash=b"")
    assert not check_passphrase(store, RIGHT)


def set_before_keys(store: Store, **columns: Any) -> None:
    """As versions of Remit did it that knew no keys."""
    salt = b"s" * 16
    hash_ = hashlib.scrypt(RIGHT.encode(), salt=salt, n=2**8, r=8, p=1, dklen=32)
    parameters = '{"scrypt":{"n":256,"r":8,"p":1,"length":32}}'
    row: dict[str, Any] = {
        "name": "person",
        "kind": "passphrase",
        "salt": salt,
        "parameters": parameters,
        "hash": hash_,
    }
    row |= {"set_at": "2026-01-01T00:00:00Z", **columns}
    with store.write() as change:
        marks = ", ".join("?" * len(row))
        change.run(f"INSERT INTO credential ({', '.join(row)}) VALUES ({marks})", *row.values())  # noqa: S608


def keys_of(store: Store) -> list[bytes]:
    with store.read() as view:
        return [one.key for one in public_keys(view)]


def test_an_old_passphrase_gets_its_key_when_it_is_next_given(store: Store) -> None:
    set_before_keys(store)
    assert keys_of(store) == []
    assert unlock(store, WRONG) is None
    assert keys_of(store) == []
    first = unlock(store, RIGHT)
    assert first is not None
    [key] = keys_of(store)
    again = unlock(store, RIGHT)
    assert again is not None
    assert verifies(key, base64.b64encode(again(b"x")).decode(), b"x")
    assert first(b"x") == again(b"x")


def test_the_key_changes_with_the_passphrase_and_is_signed_by_the_one_before(store: Store) -> None:
    set_passphrase(store, RIGHT)
    old = unlock(store, RIGHT)
    set_passphrase(store, "something else", old=RIGHT)
    new = unlock(store, "something else")
    assert old is not None
    assert new is not None
    first, second = keys_of(store)
    assert verifies(second, base64.b64encode(new(b"x")).decode(), b"x")
    assert not verifies(second, base64.b64encode(old(b"x")).decode(), b"x")
    assert verifies(first, base64.b64encode(old(b"x")).decode(), b"x")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE credential SET hash = salt",
        "UPDATE credential SET salt = hash",
        "UPDATE credential SET parameters = ''",
        "UPDATE credential SET key = NULL",
        "UPDATE credential SET set_at = 'x'",
        "DELETE FROM credential",
    ],
)
def test_a_passphrase_that_the_ledger_does_not_know_proves_nothing(store: Store, statement: str) -> None:
    set_passphrase(store, RIGHT)
    with store.write() as change:
        change.run(statement)
    with pytest.raises(StateForged):
        check_passphrase(store, RIGHT)
    with pytest.raises(StateForged):
        set_passphrase(store, "something else", old=RIGHT)


def test_a_passphrase_that_somebody_else_set_signs_nothing(store: Store, tmp_path: Path) -> None:
    """Whoever can write to the store writes a row and an entry of their own; they don't know the old passphrase."""
    folder = tmp_path / "other"
    folder.mkdir()
    other = new_store(folder)
    set_passphrase(other, "known to all")
    set_passphrase(store, RIGHT)
    columns = ("name", "kind", "salt", "parameters", "hash", "set_at", "key")
    with other.read() as view:
        row = view.row(f"SELECT {', '.join(columns)} FROM credential")  # noqa: S608
    other.close()
    assert row is not None
    forged = dict(zip(columns, row, strict=True))
    with store.write() as change:
        put(change, CREDENTIAL, ("person",), forged, event="credential", at=0, writer="x", about={"what": "changed"})
    with pytest.raises(StateForged, match="did not know the one before"):
        keys_of(store)


def test_activations_are_only_added(store: Store) -> None:
    def newest() -> Activation | None:
        with store.read() as view:
            return newest_activation(view)

    assert newest() is None
    at = 1_794_787_200_000_000_000
    with store.write() as change:
        add_activation(change, None, policy="sha256:1", digest="1" * 64, at=at, by="anna (passphrase)")
    one = newest()
    assert one == Activation(1, "sha256:1", "1" * 64, "2026-11-16T00:00:00.000Z", "anna (passphrase)")
    with store.write() as change:  # a clock that went back changes nothing
        add_activation(change, one, policy="sha256:2", digest="2" * 64, at=978_307_200_000_000_000, by="bob")
    two = newest()
    assert two is not None
    assert (two.seq, two.policy, two.by) == (2, "sha256:2", "bob")
    for after in (None, one):
        with pytest.raises(StoreRefused), store.write() as change:
            add_activation(change, after, policy="sha256:1", digest="1" * 64, at=at, by="anna")
    for statement in ("UPDATE activation SET person = 'x'", "DELETE FROM activation"):
        with pytest.raises(StoreRefused), store.write() as change:
            change.run(statement)
    assert newest() == two
