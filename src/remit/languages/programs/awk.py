"""Reads awk programs: which files a program opens, and whether it runs commands or opens connections.

A tokenizer, not a parser: it tells strings, regexes, comments and division apart as gawk, mawk and the original awk
do, and then looks at the few places where awk reaches outside: `print >`, `|`, `getline <`, `system`, `@`. Names and
commands that are written out are reported as such; those that the program computes are unknown.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from remit.languages.bash.reading import Reading, Word
from remit.model.pattern import compile_later

_TOKEN = compile_later(
    r"""
    (?P<blank>(?:[ \t\r]|\\\r?\n)+)
  | (?P<comment>\#[^\n]*)
  | (?P<newline>\n)
  | (?P<string>"(?:[^"\\\n]|\\.|\\\n)*")
  | (?P<number>(?:0[xX][0-9A-Fa-f]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))
  | (?P<name>[A-Za-z_][A-Za-z_0-9]*)
  | (?P<sign>\|&|\|\||&&|>>|\+\+|--|[<>!=+\-*%^]=|!~|\*\*=|\*\*|::|[{}()\[\];,+\-*%^!<>|?:~$=@])
    """,
    re.VERBOSE | re.ASCII,
)
# `/` inside brackets doesn't end a regex. Brackets whose end the awks see differently do not match, and are unknown.
_REGEX = compile_later(r"/((?:[^\[\\/\n]|\\[^\n]|\[\^?(?:\[:[a-z]+:\]|[^\]\[\\\n]|\\[^\n])+\])*)/")

_EXPECT_OPERAND = frozenset({"else", "do", "case", "exit", "return", "print", "printf", "in", "delete"})
"""Behind these words a `/` starts a regex."""
# fmt: off
_UNCLEAR = frozenset({
    "BEGIN", "END", "BEGINFILE", "ENDFILE", "function", "func", "if", "while", "for", "switch", "default",
    "break", "continue", "next", "nextfile", "getline", "system", "extension", "atan2", "cos", "exp", "int",
    "log", "rand", "sin", "sqrt", "srand", "asort", "asorti", "gensub", "gsub", "index", "match", "patsplit",
    "split", "sprintf", "strtonum", "sub", "substr", "tolower", "toupper", "close", "fflush", "mktime",
    "strftime", "systime", "and", "compl", "lshift", "or", "rshift", "xor", "isarray", "typeof", "bindtextdomain",
    "dcgettext", "dcngettext", "mkbool",
})
# fmt: on
"""Behind these it starts what each awk makes of it, or an error."""
_ARGUMENTS = frozenset({"ARGV", "ARGC"})
"""Changing them makes awk read other files."""
_STREAMS = {"read": frozenset({"-", "/dev/stdin"}), "write": frozenset({"/dev/stdout", "/dev/stderr"})}
_CONTINUES = frozenset({",", "&&", "||", "?", ":", "{", "do", "else"})
"""Behind these a newline doesn't end a statement in one awk or another."""
_ENDS = frozenset({"\n", ";", "}", ")", ""})
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "t": "\t"}


class _Token(NamedTuple):
    kind: str
    text: str


_END = _Token("end", "")


class _Doubt(Exception):
    """A part of the program that isn't certain."""


def read_awk(program: str, out: Reading) -> None:
    """Add what the program reads, writes, runs and connects to, beyond the files it is given."""
    try:
        tokens = _tokens(program)
    except _Doubt as doubt:
        out.unknown.append(f"awk program: {doubt}")
        return
    _Program(tokens, out).read()


def _tokens(program: str) -> list[_Token]:
    """The program's tokens, without blanks and comments."""
    tokens: list[_Token] = []
    controls: list[bool] = []
    """For each open parenthesis, whether it belongs to `if`, `while`, `for` or `switch`."""
    after_control = False
    at = 0
    while at < len(program):
        if program[at] == "/":
            before = tokens[-1] if tokens else _END
            if after_control or _regex_or_division(before) is None:
                raise _Doubt(f"a regex or a division at `{program[at : at + 24]}`")
            if _regex_or_division(before) == "regex":
                found = _REGEX.match(program, at)
                if found is None:
                    raise _Doubt(f"a regex whose end isn't certain at `{program[at : at + 24]}`")
                tokens.append(_Token("regex", found.group()))
                at = found.end()
            else:
                tokens.append(_Token("sign", "/"))
                at += 1
            continue
        found = _TOKEN.match(program, at)
        if found is None:
            raise _Doubt(f"`{program[at : at + 24]}`")
        at = found.end()
        kind = found.lastgroup or ""
        text = found.group()
        if kind in ("blank", "comment"):
            continue
        if kind == "number" and (program[at : at + 1].isalnum() or program[at : at + 1] == "_"):
            raise _Doubt(f"a number and a word in one: `{text}{program[at : at + 16]}`")
        after_control = False
        if text == "(":
            controls.append(bool(tokens) and tokens[-1].text in ("if", "while", "for", "switch"))
        elif text == ")" and controls:
            after_control = controls.pop()
        tokens.append(_Token(kind, text))
    return tokens


