"""What words really become for scripts made at random that set variables in many ways, and whether we say the same.

    python -m tests.languages.bash.values_fuzz --count 5000 --seed 1

Each script is run by bash as in `bash_fuzz`. Every call that bash makes must be one that we said could be made: a word
that we call literal must be equal to bash's, and a word that isn't literal may be anything.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable
from fnmatch import fnmatchcase

from remit.languages.bash.reading import Word
from remit.languages.programs.understand import understand
from tests.languages.bash.bash_fuzz import Bash

NAMES = ("x", "x", "y", "y", "z")
LITERALS = (
    "a",
    "b.py",
    "'a b'",
    '"*"',
    "''",
    "' lead '",
    "a/b.py",
    "f1",
    "12",
    "'~/x'",
    "~/y",
    "'a\\b'",
    "-n",
    "é",
    "aXbXc",
)
FORMS = (
    "$NAME", '"$NAME"', "${NAME}", '"${NAME}.txt"', "${NAME%.py}.txt", '"${NAME%.*}"', '"${NAME##*/}"', "${NAME#a}",
    '"${NAME%%X*}"', "${NAME/a/c}", '"${NAME//X/-}"', "${NAME^^}", "${NAME,}", "${NAME:1}", "${NAME:0:2}",
    "${NAME: -1}", "${NAME:-d}", '"${NAME:+e}"', "${NAME-d}", "${NAME+e}", '"$@"', "$@", '"$*"', "$1", '"$2"', "$#",
    "${#NAME}", '"${NAME[@]}"', "${NAME[1]}", "${#NAME[@]}", "$(echo $NAME)", "\"$(printf '%s-' a $NAME)\"",
    "`echo b $NAME`", "a$NAME'b'", '"a $NAME"b', "$NAME$y", "$HOME/q", "$NAME*", "lit", "'$NAME'", '"\\$NAME"',
    "{a,b}$NAME", "--o=$NAME", "$'a\\n'$NAME", "$NAME''", '""$NAME',
)  # fmt: skip
PATTERNS = ("f*", "*.py", "nothing*", "?x")


class Maker:
    """Makes one script."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.depth = 0

    def script(self) -> str:
        start = "".join(f"{name}={self.rng.choice(LITERALS)}; " for name in ("x", "y") if self.rng.random() < 0.8)
        return start + "".join(self.statement() for _ in range(self.rng.randint(1, 5)))

    def name(self) -> str:
        return self.rng.choice(NAMES)

    def value(self) -> str:
        pick = self.rng.random()
        return self.rng.choice(LITERALS) if pick < 0.5 else self.word() if pick < 0.9 else self.rng.choice(PATTERNS)

    def word(self) -> str:
        name, choose = self.name(), self.rng.choice
        forms = tuple(form.replace("NAME", name) for form in FORMS)
        return (
            choose((*forms, *LITERALS, *PATTERNS)) if self.rng.random() < 0.98 else f"$(({self.rng.randint(0, 9)}+1))"
        )

    def words(self, low: int = 0) -> str:
        return " ".join(self.word() for _ in range(self.rng.randint(low, 3)))

    def block(self) -> str:
        return "".join(self.statement() for _ in range(self.rng.randint(1, 3)))

    def call(self) -> str:
        plain = self.rng.choice(('"$x" "$y"', '$x "$z"', "$y", '"$x"', self.words(1)))
        return f"{self.rng.choice(('c1', 'c2'))} {plain}"

    def statement(self) -> str:
        name, value, choose = self.name(), self.value(), self.rng.choice
        self.depth += 1
        simple = (
            self.call, self.call, self.call, self.call,
            lambda: f"{name}={value}", lambda: f"{name}={value}",
            lambda: f"{name}={value} {self.name()}={self.value()}",
            lambda: f"{name}+={value}", lambda: f"export {name}={value}", lambda: f"declare {name}={value}",
            lambda: f"readonly {name}={value}", lambda: f"declare -u {name}", lambda: f"unset {name}",
            lambda: f"read {name} <<< {value}", lambda: f"read -r {name} {self.name()} <<< {value}",
            lambda: f"IFS= read -r {name} <<< {value}", lambda: f"printf -v {name} '%s+' {self.words()}",
            lambda: f"set -- {self.words()}", lambda: "shift", lambda: "shift 2", lambda: f"{name}=({self.words()})",
            lambda: f"{name}[1]={value}", lambda: f"{name}+=({self.words()})", lambda: f": ${{{name}:=q}}",
            lambda: f"(({name}=3))", lambda: f"let {name}=4", lambda: f"mapfile -t {name} <<< {value}",
            lambda: f"{name}={value} {self.call()}", lambda: f"eval '{name}=k'", lambda: f"eval \"c1 ${name}\"",
            lambda: f"trap '{name}=t' DEBUG", lambda: f"c3 {{{name}}}> f9", lambda: f"command eval {name}=m",
            lambda: f"c1 <<E\n${name} {self.name()}\nE", lambda: f"c1 <<< {value}", lambda: "getopts ab: " + name,
            lambda: "shopt -s nullglob", lambda: "shopt -u nullglob", lambda: "eval 'shopt -s nullglob'",
            lambda: f"c1 {choose(PATTERNS)} {value}", lambda: f"eval 'k() {{ {name}=e; }}'; k",
            lambda: f"readarray -t {name} <<< {value}", lambda: f"readarray -n 1 -O 1 {name} <<< {value}",
        )  # fmt: skip
        compound = (
            lambda: f"for {name} in {self.words(1)}; do {self.block()}done",
            lambda: f"for {name}; do {self.block()}done",
            lambda: f"if c3; then {self.block()}else {self.block()}fi",
            lambda: f"if c3; then {self.block()}fi",
            lambda: f"case ${name} in a) {self.block()};; *) {self.block()};; esac".replace("; ;;", ";;"),
            lambda: f"( {self.block()})",
            lambda: f"{{ {self.block()}}}",
            lambda: f"{self.call()} | {self.call()}",
            lambda: f"c3 && {name}={value}",
            lambda: f"c3 || {{ {self.block()}}}",
            lambda: f"while read {name}; do {self.block()}done <<< {value}",
            lambda: f"for {name} in 1 2; do {self.block()}{choose(('break', 'continue'))}; {self.block()}done",
            lambda: f"f() {{ local {self.name()}={self.value()}; {self.block()}}}; f {self.words()}",
            lambda: f"g() {{ {self.block()}c3 && return; {self.block()}}}; g {self.words()}; g",
            lambda: f"{{ {self.block()}}} & wait",
            lambda: f"c1 $({self.call()})",
        )
        made = choose(compound if self.depth < 4 and self.rng.random() < 0.3 else simple)()
        self.depth -= 1
        made = f"{made}\n" if "<<E" in made else f"{made}; "
        return made + (f"{self.call()}; " if self.rng.random() < 0.5 else "")


