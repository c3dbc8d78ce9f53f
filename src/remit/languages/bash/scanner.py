"""Where the pieces of a shell text end: blanks, operators, words with all their quoting, here-documents.

It follows bash's own rules character by character. Continuation lines are joined on the way, where bash joins
them and nowhere else. What bash reads differently from one version or option to the next is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from remit.languages.bash.lexer import delimiter
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later

MAX_DEPTH = 24
_BLANKS = compile_later(r"[ \t]*")
_RUN = compile_later(r"[^ \t\n;|&()<>\\'\"`$]*")
_DOUBLE_RUN = compile_later(r"[^\"\\`$]*")
_ANSI_RUN = compile_later(r"[^'\\]*(?:\\.[^'\\]*)*'", re.DOTALL)
_TICK_RUN = compile_later(r"[^`\\]*(?:\\[^\n][^`\\]*)*`")
_DOCUMENT_RUN = compile_later(r"[^\\`$]*")
_OPERAND_RUN = compile_later(r"[^}\\'\"`${<>()\n]*")
_REGEX_RUN = compile_later(r"[^ \t\n\\'\"`$()<>&;]*")
_REGEX_GROUP_RUN = compile_later(r"[^\n\\'\"`$()]*")
_ARITHMETIC_RUN = compile_later(r"[\w \t\n+*/%=!&|^~?:,<>${}-]*")
_OPERATOR = compile_later(r"&&|&>>?|&|\|[|&]?|;;&|;;|;&|;|<<<|<<-|<<|<[&>]|<(?!\()|>[>&|]|>(?!\()|[()\n]")
_BARE = compile_later(r"[A-Za-z{}!\[\]]+")
_DELIMITERS = " \t\n;|&()<>"
_PARAMETER = compile_later(r"\$\{(?:[A-Za-z_]\w*(?:\[(?:[@*]|-?\d{1,6}|\$?([A-Za-z_]\w*))\])?|\d{1,4}|[@*#?$!-])")
_WHOLE_PARAMETER = compile_later(
    r"\$\{#(?:[A-Za-z_]\w*(?:\[(?:[@*]|\d{1,6})\])?|\d{1,4}|[@*])\}"  # a length
    r"|\$\{![A-Za-z_]\w*(?:\[[@*]\]|[@*])\}"  # the indices of an array, names that begin so
)
_TAIL = compile_later(r"\}|@[QULu]\}|:(?:\d+| -\d+)(?::-?\d+)?\}|::-?\d+\}")
_OPERATION = compile_later(r":?[-=?+]|##?|%%?|//?[#%]?|\^\^?|,,?")
_PLAIN_ANSI = compile_later(r"\$'(?:\\[nrt]|[A-Za-z0-9 ,.:/_-])*'")
"""`$'\\n'` in an operand, which ends in the same place whether or not bash takes it for a quote."""
_LENGTH = compile_later(r"\$\{#[A-Za-z_]\w*\[[@*]\]\}|\$#")
_VARIABLE = compile_later(r"[A-Za-z_]\w*|[0-9@*#?$!-]")


class Document(NamedTuple):
    """A here-document whose body follows after the line."""

    end: str
    literal: bool
    tabs: bool
    """Tabs at the beginning of its lines are taken away."""
    done: Callable[[str | None, str | None], None]


class Scanner:
    """Goes through a text from left to right; `at` is how far it has come."""

    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        """How many substitutions it is in."""
        self.documents: list[Document] = []
        self.waiting = False
        """A here-document that began outside of the substitution has no body yet."""
        self.has_document = False
        """There was a here-document in what is being read."""

    def substitution(self, *, fed: bool = False) -> None:
        """Reads commands up to `)`, and over it; `fed` if they read what is written to them."""
        raise NotImplementedError

    def nested(self, text: str) -> None:
        """Reads commands that make up a text of their own, from backticks."""
        raise NotImplementedError

    def nested_document(self, body: str) -> str | None:
        """Reads the commands in a here-document; returns what it says, None if it is not literal."""
        raise NotImplementedError

    def arithmetic(self, text: str) -> None:
        """Takes note of an arithmetic expression, which holds no substitutions."""
        raise NotImplementedError

    def sets(self, name: str) -> None:
        """Takes note that an expansion sets a variable."""
        raise NotImplementedError

    def deeper(self, by: int) -> None:
        """Goes into something nested, or out of it."""
        self.depth += by
        if self.depth > MAX_DEPTH:
            raise NotUnderstood("shell", "substitutions nested too deeply")

    def join(self, at: int) -> None:
        """Takes continuation lines away that begin here."""
        while self.text.startswith("\\\n", at):
            self.text = self.text[:at] + self.text[at + 2 :]

    def blanks(self) -> None:
        """Skips blanks, continuation lines, and the comment that may follow."""
        while True:
            self.at = _end(_BLANKS, self.text, self.at)
            if not self.text.startswith("\\\n", self.at):
                break
            self.join(self.at)
        if self.text.startswith("#", self.at):
            stop = self.text.find("\n", self.at)
            self.at = len(self.text) if stop < 0 else stop

    def newlines(self) -> None:
        """Skips blanks, comments and newlines, with the here-documents that stand there."""
        self.blanks()
        while self.text.startswith("\n", self.at):
            self.newline()
            self.blanks()

    def newline(self) -> None:
        """A newline, and the bodies of the here-documents that began before it."""
        if self.waiting:
            raise NotUnderstood("shell", "a line that ends in a substitution before a here-document")
        self.at += 1
        documents, self.documents = self.documents, []
        for document in documents:
            self._body(document)

    def operator(self) -> str:
        """The operator that stands here; empty if there is none."""
        at = self.at
        while self.text[at : at + 1] in ("&", "|", ";", "<", ">") and at < self.at + 3:
            at += 1
            self.join(at)
        found = _OPERATOR.match(self.text, self.at)
        return found[0] if found else ""

    def bare(self) -> str:
        """The word that stands here if it could be a reserved word; nothing is skipped."""
        while True:
            found = _BARE.match(self.text, self.at)
            if found is None:
                return ""
            if not self.text.startswith("\\\n", found.end()):
                break
            self.join(found.end())
        ends = found.end() == len(self.text) or self.text[found.end()] in _DELIMITERS
        return found[0] if ends else ""

    def word(self) -> str:
        """The raw text of the word that stands here, which may be empty."""
        start = self.at
        self.join(start)
        braces = ticks = False
        while True:
            before, self.at = self.at, _end(_RUN, self.text, self.at)
            braces = braces or "{" in self.text[before : self.at]
            before = self.at
            char = self.text[before : before + 1]
            if char == "\\":
                self._escape()
            elif char == "'":
                self._single()
            elif char == '"':
                self._double()
            elif char == "$":
                self._dollar(quoted=False)
            elif char == "`":
                self._backtick(quoted=False)
            elif char in ("<", ">") and self._follows("("):
                self.at += 2
                self.substitution(fed=char == ">")
            else:
                break
            part = self.text[before : self.at]
            if "`" in part and char in '"$`' and not part.startswith("$("):
                ticks = True
                braces = braces or (char != "`" and "{" in part[2:] and part.count('"') > 2)
        if braces and ticks:
            # bash looks for braces before it looks for backticks, and takes quotes in them for quotes of the word.
            raise NotUnderstood("shell", "braces and backticks in one word")
        if char == "(" and self.at > start and self.text[self.at - 1] in "?*+@!":
            raise NotUnderstood("shell", "an extended pattern")
        return self.text[start : self.at]

    def regex(self) -> None:
        """Skips the regular expression after `=~`."""
        open_ = 0
        start = self.at
        while True:
            self.at = _end(_REGEX_GROUP_RUN if open_ else _REGEX_RUN, self.text, self.at)
            char = self.text[self.at : self.at + 1]
            if char == "\\":
                self._escape()
            elif char == "'":
                self._single()
            elif char == '"':
                self._double()
            elif char == "$":
                self._dollar(quoted=False)
            elif char == "(" or (char == ")" and open_):
                open_ += 1 if char == "(" else -1
                self.at += 1
            elif char in (" ", "\t", "\n") and not open_ and self.at > start:
                return
            else:
                raise NotUnderstood("shell", "a regular expression that isn't followed")

    def document(self, operator: str, done: Callable[[str | None, str | None], None]) -> bool:
        """The delimiter of a here-document, and whether it is quoted; its body comes with the next newline."""
        self.blanks()
        raw = self.word()
        end = delimiter(raw)
        literal = end != raw
        self.has_document = True
        self.documents.append(Document(end, literal, operator == "<<-", done))
        return literal

    def expression(self, *, several: bool = False) -> None:
        """Arithmetic up to `))`, and over it; where it could be something else it is refused."""
        start, open_ = self.at, 0
        while True:
            self.at = _end(_ARITHMETIC_RUN, self.text, self.at)
            char = self.text[self.at : self.at + 1]
            length = None
            if char == "#":
                length = _LENGTH.match(self.text, self.at - 1) or _LENGTH.match(self.text, self.at - 2)
            if char == "(":
                open_ += 1
            elif char == ")" and open_:
                open_ -= 1
            elif length is not None:
                self.at = length.end()
                continue
            elif not (char == ";" and several):
                break
            self.at += 1
        if not self.text.startswith("))", self.at):
            raise NotUnderstood("shell", "arithmetic that isn't followed")
        self.arithmetic(self.text[start : self.at])
        self.at += 2

    def _follows(self, char: str) -> bool:
        self.join(self.at + 1)
        return self.text.startswith(char, self.at + 1)

    def _escape(self) -> None:
        if self.text.startswith("\\\n", self.at):
            self.join(self.at)
        elif self.at + 1 >= len(self.text):
            raise NotUnderstood("shell", "a backslash at the end")
        else:
            self.at += 2

    def _single(self) -> None:
        close = self.text.find("'", self.at + 1)
        if close < 0:
            raise NotUnderstood("shell", "a quote that doesn't end")
        self.at = close + 1

    def _double(self) -> None:
        self.at += 1
        while True:
            self.at = _end(_DOUBLE_RUN, self.text, self.at)
            char = self.text[self.at : self.at + 1]
            if char == '"':
                self.at += 1
                return
            if char == "\\":
                self._escape()
            elif char == "$":
                self._dollar(quoted=True)
            elif char == "`":
                self._backtick(quoted=True)
            else:
                raise NotUnderstood("shell", "a quote that doesn't end")

    def _dollar(self, *, quoted: bool) -> None:
        self.join(self.at + 1)
        following = self.text[self.at + 1 : self.at + 2]
        if following == "'" and not quoted:
            found = _ANSI_RUN.match(self.text, self.at + 2)
            if found is None:
                raise NotUnderstood("shell", "a quote that doesn't end")
            self.at = found.end()
        elif following == '"' and not quoted:
            self.at += 1
            self._double()
        elif following == "(":
            self.join(self.at + 2)
            if self.text.startswith("(", self.at + 2):
                self.at += 3
                self.expression()
            else:
                self.at += 2
                self.substitution()
        elif following == "{":
            self._parameter(quoted=quoted)
        elif following == "[":
            raise NotUnderstood("shell", "arithmetic in `$[…]`")
        else:
            found = _VARIABLE.match(self.text, self.at + 1)
            self.at = found.end() if found else self.at + 1

    def _backtick(self, *, quoted: bool) -> None:
        found = _TICK_RUN.match(self.text, self.at + 1)
        if found is None:
            raise NotUnderstood("shell", "backticks that don't end, or with a continuation line")
        inner = found[0][:-1]
        if quoted and '\\"' in inner:
            raise NotUnderstood("shell", "escaped quotes in backticks")
        self.at = found.end()
        self.nested(re.sub(r"\\([$`\\])", r"\1", inner))

    def _parameter(self, *, quoted: bool) -> None:
        """`${…}`: the forms whose operand can't be evaluated as a command, with what is expanded in the operand."""
        found = _WHOLE_PARAMETER.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            return
        head = _PARAMETER.match(self.text, self.at)
        if head is None:
            raise NotUnderstood("shell", "a parameter expansion that isn't followed")
        if head[1]:
            self.arithmetic(head[1])
        tail = _TAIL.match(self.text, head.end())
        if tail is not None:
            self.at = tail.end()
            return
        operation = _OPERATION.match(self.text, head.end())
        if operation is None:
            raise NotUnderstood("shell", "a parameter expansion that isn't followed")
        if operation[0] in ("=", ":="):
            self.sets(head[0][2:].partition("[")[0])
        self.at = operation.end()
        self.deeper(1)
        while not self.text.startswith("}", self.at):
            self._operand(quoted=quoted)
        self.deeper(-1)
        self.at += 1

    def _operand(self, *, quoted: bool) -> None:
        """One piece of the operand of `${…}`."""
        self.at = _end(_OPERAND_RUN, self.text, self.at)
        char = self.text[self.at : self.at + 1]
        if char == "\\":
            self._escape()
        elif char == "$" and (ansi := _PLAIN_ANSI.match(self.text, self.at)) is not None:
            self.at = ansi.end()
        elif char == "$" and self.text[self.at + 1 : self.at + 2] not in ("'", '"', "\\"):
            self._dollar(quoted=True)
        elif char == "`":
            self._backtick(quoted=True)
        elif char == "'" and not quoted:
            self._single()
        elif char == '"' and not quoted:
            self._double()
        elif char != "}":
            raise NotUnderstood("shell", "a parameter expansion that isn't followed")

    def _body(self, document: Document) -> None:
        """The lines of a here-document up to its delimiter."""
        lines: list[str] = []
        line = ""
        while True:
            if self.at >= len(self.text):
                raise NotUnderstood("shell", "a here-document that doesn't end")
            stop = self.text.find("\n", self.at)
            stop = len(self.text) if stop < 0 else stop
            line += self.text[self.at : stop]
            self.at = min(stop + 1, len(self.text))
            if not document.literal and (len(line) - len(line.rstrip("\\"))) % 2:
                line = line[:-1]
                continue
            if document.tabs:
                line = line.lstrip("\t")
            if line == document.end:
                break
            lines.append(line + "\n")
            line = ""
        body = "".join(lines)
        text = body if document.literal else self.nested_document(body)
        document.done(text, body if text is None else None)

    def expanded(self) -> bool:
        """Reads the text as the body of a here-document; true if something in it is expanded."""
        found = False
        while True:
            self.at = _end(_DOCUMENT_RUN, self.text, self.at)
            char = self.text[self.at : self.at + 1]
            if char == "\\":
                self.at += 2
            elif char == "$":
                before = self.at
                self._dollar(quoted=True)
                found = found or self.at > before + 1
            elif char == "`":
                self._backtick(quoted=True)
                found = True
            else:
                return found


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Where a pattern that matches everywhere stops matching."""
    found = pattern.match(text, at)
    return found.end() if found else at
