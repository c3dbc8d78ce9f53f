"""The real Landlock: what it holds, what it can't, and that its rules are about what was looked at."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.confine import network, restrict
from remit.confine.backends import landlock
from remit.confine.backends.landlock import Landlock, in_process
from remit.confine.interface import Launch, Unconfinable
from remit.confine.trial import Trial
from remit.model.profile import Limits, Network, Region
from tests.confine.places import NOBODY, Site, as_user, profile

SYSTEM_PYTHON = "/usr/bin/python3"
Acting = Callable[[Callable[[Site], Any]], Any]

pytestmark = [
    pytest.mark.skipif(restrict.abi() < restrict.NEEDED, reason=f"the kernel has version {restrict.abi()} of Landlock"),
    pytest.mark.skipif(not restrict.known_machine(), reason="system calls of this machine are not known"),
    pytest.mark.skipif(os.geteuid() == 0 and not os.path.exists(SYSTEM_PYTHON), reason="nobody has no Python here"),
]


@pytest.fixture
def acting(tmp_path: Path) -> Iterator[Acting]:
    """Runs a function on a site of an ordinary user: this one, or if that is root, nobody."""
    if os.geteuid() != 0:
        yield lambda function: function(Site(tmp_path, Landlock))
        return

    def as_nobody(function: Callable[[Site], Any]) -> Callable[[Site], Any]:
        def inner(site: Site) -> Any:
            sys.executable = SYSTEM_PYTHON  # of a child; nobody may not be able to run this one
            vars(landlock)["session_trial"] = lambda state: Trial(works=network.fault() is None)
            return function(site)

        return inner

    with as_user(NOBODY, Landlock) as call:
        yield lambda function: call(as_nobody(function))


def test_what_it_holds_and_what_it_lacks(acting: Acting) -> None:
    holds, lacking = acting(lambda site: (sorted(site.backend.holds()), list(site.backend.lacking())))
    assert set(holds) - {"hosts"} == {"network", "read", "write"}
    assert any("Unix sockets" in line for line in lacking)


@pytest.mark.skipif(os.geteuid() != 0, reason="about root")
def test_root_is_refused(tmp_path: Path) -> None:
    site = Site(tmp_path, Landlock)
    assert site.backend.holds() == frozenset()
    with pytest.raises(Unconfinable, match="Landlock does not confine root"):
        site.prepare(profile())


def test_writes_stay_where_they_may_be(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        (site.folder / "outside").mkdir()
        site.bash(f"echo x > src/new; echo x >> src/a.py; echo x > {site.folder}/outside/x; echo x > ~/x", profile())
        site.bash("echo x > docs/b.md; echo x > src/b.py", profile("docs/**"))
        site.bash("mkdir -p src/a/b; mv src/new src/a/b/; ln src/a.py src/a/c; rm src/a/b/new", profile())
        return site.files(), os.listdir(site.folder / "outside"), os.listdir(site.home)

    files, outside, home = acting(attempt)
    assert files["src/a.py"] == "print('a')\nx\n"
    assert files["src/a/c"] == files["src/a.py"]
    assert "docs/b.md" in files
    assert "src/b.py" not in files
    assert "src/a/b/new" not in files
    assert (outside, home) == ([], [])


PROTECTED = [
    "echo x > .claude/settings.json",
    "echo x > .claude/new",
    ": > remit.yaml",
    "truncate -s 0 remit.yaml",
    "rm -rf .claude",
    "mv .claude gone",
    "mv remit.yaml src/",
    "ln remit.yaml src/alias && echo x > src/alias",
    "ln -s ../remit.yaml src/link; echo x > src/link",
    "mkdir .codex && echo x > .codex/config.toml",
    "echo x > CLAUDE.md",
    "echo x > src/y; mv src/y CLAUDE.md",
    "echo x > .git/hooks/pre-commit",
    "git config core.pager ./src/a.py",
    "echo x > .git/commondir",
    "mv .git g; cp -r g .git",
    f"{SYSTEM_PYTHON} -c 'import os; os.truncate(\"remit.yaml\", 0)'",
    "cp /bin/true remit.yaml",
    "sed -i s/1/2/ remit.yaml",
    "cd src && echo x > /proc/self/cwd/../remit.yaml",
    "exec 3<remit.yaml; echo x > /proc/self/fd/3",
    "exec 3<.; echo x > /proc/self/fd/3/remit.yaml",
    "unshare -Urm sh -c 'mount --bind src .claude; echo x > .claude/x'",
]


@pytest.fixture(scope="module")
def protected() -> dict[str, bool]:
    """For each command, whether it left everything protected as it was: in one process, for speed."""

    def attempt(site: Site) -> dict[str, bool]:
        def state() -> Any:
            git = [(site.root / ".git" / name).read_text() for name in ("hooks/pre-commit", "config")]
            return (
                {path: text for path, text in site.files().items() if not path.startswith(("src/", "docs/"))},
                git,
                sorted(os.listdir(site.root)),
                (site.root / ".git/commondir").exists(),
            )

        before, found = state(), {}
        for text in PROTECTED:
            done = site.bash(f"({text}); echo ran", profile())
            found[text] = done.stdout.endswith("ran\n") and state() == before
            shutil.rmtree(site.root / "src")
            (site.root / "src").mkdir()
            (site.root / "src/a.py").write_text("print('a')\n")
        return found

    if os.geteuid() != 0:
        folder = Path(tempfile.mkdtemp(prefix="remit-"))
        try:
            return attempt(Site(folder, Landlock))
        finally:
            shutil.rmtree(folder)

    def as_nobody(site: Site) -> dict[str, bool]:
        sys.executable = SYSTEM_PYTHON
        vars(landlock)["session_trial"] = lambda state: Trial(works=False)
        return attempt(site)

    with as_user(NOBODY, Landlock) as call:
        return dict(call(as_nobody))


@pytest.mark.parametrize("text", PROTECTED)
def test_what_is_protected_stays_as_it_is(protected: dict[str, bool], text: str) -> None:
    assert protected[text]


def test_reads_are_limited(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        (site.folder / "other").mkdir()
        (site.folder / "other/secret").write_text("secret")
        (site.home / ".ssh").mkdir()
        (site.home / ".ssh/id").write_text("secret")
        (site.root / "src/.env").write_text("secret")
        (site.state / "key").write_text("secret")
        hidden = profile(hidden=("**/.env",))
        text = f"cat {site.folder}/other/secret {site.home}/.ssh/id {site.state}/key src/.env src/a.py; ls {site.state}"
        found = [
            site.bash(text, hidden).stdout,
            site.bash(f"cat {site.home}/.ssh/id docs/a.md", profile(home="read")).stdout,
        ]
        found.append(site.bash("cat src/a.py; cat docs/a.md", profile("docs/**", read=(Region(("docs/**",)),))).stdout)
        return found

    assert acting(attempt) == ["print('a')\n", "# a\n", "# a\n"]


SOCKETS = f"""{SYSTEM_PYTHON} - <<'END'
import ctypes, os, socket
for family, kind, protocol in (
    (socket.AF_INET, 1, 0), (socket.AF_INET, 2, 0), (socket.AF_INET6, 2, 0), (socket.AF_UNIX, 1, 0),
    (socket.AF_UNIX, 2, 0), (socket.AF_PACKET, 3, 0), (40, 1, 0), (38, 5, 0),
    (socket.AF_NETLINK, 3, 0), (socket.AF_NETLINK, 3, 9),
):
    try:
        socket.socket(family, kind, protocol).close()
        print("made", end=" ")
    except OSError as error:
        print(error.errno, end=" ")
