"""Shell text → the commands that bash would run, on tree-sitter-bash.

Where the parser is known to read a text otherwise than bash, the text is put right or refused before and after
parsing: continuation lines are joined as bash joins them, control characters are refused, and between the words
of a command nothing but blanks may stand.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from remit.scopes.interface import NotUnderstood
from remit.scopes.shell.lexer import words as lex
from remit.scopes.shell.reading import Word
from remit.scopes.shell.script import Command, Redirect, Script

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_TEXT = 16_384
MAX_COMMANDS = 256
_BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f]")
_JOINERS = {"&&": "and", "||": "or", ";": "then", "\n": "then", "&": "background", ";;": "then"}
_COMPOUND = {
    "subshell": "subshell",
    "compound_statement": "group",
    "if_statement": "condition",
    "case_statement": "condition",
    "while_statement": "loop",
    "for_statement": "loop",
    "c_style_for_statement": "loop",
}
_SKIP = frozenset({"comment", "word", "variable_name", "heredoc_body", "heredoc_end"})
_SUBSTITUTIONS = frozenset({"command_substitution", "process_substitution"})
_parser: Any = None


def read_script(text: str) -> Script:
    """The commands of a text. Raises NotUnderstood, with the part that wasn't."""
    if len(text) > MAX_TEXT:
        raise NotUnderstood("shell", f"longer than {MAX_TEXT} characters")
    refuse_characters(text)
    joined = join_lines(text)
    source = joined.encode("utf-8")
    tree = _parse(source)
    if tree.root_node.has_error:
        raise NotUnderstood("shell", f"not readable as shell text{_error_at(tree.root_node)}")
    walk = _Walk(source)
    walk.statements(tree.root_node, frozenset())
    return Script(joined, tuple(walk.commands), frozenset(walk.functions))


def refuse_characters(text: str) -> None:
    """Raises NotUnderstood for characters that shells and parsers treat differently."""
    bad = _BAD.search(text)
    if bad:
        raise NotUnderstood("shell", f"a control character (U+{ord(bad[0]):04X})")
    if not text.isascii():
        for char in text:
            if ord(char) > 0x7F and (char.isspace() or unicodedata.category(char) in ("Cf", "Cs", "Zs", "Zl", "Zp")):
                raise NotUnderstood("shell", f"a hidden or blank character (U+{ord(char):04X})")


def join_lines(text: str) -> str:
    """The text with continuation lines joined, where bash joins them. Raises NotUnderstood where that is unsure."""
    if "\\\n" not in text:
        return text
    if "<<" in text or "`" in text or "$(" in text:
        raise NotUnderstood("shell", "a continuation line beside a here-document or a substitution")
    out: list[str] = []
    at, end, quote = 0, len(text), ""
    while at < end:
        char = text[at]
        if not quote and char == "#" and (at == 0 or text[at - 1] in " \t\n;&|()"):
            stop = text.find("\n", at)
            stop = end if stop < 0 else stop
            out.append(text[at:stop])
            at = stop
            continue
        if char == "\\" and quote != "'" and at + 1 < end:
            if text[at + 1] != "\n":
                out.append(text[at : at + 2])
            elif quote == "$":
                out.append("\\\n")
            at += 2
            continue
        if not quote:
            if char == "'" and text[at - 1 : at] == "$":
                quote = "$"
            elif char in "'\"":
                quote = char
        elif (quote == "$" and char == "'") or char == quote:
            quote = ""
        out.append(char)
        at += 1
    return "".join(out)


def _parse(source: bytes) -> Any:
    global _parser
    if _parser is None:
        import tree_sitter
        import tree_sitter_bash

        _parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    return _parser.parse(source)


def _error_at(node: Node) -> str:
    """Where the first error is, for people."""
    stack = [node]
    while stack:
        one = stack.pop()
        if one.type == "ERROR" or one.is_missing:
            text = (one.text or b"").decode("utf-8", "replace").strip()
            return f" near `{text[:40]}`" if text else ""
        stack.extend(reversed([child for child in one.children if child.has_error]))
    return ""


