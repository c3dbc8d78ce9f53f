"""Numbers: bash evaluates the values of variables in arithmetic, and runs the commands that stand in them.

`x='a[$(id)]'; echo $((x))` runs `id`. So a variable may stand in arithmetic only where the text itself shows that
its value is a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from remit.languages.bash.reading import Word
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later

_OWN = frozenset({
    "BASHPID", "COLUMNS", "EPOCHSECONDS", "EUID", "HISTCMD", "LINENO", "LINES", "PPID", "RANDOM", "SECONDS", "SHLVL",
    "SRANDOM", "UID",
})  # fmt: skip
"""Variables that bash itself keeps as numbers."""
_SETTERS = frozenset({"getopts", "mapfile", "printf", "read", "readarray", "wait"})
_RUNNERS = frozenset({".", "eval", "source", "trap"})
"""Builtins that could set any variable."""
_TERM = compile_later(
    r"0[xX][0-9A-Fa-f]+|\d+|\$\{#[A-Za-z_]\w*(?:\[[@*]\])?\}|\$[#?]|\$\{([A-Za-z_]\w*)\}|\$?([A-Za-z_]\w*)"
)
_CHANGED = compile_later(r"([A-Za-z_]\w*)\s*(?:\+\+|--|(?:[+*/%^|&-]|<<|>>)?=(?!=))|(?:\+\+|--)\s*([A-Za-z_]\w*)")
_NUMBER = compile_later(r"-?\d+|\$[#?]|\$\{#[A-Za-z_]\w*(?:\[[@*]\])?\}")
_OUTPUT = compile_later(
    # A pipeline, of which nothing but the last command's output is seen.
    r"\"?\$\((?:(?:[^;&\n()`{}|$\\'\"]|'[^']*'|\"[^\"\\`$]*\")+\|)*[ \t]*"
    r"(?:(wc) -[lcwm](?:[ \t]*<[ \t]*[\w./-]+)?|(date) \+%s|(nproc)|(seq)(?: -?\d+){1,3})[ \t]*\)\"?"
)
_ARITHMETIC = compile_later(r"\$\(\([^$`\\'\"\[\]]*\)\)")
_QUOTED = compile_later(r"\"?(\$[#?]|\$\{#[A-Za-z_]\w*(?:\[[@*]\])?\}|\$([A-Za-z_]\w*)|\$\{([A-Za-z_]\w*)\}|-?\d+)\"?")


def changed(expression: str) -> set[str]:
    """The variables that an arithmetic expression sets."""
    return {found[1] or found[2] for found in _CHANGED.finditer(expression)}


class Numbers:
    """Which variables arithmetic reads, and which of them are known to be numbers."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._known: dict[str, bool] = {}
        self._programs: set[str] = set()

    def use(self, expression: str) -> None:
        """An arithmetic expression. Raises NotUnderstood if it holds more than numbers and variables."""
        if not any(char.isalpha() or char in "_${}" for char in expression):
            return
        for name in changed(expression):
            self._known.setdefault(name, True)
        for found in _TERM.finditer(expression):
            self._used.update(filter(None, found.groups()))
        if re.search(r"[${}]", _TERM.sub(" ", expression)):
            raise NotUnderstood("shell", "arithmetic that isn't followed")

    def use_word(self, raw: str) -> None:
        """An operand of `-eq` and the like in `[[ … ]]`."""
        found = _QUOTED.fullmatch(raw)
        if found is None:
            raise NotUnderstood("shell", "a comparison of numbers that isn't followed")
        self._used.update(filter(None, found.groups()[1:]))

    def assign(self, name: str, value: Word) -> None:
        """A variable gets a value."""
        raw = value.raw if value.text is None else value.text
        number = bool(_NUMBER.fullmatch(raw) or _ARITHMETIC.fullmatch(raw)) or (value.text is None and self.output(raw))
        self._known[name] = number and self._known.get(name, True)

    def output(self, raw: str) -> bool:
        """True if a word is a substitution by a program that writes numbers and nothing else."""
        found = _OUTPUT.fullmatch(raw)
        if found is not None:
            self._programs.update(filter(None, found.groups()))
        return found is not None

    def unknown(self, name: str) -> None:
        """A variable gets a value that the text doesn't show."""
        self._known[name] = False

    def check(self, commands: Iterable[Sequence[Word]], functions: set[str]) -> None:
        """Raises NotUnderstood if arithmetic reads a variable that may be no number."""
        if self._programs & functions:
            raise NotUnderstood("shell", f"`{min(self._programs & functions)}` is a function of the text itself")
        used = self._used
        if not used:
            return
        unsure = {name for name in used if not self._known.get(name, name in _OWN)}
        for words in commands:
            names = {word.text for word in words}
            if names & _RUNNERS or (names & _SETTERS and None in names):
                unsure |= used
            elif names & _SETTERS:
                unsure |= used & names
        if unsure:
            raise NotUnderstood("shell", f"arithmetic with `{min(unsure)}`, whose value the text doesn't show")
