"""Shell text → the commands that bash would run.

A reader of bash's grammar, checked against bash itself on generated texts (`tests/languages/bash/bash_fuzz.py`).
Every command in any branch counts. What bash would reject, and what could mean one thing or another, is refused.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple

from remit.languages.bash.builtins import BETWEEN_FILES, DECLARES, OF_FILES, check_builtin
from remit.languages.bash.lexer import is_pattern
from remit.languages.bash.lexer import value as lex_value
from remit.languages.bash.lexer import words as lex
from remit.languages.bash.numbers import Numbers, changed
from remit.languages.bash.reading import Word
from remit.languages.bash.scanner import MAX_DEPTH, Scanner
from remit.languages.bash.script import Command, Redirect, Script, Step
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later

MAX_TEXT = 16_384
MAX_COMMANDS = 256
MAX_WORDS = 4_096
_BAD = compile_later("[\x00-\x08\x0b-\x1f\x7f]")
_JOINERS = {"&&": "and", "||": "or", ";": "then", "\n": "then", "&": "background"}
_ENDS = frozenset({")", ";;", ";&", ";;&"})
_PLAIN = compile_later(r"[A-Za-z0-9_./:,@%+^~-]+(?: [A-Za-z0-9_./:,@%+^~-]+)*")
"""One command of plain words: the everyday text, which needs no grammar."""
_FUNCTION = compile_later(r"[A-Za-z_][\w.:-]*")
_RESERVED = frozenset({"then", "do", "done", "fi", "esac", "elif", "else", "}", "!", "coproc"})
_COMPARISONS = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_OF_ONE_FILE = OF_FILES | {"-a"}
_INPUTS = frozenset({"<", "<&", "<>", "<<", "<<<"})
_PLAIN_WORD = compile_later(r"[A-Za-z0-9_./:,@%+^~-]+(?=[ \t\n;|&)]|\Z)")
_ASSIGN = compile_later(r"([A-Za-z_]\w*)(?:\[(?:\d{1,6}|\$?([A-Za-z_]\w*))\])?\+?=")
_SUBSCRIPT = compile_later(r"[A-Za-z_]\w*\[")
_ELEMENT = compile_later(r"\[\d{1,6}\]\+?=|[^\[]")
_NAME = compile_later(r"[A-Za-z_]\w*")
_DESCRIPTOR = compile_later(r"(?:\d+|\{[A-Za-z_]\w*\})?")
_DUPLICATED = compile_later(r"\d+-?|[\w./,:=+@%^-]+")


def read_script(text: str) -> Script:
    """The commands of a text. Raises NotUnderstood, with the part that wasn't."""
    if len(text) > MAX_TEXT:
        raise NotUnderstood("shell", f"longer than {MAX_TEXT} characters")
    if _PLAIN.fullmatch(text):
        words = tuple(Word(word, word) for word in text.split(" "))
        if words[0].text not in _OTHERS:
            return Script(text, (Command(words, raw=text),), steps=(Step("command", 0),))
    refuse_characters(text)
    found = Found()
    reader = _Reader(text, 0, found, frozenset())
    reader.whole()
    for draft in found.drafts:
        check_builtin(draft.words, found.numbers)
    found.numbers.check((draft.words for draft in found.drafts), found.functions)
    places = {id(draft): place for place, draft in enumerate(found.drafts)}
    commands = tuple(draft.command() for draft in found.drafts)
    return Script(reader.text, commands, frozenset(found.functions), _steps(reader.block, places))


def _steps(block: list[Part], places: dict[int, int]) -> tuple[Step, ...]:
    return tuple(
        Step(
            part.kind,
            places[id(part.draft)] if part.draft is not None else part.source,
            tuple(_steps(inner, places) for inner in part.parts),
            part.name,
            part.words,
        )
        for part in block
    )


