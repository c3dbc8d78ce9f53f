"""Adding a standing grant to a policy file: one line of text, and nothing else about the policy changes.

edit = add_grant(Path("remit.yaml"), grant)
print(edit.difference)
edit.write()
"""

from __future__ import annotations

import json
import re
import time
from difflib import unified_diff
from pathlib import Path

import msgspec

from remit.compile.hashing import grant_digest
from remit.compile.load import load_file
from remit.declare.files import read_text
from remit.declare.insert import with_entry
from remit.explain.visible import marked
from remit.model.errors import InputError, PolicyError
from remit.model.moments import moment, read_moment
from remit.model.names import known_name
from remit.model.policy import Grant
from remit.model.rulebook import Rulebook
from remit.model.text import is_visible, shown
from remit.store.files import stage, write_whole


class StandingGrant(msgspec.Struct, frozen=True, kw_only=True):
    """What is granted to whom until when, and on whose word."""

    agent: str
    tools: list[str]
    paths: list[str] | None
    urls: list[str] | None
    until: str
    adr: str
    approved_by: str


class PolicyEdit(msgspec.Struct, frozen=True):
    """A policy file with one grant more, not written yet."""

    file: Path
    before: Rulebook
    entry: str
    """The grant as it would stand in the file."""
    text: str
    made: str
    after: Rulebook

    @property
    def grant(self) -> Grant:
        """The grant as the new policy has it."""
        known = {grant_digest(grant) for grant in self.before.book.grants}
        return next(grant for grant in self.after.book.grants if grant_digest(grant) not in known)

    @property
    def difference(self) -> list[str]:
        """What changes in the file, line by line."""
        return _difference(self.text, self.made, self.file.name)

    def write(self) -> None:
        """The policy is the new one. Raises InputError, and then it is the old one."""
        if read_text(self.file, shown(self.file, 300)) != self.text:
            raise InputError("the policy was changed meanwhile; nothing was written", code="policy-changed")
        write_policy(self.file, self.made)


def add_grant(file: Path, grant: StandingGrant) -> PolicyEdit:
    """The edit that adds the grant, checked. Raises InputError and PolicyError."""
    before = load_file(file)
    entry = _entry(before, grant)
    text = read_text(file, shown(file, 300))
    made = _inserted(text, entry)
    after = load_beside(file, made)
    _only_more(before, after)
    return PolicyEdit(file, before, entry, text, made, after)


def _entry(rulebook: Rulebook, grant: StandingGrant) -> str:
    """The grant in one line, as the policy has it. Raises InputError."""
    book, agent, tools = rulebook.book, grant.agent, grant.tools
    known_name(agent, list(book.callers), "agent")
    for tool in tools:
        known_name(tool, [*book.tools, *book.aliases, *book.toolsets, *book.callers[agent].tools], "tool")
    end = read_moment(grant.until)
    if end is None:
        raise InputError(
            f"--until: `{shown(grant.until)}` is not a moment", help="write 2027-03-01 or 2027-03-01T12:00:00Z"
        )
    if end <= moment(time.time()):
        raise InputError(f"--until: {end} has passed already")
    for name, text in (("--adr", grant.adr), ("--approved-by", grant.approved_by)):
        if not all(map(is_visible, text)) or text != text.strip() or len(text) > 200:
            raise InputError(f"{name}: one line of up to 200 characters that can be seen")
    scope = {name: values for name, values in (("path", grant.paths), ("url", grant.urls)) if values}
    parts = ", ".join(f"{name}: [{', '.join(map(quoted, values))}]" for name, values in scope.items())
    may = ", ".join(f"{{{quoted(tool)}: {{{parts}}}}}" if parts else quoted(tool) for tool in tools)
    about = f"adr: {quoted(grant.adr)}, approved_by: {quoted(grant.approved_by)}, until: {quoted(grant.until)}"
    return f"{{agent: {quoted(agent)}, may: [{may}], {about}}}"


def quoted(text: str) -> str:
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


def load_beside(file: Path, text: str) -> Rulebook:
    """The policy as it would be, loaded from a file beside it. Raises PolicyError as for the policy itself."""
    beside = _stage(file, text)
    try:
        return load_file(beside)
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


def write_policy(file: Path, text: str) -> None:
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
