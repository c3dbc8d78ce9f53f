"""What a call is judged against besides the policy: where the project lies, and what no call may change.

Both are looked up for each call, since they change under a daemon that runs on: another project is installed, an agent
starts to work in a worktree.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

from remit.adapters.hooks.installed import Installed
from remit.adapters.hooks.roots import sealed_places
from remit.adapters.hooks.worktrees import place_in_worktree
from remit.adapters.hosts.interface import Host, RunsConfined
from remit.enforce.attempt import Enforcer
from remit.model.rulebook import Rulebook

MANY = 64


class Grounds:
    """The enforcers of one host of one project, by where it lies. Safe to use from many threads."""

    def __init__(self, enforcer: Enforcer, state: Path, host: Host | None = None) -> None:
        """Without a host no command runs, and so none confined."""
        self._enforcer, self._state, self._host = enforcer, state, host
        self._confines = False
        """The policy wants commands confined."""
        self._sealed: tuple[object, tuple[str, ...]] = (None, ())
        self._known: dict[tuple[str, tuple[str, ...], str | None], Enforcer] = {}

    def at(self, installed: Installed, cwd: str | None) -> Enforcer:
        """The one that judges a call made there."""
        sealed = self._sealed_places(installed)
        place = place_in_worktree(installed.root, cwd) if cwd is not None else None
        if place is not None:
            sealed = (*sealed, installed.root)
        key = (place or installed.root, sealed, self._in_the_way(installed) if self._confines else None)
        found = self._known.get(key)
        if found is None:
            if len(self._known) >= MANY:
                self._known.clear()
            found = self._known[key] = self._enforcer.at(
                Path(key[0]), self._state, sealed, partial(self._confined, installed)
            )
        return found

    def _confined(self, installed: Installed, rulebook: Rulebook) -> tuple[frozenset[str], str | None]:
        """What is held of a command that the host runs confined; if nothing is, why."""
        if not confines(rulebook):
            return frozenset(), None
        self._confines = True
        why = self._in_the_way(installed)
        if why is not None:
            return frozenset(), why
        from remit.confine import pick  # here: most policies confine nothing
        from remit.confine.interface import state_for

        own = state_for(self._state)
        held = pick.holds(own)
        return held, None if held else pick.lines(own)[0]

    def _in_the_way(self, installed: Installed) -> str | None:
        host: object = self._host
        if isinstance(host, RunsConfined):
            return host.unconfinable(installed)
        return f"{installed.host} can't run commands confined"

    def _sealed_places(self, installed: Installed) -> tuple[str, ...]:
        """Read again when a list of projects, or the record, has changed."""
        try:
            changed = os.stat(self._state.parent / "hosts").st_mtime_ns  # lists are put there whole
        except OSError:
            changed = 0
        mark, found = self._sealed
        if mark != (now := (changed, installed)):
            found = sealed_places(self._state, installed)
            self._sealed = (now, found)
        return found


def confines(rulebook: Rulebook) -> bool:
    """Whether some agent's commands are to run confined."""
    book = rulebook.book
    return any(caller.confine not in (None, "off") for caller in book.callers.values())


def mirrored(installed: Installed, cwd: str | None) -> list[str]:
    """The project's folders of definitions, where a worktree has them, too."""
    place = place_in_worktree(installed.root, cwd) if cwd is not None else None
    if place is None:
        return []
    inside = [one for one in installed.definitions if os.path.commonpath((one, installed.root)) == installed.root]
    return [os.path.join(place, os.path.relpath(one, installed.root)) for one in inside]