def refuse_characters(text: str) -> None:
    """Raises NotUnderstood for characters that shells and people see differently."""
    bad = _BAD.search(text)
    if bad:
        raise NotUnderstood("shell", f"a control character (U+{ord(bad[0]):04X})")
    if not text.isascii():
        for char in text:
            if ord(char) > 0x7F and (char.isspace() or unicodedata.category(char) in ("Cf", "Cs", "Zs", "Zl", "Zp")):
                raise NotUnderstood("shell", f"a hidden or blank character (U+{ord(char):04X})")


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
        return any(redirect.op in _INPUTS for redirect in self.redirects)


class Part(NamedTuple):
    """A step while the places of its commands aren't known yet."""

    kind: str
    draft: Draft | None = None
    parts: tuple[list[Part], ...] = ()
    name: str = ""
    words: tuple[str, ...] | None = None
    source: int = -1


class Found:
    """What was found in a text and in all that is nested in it."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.functions: set[str] = set()
        self.numbers = Numbers()
        self.words = 0
        self.fed = False
        """`exec` has changed the shell's own standard input."""


class _Reader(Scanner):
    """Reads lists, pipelines, compound and simple commands by recursive descent."""

    def __init__(self, text: str, depth: int, found: Found, context: frozenset[str], *, fed: bool = False) -> None:
        super().__init__(text, depth)
        self.found = found
        self.context = context
        """What the commands stand in: a group, a loop, a substitution, …"""
        self.fed = fed
        """The commands may read a pipe or file that stands outside of what they are in."""
        self.levels = 0
        self.block: list[Part] = []
        """The steps of what is being read."""

    def collect(self, read: Callable[[], object]) -> list[Part]:
        """The steps of what `read` reads."""
        outer, self.block = self.block, []
        read()
        found, self.block = self.block, outer
        return found

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
            steps = self.collect(self.conditional_list)
            parts.append((first, len(self.found.drafts)))
            self.blanks()
            operator = self.operator()
            self.block.extend([Part("subshell", parts=(steps,))] if operator == "&" else steps)
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
        left: list[Part] = []
        while True:
            first = len(self.found.drafts)
            right = self.collect(self.pipeline)
            left = [Part(joiners[-1], parts=(left, right))] if joiners else right
            parts.append((first, len(self.found.drafts)))
            self.blanks()
            operator = self.operator()
            if operator not in ("&&", "||"):
                break
            self.at += 2
            joiners.append(_JOINERS[operator])
            self.newlines()
        self.block.extend(left)
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
        prefix = self.prefixes()
        first = len(self.found.drafts)
        if prefix and (self.at >= len(self.text) or self.operator() in (";", "&", "\n", ")")):
            return  # `time` and `!` may stand alone
        stages = [self.collect(lambda: self.command(None))]
        start = first
        self.blanks()
        while self.operator() in ("|", "|&"):
            self.at += len(self.operator())
            self.newlines()
            source = start if self.is_one(start) else -1
            start = len(self.found.drafts)
            stages.append(self.collect(lambda: self.command(source)))  # noqa: B023 - called at once
            self.blanks()
        if len(stages) == 1:
            self.block.extend([Part("not", parts=(stages[0],))] if prefix == "!" else stages[0])
        else:
            self.block.extend(Part("subshell", parts=(stage,)) for stage in stages)
            self.joined([(first, len(self.found.drafts))], ["pipe"])

    def prefixes(self) -> str:
        """Skips `!` and `time`; `!` if that is among them."""
        found = ""
        while True:
            word = self.bare()
            if word not in ("!", "time"):
                return found
            found = "!" if "!" in (found, word) else word
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
        steps = self.collect(read)
        around = Draft(self.depth, self.context, piped_from)
        self.blanks()
        while self.redirect(around):
            self.blanks()
        if around.redirects:
            around.raw = self.text[start : self.at]
            self.found.drafts.append(around)
            self.block.append(Part("command", around))
            if around.takes_input:
                for draft in self.found.drafts[first:-1]:
                    draft.piped_from = -1 if draft.piped_from is None else draft.piped_from
        self.block.extend(steps)
        self.context, self.fed = context, fed
        self.levels -= 1

    def subshell(self) -> None:
        self.at += 1
        self.block.append(Part("subshell", parts=(self.collect(self.body),)))
        self.expect(")")

    def group(self) -> None:
        self.body("}")
        self.expect("}")

    def branch(self) -> None:
        block = self.block
        while True:
            condition = self.collect(lambda: self.body("then"))
            self.expect("then")
            then = self.collect(lambda: self.body("elif", "else", "fi"))
            other: list[Part] = []
            block.append(Part("if", parts=(condition, then, other)))
            if self.bare() != "elif":
                break
            self.at += 4
            block = other
        if self.bare() == "else":
            self.at += 4
            other.extend(self.collect(lambda: self.body("fi")))
        self.expect("fi")

    def loop(self) -> None:
        steps = self.collect(lambda: self.body("do"))
        steps += self.collect(self.do)
        self.block.append(Part("loop", parts=(steps,)))

    def do(self) -> None:
        self.expect("do")
        self.body("done")
        self.expect("done")

    def for_(self) -> None:
        self.blanks()
        self.join(self.at)
        if self.text.startswith("((", self.at):
            self.at += 2
            steps = self.collect(lambda: self.expression(several=True))
            self.blanks()
            if self.text.startswith(";", self.at):
                self.at += 1
            self.block.append(Part("loop", parts=(steps + self.for_body(),)))
        else:
            name, words = self.for_each()
            self.block.append(Part("for", parts=(self.for_body(),), name=name, words=words))

    def select(self) -> None:
        """Like `for`; what is chosen could be one of the words, or nothing."""
        self.blanks()
        self.join(self.at)
        name, words = self.for_each()
        if any(is_pattern(word) for word in words or ()):
            raise NotUnderstood("shell", "a menu of files")
        self.found.numbers.unknown(name)
        self.block.append(Part("for", parts=(self.for_body(),), name=name))

    def for_body(self) -> list[Part]:
        """What `for` repeats, between `do` and `done` or in braces."""
        self.newlines()
        if self.bare() == "{":
            self.at += 1
            return self.collect(self.group)
        return self.collect(self.do)

    def for_each(self) -> tuple[str, tuple[str, ...] | None]:
        """`for NAME in WORDS`, up to the semicolon or newline; no words where these are the arguments."""
        name = self.name()
        words: list[str] = []
        self.blanks()
        if self.operator() == ";":
            self.at += 1
            self.found.numbers.unknown(name)
            return name, None
        self.newlines()
        if self.bare() != "in":
            self.found.numbers.unknown(name)
            return name, None
        self.at += 2
        while True:
            self.blanks()
            operator = self.operator()
            if operator in (";", "\n"):
                self.at += 1 if operator == ";" else 0
                return name, tuple(words)
            raw = "" if operator else self.word()
            if not raw:
                raise self.unexpected()
            words.append(raw)
            for word in self.lexed(raw):
                self.found.numbers.assign(name, word)

    def case(self) -> None:
        self.blanks()
        if not self.word():
            raise self.unexpected()
        self.newlines()
        self.expect("in")
        self.newlines()
        branches: list[list[Part]] = []
        while self.bare() != "esac":
            self.patterns()
            branches.append(self.collect(lambda: self.statements("esac")))
            operator = self.operator()
            if operator not in (";;", ";&", ";;&"):
                break
            self.at += len(operator)
            self.newlines()
        self.block.append(Part("case", parts=tuple(branches)))
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
        self.block.append(Part("command", draft))
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
            if before in _OF_ONE_FILE or before in BETWEEN_FILES:
                draft.words += [Word("-e", before), lex_value(raw)]
            elif raw in BETWEEN_FILES:
                draft.words += [Word("-e", raw), lex_value(before)]
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
        self.block.append(Part("function", parts=(self.collect(lambda: self.command(None)),), name=name))
        self.context, self.fed = context, fed

    # ----------------------------------------------------------------------------------------- simple commands

    def simple(self, piped_from: int | None) -> None:
        """Assignments, words and redirections in any order that bash takes."""
        place = len(self.found.drafts)
        draft = self.draft(piped_from)
        start = end = self.at
        fed, self.fed = self.fed, self.fed or piped_from is not None
        while True:
            plain = _PLAIN_WORD.match(self.text, self.at)
            if plain is not None:
                draft.words.append(Word(plain[0], plain[0]))
                self.at = plain.end()
            elif not self.redirect(draft) and (self.operator() or not self.argument(draft)):
                break
            end = self.at
            self.blanks()
        self.fed = fed
        if len(draft.words) == 1 and self.text.startswith("(", self.at) and not draft.assigns and not draft.redirects:
            name = draft.words[0].raw
            del self.found.drafts[place]
            self.parentheses()
            self.function(name)
            return
        if not (draft.words or draft.assigns or draft.redirects):
            raise self.unexpected()
        draft.raw = self.text[start:end]
        self.block.append(Part("command", draft))
        self.declared(draft)
        self.check(draft)

    def parentheses(self) -> None:
        """`()` after the name of a function."""
        self.at += 1
        self.blanks()
        self.expect(")")

    def argument(self, draft: Draft) -> bool:
        """The word that stands here, as an assignment or an argument; false if there is none."""
        before = len(self.block)
        raw = self.word()
        if not raw:
            return False
        if len(self.block) > before:  # a substitution sees what was assigned before it
            self.block[before:before] = [Part("hides", name=name) for name, _ in draft.assigns]
        declares = bool(draft.words) and draft.words[0].text in DECLARES
        assign = _ASSIGN.match(raw) if declares or not draft.words else None
        if assign is not None:
            self.assign(draft, assign, raw, declares=declares)
        elif (declares or not draft.words) and _SUBSCRIPT.match(raw):
            raise NotUnderstood("shell", "an index that isn't a number")
        elif raw.startswith("{") and self.text[self.at : self.at + 1] in ("<", ">"):
            raise NotUnderstood("shell", "braces before a redirection")
        else:
            draft.words.extend(self.lexed(raw))
        return True

    def assign(self, draft: Draft, found: re.Match[str], raw: str, *, declares: bool) -> None:
        """An assignment; as an argument of `export` and the like its value takes part in brace expansion."""
        rest = raw[found.end() :]
        if found[2]:
            self.arithmetic(found[2])
        if self.text.startswith("(", self.at) and not rest:
            value = self.array()
            value = value if found[0] == f"{found[1]}=" else Word(None, f"{found[0]}{value.raw}")
        elif found[0] != f"{found[1]}=" or (declares and ("{" in rest.replace("${", "") or len(self.lexed(raw)) != 1)):
            value = Word(None, raw)
        else:
            value = lex_value(rest)
        draft.assigns.append((found[1], value))
        self.found.numbers.assign(found[1], value)

    def declared(self, draft: Draft) -> None:
        """Words of `export` and the like that are assignments once their quotes are gone count as such."""
        at = 0
        while at < len(draft.words) and draft.words[at].text in ("command", "builtin"):
            at += 1
        if at >= len(draft.words) or draft.words[at].text not in DECLARES:
            return
        words = draft.words[: at + 1]
        for word in draft.words[at + 1 :]:
            assign = _ASSIGN.match(word.text) if word.text is not None else None
            if word.text is None or assign is None:
                words.append(word)
                continue
            rest = word.text[assign.end() :]
            if rest.startswith("(") or assign[2]:
                raise NotUnderstood("shell", "a quoted array, which is evaluated")
            value = Word(None, f"{assign[1]}=…") if assign[0].endswith("+=") else Word(rest, word.raw)
            draft.assigns.append((assign[1], value))
            self.found.numbers.assign(assign[1], value)
        draft.words = words

    def array(self) -> Word:
        """`(…)` after `name=`."""
        start = self.at
        self.at += 1
        while True:
            self.newlines()
            operator = self.operator()
            if operator == ")":
                self.at += 1
                value = Word(None, self.text[start : self.at])
                if self.word():
                    raise NotUnderstood("shell", "an array with something glued to it")
                return value
            raw = "" if operator else self.word()
            if not _ELEMENT.match(raw):
                raise NotUnderstood("shell", "an array that isn't followed")

    def redirect(self, draft: Draft) -> bool:
        """The redirection that stands here; false if there is none."""
        found = _DESCRIPTOR.match(self.text, self.at)
        descriptor = found[0] if found else ""
        after = self.at + len(descriptor)
        char = self.text[after : after + 1]
        if descriptor and char == "\\":
            self.join(after)
            char = self.text[after : after + 1]
        if char not in ("<", ">") and (descriptor or char != "&"):
            return False
        if len(descriptor) > 9 and descriptor.isdigit():
            raise NotUnderstood("shell", "a file descriptor that is too large")
        before, self.at = self.at, after
        operator = self.operator()
        if operator[:1] not in ("<", ">") and not operator.startswith("&>"):
            self.at = before
            return False
        self.at += len(operator)
        draft.redirects.append(Redirect(operator, descriptor))
        self.target(draft, len(draft.redirects) - 1)
        return True

    def target(self, draft: Draft, index: int) -> None:
        """What a redirection is to or from."""
        operator, descriptor = draft.redirects[index][:2]
        if operator in ("<<", "<<-"):
            if descriptor not in ("", "0"):
                raise NotUnderstood("shell", "a here-document for another descriptor")

            def done(body: str | None, raw: str | None) -> None:
                draft.redirects[index] = draft.redirects[index]._replace(body=body, raw=raw)

            draft.redirects[index] = Redirect("<<", "0")
            quoted = self.document(operator, done)
            draft.redirects[index] = draft.redirects[index]._replace(quoted=quoted)
            return
        self.blanks()
        if operator in ("<&", ">&") and self.text.startswith("-", self.at):
            self.at += 1
            draft.redirects[index] = Redirect(operator, descriptor, Word("-", "-"))
            return
        fed, self.fed = self.fed, True  # a substitution in it already reads what redirections before it say
        raw = "" if self.operator() else self.word()
        self.fed = fed
        if not raw:
            raise self.unexpected()
        if operator == "<<<":
            text = None if "~" in raw else lex_value(raw).text
            body = None if text is None else text + "\n"
            draft.redirects[index] = Redirect("<<<", descriptor or "0", body=body, raw=raw if body is None else None)
            return
        found = lex(raw)
        if len(found) != 1:
            raise NotUnderstood("shell", "a redirection to several files")
        if operator in (">&", "<&") and not _DUPLICATED.fullmatch(found[0].text or ""):
            raise NotUnderstood("shell", f"the target of `{operator}`, which bash evaluates twice")
        draft.redirects[index] = Redirect(operator, descriptor, found[0])

    def check(self, draft: Draft) -> None:
        """Redirections of one command that would leave it unclear what it reads."""
        inputs = [redirect for redirect in draft.redirects if redirect.op in _INPUTS]
        if len(inputs) > 1 and any(redirect.op in ("<<", "<<<") for redirect in inputs):
            raise NotUnderstood("shell", "a here-document beside another input")
        if inputs and any(word.text == "exec" for word in draft.words[:3]):
            self.found.fed = True

    # ------------------------------------------------------------------------------------------------ nesting

    def substitution(self, *, fed: bool = False) -> None:
        outer = (self.documents, self.waiting, self.context, self.fed, self.has_document)
        self.documents, self.waiting = [], self.waiting or bool(self.documents)
        self.context, self.fed, self.has_document = frozenset({"substitution"}), self.fed or fed, False
        self.deeper(1)
        first = len(self.found.drafts)
        self.block.append(Part("output", parts=(self.collect(self.statements),)))
        if self.documents:
            raise NotUnderstood("shell", "a here-document that ends outside of its substitution")
        if self.has_document:
            self.only_statement(first)
        self.expect(")")
        self.deeper(-1)
        before = self.has_document
        self.documents, self.waiting, self.context, self.fed, self.has_document = outer
        self.has_document = self.has_document or before

    def only_statement(self, first: int) -> None:
        """A here-document and more in a substitution: bash 5.2 reads `$(a <<E…; b; c)` as if it said `b c`."""
        for draft in self.found.drafts[first:]:
            if draft.depth == self.depth and not draft.joined <= {"substitution", "and", "or", "pipe"}:
                raise NotUnderstood("shell", "a here-document beside other commands in a substitution")

    def nested(self, text: str) -> None:
        self.deeper(1)
        reader = _Reader(text, self.depth, self.found, frozenset({"substitution"}), fed=self.fed)
        reader.whole()
        self.block.append(Part("output", parts=(reader.block,)))
        self.deeper(-1)

    def nested_document(self, body: str) -> str | None:
        reader = _Reader(body, self.depth, self.found, self.context, fed=True)
        expanded = reader.expanded()
        self.block.append(Part("later", parts=(reader.block,)))
        return None if expanded else re.sub(r"\\([$`\\])", r"\1", body)

    def arithmetic(self, text: str) -> None:
        self.found.numbers.use(text)
        self.block.extend(Part("sets", name=name) for name in changed(text))

    def sets(self, name: str) -> None:
        self.found.numbers.unknown(name)
        self.block.append(Part("sets", name=name))

    # ------------------------------------------------------------------------------------------------- pieces

    def draft(self, piped_from: int | None) -> Draft:
        if len(self.found.drafts) >= MAX_COMMANDS:
            raise NotUnderstood("shell", f"more than {MAX_COMMANDS} commands")
        if piped_from is None and (self.fed or self.found.fed):
            piped_from = -1
        made = Draft(self.depth, self.context, piped_from)
        self.found.drafts.append(made)
        return made

    def lexed(self, raw: str) -> list[Word]:
        """The words that one word of the text becomes; braces make no more of them than the text is long."""
        found = lex(raw)
        self.found.words += len(found)
        if self.found.words > MAX_WORDS:
            raise NotUnderstood("shell", f"more than {MAX_WORDS} words")
        return found

    def name(self) -> str:
        raw = self.word()
        if not _NAME.fullmatch(raw):
            raise self.unexpected()
        return raw

    def expect(self, word: str) -> None:
        """Skips the operator or reserved word that must stand here."""
        self.blanks()
        if (self.operator() if word == ")" else self.bare()) != word:
            raise self.unexpected()
        self.at += len(word)

    def unexpected(self) -> NotUnderstood:
        near = self.text[self.at : self.at + 40].split("\n")[0].strip()
        return NotUnderstood("shell", "not readable as shell text" + (f" near `{near}`" if near else ""))


_COMPOUND: dict[str, tuple[Callable[[_Reader], None], str]] = {
    "{": (_Reader.group, "group"),
    "if": (_Reader.branch, "condition"),
    "case": (_Reader.case, "condition"),
    "while": (_Reader.loop, "loop"),
    "until": (_Reader.loop, "loop"),
    "for": (_Reader.for_, "loop"),
    "select": (_Reader.select, "loop"),
    "[[": (_Reader.test, "condition"),
}
_OTHERS = frozenset({"time", "function", "let", "declare", "typeset", "local"}) | _RESERVED | _COMPOUND.keys()
"""Words that make more of a text than one plain command: reserved ones, and builtins that evaluate plain words."""
