"""The kinds of anchors, one file each, and what their names mean."""

from __future__ import annotations

import re
from pathlib import Path

from remit.record.anchor import MAX_SPEC, Anchor
from remit.record.errors import LedgerError
from remit.record.log import Log
from remit.record.note import KeyKind, NoteError, Verifier

_BRANCH = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:/[A-Za-z0-9][A-Za-z0-9_-]*)*")
_WITNESS = re.compile(r"(https?://[^+\s]+)\+([^+\s]+\+[0-9a-f]{8}\+[A-Za-z0-9+/=]+)")
FORMS = "file:/PATH, git:/PATH#BRANCH, syslog:, https://…, witness:https://…+VKEY"


def open_anchor(spec: str, log: Log) -> Anchor:
    """The anchor of that name, without touching it yet. Raises LedgerError for a name that means nothing."""
    kind, _, rest = spec.partition(":")
    if len(spec) > MAX_SPEC or not spec.isprintable():
        raise _bad("the name is too long, or has characters that can't be shown")
    if kind == "file":
        from remit.record.anchors.file import FileAnchor  # here, as below: only those that are configured

        return FileAnchor(_path(rest), log)
    if kind == "git":
        from remit.record.anchors.git import BRANCH, GitAnchor

        path, _, branch = rest.partition("#")
        if branch and (_BRANCH.fullmatch(branch) is None or len(branch) > 200):
            raise _bad("not the name of a branch")
        return GitAnchor(_path(path), branch or BRANCH, log)
    if kind == "syslog":
        from remit.record.anchors.syslog import SOCKET, SyslogAnchor

        return SyslogAnchor(_path(rest) if rest else SOCKET, log)
    if kind in ("https", "http"):
        from remit.record.anchors.http import HttpAnchor

        return HttpAnchor(spec, log)
    if kind == "witness":
        return _witness(spec, log)
    raise _bad("of no known kind")


def _witness(spec: str, log: Log) -> Anchor:
    from remit.record.anchors.witness import WitnessAnchor

    found = parse_witness(spec)
    if found is None:
        raise _bad("of no known kind")
    return WitnessAnchor(*found, log)


def parse_witness(spec: str) -> tuple[str, Verifier] | None:
    """The address and the key of a witness; None for an anchor of another kind. Raises LedgerError."""
    kind, _, rest = spec.partition(":")
    if kind != "witness":
        return None
    match = _WITNESS.fullmatch(rest)
    if match is None:
        raise _bad("a witness is its address, a plus sign, and its key")
    try:
        verifier = Verifier.parse(match[2])
    except NoteError as error:
        raise _bad(str(error)) from None
    if verifier.kind is not KeyKind.COSIGNATURE:
        raise _bad("the key is that of a log, not of a witness")
    return match[1], verifier


def _path(text: str) -> Path:
    path = Path(text)
    if not path.is_absolute() or ".." in path.parts:
        raise _bad("the path must be absolute, without `..`")
    return path


def _bad(what: str) -> LedgerError:
    return LedgerError(f"not an anchor: {what}", code="bad-anchor", help=f"an anchor is one of {FORMS}")
