"""A hook without a daemon: the same answer, from the compiled rulebook and straight into the store."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from remit.adapters.hooks.carrier import HookAnswerer
from remit.adapters.hooks.installed import Installed, InstallError, read_installed
from remit.adapters.hosts.interface import Reply
from remit.enforce.attempt import Enforcer
from remit.model.errors import RemitError
from remit.record.open import open_for_hook
from remit.store.open import FILE
from remit.store.place import check_private

PATIENCE = 4.0
"""Seconds that the store may take."""


def answer_alone(host: str, state: str, data: bytes, *, alone: bool = False, failed: str | None = None) -> Reply:
    """The answer to the host. Never raises RemitError.

    `alone`: nobody attends the host. `failed`: what is wrong with the daemon; then it is a deny.
    """
    try:
        place = Path(state)
        check_private(place)
        installed = read_installed(place, host)
        _check_there(place, installed)
        opened = open_for_hook(place, point=host, url=installed.store, timeout=PATIENCE)
    except RemitError as error:
        return HookAnswerer.without(host, data, error)
    enforcer = Enforcer.of_project(Path(installed.root), place, opened.store, opened.ledger)
    answerer = HookAnswerer(host, enforcer, lambda: installed, place)
    if failed is not None:
        reason = f"the daemon of Remit was asked, and {failed}; restart `remit serve`, or stop it"
        return answerer.refuse(data, "daemon-failed", reason).reply
    if installed.daemon:
        from remit.adapters.hooks.start import start_daemon  # here: only the first hook of many needs it

        start_daemon(place)
    answer = answerer.answer(data, alone=alone)
    with suppress(RemitError):  # what is wrong is said to the next question, which is refused
        opened.sign_if_due(waited=answer.decision is not None, ended=answer.ended)
    return answer.reply


def answer_elsewhere(host: str, state: str, data: bytes) -> Reply:
    """The answer to a session outside of the project, which only may not write into it. Never raises RemitError."""
    from remit.adapters.hooks.elsewhere import judge_elsewhere  # here: most sessions are inside, or name no project

    return judge_elsewhere(host, Path(state), data)


def _check_there(state: Path, installed: Installed) -> None:
    """That the ledger is there: a hook begins none in the place of one that was taken away. Raises InstallError."""
    if installed.store is None and not os.path.lexists(state / FILE):
        raise InstallError("the store is gone", help=f"put {state / FILE} back from a copy")
    if not any((state / "keys").glob("*.vkey")):
        raise InstallError("the ledger's keys are gone", code="key-missing", help=f"put {state / 'keys'} back")