socket.socketpair()
for number in (425, 248 if os.uname().machine == "x86_64" else 217):  # io_uring_setup, add_key
    print(ctypes.CDLL(None, use_errno=True).syscall(number, 1, 0, 0, 0, 0), ctypes.get_errno(), end=" ")
END"""


@pytest.mark.skipif(not os.path.exists(SYSTEM_PYTHON), reason="needs the system's Python")
def test_sockets(acting: Acting) -> None:
    """None of them, but netlink's for routes; with an open network IP's too. Pairs are no way out."""
    plain, opened = acting(
        lambda site: [site.bash(SOCKETS, profile(network=Network(mode=mode))).stdout for mode in ("none", "open")]
    )
    assert plain == "13 13 13 13 13 13 13 13 made 13 -1 38 -1 38 "
    assert opened == "made made made 13 13 13 13 13 made 13 -1 38 -1 38 "


@pytest.mark.skipif(network.fault() is not None, reason="no namespaces here")
@pytest.mark.skipif(not shutil.which("curl"), reason="needs curl")
def test_only_some_hosts_in_a_session(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        allowed = Network(mode="hosts", urls=("https://x.example/**",))
        with network.Session.start(allowed, lambda contact: None) as session:
            place = site.place(join=session.words, proxy=session.variables)
            refused = site.bash("curl -sS http://y.example/", profile(network=allowed), place)
            direct = site.bash("curl -sS --noproxy '*' -m 5 http://192.0.2.1/", profile(network=allowed), place)
        try:
            site.bash("true", profile(network=allowed))
        except Unconfinable as error:
            return refused.stdout, direct.returncode, str(error)

    refused, direct, unjoined = acting(attempt)
    assert refused == "Remit: the command could not reach `http://y.example/`: no rule of the policy allows it\n"
    assert direct == 7
    assert "no session" in unjoined


@pytest.mark.skipif(restrict.abi() < 6, reason="signals are held from version 6 on")
def test_processes_outside_are_not_ended_or_looked_into(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        outside = subprocess.Popen(["sleep", "600"], env={"SECRET": "secret", "PATH": os.environ["PATH"]})
        try:
            text = f"kill -9 {outside.pid}; cat /proc/{outside.pid}/environ"
            done = site.bash(text, profile())
            return outside.poll(), done.stdout
        finally:
            outside.kill()
            outside.wait()

    assert acting(attempt) == [None, ""]


def test_a_command_runs_as_it_would(acting: Acting) -> None:
    """Exit codes, pipes, devices, temporary files, limits of one process; what is not there is told."""

    def attempt(site: Site) -> Any:
        found = []
        for text in (
            "exit 7",
            "yes | head -1; echo ${PIPESTATUS[0]}",
            "echo x > /dev/null; head -c 3 /dev/zero | wc -c",
            "t=$(mktemp); echo y > $t; cat $t; cat <(echo z)",
            "git status --short; git log --oneline | wc -l",
            "cat <<< here; echo ~ | grep -c launches",
        ):
            done = site.bash(text, profile())
            found.append([done.returncode, done.stdout, done.stderr])
        launch = site.prepare(profile())
        absent = subprocess.run([*launch.words, "/no/such"], capture_output=True, text=True, check=False)
        found.append([absent.returncode, absent.stderr])
        limited = site.bash("head -c 5000 /dev/zero > src/large", profile(limits=Limits(file_size=1000, processes=5)))
        found.append([limited.returncode, (site.root / "src/large").stat().st_size])
        return found

    assert acting(attempt) == [
        [7, "", ""],
        [0, "y\n141\n", ""],
        [0, "3\n", ""],
        [0, "y\nz\n", ""],
        [0, "1\n", ""],
        [0, "here\n1\n", ""],
        [127, "remit: /no/such: No such file or directory\n"],
        [153, 1000],
    ]


def test_in_process_it_is_the_same_without_a_launcher(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        launch = site.prepare(profile())
        restricted, after = in_process(launch)
        text = f"echo x > remit.yaml; echo x > src/new; cat {site.state}/trial-landlock.json; "
        text += f"{SYSTEM_PYTHON} -c 'import socket; socket.socket()'"
        done = subprocess.run(
            ["bash", "-c", text],
            cwd=site.root,
            env=launch.environment,
            preexec_fn=restricted,
            capture_output=True,
            text=True,
            check=False,
        )
        after()
        return done.stdout, done.stderr.count("Permission denied"), site.files()["remit.yaml"], site.files()["src/new"]

    assert acting(attempt) == ["", 3, "remit: 1\n", "x\n"]


def test_a_folder_that_is_replaced_before_the_start_is_noticed(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        (site.folder / "outside").mkdir()
        launch = site.prepare(profile())
        (site.root / "src").rename(site.root / "elsewhere")
        (site.root / "src").symlink_to(site.folder / "outside")
        done = site.start(launch, "echo x > src/x")
        return done.returncode, done.stderr, os.listdir(site.folder / "outside")

    code, said, outside = acting(attempt)
    assert (code, outside) == (126, [])
    assert "replaced while the command was started" in said


def test_rules_that_cannot_be_read_start_nothing(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        launch = site.prepare(profile())
        (launch.directory / "rules").unlink()
        missing = site.start(launch, "echo ran")
        (launch.directory / "rules").write_text("none\0nonsense")
        garbage = site.start(launch, "echo ran")
        return missing.returncode, missing.stdout, garbage.returncode, garbage.stdout

    assert acting(attempt) == [126, "", 126, ""]


def test_nothing_of_a_run_stays(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        before = sorted(os.listdir(site.root))
        site.bash("echo x > build/out/x", profile("build/out/**"))
        made = (site.root / "build/out/x").exists()
        shutil.rmtree(site.root / "build")
        site.bash("true", profile("build/out/**"))
        return made, sorted(os.listdir(site.root)) == before, os.listdir(site.state / "launches")

    assert acting(attempt) == [True, True, []]


def test_programs_of_an_environment_elsewhere_run_and_nothing_else_there_is_read(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        base = site.folder / "elsewhere"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(base / "venv")], check=True)
        (base / "secret").write_text("TOPSECRET")
        (site.root / ".venv").symlink_to(base / "venv")
        asked = f".venv/bin/python -c 'import sys, json; print(sys.prefix)'; cat {base}/secret; echo x > {base}/venv/x"
        return site.bash(asked, profile(), PATH="/usr/bin:/bin").stdout, (base / "venv/x").exists()

    said, written = acting(attempt)
    assert said.endswith("/.venv\n")
    assert ("TOPSECRET" in said, written) == (False, False)


ATTEMPTS = """
import ctypes, os, resource, stat, sys
libc = ctypes.CDLL(None, use_errno=True)
other, secret, key, terminal = int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), sys.argv[4]

