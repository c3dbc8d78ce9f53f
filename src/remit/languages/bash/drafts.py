"""Drafts: commands while what stands around them is still being read."""

from __future__ import annotations

from remit.languages.bash.numbers import Numbers
from remit.languages.bash.reading import Word
from remit.languages.bash.script import Command, Redirect

INPUTS = frozenset({"<", "<&", "<>", "<<", "<<<"})


class Draft:
    """A command while what stands around it is still being read."""

    __slots__ = ("assigns", "depth", "joined", "piped_from", "raw", "redirects", "words")

    def __init__(self, depth: int, joined: frozenset[str], piped_from: int | None) -> None:
        self.depth = depth
        self.joined = joined
        self.piped_from = piped_from
        self.words: list[Word] = []
        self.assigns: list[tuple[str, Word]] = []
        self.redirects: list[Redirect] = []
        self.raw = ""

    def command(self) -> Command:
        return Command(
            tuple(self.words), tuple(self.assigns), tuple(self.redirects), self.joined, self.piped_from, self.raw
        )

    @property
    def takes_input(self) -> bool:
        """Its standard input, or any other that could become it, is redirected."""
        return any(redirect.op in INPUTS for redirect in self.redirects)


class Found:
    """What was found in a text and in all that is nested in it."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.functions: set[str] = set()
        self.numbers = Numbers()
        self.fed = False
        """`exec` has changed the shell's own standard input."""
