"""What words become once the values of variables are known: `"$dir/x"`, `${f%.py}.txt`, `$(echo a)`.

It follows bash's rules for parameters, word splitting and patterns where it can follow them to the letter; everything
else has no value. Checked against bash on generated scripts (`tests/languages/bash/values_fuzz.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from remit.languages.bash.lexer import ansi
from remit.languages.bash.reading import Word
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later

MAX_LENGTH = 4_096
"""Longer values are not followed."""
MAX_ITEMS = 256
_WILD = frozenset("*?[")
_NAME = compile_later(r"[A-Za-z_][A-Za-z0-9_]*")
_BLANK = compile_later(r"([ \t\n]+)")
_BRACED = compile_later(r"\$\{(#?)([A-Za-z_][A-Za-z0-9_]*|[0-9@*#])(?:\[([@*]|\d{1,4})\])?")
_SEVERAL = compile_later(r"(?:\$@|\$\{@\}|\$\{[A-Za-z0-9_]+\[@\]\})\"")
_SLICE = compile_later(r":(\d{1,6}| -\d{1,6})(?::(\d{1,6}))?\}")
_OPERATOR = compile_later(r":?[-=+?]|##?|%%?|//?|\^\^?|,,?")
_OPERAND = compile_later(r"([^\"'\\`${}()\[~&\n]*)\}")
_REPLACE = compile_later(r"([^\"'\\`${}()\[~&\n/*?#%][^\"'\\`${}()\[~&\n/*?]*)(?:/([^\"'\\`${}()\[~&\n]*))?\}")
_OUTPUT = compile_later(r"\$\(([^()`#\\]*)\)")
_TICKS = compile_later(r"`([^()`#\\]*)`")
_SUM = compile_later(r"\$\(\(([^()]*)\)\)")
_TERM = compile_later(r"\s*([+-]?)\s*(?:\$?([A-Za-z_][A-Za-z0-9_]*)|(0|[1-9]\d{0,8}))\s*")
_HERE = compile_later(r"(?:^|(?<==))~\+(?=/|$)")
"""The working directory, as bash itself abbreviates it."""
_NUMBER = compile_later(r"-?(?:0|[1-9]\d{0,8})")


class Piece(NamedTuple):
    """A value: a text; with `glob` one that the pattern matches; with `deep` the text or a path below it."""

    text: str
    glob: bool = False
    deep: bool = False


class Items(NamedTuple):
    """The values of an array, or the arguments."""

    items: tuple[Piece, ...]


Value = Piece | Items


class Unclear(Exception):
    """Something that has no value that the text shows."""


class Expander:
    """Expands words with variables that have one value each, or none that is known."""

    def __init__(self, lookup: Callable[[str], Value | None], output: Callable[[str], str | None]) -> None:
        self.lookup = lookup
        """The value of a variable; `@` are the arguments."""
        self.output = output
        """What commands print, if that is known."""

    def without(self, names: set[str]) -> Expander:
        """The same with variables that have another value by now."""

        def lookup(name: str) -> Value | None:
            return None if name in names else self.lookup(name)

        return Expander(lookup, lambda _: None)

    def words(self, raw: str) -> list[Word] | None:
        """The words that one word of the text becomes; None where that isn't certain."""
        try:
            return _Fields(self, raw).words()
        except (Unclear, NotUnderstood):
            return None

    def value(self, raw: str) -> Piece | None:
        """The value that an assignment gives, which is neither split nor taken for a pattern."""
        try:
            return _Fields(self, raw, splits=False).value()
        except (Unclear, NotUnderstood):
            return None

    def document(self, raw: str) -> str | None:
        """The text of a here-document."""
        fields = _Fields(self, raw, splits=False)
        try:
            fields.document()
            found = fields.value()
        except (Unclear, NotUnderstood):
            return None
        return None if found.glob or found.deep or "~" in found.text else found.text


Chunk = tuple[str, str]
"""A text, and where it comes from: quoted, plain (without quotes), split (a variable without quotes), match, below."""


