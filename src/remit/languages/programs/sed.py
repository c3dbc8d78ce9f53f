"""Reads sed scripts: which files a script reads and writes, and whether it runs commands.

Follows GNU sed's grammar. Where versions differ, or a script would not load at all, it is reported as unknown rather
than guessed at. Several `-e` scripts are one script, joined by newlines.
"""

from __future__ import annotations

import re

from remit.languages.bash.reading import Reading, Word
from remit.model.pattern import compile_later

_PLAIN = frozenset("=dDFgGhHnNpPxz")
"""Commands that take nothing."""
_NUMBERED = frozenset("qQlL")
_FILES = {"r": "read", "R": "read", "w": "write", "W": "write"}
_STREAMS = frozenset({"/dev/stdin", "/dev/stdout", "/dev/stderr"})
"""Names that sed itself takes for its own streams."""

_ADDRESS = compile_later(r"[0-9]+(?:[ \t]*~[ \t]*[0-9]+)?|\$")
_SECOND_ADDRESS = compile_later(r"[0-9]+|\$|[+~][0-9]+")
_LABEL = compile_later(r"[A-Za-z0-9_.-]*")
_FLAGS = compile_later(r"[0-9gpiImMe \t]*")


class _Doubt(Exception):
    """A part of the script that isn't certain."""


