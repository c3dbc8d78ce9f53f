"""Shell text → the commands that bash would run.

A reader of bash's grammar, checked against bash itself on generated texts (`tests/languages/bash/bash_fuzz.py`).
Every command in any branch counts. What bash would reject, and what could mean one thing or another, is refused.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from remit.languages.bash.builtins import check_builtin
from remit.languages.bash.drafts import Draft, Found
from remit.languages.bash.lexer import words as lex
from remit.languages.bash.reading import Word
from remit.languages.bash.scanner import MAX_DEPTH
from remit.languages.bash.script import Command, Script
from remit.languages.bash.simple import SimpleReader
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later

MAX_TEXT = 16_384
_BAD = compile_later("[\x00-\x08\x0b-\x1f\x7f]")
_JOINERS = {"&&": "and", "||": "or", ";": "then", "\n": "then", "&": "background"}
_ENDS = frozenset({")", ";;", ";&", ";;&"})
_PLAIN = compile_later(r"[A-Za-z0-9_./:,@%+^~-]+(?: [A-Za-z0-9_./:,@%+^~-]+)*")
"""One command of plain words: the everyday text, which needs no grammar."""
_FUNCTION = compile_later(r"[A-Za-z_][\w.:-]*")
_RESERVED = frozenset({"then", "do", "done", "fi", "esac", "elif", "else", "}", "!", "coproc"})
_COMPARISONS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})


def read_script(text: str) -> Script:
    """The commands of a text. Raises NotUnderstood, with the part that wasn't."""
    if len(text) > MAX_TEXT:
        raise NotUnderstood("shell", f"longer than {MAX_TEXT} characters")
    if _PLAIN.fullmatch(text):
        words = tuple(Word(word, word) for word in text.split(" "))
        if words[0].text not in _OTHERS:
            return Script(text, (Command(words, raw=text),))
    refuse_characters(text)
    found = Found()
    reader = _Reader(text, 0, found, frozenset())
    reader.whole()
    for draft in found.drafts:
        check_builtin(draft.words, found.numbers)
    found.numbers.check((draft.words for draft in found.drafts), found.functions)
    return Script(reader.text, tuple(draft.command() for draft in found.drafts), frozenset(found.functions))


def refuse_characters(text: str) -> None:
    """Raises NotUnderstood for characters that shells and people see differently."""
    bad = _BAD.search(text)
    if bad:
        raise NotUnderstood("shell", f"a control character (U+{ord(bad[0]):04X})")
    if not text.isascii():
        for char in text:
            if ord(char) > 0x7F and (char.isspace() or unicodedata.category(char) in ("Cf", "Cs", "Zs", "Zl", "Zp")):
                raise NotUnderstood("shell", f"a hidden or blank character (U+{ord(char):04X})")


