"""A daemon that hooks start themselves: one at a time, only for this user, and gone when nothing needs it."""

from __future__ import annotations

import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest

from remit.adapters.hooks.client import SOCKET
from remit.adapters.hooks.installed import read_installed, remove_installed, write_installed
from remit.adapters.hooks.start import STARTING
from tests.adapters.hooks.project import HOST, Project

READ = {"file_path": "README.md"}


def peer(state: Path) -> int | None:
    """The process that listens; None if none does."""
    here = os.getcwd()
    with socket.socket(socket.AF_UNIX) as link:
        try:
            os.chdir(state)
            link.connect(SOCKET)
        except OSError:
            return None
        finally:
            os.chdir(here)
        found = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        return int(struct.unpack("3i", found)[0])


def until(what: Callable[[], object], seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.1)


def alive(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.fixture
def starting(tmp_path: Path) -> Iterator[Project]:
    found = Project(tmp_path)
    write_installed(found.state, msgspec.structs.replace(read_installed(found.state, HOST), daemon=True))
    yield found
    for place in (found.state, found.state.with_name("moved")):
        process = peer(place) if place.exists() else None
        if process is not None:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def serving(project: Project) -> int:
    until(lambda: peer(project.state))
    found = peer(project.state)
    assert found is not None
    return found


def test_the_first_hook_starts_it_and_the_next_ask_it(starting: Project):
    questions = [starting.question("Read", READ) for _ in range(3)]
    assert starting.run(questions[0]).decision == "allow"
    process = serving(starting)
    assert [starting.run(one).decision for one in questions[1:]] == ["allow", "allow"]
    first, *rest = [starting.intent(one)["writer"] for one in questions]
    assert len(set(rest)) == 1
    assert first not in rest
    os.kill(process, signal.SIGTERM)
    until(lambda: not alive(process))
    starting.verify()


def test_many_hooks_at_once_start_one(starting: Project):
    questions = [starting.question("Read", READ) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert {said.decision for said in pool.map(starting.run, questions)} == {"allow"}
    process = serving(starting)
    starts = [one for one in starting.entries() if one["type"] == "start" and one.get("point") == "serve"]
    assert len(starts) == 1
    os.kill(process, signal.SIGTERM)
    until(lambda: not alive(process))
    starting.verify()


def test_one_that_was_killed_is_done_without_and_then_replaced(starting: Project):
    starting.ask("Read", READ)
    process = serving(starting)
    os.kill(process, signal.SIGKILL)
    until(lambda: not alive(process))
    assert starting.ask("Read", READ).decision == "allow"
    assert starting.ask("Write", {"file_path": ".git/x", "content": ""}).decision == "deny"
    assert peer(starting.state) is None  # not before some time has passed
    os.utime(starting.state / STARTING, (0, 0))
    starting.ask("Read", READ)
    assert serving(starting) != process


def test_one_that_hangs_lets_nothing_through(starting: Project):
    starting.ask("Read", READ)
    process = serving(starting)
    os.kill(process, signal.SIGSTOP)
    try:
        said = starting.run(starting.question("Read", READ), command=starting.impatient(PATIENCE=0.5))
        said.denied("(daemon-failed)")
    finally:
        os.kill(process, signal.SIGCONT)


def test_it_ends_when_its_folder_goes(starting: Project):
    starting.ask("Read", READ)
    process = serving(starting)
    starting.state.rename(starting.state.with_name("moved"))
    until(lambda: not alive(process))


BEGIN = "import sys, types; from pathlib import Path; from remit.service.background import main; "


def background(project: Project, more: str) -> subprocess.Popen[bytes]:
    env = {**os.environ, "XDG_STATE_HOME": str(project.folder / "state")}
    return subprocess.Popen([sys.executable, "-c", BEGIN + more, str(project.state)], env=env)


def test_it_ends_when_nobody_asks(starting: Project):
    process = background(starting, "sys.exit(main(Path(sys.argv[1]), idle=1, look=0.1))")
    assert process.wait(90) == 0
    assert peer(starting.state) is None


def test_it_ends_with_the_installation(starting: Project):
    starting.ask("Read", READ)
    process = serving(starting)
    remove_installed(starting.state, starting.host.name)
    until(lambda: not alive(process))


def test_none_is_started_where_nobody_wants_one(starting: Project):
    starting.run(starting.question("Read", READ), env=starting.environment(REMIT_DAEMON="0"))
    assert not (starting.state / "serve.starting").exists()
    starting.ask("Read", READ)
    assert (starting.state / "serve.starting").exists()


def test_it_ends_when_its_code_changes(starting: Project):
    module = starting.folder / "part.py"
    module.write_text("")
    load = f"part = types.ModuleType('remit.part'); part.__file__ = {str(module)!r}; sys.modules['remit.part'] = part; "
    process = background(starting, load + "sys.exit(main(Path(sys.argv[1]), look=0.1))")
    serving(starting)
    module.write_text("changed = 1")
    assert process.wait(90) == 0


def test_a_second_one_ends_at_once(starting: Project):
    starting.ask("Read", READ)
    process = serving(starting)
    assert background(starting, "sys.exit(main(Path(sys.argv[1])))").wait(90) == 1
    assert peer(starting.state) == process


@pytest.mark.parametrize("what", ["file", "link", "folder", "nobody"])
def test_something_else_in_the_place_of_its_socket_is_done_without(
    starting: Project, what: str, monkeypatch: pytest.MonkeyPatch
):
    place = starting.state / SOCKET
    if what == "file":
        place.write_text("x")
    elif what == "link":
        place.symlink_to("/dev/null")
    elif what == "folder":
        place.mkdir()
    else:
        monkeypatch.chdir(starting.state)
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(SOCKET)
        monkeypatch.undo()
    assert starting.ask("Read", READ).decision == "allow"
    assert starting.ask("Write", {"file_path": ".git/x", "content": ""}).decision == "deny"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a socket of another user")
def test_another_users_socket_lets_nothing_through(starting: Project):
    program = (
        "import os, socket, sys; os.chdir(sys.argv[1]); s = socket.socket(socket.AF_UNIX); s.bind('serve.sock'); "
        "os.setuid(65534); s.listen(); print('ready', flush=True); s.accept()[0].recv(1)"
    )
    process = subprocess.Popen([sys.executable, "-c", program, str(starting.state)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        starting.ask("Read", READ).denied("(daemon-failed)", "another user's")
    finally:
        process.kill()
        process.communicate()


def test_without_the_flag_nothing_starts(tmp_path: Path):
    project = Project(tmp_path)
    project.ask("Read", READ)
    assert not (project.state / STARTING).exists()
    assert json.loads((project.state / "hooks" / f"{HOST}.json").read_text())["daemon"] is False
