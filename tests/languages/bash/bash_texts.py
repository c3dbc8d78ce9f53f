"""Shell texts made at random from a grammar of bash, some of them damaged afterwards.

Everything that bash's grammar has occurs, in places where it is expected and where it is not. The programs are
names of shims; no text can name a file outside of the directory that it runs in.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

PROGRAMS = ("c1", "c2", "c3", "c4", "git", "curl", "rm", "grep", "cat", "ls", "sh", "make")

REAL = (
    "git diff HEAD~1 -- src",
    "git log --oneline -n 5 | grep -v 'fix: '",
    "git show HEAD@{1}:README.md > f9",
    "grep -rn \"def \\w\\+\" --include='*.py' src | sh -c 'x' | cat -n",
    'rm -rf "$(git rev-parse HEAD)" && make test',
    "curl -s 'http:x' | sh",
    "cat <<'EOF' | grep a\nline one\n$(c1)\nEOF",
    "git commit -m \"$(cat <<'EOF'\nmsg (with) `ticks`\nEOF\n)\"",
    'for f in *.py; do grep -n x "$f" || rm "$f"; done',
    "if git diff --quiet; then make a; else make b; fi 2>&1 | cat",
    "make 2>&1 >f9 | grep -E 'a|b' ; ls -la {src,tests}/x",
    "V1=1 V2='a b' git -c x=y stash@{0} # comment",
    "(cd src && ls) & git status; cat f1 f2 >> f8",
    "find . -name '*.py' -exec grep x {} \\;",
    'while read -r line; do c1 "$line"; done < f1',
    "case $x in (a|b) c1;; *) c2;; esac",
    'f() { c1 "$@"; }; f a b',
    "[ -f x ] && c1 || { c2; c3; }",
    "[[ $x == a* ]] && c1",
    'c1 $\'a\\x41\\n\' "a$(c2 "b $(c3)")"',
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
        if rng.random() < 0.12:
            made = rng.choice(
                ("c1 $({}\n)", "V1=$({})", 'c1 "$({}\n)"', "c1 <({}\n)", "f() {{ c1 $({}\n); }}; f")
            ).format(made)
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
        return made + self.rng.choice(("",) * 20 + (";", " &", "\n", " # end", "\n\n", ";\n#x") * 4 + ("\\",))

    def list(self) -> str:
        rng = self.rng
        self.depth += 1
        parts = [self.pipeline()]
        while rng.random() < (0.35 if self.depth < 3 else 0.15):
            joiner = rng.choice(
                ("; ", ";", " && ", "&&", " || ", "||", " & ", "&", "\n", " ;\n", " &&\n", "||\n", "\n\n")
            )
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
        head = rng.choice(
            (f"for {name} in{words}; ", f"for {name} in{words}\n", f"for {name}; ", f"for {name} ", f"for {name}\n")
        )
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
            (
                "((x=1))",
                "((x++))",
                "(( a[$(c1)] ))",
                "((1 < 2))",
                "((x = $(c2) + 1))",
                "(( x << 2 ))",
                "let x=1+1",
                "((`c3`))",
            )
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
        rng = self.rng
        if rng.random() < 0.3:
            word = rng.choice(("'a[$(c1)]'", "x", '"$x"', "'x=($(c2))'", "a[1]", "$x", "'x=a[$(c3)]'"))
            return rng.choice(EVALUATING) + " " + word + rng.choice(("", " y", "; c4 $((x))", "; c4"))
        head = rng.choice(("echo", "printf %s", "true", "false", ":", "read x", "shift", "wait", "return", "pwd"))
        return " ".join([head, *(self.word() for _ in range(rng.randrange(3)))])

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
            return rng.choice(
                ("$x", "$(c1)", "{c1,c2}", "c{1,2}", "`c1`", "c*", "\\\nc1", "$x$y", "{", "}", "if", "time")
            )
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
            made = (
                made[:at] + rng.choice(("\\\n", "\\\n", "\v", "\f", "\r", "\u00a0", "\u3000", "é", "\x7f")) + made[at:]
            )
        if rng.random() < 0.002:
            made += "x" * rng.choice((3000, 20000))
        return made

    def piece(self) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.42:
            return rng.choice(
                (
                    "a",
                    "b",
                    "x1",
                    "--opt",
                    "-n",
                    "HEAD",
                    "diff",
                    "src",
                    "f1",
                    "=",
                    "a=b",
                    ".",
                    ":",
                    "%",
                    "1",
                    "2",
                    "-",
                    ",",
                )
            )
        if roll < 0.62:
            return self.quoted()
        if roll < 0.72:
            return rng.choice(BRACES)
        if roll < 0.79:
            return rng.choice(
                ("*", "?", "[ab]*", "*.py", "[!a]", "[", "]", "f*") * 4 + ("?(a)", "!(x)", "@(a|b)", "*(c1)", "+(a)")
            )
        if roll < 0.82:
            return rng.choice(("~", "~/x", "a~", "~:~", "a=~"))
        if roll < 0.87:
            return rng.choice(
                (
                    "#",
                    "a#b",
                    "#a",
                    "!",
                    "!!",
                    "^",
                    "!x",
                    "{",
                    "}",
                    "\\#",
                    "@",
                    "$",
                    "$%",
                    "in",
                    "do",
                    "fi",
                    "then",
                    "esac",
                    "done",
                )
            )
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
            return (
                rng.choice(("$((", "$(( 1 + ")) + rng.choice(("1", "x", f"$({inner})", "a[1]", "1<<2", "(2)*3")) + "))"
            )
        return rng.choice(
            ("${x:-" + self.simple_word() + "}", "${x:-$(" + inner + ")}", "${x/a/'b}'}", "${x:-`c1`}", '"${x:-"a b"}"')
        )

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
            return rng.choice(
                (
                    "2>&1",
                    ">&2",
                    "1>&2",
                    "<&0",
                    "3<&0",
                    "2>&-",
                    "<&-",
                    ">& 2",
                    "2>& 1",
                    "3>&1-",
                    ">&$x",
                    ">&'$(c1)'",
                    ">&f5",
                )
            )
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
    "{a,b}", "{a,{b,c}}", "{1..3}", "{a..c}", "{}", "{a}", "HEAD@{1}", "stash@{0}", "{a,b", "a,b}", "{'a',b}",
    "{a,'b c'}", '{"a,b",c}', "{a\\,b,c}", "{,x}", "{x,}", "{,}", "{a,b}{c,d}", "x{a,b}y", "{1..3..2}", "{3..1}",
    "{01..3}", "{a..c..2}", "{$x,b}", "{a,$(c1)}", "${x}{a,b}", "{a,b}$x", "\\{a,b}", "{a,b\\}", "{a..}", "{..b}",
    "{{a,b}", "{a,b}}", "{a,{b}", "{}{a,b}", "{a, b}", "{1..a}", "{-1..1}", "{a,b}'c'", "'x'{1,2}", "{''}", "{'',a}",
    '{"a".."c"}', "${x,}", "{a,}b", "$'{'a,b}", "{A..c}", "{1..2}{a..b}", "{a,#b}", "{x,y=z}",
)  # fmt: skip
EVALUATING = (
    "test -v", "[ -v", "unset", "read", "printf -v", "let", "declare", "declare -a", "declare -i", "export", "readonly",
    "x='a[$(c1)]'; unset", "x='a[$(c1)]'; let", "x='a[$(c1)]'; ((x)); :", "x=-v; test $x", "mapfile",
    "[[ -v", "[[ x -eq",
)  # fmt: skip
QUOTED = (
    "a", "b", " ", "$", "\\", "'", '"', "*", "#", "{a,b}", "\n", ";", "|", "&", "<", "(", ")", "~", "!", "\\\n",
    "\\$", "\\\\", "c1", "-x",
)  # fmt: skip
ANSI = (
    "a", "\\x41", "\\n", "\\'", "\\\\", "\\101", "\\u41", "\\u00e9", "\\x", "\\t", "\\e", "\\cA", "\\?", '\\"', '"',
    "\\q", " ", "\\x7a1", "\\U0001F600", "\\0", "\\xe9", "\\\n", "\\c", "\\c\\\\",
)  # fmt: skip
EXPANSIONS = (
    "$x", "${x}", "$1", "$@", "$*", "$#", "$?", "$$", "$!", "$-", "$0", "${x:-a}", "${#x}", "${x%a*}", "${!x}",
    "$[1+1]", "${x[@]}", "$((1+1))", "${x:1:2}", "${x//a/b}", "$x1", "${10}", "${x^^}", "${x@Q}", "$_",
)  # fmt: skip
DELIMITERS = (
    ("E", "E", False), ("'E'", "E", True), ('"E"', "E", True), ("\\E", "E", True), ("E''", "E", True),
    ("'E F'", "E F", True), ("EOF", "EOF", False), ("'EOF'", "EOF", True), ("$x", "$x", False), ("E\\F", "EF", True),
    ("'E'F", "EF", True), ("$'E'", "E", True), ('"E F"', "E F", True), ("E{a,b}", "E{a,b}", False),
    ("-E", "-E", False), ("'E;'", "E;", True), ("E#", "E#", False), ("!", "!", False), ("\\\nE", "E", False),
    ("''", "", True), ("$(c1)", "$(c1)", False), ("E.txt", "E.txt", False), ('$"E"', "E", True),
    ("`E`", "`E`", False),
)  # fmt: skip
DOCUMENT = (
    "a", "", "text with 'quote", 'say "hi', "$x", "$(c1 doc)", "`c2 doc`", "E ", " E", "\tE", "\\", "a\\", "\\$x",
    "\\`c3\\`", "c4 | c1", "# no", "${x:-$(c3)}", "$((1+1))", "EOF x", "(", "}", "$", "\\\\", "'$(c2 q)'",
    '"$(c1 "a b")"', "x\\\\", "${x:-'a'}", "<<F", "E'", "$'a\\x41'",
)  # fmt: skip

_UNSAFE = re.compile(r"(?<![A-Za-z0-9~])/|~[A-Za-z+-]|\$\w*/|\.\.|[?*]/|/dev|/proc")


def safe(text: str) -> bool:
    """True if the text can't name a file outside the scratch directory."""
    return "\0" not in text and not any(m[0] != ".." for m in _UNSAFE.finditer(text)) and "../" not in text


def texts(seed: int, count: int) -> Iterator[str]:
    """`count` texts; the same for the same seed."""
    maker = Maker(random.Random(seed))  # noqa: S311 - the same texts again for the same seed
    while count:
        text = maker.text()
        if safe(text) and len(text) < 30_000:
            count -= 1
            yield text
