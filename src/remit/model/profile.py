"""The profile: what a confined command may touch, as data that comes from the rulebook alone.

Nothing here looks at the disk. A backend turns a profile into mounts or rules for one place; see `confine`.
"""

from typing import Literal

import msgspec

from remit.model.digest import sha256
from remit.model.policy import Limits as Limits

HOLDS = ("write", "read", "network", "hosts", "processes")
"""What a backend can hold: writes, reads, no network, only some hosts, and that nothing outlives the run."""


HELD = frozenset(HOLDS)
"""For whoever tests or explains a policy: what is confined is decided as if all of it could be held."""
PRIVATE = ("/tmp", "/var/tmp", "/run")  # noqa: S108 (places for mounts)
"""Folders that each command, or session, has for itself: nothing of the machine's own is there."""
GIT_SEALED = (
    ".git/hooks",
    ".git/hooks/**",
    ".git/config",
    ".git/config.*",
    ".git/commondir",
    ".git/modules/**/hooks/**",
    ".git/modules/**/config",
    ".git/modules/**/commondir",
    ".git/worktrees/*/commondir",
    ".git/worktrees/*/gitdir",
    ".git/worktrees/*/config.worktree",
)
"""What is never written in `.git`, also where the rest of it is: from there git takes programs that it runs."""


class Region(msgspec.Struct, frozen=True, omit_defaults=True):
    """Paths below the root, by the policy's own globs; `**` is all of it.

    As in rules, `may` is compared to the letter, and `except` without regard to case and Unicode form."""

    may: tuple[str, ...]
    except_: tuple[str, ...] = msgspec.field(default=(), name="except")


class Network(msgspec.Struct, frozen=True, omit_defaults=True):
    """Nothing, the places of some URL patterns (through the proxy), or everything."""

    mode: Literal["none", "hosts", "open"] = "none"
    urls: tuple[str, ...] = ()
    except_: tuple[str, ...] = msgspec.field(default=(), name="except")
    """Never, though a pattern of `urls` has it: what a prohibition names."""


class Profile(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one agent's commands may touch. A path may be written or read only if every region admits it."""

    agent: str
    write: tuple[Region, ...]
    """Empty: the whole root."""
    read: tuple[Region, ...]
    """Empty: the whole root; the system is readable in any case."""
    protected_names: tuple[str, ...] = ()
    """Names of files and directories that are never written, at any depth."""
    protected_paths: tuple[str, ...] = ()
    """Globs below the root that are never written."""
    unprotected: tuple[str, ...] = ()
    """Globs below the root that the policy has taken out of these (`unsafe_unprotect`)."""
    hidden: tuple[str, ...] = ()
    """Globs below the root (and, with `~/`, of the home) that are not read either."""
    git: bool = False
    """Whether `.git` is written, without its hooks and configuration."""
    network: Network = Network()
    home: Literal["private", "read"] = "private"
    caches: tuple[str, ...] = ()
    """By name (`pip`, `npm`): the catalog says which folders of the home these are."""
    environment: tuple[str, ...] = ()
    """Names of variables that pass."""
    limits: Limits = Limits()

    @property
    def needs(self) -> frozenset[str]:
        """Which of `HOLDS` a backend must hold for all of it to be kept."""
        found = {"write"}
        if self.network.mode != "open":
            found.add("network" if self.network.mode == "none" else "hosts")
        own = {f"**/{name}" for name in self.protected_names}
        if self.read or not own.issuperset(self.hidden):
            found.add("read")
        return frozenset(found)

    @property
    def digest(self) -> str:
        """Of all that it says: what a ledger keeps."""
        return "sha256:" + sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()
