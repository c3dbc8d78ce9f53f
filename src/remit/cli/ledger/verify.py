"""`remit ledger verify`: is the log whole and unchanged?"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated, Any

from remit.cli.common import FINE, InputError
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.options import NOT_VERIFIED, StateOption, ledger_to_look
from remit.cli.ledger.progress import progress_bar
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument, Option
from remit.model.errors import RemitError
from remit.model.text import counted, shown
from remit.record.append import head_of
from remit.record.archive import verify_archives
from remit.record.audit import Audit, audit
from remit.record.copied import CopiedLog
from remit.record.errors import LedgerError
from remit.record.fault import Fault
from remit.record.note import MAX_NOTE, NoteError, Verifier
from remit.record.open import OpenLog
from remit.record.stop_mark import set_mark
from remit.record.verify import Unusable, parse_keys, verify_export
from remit.store.errors import StoreCorrupt


def command(
    folder: Annotated[
        Path | None, Argument(metavar="[DIR]", help="An archive, a folder with archives, or an export of tiles.")
    ] = None,
    key: Annotated[
        list[str] | None, Option("--key", metavar="VKEY", help="Trust this key instead of those beside the log.")
    ] = None,
    anchor: Annotated[
        list[Path] | None, Option("--anchor", metavar="FILE", help="A checkpoint kept elsewhere.")
    ] = None,
    entries: Annotated[bool, Option("--entries", help="Also check the form of each entry; slower.")] = False,
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Verify every entry, checkpoint and stored value, and compare with all anchors. Exit code 1: not verified.

    Examples: `remit ledger verify`, `remit ledger verify archive-2026`
    """
    kept = [_read(path) for path in anchor or ()]
    if folder is not None:
        return _verify_folder(folder, key, kept, canonical=entries, json=json)
    try:
        with ledger_to_look(policy, state) as opened:
            found = _audit(opened, key, kept, canonical=entries, quiet=json)
            # Who brings a key of their own, or looks at a copy, judges for themselves.
            stops = found.stops if not key and not isinstance(opened, CopiedLog) else None
            if stops is not None:
                set_mark(opened.store, opened.state, stops, "verify")
    except (LedgerError, StoreCorrupt) as error:
        if error.code == "no-ledger":
            raise
        return _unreadable(error, json=json)
    if json:
        out_ascii(as_json(found))
    else:
        out(as_text(found))
        if stops is not None:
            out("   nothing is written to this log any more: repair it, then run `remit ledger resume`\n")
    return FINE if found.verified else NOT_VERIFIED


def _verify_folder(folder: Path, key: list[str] | None, kept: list[bytes], *, canonical: bool, json: bool) -> int:
    """An archive or an export, without the log."""
    if not folder.is_dir():
        raise InputError(f"{shown(folder, 300)}: no such folder")
    if (folder / "tile").is_dir() and not (folder / "manifest.json").exists():
        return _verify_export(folder, key, kept, canonical=canonical, json=json)
    if kept:
        raise InputError("--anchor is compared with the log, or with an export of tiles")
    try:
        found = verify_archives(folder, [Verifier.parse(one) for one in key or ()])
    except NoteError as error:
        raise InputError(f"--key: {shown(error, 300)}") from None
    except LedgerError as error:
        return _unreadable(error, json=json)
    first, last = found[0], found[-1]
    if json:
        about = {"origin": first.origin, "first": first.first, "end": last.end, "archives": len(found)}
        keys = "given" if key else "beside the archive"
        out_ascii({"verified": True, **about, "values": sum(one.values for one in found), "keys": keys})
        return FINE
    values = sum(one.values for one in found)
    said = f"entries {first.first} to {last.end - 1} in {counted(len(found), 'archive')}, {counted(values, 'value')}"
    out(f"{paint('verified', 'green')}: {shown(first.origin, 255)}, {said}\n")
    if not key:
        out("   with the keys that are stored beside it; better, give the one that you keep yourself (--key VKEY)\n")
    return FINE


