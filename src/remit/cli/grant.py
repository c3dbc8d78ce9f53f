"""`remit grant --standing`: adds a standing grant to the policy file, and shows what that changes."""

from __future__ import annotations

import json
import re
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from remit.cli.common import FINE, InputError, clock, find_policy, known_name, load, say_policy
from remit.cli.living import out_data, to_change
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.declare.files import read_text
from remit.declare.insert import with_entry
from remit.enforce.in_force import read_in_force
from remit.explain.visible import marked
from remit.model.errors import PolicyError
from remit.model.moments import read_moment
from remit.model.text import shown
from remit.store.files import stage, write_whole

if TYPE_CHECKING:
    from remit.model.rulebook import Book, Rulebook
    from remit.store import Store


def command(
    standing: Annotated[bool, Option("--standing", help="A grant that stands in the policy, with an end.")] = False,
    agent: Annotated[str | None, Option("--agent", metavar="NAME", help="To whom: an agent or role.")] = None,
    tool: Annotated[list[str] | None, Option("--tool", metavar="NAME", help="For which tool; repeatable.")] = None,
    path: Annotated[list[str] | None, Option("--path", metavar="GLOB", help="Only these paths.")] = None,
    url: Annotated[list[str] | None, Option("--url", metavar="PATTERN", help="Only these URLs.")] = None,
    until: Annotated[str | None, Option("--until", metavar="MOMENT", help="When it ends.")] = None,
    adr: Annotated[str | None, Option("--adr", metavar="ID", help="Where the reason is written down.")] = None,
    approved_by: Annotated[str | None, Option("--approved-by", metavar="NAME", help="Who approved it.")] = None,
    yes: Annotated[
        bool, Option("--yes", help="Without asking, where no passphrase is needed. It replaces none.")
    ] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would change.")] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Add a standing grant to the policy file, with a reason, an approver and an end; `remit activate` enforces it."""
    if not standing:
        raise InputError(
            "a grant for one task comes with the task, not from here",
            help="put it under `grants:` of a task and run `remit capsule new`; --standing adds one to the policy",
        )
    given = {"--agent": agent, "--tool": tool, "--until": until, "--adr": adr, "--approved-by": approved_by}
    missing = [name for name, value in given.items() if not value]
    if missing:
        raise InputError(f"a standing grant needs {', '.join(missing)}")
    file = find_policy(policy)
    say_policy(file, machine=json)
    before = load(file)
    entry = _entry(before, agent or "", tool or [], path, url, until or "", adr or "", approved_by or "")
    text = read_text(file, shown(file, 300))
    made = _inserted(text, entry)
    after = _loaded(file, made)
    _only_more(before, after)
    difference = _difference(text, made, file.name)
    if not json:
        out("".join(f"{line}\n" for line in difference))
    if dry_run:
        if json:
            out_data({"state": "dry-run", "entry": entry, "difference": difference})
        else:
            out("nothing was changed (--dry-run)\n")
        return FINE
    with to_change(policy) as living:
        book = _activated(living.root, living.opened.store)
        by = living.person(book, f"grant {shown(', '.join(tool or []))} to {shown(agent)}", yes=yes)
        if read_text(file, shown(file, 300)) != text:
            raise InputError("the policy was changed meanwhile; nothing was written", code="policy-changed")
        _write(file, made)
    if json:
        about = {"policy": load(file).hash, "was": before.hash, "by": by}
        out_data({"state": "written", "entry": entry, "difference": difference, **about})
    else:
        out(f"{paint('✅', 'green')} written, by {by}; it is not in force yet: `remit activate` puts it in force\n")
    return FINE


def _entry(
    rulebook: Rulebook,
    agent: str,
    tools: list[str],
    paths: list[str] | None,
    urls: list[str] | None,
    until: str,
    adr: str,
    approved_by: str,
) -> str:
    """The grant in one line, as the policy has it. Raises InputError."""
    book = rulebook.book
    known_name(agent, list(book.callers), "agent")
    for tool in tools:
        known_name(tool, [*book.tools, *book.aliases, *book.toolsets, *book.callers[agent].tools], "tool")
    end = read_moment(until)
    if end is None:
        raise InputError(f"--until: `{shown(until)}` is no moment", help="write 2027-03-01 or 2027-03-01T12:00:00Z")
    if end <= clock():
        raise InputError(f"--until: {end} has passed already")
    for name, text in (("--adr", adr), ("--approved-by", approved_by)):
        if not text.isprintable() or text != text.strip() or len(text) > 200:
            raise InputError(f"{name}: one line of up to 200 characters that can be seen")
    scope = {name: values for name, values in (("path", paths), ("url", urls)) if values}
    parts = ", ".join(f"{name}: [{', '.join(map(_quoted, values))}]" for name, values in scope.items())
    may = ", ".join(f"{{{_quoted(tool)}: {{{parts}}}}}" if parts else _quoted(tool) for tool in tools)
    about = f"adr: {_quoted(adr)}, approved_by: {_quoted(approved_by)}, until: {_quoted(until)}"
    return f"{{agent: {_quoted(agent)}, may: [{may}], {about}}}"


def _quoted(text: str) -> str:
    """A word as it is where YAML can't take it for anything else, otherwise in double quotes."""
    words = ("true", "false", "null", "yes", "no", "on", "off")
    if re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*|[0-9]{4}-[0-9]{2}-[0-9]{2}", text) and text.lower() not in words:
        return text
    return json.dumps(text, ensure_ascii=False)


def _inserted(text: str, entry: str) -> str:
    try:
        return with_entry(text, "grants", entry)
    except ValueError as error:
        raise InputError(
            f"the grant can't be added for you: {error}", help=f"add it under `grants:`: {entry}"
        ) from None


def _loaded(file: Path, text: str) -> Rulebook:
    """The policy as it would be, loaded from a file beside it. Raises PolicyError as for the policy itself."""
    beside = _stage(file, text)
    try:
        return load(beside)
    except PolicyError as error:
        places = (problem.at.replace(beside.name, file.name) for problem in error.problems)
        named = [msgspec.structs.replace(p, at=at) for p, at in zip(error.problems, places, strict=True)]
        raise PolicyError(tuple(named)) from None
    finally:
        beside.unlink(missing_ok=True)


def _stage(file: Path, text: str) -> Path:
    """A new file beside the policy, with its mode and the text, on disk."""
    try:
        return stage(file, text.encode(), mode=None)
    except OSError as error:
        raise InputError(f"the policy can't be written: {error.strerror}", code="not-written") from None


def _write(file: Path, text: str) -> None:
    """The policy is the new one, or the old one; nothing between."""
    try:
        write_whole(file, text.encode(), mode=None)
    except OSError as error:
        raise InputError(f"the policy can't be written: {error.strerror}", code="not-written") from None


def _only_more(before: Rulebook, after: Rulebook) -> None:
    """Nothing but one grant more. Raises InputError."""
    more = len(after.book.grants) - len(before.book.grants)
    if more != 1 or after.book.callers.keys() != before.book.callers.keys():
        raise InputError("the grant can't be added without changing something else", code="not-written")


def _difference(old: str, new: str, name: str) -> list[str]:
    rows = unified_diff(old.splitlines(), new.splitlines(), name, f"{name}, with the grant", lineterm="", n=2)
    return [marked(row.rstrip()) for row in rows]


def _activated(root: Path, store: Store) -> Book | None:
    """The book in force, which alone can say that no passphrase is needed."""
    rulebook = read_in_force(root, store).rulebook
    return rulebook.book if rulebook is not None else None
