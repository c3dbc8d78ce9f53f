"""A populated repository, a profile for it, and commands that really run there, confined."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from remit.confine.interface import Backend, Change, Launch, Place
from remit.model.profile import Profile, Region

NAMES = (".claude", ".codex", ".git", ".mcp.json", ".remit", "CLAUDE.md")
PATHS = ("remit.yaml", ".github/hooks/**", ".vscode/settings.json")
NOBODY = 65534


def profile(*write: str, avoid: tuple[str, ...] = (), git: bool = True, **more: Any) -> Profile:
    """One that protects the usual things; `write` are globs, none: everything."""
    regions = (Region(write or ("**",), avoid),) if write or avoid else ()
    more.setdefault("protected_names", NAMES)
    more.setdefault("protected_paths", PATHS)
    return Profile("coder", regions, more.pop("read", ()), git=git, **more)


def run(*words: str, cwd: Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False)


def populate(root: Path) -> None:
    """A repository with a commit, a hook, host settings and a policy."""
    (root / "src").mkdir(parents=True)
    (root / "docs").mkdir()
    (root / ".claude").mkdir()
    (root / "src/a.py").write_text("print('a')\n")
    (root / "docs/a.md").write_text("# a\n")
    (root / ".claude/settings.json").write_text("{}\n")
    (root / "remit.yaml").write_text("remit: 1\n")
    (root / ".gitignore").write_text("*.env\n")
    script = "git init -q . && git config user.name A && git config user.email a@b.example && git add -A"
    script += " && git commit -qm one"
    done = run("sh", "-c", script, cwd=root, env={"PATH": os.environ["PATH"], "HOME": str(root)})
    assert done.returncode == 0, done.stderr
    (root / ".git/hooks/pre-commit").write_text("#!/bin/sh\ntrue\n")
    (root / ".git/hooks/pre-commit").chmod(0o755)


class Site:
    """A root with a state folder beside it, and one backend."""

    def __init__(self, folder: Path, backend: Callable[[Path], Backend]) -> None:
        self.folder = folder
        self.root = folder / "project"
        self.home = folder / "home"
        self.state = folder / "state"
        for path in (self.home, self.state):
            path.mkdir(mode=0o700)
        populate(self.root)
        self.backend = backend(self.state)

    def place(self, **more: Any) -> Place:
        return msgspec.structs.replace(Place(self.root, self.root, self.state, unseen=(self.state,)), **more)

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", **more}

    def prepare(self, profile: Profile, place: Place | None = None, **variables: str) -> Launch:
        return self.backend.prepare(profile, place or self.place(), self.environment(**variables))

    def start(self, launch: Launch, text: str) -> subprocess.CompletedProcess[str]:
        return run(*launch.words, "bash", "-c", text, cwd=self.root, env=launch.environment)

    def bash(
        self, text: str, profile: Profile, place: Place | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """One command from beginning to end; what it changed is in `changes`."""
        launch = self.prepare(profile, place, **variables)
        try:
            return self.start(launch, text)
        finally:
            self.changes = self.backend.finish(profile, place or self.place(), launch)

    changes: Any = None

    def files(self) -> dict[str, str]:
        """Every file below the root but git's, with what it says."""
        found = {}
        for folder, folders, names in os.walk(self.root):
            if folder == str(self.root):
                folders.remove(".git")
            for name in (*names, *(each for each in folders if os.path.islink(f"{folder}/{each}"))):
                path = Path(folder, name)
                key = str(path.relative_to(self.root))
                found[key] = (
                    f"-> {os.readlink(path)}" if path.is_symlink() else path.read_bytes().decode(errors="replace")
                )
        return found


@contextmanager
def as_user(uid: int, backend: Callable[[Path], Backend]) -> Iterator[Callable[[Callable[[Site], Any]], Any]]:
    """Runs a function on a site of this user, in a process of theirs; its JSON value comes back."""
    folder = Path(tempfile.mkdtemp(prefix="remit-", dir="/var/tmp"))
    os.chown(folder, uid, uid)

    def call(function: Callable[[Site], Any]) -> Any:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            try:
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                answer: Any = {"value": function(Site(folder, backend))}
            except BaseException:
                answer = {"error": traceback.format_exc()}
            with os.fdopen(writer, "w") as file:
                json.dump(answer, file)
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as file:
            answer = json.load(file)
        os.waitpid(child, 0)
        assert "error" not in answer, answer["error"]
        return answer["value"]

    try:
        yield call
    finally:
        shutil.rmtree(folder)


def told(changes: Any) -> dict[str, str]:
    """Paths with how they changed."""
    found: dict[str, str] = {}
    for change in changes:
        assert isinstance(change, Change)
        found[change.path] = change.how
    return found


OWN_NAMESPACE = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(result):
    if result < 0:
        sys.exit(os.strerror(ctypes.get_errno()))
above = os.open(sys.argv[1], os.O_RDONLY)
ids = {"uid": os.getuid(), "gid": os.getgid()}
call(libc.unshare(0x10020000))
open("/proc/self/setgroups", "w").write("deny")
for kind, number in ids.items():
    open(f"/proc/self/{kind}_map", "w").write(f"0 {number} 1")
call(libc.mount(b"none", b"/", None, 0x44000, None))
call(libc.mount(b"tmpfs", b"/tmp", b"tmpfs", 0, None))
os.mkdir("/tmp/old")
os.chdir("/tmp")
call(libc.pivot_root(b".", b"old"))
call(libc.umount2(b"/old", 2))
for name in sys.argv[2:]:
    os.rename(name, name + ".was", src_dir_fd=above, dst_dir_fd=above)
print("renamed")
"""
"""Python: in a mount namespace of its own nothing is a mount, so that what is one elsewhere can be renamed there."""

CAPABLE = """
import os, struct, subprocess, sys
open("src/capable", "w").close()
set_it = "import os; os.setxattr('src/capable', 'security.capability', bytes.fromhex(os.environ['IT']))"
subprocess.run(
    ["unshare", "--user", "--map-root-user", sys.executable, "-c", set_it],
    env={**os.environ, "IT": struct.pack("<IIIII", 0x2000001, 0x80, 0, 0, 0).hex()},
)
"""
"""Python: a file that lets whoever runs it become any user."""

KEYS = "import ctypes; print(ctypes.CDLL(None).syscall(250, 0, -4, 1))"
"""Python: the number of the user's keyring, or -1; on x86_64."""
