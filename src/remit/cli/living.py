"""What the commands of living authority share: the project's store, the rulebook that counts, and the person.

People act under the activated rulebook where there is one, and otherwise under the policy file as it is.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec
import typer

from remit.cli.common import InputError, find_policy
from remit.cli.ledger.lines import out_ascii
from remit.cli.ledger.user import user_name
from remit.cli.output import complain, err, out, paint
from remit.cli.person import read_secret
from remit.cli.stdin import person_there
from remit.compile.load import load_file
from remit.enforce.in_force import ledger_settings, read_in_force
from remit.grant.authority import Authority
from remit.grant.person import Signatory, needs_none, prove_person, without_credential
from remit.model.errors import RemitError
from remit.model.policy import Caller
from remit.model.rulebook import Book, Rulebook
from remit.model.text import shown
from remit.record.errors import LedgerError
from remit.record.open import Opened, OpenLog, open_ledger, open_log
from remit.store.errors import StoreError

POINT = "remit"


class Living(msgspec.Struct, frozen=True):
    """The authority of one project, opened."""

    path: Path
    root: Path
    opened: OpenLog
    authority: Authority

    def rulebook(self, *, machine: bool) -> tuple[Rulebook, Book | None]:
        """The one that counts, and the activated book if it is that one; says which. Raises RemitError."""
        force = read_in_force(self.root, self.opened.store)
        rulebook = load_file(self.path) if force.activation is None else force.usable()
        _say_which(self.path, "activated" if force.rulebook is not None else "file", rulebook, machine=machine)
        return rulebook, rulebook.book if force.rulebook is not None else None

    def book(self, *, machine: bool) -> Book | None:
        """The activated book if there is one; for taking authority back and answering no policy has to be usable."""
        return self._usable(machine=machine)[1]

    def callers(self) -> dict[str, Caller] | None:
        """Whom the policy that counts knows, activated or not; None if it is not usable."""
        rulebook, _ = self._usable(machine=True)
        return rulebook.book.callers if rulebook is not None else None

    def _usable(self, *, machine: bool) -> tuple[Rulebook | None, Book | None]:
        try:
            return self.rulebook(machine=machine)
        except StoreError:
            raise
        except RemitError as error:
            complain(error)
            return None, None

    def record(self, kind: str, about: dict[str, Any]) -> None:
        """Records that a person did something. Raises LedgerError; only within `to_change`."""
        if not isinstance(self.opened, Opened):
            raise LedgerError("the ledger is open only for reading", code="bad-entry")
        self.opened.ledger.event(kind, about)

    def person(
        self, book: Book | None, doing: str, *, may: frozenset[str], who: str | None = None, yes: bool = False
    ) -> Signatory:
        """Who does it, proved by the passphrase. Raises RemitError.

        `may` are the roles that let somebody do it, `who` says who they are, where the policy names people.
        """
        if not needs_none(book):
            login = user_name(None)
            return prove_person(self.opened.store, book, name=login, doing=doing, read=read_secret, may=may, who=who)
        if not yes:
            _agree(doing)
        return without_credential(user_name(None))


def out_data(value: Any) -> None:
    """A value for programs, in ASCII: a terminal that shows it is not steered by what it holds."""
    out_ascii(msgspec.to_builtins(value))


def _agree(doing: str) -> None:
    """Where no passphrase is needed, somebody still says yes."""
    if not person_there():
        raise InputError("nobody can be asked here: add --yes")
    if not typer.confirm(f"{doing}?", err=True):
        raise InputError("nothing was done", code="not-agreed")


def _say_which(path: Path, which: Literal["activated", "file"], rulebook: Rulebook, *, machine: bool) -> None:
    what = "the activated policy" if which == "activated" else f"{shown(path, 300)} as it is; nothing is activated"
    line = f"policy: {what} ({rulebook.hash[:19]}…)"
    if machine:
        err(line)
    else:
        out(paint(line, "dim") + "\n")


def find_project(option: Path | None) -> tuple[Path, Path]:
    """The policy file, and its folder. Raises InputError."""
    path = find_policy(option)
    if not os.path.lexists(path):
        raise InputError(f"{shown(path, 300)}: no such file", code="no-policy")
    return path, path.absolute().parent


@contextmanager
def to_change(option: Path | None) -> Iterator[Living]:
    """For commands that give, answer or end. Raises RemitError."""
    path, root = find_project(option)
    with open_ledger(root, point=POINT, settings=ledger_settings(root)) as opened:
        for warning in opened.warnings:
            err(f"remit: {warning}")
        yield Living(path, root, opened, Authority(opened.store, opened.vault))


@contextmanager
def to_look(option: Path | None) -> Iterator[Living | None]:
    """For commands that only show; None where nothing has been recorded yet. Raises RemitError."""
    path, root = find_project(option)
    try:
        opened = open_log(root)
    except LedgerError as error:
        if error.code != "no-ledger":
            raise
        yield None
        return
    with opened:
        opened.remember_states()
        yield Living(path, root, opened, Authority(opened.store, opened.vault))


def must_look(found: Living | None, what: str, name: str) -> Living:
    """The same where a name was given that can't be known without a store. Raises InputError."""
    if found is None:
        raise InputError(f"there is no {what} `{shown(name)}`: nothing has been recorded yet", code=f"unknown-{what}")
    return found