class _Text:
    """A place in the script."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def peek(self) -> str:
        """The character here, empty at the end."""
        return self.text[self.at : self.at + 1]

    def skip(self, characters: str) -> None:
        """Go on behind these characters."""
        while self.at < len(self.text) and self.text[self.at] in characters:
            self.at += 1

    def match(self, pattern: re.Pattern[str]) -> str:
        """What the pattern finds here, empty where it finds nothing."""
        found = pattern.match(self.text, self.at)
        if found is None:
            return ""
        self.at = found.end()
        return found.group()

    def line(self) -> str:
        """The rest of the line; then stands behind its newline."""
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        rest = self.text[self.at : end]
        self.at = min(end + 1, len(self.text))
        return rest

    def doubt(self, what: str) -> _Doubt:
        """A doubt that names the script from here on, shortened."""
        rest = self.text[self.at : self.at + 24]
        return _Doubt(f"sed script: {what}" + (f" at `{rest}`" if rest else ""))


def read_sed(script: str, extended: bool, out: Reading) -> None:
    """Add what the script reads, writes and runs.

    `extended` says whether expressions are extended ones; where a command ends doesn't depend on it.
    """
    here = _Text(script)
    depth = 0
    try:
        while True:
            here.skip(" \t\n;")
            if not here.peek():
                break
            depth = _command(here, depth, out)
        if depth:
            raise _Doubt("sed script: a `{` without its `}`")
    except _Doubt as doubt:
        out.unknown.append(str(doubt))


def _command(here: _Text, depth: int, out: Reading) -> int:
    """Read one command with its addresses; returns how many blocks are open behind it."""
    addressed = _addresses(here)
    name = here.peek()
    if not name:
        raise here.doubt("an address without a command")
    here.at += 1
    if name == "#" and not addressed:
        here.line()
    elif name == "{":
        return depth + 1
    elif name == "}" and not addressed and depth:
        _end_of_command(here)
        return depth - 1
    elif name in _PLAIN:
        _end_of_command(here)
    elif name in _NUMBERED:
        here.skip(" \t")
        here.skip("0123456789")
        _end_of_command(here)
    elif name in "btT:v":
        _label(here, needed=name == ":")
    elif name in "aic":
        _inserted_text(here)
    elif name in _FILES:
        _file(here, _FILES[name], out)
    elif name == "s":
        _substitute(here, out)
    elif name == "y":
        delimiter = _delimiter(here)
        _behind_part(here, delimiter)
        _behind_part(here, delimiter)
        _end_of_command(here)
    elif name == "e":
        _execute(here, out)
    else:
        here.at -= 1
        raise here.doubt("no known command")
    return depth


def _addresses(here: _Text) -> bool:
    """Go behind the addresses and `!`; true where there were some."""
    found = _address(here, _ADDRESS)
    if found:
        here.skip(" \t")
        if here.peek() == ",":
            here.at += 1
            here.skip(" \t")
            if not _address(here, _SECOND_ADDRESS):
                raise here.doubt("no address behind a comma")
    here.skip(" \t")
    if here.peek() == "!":
        here.at += 1
        here.skip(" \t")
        found = True
    return found


def _address(here: _Text, pattern: re.Pattern[str]) -> bool:
    if here.match(pattern):
        return True
    if here.peek() not in ("/", "\\"):
        return False
    if here.peek() == "\\":
        here.at += 1
    _behind_regex(here, _delimiter(here))
    here.skip("IM")
    return True


def _delimiter(here: _Text) -> str:
    delimiter = here.peek()
    # A bracket or a letter outside ASCII as a delimiter is legal but nobody's honest sed.
    if not delimiter or delimiter in "\\\n[]" or not delimiter.isascii():
        raise here.doubt("an unusual delimiter")
    here.at += 1
    return delimiter


def _behind_part(here: _Text, delimiter: str) -> None:
    """Go behind a replacement, or a part of `y`: brackets mean nothing there."""
    end = _part_end(here.text, here.at, delimiter)
    if end is None:
        raise here.doubt("a part without its end")
    here.at = end + 1


def _part_end(text: str, at: int, delimiter: str) -> int | None:
    while at < len(text):
        if text[at] == "\\":
            at += 2
        elif text[at] == delimiter:
            return at
        elif text[at] == "\n":
            return None
        else:
            at += 1
    return None


def _behind_regex(here: _Text, delimiter: str) -> None:
    """Go behind an expression.

    A delimiter between brackets doesn't end it. (Versions before 4.9 cut it there, and then fail on the open bracket.)
    Whether `\\]` closes a bracket is a matter of dialect, so both ways must agree on the end.
    """
    literal = _regex_end(here.text, here.at, delimiter, escapes=False)
    escaped = _regex_end(here.text, here.at, delimiter, escapes=True)
    if literal is None or literal != escaped:
        raise here.doubt("an expression whose end isn't certain")
    here.at = literal + 1


def _regex_end(text: str, at: int, delimiter: str, *, escapes: bool) -> int | None:
    while at < len(text):
        letter = text[at]
        if letter == "\\":
            at += 2
        elif letter == delimiter:
            return at
        elif letter == "\n":
            return None
        elif letter == "[":
            behind = _bracket_end(text, at + 1, escapes=escapes)
            if behind is None:
                return None
            at = behind
        else:
            at += 1
    return None


def _bracket_end(text: str, at: int, *, escapes: bool) -> int | None:
    """The place behind a bracket expression, whose content starts at `at`."""
    if text[at : at + 1] == "^":
        at += 1
    if text[at : at + 1] == "]":
        at += 1
    while at < len(text) and text[at] != "\n":
        letter = text[at]
        if letter == "]":
            return at + 1
        if letter == "[" and text[at + 1 : at + 2] in (":", ".", "="):
            close = text.find(text[at + 1] + "]", at + 2)
            if close < 0:
                return None
            at = close + 2
        elif letter == "\\" and escapes:
            at += 2
        else:
            at += 1
    return None


def _substitute(here: _Text, out: Reading) -> None:
    delimiter = _delimiter(here)
    _behind_regex(here, delimiter)
    _behind_part(here, delimiter)
    flags = here.match(_FLAGS)
    if "e" in flags:
        out.effects.add("execute")
        out.unknown.append("sed script: the flag `e` of `s` runs the resulting line as a command")
    if here.peek() == "w":
        here.at += 1
        _file(here, "write", out)
    else:
        _end_of_command(here)


def _file(here: _Text, effect: str, out: Reading) -> None:
    here.skip(" \t")
    name = here.line()
    if not name:
        raise here.doubt("a file name is missing")
    if name not in _STREAMS:
        out.touch(effect, Word(name, name))


def _inserted_text(here: _Text) -> None:
    """Go behind the text of `a`, `i` or `c`: `a text`, `a\\text`, or `a\\` and the next lines."""
    here.skip(" \t")
    if not here.peek() or here.peek() == "\n":
        raise here.doubt("text is missing")
    if here.peek() == "\\":
        here.at += 1
        blanks = here.at
        here.skip(" \t")
        if here.peek() == "\\" or (here.at > blanks and here.peek() == "\n"):
            raise here.doubt("a backslash or blanks behind `a\\`, which sed's versions read differently")
        if here.peek() == "\n":
            here.at += 1
    _escaped_line(here)


def _escaped_line(here: _Text) -> str:
    """The text up to a newline without a backslash before it."""
    start = here.at
    while here.peek() and here.peek() != "\n":
        here.at += 2 if here.peek() == "\\" else 1
    here.at = min(here.at, len(here.text))
    return here.text[start : here.at]


def _execute(here: _Text, out: Reading) -> None:
    out.effects.add("execute")
    here.skip(" \t")
    command = _escaped_line(here)
    if not command:
        out.unknown.append("sed script: `e` runs each line as a command")
    elif "\\" in command:
        out.unknown.append(f"sed script: `e` runs `{command[:24]}`")
    else:
        out.shells.append(Word(command, command))


def _label(here: _Text, *, needed: bool) -> None:
    """Go behind a label; where sed's versions see a command or a comment behind it, there must be a plain end."""
    here.skip(" \t")
    if not here.match(_LABEL) and needed:
        raise here.doubt("a label is missing")
    here.skip(" \t")
    if here.peek() == "}" and needed:
        raise here.doubt("a label before `}`")
    if here.peek() == "#":
        raise here.doubt("a comment behind a label")
    _end_of_command(here)


def _end_of_command(here: _Text) -> None:
    here.skip(" \t")
    following = here.peek()
    if following in ("", "#", "}"):
        return
    if following not in "\n;":
        raise here.doubt("more behind a command than it takes")
    here.at += 1