def _verify_export(folder: Path, key: list[str] | None, kept: list[bytes], *, canonical: bool, json: bool) -> int:
    if not key:
        raise InputError(
            "an export of tiles needs the log's key: --key VKEY", help="`remit ledger keys show` prints it"
        )
    try:
        report = verify_export(folder, parse_keys(key), kept, entries=canonical)
    except Unusable as error:
        raise InputError(shown(error, 300)) from None
    problem = report.problem
    problems = (Fault(problem.kind, str(problem), problem.first, problem.last),) if problem is not None else ()
    found = Audit(report, 0, problems, ())
    if json:
        out_ascii(as_json(found))
    else:
        out(as_text(found))
    return FINE if found.verified else NOT_VERIFIED


def _audit(opened: OpenLog, key: list[str] | None, kept: list[bytes], *, canonical: bool, quiet: bool) -> Audit:
    with opened.store.read() as view:
        size = head_of(view).size
    try:
        with progress_bar("verifying", size, quiet=quiet) as progress:
            return audit(
                opened.log,
                opened.signer,
                keys=key,
                anchors=kept,
                settings=opened.settings,
                canonical=canonical,
                progress=progress,
            )
    except Unusable as error:
        raise InputError(f"--key: {error}") from None


def _unreadable(error: RemitError, *, json: bool) -> int:
    """A log that can't even be read is not verified."""
    if json:
        out_ascii({"verified": False, "problems": [{"code": error.code, "message": str(error)}]})
    else:
        help_ = f"\n    {shown(error.help, 500)}" if error.help else ""
        out(f"{paint('NOT VERIFIED', 'red')}: {shown(error, 500)} ({shown(error.code)}){help_}\n")
    return NOT_VERIFIED


def as_json(found: Audit) -> dict[str, Any]:
    """The outcome as plain data."""
    report = found.report
    return {
        "verified": found.verified,
        "origin": report.origin,
        "size": report.size,
        "root": base64.b64encode(report.root).decode() if report.root else None,
        "checkpoints": report.checkpoints,
        "unsigned": report.unsigned,
        "values": found.values,
        "archived": found.archived,
        "archives": [one._asdict() for one in found.archives],
        "problems": [problem._asdict() for problem in found.problems],
        "anchors": [
            {
                "anchor": asked.anchor,
                "size": asked.checkpoint.size if asked.checkpoint is not None else None,
                "error": str(asked.error) if asked.error is not None else None,
            }
            for asked in found.asked
        ],
    }


def as_text(found: Audit) -> str:
    """The outcome for people."""
    report = found.report
    lines = []
    if found.verified:
        sizes = ((report.size, "entry"), (report.checkpoints, "checkpoint"), (found.values, "value"))
        about = ", ".join(counted(count, noun) for count, noun in sizes)
        lines.append(f"{paint('verified', 'green')}: {shown(report.origin, 255)}, {about}")
        if found.archives:
            where = ", ".join(dict.fromkeys(shown(one.where, 200) for one in found.archives[-3:]))
            more = f" and {len(found.archives) - 3} more" if len(found.archives) > 3 else ""
            lines.append(f"   {found.archived} of them archived in {where}{more}; root checked")
        if report.unsigned:
            lines.append(f"   not covered by a checkpoint yet: the last {counted(report.unsigned, 'entry')}")
    for problem in found.problems:
        where = f"entry {problem.first}: " if problem.first is not None and problem.first == problem.last else ""
        said = f"{where}{shown(problem.message, 500)} ({shown(problem.code)})"
        lines.append(f"{paint('NOT VERIFIED', 'red')}: {said}")
    for asked in found.asked:
        kept = (
            f"keeps {counted(asked.checkpoint.size, 'entry')}"
            if asked.checkpoint is not None
            else "can't be asked, or is empty"
        )
        said = shown(asked.error, 300) if asked.error is not None else kept
        lines.append(f"   anchor {shown(asked.anchor, 300)}: {said}")
    if not found.asked:
        lines.append("   no anchor: nobody would notice if entries were cut off the end together with all signatures")
    return "".join(f"{line}\n" for line in lines)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_NOTE + 1)
    except OSError as error:
        raise InputError(f"--anchor {shown(path, 300)}: {error.strerror}") from None