class _Reader(SimpleReader):
    """Reads lists, pipelines and compound commands by recursive descent."""

    # ------------------------------------------------------------------------------------------------- lists

    def whole(self) -> None:
        """The whole text."""
        self.statements()
        if self.at < len(self.text):
            raise self.unexpected()
        if self.documents:
            raise NotUnderstood("shell", "a here-document that doesn't end")

    def body(self, *ends: str) -> None:
        """Statements, at least one, up to a reserved word, which stays."""
        if not self.statements(*ends):
            raise self.unexpected()

    def statements(self, *ends: str) -> bool:
        """Statements up to the end of what they stand in; what stands between two of them joins both."""
        parts: list[tuple[int, int]] = []
        joiners: list[str] = []
        self.newlines()
        while not self.ended(ends):
            first = len(self.found.drafts)
            self.conditional_list()
            parts.append((first, len(self.found.drafts)))
            self.blanks()
            operator = self.operator()
            if operator not in (";", "&", "\n"):
                break
            joiners.append(_JOINERS[operator])
            if operator == "\n":
                self.newline()
            else:
                self.at += 1
            self.newlines()
        if len(joiners) == len(parts) and joiners and joiners[-1] != "background":
            joiners.pop()
        self.joined(parts, joiners)
        return bool(parts)

    def ended(self, ends: tuple[str, ...]) -> bool:
        return self.at >= len(self.text) or self.operator() in _ENDS or (bool(ends) and self.bare() in ends)

    def conditional_list(self) -> None:
        """Pipelines joined by `&&` and `||`."""
        parts: list[tuple[int, int]] = []
        joiners: list[str] = []
        while True:
            first = len(self.found.drafts)
            self.pipeline()
            parts.append((first, len(self.found.drafts)))
            self.blanks()
            operator = self.operator()
            if operator not in ("&&", "||"):
                break
            self.at += 2
            joiners.append(_JOINERS[operator])
            self.newlines()
        self.joined(parts, joiners)

    def joined(self, parts: list[tuple[int, int]], joiners: list[str]) -> None:
        """Tells the commands of each part what stands before and after it."""
        for index, joiner in enumerate(joiners):
            for first, last in parts[index : index + 2]:
                for draft in self.found.drafts[first:last]:
                    if draft.depth == self.depth:
                        draft.joined |= {joiner}

    def pipeline(self) -> None:
        """Commands joined by pipes, after any `!` and `time`."""
        empty = self.prefixes()
        first = len(self.found.drafts)
        if empty and (self.at >= len(self.text) or self.operator() in (";", "&", "\n", ")")):
            return  # `time` and `!` may stand alone
        self.command(None)
        start = first
        self.blanks()
        piped = False
        while self.operator() in ("|", "|&"):
            piped = True
            self.at += len(self.operator())
            self.newlines()
            source = start if self.is_one(start) else -1
            start = len(self.found.drafts)
            self.command(source)
            self.blanks()
        if piped:
            self.joined([(first, len(self.found.drafts))], ["pipe"])

    def prefixes(self) -> bool:
        """Skips `!` and `time`; true if there was one."""
        found = False
        while True:
            word = self.bare()
            if word not in ("!", "time"):
                return found
            found = True
            self.at += len(word)
            self.blanks()
            if word == "time":
                self.options_of_time()

    def options_of_time(self) -> None:
        for option in ("-p", "--"):
            before = self.at
            if self.text.startswith("-", before) and self.word() == option:
                self.blanks()
            else:
                self.at = before

    def is_one(self, start: int) -> bool:
        """True if a stage of a pipeline is one simple command, at this place."""
        drafts = [draft for draft in self.found.drafts[start:] if draft.depth == self.depth]
        return len(drafts) == 1 and drafts[0] is self.found.drafts[start] and drafts[0].joined == self.context

    # ---------------------------------------------------------------------------------------------- commands

    def command(self, piped_from: int | None) -> None:
        """One command, simple or compound, with its redirections."""
        if self.text.startswith("(", self.at):
            self.join(self.at + 1)
            if self.text.startswith("((", self.at):
                self.compound(self.arithmetic_command, "condition", piped_from)
            else:
                self.compound(self.subshell, "subshell", piped_from)
            return
        word = self.bare()
        if word in _COMPOUND:
            method, label = _COMPOUND[word]
            self.at += len(word)
            self.compound(lambda: method(self), label, piped_from)
        elif word == "function":
            self.at += len(word)
            self.blanks()
            name = self.word()
            self.blanks()
            if self.text.startswith("(", self.at):
                self.parentheses()
            self.function(name)
        elif word == "coproc":
            raise NotUnderstood("shell", "a coprocess")
        elif word in _RESERVED:
            raise self.unexpected()
        else:
            self.simple(piped_from)

    def compound(self, read: Callable[[], None], label: str, piped_from: int | None) -> None:
        """A compound command; what it reads, all in it may read."""
        self.levels += 1
        if self.levels > MAX_DEPTH:
            raise NotUnderstood("shell", "commands nested too deeply")
        context, fed = self.context, self.fed
        first = len(self.found.drafts)
        self.context = context | {label}
        self.fed = fed or piped_from is not None
        start = self.at
        read()
        around = Draft(self.depth, self.context, piped_from)
        self.blanks()
        while self.redirect(around):
            self.blanks()
        if around.redirects:
            around.raw = self.text[start : self.at]
            self.found.drafts.append(around)
            if around.takes_input:
                for draft in self.found.drafts[first:-1]:
                    draft.piped_from = -1 if draft.piped_from is None else draft.piped_from
        self.context, self.fed = context, fed
        self.levels -= 1

    def subshell(self) -> None:
        self.at += 1
        self.body()
        self.expect(")")

    def group(self) -> None:
        self.body("}")
        self.expect("}")

    def branch(self) -> None:
        self.body("then")
        self.expect("then")
        self.body("elif", "else", "fi")
        while self.bare() == "elif":
            self.at += 4
            self.body("then")
            self.expect("then")
            self.body("elif", "else", "fi")
        if self.bare() == "else":
            self.at += 4
            self.body("fi")
        self.expect("fi")

    def loop(self) -> None:
        self.body("do")
        self.do()

    def do(self) -> None:
        self.expect("do")
        self.body("done")
        self.expect("done")

    def for_(self) -> None:
        self.blanks()
        self.join(self.at)
        if self.text.startswith("((", self.at):
            self.at += 2
            self.expression(several=True)
            self.blanks()
            if self.text.startswith(";", self.at):
                self.at += 1
        else:
            self.for_each()
        self.newlines()
        if self.bare() == "{":
            self.at += 1
            self.group()
        else:
            self.do()

    def for_each(self) -> None:
        """`for NAME in WORDS`, up to the semicolon or newline."""
        name = self.name()
        self.blanks()
        if self.operator() == ";":
            self.at += 1
            self.found.numbers.unknown(name)
            return
        self.newlines()
        if self.bare() != "in":
            self.found.numbers.unknown(name)
            return
        self.at += 2
        while True:
            self.blanks()
            operator = self.operator()
            if operator in (";", "\n"):
                self.at += 1 if operator == ";" else 0
                return
            raw = "" if operator else self.word()
            if not raw:
                raise self.unexpected()
            for word in lex(raw):
                self.found.numbers.assign(name, word)

    def case(self) -> None:
        self.blanks()
        if not self.word():
            raise self.unexpected()
        self.newlines()
        self.expect("in")
        self.newlines()
        while self.bare() != "esac":
            self.patterns()
            self.statements("esac")
            operator = self.operator()
            if operator not in (";;", ";&", ";;&"):
                break
            self.at += len(operator)
            self.newlines()
        self.expect("esac")

    def patterns(self) -> None:
        """The patterns of one case, with the parenthesis after them."""
        if self.operator() == "(":
            self.at += 1
            self.blanks()
        while True:
            if self.operator() or not self.word():
                raise self.unexpected()
            self.blanks()
            if self.operator() != "|":
                break
            self.at += 1
            self.blanks()
        self.expect(")")

    def arithmetic_command(self) -> None:
        self.at += 2
        self.expression()

    def test(self) -> None:
        """`[[ … ]]`; whatever it compares, only the substitutions in it run."""
        draft = self.draft(None)
        draft.words.append(Word("test", "[["))
        start = self.at - 2
        before, compared = "", False
        while True:
            self.newlines()
            if self.bare() == "]]":
                break
            operator = self.operator()
            if operator in ("&&", "||", "(", ")", "<", ">"):
                self.at += len(operator)
                before = ""
                continue
            raw = "" if operator else self.word()
            if not raw or raw in ("-v", "-R"):
                raise NotUnderstood("shell", "a test that isn't followed")
            if raw in _COMPARISONS:
                self.found.numbers.use_word(before)
            elif compared:
                self.found.numbers.use_word(raw)
            elif raw == "=~":
                self.blanks()
                self.regex()
            before, compared = raw, raw in _COMPARISONS
        self.at += 2
        draft.raw = self.text[start : self.at]

    def function(self, name: str) -> None:
        """The body of a function, which may be called from anywhere."""
        if not _FUNCTION.fullmatch(name):
            raise NotUnderstood("shell", f"a function named `{name}`")
        self.newlines()
        if self.bare() not in _COMPOUND and not self.text.startswith("(", self.at):
            raise self.unexpected()
        self.found.functions.add(name)
        context, fed = self.context, self.fed
        self.context, self.fed = context | {"function"}, True
        self.command(None)
        self.context, self.fed = context, fed


_COMPOUND: dict[str, tuple[Callable[[_Reader], None], str]] = {
    "{": (_Reader.group, "group"),
    "if": (_Reader.branch, "condition"),
    "case": (_Reader.case, "condition"),
    "while": (_Reader.loop, "loop"),
    "until": (_Reader.loop, "loop"),
    "for": (_Reader.for_, "loop"),
    "select": (_Reader.for_, "loop"),
    "[[": (_Reader.test, "condition"),
}
_OTHERS = frozenset({"time", "function", "let", "declare", "typeset", "local"}) | _RESERVED | _COMPOUND.keys()
"""Words that make more of a text than one plain command: reserved ones, and builtins that evaluate plain words."""