class _Fields:
    """One word on its way to becoming any number of them."""

    def __init__(self, by: Expander, raw: str, *, splits: bool = True) -> None:
        self.by = by
        self.raw = raw
        self.splits = splits
        self.at = 0
        self.fields: list[list[Chunk]] = []
        self.current: list[Chunk] | None = None
        self.length = 0

    # -------------------------------------------------------------------------------------------------- results

    def words(self) -> list[Word]:
        self._read()
        self._cut()
        return [_word(field, self.raw) for field in self.fields]

    def value(self) -> Piece:
        self._read()
        word = _word(self.current or [], self.raw, pattern=False)
        if word.text is None or ":~" in word.text:
            raise Unclear
        return Piece(word.text, word.glob, word.deep)

    def document(self) -> None:
        while self.at < len(self.raw):
            if self.raw[self.at] == "\\" and self.raw[self.at + 1 : self.at + 2] in ("$", "`", "\\"):
                self._add(self.raw[self.at + 1], "quoted")
                self.at += 2
            elif self.raw[self.at] in "$`":
                self._expansion(quoted=True)
            else:
                self._add(self.raw[self.at], "quoted")
                self.at += 1

    # -------------------------------------------------------------------------------------------------- reading

    def _add(self, text: str, source: str) -> None:
        if self.current is None:
            self.current = []
        self.length += len(text)
        if self.length > MAX_LENGTH:
            raise Unclear
        self.current.append((text, source))

    def _cut(self) -> None:
        if self.current is not None:
            self.fields.append(self.current)
            self.current = None
            if len(self.fields) > MAX_ITEMS:
                raise Unclear

    def _read(self) -> None:
        raw, end = self.raw, len(self.raw)
        while self.at < end:
            char = raw[self.at]
            if char == "\\":
                if raw[self.at + 1 : self.at + 2] != "\n":
                    self._add(raw[self.at + 1], "quoted")
                self.at += 2
            elif char == "'":
                close = raw.index("'", self.at + 1)
                self._add(raw[self.at + 1 : close], "quoted")
                self.at = close + 1
            elif raw.startswith("$'", self.at):
                found: list[tuple[str, bool]] = []
                self.at = ansi(raw, self.at + 2, found)
                self._add("".join(one for one, _ in found), "quoted")
            elif char == '"' or raw.startswith('$"', self.at):
                self.at += 1 if char == '"' else 2
                self._double()
            elif char in "$`":
                self._expansion(quoted=False)
            elif char == "{" and self.splits and raw[self.at : self.at + 2] != "{}":
                raise Unclear  # braces are expanded before variables
            elif char in "<>" or (char == "(" and not self.splits):
                raise Unclear
            else:
                self._add(char, "plain")
                self.at += 1

    def _double(self) -> None:
        if not _SEVERAL.match(self.raw, self.at):
            self._add("", "quoted")
        while True:
            char = self.raw[self.at]
            if char == '"':
                self.at += 1
                return
            if char == "\\" and self.raw[self.at + 1] in '$`"\\\n':
                if self.raw[self.at + 1] != "\n":
                    self._add(self.raw[self.at + 1], "quoted")
                self.at += 2
            elif char in "$`":
                self._expansion(quoted=True)
            else:
                self._add(char, "quoted")
                self.at += 1

    def _expansion(self, *, quoted: bool) -> None:
        """`$…` or backticks, and over it."""
        raw, at = self.raw, self.at
        total = _SUM.match(raw, at)
        printed = _OUTPUT.match(raw, at) or _TICKS.match(raw, at)
        if total is not None:
            self.at = total.end()
            self._give(Piece(str(self._sum(total[1]))), quoted=quoted)
        elif printed is not None and not raw.startswith("$((", at):
            if quoted and raw[at] == "`" and '"' in printed[0]:
                raise Unclear
            text = self.by.output(printed[1])
            if text is None:
                raise Unclear
            self.at = printed.end()
            self._give(Piece(text.rstrip("\n")), quoted=quoted)
        elif raw.startswith("${", at):
            self._parameter(quoted=quoted)
        elif raw.startswith("$", at):
            name = _NAME.match(raw, at + 1)
            if name is not None:
                self.at = name.end()
                self._give(self._scalar(name[0]), quoted=quoted)
            elif raw[at + 1 : at + 2] in ("@", "*"):
                self.at += 2
                self._several("@", raw[at + 1], quoted=quoted)
            elif raw[at + 1 : at + 2] in tuple("0123456789#?$!-"):
                self.at += 2
                self._give(self._scalar(raw[at + 1]), quoted=quoted)
            elif raw[at + 1 : at + 2] in ("(", "{", "[", "'", '"') and not (quoted and raw[at + 1 : at + 2] in "'\""):
                raise Unclear
            else:
                self._add("$", "quoted" if quoted else "plain")
                self.at += 1
        else:
            raise Unclear

    def _give(self, piece: Piece, *, quoted: bool) -> None:
        """Adds a value; without quotes it is split at blanks."""
        before = "".join(text for text, _ in self.current or ())
        if piece.text.startswith("~") and before and not before.endswith("="):
            raise Unclear  # a home directory in the middle of something
        if piece.glob or piece.deep:
            if (not quoted and self.splits) or (piece.glob and piece.deep):
                raise Unclear  # a file's name may have blanks in it
            self._add(piece.text, "below" if piece.deep else "match")
            return
        if quoted or not self.splits:
            self._add(piece.text, "quoted")
            return
        if "\\" in piece.text:
            raise Unclear
        for index, part in enumerate(_BLANK.split(piece.text)):
            if index % 2:
                self._cut()
            elif part:
                self._add(part, "split")

    def _several(self, name: str, how: str, *, quoted: bool) -> None:
        value = self.by.lookup(name)
        if not isinstance(value, Items):
            raise Unclear
        if not self.splits or (quoted and how == "*"):
            if any(item.glob or item.deep or "~" in item.text for item in value.items):
                raise Unclear
            self._give(Piece(" ".join(item.text for item in value.items)), quoted=quoted)
            return
        for index, item in enumerate(value.items):
            if index:
                self._cut()
            self._give(item, quoted=quoted)

    def _scalar(self, name: str) -> Piece:
        if name.isdigit() and name != "0":
            arguments = self.by.lookup("@")
            if not isinstance(arguments, Items):
                raise Unclear
            place = int(name) - 1
            return arguments.items[place] if place < len(arguments.items) else Piece("")
        if name == "#":
            arguments = self.by.lookup("@")
            if not isinstance(arguments, Items):
                raise Unclear
            return Piece(str(len(arguments.items)))
        value = self.by.lookup(name)
        if isinstance(value, Items):
            return value.items[0] if value.items else Piece("")
        if value is None:
            raise Unclear
        return value

    def _parameter(self, *, quoted: bool) -> None:
        raw = self.raw
        head = _BRACED.match(raw, self.at)
        if head is None:
            raise Unclear
        length, name, index = head.groups()
        at = head.end()
        whole = raw.startswith("}", at)
        if length:
            self._length(name, index, whole=whole)
            self.at = at + 1
            return
        if index in ("@", "*") or name in ("@", "*"):
            if not whole:
                raise Unclear
            self.at = at + 1
            self._several("@" if name in ("@", "*") else name, index or name, quoted=quoted)
            return
        if index is not None:
            value = self.by.lookup(name)
            if not isinstance(value, Items) or int(index) >= len(value.items):
                raise Unclear
            piece = value.items[int(index)]
        else:
            piece = self._scalar(name)
        if whole:
            self.at = at + 1
        else:
            piece, self.at = self._operated(piece, at)
        self._give(piece, quoted=quoted)

    def _length(self, name: str, index: str | None, *, whole: bool) -> None:
        value = self.by.lookup("@" if name in ("@", "*", "#") else name)
        if not whole or value is None:
            raise Unclear
        if index in ("@", "*") or name in ("@", "*"):
            if not isinstance(value, Items):
                raise Unclear
            self._give(Piece(str(len(value.items))), quoted=True)
        elif isinstance(value, Piece) and index is None and not value.glob and not value.deep and _plain(value.text):
            self._give(Piece(str(len(value.text))), quoted=True)
        else:
            raise Unclear

    def _operated(self, piece: Piece, at: int) -> tuple[Piece, int]:
        """`${x%.py}` and the like: what comes out, and where it ends."""
        raw = self.raw
        cut = _SLICE.match(raw, at)
        if cut is not None:
            text = _exact(piece)
            if not _plain(text):
                raise Unclear
            start = int(cut[1])
            if start < 0 and -start > len(text):
                raise Unclear  # bash gives nothing at all then
            rest = text[start:]
            return Piece(rest[: int(cut[2])] if cut[2] else rest), cut.end()
        operator = _OPERATOR.match(raw, at)
        if operator is None:
            raise Unclear
        name, at = operator[0], operator.end()
        if name in ("/", "//"):
            found = _REPLACE.match(raw, at)
            if found is None:
                raise Unclear
            return Piece(_exact(piece).replace(found[1], found[2] or "", -1 if name == "//" else 1)), found.end()
        found = _OPERAND.match(raw, at)
        if found is None:
            raise Unclear
        operand = found[1]
        if name in ("-", "=", "?", ":-", ":=", ":?", "+", ":+"):
            if _BLANK.search(operand) or set(operand) & _WILD or not (piece.text or name[0] == ":"):
                raise Unclear
            if piece.text:
                return (Piece(operand) if name[-1] == "+" else piece), found.end()
            if name[-1] == "?":
                raise Unclear
            return Piece("" if name[-1] == "+" else operand), found.end()
        if name[0] in "^,":
            text = _exact(piece)
            if operand or not text.isascii():
                raise Unclear
            change = str.upper if name[0] == "^" else str.lower
            return Piece(change(text) if len(name) == 2 else change(text[:1]) + text[1:]), found.end()
        return _trimmed(piece, name, operand), found.end()

    def _sum(self, text: str) -> int:
        """Numbers and variables that are numbers, added and subtracted."""
        total, at = 0, 0
        for index in range(64):
            term = _TERM.match(text, at)
            if term is None or (index and not term[1]):
                raise Unclear
            number = term[3] if term[3] is not None else _exact(self._scalar(term[2]))
            if not _NUMBER.fullmatch(number):
                raise Unclear
            total += -int(number) if term[1] == "-" else int(number)
            at = term.end()
            if at == len(text):
                return total
        raise Unclear


