"""Values followed through a script: the words that commands get, and what is unknown."""

from __future__ import annotations

import random

import pytest

from remit.languages.bash.follow import Budget
from remit.languages.programs.understand import forget, understand
from remit.scopes.shell.units import shell_units
from tests.languages.bash.values_fuzz import fuzz

SEEDS = 6


def words(text: str) -> list[list[str | None]]:
    """The words that `rm` gets, each way."""
    found = understand(text)
    assert found.problem is None, found.problem
    return [[word.text for word in act.command.words[1:]] for act in found.acts if act.program == "rm"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f=a; rm $f", [["a"]]),
        ("f='a b'; rm $f \"$f\"", [["a", "b", "a b"]]),
        ('f=; rm $f "$f"x', [["x"]]),
        ("d=src; f=$d/x; rm ${f%x}y", [["src/y"]]),
        ("for f in a b; do rm $f; done", [["a"], ["b"]]),
        ("for f in a b; do for g in c d; do rm $f$g; done; done", [["ac"], ["ad"], ["bc"], ["bd"]]),
        ('for f in src/*.py; do rm "${f%.py}.txt"; done', [["src/*.txt"]]),
        ("for f in src/*.py; do rm $f; done", [[None]]),
        ("read f <<< a; rm $f", [["a"]]),
        ("printf -v f '%s/%s' a b; rm $f", [["a/b"]]),
        ('a=(x "y z"); rm "${a[@]}" ${a[0]}', [["x", "y z", "x"]]),
        ("set -- a b; shift; rm $1 $#", [["b", "1"]]),
        ('f() { rm "$1"; }; f x; f "y z"', [["x"], ["y z"]]),
        ("f() { local g=$1; rm $g; }; g=q; f x; rm $g", [["x"], ["q"]]),
        ('rm $(echo a b) "$(printf %s c)"', [["a", "b", "c"]]),
        ("f=a; f+=b; rm $f", [["ab"]]),
        ("eval 'f=a'; rm $f", [["a"]]),
        ('f=a; eval "rm $f"', [["a"]]),
        ("if x; then f=a; else f=b; fi; rm $f", [["a"], ["b"]]),
        ("f=a; x && f=b; rm $f", [["a"], ["b"]]),
        ("f=a; (f=b); rm $f", [["a"]]),
        ("f=a; echo | f=b; rm $f", [["a"]]),
        ("f=a; g=$((1+2)); rm $f$g", [["a3"]]),
        ('rm "$HOME/x"', [["~/x"]]),
        ('rm "$PWD/x"', [["./x"]]),
        ('cd y; rm "$PWD/x"', [[None]]),
        ("xargs rm <<< 'a b'", [["a", "b"]]),
        ("echo a b | xargs -I{} rm x/{}", [["x/a b"]]),
        ("find src -print0 | xargs -0 rm", [["src", "src"]]),
        ("find src | xargs rm", [["src", "src"], [None]]),
    ],
)
def test_words_that_are_known(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "rm $f",
        "f=a; while x; do rm $f; f=b; done",
        "f=a; for i in 1 2; do f=$f.b; done; rm $f",
        "f=a; unset f; rm $f",
        "f=a; read f; rm $f",
        "f=a; read -r g f < x; rm $f",
        "f=a; mapfile -t f < x; rm $f",
        "f=a; getopts ab f; rm $f",
        "f=a; . ./x.sh; rm $f",
        "f=a; eval $g; rm $f",
        "f=a; trap 'f=b' DEBUG; rm $f",
        "for i in 1 2; do f=a; rm $f; trap 'f=b' DEBUG; done",
        'for i in 1 2; do f=a; rm $f; eval "$g"; done',
        "f=a; declare -u f; f=b; rm $f",
        "readonly f=a; f=b; rm $f",
        "f=a; exec {f}< x; rm $f",
        "f=a; f[1]=b; rm $f",
        "f=a; : ${f:=b}; rm $f",
        "f=a; f=b g=$(rm $f)",
        "RANDOM=a; rm $RANDOM",
        "select f in a b; do rm $f; done",
        "find src | while read f; do rm $f; done",
        "set -f; f=a; rm $f",
        "g() { readonly y=f; f() { y=k; rm $y; }; f; }; g",
        "g() { declare -u y; f() { local y=k; rm $y; }; f; }; g",
    ],
)
def test_words_that_are_not_known(text):
    assert [None] in words(text)


