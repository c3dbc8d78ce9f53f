"""Checkpoints: the specification's example, strict reading, and who must have signed."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.record.checkpoint import Checkpoint, CheckpointError, open_checkpoint, parse_number
from remit.record.note import KeyKind, NoteError, Signer, add_lines, cosign, sign
from remit.record.tree import EMPTY_ROOT
from tests.record.logs import ORIGIN, OTHER, SIGNER, WITNESS, b64

TEXT = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
ROOT = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="


def test_the_specification_s_example():
    checkpoint = Checkpoint.parse(TEXT)
    assert (checkpoint.origin, checkpoint.size) == ("example.com/behind-the-sofa", 20852163)
    assert checkpoint.text == TEXT


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=99), st.integers(1, 2**63 - 1))
def test_written_and_read(origin: str, size: int):
    checkpoint = Checkpoint(origin, size, bytes(range(32)))
    assert Checkpoint.parse(checkpoint.text) == checkpoint


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n\n",
        TEXT[:-1],
        TEXT + "\n",
        TEXT + "an extension\n",
        TEXT.replace("20852163", "020852163"),
        TEXT.replace("20852163", "+20852163"),
        TEXT.replace("20852163", "20_852_163"),
        TEXT.replace("20852163", " 20852163"),
        TEXT.replace("20852163", "٣"),
        TEXT.replace("20852163", ""),
        TEXT.replace("20852163", "-1"),
        TEXT.replace("20852163", str(2**63)),
        TEXT.replace("20852163", "9" * 10_000),
        TEXT.replace("20852163", "0"),
        TEXT.replace("q2I=", "q2J="),
        TEXT.replace("q2I=", "q2I"),
        TEXT.replace("CsUY", "Cs Y"),
        TEXT.replace("CsUY", ""),
        TEXT.replace(ROOT, b64(bytes(31))),
        TEXT.replace(ROOT, b64(bytes(33))),
        TEXT.replace("example", "exa\tmple"),
        TEXT.replace("example.com/behind-the-sofa", ""),
        TEXT.replace("example", "e" * 300),
    ],
)
def test_malformed(text: str):
    with pytest.raises(CheckpointError):
        Checkpoint.parse(text)


@given(st.data())
def test_of_changed_texts_only_exact_ones_are_read(data: st.DataObject):
    at = data.draw(st.integers(0, len(TEXT)))
    piece = data.draw(st.sampled_from(["\n", "0", "=", " ", "\ud800"]) | st.text(max_size=3))
    text = TEXT[:at] + piece + TEXT[at + data.draw(st.integers(0, 30)) :]
    with contextlib.suppress(CheckpointError):
        assert Checkpoint.parse(text).text == text


def test_an_empty_log_has_one_root():
    assert Checkpoint.parse(Checkpoint(ORIGIN, 0, EMPTY_ROOT).text).size == 0
    with pytest.raises(CheckpointError):
        Checkpoint(ORIGIN, 0, bytes(32))


CHECKPOINT = Checkpoint(ORIGIN, 3, bytes(32))


def test_it_is_opened_with_the_log_s_key_and_the_witness_s_too():
    note = CHECKPOINT.sign(SIGNER, OTHER)
    note = add_lines(note, [cosign(note, WITNESS, 12)])
    checkpoint, opened = open_checkpoint(note, [SIGNER.verifier, WITNESS.verifier])
    assert checkpoint == CHECKPOINT
    assert [s.time for s in opened.signatures] == [None, 12]


def test_only_the_log_itself_can_sign_it():
    note = CHECKPOINT.sign(SIGNER)
    cosigned = add_lines(note, [cosign(note, WITNESS, 12)])
    with pytest.raises(CheckpointError, match="its own log"):
        open_checkpoint(cosigned, [WITNESS.verifier])
    stranger = Signer("other.example", SIGNER.private_key)
    with pytest.raises(CheckpointError, match="named as its origin"):
        CHECKPOINT.sign(stranger)
    with pytest.raises(CheckpointError, match="its own log"):
        open_checkpoint(sign(CHECKPOINT.text, stranger), [stranger.verifier])
    with pytest.raises(NoteError):
        open_checkpoint(note, [OTHER.verifier])
    with pytest.raises(CheckpointError):
        open_checkpoint(sign("a text\n", SIGNER), [SIGNER.verifier])


def test_numbers_have_one_spelling():
    assert parse_number("0") == 0
    assert parse_number(str(2**63 - 1)) == 2**63 - 1
    for text in ("00", "1\n", "²", "1e3", "", str(2**63)):
        with pytest.raises(CheckpointError):
            parse_number(text)


def test_a_witness_named_as_the_log_is_still_a_witness():
    namesake = Signer(ORIGIN, WITNESS.private_key, KeyKind.COSIGNATURE)
    note = f"{CHECKPOINT.text}\n{namesake.line(CHECKPOINT.text, 12)}"
    with pytest.raises(CheckpointError, match="its own log"):
        open_checkpoint(note, [namesake.verifier])
