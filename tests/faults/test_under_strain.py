"""Rows 23, 26, 27, 31, 32: a node that is cut off, clients that are slow, many or talk rubbish, memory, privileges."""

from __future__ import annotations

import os
import random
import resource
import shlex
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import pytest

from remit import Guard
from remit.adapters.hooks.client import SOCKET
from remit.enforce.errors import CallDenied
from remit.record.audit import audit
from remit.record.open import open_ledger
from remit.store import open_store
from remit.store.errors import StoreError
from tests.adapters.hooks.project import Project
from tests.postgres import Postgres, running
from tests.record.project import Project as Plain
from tests.record.project import allow, deny
from tests.record.test_witness import Log as WatchedLog
from tests.record.test_witness import Served

WRITE = {"file_path": "docs/new.md", "content": "New.\n"}
POLICY = {"remit": 1, "name": "strained", "agents": {"a": {"may": ["ping"]}}}


def _guard(folder: Path, ran: list[int]) -> tuple[Guard, Callable[..., Any]]:
    (folder / "root").mkdir(exist_ok=True)
    guard = Guard(POLICY, root=folder / "root", state=folder / "state")
    return guard, guard.tool("ping", does={"network": "https://a.example/**"}, tier=1)(lambda: ran.append(1))


@pytest.mark.more
@pytest.mark.filterwarnings("ignore::remit.record.errors.LedgerWarning")
def test_row_23_a_node_that_is_cut_off_denies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """It decides nothing by itself: whatever was revoked elsewhere meanwhile, nothing begins."""
    with running(durable=True) as server:
        monkeypatch.setenv("REMIT_STORE", server.uri_of(server.new_database()))
        ran: list[int] = []
        guard, ping = _guard(tmp_path, ran)
        with guard, guard.agent("a"):
            ping()
            server.crash()
            for _ in range(2):
                with pytest.raises(CallDenied) as caught:
                    ping()
                assert caught.value.decision.code in ("ledger-unavailable", "store-unavailable")
            assert ran == [1]
            server.restart()
            ping()
            assert ran == [1, 1]


def _connect(project: Project) -> socket.socket:
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here = Path.cwd()
    os.chdir(project.state)
    try:
        link.connect(SOCKET)
    finally:
        os.chdir(here)
    link.settimeout(60)
    return link


@pytest.mark.more
def test_row_26_clients_that_say_nothing_keep_nobody_from_an_answer(tmp_path: Path):
    project = Project(tmp_path)
    with project.serving() as daemon:
        silent = [_connect(project) for _ in range(60)]
        for link in silent[::2]:
            link.sendall(b"remit-hook 2 claude-code alone 0123456789abcdef 9999\n{")
        assert project.ask("Write", WRITE).decision == "allow"
        more = [_connect(project) for _ in range(40)]  # more than there is room for: a hook then decides by itself
        assert project.ask("Write", WRITE).decision == "allow"
        assert daemon.poll() is None
        for link in (*silent, *more):
            link.close()
        assert project.ask("Write", WRITE).decision == "allow"
    project.verify()


RUBBISH = 200


@pytest.mark.more
def test_row_27_rubbish_gets_no_answer_and_breaks_nothing(tmp_path: Path):
    """The daemon's only interface: a line and a document. Whatever else arrives, it goes on."""
    project, chance = Project(tmp_path), random.Random(27)  # noqa: S311
    whole = b'{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Write","tool_input":{}}'
    with project.serving() as daemon:
        for number in range(RUBBISH):
            data = bytearray(b"remit-hook 2 claude-code alone 0123456789abcdef %d\n" % len(whole) + whole)
            for _ in range(chance.randint(1, 12)):
                match number % 4:
                    case 0:
                        data[chance.randrange(len(data))] = chance.randrange(256)
                    case 1:
                        del data[chance.randrange(len(data)) :]
                        data += b"\n"
                    case 2:
                        data[chance.randrange(len(data)) : 0] = chance.randbytes(chance.randint(1, 40))
                    case _:
                        data = bytearray(chance.randbytes(chance.randint(1, 400)))
            with _connect(project) as link:
                link.sendall(bytes(data))
                link.shutdown(socket.SHUT_WR)
                answer = link.recv(1 << 16)
            assert b'"allow"' not in answer
        assert daemon.poll() is None
        assert project.ask("Write", WRITE).decision == "allow"
    project.verify()


