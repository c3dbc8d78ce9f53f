"""A script: the commands that bash would run for a text, with how they are joined and what feeds them."""

from __future__ import annotations

from typing import NamedTuple

from remit.languages.bash.reading import Word


class Redirect(NamedTuple):
    """`> file`, `2>&1`, `< file`, a here-document or a here-string."""

    op: str
    fd: str
    target: Word | None = None
    body: str | None = None
    """The literal text of a here-document or here-string; None where it is expanded when it runs."""
    quoted: bool = False
    """A here-document whose delimiter is quoted: nothing in it is expanded."""


class Command(NamedTuple):
    """One simple command."""

    words: tuple[Word, ...]
    assigns: tuple[tuple[str, Word], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    joined: frozenset[str] = frozenset()
    """How it is joined to what stands beside and around it: and, or, then, pipe, background, group, subshell, …"""
    piped_from: int | None = None
    """The command whose output it reads, by its place in the script."""
    raw: str = ""

    @property
    def program(self) -> str | None:
        """The name of what it runs; None if it is not literal, empty for assignments alone."""
        return self.words[0].text if self.words else ""


class Script(NamedTuple):
    """Everything that would run, in the order of the text."""

    text: str
    commands: tuple[Command, ...]
    functions: frozenset[str] = frozenset()
    """Names that the text itself defines as functions."""
