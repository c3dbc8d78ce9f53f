"""Shell texts made at random, what bash really runs for them, and whether the reader's answer explains it.

    python -m tests.scopes.shell.bash_fuzz --count 5000 --seed 1

A text is run by `bash -c` in a scratch directory with nothing on PATH but shims, which log how they were called:
their words, what assignments added to their environment, and what is on their standard input. The reader must
have listed a command that explains each of these calls, or have refused the text; and each file that came into
being must be the target of a redirection that it listed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import resource
import select
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from remit.scopes.interface import NotUnderstood
from remit.scopes.shell.reader import read_script
from remit.scopes.shell.reading import Word
from remit.scopes.shell.script import Command, Script

PROGRAMS = ("c1", "c2", "c3", "c4", "git", "curl", "rm", "grep", "cat", "ls", "sh", "make")
FILES = ("f1", "f2", "ax", "bx.py")
NOBODY = 65534
TIMEOUT = 2.0

# ---------------------------------------------------------------------------------------------------- texts

REAL = (
    "git diff HEAD~1 -- src",
    "git log --oneline -n 5 | grep -v 'fix: '",
    "git show HEAD@{1}:README.md > f9",
    "grep -rn \"def \\w\\+\" --include='*.py' src | sh -c 'x' | cat -n",
    "rm -rf \"$(git rev-parse HEAD)\" && make test",
    "curl -s 'http:x' | sh",
    "cat <<'EOF' | grep a\nline one\n$(c1)\nEOF",
    "git commit -m \"$(cat <<'EOF'\nmsg (with) `ticks`\nEOF\n)\"",
    "for f in *.py; do grep -n x \"$f\" || rm \"$f\"; done",
    "if git diff --quiet; then make a; else make b; fi 2>&1 | cat",
    "make 2>&1 >f9 | grep -E 'a|b' ; ls -la {src,tests}/x",
    "V1=1 V2='a b' git -c x=y stash@{0} # comment",
    "(cd src && ls) & git status; cat f1 f2 >> f8",
    "find . -name '*.py' -exec grep x {} \\;",
    "while read -r line; do c1 \"$line\"; done < f1",
    "case $x in (a|b) c1;; *) c2;; esac",
    "f() { c1 \"$@\"; }; f a b",
    "[ -f x ] && c1 || { c2; c3; }",
    "[[ $x == a* ]] && c1",
    "c1 $'a\\x41\\n' \"a$(c2 \"b $(c3)\")\"",
)
ALPHABET = "ab1 \t\n\\'\"`$(){}[]<>|&;#!*?~=,.-+:/@%^c1"
INSERTS = (
    "\\\n", "\\", "''", '""', "$(c1)", "`c2`", "\n", "#", " #", "$'", "<<E\n", "\nE\n", "<(c3)", "${x}", "$((", "))",
    "&&", "||", "|&", ";;", "&>f7", ">&", "2>&1", "{a,b}", "\v", "\f", "\r", "\r\n", "\u00a0", "\u3000", "é", "\x01",
    "time ", "! ", "coproc ", "in ", "do ", "done", "then ", "fi", "esac", "}", "{ ", "((", "[[ ", " ]]", "=", "+=",
)  # fmt: skip


class Maker:
    """Makes texts from a grammar of bash, deeper parts being rarer."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.depth = 0
        self.pending: list[str] = []
        """Here-documents whose bodies follow the line."""

    def text(self) -> str:
        """One text, sometimes damaged afterwards."""
        rng = self.rng
        self.depth, self.pending = 0, []
        made = rng.choice(REAL) if rng.random() < 0.12 else self.script()
        if rng.random() < 0.4:
            for _ in range(rng.choice((1, 1, 1, 2, 3))):
                made = self.damage(made)
        return made

    def damage(self, text: str) -> str:
        """The text with a character or token put in, left out, doubled or swapped."""
        rng = self.rng
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice((1, 1, 2, 5)))
        return rng.choice(
            (
                lambda: text[:at] + rng.choice(ALPHABET) + text[at:],
                lambda: text[:at] + rng.choice(INSERTS) + text[at:],
                lambda: text[:at] + text[to:],
                lambda: text[:to] + text[at:],
                lambda: text[:at] + text[at : at + 2][::-1] + text[at + 2 :],
            )
        )()

    def script(self) -> str:
        made = self.rng.choice(("", "", "", "", "", " ", "\n", "# note\n", "\t"))
        made += self.list()
        return made + self.rng.choice(("", "", "", "", ";", " &", "\n", " # end", "\\", "\n\n", ";\n#x"))

    def list(self) -> str:
        rng = self.rng
        self.depth += 1
        parts = [self.pipeline()]
        while rng.random() < (0.35 if self.depth < 3 else 0.15):
            joiner = rng.choice(("; ", ";", " && ", "&&", " || ", "||", " & ", "&", "\n", " ;\n", " &&\n", "||\n", "\n\n"))
            if "\n" in joiner or rng.random() < 0.3:
                joiner += self.flush() if "\n" in joiner else ""
            parts.append(joiner + self.pipeline())
        self.depth -= 1
        made = "".join(parts)
        if self.depth == 0 and self.pending:
            made += "\n" + self.flush()
            if rng.random() < 0.3:
                made += self.pipeline()
                if self.pending:
                    made += "\n" + self.flush()
        return made

    def flush(self) -> str:
        made = "".join(self.pending)
        self.pending = []
        return made

    def pipeline(self) -> str:
        rng = self.rng
        made = rng.choice(("",) * 12 + ("! ", "time ", "time -p ", "! ! "))
        made += self.command()
        while rng.random() < 0.2:
            made += rng.choice((" | ", "|", " |& ", "|&", " |\n", " |  \\\n ")) + self.command()
        return made

    def command(self) -> str:
        roll = self.rng.random()
        if self.depth >= 4 or roll < 0.72:
            return self.simple()
        made = self.rng.choice(
            (
                self.group,
                self.group,
                self.subshell,
                self.subshell,
                self.branch,
                self.loop,
                self.loop,
                self.case,
                self.function,
                self.test,
                self.arithmetic,
                self.coproc,
                self.declare,
                self.declare,
                self.wrapped,
                self.builtin,
            )
        )()
        while self.rng.random() < 0.15:
            made += " " + self.redirect()
        return made

    def body(self) -> str:
        self.depth += 1
        held, self.pending = self.pending, []
        made = self.list()
        if self.pending:
            made += "\n" + self.flush()
            made = made.rstrip("\n")
            end = "\n"
        else:
            end = self.rng.choice(("; ", ";", "\n", " ; ", " ;\n", " &\n"))
        self.pending = held
        self.depth -= 1
        return made + end

    def group(self) -> str:
        return self.rng.choice(("{ ", "{\n", "{\t")) + self.body() + "}"

    def subshell(self) -> str:
        made = self.body()
        if not made.endswith("\n") and self.rng.random() < 0.6:
            made = made.rstrip("; ")
        return "(" + self.rng.choice(("", " ", "\n")) + made + ")"

    def branch(self) -> str:
        made = f"if {self.body()}then {self.body()}"
        if self.rng.random() < 0.3:
            made += f"elif {self.body()}then {self.body()}"
        if self.rng.random() < 0.4:
            made += f"else {self.body()}"
        return made + "fi"

    def loop(self) -> str:
        rng = self.rng
        kind = rng.randrange(5)
        if kind == 0:
            return f"while {self.body()}do {self.body()}done"
        if kind == 1:
            return f"until {self.body()}do {self.body()}done"
        if kind == 2:
            i = f"for ((i=0; i<{rng.choice(('1', '2', '$(c1)', 'a[0]'))}; i++))"
            return i + rng.choice(("; ", "\n", " ")) + f"do {self.body()}done"
        words = "".join(" " + self.word() for _ in range(rng.randrange(4)))
        name = rng.choice(("i", "x", "V1"))
        head = rng.choice((f"for {name} in{words}; ", f"for {name} in{words}\n", f"for {name}; ", f"for {name} ", f"for {name}\n"))
        if kind == 3 and rng.random() < 0.2:
            return head.replace("for ", "select ", 1) + f"do {self.body()}done"
        if rng.random() < 0.1:
            return head + "{ " + self.body() + "}"
        return head + f"do {self.body()}done"

    def case(self) -> str:
        rng = self.rng
        made = f"case {self.word()} in" + rng.choice((" ", "\n"))
        for _ in range(rng.randrange(1, 4)):
            pattern = rng.choice(("*", "a", "a|b", "'x y'", "[ab]*", "$x", self.word(), "esac2", "?|*"))
            made += rng.choice(("", "(", "( ")) + pattern + rng.choice((")", ") ", " )\n"))
            made += self.body().rstrip("; \n&") if rng.random() < 0.9 else ""
            made += rng.choice((" ;;", ";;", ";& ", ";;& ", "\n;;")) + rng.choice((" ", "\n"))
        return made + "esac"

    def function(self) -> str:
        rng = self.rng
        name = rng.choice(("f", "g", "c1", "git"))
        head = rng.choice((f"{name}() ", f"{name} () ", f"function {name} ", f"function {name}() ", f"{name}()\n"))
        body = rng.choice((self.group, self.group, self.group, self.subshell, self.loop, self.branch))()
        made = head + body
        if rng.random() < 0.1:
            made += " " + self.redirect()
        if rng.random() < 0.7:
            made += rng.choice(("; ", "\n")) + name + " " + self.word()
        return made

    def test(self) -> str:
        rng = self.rng
        one, two = self.word(), self.word()
        return rng.choice(
            (
                f"[[ {one} == {two} ]]",
                f"[[ -n {one} && ! ( {two} = a ) ]]",
                f"[[ {one} =~ {rng.choice(('^a.*$', '(a|b)', '[a-z]+', '$x', '^[^/]+$'))} ]]",
                f"[ {one} = {two} ]",
                f"test -f {one}",
                f"[[ -f {one} || {two} -nt f1 ]]",
                f"[[ {one} < {two} ]]",
                f"[ {one} ]",
            )
        )

    def arithmetic(self) -> str:
        return self.rng.choice(
            ("((x=1))", "((x++))", "(( a[$(c1)] ))", "((1 < 2))", "((x = $(c2) + 1))", "(( x << 2 ))", "let x=1+1", "((`c3`))")
        )

    def coproc(self) -> str:
        rng = self.rng
        return rng.choice(("coproc ", "coproc N ", "coproc ")) + rng.choice((self.simple, self.group, self.subshell))()

    def declare(self) -> str:
        rng = self.rng
        head = rng.choice(("export", "declare", "declare -x", "local", "readonly", "typeset -a", "unset", "export -n"))
        parts = [rng.choice((self.assign, self.assign, self.word))() for _ in range(rng.randrange(3))]
        return " ".join([head, *parts])

    def wrapped(self) -> str:
        return self.rng.choice(("command ", "exec ", "command -p ", "builtin echo ", "exec -a x ")) + self.simple()

    def builtin(self) -> str:
        head = self.rng.choice(("echo", "printf %s", "true", "false", ":", "read x", "shift", "wait", "return", "pwd"))
        return " ".join([head, *(self.word() for _ in range(self.rng.randrange(3)))])

    def simple(self) -> str:
        rng = self.rng
        parts: list[str] = []
        while rng.random() < 0.12:
            parts.append(self.redirect())
        while rng.random() < 0.12:
            parts.append(self.assign())
        if rng.random() < 0.04 and parts:
            return " ".join(parts)
        parts.append(self.program())
        while rng.random() < 0.62:
            parts.append(self.redirect() if rng.random() < 0.12 else self.word())
        gap = "" if rng.random() < 0.85 else rng.choice(("\t", "  ", " \\\n ", "\\\n", " \\\n", "\\\n "))
        made = (gap or " ").join(parts)
        if rng.random() < 0.06:
            made += rng.choice((" # c", " #", "#x", " \\# x", "\t#'", ' #"', " # $(c1)", " #`"))
            if "#" in made:
                made += "\n" + self.flush() + self.program()
        return made

    def program(self) -> str:
        rng = self.rng
        name = rng.choice(PROGRAMS)
        if rng.random() < 0.75:
            return name
        if rng.random() < 0.1:
            return rng.choice(("$x", "$(c1)", "{c1,c2}", "c{1,2}", "`c1`", "c*", "\\\nc1", "$x$y", "{", "}", "if", "time"))
        return self.requoted(name)

    def requoted(self, name: str) -> str:
        rng = self.rng
        at = rng.randrange(len(name) + 1)
        head, tail = name[:at], name[at:]
        return rng.choice(
            (
                f"{head}''{tail}",
                f'{head}""{tail}',
                f"{head}\\\n{tail}",
                f"{head}'{tail}'",
                f'{head}"{tail}"',
                f"$'{head}'{tail}",
                f'$"{head}"{tail}',
                "\\" + name,
                "$'" + "".join(f"\\x{ord(c):02x}" for c in name) + "'",
                "$'" + "".join(f"\\{ord(c):03o}" for c in name) + "'",
                f"{head}$''{tail}",
                f'"{head}\\\n{tail}"',
                f"{{{name},}}",
                f"{head}${{x}}{tail}",
                f"{head}$x",
            )
        )

    def word(self) -> str:
        rng = self.rng
        made = "".join(self.piece() for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 3, 4))))
        if rng.random() < 0.03:
            at = rng.randrange(len(made) + 1)
            made = made[:at] + rng.choice(("\\\n", "\\\n", "\v", "\f", "\r", "\u00a0", "\u3000", "é", "\x7f")) + made[at:]
        if rng.random() < 0.002:
            made += "x" * rng.choice((3000, 20000))
        return made

    def piece(self) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.42:
            return rng.choice(("a", "b", "x1", "--opt", "-n", "HEAD", "diff", "src", "f1", "=", "a=b", ".", ":", "%", "1", "2", "-", ","))
        if roll < 0.62:
            return self.quoted()
        if roll < 0.72:
            return rng.choice(BRACES)
        if roll < 0.79:
            return rng.choice(("*", "?", "[ab]*", "*.py", "[!a]", "[", "]", "f*", "?(a)", "!(x)", "@(a|b)", "*(c1)", "+(a)"))
        if roll < 0.82:
            return rng.choice(("~", "~/x", "a~", "~:~", "a=~"))
        if roll < 0.87:
            return rng.choice(("#", "a#b", "#a", "!", "!!", "^", "!x", "{", "}", "\\#", "@", "$", "$%", "in", "do", "fi", "then", "esac", "done"))
        if roll < 0.93:
            return self.expansion()
        return self.substitution()

    def quoted(self) -> str:
        rng = self.rng
        kind = rng.randrange(6)
        inner = "".join(rng.choice(QUOTED) for _ in range(rng.randrange(4)))
        if kind == 0:
            return "'" + inner.replace("'", "") + "'"
        if kind <= 2:
            plain = inner.replace('"', "").replace("`", "").replace("$(", "")
            if rng.random() < 0.25 and self.depth < 5:
                plain += rng.choice((self.expansion, self.substitution))() + rng.choice(("", " z", "\\\n"))
            return rng.choice(("", "", "", "$")) + '"' + plain.rstrip("\\") + '"'
        if kind == 3:
            return "\\" + rng.choice("ab $\"'\\`*{},#;&|<>()!~\n\t=-")
        if kind == 4:
            return "$'" + "".join(rng.choice(ANSI) for _ in range(rng.randrange(4))) + "'"
        return rng.choice(("''", '""', "$''", '$""'))

    def expansion(self) -> str:
        return self.rng.choice(EXPANSIONS)

    def substitution(self) -> str:
        rng = self.rng
        if self.depth >= 5:
            return "$(c1)"
        self.depth += 2
        held, self.pending = self.pending, []
        inner = self.list()
        if self.pending:
            inner += "\n" + self.flush()
        self.pending = held
        self.depth -= 2
        kind = rng.randrange(8)
        if kind <= 3:
            return "$(" + rng.choice(("", " ", "\n")) + inner + rng.choice((")", " )", "\n)"))
        if kind == 4:
            escaped = inner.replace("\\", "\\\\").replace("`", "\\`") if rng.random() < 0.8 else inner
            return "`" + escaped + "`"
        if kind == 5:
            return rng.choice(("<(", ">(")) + inner + ")"
        if kind == 6:
            return rng.choice(("$((", "$(( 1 + ")) + rng.choice(("1", "x", f"$({inner})", "a[1]", "1<<2", "(2)*3")) + "))"
        return rng.choice(("${x:-" + self.simple_word() + "}", "${x:-$(" + inner + ")}", "${x/a/'b}'}", "${x:-`c1`}", '"${x:-"a b"}"'))

    def simple_word(self) -> str:
        return self.rng.choice(("a", "'b c'", '"d"', "$y", "\\}", "{a,b}"))

    def assign(self) -> str:
        rng = self.rng
        name = rng.choice(("V1", "V2", "x", "y"))
        return rng.choice(
            (
                lambda: f"{name}={self.word()}",
                lambda: f"{name}={self.word()}",
                lambda: f"{name}=",
                lambda: f"{name}+={self.word()}",
                lambda: f"{name}=({self.word()} {self.word()})",
                lambda: f"{name}[{rng.choice(('0', '$(c1)', '$x', 'a'))}]={self.word()}",
                lambda: f"{name}=([0]={self.word()} [$(c2)]=b)",
            )
        )()

    def redirect(self) -> str:
        rng = self.rng
        roll = rng.random()
        target = rng.choice(("f9", "f8", "'f 7'", "$x", 'f"6"', "f1", "f\\\n5", "$(c1)", "{f3,f4}", "f4*"))
        space = rng.choice(("", "", " ", "\t", " \\\n"))
        if roll < 0.5:
            op = rng.choice((">", ">>", "<", ">|", "<>", "2>", "1>", "3>", "&>", "&>>", ">&", "{fd}>", "2>>", "0<"))
            return op + space + target
        if roll < 0.68:
            return rng.choice(("2>&1", ">&2", "1>&2", "<&0", "3<&0", "2>&-", "<&-", ">& 2", "2>& 1", "3>&1-", ">&$x"))
        if roll < 0.74:
            return rng.choice(("<", ">", "< ", "> ")) + rng.choice(("<(c1)", ">(c2)", "<(c3 a | c4)"))
        if roll < 0.82:
            return rng.choice(("<<<", "<<< ")) + self.word()
        return self.heredoc()

    def heredoc(self) -> str:
        rng = self.rng
        start, end, quoted = rng.choice(DELIMITERS)
        dash = rng.choice(("", "", "", "-"))
        lines = [rng.choice(DOCUMENT) for _ in range(rng.randrange(4))]
        tabs = rng.choice(("", "\t", "\t\t")) if dash else ""
        if rng.random() < 0.1 and not quoted:
            lines.append(f"x $({self.program()} a) y")
        body = "".join(f"{tabs}{line}\n" for line in lines) + tabs + end + "\n"
        if rng.random() < 0.04:
            body = body.removesuffix(end + "\n")
        self.pending.append(body)
        return rng.choice(("", "", "", "0", "3")) + "<<" + dash + rng.choice(("", "", " ")) + start


