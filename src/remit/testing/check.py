"""Checking a policy file: does it load, do its examples and `never` statements hold, do its tests pass?

examine(Path("remit.yaml")).fine
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from remit.compile.load import load_file
from remit.model.errors import PolicyError, Problem
from remit.model.policy import Caller
from remit.model.rulebook import Book, Rulebook
from remit.model.text import counted, listed


class Checked(msgspec.Struct, frozen=True):
    """What came of a check."""

    path: Path
    rulebook: Rulebook | None
    problems: tuple[Problem, ...]
    tests: tuple[Any, ...] = ()

    def notices(self, now: str) -> tuple[str, ...]:
        """What is worth knowing: the notices of the policy, and what has ended by now."""
        if self.rulebook is None:
            return ()
        ended: dict[str, list[Caller]] = {}
        for caller in self.rulebook.book.callers.values():
            until = caller.enforce.observe_until if caller.enforce is not None else None
            if until is not None and until <= now:
                ended.setdefault(until, []).append(caller)
        return (
            *self.rulebook.book.notices,
            *(f"{name}: nothing runs these tests: rename the file to {new}" for name, new in misnamed_tests(self.path)),
            *(
                f"{ones[0].at}: observing ended at {until}, so the rules are enforced; `observe` can go: "
                + listed(caller.name for caller in ones)
                for until, ones in ended.items()
            ),
        )

    def outcomes(self) -> dict[str, int]:
        """How many tests passed and failed."""
        found = {"passed": 0, "failed": 0}
        for test in self.tests:
            found[test.outcome] += 1
        return found

    @property
    def fine(self) -> bool:
        """True if nothing is wrong."""
        return not self.problems and not self.outcomes()["failed"]


def misnamed_tests(policy: Path) -> Iterator[tuple[str, str]]:
    """Files beside a policy that begin as tests do and are not called so, each with the name that it needs."""
    for path in sorted(policy.parent.glob("*.y*ml"))[:_MANY]:
        if path.name.endswith(".test.yaml") or path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            if _TESTS.match(file.read(_BEGINNING)):
                stem = re.sub(r"[._-]?tests?$", "", path.stem) or policy.stem
                yield path.name, f"{stem}.test.yaml"


_TESTS = re.compile(rb"(?:\s*#[^\n]*\n|\s)*remit_tests\s*:")
_BEGINNING, _MANY = 4096, 200


def examine(path: Path) -> Checked:
    """Everything that can be checked about a policy file. Raises InputError if it isn't there."""
    try:
        rulebook = load_file(path)
    except PolicyError as error:
        return Checked(path, None, error.problems)
    if not any(path.parent.glob("*.test.yaml")):
        return Checked(path, rulebook, ())
    from remit.testing.policy_tests import run_tests  # here: a policy without tests does without

    try:
        return Checked(path, rulebook, (), tuple(run_tests(rulebook, path)))
    except PolicyError as error:
        return Checked(path, rulebook, error.problems)


def counts(book: Book) -> dict[str, int]:
    """How much there is of everything."""
    kinds = [caller.kind for caller in book.callers.values()]
    rules = {(rule.at, rule.verb) for caller in book.callers.values() for rule in caller.rules}
    return {
        "agents": kinds.count("agent"),
        "roles": kinds.count("role"),
        "runners": kinds.count("runner"),
        "tools": len(book.tools),
        "rules": len(rules),
        "never": len(book.never),
        "grants": len(book.grants),
    }


def sizes(book: Book) -> str:
    """The same for people: `3 agents, 15 tools, 1 never`."""
    found = ((word, number) for word, number in counts(book).items() if number)
    return ", ".join(
        counted(number, word.removesuffix("s")) if word.endswith("s") else f"{number} {word}" for word, number in found
    )
