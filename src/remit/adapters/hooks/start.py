"""Starts the daemon of a project in the background, from a hook that found none: the next hooks ask it.

The hook that starts it decides alone, as without a daemon, and waits for nothing. One starts at a time: a lock is
handed to the new process, which lets go of it when it listens or ends.
"""

from __future__ import annotations

import fcntl
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

OFF = "REMIT_DAEMON"
"""The environment variable that keeps hooks from starting one, if it is 0: for jobs that leave no process behind."""
STARTING = "serve.starting"
AGAIN = 30.0
"""Seconds before another try: a daemon that can't start costs no more than that."""
HANDED = 3
"""The descriptor of the lock in the new process."""
MODULE = "remit.service.background"


def start_daemon(state: Path) -> None:
    """A daemon is about to start, if none is and none was tried just now. Never raises: a hook does without it."""
    if os.environ.get(OFF) == "0":
        return
    with suppress(OSError, NotImplementedError):
        handle = os.open(state / STARTING, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            about = os.fstat(handle)
            if about.st_uid != os.geteuid() or (about.st_size and 0 <= time.time() - about.st_mtime < AGAIN):
                return
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.pwrite(handle, b"1", 0)
            os.utime(handle)
            _spawn(state, handle)
        finally:
            os.close(handle)


def _spawn(state: Path, lock: int) -> None:
    """A session of its own, without our files but the lock, in a directory that goes with nothing."""
    words = [sys.executable, "-I", "-m", MODULE, str(state), str(HANDED)]
    env = {name: os.environ[name] for name in ("HOME", "PATH", "LANG", "TZ", "XDG_STATE_HOME") if name in os.environ}
    nowhere = [(os.POSIX_SPAWN_OPEN, number, "/dev/null", os.O_RDWR, 0) for number in (0, 1, 2)]
    handed = (os.POSIX_SPAWN_DUP2, lock, HANDED)  # open in the new process, as only what is handed over is
    os.posix_spawn(sys.executable, words, env, file_actions=[*nowhere, handed], setsid=True)
