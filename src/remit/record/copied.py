"""Looking at a ledger that this process may only read: on a read-only disk, of another user, or a copy of one.

SQLite reads a database with a write-ahead log only where it can write beside it. So the files are copied to a private
folder, which goes when the log is closed. Nothing is written beside the original, not even a lock.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

from remit.record.errors import LedgerError
from remit.record.open import OpenLog, Settings, no_settings, stored_origin
from remit.store.errors import StoreBusy, StoreError, from_os_error
from remit.store.open import FILE, open_store
from remit.store.place import check_private, check_private_file

NAMES = (FILE, f"{FILE}-wal")
TRIES = 5


def must_be_copied(state: Path) -> bool:
    """Whether the ledger in a state directory can't be opened where it lies, as it is not this user's to write to."""
    try:
        check_private(state)
        check_private_file(state / FILE)
    except StoreError:
        return os.path.lexists(state / FILE)
    return os.path.lexists(state / FILE) and not all(os.access(path, os.W_OK) for path in (state, state / FILE))


class CopiedLog(OpenLog):
    """A log whose store is a private copy; its keys are read where they lie."""

    def __init__(self, state: Path, settings: Settings = no_settings) -> None:
        """Raises LedgerError and StoreError."""
        self._folder = Path(tempfile.mkdtemp(prefix="remit-copy-"))
        try:
            _copy(state, self._folder)
            store = open_store(None, self._folder)
            try:
                origin = stored_origin(store)
                if origin is None:
                    raise LedgerError("there is no ledger here yet", code="no-ledger")
                super().__init__(state, store, origin, settings)
                _ = self.log
            except BaseException:
                store.close()
                raise
        except BaseException:
            self._remove()
            raise

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._remove()

    def _remove(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)


def _copy(state: Path, folder: Path) -> None:
    """Copies the files as they are at one moment. Raises StoreError: somebody goes on writing to them."""
    for _ in range(TRIES):
        before = _stamps(state)
        try:
            for name in NAMES:
                (folder / name).unlink(missing_ok=True)
                if before[name] is not None:
                    shutil.copyfile(state / name, folder / name)
                    (folder / name).chmod(0o600)
        except FileNotFoundError:
            continue  # it was closed meanwhile
        except OSError as error:
            raise from_os_error(error, f"read `{state}`") from error
        if _stamps(state) == before:
            return
        time.sleep(0.2)
    raise StoreBusy(f"`{state}` is written to all the time, so it can't be copied", help="run this as its owner")


def _stamps(state: Path) -> dict[str, tuple[int, ...] | None]:
    found: dict[str, tuple[int, ...] | None] = {}
    for name in NAMES:
        try:
            seen = os.stat(state / name)
        except FileNotFoundError:
            found[name] = None
        except OSError as error:
            raise from_os_error(error, f"read `{state}`") from error
        else:
            found[name] = (seen.st_ino, seen.st_size, seen.st_mtime_ns)
    return found
