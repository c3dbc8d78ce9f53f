"""Which backend confines here: the first whose trial run works, and for globs that mounts can't hold, the overlay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from remit.confine.backends.bubblewrap import Bubblewrap
from remit.confine.backends.landlock import Landlock
from remit.confine.backends.overlay import Overlay
from remit.confine.interface import Backend, Unconfinable
from remit.confine.look import is_exact
from remit.model.profile import Profile


def backends(state: Path) -> tuple[Backend, ...]:
    """All of them, the one that is preferred first. `state` is Remit's own folder."""
    return (Bubblewrap(state), Overlay(state), Landlock(state))


def working(state: Path) -> list[Backend]:
    """Those that work on this machine."""
    return [backend for backend in backends(state) if backend.holds()]


def pick(state: Path, profile: Profile) -> Backend:
    """The backend for a profile. Raises Unconfinable if none holds what the profile needs."""
    able = [backend for backend in working(state) if profile.needs <= backend.holds()]
    if not able:
        said = "; ".join(f"{backend.name}: {line}" for backend in backends(state) for line in backend.lacking()[:1])
        raise Unconfinable(
            f"nothing here can confine `{profile.agent}`: {said}", help="`remit status` says how to get it"
        )
    if not is_exact(profile):
        return next((backend for backend in able if backend.name == "overlay"), able[0])
    return able[0]


def holds(state: Path) -> frozenset[str]:
    """What the best backend here holds; empty: nothing can be confined."""
    able = working(state)
    return able[0].holds() if able else frozenset()


def lines(state: Path) -> Sequence[str]:
    """For `status`: the backend in use, what it can't hold here, and how to get a better one."""
    able = working(state)
    first = f"commands are confined by {able[0].name}" if able else "no command can be confined on this machine"
    found = [first]
    for backend in backends(state):
        found += [f"{backend.name}: {line}" for line in backend.lacking()]
    return found
