"""Where attacks and everyday commands run: a project, what lies around it, and what would show an effect."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from hashlib import sha256
from pathlib import Path

from remit.confine.backends.overlay import Overlay
from remit.confine.interface import Backend
from remit.confine.pick import pick
from remit.confine.protected import Protected
from remit.confine.run import Ran, run
from remit.model.profile import Profile
from tests.confine.populated import environment, git, place, populate, profile

SECRET = "TOPSECRET-1af3"
PROFILE = profile()
"""One profile for attacks and for everyday commands: all of the root, git, no network, a private home."""


def backend(state: Path) -> Backend:
    """What Remit would take here, or what the variable CONFINED_BY says (`overlay`)."""
    return Overlay(state) if os.environ.get("CONFINED_BY") == "overlay" else pick(state, PROFILE)


class Listeners:
    """Somebody who listens where nothing confined may get to; `heard` counts who came."""

    def __init__(self, folder: Path, peer: Path) -> None:
        self.heard = 0
        self.path, self.peer, self.name = str(folder / "s.sock"), str(peer), f"remit-test-{os.urandom(6).hex()}"
        self._sockets = [socket.socket(), *(socket.socket(socket.AF_UNIX) for _ in range(3))]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sockets[0].bind(("127.0.0.1", 0))
        self.port = int(self._sockets[0].getsockname()[1])
        self._udp.bind(("127.0.0.1", self.port))
        for one, name in zip(self._sockets[1:], (self.path, self.peer, f"\0{self.name}"), strict=True):
            one.bind(name)
        for one in self._sockets:
            one.listen()
            threading.Thread(target=self._take, args=(one,), daemon=True).start()

    def _take(self, one: socket.socket) -> None:
        while True:
            try:
                came, _ = one.accept()
            except OSError:
                return
            self.heard += 1
            came.close()

    def datagrams(self) -> int:
        self._udp.setblocking(False)
        count = 0
        while True:
            try:
                self._udp.recv(100)
            except OSError:
                return count
            count += 1

    def close(self) -> None:
        for one in self._sockets:
            one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._udp.close()


class Arena:
    """One project with a home, a state and another project beside it."""

    def __init__(self, folder: Path, template: Path, chosen: Profile = PROFILE) -> None:
        self.folder, self.profile = folder, chosen
        shutil.copytree(template, folder, symlinks=True)
        self.root, self.home, self.state = folder / "project", folder / "home", folder / "state"
        self.place = place(self.root)

    @staticmethod
    def build(folder: Path) -> Path:
        """What arenas are copies of."""
        populate(folder / "project")
        for name, text in {
            "home/.bashrc": "# mine\n",
            "home/.ssh/id_ed25519": f"{SECRET}\n",
            "home/.config/git/config": "[user]\n\tname = Ada\n",
            "other/secret.txt": f"{SECRET}\n",
            "state/keys/secret": f"{SECRET}\n",
            "state/remit.db": f"{SECRET}\n",
        }.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return folder

    def run(self, text: str) -> Ran:
        """The command, confined."""
        given = {**os.environ, **environment(self.home), "MY_TOKEN": SECRET}
        words = ("bash", "-c", text)
        return run(words, self.profile, self.place, backend=backend(self.place.state), environment=given)

    def loose(self, text: str) -> None:
        """The same with nothing of the project protected. The machine is: a test may run as root."""
        around = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run", "--unshare-all")
        here = ("--bind", str(self.folder), str(self.folder), "--chdir", str(self.root), "--die-with-parent")
        words = ["bwrap", *around, *here, "--cap-drop", "ALL", "bash", "-c", text]
        subprocess.run(words, env=environment(self.home), capture_output=True, stdin=subprocess.DEVNULL, check=False)

    # What would show an effect

    def protected(self) -> dict[str, str]:
        """Everything protected in the project, wherever it is, to the byte."""
        protected, found = Protected(self.profile), {}
        for path, text in contents(self.root).items():
            if path in protected:
                found[path] = text
        return found

    def outside(self) -> dict[str, str]:
        """Everything around the project but what Remit itself keeps there."""
        own = ("project/", "own", "state/launches", "state/aside", "state/trial", "state/placeholders", "state/commit")
        return {path: text for path, text in contents(self.folder).items() if not path.startswith(own)}

    def a_person_works(self) -> None:
        """What a person does afterwards, in the project and in its folders, as git would have it."""
        for folder in (self.root, *(path for path in self.root.rglob("*") if path.is_dir() and path.name != ".git")):
            if ".git" not in folder.relative_to(self.root).parts:
                self._git(folder, "status")
        for words in (("log", "-1"), ("stash",), ("stash", "pop"), ("checkout", "-f", "HEAD", "--", ".")):
            self._git(self.root, *words)

    def _git(self, folder: Path, *words: str) -> None:
        subprocess.run(["git", *words], cwd=folder, env=environment(self.home), capture_output=True, check=False)

    def head(self) -> str:
        return git(self.root, "rev-parse", "HEAD")


def contents(folder: Path) -> dict[str, str]:
    """By path: the kind, the mode and the content of everything below a folder."""
    found: dict[str, str] = {}
    for here, folders, files in os.walk(folder):
        for name in (*folders, *files):
            full = os.path.join(here, name)
            status = os.lstat(full)
            if os.path.islink(full):
                text = "-> " + os.readlink(full)
            elif os.path.isfile(full):
                text = sha256(Path(full).read_bytes()).hexdigest()
            else:
                text = "directory" if os.path.isdir(full) else "special"
            found[os.path.relpath(full, folder)] = f"{status.st_mode:o} {text}"
    return found


def alive(mark: str) -> list[str]:
    """Processes that have a text in their command lines."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                line = Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in line and int(name) != os.getpid():
                found.append(f"{name}: {line[:200]!r}")
    return found
