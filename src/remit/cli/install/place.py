"""Where an installation belongs: the project, its state, and the host's own directories."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import msgspec

from remit.cli.common import InputError, find_policy, known_name
from remit.exchange.claude.host import HOST
from remit.model.text import shown

HOSTS = [HOST]


class Place(msgspec.Struct, frozen=True):
    """One host of one project."""

    host: str
    root: Path
    """The policy's directory, with symlinks followed."""
    policy: Path
    state: Path
    user: Path
    """The host's configuration of the user."""

    @property
    def definitions(self) -> tuple[str, ...]:
        """The directories that the host takes agents' definitions from: it also looks above the project."""
        folders = [self.root / ".claude", self.user, *(parent / ".claude" for parent in self.root.parents)]
        return tuple(dict.fromkeys(str(folder / "agents") for folder in folders))

    def settings(self, local: bool) -> Path:
        """The settings file of the project."""
        return self.root / ".claude" / ("settings.local.json" if local else "settings.json")


def find_place(host: str, option: Path | None, *, policy_needed: bool) -> Place:
    """Raises InputError for an unknown host, or without a policy; StoreError for a state directory that is not safe."""
    from remit.store.place import state_directory

    known_name(host, HOSTS, "host")
    found = find_policy(option)
    if policy_needed and not os.path.lexists(found):
        raise InputError(f"{shown(found, 300)}: no such file", code="no-policy")
    try:
        root = Path(os.path.realpath(found.parent))
    except (OSError, ValueError) as error:
        raise InputError(f"{shown(found, 300)}: {error}") from None
    if not root.is_dir():
        raise InputError(f"{shown(root, 300)}: no such directory", code="no-policy")
    return Place(host, root, root / found.name, state_directory(root), _user())


def _user() -> Path:
    """`~/.claude`, by the password database; CLAUDE_CONFIG_DIR counts, since the host obeys it."""
    given = os.environ.get("CLAUDE_CONFIG_DIR", "")
    if os.path.isabs(given):
        return Path(os.path.normpath(given))
    try:
        return Path(pwd.getpwuid(os.geteuid()).pw_dir) / ".claude"
    except KeyError:
        raise InputError("this user has no entry in the password database, so no home directory") from None
