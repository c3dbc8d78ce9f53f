"""Where an installation belongs: the project, its state, and the host."""

from __future__ import annotations

import os
from pathlib import Path

from remit.adapters.hosts import registry
from remit.adapters.hosts.interface import OUTSIDE, Host, Where
from remit.adapters.hosts.setup import Setup
from remit.adapters.install.files import EditError
from remit.model.text import as_text, shown
from remit.store.place import state_directory


class Place:
    """One host of one project."""

    def __init__(self, host: str, policy: Path) -> None:
        """Raises UnknownHost, EditError without a directory, and StoreError for a state directory that is not safe."""
        self.host: Host = registry.find(host)
        self.setup: Setup = self.host.setup()
        try:
            self.root = Path(os.path.realpath(policy.parent))
        except (OSError, ValueError) as error:
            raise EditError(f"{shown(policy, 300)}: {error}") from None
        if not self.root.is_dir():
            raise EditError(f"{shown(self.root, 300)}: no such directory", code="no-policy")
        if as_text(str(self.root)) != str(self.root):
            help_ = "rename the folder: settings of hosts are UTF-8 and can't name it"
            raise EditError(f"{shown(self.root, 300)}: its name is not UTF-8", code="not-utf8", help=help_)
        self.policy = self.root / policy.name
        self.state = state_directory(self.root)

    def settings(self, where: Where) -> Path:
        """The settings there; of those outside, the file that a symlink leads to.

        Raises RemitError if the host has none, or if those outside lie in the project after all.
        """
        path = self.setup.settings_path(self.root, where)
        if where not in OUTSIDE:
            return path
        path = Path(os.path.realpath(path))
        if self.root == path.parent or self.root in path.parents:
            help_ = "keep these settings elsewhere, or put remit.yaml into another directory"
            raise EditError(f"{shown(path, 300)}: lies in the project, where agents write", code="inside", help=help_)
        return path

    def base(self, path: Path) -> Path:
        """The directory that a file must lie in: the project, or for settings outside the one that they are in."""
        return self.root if self.root in path.parents else path.parent

    @property
    def name(self) -> str:
        """The host's name."""
        return self.host.name
