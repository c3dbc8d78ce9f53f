"""Commands that bubblewrap confines, in the namespaces of one session: as root, and as an ordinary user."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from remit.confine.backends.bubblewrap import Bubblewrap
from remit.confine.network import Session
from remit.model.profile import Network
from tests.confine.places import NOBODY, Site, as_user, profile
from tests.confine.servers import WAIT

pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed"),
]
SYSTEM_PYTHON = "/usr/bin/python3"


class Files(http.server.SimpleHTTPRequestHandler):
    """A folder of files, in silence."""

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def files(folder: Path) -> Iterator[int]:
    """The port at which a folder is served, on this machine's loopback."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture(params=["this user", "nobody"])
def acting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[Callable[[Site], Any]], Any]]:
    if request.param == "this user":
        yield lambda function: function(Site(tmp_path, Bubblewrap))
        return
    if os.geteuid() != 0 or not os.path.exists(SYSTEM_PYTHON):
        pytest.skip("only root can act as nobody, who needs the system's Python")

    def as_nobody(function: Callable[[Site], Any]) -> Callable[[Site], Any]:
        def inner(site: Site) -> Any:
            sys.executable = SYSTEM_PYTHON  # in a child: nobody may not be able to run this one
            return function(site)

        return inner

    with as_user(NOBODY, Bubblewrap) as call:
        yield lambda function: call(as_nobody(function))


def test_commands_reach_some_hosts_and_each_other(acting):
    def attempt(site: Site) -> Any:
        with files(site.root / "docs") as port:
            allowed = Network(mode="hosts", urls=(f"http://localhost:{port}/a.md",))
            held = profile(network=allowed)
            with Session.start(allowed, lambda contact: None) as session:
                place = site.place(join=session.words, proxy=session.variables)
                found = [
                    site.bash(text, held, place).stdout
                    for text in (
                        f"curl -sS http://localhost:{port}/a.md",
                        f"wget -qO- http://localhost:{port}/a.md",
                        f"curl -sS http://localhost:{port}/other.md | cut -c1-30",
                        f"curl -sS --noproxy '*' http://localhost:{port}/a.md 2>&1 | cut -c1-35",
                        "ip -o link | wc -l; ip link set lo down 2>&1 | tail -1; cat /proc/self/status | grep CapEff",
                    )
                ]
                launch = site.prepare(held, place)
                words = [*launch.words, SYSTEM_PYTHON, "-m", "http.server", "8123"]
                server = subprocess.Popen(words, cwd=site.root, env=launch.environment, stderr=subprocess.DEVNULL)
                text = "curl -s --retry 50 --retry-connrefused --retry-delay 1 http://127.0.0.1:8123/docs/a.md"
                found.append(site.bash(text, held, place).stdout)
                server_ran = server.poll() is None
            return [*found, server_ran, server.wait(WAIT)]

    assert acting(attempt) == [
        "# a\n",
        "# a\n",
        "Remit: the command could not r\n",
        "curl: (7) Failed to connect to loca\n",
        "1\nRTNETLINK answers: Operation not permitted\nCapEff:\t0000000000000000\n",
        "# a\n",
        True,
        -9,
    ]


def test_what_leaves_its_command_ends_with_the_session(acting):
    def attempt(site: Site) -> Any:
        token = f"600.{int.from_bytes(os.urandom(6), 'big')}"
        with Session.start(Network(), lambda contact: None) as session:
            place = site.place(join=session.words)
            launch = site.prepare(profile(), place)
            words = [*launch.words, "bash", "-c", f"setsid setsid sleep {token} & echo on; sleep {token}"]
            running = subprocess.Popen(words, cwd=site.root, env=launch.environment, stdout=subprocess.PIPE)
            assert running.stdout is not None
            running.stdout.readline()
            running.stdout.close()
            began = subprocess.run(["pgrep", "-fc", f"sleep {token}"], capture_output=True, text=True).stdout
        deadline = time.monotonic() + WAIT
        while subprocess.run(["pgrep", "-f", f"sleep {token}"], capture_output=True).returncode == 0:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return int(began) >= 2, running.wait(WAIT)

    assert list(acting(attempt)) == [True, -9]


@pytest.mark.skipif(not shutil.which("node"), reason="needs Node.js")
def test_nodes_own_fetch_goes_through_the_proxy_where_it_knows_how(tmp_path):
    """`NODE_USE_ENV_PROXY` is known from 22.21 and 24.0 on; before, `fetch` fails, and reaches nothing either way."""
    site = Site(tmp_path, Bubblewrap)
    version = subprocess.check_output(["node", "--version"], text=True).lstrip("v").split(".")
    knows = (int(version[0]), int(version[1])) >= (22, 21) and int(version[0]) != 23
    with files(site.root / "docs") as port:
        allowed = Network(mode="hosts", urls=(f"http://localhost:{port}/**",))
        with Session.start(allowed, lambda contact: None) as session:
            place = site.place(join=session.words, proxy=session.variables)
            text = (
                f"fetch('http://localhost:{port}/a.md').then(a => a.text()).then(console.log, e => console.log('none'))"
            )
            done = site.bash(f'node -e "{text}" 2>/dev/null', profile(network=allowed), place)
    assert done.stdout == ("# a\n\n" if knows else "none\n")
