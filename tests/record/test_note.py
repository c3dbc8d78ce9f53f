"""Signed notes and cosignatures: the specifications' own examples, and hostile texts."""

from __future__ import annotations

import base64
import contextlib

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from remit.record.note import (
    MAX_NOTE,
    KeyKind,
    NoteError,
    Signer,
    Verifier,
    add_lines,
    cosign,
    decode_base64,
    open_note,
    sign,
    split_note,
)
from tests.record.logs import OTHER, SIGNER, WITNESS

# A public key and a note that the Go project's documentation of signed notes gives as an example.
PETER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
PETERS_NOTE = (
    "If you think cryptography is the answer to your problem,\n"
    "then you don't know what your problem is.\n"
    "\n"
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
TEXT = "one\n\ntwo\n"
ALL = [SIGNER.verifier, WITNESS.verifier]


def test_a_known_note_is_opened():
    opened = open_note(PETERS_NOTE, [Verifier.parse(PETER)])
    assert opened.text == PETERS_NOTE.partition("\n\n")[0] + "\n"
    assert Verifier.parse(PETER).vkey == PETER


def test_a_note_comes_back_as_it_was_signed():
    note = sign(TEXT, SIGNER)
    opened = open_note(note, ALL)
    assert opened.text == TEXT
    assert [(s.by, s.time) for s in opened.signatures] == [(SIGNER.verifier, None)]
    assert open_note(note.encode(), ALL) == opened


def test_a_witness_adds_its_time():
    line = cosign(sign(TEXT, SIGNER), WITNESS, 1679315147)
    note = add_lines(sign(TEXT, SIGNER), [line, line])
    opened = open_note(note, ALL)
    assert [(s.by.name, s.time) for s in opened.signatures] == [(SIGNER.name, None), (WITNESS.name, 1679315147)]
    signature = base64.b64decode(line.split(" ")[2])
    assert signature[:4] == WITNESS.verifier.key_id
    assert int.from_bytes(signature[4:12]) == 1679315147
    message = f"cosignature/v1\ntime 1679315147\n{TEXT}".encode()
    WITNESS.private_key.public_key().verify(signature[12:], message)
    later = signature[:11] + bytes([signature[11] ^ 1]) + signature[12:]
    with pytest.raises(NoteError, match="wrong"):
        open_note(note.replace(line, f"— {WITNESS.name} {base64.b64encode(later).decode()}\n"), ALL)


def test_a_kind_of_key_is_not_taken_for_another():
    """The same key as a log's and as a witness's has two ids, and signs two messages."""
    plain = Signer("same.example", WITNESS.private_key)
    stamped = Signer("same.example", WITNESS.private_key, KeyKind.COSIGNATURE)
    assert plain.verifier.key_id != stamped.verifier.key_id
    with pytest.raises(NoteError, match="known"):
        open_note(sign(TEXT, plain), [stamped.verifier])


def test_unknown_keys_are_ignored_and_wrong_signatures_are_not():
    both = sign(TEXT, OTHER, SIGNER)
    assert [s.by for s in open_note(both, [SIGNER.verifier]).signatures] == [SIGNER.verifier]
    with pytest.raises(NoteError, match="known"):
        open_note(sign(TEXT, OTHER), [SIGNER.verifier])
    with pytest.raises(NoteError, match="known"):
        open_note(both, [])
    forged = both.replace("two", "too")
    with pytest.raises(NoteError, match="wrong"):
        open_note(forged, [SIGNER.verifier])
    good, bad = SIGNER.line(TEXT), SIGNER.line("other\n")
    with pytest.raises(NoteError, match="wrong"):
        open_note(TEXT + "\n" + good + bad, [SIGNER.verifier])


def test_a_key_of_the_same_name_and_id_still_fails():
    """Ids are short and can be made to collide; the signature is what counts."""
    imposter = OTHER.line(TEXT)
    signature = SIGNER.verifier.key_id + base64.b64decode(imposter.split(" ")[2])[4:]
    with pytest.raises(NoteError, match="wrong"):
        open_note(f"{TEXT}\n— {SIGNER.name} {base64.b64encode(signature).decode()}\n", [SIGNER.verifier])


@pytest.mark.parametrize(
    "name", ["", "a b", "a+b", "a\u00a0b", "a\u2003", "a\nb", "a\tb", "a\x00", "\ud800", "x" * 256]
)
def test_names_that_may_not_be(name: str):
    with pytest.raises(NoteError):
        Signer(name, Ed25519PrivateKey.generate())
    with pytest.raises(NoteError):
        Verifier(name, bytes(32))


@pytest.mark.parametrize("text", ["", "no end", "a\tb\n", "a\r\n", "a\x00\n", "\ud800\n", "x" * MAX_NOTE + "\n"])
def test_texts_that_may_not_be(text: str):
    with pytest.raises(NoteError):
        sign(text, SIGNER)


def test_a_time_belongs_to_a_cosignature():
    for signer, time in ((SIGNER, 1), (WITNESS, None), (WITNESS, -1), (WITNESS, 2**63)):
        with pytest.raises(NoteError):
            signer.line(TEXT, time)
    with pytest.raises(NoteError):
        sign(TEXT)


LINE = SIGNER.line(TEXT)


@pytest.mark.parametrize(
    "note",
    [
        "",
        "\n",
        "\n\n",
        TEXT,
        TEXT + "\n",
        TEXT + "\n" + LINE[:-1],
        TEXT + LINE,
        TEXT + "\n" + LINE + "\n",
        TEXT + "\n" + LINE + "more\n",
        TEXT + "\n" + LINE.replace("—", "-"),
        TEXT + "\n" + LINE.replace(" ", "  "),
        TEXT + "\n" + LINE.replace("\n", " \n"),
        TEXT + "\n" + LINE.replace("=", ""),
        TEXT + "\n— name AAAA\n",
        TEXT + "\n— na+me AAAAAAAA\n",
        TEXT + "\n— na\u00a0me AAAAAAAA\n",
        TEXT + "\n— name AAAAAAB=\n",
        TEXT.replace("\n", "\r\n") + "\n" + LINE,
        TEXT + "\n" + LINE * 65,
        "x" * MAX_NOTE + "\n\n" + LINE,
        b"\xff\n\n" + LINE.encode(),
    ],
)
def test_malformed_notes(note: str | bytes):
    with pytest.raises(NoteError):
        open_note(note, ALL)


def test_sixteen_signatures_and_more_are_read():
    signers = [Signer(f"s{n}.example", Ed25519PrivateKey.generate()) for n in range(20)]
    note = sign(TEXT, *signers, SIGNER)
    assert open_note(note, [SIGNER.verifier]).text == TEXT
    assert len(open_note(note, [signer.verifier for signer in signers]).signatures) == 20


@pytest.mark.parametrize(
    "vkey",
    [
        "",
        "a+b",
        PETER[:-1],
        PETER + "A",
        PETER.replace("c74f", "C74F"),
        PETER.replace("c74f20a3", "c74f20a4"),
        PETER.replace("PeterNeumann", "Peter Neumann"),
        PETER.replace("PeterNeumann", "Someone"),
        PETER.replace("ARpc", "Arpc"),
        PETER + "\n",
        "x" * 10_000,
    ],
)
def test_malformed_keys(vkey: str):
    with pytest.raises(NoteError):
        Verifier.parse(vkey)


@pytest.mark.parametrize("text", ["é", "A", "AA", "AA=", "AB==", "AAA=A", "A A=", "AAAA\n", "-_-_", "====", "\ud800"])
def test_base64_has_one_spelling(text: str):
    with pytest.raises(NoteError):
        decode_base64(text)


COMPLETE = add_lines(sign(TEXT, SIGNER), [cosign(sign(TEXT, SIGNER), WITNESS, 7)])
pieces = st.sampled_from(["\n", "\n\n", "— ", " ", "+", "=", "—", "\x00", "\ud800", LINE, "A" * 88]) | st.text(
    max_size=5
)


@given(st.data())
def test_of_changed_notes_only_the_same_text_is_accepted(data: st.DataObject):
    """Up to three cuts and insertions anywhere: NoteError, or still the text that was signed."""
    note = COMPLETE
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(note)))
        note = note[:start] + data.draw(pieces) + note[start + data.draw(st.integers(0, 20)) :]
    try:
        assert open_note(note, ALL).text == TEXT
    except NoteError:
        return
    text, lines = split_note(note)
    assert text + "\n" + "".join(f"{line}\n" for line in lines) == note


