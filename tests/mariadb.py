"""A real MariaDB for tests: a private server on a socket, in memory if possible, stopped at the end.

It needs the programs of Debian's `mariadb-server-core` and `mariadb-client-core`. Tests that want a server are skipped
where they are absent.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.postgres import memory

PROGRAMS = ("mariadbd", "mariadb-install-db", "mariadb")
_PLACES = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin"))


def program(name: str) -> str | None:
    """Where a program of MariaDB is; None if it isn't installed."""
    return shutil.which(name, path=_PLACES)


def missing() -> list[str]:
    """The programs that aren't installed."""
    return [name for name in PROGRAMS if program(name) is None]


class MariaDB:
    """A running server."""

    def __init__(self, socket: Path) -> None:
        self._client = [str(program("mariadb")), "--no-defaults", f"--socket={socket}", "--batch"]

    def run(self, text: str, *, user: str = "root", database: str = "") -> str:
        """Runs statements; what the server complains about, or nothing."""
        command = [*self._client, f"--user={user}", *([database] if database else [])]
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60, check=False)
        if done.returncode == 0:
            return ""
        lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR ")]  # it shows the statement too
        return lines[-1] if lines else f"exit {done.returncode}: {done.stderr}"

    def must(self, text: str, *, database: str = "") -> None:
        """The same as root. Raises RuntimeError for a complaint."""
        problem = self.run(text, database=database)
        if problem:
            raise RuntimeError(problem)


@contextmanager
def running() -> Iterator[MariaDB]:
    """A server as long as the block lasts."""
    daemon = Path(str(program("mariadbd")))
    folder = Path(tempfile.mkdtemp(prefix="remit-maria-", dir=memory()))
    try:
        user = ["--user=root"] if os.geteuid() == 0 else []
        places = [f"--basedir={daemon.parent.parent}", f"--datadir={folder / 'data'}"]
        install = [str(program("mariadb-install-db")), "--no-defaults", *places, *user]
        install += ["--auth-root-authentication-method=normal", "--skip-test-db"]
        subprocess.run(install, check=True, capture_output=True, timeout=120)
        socket = folder / "socket"
        options = ["--skip-networking", f"--socket={socket}", f"--pid-file={folder / 'pid'}", *user]
        options += ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=16M", "--performance-schema=OFF"]
        with (folder / "log").open("wb") as log:
            server = subprocess.Popen([str(daemon), "--no-defaults", *places, *options], stdout=log, stderr=log)
        try:
            _wait(server, socket, folder / "log")
            yield MariaDB(socket)
        finally:
            server.terminate()
            try:
                server.wait(30)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait(server: subprocess.Popen[bytes], socket: Path, log: Path) -> None:
    """Until the server answers. Raises RuntimeError if it doesn't."""
    until = time.monotonic() + 60
    while server.poll() is None and time.monotonic() < until:
        if socket.exists() and not MariaDB(socket).run("SELECT 1"):
            return
        time.sleep(0.1)
    raise RuntimeError(f"mariadbd does not answer: {log.read_text(errors='replace')[-2000:]}")
