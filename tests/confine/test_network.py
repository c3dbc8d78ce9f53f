"""The namespaces of a session, with real programs in them: what they reach, what they can't, and that they end."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from remit.confine import holder, network
from remit.confine.destinations import Contact
from remit.confine.interface import Unconfinable
from remit.confine.network import Session, variables
from remit.model.profile import Network
from tests.confine.servers import WAIT, certified, serving

pytestmark = pytest.mark.skipif(network.fault() is not None, reason=f"no namespaces here: {network.fault()}")

curl = pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
git = pytest.mark.skipif(not shutil.which("git"), reason="needs git")


class Files(http.server.SimpleHTTPRequestHandler):
    """A folder of files, in silence."""

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """Files that are served on this machine's loopback, outside of every session."""
    where = tmp_path / "served"
    where.mkdir()
    (where / "hello.txt").write_text("hello\n")
    (where / "secret.txt").write_text("secret\n")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=str(where))) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield where, server.server_port
        server.shutdown()
        thread.join()


def start(*urls: str, record=lambda contact: None) -> Session:
    return Session.start(Network(mode="hosts", urls=urls), record)


def inside(session: Session, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", **session.variables, **more}
    return subprocess.run(
        [*session.words, *words], capture_output=True, text=True, timeout=WAIT, env=environment, check=False
    )


@curl
def test_curl_reaches_what_the_policy_names_and_nothing_else(folder, tmp_path):
    port = folder[1]
    contacts: list[Contact] = []
    with start(f"http://localhost:{port}/hello.*", record=contacts.append) as session:
        assert inside(session, "curl", "-sS", f"http://localhost:{port}/hello.txt").stdout == "hello\n"
        for url in (f"http://localhost:{port}/secret.txt", "http://x.example/", "http://169.254.169.254/latest"):
            refused = inside(session, "curl", "-sS", url)
            assert refused.stdout == f"Remit: the command could not reach `{url}`: no rule of the policy allows it\n"
        tunnel = inside(session, "curl", "-sS", "https://x.example/")
        assert (tunnel.returncode, "403" in tunnel.stderr) == (56, True)
        around = inside(session, "curl", "-sS", "--noproxy", "*", f"http://localhost:{port}/hello.txt")
        assert around.returncode == 7, "the loopback inside is another one"
        assert session.contacts() == contacts
    assert [(each.verdict, each.target) for each in contacts] == [
        ("allowed", f"http://localhost:{port}/hello.txt"),
        ("refused", f"http://localhost:{port}/secret.txt"),
        ("refused", "http://x.example/"),
        ("refused", "http://169.254.169.254/latest"),
        ("refused", "x.example:443"),
    ]


@curl
def test_curl_speaks_tls_through_a_tunnel(tmp_path):
    context, trust = certified(tmp_path, "localhost")
    with serving(context=context) as server, start(f"https://localhost:{server.port}/**") as session:
        answer = inside(session, "curl", "-sS", "--cacert", str(trust), f"https://localhost:{server.port}/")
        assert (answer.stdout, answer.stderr) == ("hello", "")


@git
def test_git_clones_over_http(folder, tmp_path):
    where, port = folder
    work, made = tmp_path / "work", ["git", "-c", "user.name=x", "-c", "user.email=x@x.example"]
    for words in (
        ["init", "-q", str(work)],
        ["-C", str(work), "commit", "-q", "--allow-empty", "-m", "first"],
        ["clone", "-q", "--bare", str(work), str(where / "repo.git")],
        ["-C", str(where / "repo.git"), "update-server-info"],
    ):
        subprocess.run([*made, *words], check=True, capture_output=True)
    with start(f"http://localhost:{port}/repo.git/**") as session:
        cloned = inside(session, "git", "clone", "-q", f"http://localhost:{port}/repo.git", str(tmp_path / "clone"))
        assert (cloned.returncode, cloned.stderr) == (0, "")
        other = inside(session, "git", "clone", "-q", f"http://localhost:{port}/other.git", str(tmp_path / "other"))
        assert other.returncode == 128
        assert "403" in other.stderr
    assert (tmp_path / "clone" / ".git" / "HEAD").exists()


@pytest.mark.more
def test_pip_installs_from_an_index_and_from_no_other(folder, tmp_path):
    where, port = folder
    index = where / "simple" / "thing"
    index.mkdir(parents=True)
    with zipfile.ZipFile(index / "thing-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("thing.py", "x = 1\n")
        wheel.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        wheel.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("thing-1.0.dist-info/RECORD", "")
    (index / "index.html").write_text('<a href="thing-1.0-py3-none-any.whl">thing</a>')
    pip = f"-m pip --isolated --retries 0 --disable-pip-version-check download --no-cache-dir -d {tmp_path}".split()
    pip = [sys.executable, *pip, "--trusted-host", "localhost", "thing", "--index-url"]
    with start(f"http://localhost:{port}/simple/**") as session:
        done = inside(session, *pip, f"http://localhost:{port}/simple")
        assert done.returncode == 0, done.stderr
        refused = inside(session, *pip, "https://pypi.example/simple")
        assert refused.returncode == 1
        assert session.contacts()[-1].message.startswith("Remit: the command could not reach `pypi.example:443`: ")
    assert (tmp_path / "thing-1.0-py3-none-any.whl").exists()


DIRECT = """
import socket, sys
family, kind = getattr(socket, sys.argv[1]), getattr(socket, sys.argv[2])
link = socket.socket(family, kind)
link.settimeout(5)
try:
    link.connect((sys.argv[3], int(sys.argv[4])))
    link.send(b"x")
except OSError as error:
    print(type(error).__name__, error.errno)
else:
    print("reached")
"""


def test_nothing_is_reached_directly(folder):
    """TCP, UDP and names; the machine's loopback is another one, and so are its abstract sockets."""
    port = folder[1]
    with socket.socket(socket.AF_UNIX) as abstract, start(f"http://localhost:{port}/**") as session:
        abstract.bind(f"\0remit-test-{os.getpid()}")
        abstract.listen()
        for words in (
            ("AF_INET", "SOCK_STREAM", "127.0.0.1", str(port)),
            ("AF_INET", "SOCK_STREAM", "192.0.2.1", "80"),
            ("AF_INET", "SOCK_DGRAM", "192.0.2.1", "53"),
            ("AF_INET6", "SOCK_DGRAM", "2001:db8::1", "53"),
        ):
            got = inside(session, sys.executable, "-I", "-S", "-c", DIRECT, *words).stdout.split()
            assert got[0] in ("OSError", "ConnectionRefusedError"), words
        named = inside(
            session,
            sys.executable,
            "-I",
            "-S",
            "-c",
            "import socket, sys; link = socket.socket(socket.AF_UNIX); link.connect('\\0' + sys.argv[1])",
            f"remit-test-{os.getpid()}",
        )
        assert "ConnectionRefusedError" in named.stderr
        looked_up = inside(
            session, sys.executable, "-I", "-S", "-c", "import socket; socket.gethostbyname('x.example')"
        )
        assert "gaierror" in looked_up.stderr


SERVER = """
import socket
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
server.accept()[0].send(b"hello")
"""


def test_a_server_of_one_command_is_reached_by_the_next():
    with (
        start("https://x.example/**") as session,
        subprocess.Popen(
            [*session.words, sys.executable, "-I", "-c", SERVER], stdout=subprocess.PIPE, text=True
        ) as running,
    ):
        assert running.stdout is not None
        port = running.stdout.readline().strip()
        client = "import socket, sys; print(socket.create_connection(('127.0.0.1', int(sys.argv[1]))).recv(9).decode())"
        assert inside(session, sys.executable, "-I", "-c", client, port).stdout == "hello\n"
        with pytest.raises(ConnectionError):
            socket.create_connection(("127.0.0.1", int(port)), 1)


def survivors(token: str) -> list[str]:
    """Processes that name the token on their command line and still run."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and token.encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
        except OSError:
            continue
    return found


def gone(token: str) -> bool:
    deadline = time.monotonic() + WAIT
    while survivors(token) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not survivors(token)


# Leaves its group, its session and its parent, ignores what can be ignored, and has a user namespace of its own.
STUBBORN = """
import ctypes, os, signal, sys, time
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        if sys.argv[2] == "apart":
            ctypes.CDLL(None).unshare(0x10000000)
        print("running", flush=True)
        time.sleep(600)
"""


@pytest.mark.parametrize("mode", ["none", "open"])
@pytest.mark.parametrize("how", ["together", "apart"])
def test_nothing_survives_the_session(mode, how):
    token = f"remit-{os.urandom(8).hex()}"
    with Session.start(Network(mode=mode), lambda contact: None) as session:
        running = subprocess.Popen(
            [*session.words, sys.executable, "-I", "-S", "-c", STUBBORN, token, how], stdout=subprocess.PIPE
        )
        assert running.stdout is not None
        assert running.stdout.readline() == b"running\n"
        running.stdout.close()
        running.wait()
        assert survivors(token)
    assert gone(token)
    assert not session.is_alive


OWNER = """
import subprocess, sys, time
from remit.confine.network import Session
from remit.model.profile import Network
session = Session.start(Network(), print)
subprocess.Popen([*session.words, "sleep", sys.argv[1]])
print(session.pid, flush=True)
time.sleep(600)
"""


def killed_owner() -> tuple[int, str]:
    """The holder of a session whose owner was killed, and what its command is known by."""
    token = f"600.{int.from_bytes(os.urandom(6), 'big')}"
    owner = subprocess.Popen([sys.executable, "-c", OWNER, token], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    owner.stdout.close()
    return pid, token


def test_nothing_survives_an_owner_that_is_killed():
    assert gone(killed_owner()[1])


@pytest.mark.more
def test_the_holder_does_not_survive_an_owner_that_is_killed():
    pid, _ = killed_owner()
    command = Path(f"/proc/{pid}/cmdline")
    deadline = time.monotonic() + WAIT
    while command.exists() and b"holder" in command.read_bytes():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_holder_that_is_killed_closes_the_session_and_takes_its_commands_along():
    token = f"600.{int.from_bytes(os.urandom(6), 'big')}"
    with start("https://x.example/**") as session:
        words = [*session.words, "sh", "-c", f"echo running; exec sleep {token}"]
        running = subprocess.Popen(words, stdout=subprocess.PIPE)
        assert running.stdout is not None
        assert running.stdout.readline() == b"running\n"
        running.stdout.close()
        os.kill(session.pid, signal.SIGKILL)
        while session.is_alive:
            time.sleep(0.02)
        assert inside(session, "true").returncode != 0, "nobody joins a session that is gone"
        session.close()
        assert running.wait(WAIT) == -signal.SIGKILL
    assert gone(token)


def test_words_whose_process_is_another_one_now_join_nothing():
    """A number given again to a process outside: the network of this machine must not be what is joined."""
    with start("https://x.example/**") as session:
        words = [str(os.getpid()) if word == str(session.pid) else word for word in session.words]
    ran = subprocess.run([*words, "true"], capture_output=True, check=False)
    assert ran.returncode != 0


def test_inside_one_is_who_one_is_and_has_no_power_over_the_network():
    with start("https://x.example/**") as session:
        for who in ("-u", "-g"):
            assert inside(session, "id", who).stdout == subprocess.check_output(["id", who], text=True)
        if os.geteuid() != 0:
            assert inside(session, "grep", "CapEff", "/proc/self/status").stdout.split()[1].strip("0") == ""


def test_a_bad_pattern_starts_nothing():
    with pytest.raises(ValueError, match="not of the form"):
        start("not a pattern")


def test_no_namespaces_is_an_error_with_a_reason(monkeypatch):
    monkeypatch.setattr(holder, "__file__", "/nonexistent.py")
    with pytest.raises(Unconfinable, match="can't be made") as caught:
        start("https://x.example/**")
    assert caught.value.code == "confine-unavailable"


def test_variables_lead_to_the_proxy_and_around_it_for_the_own_loopback():
    usual = variables(Network(mode="hosts", urls=("https://x.example/**",)), 8080)
    assert usual["https_proxy"] == usual["HTTPS_PROXY"] == "http://127.0.0.1:8080"
    assert usual["no_proxy"] == "localhost,127.0.0.1,::1"
    assert variables(Network(mode="hosts", urls=("http://localhost:1/**",)), 8080)["no_proxy"] == "127.0.0.1,::1"


TUNNEL = """
import socket, sys
link = socket.create_connection(("127.0.0.1", int(sys.argv[1].rpartition(":")[2])))
link.sendall(b"CONNECT y.example:%d HTTP/1.1\\r\\nHost: y.example\\r\\n\\r\\n" % int(sys.argv[2]))
link.recv(99)
"""


def test_marks_divide_what_was_reached():
    with start("https://x.example/**") as session:
        for port in ("1", "2"):
            mark = session.mark
            inside(session, sys.executable, "-I", "-c", TUNNEL, session.variables["http_proxy"], port)
            assert session.contacts(mark) == [
                Contact("refused", "CONNECT", f"y.example:{port}", "not-in-policy", "no rule of the policy allows it")
            ]
