"""What several commands share: finding and loading the policy, and the facts that go with a call."""

from __future__ import annotations

import os
import time
from pathlib import Path

import msgspec

from remit.cli.output import complain, err, out, paint
from remit.model.call import Call
from remit.model.errors import PolicyError, RemitError
from remit.model.facts import Facts
from remit.model.moments import moment, read_moment
from remit.model.rulebook import Rulebook
from remit.model.text import did_you_mean, shown

NAME = "remit.yaml"
FINE, BAD_POLICY, BAD_INPUT, REFUSED = 0, 1, 2, 3


class InputError(RemitError):
    """Bad usage, or input that can't be read: exit code 2."""

    code = "bad-input"


class Opened(msgspec.Struct, frozen=True):
    """A policy file and its rulebook."""

    path: Path
    rulebook: Rulebook


def find_policy(option: Path | None) -> Path:
    """The policy of `--policy`, or the nearest remit.yaml, here or above. Raises InputError."""
    if option is not None:
        return option
    try:
        here = Path.cwd()
    except OSError:
        raise InputError("the working directory does not exist any more") from None
    for folder in (here, *here.parents):
        if os.path.lexists(folder / NAME):
            return folder / NAME if folder != here else Path(NAME)
    raise InputError(f"no {NAME} in {shown(here, 200)} or above it", help="name one with --policy FILE")


def open_policy(option: Path | None, *, machine: bool) -> Opened:
    """The policy, loaded; says which one it is, on stderr where stdout is for a program.

    Raises PolicyError with everything that is wrong, and InputError.
    """
    path = find_policy(option)
    say_policy(path, machine=machine)
    return Opened(path, load(path))


def say_policy(path: Path, *, machine: bool) -> None:
    """Which policy this is about."""
    line = f"policy: {shown(path, 300)}"
    if machine:
        err(line)
    else:
        out(paint(line, "dim") + "\n")


def load(path: Path) -> Rulebook:
    """The rulebook of a file. Raises PolicyError, and InputError for a file that isn't there."""
    from remit.compile import load_rulebook

    if not os.path.lexists(path):
        raise InputError(f"{shown(path, 300)}: no such file", code="no-policy")
    return load_rulebook(path)


def clock() -> str:
    """This moment."""
    return moment(time.time())


class Setting:
    """What stays the same for all calls of one run: the facts, the root, and whether the clock runs."""

    def __init__(self, opened: Opened, *, root: Path | None, facts: Path | None, now: str | None) -> None:
        """Raises InputError for facts, a root or a moment that can't be used."""
        self.rulebook = opened.rulebook
        given = _read_facts(opened.rulebook, facts) if facts is not None else Facts()
        fixed = moment_of(now) if now is not None else given.now
        self.running = fixed is None
        self.resolving = root is not None or given.resolved is None
        if self.resolving:
            given = _rooted(given, opened, root)
        self.facts = given if fixed is None else msgspec.structs.replace(given, now=fixed)

    @property
    def now(self) -> str:
        """The moment that counts."""
        return self.facts.now if self.facts.now is not None else clock()

    def facts_for(self, call: Call) -> Facts:
        """The facts of one call: its paths resolved below an existing root, and the moment."""
        from remit.enforce.paths import look_up

        facts = look_up(self.rulebook, call, self.facts) if self.resolving else self.facts
        return msgspec.structs.replace(facts, now=clock()) if self.running else facts


def _rooted(facts: Facts, opened: Opened, root: Path | None) -> Facts:
    from remit.enforce.paths import open_root

    chosen = root if root is not None else Path(facts.root) if facts.root is not None else None
    try:
        return open_root(chosen, opened.path, facts, policy_root=opened.rulebook.book.root)[1]
    except (OSError, ValueError) as error:
        raise InputError(f"the root can't be used: {getattr(error, 'strerror', None) or error}") from None


def moment_of(text: str) -> str:
    """The moment that `--now` names. Raises InputError."""
    found = read_moment(text)
    if found is None:
        raise InputError(f"--now: `{shown(text)}` is no moment", help="write 2026-11-15 or 2026-11-15T12:00:00Z")
    return found


def _read_facts(rulebook: Rulebook, path: Path) -> Facts:
    from remit.compile.facts import read_facts
    from remit.declare.files import read_text

    name = shown(path, 300)
    try:
        return read_facts(rulebook, read_text(path, name), name)
    except PolicyError as error:
        complain(error)
        raise InputError(f"--facts {name}: can't be used") from None


def known_name(name: str, known: list[str], what: str) -> str:
    """The name itself. Raises InputError with a suggestion if it isn't one of those known."""
    if name in known:
        return name
    raise InputError(f"unknown {what} `{shown(name)}`{did_you_mean(name, known)}", code=f"unknown-{what}")


def listed(text: str | None) -> list[str] | None:
    """The words of `a,b`."""
    return None if text is None else [word.strip() for word in text.split(",") if word.strip()]
