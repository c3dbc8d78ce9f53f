"""`remit docs`: the policy, written into the documents that speak of it."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

from remit.cli.common import FINE, InputError, open_policy
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, out_json, paint
from remit.cli.parameters import Argument, Option
from remit.explain.regions import RegionError, has_marks, prompt_text, session_lists, written
from remit.explain.visible import bounded
from remit.model.names import known_name
from remit.model.text import counted
from remit.scan.files import Walk
from remit.store.files import write_whole

STALE = 1
_LINES = 40
_WRITABLE = 0o222


def command(
    files: Annotated[
        list[Path] | None,
        Argument(metavar="[FILE]...", help="The documents; without any, all Markdown files with a region."),
    ] = None,
    check: Annotated[
        bool, Option("--check", help="Write nothing; exit with 1 if a document and the policy disagree.")
    ] = False,
    session: Annotated[
        str | None,
        Option("--session", metavar="AGENT", help="Print what to enable in the host for this agent, and no more."),
    ] = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Write the policy into marked regions of documents: a matrix, sections for agents, the text of prompts.

    A region starts with <!-- remit:matrix -->, <!-- remit:sections -->, <!-- remit:agent NAME --> or
    <!-- remit:prompt NAME -->, and ends with <!-- /remit -->. Everything else stays as it is.

    Examples: `remit docs`, `remit docs --check`, `remit docs --session reviewer`
    """
    opened = open_policy(policy, machine=json)
    rulebook = opened.rulebook
    if session is not None:
        name = known_name(session, list(rulebook.book.callers), "agent")
        on, off = session_lists(rulebook, name)
        if json:
            out_json({"agent": name, "enable": on, "leave_off": off, "prompt": prompt_text(rulebook, name)})
        else:
            out(f"enable:    {', '.join(on) or 'nothing'}\nleave off: {', '.join(off) or 'nothing'}\n\n")
            out(prompt_text(rulebook, name))
        return FINE
    found: list[tuple[Path, str, str, int]] = []
    any_region = False
    for path in _documents(files, opened.path.parent):
        before = _read(path)
        any_region = any_region or has_marks(before)
        try:
            after, changed = written(rulebook, before)
        except RegionError as error:
            raise InputError(f"{bounded(str(path), 200)}: {error}") from None
        if changed:
            found.append((path, before, after, len(changed)))
    if not check:
        locked = next((path for path, *_ in found if not path.stat().st_mode & _WRITABLE), None)
        if locked is not None:
            raise InputError(f"`{bounded(str(locked), 200)}` is read-only; nothing was written")
        for path, before, after, _ in found:
            _write(path, before, after)
    if json:
        out_json({"stale" if check else "written": [str(path) for path, *_ in found]})
    else:
        _say(found, check=check, any_region=any_region)
    return STALE if check and found else FINE


def _documents(files: list[Path] | None, root: Path) -> list[Path]:
    for path in files or ():
        if not path.is_file():
            raise InputError(f"`{bounded(str(path), 200)}`: no such file")
        if path.is_symlink() and not path.resolve().is_relative_to(root.resolve()):
            raise InputError(f"`{bounded(str(path), 200)}`: a link that leads out of the project")
    texts = Walk(str(root)).texts() if not files else ()
    found = files or [root / text.path for text in texts if text.path.endswith(".md") and has_marks(text.text)]
    # a document that a link names too is written once, where it lies
    plain = {path.resolve(): path for path in found if not path.is_symlink()}
    return list(dict.fromkeys(plain.get(path.resolve(), path.resolve()) for path in found))


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"can't read `{bounded(str(path), 200)}`: {error}") from None


def _write(path: Path, before: str, after: str) -> None:
    """Raises InputError for a document that changed meanwhile or can't be written: it stays as it is."""
    name = bounded(str(path), 200)
    try:
        if _read(path) != before:
            raise InputError(f"`{name}` was changed meanwhile; run `remit docs` again")
        write_whole(path, after.encode(), mode=None)
    except OSError as error:
        raise InputError(f"can't write `{name}`: {error.strerror or error}") from None


def _say(found: list[tuple[Path, str, str, int]], *, check: bool, any_region: bool) -> None:
    if not any_region:
        out("no document has a region; put `<!-- remit:matrix -->` and `<!-- /remit -->` where the matrix should be\n")
    elif not found:
        out(f"{paint('✅', 'green')} every region says what the policy says\n")
    for path, before, after, count in found:
        regions = counted(count, "region")
        if not check:
            out(f"{paint('✅', 'green')} {bounded(str(path), 200)}: {regions} written\n")
            continue
        out(f"{paint('❌', 'red')} {bounded(str(path), 200)}: {regions} out of date; run `remit docs`\n")
        lines = list(
            difflib.unified_diff(before.splitlines(), after.splitlines(), "document", "policy", lineterm="", n=1)
        )
        out("".join(f"   {bounded(line, 160)}\n" for line in lines[2:_LINES]))