def script(seed: int) -> str:
    return Maker(random.Random(seed)).script()  # noqa: S311 - the same script again for the same seed


def check(text: str, bash: Bash, exits: int) -> tuple[list[str], int, int]:
    """What bash ran and we didn't say; how many words that bash gave programs we knew, and how many there were."""
    found = understand(text)
    if found.problem is not None:
        return [], 0, 0
    run = bash.run(text, exits)
    said = [act.command.words for act in found.acts if act.program is None or act.program in ("c1", "c2", "c3")]
    if any(act.program == "eval" and act.unknown for act in found.acts):
        return [], 0, 0  # said to run anything
    wrong = []
    for call in run.calls:
        if not any(_matches(words, call.words, (*run.files,)) for words in said):
            wrong.append(f"{list(call.words)} is none of {[[word.text for word in words] for words in said]}")
    words = [word for act in found.acts if act.program in ("c1", "c2") for word in act.command.words[1:]]
    return wrong, sum(word.text is not None for word in words), len(words)


def _matches(said: Iterable[Word], words: tuple[str, ...], files: tuple[str, ...]) -> bool:
    states = {0}
    for word in said:
        reached: set[int] = set()
        for at in states:
            if word.text is None:
                reached.update(range(at, len(words) + 1))
            elif at < len(words) and _same(word.text, words[at]):
                reached.add(at + 1)
            if word.text is not None and word.glob:
                to = at
                while to < len(words) and fnmatchcase(words[to], word.text):
                    to += 1
                    reached.add(to)
        states = reached
    return len(words) in states


def _same(said: str, word: str) -> bool:
    """The home directory is `~`, where we leave it."""
    return said == word or ("~" in said and said.replace("~", "/nowhere") == word.replace("~", "/nowhere"))


def fuzz(seed: int, count: int) -> tuple[list[tuple[str, str]], int, int]:
    """The scripts of a seed for which we were wrong, and how many words we knew of how many."""
    found: list[tuple[str, str]] = []
    known = total = 0
    with Bash() as bash:
        for index in range(count):
            text = script(seed * 1_000_003 + index)
            wrong, some, all_ = check(text, bash, exits=index % 2)
            found.extend((text, why) for why in wrong)
            known, total = known + some, total + all_
    return found, known, total


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found, known, total = fuzz(options.seed, options.count)
    for text, why in found:
        print(f"DIFFERENCE {text!r}\n    {why}")
    print(f"{options.count} scripts, {known} of {total} words known, {len(found)} differences")


if __name__ == "__main__":
    main()