BRACES = (
    "{a,b}", "{a,{b,c}}", "{1..3}", "{a..c}", "{}", "{a}", "HEAD@{1}", "stash@{0}", "{a,b", "a,b}", "{'a',b}", "{a,'b c'}",
    '{"a,b",c}', "{a\\,b,c}", "{,x}", "{x,}", "{,}", "{a,b}{c,d}", "x{a,b}y", "{1..3..2}", "{3..1}", "{01..3}", "{a..c..2}",
    "{$x,b}", "{a,$(c1)}", "${x}{a,b}", "{a,b}$x", "\\{a,b}", "{a,b\\}", "{a..}", "{..b}", "{{a,b}", "{a,b}}", "{a,{b}", "{}{a,b}",
    "{a, b}", "{1..a}", "{-1..1}", "{a,b}'c'", "'x'{1,2}", "{''}", "{'',a}", '{"a".."c"}', "${x,}", "{a,}b", "$'{'a,b}", "{A..c}",
    "{1..2}{a..b}", "{a,#b}", "{x,y=z}",
)  # fmt: skip
QUOTED = ("a", "b", " ", "$", "\\", "'", '"', "*", "#", "{a,b}", "\n", ";", "|", "&", "<", "(", ")", "~", "!", "\\\n", "\\$", "\\\\", "c1", "-x")
ANSI = ("a", "\\x41", "\\n", "\\'", "\\\\", "\\101", "\\u41", "\\u00e9", "\\x", "\\t", "\\e", "\\cA", "\\?", '\\"', '"', "\\q", " ", "\\x7a1", "\\U0001F600", "\\0", "\\xe9", "\\\n", "\\c", "\\c\\\\")  # fmt: skip
EXPANSIONS = ("$x", "${x}", "$1", "$@", "$*", "$#", "$?", "$$", "$!", "$-", "$0", "${x:-a}", "${#x}", "${x%a*}", "${!x}", "$[1+1]", "${x[@]}", "$((1+1))", "${x:1:2}", "${x//a/b}", "$x1", "${10}", "${x^^}", "${x@Q}", "$_")  # fmt: skip
DELIMITERS = (
    ("E", "E", False), ("'E'", "E", True), ('"E"', "E", True), ("\\E", "E", True), ("E''", "E", True), ("'E F'", "E F", True),
    ("EOF", "EOF", False), ("'EOF'", "EOF", True), ("$x", "$x", False), ("E\\F", "EF", True), ("'E'F", "EF", True), ("$'E'", "E", True),
    ('"E F"', "E F", True), ("E{a,b}", "E{a,b}", False), ("-E", "-E", False), ("'E;'", "E;", True), ("E#", "E#", False), ("!", "!", False),
    ("\\\nE", "E", False), ("''", "", True), ("$(c1)", "$(c1)", False), ("E.txt", "E.txt", False), ('$"E"', "E", True), ("`E`", "`E`", False),
)  # fmt: skip
DOCUMENT = (
    "a", "", "text with 'quote", "say \"hi", "$x", "$(c1 doc)", "`c2 doc`", "E ", " E", "\tE", "\\", "a\\", "\\$x", "\\`c3\\`", "c4 | c1",
    "# no", "${x:-$(c3)}", "$((1+1))", "EOF x", "(", "}", "$", "\\\\", "'$(c2 q)'", '"$(c1 "a b")"', "x\\\\", "${x:-'a'}", "<<F", "E'", "$'a\\x41'",
)  # fmt: skip

