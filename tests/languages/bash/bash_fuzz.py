"""What bash really runs for texts made at random, and whether the reader's answer explains it.

    python -m tests.languages.bash.bash_fuzz --count 5000 --seed 1

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
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Self

from remit.languages.bash.reader import read_script
from remit.languages.bash.reading import Word
from remit.languages.bash.script import Command, Script
from remit.model.errors import NotUnderstood
from tests.languages.bash.bash_texts import PROGRAMS, texts

FILES = ("f1", "f2", "ax", "bx.py")
NOBODY = 65534
TIMEOUT = 1.0

# ------------------------------------------------------------------------------------------------------ bash


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
    """A scratch directory, shims, and bash to run texts in it. To be closed, or used in a `with`."""

    def __init__(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="bash-fuzz-", ignore_cleanup_errors=True)
        home = Path(self._home.name)
        self.log, self.scratch, shims = home / "log", home / "scratch", home / "shims"
        shims.mkdir()
        self.scratch.mkdir()
        self.log.touch()
        _compile("bash_shim.c", home / "shim", f'-DLOG="{self.log}"')
        _compile("bash_runner.c", home / "runner")
        for name in PROGRAMS:
            os.link(home / "shim", shims / name)
        if os.geteuid() == 0:
            for path in (home, self.log, self.scratch):
                os.chown(path, NOBODY, NOBODY)
        self.clean(())
        bash = shutil.which("bash") or "bash"
        arguments: list[str | Path] = [home / "runner", bash, self.log, self.scratch, shims, str(int(TIMEOUT * 1000))]
        self._runner = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the runner and removes all files."""
        self._runner.communicate()
        self._home.cleanup()

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
        raw = text.encode()
        if self._runner.stdin is None or self._runner.stdout is None:
            raise RuntimeError("the runner isn't there")
        self._runner.stdin.write(b"%d %d\n" % (exits, len(raw)) + raw)
        self._runner.stdin.flush()
        ended = self._runner.stdout.read(1)
        if not ended:
            raise RuntimeError(f"the runner ended at {text!r}")
        found = os.listdir(self.scratch)
        made = tuple(sorted(name for name in found if name not in FILES))
        calls = tuple(_calls(self.log.read_bytes()))
        if made or len(found) != len(FILES) or any((self.scratch / name).stat().st_size for name in FILES):
            self.clean(made)
        return Run(calls, made, timed_out=ended != b".")


def _compile(source: str, program: Path, *options: str) -> None:
    compiler = shutil.which("gcc") or shutil.which("cc") or "cc"
    subprocess.run([compiler, "-O1", "-w", *options, "-o", program, Path(__file__).parent / source], check=True)


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
    return listed == word or (
        "~" in listed and "/nowhere" in word and listed.replace("~", "/nowhere") == word.replace("~", "/nowhere")
    )


def _feeds(command: Command, call: Call, script: Script) -> bool:
    """True if the command's input is explained: what it reads is literally listed, or said not to be literal."""
    bodies = [redirect.body for redirect in command.redirects if redirect.op in ("<<", "<<<")]
    inputs = any(redirect.op in ("<", "<&", "<>", ">&", "&>") for redirect in command.redirects)
    wide = script.functions or command.joined & {"group", "subshell", "loop", "condition", "function", "substitution"}
    if call.kind in ("other", "none") or inputs or wide or command.piped_from is not None or None in bodies:
        return True
    if not call.stdin and ("<(" in command.raw or ">(" in command.raw):
        return True  # a process substitution after it may have read it first
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
        refused = sum(self.refused.values())
        lines = [
            f"{self.ran} texts: {self.understood} understood, of which {self.called} ran programs; {refused} refused"
        ]
        lines += [f"{len(self.differences)} differences"]
        lines += [f"  {count:6} {reason}" for reason, count in self.refused.most_common(25)]
        lines += [f"DIFFERENCE {text!r}\n    {why}" for text, why in self.differences]
        return "\n".join(lines)


def fuzz(seed: int, count: int) -> Report:
    """Runs `count` texts of a seed."""
    rng = random.Random(seed + 1)  # noqa: S311 - the same run again for the same seed
    report = Report()
    with Bash() as bash:
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
    return fuzz(*job)


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
