"""What certain programs print is one word and no option: commits, dates, numbers. Compared with what they do print."""

import subprocess
from pathlib import Path

import pytest

from remit.languages.programs.understand import understand
from remit.model.terms import UNKNOWN

ONE_WORD = (
    "git rev-parse HEAD",
    "git rev-parse --short HEAD",
    "git rev-parse --short=8 HEAD~0",
    "git rev-parse --verify main",
    "git rev-parse HEAD@{0}",
    "git rev-parse nothing/there",
    "git rev-parse a/b.c-d^",
    "git merge-base main HEAD",
    "git merge-base main nothing 2>/dev/null",
    "nproc",
    "date +%F",
    "date -u +%Y-%m-%dT%H:%M:%SZ",
    "date +%s",
    "date +%-d.%-m",
    "uname -m",
)
NOT_TOLD = (
    "git rev-parse -- --output=x",
    "git rev-parse --branches",
    "git rev-parse HEAD^@",
    "git rev-parse HEAD^-1",
    "git rev-parse main..HEAD",
    "git rev-parse --output=x",
    "git rev-parse HEAD --output=x",
    "git rev-parse -- HEAD",
    "git merge-base -a main HEAD",
    "git rev-parse $x",
    "git log -1 --format=--output=x",
    "git describe --tags",
    "git symbolic-ref --short HEAD",
    "date +-%F",
    "date +%c",
    "date +%F%n-x",
    "date +%t",
    "date -f x +%F",
    "nproc; echo --output=x",
    "nproc | sed s/./-x/",
)
"""Each could print an option, several words, or what a file says."""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    who = ["-c", "user.name=a", "-c", "user.email=a@x.example"]
    for words in (
        ["init", "-qb", "main"],
        [*who, "commit", "-q", "--allow-empty", "-m", "a"],
        ["update-ref", "refs/tags/--x", "HEAD"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    return tmp_path


def argument(text: str) -> tuple[bool, str]:
    """Whether the command is understood with the output as its argument, and what it does then."""
    act = understand(f"git diff --stat {text}").acts[0]
    return act.grade != UNKNOWN and "write" not in act.effects, act.grade


@pytest.mark.parametrize("command", ONE_WORD)
def test_one_word_and_no_option(repository: Path, command: str) -> None:
    run = subprocess.run(
        ["bash", "-c", f'printf "<%s>" $({command})'], cwd=repository, capture_output=True, text=True, check=True
    )
    assert run.stdout.count("<") == 1
    assert not run.stdout.startswith("<-")
    assert argument(f"$({command})") == argument("HEAD")
    assert argument(f'"$({command})..HEAD"') == argument("HEAD")


@pytest.mark.parametrize("command", NOT_TOLD)
def test_what_could_be_more_is_not_told(command: str) -> None:
    assert argument(f"$({command})") != argument("HEAD")


def test_functions_of_the_text_print_what_they_like() -> None:
    assert argument("$(git rev-parse HEAD)")[0]
    found = understand("git() { echo --output=x; }; nproc() { :; }; command git diff $(git rev-parse HEAD)")
    assert any(
        "write" in act.effects or act.grade == UNKNOWN for act in found.acts if act.program in ("git", "command")
    )


def test_without_output_there_is_no_word() -> None:
    """`rm -rf build/$(nproc)` has it in a word; `git stash show $(…)` may lose it."""
    texts = [[word.raw for word in act.command.words] for act in understand("git diff $(git merge-base a b)").acts]
    assert ["git", "diff"] in texts
    quoted = [[word.raw for word in act.command.words] for act in understand('git diff "$(git merge-base a b)"').acts]
    assert ["git", "diff"] not in quoted