_UNSAFE = re.compile(r"(?<![A-Za-z0-9~])/|~[A-Za-z+-]|\$\w*/|\.\.|[?*]/|/dev|/proc")


def safe(text: str) -> bool:
    """True if the text can't name a file outside the scratch directory."""
    return "\0" not in text and not any(m[0] != ".." for m in _UNSAFE.finditer(text)) and "../" not in text


def texts(seed: int, count: int) -> Iterator[str]:
    """`count` texts; the same for the same seed."""
    maker = Maker(random.Random(seed))
    while count:
        text = maker.text()
        if safe(text) and len(text) < 30_000:
            count -= 1
            yield text


# ------------------------------------------------------------------------------------------------------ bash

SHIM = r"""
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
extern char **environ;
static char out[1 << 18];
static size_t used;
static void put(const char *from, size_t length) {
    if (used + length + 1 > sizeof out) _exit(99);
    memcpy(out + used, from, length);
    used += length;
    out[used++] = 0;
}
static void count(long number) { char text[24]; put(text, snprintf(text, sizeof text, "%ld", number)); }
int main(int argc, char **argv) {
    struct stat at;
    static char input[8192];
    ssize_t length = 0, got;
    long added = 0;
    char **each;
    int log = open(LOG, O_WRONLY | O_APPEND);
    if (log < 0 || fstat(log, &at)) return 98;
    if (at.st_size > 1 << 18) kill(0, SIGKILL);
    const char *pattern = getenv("SHIM_EXIT");
    int status = pattern ? (atoi(pattern) >> (at.st_size % 7)) & 1 : 0;
    count(argc);
    for (int i = 0; i < argc; i++) put(argv[i], strlen(argv[i]));
    for (each = environ; *each; each++) added += (*each)[0] == 'V';
    count(added);
    for (each = environ; *each; each++) if ((*each)[0] == 'V') put(*each, strlen(*each));
    const char *kind = "none";
    if (!fstat(0, &at)) {
        kind = S_ISFIFO(at.st_mode) ? "pipe" : S_ISREG(at.st_mode) ? "file" : "other";
        if (*kind != 'o')
            while (length < (ssize_t)sizeof input && (got = read(0, input + length, sizeof input - length)) > 0) length += got;
    }
    put(kind, strlen(kind));
    count(length);
    put(input, length);
    if (write(log, out, used) < 0) return 97;
    return status;
}
"""


