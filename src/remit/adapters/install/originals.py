"""What files were before `remit install` touched them: kept in the state directory, written before the first change.

A file that is still what install wrote is put back as it was, to the byte. From one that people have changed since,
only Remit's own parts are removed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

from remit.adapters.hosts.setup import Setup
from remit.adapters.install.files import EditError, read_file, remove_file, sha256, write_file
from remit.model.decoding import Decoding
from remit.model.errors import RemitError
from remit.model.text import shown

Kind = Literal["settings", "definition", "policy"]


class Original(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file that install touches."""

    kind: Kind
    before: bytes | None
    """None: there was no such file."""
    written: tuple[str, ...]
    """The SHA-256 of what install has written there, or was about to."""
    ours: tuple[str, ...] = ()
    """Our parts: deny rules, tools, or the block in the policy."""


class Originals(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of them, by absolute path."""

    version: Literal[1]
    host: str
    files: dict[str, Original] = {}
    directories: tuple[str, ...] = ()
    """Directories that install made, the outermost first."""


def originals_path(state: Path, host: str) -> Path:
    """Where they are kept."""
    return state / "hooks" / f"{host}.originals.json"


_ORIGINALS = Decoding(Originals)


def read_originals(state: Path, host: str) -> Originals | None:
    """What is kept, None if nothing is installed. Raises EditError."""
    path = originals_path(state, host)
    data = read_file(path, state)
    if data is None:
        return None
    try:
        return _ORIGINALS.decode(data)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise EditError(f"{shown(path, 300)}: can't be read: {error}") from None


def write_originals(state: Path, originals: Originals) -> None:
    """Afterwards they are kept, for their owner only. Raises EditError."""
    path = originals_path(state, originals.host)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise EditError(f"{shown(path, 300)}: can't be written: {error.strerror}") from None
    write_file(path, msgspec.json.encode(originals), private=True)


def forget_originals(state: Path, host: str) -> None:
    """Nothing is kept any more."""
    remove_file(originals_path(state, host))


def is_untouched(now: bytes | None, original: Original) -> bool:
    """True if people have not changed the file since install wrote it, or before it could."""
    return now == original.before or (now is not None and sha256(now) in original.written)


def without_ours(setup: Setup, path: str, now: bytes | None, original: Original | None, kind: Kind) -> bytes | None:
    """What the file would be if install had never touched it; None: it would not be there. Raises EditError."""
    if now is None:
        return None
    if original is not None and is_untouched(now, original):
        return original.before
    if kind == "settings":
        return _settings(setup, path, now, original)
    if original is None:
        return now
    return _definition(setup, now, original) if kind == "definition" else _policy(now, original)


def _settings(setup: Setup, path: str, now: bytes, original: Original | None) -> bytes | None:
    old = text_of(path, now)
    before = original.before if original is not None else None
    try:
        if original is None and setup.take_hooks(old, (), old) == old:
            return now  # there is no hook of ours in it
        text = setup.take_hooks(
            old, original.ours if original is not None else (), text_of(path, before) if before is not None else None
        )
        gone = original is not None and original.before is None and setup.is_empty(text)
    except RemitError as error:
        raise EditError(f"{shown(path, 300)}: {error}", code=error.code) from None
    return None if gone else text.encode()


def _definition(setup: Setup, now: bytes, original: Original) -> bytes:
    try:
        before = (original.before or b"").decode("utf-8")
        return setup.restore_tools(now.decode("utf-8"), before, original.ours).encode()
    except (RemitError, UnicodeDecodeError):
        return now


def _policy(now: bytes, original: Original) -> bytes:
    block = "".join(original.ours).encode()
    return now.replace(block, b"", 1) if block and now.count(block) == 1 else now


def text_of(path: str, data: bytes) -> str:
    """The text of a file that must be UTF-8. Raises EditError."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise EditError(f"{shown(path, 300)}: line {line}: not UTF-8") from None
