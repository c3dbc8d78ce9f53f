"""Links, questions and broken parts in front of the real Claude Code: nothing runs undecided."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from remit.grant.authority import Authority
from remit.record.vault import Vault
from remit.service.hooks import _listen
from tests.grant.world import open_state
from tests.hosts.claude import Claude
from tests.hosts.fake_model import Use
from tests.hosts.test_claude_code import project, remit, serving_hooks, write

__all__ = ["project"]  # the fixture

pytestmark = pytest.mark.hosts


def state_of(claude: Claude) -> Path:
    [found] = (one for one in (claude.home / "state" / "remit").iterdir() if one.name != "hosts")
    return found


@pytest.mark.parametrize("daemon", [False, True], ids=["alone", "daemon"])
def test_a_link_is_followed_once(project: Claude, daemon: bool):
    """The tool gets the path that was judged: the host runs with the arguments that the hook hands back."""
    (project.project / "notes" / "deep").mkdir(parents=True)
    (project.project / "notes" / "link").symlink_to("deep")
    with serving_hooks(project) if daemon else nullcontext():
        project.run({"main": [write(project, "notes/link/a.txt"), "done"]}, mode="bypassPermissions")
    assert (project.project / "notes" / "deep" / "a.txt").read_text() == "x"
    (project.project / "notes" / "out").symlink_to(project.home)
    project.run({"main": [write(project, "notes/out/b.txt"), "done"]}, mode="bypassPermissions")
    assert not (project.home / "b.txt").exists()


class Approving(list[Any]):
    """A script in which a person approves what waits, between the first try and the second."""

    def __init__(self, claude: Claude, *turns: Any) -> None:
        super().__init__(turns)
        self.claude, self.approved = claude, list[str]()

    def __getitem__(self, turn: Any) -> Any:
        if turn == 1:
            state = state_of(self.claude)
            store = open_state(state)
            authority = Authority(store, Vault(store, state / "keys"))
            self.approved += [authority.answer(one.id, "approve", by="ann").id for one in authority.waiting()]
            store.close()
        return super().__getitem__(turn)


@pytest.mark.parametrize("daemon", [False, True], ids=["alone", "daemon"])
def test_what_waits_is_approved_and_the_retry_passes_once(project: Claude, daemon: bool):
    call = write(project, "docs/a.txt")
    script = Approving(project, call, call, call, "done")
    (project.project / "docs").mkdir()
    with serving_hooks(project) if daemon else nullcontext():
        run = project.run({"main": script}, mode="bypassPermissions")
    assert script.approved == ["A-1"]
    assert [result.is_error for result in run.model.results()] == [True, False, True]
    assert "it waits as A-1" in run.said[0]
    assert "it waits as A-2" in run.said[2]
    assert (project.project / "docs" / "a.txt").exists()
    remit(project, "ledger", "verify")


def no_rulebook(claude: Claude) -> None:
    (claude.project / ".remit" / "rulebook").unlink()


def another_rulebook(claude: Claude) -> None:
    path = claude.project / ".remit" / "rulebook"
    path.write_bytes(path.read_bytes().replace(b"notes/**", b"notes/*_"))


def no_store(claude: Claude) -> None:
    (state_of(claude) / "remit.db").unlink()


def broken_store(claude: Claude) -> None:
    (state_of(claude) / "remit.db").write_bytes(b"junk" * 4096)


def no_record(claude: Claude) -> None:
    (state_of(claude) / "hooks" / "claude-code.json").unlink()


def no_keys(claude: Claude) -> None:
    (state_of(claude) / "keys").rename(state_of(claude) / "lost")


def no_program(claude: Claude) -> None:
    path = claude.home / "state" / "remit" / "hosts" / "claude-code.sh"
    path.write_text(path.read_text().replace("client.py", "gone.py"))


def no_list(claude: Claude) -> None:
    (claude.home / "state" / "remit" / "hosts" / "claude-code.sh").unlink()


BROKEN = [no_rulebook, another_rulebook, no_store, broken_store, no_record, no_keys, no_program, no_list]


@pytest.mark.parametrize("harm", BROKEN, ids=lambda harm: harm.__name__)
def test_the_tool_never_runs_undecided(project: Claude, harm: Callable[[Claude], None]):
    harm(project)
    project.run({"main": [write(project, "notes/a.txt"), Use("Bash", {"command": "touch b"}), "done"]}, mode="dontAsk")
    assert not (project.project / "notes" / "a.txt").exists()
    assert not (project.project / "b").exists()


@contextmanager
def listening(state: Path, answer: bytes | None) -> Iterator[None]:
    """Something that listens in the daemon's place: it says this, or nothing at all."""
    held = []
    with _listen(state) as listener:

        def serve() -> None:
            while True:
                try:
                    link, _ = listener.accept()
                except OSError:
                    return
                held.append(link)
                if answer is not None:
                    link.recv(1 << 16)
                    link.sendall(answer)
                    link.close()

        threading.Thread(target=serve, daemon=True).start()
        yield
        listener.shutdown(socket.SHUT_RDWR)
    for link in held:
        link.close()


@pytest.mark.parametrize("answer", [b"junk", b"{}", None], ids=["junk", "an empty answer", "silence"])
def test_a_daemon_that_is_none_lets_nothing_through(project: Claude, answer: bytes | None):
    with listening(state_of(project), answer):
        run = project.run({"main": [write(project, "notes/a.txt"), "done"]}, mode="bypassPermissions")
    assert not (project.project / "notes" / "a.txt").exists()
    assert "(daemon-failed)" in run.said[0]
