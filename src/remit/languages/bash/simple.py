"""Simple commands: assignments, words, redirections, and what is nested in their words."""

from __future__ import annotations

import re

from remit.languages.bash.builtins import DECLARES
from remit.languages.bash.drafts import INPUTS, Draft, Found
from remit.languages.bash.lexer import value as lex_value
from remit.languages.bash.lexer import words as lex
from remit.languages.bash.reading import Word
from remit.languages.bash.scanner import Scanner
from remit.languages.bash.script import Redirect
from remit.model.errors import NotUnderstood
from remit.model.pattern import compile_later

MAX_COMMANDS = 256
_PLAIN = compile_later(r"[A-Za-z0-9_./:,@%+^~-]+(?=[ \t\n;|&)]|\Z)")
_ASSIGN = compile_later(r"([A-Za-z_]\w*)(?:\[(?:\d{1,6}|\$?([A-Za-z_]\w*))\])?\+?=")
_SUBSCRIPT = compile_later(r"[A-Za-z_]\w*\[")
_ELEMENT = compile_later(r"\[\d{1,6}\]\+?=|[^\[]")
_NAME = compile_later(r"[A-Za-z_]\w*")
_DESCRIPTOR = compile_later(r"(?:\d+|\{[A-Za-z_]\w*\})?")
_DUPLICATED = compile_later(r"\d+-?|[\w./,:=+@%^-]+")


class SimpleReader(Scanner):
    """Reads simple commands; what they stand in is told to it."""

    def __init__(self, text: str, depth: int, found: Found, context: frozenset[str], *, fed: bool = False) -> None:
        super().__init__(text, depth)
        self.found = found
        self.context = context
        """What the commands stand in: a group, a loop, a substitution, …"""
        self.fed = fed
        """The commands may read a pipe or file that stands outside of what they are in."""
        self.levels = 0

    def whole(self) -> None:
        """Reads the whole text."""
        raise NotImplementedError

    def statements(self, *ends: str) -> bool:
        """Reads statements up to the end of what they stand in; false if there are none."""
        raise NotImplementedError

    def function(self, name: str) -> None:
        """Reads the body of a function."""
        raise NotImplementedError

    def simple(self, piped_from: int | None) -> None:
        """Assignments, words and redirections in any order that bash takes."""
        place = len(self.found.drafts)
        draft = self.draft(piped_from)
        start = end = self.at
        fed, self.fed = self.fed, self.fed or piped_from is not None
        while True:
            plain = _PLAIN.match(self.text, self.at)
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
        self.declared(draft)
        self.check(draft)

    def parentheses(self) -> None:
        """`()` after the name of a function."""
        self.at += 1
        self.blanks()
        self.expect(")")

    def argument(self, draft: Draft) -> bool:
        """The word that stands here, as an assignment or an argument; false if there is none."""
        raw = self.word()
        if not raw:
            return False
        declares = bool(draft.words) and draft.words[0].text in DECLARES
        assign = _ASSIGN.match(raw) if declares or not draft.words else None
        if assign is not None:
            self.assign(draft, assign, raw, declares=declares)
        elif (declares or not draft.words) and _SUBSCRIPT.match(raw):
            raise NotUnderstood("shell", "an index that isn't a number")
        elif raw.startswith("{") and self.text[self.at : self.at + 1] in ("<", ">"):
            raise NotUnderstood("shell", "braces before a redirection")
        else:
            draft.words.extend(lex(raw))
        return True

    def assign(self, draft: Draft, found: re.Match[str], raw: str, *, declares: bool) -> None:
        """An assignment; as an argument of `export` and the like its value takes part in brace expansion."""
        rest = raw[found.end() :]
        if found[2]:
            self.arithmetic(found[2])
        if self.text.startswith("(", self.at) and not rest:
            value = self.array()
        elif found[0].endswith("+=") or (declares and len(lex(raw)) != 1):
            value = Word(None, rest)
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
            value = Word(None if assign[0].endswith("+=") else rest, word.raw)
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

            def done(body: str | None) -> None:
                draft.redirects[index] = draft.redirects[index]._replace(body=body)

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
            draft.redirects[index] = Redirect("<<<", descriptor or "0", body=None if text is None else text + "\n")
            return
        found = lex(raw)
        if len(found) != 1:
            raise NotUnderstood("shell", "a redirection to several files")
        if operator in (">&", "<&") and not _DUPLICATED.fullmatch(found[0].text or ""):
            raise NotUnderstood("shell", f"the target of `{operator}`, which bash evaluates twice")
        draft.redirects[index] = Redirect(operator, descriptor, found[0])

    def check(self, draft: Draft) -> None:
        """Redirections of one command that would leave it unclear what it reads."""
        inputs = [redirect for redirect in draft.redirects if redirect.op in INPUTS]
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
        self.statements()
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
        type(self)(text, self.depth, self.found, frozenset({"substitution"}), fed=self.fed).whole()
        self.deeper(-1)

    def nested_document(self, body: str) -> str | None:
        reader = type(self)(body, self.depth, self.found, self.context, fed=True)
        return None if reader.expanded() else re.sub(r"\\([$`\\])", r"\1", body)

    def arithmetic(self, text: str) -> None:
        self.found.numbers.use(text)

    def sets(self, name: str) -> None:
        self.found.numbers.unknown(name)

    # ------------------------------------------------------------------------------------------------- pieces

    def draft(self, piped_from: int | None) -> Draft:
        if len(self.found.drafts) >= MAX_COMMANDS:
            raise NotUnderstood("shell", f"more than {MAX_COMMANDS} commands")
        if piped_from is None and (self.fed or self.found.fed):
            piped_from = -1
        made = Draft(self.depth, self.context, piped_from)
        self.found.drafts.append(made)
        return made

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
