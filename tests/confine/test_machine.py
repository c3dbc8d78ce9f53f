"""Commands that change the machine really run confined, as root and as a user, and change nothing; and nothing of
Remit's own is reached.

Decisions rest on this: without a network, and with a private home, such commands are not asked about.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest

from remit.confine.backends.bubblewrap import Bubblewrap
from remit.confine.backends.overlay import Overlay
from remit.confine.interface import Backend
from remit.confine.network import Session
from remit.model.profile import Network
from tests.confine.machine import COMMANDS, installed, snapshot
from tests.confine.places import NOBODY, Site, as_user, profile

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Acting = Callable[[Callable[[Site], Any]], Any]


@pytest.fixture(params=[pytest.param(Bubblewrap, marks=pytest.mark.hosts), Overlay], ids=["bubblewrap", "overlay"])
def backend(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Path], Backend]:
    found: Callable[[Path], Backend] = request.param
    if not found(tmp_path / "trial").holds():
        pytest.skip("this backend does not work here")
    return found


@pytest.fixture(params=["this user", pytest.param("nobody", marks=pytest.mark.more)])
def acting(request: pytest.FixtureRequest, backend: Callable[[Path], Backend]) -> Iterator[Acting]:
    """Runs a function on a site, by the user of the test or by nobody."""
    if request.param == "this user":
        folder = Path(tempfile.mkdtemp(prefix="remit-", dir="/var/tmp"))
        yield lambda function: function(Site(folder, backend))
        shutil.rmtree(folder)
        return
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")
    with as_user(NOBODY, backend) as call:
        yield lambda function: call(lambda site: function(_with_python(site)))


def _with_python(site: Site) -> Site:
    if not os.access(sys.executable, os.X_OK):
        sys.executable = "/usr/bin/python3"  # of a child: nobody can't run this one
    return site


@contextmanager
def _outside(folder: Path) -> Iterator[dict[str, Any]]:
    """What commands try to get at, of the same user: a process, a file, shared memory, a terminal."""
    folder.mkdir()
    (folder / "file").write_text("x")
    process = subprocess.Popen(["sleep", "600"])
    memory = ctypes.CDLL(None).shmget(0, 4096, 0o1600)
    terminal, theirs = os.openpty()
    os.set_blocking(terminal, False)
    try:
        yield {"out": folder, "pid": process.pid, "shm": memory, "tty": os.ttyname(theirs), "reader": terminal}
    finally:
        process.kill()
        process.wait()
        ctypes.CDLL(None).shmctl(memory, 0, 0)
        os.close(terminal)
        os.close(theirs)


def _attempt(site: Site, *, in_session: bool) -> tuple[list[str], list[str], list[str]]:
    """Commands that ended with 0; what of the machine changed; what the outside lost or heard."""
    with _outside(site.folder / "outside") as names:
        reader = names.pop("reader")
        before = snapshot(site.folder / "outside", names["pid"])
        script = "cd src\n"
        for number, command in enumerate(COMMANDS):
            (site.root / "src" / f"{number}.sh").write_text(command.format(**names) + "\n")
            script += f"bash {number}.sh < /dev/null > /dev/null 2>&1 && echo {number}\n"
        place = site.place(unseen=(site.state, site.folder / "outside"))
        if in_session:
            with Session.start(Network("none"), lambda _: None) as session:
                done = site.bash(script, profile(), msgspec.structs.replace(place, join=session.words), PATH=PATH)
        else:
            done = site.bash(script, profile(), place, PATH=PATH)
        after = snapshot(site.folder / "outside", names["pid"])
        lost = []
        if ctypes.CDLL(None).shmctl(names["shm"], 2, ctypes.create_string_buffer(512)) == -1:
            lost.append("shared memory")
        with suppress(BlockingIOError):
            lost.append(f"terminal: {os.read(reader, 100)!r}")
        assert done.returncode in (0, 1), done.stderr
        worked = [COMMANDS[int(line)] for line in done.stdout.split()]
    return worked, [key for key in before if before[key] != after[key]], lost


@pytest.mark.parametrize(
    "in_session", [False, pytest.param(True, marks=pytest.mark.more)], ids=["alone", "in a session"]
)
def test_commands_that_change_the_machine_fail_and_change_nothing(acting: Acting, in_session: bool):
    assert installed(COMMANDS) >= 25, "too few of these programs are here to show anything"
    worked, changed, lost = acting(lambda site: _attempt(site, in_session=in_session))
    assert worked == []
    assert changed == []
    assert lost == []


def test_who_a_command_is_inside(acting: Acting):
    """No root, no capability, no way to get one, no other user's groups."""
    status = acting(lambda site: site.bash("cat /proc/self/status; id -u; id -g", profile()).stdout)
    found = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert {name: found[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == dict.fromkeys(
        ("CapInh", "CapPrm", "CapEff", "CapAmb"), "0" * 16
    )
    assert (found["NoNewPrivs"], found["Seccomp"]) == ("1", "2")
    assert "0" not in status.splitlines()[-2:]


def test_no_descriptor_comes_along_but_the_three(acting: Acting):
    """Also not one that the parent forgot to close on exec."""
    assert acting(_descriptors).split() == ["0", "1", "2", "3"]  # 3 is that of the listing


def _descriptors(site: Site) -> str:
    launch = site.prepare(profile())
    try:
        done = subprocess.run(
            [*launch.words, "ls", "/proc/self/fd"], env=launch.environment, capture_output=True, text=True, check=False
        )
    finally:
        site.backend.finish(profile(), site.place(), launch)
    return done.stdout


# Nothing of Remit's own

MARK = "REMITS-OWN-5d1e"
LOOK = f"""
import os, socket
found = []
for top in os.listdir("/"):
    if top in ("proc", "usr", "lib", "lib64", "bin", "sbin", "sys"):
        continue
    for folder, folders, files in os.walk("/" + top):
        for name in files:
            path = os.path.join(folder, name)
            try:
                if os.path.isfile(path) and os.path.getsize(path) < 10000 and b"{MARK}" in open(path, "rb").read():
                    found.append("read " + path)
                elif not os.path.isfile(path) and not os.path.islink(path):
                    with socket.socket(socket.AF_UNIX) as one:
                        one.connect(path)
                        found.append("reached " + path)
            except OSError:
                pass
print("\\n".join(found), end="")
"""


@pytest.mark.parametrize("where", ["beside the project", "in the project", "in the home", "in a cache", "among tools"])
def test_nothing_of_remits_own_is_read_or_reached(acting: Acting, where: str):
    assert list(acting(lambda site: _look(site, where))) == ["", True]


def _look(site: Site, where: str) -> tuple[str, bool]:
    folder = {
        "beside the project": site.folder / "own",
        "in the project": site.root / ".local/state/remit",
        "in the home": site.home / ".local/state/remit",
        "in a cache": site.home / ".cache/pip/remit",
        "among tools": site.folder / "srv/lib/remit",
    }[where]
    (folder / "keys").mkdir(parents=True)
    (folder / "keys/ledger").write_text(MARK)
    (folder / "remit.db").write_text(MARK)
    (site.folder / "srv/bin").mkdir(parents=True, exist_ok=True)
    (site.root / "src/look.py").write_text(LOOK.replace(MARK, f'" b"{MARK[:5]}" b"{MARK[5:]}'))
    with socket.socket(socket.AF_UNIX) as served:
        with chdir(folder):  # its whole path may be too long for a socket
            served.bind("remit.sock")
        served.listen()
        place = site.place(unseen=(site.state, folder))
        # The same program sees all of it where nothing is confined.
        assert MARK.encode() in (folder / "remit.db").read_bytes()
        chosen = profile(caches=("pip",))
        done = site.bash("python3 src/look.py", chosen, place, PATH=f"{site.folder}/srv/bin:{PATH}")
        served.setblocking(False)
        try:
            served.accept()[0].close()
            untouched = False
        except BlockingIOError:
            untouched = True
    assert done.returncode == 0, done.stderr
    return done.stdout, untouched