def _regex_or_division(before: _Token) -> str | None:
    """What a `/` behind this token starts; None where the awks differ."""
    if before.kind in ("number", "string"):
        return "division"
    if before.kind == "name":
        if before.text in _EXPECT_OPERAND:
            return "regex"
        return None if before.text in _UNCLEAR else "division"
    if before.kind == "regex" or before.text in ("$", "@", "::"):
        return None
    return "division" if before.text in (")", "]", "++", "--") else "regex"


class _Program:
    """Walks over the tokens once; `out` gathers what reaches outside."""

    def __init__(self, tokens: list[_Token], out: Reading) -> None:
        self.tokens = tokens
        self.out = out
        self.parens = 0
        self.braces = 0
        self.printing: int | None = None
        """How many parentheses were open at the `print` whose statement this is."""
        self.getting: int | None = None
        """The same for `getline`, until a `<` could no longer be its."""

    def read(self) -> None:
        """Look at every token."""
        for index, token in enumerate(self.tokens):
            if token.kind == "string" and "/inet" in token.text:
                self.out.url(Word(token.text[1:-1], token.text))
            elif token.kind == "name":
                self._name(index, token.text)
            elif token.kind in ("sign", "newline"):
                self._sign(index, token.text)
        if self.parens or self.braces:
            self._doubt("brackets that don't match")

    def _at(self, index: int) -> _Token:
        return self.tokens[index] if 0 <= index < len(self.tokens) else _END

    def _doubt(self, what: str) -> None:
        self.out.unknown.append(f"awk program: {what}")

    def _name(self, index: int, name: str) -> None:
        if name in ("print", "printf"):
            self.printing = self.parens
        elif name == "getline":
            self.getting = self.parens
        elif name in _ARGUMENTS:
            self._doubt(f"`{name}` can name other files to read")
        elif name == "extension":
            self._doubt("`extension` loads code")
        elif name == "system":
            self._system(index)

    def _sign(self, index: int, sign: str) -> None:
        if sign in "([":
            self.parens += 1
        elif sign in ")]":
            self.parens -= 1
            if self.getting is not None and self.parens < self.getting:
                self.getting = None
        elif sign == "{":
            self.braces += 1
        elif sign == "}":
            self.braces -= 1
            self.printing = self.getting = None
        elif sign == ";" or (sign == "\n" and not self.parens and self._at(index - 1).text not in _CONTINUES):
            self.printing = self.getting = None
        elif sign in ("@", "::"):
            self._doubt(f"`@{self._at(index + 1).text}`: loads code, or calls a function by a computed name")
        elif sign == "|&":
            self._doubt("`|&` talks to a command or a connection")
            self.out.effects.add("execute")
        elif sign == "|":
            self._pipe(index)
        elif sign in (">", ">>") and self.printing == self.parens:
            self._file(index, "write", _ENDS - {")"})
        elif sign == "<" and self.getting == self.parens:
            self._file(index, "read", _ENDS | {">", ">=", "==", "!=", "&&", "||"})

    def _file(self, index: int, effect: str, ends: frozenset[str]) -> None:
        """A redirection: its file must be one string, with nothing joined to it."""
        name = _literal(self._at(index + 1))
        if name is None or self._at(index + 2).text not in ends or "\n" in name:
            self._doubt(f"`{self._at(index).text}` to a file whose name is computed")
            if effect == "write":
                self.out.effects.add("write")
        elif name not in _STREAMS[effect] and not name.startswith("/inet"):
            self.out.touch(effect, Word(name, name))

    def _pipe(self, index: int) -> None:
        """`"command" | getline` or `print | "command"`."""
        if self._at(index + 1).text == "getline":
            alone = self._at(index - 2).text in ("(", "{", ";", "\n", "", "=", "!", "&&", "||")
            self._run(_literal(self._at(index - 1)) if alone else None)
        else:
            alone = self._at(index + 2).text in _ENDS
            self._run(_literal(self._at(index + 1)) if alone else None)

    def _system(self, index: int) -> None:
        alone = self._at(index + 1).text == "(" and self._at(index + 3).text == ")"
        self._run(_literal(self._at(index + 2)) if alone else None)

    def _run(self, command: str | None) -> None:
        self.out.effects.add("execute")
        if command is None:
            self._doubt("runs a command that is computed")
        else:
            self.out.shells.append(Word(command, command))


def _literal(token: _Token) -> str | None:
    """The value of a string, None where it is no string or has an escape that the awks read differently."""
    if token.kind != "string":
        return None
    value = ""
    letters = iter(token.text[1:-1])
    for letter in letters:
        if letter != "\\":
            value += letter
            continue
        escaped = _ESCAPES.get(next(letters, ""))
        if escaped is None:
            return None
        value += escaped
    return value