@given(st.binary(max_size=400) | st.text(max_size=200))
def test_random_texts_are_refused(note: bytes | str):
    with pytest.raises(NoteError):
        open_note(note, ALL)


@given(st.text(max_size=80) | st.integers(0, len(PETER)).map(lambda at: PETER[:at] + "0" + PETER[at + 1 :]))
def test_random_keys_are_refused_or_come_back(vkey: str):
    with contextlib.suppress(NoteError):
        assert Verifier.parse(vkey).vkey == vkey


def test_every_single_bit_counts():
    raw = sign(TEXT, SIGNER).encode()
    accepted = 0
    for place in range(len(raw)):
        for bit in range(8):
            changed = raw[:place] + bytes([raw[place] ^ 1 << bit]) + raw[place + 1 :]
            try:
                open_note(changed, [SIGNER.verifier])
                accepted += 1
            except NoteError:
                pass
    assert accepted == 0


def test_a_time_beyond_its_range_is_refused_though_signed():
    time = 2**63
    message = f"cosignature/v1\ntime {time}\n{TEXT}".encode()
    signature = WITNESS.verifier.key_id + time.to_bytes(8) + WITNESS.private_key.sign(message)
    with pytest.raises(NoteError, match="malformed"):
        open_note(f"{TEXT}\n— {WITNESS.name} {base64.b64encode(signature).decode()}\n", ALL)
