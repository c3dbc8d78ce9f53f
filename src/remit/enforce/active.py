"""The rulebook in force: the one that a person activated, read again when it changes.

The file lies in the workspace, where programs of the project write; its digest lies in the store, outside of it. A file
that is not the one that was activated last is not obeyed.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import NamedTuple

from remit.compile.file import read_rulebook, rulebook_path
from remit.grant.activation import newest_activation
from remit.model.errors import RulebookError
from remit.model.rulebook import Rulebook
from remit.store.interface import Store

PAUSES = (0.05, 0.2)


class _Seen(NamedTuple):
    mark: tuple[int, ...]
    digest: str
    rulebook: Rulebook


class Active:
    """The activated rulebook of a project. Safe to use from many threads."""

    def __init__(self, root: Path, store: Store) -> None:
        self.path, self.store = rulebook_path(root), store
        self._seen: _Seen | None = None

    def rulebook(self) -> Rulebook:
        """What is in force now. Raises RulebookError and StoreError."""
        for pause in PAUSES:
            try:
                return self._rulebook()
            except RulebookError as error:
                if error.code != "not-activated":
                    raise
                time.sleep(pause)  # an activation may be just between its entry and its file
        return self._rulebook()

    def _rulebook(self) -> Rulebook:
        with self.store.read() as view:
            newest = newest_activation(view)
        if newest is None:
            raise RulebookError("no policy is activated", code="no-rulebook", help="a person runs `remit activate`")
        mark, seen = self._mark(), self._seen
        if seen is not None and seen.mark == mark and seen.digest == newest.digest:
            return seen.rulebook
        rulebook = read_rulebook(self.path, digest=newest.digest)
        self._seen = _Seen(mark, newest.digest, rulebook)
        return rulebook

    def _mark(self) -> tuple[int, ...]:
        """What changes when the file does, or when others get at it."""
        try:
            file, folder = os.lstat(self.path), os.stat(self.path.parent)
        except OSError:
            return ()
        return (file.st_ino, file.st_mtime_ns, file.st_ctime_ns, file.st_size, folder.st_ctime_ns, folder.st_mode)