@pytest.fixture
def witness(tmp_path: Path) -> Iterator[Served]:
    found = Served(tmp_path / "w")
    yield found
    found.close()


def _said(witness: Served, data: bytes) -> bytes:
    """What the witness answers to these bytes, until it closes the connection."""
    found = b""
    with socket.create_connection(("127.0.0.1", witness.server.server_port), timeout=60) as link, suppress(OSError):
        link.sendall(data)
        link.shutdown(socket.SHUT_WR)
        while more := link.recv(1 << 16):
            found += more
    return found


POST = b"POST /add-checkpoint HTTP/1.1\r\nHost: w\r\n"


def _answered(witness: Served, data: bytes) -> bytes:
    """What it said. Who closes a connection with bytes unread may have its answer thrown away on the way: once more."""
    return next((said for said in (_said(witness, data) for _ in range(50)) if said), b"")


def test_row_26_headers_without_end_and_many_requests_at_once(witness: Served):
    """The witness is the only part that listens to a network."""
    log = WatchedLog()
    witness.witness.watch([log.vkey])
    assert b" 431 " in _answered(witness, POST + b"X: %s\r\n\r\n" % (b"a" * 100_000))
    assert b" 431 " in _answered(witness, POST + b"".join(b"X-%d: a\r\n" % n for n in range(1000)) + b"\r\n")
    assert b" 414 " in _answered(witness, b"POST /%s HTTP/1.1\r\n\r\n" % (b"a" * 100_000))
    body = log.request(0, 1)
    whole = POST + b"Content-Length: %d\r\n\r\n" % len(body) + body
    assert _said(witness, whole * 20).count(b"HTTP/1.") == 1, "one connection is one request"
    assert witness.post(log.request(1, 2))[0] == 200


def test_row_27_rubbish_to_a_witness_is_refused(witness: Served, capfd: pytest.CaptureFixture[str]):
    log, chance = WatchedLog(), random.Random(28)  # noqa: S311
    witness.witness.watch([log.vkey])
    body = log.request(0, 5)
    whole = POST + b"Content-Length: %d\r\n\r\n" % len(body) + body
    for _ in range(RUBBISH):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(data))
            data[at : at + chance.choice((0, 1, 40))] = chance.randbytes(chance.choice((0, 1, 3)))
        answer = _said(witness, bytes(data))
        assert b" 200 " not in answer[:20] or _is_harmless(bytes(data), whole)
        assert b" 500 " not in answer[:20]
    assert witness.post(log.request(0, 5))[0] in (200, 409)
    assert "Traceback" not in capfd.readouterr().err


def _is_harmless(data: bytes, whole: bytes) -> bool:
    """Only headers changed that nobody looks at."""
    return data.partition(b"\r\n\r\n")[2].startswith(whole.partition(b"\r\n\r\n")[2])


CALLS = """
import resource, sys
from pathlib import Path
from remit import Guard
policy = {"remit": 1, "name": "soak", "agents": {"a": {"may": ["look", "ping"]}}}
guard = Guard(policy, root=Path(sys.argv[1]), state=Path(sys.argv[2]))
def same(n: int) -> int:
    return n
look = guard.tool("look", does="nothing")(same)
ping = guard.tool("ping", does={"network": "https://a.example/**"}, tier=1)(same)
def rss():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
def some(count):
    for n in range(count):
        look(n)
        if n % 20 == 0:
            ping(n)
    guard.flush()
with guard.start().agent("a"):
    some(int(sys.argv[3]))
    before = rss()
    some(4 * int(sys.argv[3]))
    print(before, rss())
guard.close()
"""


@pytest.mark.long
def test_row_31_memory_stays_flat(tmp_path: Path):
    """60,000 calls. A day under load is left to those who have a machine for it."""
    (tmp_path / "root").mkdir()
    words = [sys.executable, "-c", CALLS, str(tmp_path / "root"), str(tmp_path / "state"), "12000"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=1800, check=True)
    before, after = map(int, done.stdout.split())
    print(f"{before / 2**20:.1f} MiB after 12,000 calls, {after / 2**20:.1f} MiB after 60,000")
    assert after - before < 16 * 2**20


