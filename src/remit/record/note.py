"""Signed notes (C2SP signed-note): a text, a blank line, and one line for each signature.

Two kinds of keys: a log signs with plain Ed25519 (0x01); a witness adds a cosignature with its time (0x04).
A note of which any signature by a known key fails is refused whole; signatures by unknown keys are ignored.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from hashlib import sha256
from typing import TYPE_CHECKING

from remit.record.errors import LedgerError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MAX_NOTE = 256 * 1024
MAX_SIGNATURES = 64
MAX_NAME = 255
MAX_TIME = 2**63 - 1

_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f]")
_LINE = re.compile(r"— ([^ \n]+) ([A-Za-z0-9+/]+={0,2})")
_VKEY = re.compile(r"([^+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+={0,2})")


class NoteError(LedgerError):
    """A note, key or signature that is malformed, or not signed as it must be."""

    code = "bad-note"


class KeyKind(IntEnum):
    """What a key signs."""

    ED25519 = 0x01
    COSIGNATURE = 0x04


@dataclass(frozen=True, slots=True)
class Verifier:
    """A public key under its name, for one kind of signature."""

    name: str
    public_key: bytes
    kind: KeyKind = KeyKind.ED25519

    def __post_init__(self) -> None:
        _check_name(self.name)
        if len(self.public_key) != 32:
            raise NoteError("an Ed25519 public key has 32 bytes")

    @property
    def key_id(self) -> bytes:
        return sha256(self.name.encode() + b"\n" + bytes([self.kind]) + self.public_key).digest()[:4]

    @property
    def vkey(self) -> str:
        """The key as one word: `name+id+base64`."""
        key = base64.b64encode(bytes([self.kind]) + self.public_key).decode()
        return f"{self.name}+{self.key_id.hex()}+{key}"

    @classmethod
    def parse(cls, vkey: str) -> Verifier:
        """Reads the one-word form. Raises NoteError."""
        match = _VKEY.fullmatch(vkey) if len(vkey) <= MAX_NAME + 128 else None
        if match is None:
            raise NoteError("not a verifier key: name+id+base64")
        data = decode_base64(match[3])
        if data[:1] not in {bytes([kind]) for kind in KeyKind}:
            raise NoteError("a verifier key of an unknown kind")
        verifier = cls(match[1], data[1:], KeyKind(data[0]))
        if verifier.key_id.hex() != match[2]:
            raise NoteError("the id of the verifier key does not fit the key")
        return verifier

    def verify(self, text: str, signature: bytes) -> int | None:
        """Checks what follows the key id. Gives a cosignature's time, None for a plain signature. Raises NoteError."""
        from cryptography.exceptions import InvalidSignature  # here: it takes long, and few processes check signatures
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        time = None
        if self.kind is KeyKind.COSIGNATURE:
            time = int.from_bytes(signature[:8])
            signature = signature[8:]
        if len(signature) != 64 or (time or 0) > MAX_TIME:
            raise NoteError(f"the signature of {self.name} is malformed")
        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(signature, _message(text, time))
        except (InvalidSignature, ValueError) as error:
            raise NoteError(f"the signature of {self.name} is wrong") from error
        return time


@dataclass(frozen=True, slots=True)
class Signer:
    """A private key under its name, for one kind of signature."""

    name: str
    private_key: Ed25519PrivateKey
    kind: KeyKind = KeyKind.ED25519

    def __post_init__(self) -> None:
        _check_name(self.name)

    @property
    def verifier(self) -> Verifier:
        return Verifier(self.name, self.private_key.public_key().public_bytes_raw(), self.kind)

    def line(self, text: str, time: int | None = None) -> str:
        """The signature line for a text. A cosignature, and only that, takes the time in seconds since 1970."""
        _check_text(text)
        if (time is not None) != (self.kind is KeyKind.COSIGNATURE):
            raise NoteError("a cosignature carries a time, a plain signature does not")
        if time is not None and not 0 <= time <= MAX_TIME:
            raise NoteError("the time of a cosignature is out of range")
        stamp = b"" if time is None else time.to_bytes(8)
        signature = self.verifier.key_id + stamp + self.private_key.sign(_message(text, time))
        return f"— {self.name} {base64.b64encode(signature).decode()}\n"


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature that was verified; `time` is None for a plain one."""

    by: Verifier
    time: int | None
    line: str


@dataclass(frozen=True, slots=True)
class Note:
    """A note's text and the signatures by known keys, at least one, all of them verified."""

    text: str
    signatures: tuple[Signature, ...]