def _plain(text: str) -> bool:
    return text.isascii() and not text.startswith("~")


def _exact(piece: Piece) -> str:
    if piece.glob or piece.deep or piece.text.startswith("~"):
        raise Unclear
    return piece.text


def _trimmed(piece: Piece, name: str, pattern: str) -> Piece:
    """A beginning (`#`) or an end (`%`) taken away, the shortest that matches or the longest."""
    if piece.deep or piece.text.startswith("~"):
        raise Unclear
    if piece.glob:
        return _trimmed_match(piece, name, pattern)
    text = piece.text
    if len(text) > 1024:
        raise Unclear
    regex = re.compile("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern), re.DOTALL)
    if "**" in pattern or pattern.count("*") > 2:
        raise Unclear
    lengths = range(len(text) + 1) if len(name) == 1 else range(len(text), -1, -1)
    for length in lengths:
        if name[0] == "#" and regex.fullmatch(text[:length]):
            return Piece(text[length:])
        if name[0] == "%" and regex.fullmatch(text[len(text) - length :]):
            return Piece(text[: len(text) - length])
    return piece


def _trimmed_match(piece: Piece, name: str, pattern: str) -> Piece:
    """The same for every path that a glob matches."""
    text = piece.text
    if name == "##" and pattern == "*/" and "[" not in text:
        rest = text.rpartition("/")[2]
        return Piece(rest, glob=not _WILD.isdisjoint(rest))
    if name == "%" and pattern == "/*" and "/" in text and "[" not in text:
        rest = text.rpartition("/")[0]
        return Piece(rest, glob=not _WILD.isdisjoint(rest)) if rest else _unclear()
    if not _WILD.isdisjoint(pattern):
        raise Unclear
    if name[0] == "%" and text.endswith(pattern) and pattern:
        rest = text[: len(text) - len(pattern)]
    elif name[0] == "#" and text.startswith(pattern) and pattern:
        rest = text[len(pattern) :]
    else:
        raise Unclear
    if not rest or "[" in text:
        raise Unclear
    return Piece(rest, glob=True)


def _unclear() -> Piece:
    raise Unclear


def below(before: str, root: Piece, after: str) -> Piece | None:
    """A path at or below a root with a text before or after it: what `{}.bak` and `old/{}` stand for."""
    if before and not (before.endswith("/") and not before.startswith("-") and not root.text.startswith(("/", "~"))):
        return None
    if "=" in before or ".." in (before + after).split("/") or (before and ".." in root.text.split("/")):
        return None
    text = before + root.text
    if not after or (after.startswith("/") and not root.glob) or root.text in (".", "./"):
        return Piece(text, root.glob, deep=True)
    if root.glob or not set(text).isdisjoint("*?[]{}\\"):
        return None
    return Piece(f"{text.rstrip('/')}*", glob=True, deep=True)


def _word(field: list[Chunk], raw: str, *, pattern: bool = True) -> Word:
    """One field as a word; `pattern` if wildcards without quotes mean something in it."""
    deep = [index for index, (_, source) in enumerate(field) if source == "below"]
    active = ("plain", "split", "match") if pattern else ("match",)
    glob = any(source == "match" or (source in active and not _WILD.isdisjoint(text)) for text, source in field)
    text = "".join(text for text, _ in field)
    if deep:
        if len(deep) > 1 or glob:
            raise Unclear
        before, after = ("".join(text for text, _ in part) for part in (field[: deep[0]], field[deep[0] + 1 :]))
        found = below(before, Piece(field[deep[0]][0], deep=True), after)
        if found is None:
            raise Unclear
        return Word(found.text, raw, found.glob, found.deep)
    if glob:
        quoted = "".join(text for text, source in field if source not in active)
        if not set(quoted).isdisjoint("*?[]") or not set(text).isdisjoint("{}\\"):
            raise Unclear
        if pattern and any(source == "match" for _, source in field) and text.startswith("~"):
            raise Unclear
    if pattern and "~+" in text:
        text = _HERE.sub(".", text)
        if "~+" in text:
            raise Unclear
    return Word(text, raw, glob)