class Call(NamedTuple):
    """One program that bash ran."""

    words: tuple[str, ...]
    environment: tuple[str, ...]
    kind: str
    """What its standard input was: a pipe, a file, or something else."""
    stdin: str


class Run(NamedTuple):
    """What bash did with a text."""

    calls: tuple[Call, ...]
    files: tuple[str, ...]
    """Files that weren't there before."""
    timed_out: bool = False


class Bash:
    """A scratch directory, shims, and bash to run texts in it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.bash = shutil.which("bash") or "bash"
        self.log = home / "log"
        self.shims = home / "shims"
        self.scratch = home / "scratch"
        self.shims.mkdir()
        self.scratch.mkdir()
        self.log.touch()
        source = home / "shim.c"
        source.write_text(SHIM)
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            raise RuntimeError("no C compiler for the shims")
        shim = home / "shim"
        subprocess.run([compiler, "-O1", "-w", f'-DLOG="{self.log}"', "-o", str(shim), str(source)], check=True)
        for name in PROGRAMS:
            os.link(shim, self.shims / name)
        self.owner = NOBODY if os.geteuid() == 0 else None
        if self.owner is not None:
            for path in (home, self.log, self.scratch):
                os.chown(path, NOBODY, NOBODY)
        self.clean(())

    def clean(self, made: tuple[str, ...]) -> None:
        """Puts the scratch directory back as it was."""
        for name in made:
            path = self.scratch / name
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        for name in FILES:
            path = self.scratch / name
            path.write_text("")
            path.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IROTH | stat.S_IWOTH)

    def run(self, text: str, exits: int = 0) -> Run:
        """Runs the text to its end, with all that it left in the background."""
        os.truncate(self.log, 0)
        reading, writing = os.pipe()
        environment = {"PATH": str(self.shims), "HOME": "/nowhere", "SHIM_EXIT": str(exits), "LC_ALL": "C.UTF-8"}
        process = subprocess.Popen(
            [self.bash, "--norc", "--noprofile", "-c", text],
            cwd=self.scratch,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(writing,),
            start_new_session=True,
            user=self.owner,
            group=self.owner,
            extra_groups=[] if self.owner is not None else None,
        )
        os.close(writing)
        timed_out = not _closed(reading)
        os.close(reading)
        if timed_out:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        found = os.listdir(self.scratch)
        made = tuple(sorted(name for name in found if name not in FILES))
        calls = tuple(_calls(self.log.read_bytes()))
        if made or len(found) != len(FILES) or any((self.scratch / name).stat().st_size for name in FILES):
            self.clean(made)
        return Run(calls, made, timed_out)


def _closed(reading: int) -> bool:
    """Waits until every process that holds the pipe has ended; false if that takes too long."""
    ready, _, _ = select.select([reading], [], [], TIMEOUT)
    return bool(ready)


def _calls(log: bytes) -> Iterator[Call]:
    fields = log.decode("utf-8", "surrogateescape")
    at = 0

    def take() -> str:
        nonlocal at
        stop = fields.index("\0", at)
        found, at = fields[at:stop], stop + 1
        return found

    while at < len(fields):
        words = tuple(take() for _ in range(int(take())))
        environment = tuple(take() for _ in range(int(take())))
        kind = take()
        size = int(take())
        raw = fields[at:].encode("utf-8", "surrogateescape")[:size].decode("utf-8", "surrogateescape")
        at += len(raw) + 1
        yield Call(words, environment, kind, raw)


# --------------------------------------------------------------------------------------------------- compare


def differences(script: Script, run: Run) -> list[str]:
    """What bash did and the script doesn't explain."""
    found = []
    for call in run.calls:
        matching = [command for command in script.commands if _explains(command, call.words, run.files)]
        if not matching:
            found.append(f"not listed: {list(call.words)}")
        elif not any(_feeds(command, call, script) for command in matching):
            found.append(f"standard input of {list(call.words)}: {call.kind} {call.stdin!r}")
        for added in call.environment:
            if matching and not any(_assigns(command, added) for command in script.commands):
                found.append(f"environment: {added!r}")
    for name in run.files:
        if not any(_writes(command, name) for command in script.commands):
            found.append(f"a file: {name!r}")
    return found


