"""What a backend is: it turns a profile into the start of one command, and tells afterwards what the run changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from remit.model.errors import RemitError
from remit.model.profile import Profile


class Unconfinable(RemitError):
    """No backend can hold this profile here: nothing has run."""

    code = "confine-unavailable"


class Place(msgspec.Struct, frozen=True):
    """Where a command runs: absolute paths, links followed."""

    root: Path
    cwd: Path
    state: Path
    """A folder of Remit's own, private, for launch files, overlays and what a sweep moves aside."""
    unseen: tuple[Path, ...] = ()
    """What nothing inside may reach: Remit's state, its sockets and keys."""
    sealed: tuple[Path, ...] = ()
    """What nothing inside may write: the program that enforces, the configuration of hosts."""
    scratch: Path | None = None
    """A folder that is `/tmp` inside, kept between the runs of a session by who made it; None: a new one each run."""
    join: tuple[str, ...] = ()
    """Words that enter the namespaces of the session, before those of a backend: `Session.words` of `confine.network`.

    With them the network is as the profile says already: the backend makes no network namespace of its own.
    Empty: a backend makes one, with nothing in it, unless the profile's network is open.
    """
    proxy: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """Variables that lead programs to the session's proxy: `Session.variables`; a profile with hosts needs them."""


class Launch(msgspec.Struct, frozen=True):
    """How a command is started: these words before its own, in this environment, with nothing of Python between."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    directory: Path
    """What `finish` needs, and removes."""
    behind: tuple[str, ...] = ()
    """Fewer words, for a shell that opens `filter` for them as descriptor 8, to read, and `first` as 9, to write: that
    saves a program. Empty: `words`."""
    filter: str = ""
    first: str = ""
    fragile: tuple[str, ...] = ()
    """Files with a mount of their own: when somebody outside replaces one meanwhile, the run could write the new one.
    Whoever runs a command for long watches them, and ends it when one is replaced."""
    narrower: tuple[str, ...] = ()
    """Globs of which this launch admits less than the policy does."""


class Change(msgspec.Struct, frozen=True):
    """One path below the root that a run changed, and how."""

    path: str
    how: str
    """`written`, `deleted`, `linked`."""


class Backend(Protocol):
    """One way to confine."""

    name: str

    def holds(self) -> frozenset[str]:
        """Which of `HOLDS` it holds on this machine, found by a trial run; empty: it doesn't work here."""

    def lacking(self) -> Sequence[str]:
        """What it can't hold here and how to get a better one, in words for `status`."""

    def refuses_setuid(self) -> bool:
        """Whether no file can get a setuid or setgid bit in a run: nobody has to look for such files then."""

    def prepare(self, profile: Profile, place: Place, environment: Mapping[str, str]) -> Launch:
        """The start of a command. Raises Unconfinable."""

    def finish(self, profile: Profile, place: Place, launch: Launch) -> Sequence[Change] | None:
        """After the run: gives back what was put aside, commits what is judged; None: it can't tell what changed."""


def state_for(state: Path) -> Path:
    """The folder of confinement in a project's state directory: `Place.state`."""
    return state / "confine"