def sign(text: str, *signers: Signer) -> str:
    """A note with plain signatures."""
    if not signers:
        raise NoteError("a note needs a signature")
    return text + "\n" + "".join(signer.line(text) for signer in signers)


def cosign(note: str, signer: Signer, time: int) -> str:
    """A witness's signature line for a note; `add_lines` puts it there. What the note says is not checked here."""
    return signer.line(split_note(note)[0], time)


def add_lines(note: str, lines: Iterable[str]) -> str:
    """The note with more signature lines. Raises NoteError unless the result has the form of a note."""
    text, there = split_note(note)
    new = dict.fromkeys("".join(lines).split("\n")[:-1])
    longer = text + "\n" + "".join(f"{line}\n" for line in dict.fromkeys([*there, *new]))
    split_note(longer)
    return longer


def open_note(note: str | bytes, verifiers: Sequence[Verifier]) -> Note:
    """The text of a note that is signed by at least one of the known keys. Raises NoteError, and nothing else."""
    text, lines = split_note(note)
    known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
    found = []
    for line in lines:
        name, signature = _parse_line(line)
        verifier = known.get((name, signature[:4]))
        if verifier is not None:
            found.append(Signature(verifier, verifier.verify(text, signature[4:]), line))
    if not found:
        raise NoteError("not signed by any key that is known here")
    return Note(text, tuple(found))


def split_note(note: str | bytes) -> tuple[str, list[str]]:
    """A note's text and signature lines, well formed but with nothing verified. Raises NoteError."""
    if len(note) > MAX_NOTE:
        raise NoteError(f"a note longer than {MAX_NOTE} bytes")
    try:
        whole = note.decode() if isinstance(note, bytes) else note
    except UnicodeDecodeError as error:
        raise NoteError("a note that is not UTF-8") from error
    body, blank, rest = whole.rpartition("\n\n")
    if not blank or not rest.endswith("\n"):
        raise NoteError("not a note: a text, a blank line, signature lines")
    text = body + "\n"
    _check_text(text)
    lines = rest[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise NoteError(f"a note with more than {MAX_SIGNATURES} signatures")
    for line in lines:
        _parse_line(line)
    return text, lines


def decode_base64(text: str) -> bytes:
    """Standard base64 in its one canonical spelling. Raises NoteError."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise NoteError("not base64") from error
    if base64.b64encode(data).decode() != text:
        raise NoteError("base64, but not in its canonical form")
    return data


def _parse_line(line: str) -> tuple[str, bytes]:
    match = _LINE.fullmatch(line)
    if match is None:
        raise NoteError("a signature line that is malformed")
    _check_name(match[1])
    signature = decode_base64(match[2])
    if len(signature) < 5:
        raise NoteError("a signature that is too short")
    return match[1], signature


def _check_name(name: str) -> None:
    if not 0 < len(name) <= MAX_NAME or "+" in name or any(sign.isspace() or sign < " " for sign in name):
        raise NoteError("a key name is not empty, not long, and has neither spaces nor a plus sign")
    _check_unicode(name)


def _check_text(text: str) -> None:
    if not text.endswith("\n") or len(text) > MAX_NOTE or _CONTROLS.search(text):
        raise NoteError("the text of a note ends in a newline, and has no other control characters")
    _check_unicode(text)


def _check_unicode(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise NoteError("half of a surrogate pair") from error


def _message(text: str, time: int | None) -> bytes:
    return (text if time is None else f"cosignature/v1\ntime {time}\n{text}").encode()
