"""`python -m remit.service.background STATE LOCK`: the daemon that a hook started; it ends by itself.

It ends when nobody has asked for a while, when its state folder or its socket is no longer there, when Remit is no
longer installed, and when the code that it runs was changed or removed. The policy in force is looked up for each
question: another one needs no restart.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from remit.adapters.hooks.installed import InstallError, read_installed
from remit.adapters.hosts import registry
from remit.model.errors import RemitError
from remit.service.daemon import Daemon
from remit.store.place import check_private

IDLE = 15 * 60.0
"""Seconds without a question."""
Mark = tuple[int, int, int] | None
LOOK = 2.0
"""Seconds between two looks at what it stands on."""


def main(state: Path, *, lock: int | None = None, idle: float = IDLE, look: float = LOOK) -> int:
    """Serves until one of the reasons to end; 1 if it could not begin.

    `lock` is the descriptor that whoever starts it hands over, and that is closed when it listens.
    """
    asked, code = [time.monotonic()], _code()
    try:
        check_private(state)
        root = _root(state)
        with Daemon(root, lambda *_: asked.append(time.monotonic()), on_fault=lambda _: None, state=state) as daemon:
            if lock is not None:
                os.close(lock)  # others may start one, when this one has gone
            watch = threading.Thread(
                target=_watch, args=(daemon, asked, code, idle, look), name="remit-watch", daemon=True
            )
            watch.start()
            daemon.serve()
    except RemitError:
        return 1  # hooks decide alone, and say what is wrong
    return 0


def _root(state: Path) -> Path:
    """The project, as an installation in any host says. Raises InstallError."""
    for host in registry.names():
        with suppress(InstallError):
            return Path(read_installed(state, host).root)
    raise InstallError("nothing is installed here")


def _watch(daemon: Daemon, asked: list[float], code: dict[str, Mark], idle: float, look: float) -> None:
    socket = _mark(daemon.server.path)
    while True:
        time.sleep(look)
        del asked[:-1]
        gone = socket is None or _mark(daemon.server.path) != socket or not _is_installed(daemon.state)
        if gone or time.monotonic() - asked[-1] > idle or any(_mark(Path(file)) != mark for file, mark in code.items()):
            daemon.stop()
            return


def _is_installed(state: Path) -> bool:
    try:
        _root(state)
    except InstallError:
        return False
    return True


def _mark(path: Path) -> Mark:
    """What tells a file from another one in its place."""
    try:
        about = os.lstat(path)
    except OSError:
        return None
    return (about.st_dev, about.st_ino, about.st_mtime_ns)


def _code() -> dict[str, Mark]:
    """The files of ours that are loaded, and the interpreter."""
    files = [
        getattr(module, "__file__", None) for name, module in list(sys.modules.items()) if name.startswith("remit")
    ]
    return {file: _mark(Path(file)) for file in (*files, sys.executable) if file}


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), lock=int(sys.argv[2])))