def _explains(command: Command, words: tuple[str, ...], files: tuple[str, ...]) -> bool:
    listed = list(command.words)
    while listed and listed[0].text in ("command", "exec", "coproc", "builtin", "time"):
        name = listed[0].text
        listed = listed[1:]
        while listed and (listed[0].text or "").startswith("-"):
            if name == "exec" and listed[0].text == "-a":
                return True  # it may be called anything
            listed = listed[1:]
        if name == "coproc" and len(listed) > 1 and listed[0].text == "N":
            listed = listed[1:]
    return _match(tuple(listed), words, files)


def _match(listed: tuple[Word, ...], words: tuple[str, ...], files: tuple[str, ...]) -> bool:
    """True if the listed words can become these: one that isn't literal becomes any number of words."""
    states = {0}
    for word in listed:
        reached: set[int] = set()
        for at in states:
            if word.text is None:
                reached.update(range(at, len(words) + 1))
                continue
            if at < len(words) and _same(word.text, words[at]):
                reached.add(at + 1)
            if word.glob:
                to = at
                while to < len(words) and (words[to] in FILES or words[to] in files):
                    to += 1
                    reached.add(to)
        states = reached
        if not states:
            return False
    return len(words) in states


def _same(listed: str, word: str) -> bool:
    """A tilde stands for the home directory, where the reader leaves it."""
    return listed == word or ("~" in listed and "/nowhere" in word and listed.replace("~", "/nowhere") == word.replace("~", "/nowhere"))


