"""The ledger's keys: one that signs, those before it, and what is needed to check signatures.

They lie in a folder that nobody else may read, one file for each key in the text form of signed notes:

    ledger-0001.key     PRIVATE+KEY+name+hash+…     (mode 0600)
    ledger-0001.vkey    name+hash+…                 (for everybody)
    ledger-0001.until   2026-12-01T00:00:00.000Z    (after a rotation: how long it goes on signing beside the new one)
"""

from __future__ import annotations

import base64
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from remit.record.continuity import check_key_file
from remit.record.errors import LedgerError
from remit.record.note import KeyKind, NoteError, Signer, Verifier
from remit.store.files import write_whole

_PREFIX = "PRIVATE+KEY"


class Keys:
    """The keys in one folder."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.name = name

    def exist(self) -> bool:
        """Whether a key was made here before."""
        return bool(self._files("*.vkey"))

    def make(self) -> Verifier:
        """Makes the next key, which signs from now on. Raises LedgerError."""
        verifier = self.prepare()
        self.adopt(verifier)
        return verifier

    def prepare(self) -> Verifier:
        """Makes the next key, which signs nothing before it is adopted. Raises LedgerError."""
        signer = Signer(self.name, Ed25519PrivateKey.generate())
        self._write(self._next(".key"), private_text(signer), 0o600)
        return signer.verifier

    def adopt(self, verifier: Verifier) -> None:
        """The key that was prepared signs from now on. Raises LedgerError."""
        self._write(self._next(".vkey"), f"{verifier.vkey}\n", 0o644)

    def _next(self, suffix: str) -> Path:
        return self.folder / f"ledger-{len(self._files('*.vkey')) + 1:04d}{suffix}"

    def _write(self, path: Path, text: str, mode: int) -> None:
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, text.encode("ascii"), mode=mode)
        except OSError as error:
            raise LedgerError(f"the key can't be written: {error.strerror}", code="key-unwritable") from None

    def retire(self, until: str) -> None:
        """The newest key but one goes on signing until that moment."""
        files = self._files("*.vkey")
        if len(files) > 1:
            self._write(files[-2].with_suffix(".until"), f"{until}\n", 0o600)

    def signers(self, now: str) -> list[Signer]:
        """The newest key, and the one before it as long as they overlap. Raises LedgerError."""
        files = self._files("*.vkey")
        if not files:
            help_ = f"put the folder {self.folder} back from a copy"
            raise LedgerError("there is no key to sign with", code="key-missing", help=help_)
        found = [self._signer(files[-1].with_suffix(".key"))]
        if len(files) > 1 and self._overlaps(files[-2], now):
            found.append(self._signer(files[-2].with_suffix(".key")))
        return found

    def verifiers(self) -> list[Verifier]:
        """Every key that ever signed here, the newest last. Raises LedgerError."""
        return [_verifier(path) for path in self._files("*.vkey")]

    def _overlaps(self, vkey: Path, now: str) -> bool:
        try:
            until = vkey.with_suffix(".until").read_text("ascii").strip()
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            raise LedgerError(f"how long {vkey.stem} goes on signing can't be read", code="key-unreadable") from None
        return vkey.with_suffix(".key").exists() and now < until

    def _files(self, pattern: str) -> list[Path]:
        return sorted(self.folder.glob(f"ledger-{pattern}"))

    def _signer(self, path: Path) -> Signer:
        check_key_file(path)
        try:
            text = path.read_text("ascii").strip()
        except (OSError, ValueError):
            raise LedgerError(f"the key {path.name} can't be read", code="key-unreadable") from None
        try:
            return parse_private(text)
        except (ValueError, NoteError):
            raise LedgerError(f"the key {path.name} is malformed", code="key-malformed") from None


def private_text(signer: Signer) -> str:
    """A private key as one line: `PRIVATE+KEY+name+id+base64`."""
    secret = base64.b64encode(bytes([signer.kind]) + signer.private_key.private_bytes_raw()).decode()
    return f"{_PREFIX}+{signer.name}+{signer.verifier.key_id.hex()}+{secret}\n"


def parse_private(text: str) -> Signer:
    """Reads the line. Raises ValueError and NoteError."""
    parts = text.split("+", 4)  # the base64 may have plus signs of its own
    if len(parts) != 5 or "+".join(parts[:2]) != _PREFIX:
        raise ValueError("not a private key")
    data = base64.b64decode(parts[4], validate=True)
    if len(data) != 33:
        raise ValueError("not a private key of 32 bytes")
    signer = Signer(parts[2], Ed25519PrivateKey.from_private_bytes(data[1:]), KeyKind(data[0]))
    if signer.verifier.key_id.hex() != parts[3]:
        raise ValueError("the id of the private key does not fit it")
    return signer


def _verifier(path: Path) -> Verifier:
    try:
        return Verifier.parse(path.read_text("ascii").strip())
    except (OSError, ValueError, NoteError):
        raise LedgerError(f"the key {path.name} can't be read", code="key-malformed") from None
