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
    raw: str | None = None
    """What a here-document or here-string that is expanded says before that."""


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


class Step(NamedTuple):
    """A part of a script in the order in which it runs; its commands are known by their place in the script.

    | kind | parts |
    |---|---|
    | command | none; `place` |
    | sets | none; the expression or expansion sets the variable `name` |
    | hides | none; the variable `name` already has a value that the command gives it |
    | subshell | what changes nothing outside: `(…)`, a stage of a pipe, what runs in the background |
    | output | a substitution, which changes nothing outside either |
    | later | what runs at a time that isn't known: a substitution in a here-document |
    | and, or | the left side; the right side, which may run |
    | not | what stands behind `!`: it ends nothing if it fails |
    | if | the condition; what follows `then`; what follows `else` |
    | case | one for each pattern |
    | loop | condition and body |
    | for | the body; `name` takes each of `words`, None where these are the arguments |
    | function | the body; `name` |
    """

    kind: str
    place: int = -1
    parts: tuple[tuple[Step, ...], ...] = ()
    name: str = ""
    words: tuple[str, ...] | None = None


class Script(NamedTuple):
    """Everything that would run, in the order of the text."""

    text: str
    commands: tuple[Command, ...]
    functions: frozenset[str] = frozenset()
    """Names that the text itself defines as functions."""
    steps: tuple[Step, ...] = ()
    """The same commands as they run."""