@pytest.mark.more
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_row_32_it_needs_no_privilege_and_no_network(tmp_path: Path):
    """A Guard as nobody, without a network, in a project that it can't write to, with few files and processes."""
    tmp_path.chmod(0o755)
    for above in tmp_path.parents:
        if above == Path(tempfile.gettempdir()):
            break
        above.chmod(0o755)
    (tmp_path / "root").mkdir(mode=0o755)
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    os.chown(state, 65534, 65534)

    def become_nobody() -> None:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

    program = CALLS.replace("with open", "assert __import__('os').geteuid() == 65534\n    with open")
    words = ["unshare", "--net", sys.executable, "-c", program, str(tmp_path / "root"), str(state), "20"]
    env = {"PATH": os.environ["PATH"], "HOME": str(state), "PYTHONDONTWRITEBYTECODE": "1"}
    probe = subprocess.run(["unshare", "--net", "true"], capture_output=True, check=False)
    if probe.returncode:
        words = words[2:]
    else:  # a network of its own needs root; what runs in it does not
        words = ["unshare", "--net", "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words[2:]]
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        timeout=300,
        env=env,
        check=False,
        preexec_fn=None if words[0] == "unshare" else become_nobody,
    )
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "root").iterdir()) == []


@pytest.mark.more
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount")
def test_row_32_everything_but_the_state_is_read_only(tmp_path: Path):
    """As a service that is shut in runs: no file outside of the state directory can be written."""
    (tmp_path / "root").mkdir()
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    shut = 'mount --bind {0} {0} && mount -o remount,bind,ro / && ! touch {1}/x 2>/dev/null && exec "$@"'
    wrapped = ["unshare", "--mount", "sh", "-c", shut.format(shlex.quote(str(state)), shlex.quote(str(tmp_path))), "sh"]
    if subprocess.run([*wrapped, "true"], capture_output=True, check=False).returncode:
        pytest.skip("nothing can be mounted here")
    words = [sys.executable, "-c", CALLS, str(tmp_path / "root"), str(state), "20"]
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "root"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([*wrapped, *words], capture_output=True, text=True, timeout=300, env=env, check=False)
    assert done.returncode == 0, done.stderr
    with open_ledger(tmp_path / "root", point="test", state=state) as opened:
        assert audit(opened.log, opened.signer).verified


GRANTS = """
CREATE ROLE app LOGIN;
GRANT USAGE ON SCHEMA remit TO app;
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA remit TO app;
REVOKE UPDATE, DELETE ON remit.leaf, remit.checkpoint, remit.activation, remit.migration FROM app;
REVOKE DELETE ON remit.head, remit.ask, remit.capsule FROM app;
"""


def test_row_32_a_role_of_the_database_that_can_not_change_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: Postgres
):
    """An administrator makes the tables; the program's own role only adds to the log, and can't drop its triggers."""
    name = postgres.new_database()
    (tmp_path / "made").mkdir(mode=0o700)
    open_store(postgres.uri_of(name), tmp_path / "made").close()
    with postgres.connect(name, autocommit=True) as admin:
        admin.execute(GRANTS.replace("app", f"app_{name}").encode())
    url = postgres.uri_of(name).replace("postgres:@", f"app_{name}:@")
    project = Plain(tmp_path, monkeypatch)
    monkeypatch.setenv("REMIT_STORE", url)
    with open_ledger(project.root, point="test") as opened:
        deny(opened)
        opened.ledger.outcome(allow(opened, tier=2).call, "done")
        opened.checkpoint()
        assert audit(opened.log, opened.signer).verified
        for sql in ("UPDATE leaf SET subject = NULL", "DELETE FROM checkpoint", "UPDATE activation SET person = ''"):
            with pytest.raises(StoreError, match="permission denied"), opened.store.write() as change:
                change.run(sql)
    with psycopg.connect(url) as link, pytest.raises(psycopg.Error):
        link.execute("DROP TRIGGER leaf_only_add ON remit.leaf")