@pytest.mark.parametrize(
    "text",
    [
        "for PATH in ./evil; do git status; done",
        "for i in 1 2; do git status; PATH=./evil; done",
        "read PATH <<< ./evil; git status",
        "read -ra PATH <<< ./evil; git status",
        "exec {PATH}< /dev/null; git status",
        "((PATH=10)); git status",
        "((PATH\n= 10)); git status",
        "let PATH=10; git status",
        ": $((PATH=10)); git status",
        ": ${PATH:=./evil}; git status",
        "printf -v PATH ./evil; git status",
        "mapfile PATH < x; git status",
        "getopts ab PATH; git status",
        "select PATH in ./evil; do git status; done",
        "declare PATH=./evil; git status",
        "f() { local PATH; git status; }; f",
        "f() { PATH=./evil; }; f; git status",
        "unset PATH; git status",
        "c=read; $c PATH <<< ./evil; git status",
        "eval PATH=./evil; git status",
        "command export PATH=./evil; git status",
        "trap 'PATH=./evil' DEBUG; git status",
        "git=1; BASH_CMDS[git]=./evil; git status",
        "BASH_ALIASES[git]=./evil; git status",
        "IFS=/; git status",
        "COMPILER_PATH=. git status",
        "export ZIPOPT=x; git status",
    ],
)
def test_names_that_matter_set_in_any_way_make_what_follows_unknown(text):
    found = understand(text)
    grades = {act.grade for act in found.acts if act.program == "git"}
    assert found.problem is not None or grades == {"not understood"}


def test_a_redirection_to_a_followed_host_names_it():
    acts = understand("for h in 127.0.0.1 example.org; do echo hi > /dev/tcp/$h/80; done").acts
    assert [word.text for act in acts for word in act.hosts] == ["127.0.0.1", "example.org"]


@pytest.mark.parametrize("seed", range(2))
def test_values_are_those_of_bash(seed):
    found, known, _ = fuzz(seed, 100)
    assert found == []
    assert known > 100


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 100 + SEEDS))
def test_values_are_those_of_bash_in_many_scripts(seed):
    assert fuzz(seed, 2_000)[0] == []


# ------------------------------------------------------------------------------------------------------------- bounded

PARTS = (
    "cd d{n}||:;", "cd $x{n};", "mv a{n}* b* c* d;", "for v{n} in a b c d e f g h; do ", "done;", "x={a,b}{c,d}{e,f};",
    "cp {a,b}{c,d}{e,f}{g,h}{i,j}{k,l}{m,n}{o,p} z;", "f{n}() { f{m}; f{m}; };", "f{n};", "$(echo $(echo $(echo a)));",
    "y=$v1$v2$v3;", "rm $y$y$v1;", "if a; then y=$y{n}; fi;", "eval 'eval \"rm $y\"';", "a=(1 2 3 $y);", "cat *{n}*;",
    "find a b c d e f -exec rm {} \\;;", "echo a b c | xargs -I{} rm {};", "(cd a; rm *);", "bash -c 'cd q; rm *';",
)  # fmt: skip


def adversarial(seed: int) -> str:
    rng = random.Random(seed)  # noqa: S311 - the same text again for the same seed
    some = rng.sample(PARTS, rng.randint(1, 4))
    text, opened = "", 0
    for n in range(rng.randint(1, 300)):
        part = rng.choice(some).replace("{n}", str(n)).replace("{m}", str(n + 1))
        opened += part.endswith("do ") - part.startswith("done")
        text += part
    return text + ":;" + "done;" * max(opened, 0)


LONG = "cd d0||:;cd d1||:;cd d2||:;cd d3||:;mv " + "a* " * 250 + "d"
NAMED = "cd d0||:;cd d1||:;cd d2||:;cd d3||:;mv " + " ".join(f"a{n}*" for n in range(250)) + " d"
CALLS = "".join(f"f{n}() {{ f{n + 1}; f{n + 1}; }}; " for n in range(7)) + "f7() { rm a; }; f0"
NESTED = "for a in 1 2 3 4; do for b in 1 2 3 4; do for c in 1 2 3 4; do rm $a$b$c; done; done; done"


@pytest.mark.parametrize("text", [LONG, NAMED, CALLS, NESTED, *map(adversarial, range(40))])
def test_work_is_bounded_by_the_length_of_a_text(monkeypatch, text):
    """Counted, not timed: steps that are followed, and units that are judged."""
    spent = []

    def spend(self: Budget, steps: int = 1, *, own=Budget.spend) -> None:
        spent.append(steps)
        own(self, steps)

    monkeypatch.setattr(Budget, "spend", spend)
    forget()
    units = shell_units("command", text, None, "/r")
    forget()
    assert sum(spent) <= 2 * (4_000 + 8 * len(text)) + 2_000
    assert len(units) <= 4_000 + 8 * len(text)


def test_a_command_that_is_repeated_costs_no_more():
    assert len(shell_units("command", LONG, None, "/r")) < 200
