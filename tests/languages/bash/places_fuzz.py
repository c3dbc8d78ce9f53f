"""Where the commands of scripts made at random really run, and whether we say the same.

    python -m tests.languages.bash.places_fuzz --count 2000 --seed 1

Scripts change directories in many ways. bash runs them among a few folders, some of which are missing. Each `mark N`
notes where it runs: that must be a place that we said it could run in.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from remit.languages.programs.understand import understand

FOLDERS = ("a", "a/b", "b", "b/a", "c")
TARGETS = ("a", "b", "c", "./a", "..", ".", "-", "missing", "a/b", '"$OLDPWD"', "$d", '"$PWD"', '"$p"', '"$p/a"', "")


class Maker:
    """Makes one script."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.depth = 0
        self.marks = 0

    def script(self) -> str:
        head = "".join(self.rng.sample(("d=b; ", "p=$PWD; ", "set -e; ", "p=$(pwd); ", ""), 2))
        return head + self.block() + self.mark()

    def mark(self) -> str:
        self.marks += 1
        return f"mark {self.marks}; "

    def block(self) -> str:
        return "".join(self.statement() for _ in range(self.rng.randint(1, 4)))

    def move(self) -> str:
        target = self.rng.choice(TARGETS)
        forms = ("cd T", "cd T", "cd T", "cd -P T", "cd -- T", "command cd T", "builtin cd T", "pushd T")
        return self.rng.choice(forms).replace("T", target)

    def statement(self) -> str:
        move, choose = self.move, self.rng.choice
        self.depth += 1
        simple = (
            lambda: f"{move()}; ", lambda: f"{move()}; ", lambda: f"{move()} && {self.mark()}",
            lambda: f"{move()} && {move()} && {self.mark()}", lambda: f"{move()} || {self.mark()}",
            lambda: f"{move()} || exit; ", lambda: f"{move()} && {self.mark()[:-2]} || {self.mark()}",
            lambda: f"{move()} || {move()} && {self.mark()}", lambda: "popd; ", lambda: f"eval '{move()}'; ",
            lambda: f"eval '{move()} && {self.mark()}'; ", lambda: "p=$PWD; ",
            lambda: f"d={choose(('a', 'b', '..'))}; ",
            lambda: f"trap '{move()}' DEBUG; ", lambda: "eval 'f() { cd a; }'; ", lambda: "p=$OLDPWD; ",
            lambda: f"! {move()}; ", lambda: "set -e; ", lambda: "set +e; ", lambda: f"time {move()}; ",
            lambda: f"{move()} & wait; ", lambda: f"x=$({move()} && {self.mark()}{move()}); ",
        )  # fmt: skip
        compound = (
            lambda: f"( {self.block()}); ",
            lambda: f"{{ {self.block()}}}; ",
            lambda: f"for i in 1 2; do {self.block()}done; ",
            lambda: f"for i in 1 2; do {self.block()}{choose(('break', 'continue'))}; {self.block()}done; ",
            lambda: f"for d in a b; do {self.block()}done; ",
            lambda: f"if {move()}; then {self.block()}else {self.block()}fi; ",
            lambda: f"if {self.mark()}then {self.block()}fi; ",
            lambda: f"while {move()} && false; do {self.block()}done; ",
            lambda: f"f() {{ {self.block()}}}; f; ",
            lambda: f"f() {{ {self.block()}{move()} || return; {self.block()}}}; f && {self.mark()}",
            lambda: f"{move()} | {self.mark()}",
            lambda: f"case $d in a) {self.block()};; *) {self.block()};; esac; ".replace("; ;;", ";;"),
            lambda: f"{{ {self.block()}}} & wait; ",
            lambda: f"bash -c '{move()}; {self.mark()}'; ".replace("$p", "."),
            lambda: f"x=$({move()}; {self.mark()}); ",
        )
        made = choose(compound if self.depth < 4 and self.rng.random() < 0.35 else simple)()
        self.depth -= 1
        return made + (self.mark() if self.rng.random() < 0.5 else "")


def script(seed: int) -> str:
    return Maker(random.Random(seed)).script()  # noqa: S311 - the same script again for the same seed


class Folders:
    """A few folders, and bash in them with a program that notes where it runs."""

    def __enter__(self) -> Folders:
        self._made = TemporaryDirectory()
        top = Path(self._made.name).resolve()
        self.root, self._log = top / "root", top / "log"
        for name in FOLDERS:
            (self.root / name).mkdir(parents=True, exist_ok=True)
        program = top / "bin" / "mark"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\necho "$1 $(pwd -P)" >> {self._log}\n')
        program.chmod(0o755)
        path = f"{program.parent}:/usr/bin:/bin"
        self._environment = {"PATH": path, "HOME": str(top), "OLDPWD": str(self.root / "c")}
        return self

    def __exit__(self, *_: object) -> None:
        self._made.cleanup()

    def run(self, text: str) -> list[tuple[str, str]]:
        """Each mark with the folder that it ran in, from the root."""
        self._log.write_text("")
        words = ["bash", "--norc", "-c", text]
        subprocess.run(words, cwd=self.root, env=self._environment, capture_output=True, check=False, timeout=60)
        lines = [line.partition(" ") for line in self._log.read_text().splitlines()]
        return [(mark, os.path.relpath(place, self.root)) for mark, _, place in lines]


def check(text: str, folders: Folders) -> tuple[list[str], int, int]:
    """What ran elsewhere than we said; how many marks we knew the places of, and how many there were."""
    found = understand(text, new_shell=True)
    if found.problem is not None or any(act.program == "eval" and act.unknown for act in found.acts):
        return [], 0, 0
    said: dict[str, set[str | None]] = {}
    for act in found.acts:
        if act.program == "mark":
            places = {None if base is None else os.path.normpath(base) for base in act.bases}
            said.setdefault(act.command.words[1].text or "", set()).update(places)
    ran = folders.run(text)
    wrong = []
    for mark, place in ran:
        if not {place, None} & said.get(mark, set()):
            wrong.append(f"mark {mark} ran in {place}, not in {said.get(mark)}")
    return wrong, sum(None not in said.get(mark, {None}) for mark, _ in ran), len(ran)


def fuzz(seed: int, count: int) -> tuple[list[tuple[str, str]], int, int]:
    """The scripts of a seed for which we were wrong, and how many places we knew of how many."""
    found: list[tuple[str, str]] = []
    known = total = 0
    with Folders() as folders:
        for index in range(count):
            text = script(seed * 1_000_003 + index)
            wrong, some, all_ = check(text, folders)
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
    print(f"{options.count} scripts, {known} of {total} places known, {len(found)} differences")


if __name__ == "__main__":
    main()