def _feeds(command: Command, call: Call, script: Script) -> bool:
    """True if the command's input is explained: what it reads is literally listed, or said not to be literal."""
    bodies = [redirect.body for redirect in command.redirects if redirect.op in ("<<", "<<<")]
    inputs = any(redirect.op in ("<", "<&", "<>", ">&", "&>") for redirect in command.redirects)
    wide = script.functions or command.joined & {"group", "subshell", "loop", "condition", "function", "substitution"}
    if call.kind in ("other", "none") or inputs or wide or command.piped_from is not None or None in bodies:
        return True
    return call.stdin in bodies or any("exec" in (c.program or "exec") for c in script.commands)


def _assigns(command: Command, added: str) -> bool:
    name, _, value = added.partition("=")
    if command.program in ("read", "export", "declare", "typeset", "local", "readonly") and any(
        word.text is None or word.text.partition("=")[0] == name for word in command.words[1:]
    ):
        return True
    return any(n == name and (v.text is None or _same(v.text, value) or v.glob) for n, v in command.assigns)


def _writes(command: Command, name: str) -> bool:
    for redirect in command.redirects:
        target = redirect.target
        if target is not None and redirect.op not in ("<", "<&") and (target.text in (None, name) or target.glob):
            return True
    return False


# ------------------------------------------------------------------------------------------------------- runs