class _Walk:
    """Goes through the tree and collects commands."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.commands: list[Command] = []
        self.functions: set[str] = set()

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8")

    def statements(self, node: Node, joined: frozenset[str]) -> None:
        """A sequence of statements; what stands between two of them joins both."""
        parts: list[Node] = []
        joiners: list[str] = []
        pending: str | None = None
        for child in node.children:
            if child.type in _JOINERS or (not child.is_named and child.type.strip() == ""):
                joiner = _JOINERS.get(child.type, "then")
                pending = "background" if "background" in (joiner, pending) else joiner
            elif child.is_named and child.type != "comment":
                if parts:
                    joiners.append(pending or "then")
                parts.append(child)
                pending = None
        trailing = pending == "background"
        for index, part in enumerate(parts):
            around = {*joined}
            if index > 0:
                around.add(joiners[index - 1])
            if index < len(joiners):
                around.add(joiners[index])
            if trailing and index == len(parts) - 1:
                around.add("background")
            self.statement(part, frozenset(around))

    def statement(self, node: Node, joined: frozenset[str], piped_from: int | None = None) -> None:
        kind = node.type
        if kind == "command":
            self.command(node, joined, piped_from)
        elif kind == "list":
            self.statements(node, joined)
        elif kind == "pipeline":
            self.pipeline(node, joined, piped_from)
        elif kind == "redirected_statement":
            self.redirected(node, joined, piped_from)
        elif kind in ("variable_assignment", "variable_assignments", "declaration_command", "unset_command"):
            self.assignment(node, joined)
        elif kind == "negated_command":
            for child in node.named_children:
                self.statement(child, joined, piped_from)
        elif kind == "function_definition":
            self.function(node, joined)
        elif kind == "test_command":
            self._add(Command((Word("test", "test"),), joined=joined, piped_from=piped_from, raw=self.text(node)))
            self.substitutions(node, joined)
        elif kind in _COMPOUND:
            self.compound(node, joined | {_COMPOUND[kind]})
        else:
            raise NotUnderstood("shell", f"a construct that isn't followed ({kind.replace('_', ' ')})")

    def compound(self, node: Node, joined: frozenset[str]) -> None:
        """The statements inside a group, condition or loop, and substitutions in its head."""
        for child in node.children:
            if child.type in ("do_group", "elif_clause", "else_clause", "case_item", "compound_statement"):
                self.compound(child, joined)
            elif child.type in _STATEMENTS:
                self.statement(child, joined | {"then"} if node.type != "subshell" else joined)
            elif child.is_named:
                self.substitutions(child, joined, inclusive=True)

    def function(self, node: Node, joined: frozenset[str]) -> None:
        name = node.child_by_field_name("name")
        if name is None:
            raise NotUnderstood("shell", "a function without a name")
        self.functions.add(self.text(name))
        for child in node.named_children:
            if child != name:
                self.statement(child, joined | {"function"})

    def pipeline(self, node: Node, joined: frozenset[str], piped_from: int | None = None) -> None:
        stages = [child for child in node.named_children if child.type != "comment"]
        leading = node.children and node.children[0].type in ("|", "|&")
        inside = joined | {"pipe"} if len(stages) > 1 or leading else joined
        source = piped_from
        for stage in stages:
            first = len(self.commands)
            self.statement(stage, inside, source)
            simple = stage.type in ("command", "redirected_statement") and len(self.commands) > first
            source = first if simple else -1

    def redirected(self, node: Node, joined: frozenset[str], piped_from: int | None) -> None:
        """A statement with redirections; a here-document may carry the rest of the line inside."""
        body = node.child_by_field_name("body")
        redirects: list[Redirect] = []
        followers: list[tuple[Node, str]] = []
        extra: list[Word] = []
        for child in node.children:
            if child.type in ("file_redirect", "herestring_redirect"):
                redirects.append(self.redirect(child, joined))
            elif child.type == "heredoc_redirect":
                redirects.append(self.heredoc(child, joined, redirects, followers, extra))
        around = joined | {joiner for _, joiner in followers}
        first = len(self.commands)
        if body is None:
            self._add(Command((), redirects=tuple(redirects), joined=around, piped_from=piped_from, raw=self.text(node)))
        else:
            self.statement(body, around, piped_from)
            if len(self.commands) == first:
                raise NotUnderstood("shell", "a redirection of nothing")
            last = self._redirected_command(first, body)
            old = self.commands[last]
            self.commands[last] = old._replace(
                redirects=old.redirects + tuple(redirects), words=old.words + tuple(extra)
            )
        for follower, joiner in followers:
            if joiner == "pipe":
                self.pipeline(follower, around, first)
            else:
                self.statement(follower, around)

    def _redirected_command(self, first: int, body: Node) -> int:
        """bash gives the redirection to the last command of a list; for the checks any one of them will do."""
        if body.type == "command":
            return first
        return len(self.commands) - 1

    def heredoc(
        self,
        node: Node,
        joined: frozenset[str],
        redirects: list[Redirect],
        followers: list[tuple[Node, str]],
        extra: list[Word],
    ) -> Redirect:
        start = next((child for child in node.children if child.type == "heredoc_start"), None)
        body = next((child for child in node.children if child.type == "heredoc_body"), None)
        if start is None:
            raise NotUnderstood("shell", "a here-document without its delimiter")
        operator = node.children[0].type
        joiner = "then"
        for child in node.children[1:]:
            if child.type in ("heredoc_start", "heredoc_body", "heredoc_end"):
                continue
            if child.type in ("file_redirect", "herestring_redirect"):
                redirects.append(self.redirect(child, joined))
            elif child.type == "pipeline":
                followers.append((child, "pipe"))
            elif child.type in _JOINERS:
                joiner = _JOINERS[child.type]
            elif child.type in _STATEMENTS:
                followers.append((child, joiner))
            elif child.is_named and child.type in ("word", "string", "raw_string", "concatenation", "number"):
                extra.extend(lex(self.text(child)))
            elif child.is_named and child.type != "file_descriptor":
                raise NotUnderstood("shell", "a here-document that isn't followed")
        text = self.text(body) if body is not None else ""
        delimiter = self.text(start)
        quoted = any(mark in delimiter for mark in "'\"\\")
        if operator == "<<-":
            text = re.sub(r"(?m)^\t+", "", text)
        if not quoted:
            if body is not None:
                self.substitutions(body, joined)
            if re.search(r"[$`\\]", text):
                return Redirect("<<", "0", body=None)
        return Redirect("<<", "0", body=text)

    def redirect(self, node: Node, joined: frozenset[str]) -> Redirect:
        self.substitutions(node, joined)
        descriptor = next((child for child in node.children if child.type == "file_descriptor"), None)
        operator = next((child.type for child in node.children if not child.is_named), "")
        targets = [child for child in node.named_children if child.type != "file_descriptor"]
        fd = self.text(descriptor) if descriptor is not None else ""
        if node.type == "herestring_redirect":
            found = lex(self.text(targets[-1])) if targets else []
            body = found[0].text if len(found) == 1 else None
            return Redirect("<<<", "0", body=None if body is None else body + "\n")
        if not targets:
            return Redirect(operator, fd)
        found = lex(self.text(targets[0]))
        if len(targets) != 1 or len(found) != 1:
            raise NotUnderstood("shell", "a redirection that isn't followed")
        return Redirect(operator, fd, found[0])

    def assignment(self, node: Node, joined: frozenset[str]) -> None:
        """Assignments without a command, and export, declare, local, readonly, unset."""
        self.substitutions(node, joined)
        raw = self.text(node)
        if node.type == "variable_assignment":
            self._add(Command((), (self._assign(node),), joined=joined, raw=raw))
        elif node.type == "variable_assignments":
            assigns = tuple(self._assign(child) for child in node.named_children)
            self._add(Command((), assigns, joined=joined, raw=raw))
        else:
            found = [self._assign(child) for child in node.named_children if child.type == "variable_assignment"]
            head = raw.split(None, 1)[0]
            rest = [child for child in node.named_children if child.type != "variable_assignment"]
            arguments = [word for child in rest for word in lex(self.text(child))]
            self._add(Command((Word(head, head), *arguments), tuple(found), joined=joined, raw=raw))

    def _assign(self, node: Node) -> tuple[str, Word]:
        name = node.child_by_field_name("name")
        value = node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            raise NotUnderstood("shell", "an assignment that isn't followed")
        if value is None:
            return self.text(name), Word("", "")
        if value.type == "array":
            return self.text(name), Word(None, self.text(value))
        raw = self.text(value)
        found = lex(raw)
        return self.text(name), found[0] if len(found) == 1 else Word(None, raw)

    def command(self, node: Node, joined: frozenset[str], piped_from: int | None) -> None:
        words: list[Word] = []
        assigns: list[tuple[str, Word]] = []
        redirects: list[Redirect] = []
        before: int | None = None
        place = len(self.commands)
        self.commands.append(Command(()))
        for child in node.children:
            if before is not None and self.source[before : child.start_byte].strip(b" \t"):
                raise NotUnderstood("shell", "something between two words that isn't a blank")
            before = child.end_byte
            if child.type == "variable_assignment":
                assigns.append(self._assign(child))
            elif child.type in ("file_redirect", "herestring_redirect"):
                redirects.append(self.redirect(child, joined))
            elif child.type == "heredoc_redirect":
                raise NotUnderstood("shell", "a here-document before the command ends")
            elif child.type == "process_substitution":
                words.append(Word(None, self.text(child)))
            else:
                words.extend(lex(self.text(child)))
        self.commands[place] = Command(
            tuple(words), tuple(assigns), tuple(redirects), joined, piped_from, self.text(node)
        )
        self._limit()
        for child in node.children:
            if child.type not in ("file_redirect", "herestring_redirect"):
                self.substitutions(child, joined, inclusive=True)

    def substitutions(self, node: Node, joined: frozenset[str], *, inclusive: bool = False) -> None:
        """Commands in `$(…)`, backticks and `<(…)` anywhere below the node."""
        stack = [node] if inclusive else list(node.children)
        while stack:
            one = stack.pop()
            if one.type in _SUBSTITUTIONS:
                self.statements(one, frozenset({"substitution"}))
            else:
                stack.extend(one.children)

    def _add(self, command: Command) -> None:
        self.commands.append(command)
        self._limit()

    def _limit(self) -> None:
        if len(self.commands) > MAX_COMMANDS:
            raise NotUnderstood("shell", f"more than {MAX_COMMANDS} commands")


_STATEMENTS = frozenset(
    {
        "command",
        "list",
        "pipeline",
        "redirected_statement",
        "variable_assignment",
        "variable_assignments",
        "declaration_command",
        "unset_command",
        "negated_command",
        "function_definition",
        "test_command",
        *_COMPOUND,
    }
)