def checked(result):
    if result in (-1, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "")

attempts = {
    "write it": lambda: open(secret, "a"),
    "read it": lambda: open(secret),
    "list its folder": lambda: os.listdir(os.path.dirname(secret)),
    "another name": lambda: os.link(secret, "src/other-name"),
    "cut it": lambda: os.truncate(secret, 0),
    "its mode": lambda: os.chmod(secret, 0o640),
    "its times": lambda: os.utime(secret, (1, 1)),
    "its attributes": lambda: os.setxattr(secret, "user.x", b"y"),
    "its size": lambda: os.stat(secret),
    "its setuid bit": lambda: os.chmod(secret, 0o4755),
    "a user namespace": lambda: checked(libc.unshare(0x10000000)),
    "end a process": lambda: os.kill(other, 9),
    "its variables": lambda: open(f"/proc/{other}/environ").read(),
    "its memory": lambda: open(f"/proc/{other}/mem"),
    "its command line": lambda: open(f"/proc/{other}/cmdline").read(),
    "its limits": lambda: resource.prlimit(other, resource.RLIMIT_CPU, (0, 0)),
    "its priority": lambda: os.setpriority(os.PRIO_PROCESS, other, 19),
    "its processors": lambda: os.sched_setaffinity(other, {0}),
    "trace it": lambda: checked(libc.ptrace(16, other, 0, 0)),
    "shared memory": lambda: checked(libc.shmget(key, 100, 0o600)),
    "new shared memory": lambda: checked(libc.shmget(0, 100, 0o1600)),
    "a message queue": lambda: checked(libc.mq_open(b"/remit", 0o102, 0o600, None)),
    "a terminal": lambda: os.open(terminal, os.O_RDWR | os.O_NOCTTY),
    "a new terminal": lambda: os.openpty(),
    "its own limits": lambda: resource.setrlimit(resource.RLIMIT_CPU, (50, 50)),
    "its own priority": lambda: os.nice(1),
    "rename it": lambda: os.rename(secret, secret + "2"),
    "remove it": lambda: os.unlink(secret + "2"),
}
done = []
for name, attempt in attempts.items():
    try:
        attempt()
        done.append(name)
    except OSError:
        pass