@dataclass
class Report:
    """What a run of the fuzzer found."""

    ran: int = 0
    understood: int = 0
    called: int = 0
    """Texts for which bash ran at least one program."""
    refused: Counter[str] = field(default_factory=Counter)
    differences: list[tuple[str, str]] = field(default_factory=list)

    def add(self, other: Report) -> None:
        self.ran += other.ran
        self.understood += other.understood
        self.called += other.called
        self.refused += other.refused
        self.differences += other.differences

    def __str__(self) -> str:
        lines = [
            f"{self.ran} texts, {self.called} of them ran programs; {self.understood} understood, "
            f"{sum(self.refused.values())} not understood, {len(self.differences)} differences"
        ]
        lines += [f"  {count:6} {reason}" for reason, count in self.refused.most_common(25)]
        lines += [f"DIFFERENCE {text!r}\n    {why}" for text, why in self.differences]
        return "\n".join(lines)


def fuzz(seed: int, count: int, home: Path) -> Report:
    """Runs `count` texts of a seed."""
    bash = Bash(home)
    rng = random.Random(seed + 1)
    report = Report()
    for text in texts(seed, count):
        check(text, bash, report, exits=rng.choice((0, 0, 127, rng.randrange(128))))
    return report


def check(text: str, bash: Bash, report: Report, exits: int = 0) -> None:
    """One text: read by us, and by bash if we understood it."""
    report.ran += 1
    try:
        script = read_script(text)
    except NotUnderstood as error:
        report.refused[re.sub(r" near `.*|`.*?`|U\+\w+", "", str(error), flags=re.DOTALL)] += 1
        return
    report.understood += 1
    run = bash.run(text, exits)
    report.called += bool(run.calls)
    report.differences += [(text, why) for why in differences(script, run)]


def _job(job: tuple[int, int]) -> Report:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as home:
        return fuzz(*job, Path(home))


def fuzz_all(seed: int, count: int, progress: Callable[[Report], None] = lambda report: None) -> Report:
    """Runs `count` texts on all cores."""
    size = 500
    jobs = [(seed * 1_000_003 + index, min(size, count - index * size)) for index in range((count + size - 1) // size)]
    report = Report()
    with multiprocessing.get_context("spawn").Pool() as pool:
        for found in pool.imap(_job, jobs):
            report.add(found)
            progress(report)
    return report


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    started = time.monotonic()

    def progress(report: Report) -> None:
        print(f"{report.ran} texts, {len(report.differences)} differences", file=sys.stderr, flush=True)

    print(fuzz_all(options.seed, options.count, progress))
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
