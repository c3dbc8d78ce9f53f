"""Writing into the policy file that an agent was reviewed: one value changes, and no decision."""

from __future__ import annotations

from pathlib import Path

import msgspec

from remit.analyze.changes import compare
from remit.compile.load import load_file
from remit.declare.files import read_text
from remit.declare.insert import with_value
from remit.model.errors import InputError, PolicyError
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.service.standing_grant import load_beside, quoted, write_policy


class ReviewMark(msgspec.Struct, frozen=True):
    """A policy file and the agent that is reviewed."""

    file: Path
    agent: str
    text: str
    before: Rulebook

    def made(self, on: str, by: str) -> str:
        """The policy with the review in it, checked. Raises InputError and PolicyError."""
        value = f"{{on: {quoted(on)}, by: {quoted(by)}}}"
        try:
            made = with_value(self.text, ("agents", self.agent), "reviewed", value)
        except ValueError as error:
            help_ = f"set it yourself, under the agent: reviewed: {value}"
            raise InputError(f"the review can't be written for you: {error}", help=help_) from None
        changes = compare(self.before.book, load_beside(self.file, made).book)
        others = [one for one in changes if (one.name, one.key) != (self.agent, "reviewed")]
        if any(one.section in ("agents", "roles", "runners", "tools", "grants") for one in others):
            raise InputError("the review can't be written for you: the policy would say something else")
        return made

    def write(self, on: str, by: str) -> None:
        """The policy says who reviewed the agent, and when. Raises InputError, and then it is the old one."""
        made = self.made(on, by)
        if read_text(self.file, shown(self.file, 300)) != self.text:
            raise InputError("the policy was changed meanwhile; nothing was written", code="policy-changed")
        write_policy(self.file, made)


def mark_reviewed(file: Path, agent: str) -> ReviewMark:
    """What writes it, tried out on a text. Raises InputError and PolicyError."""
    text = read_text(file, shown(file, 300))
    rulebook = load_file(file)
    if agent not in rulebook.book.callers or rulebook.book.callers[agent].kind != "agent":
        raise InputError(f"`{shown(agent)}` is not an agent of {shown(file, 300)}: --write is for agents")
    found = ReviewMark(file, agent, text, rulebook)
    try:
        found.made("2026-01-01T00:00:00Z", "somebody")
    except PolicyError as error:
        raise InputError(f"the review can't be written for you: {error}") from None
    return found