print(*done, sep=",")
"""
SUCCEEDS = {
    "its mode": "modes",
    "its times": "times",
    "its attributes": "attributes",
    "its size": "sizes of files",
    "its command line": "command lines",
    "its own limits": "",
    "its own priority": "",
}
"""What an attempt on something outside achieves, with the words by which `lacking` says so; none: it is its own."""


@pytest.mark.skipif(restrict.abi() < 6, reason="signals are held from version 6 on")
def test_what_it_can_not_hold_is_what_it_says(acting: Acting) -> None:
    def attempt(site: Site) -> Any:
        secret = site.home / "secret"
        secret.write_text("secret\n")
        (site.root / "src/attempts.py").write_text(ATTEMPTS)
        libc = ctypes.CDLL(None)
        key = int.from_bytes(os.urandom(3), "big") + 1
        memory = libc.shmget(key, 100, 0o1600)
        ours, theirs = os.openpty()
        with subprocess.Popen(["sleep", "600"]) as other:
            given = f"{other.pid} {secret} {key} {os.ttyname(theirs)}"
            try:
                confined = site.bash(f"{SYSTEM_PYTHON} src/attempts.py {given}", profile())
                alive = other.poll() is None
                plain = site.start(
                    Launch((), site.environment(), site.folder), f"{SYSTEM_PYTHON} src/attempts.py {given}"
                )
            finally:
                other.kill()
                libc.shmctl(memory, 0, None)
                os.close(ours)
                os.close(theirs)
        return confined.stdout, confined.stderr, alive, plain.stdout, list(site.backend.lacking())

    confined, err, alive, plain, lacking = acting(attempt)
    assert (set(confined.strip().split(",")), err, alive) == (set(SUCCEEDS), "", True)
    assert {"write it", "its limits", "shared memory", "a terminal", "its setuid bit"} <= set(plain.strip().split(","))
    for words in filter(None, SUCCEEDS.values()):
        assert any(words in line for line in lacking), words
