"""Runs a command under strace in a small project, and says which files it changed and read and where it connected."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

STRACE = shutil.which("strace")
CALLS = (
    "trace=open,openat,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,link,linkat,symlink,symlinkat,"
    "truncate,chmod,fchmodat,connect"
)
_LINE = re.compile(r"^(?:\[pid +\d+\] |\d+ +)?(\w+)\((.*)\) += +(-?\d+)")
_TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
_NETWORK = re.compile(r"sa_family=AF_INET6?")
_SECONDS = "3"
"""Some never end: `tail -f`."""


@dataclass(slots=True)
class Traced:
    """What one command really did, below the folder that it ran in; paths are relative to that folder."""

    read: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    connected: bool = False
    outside: set[str] = field(default_factory=set)
    """Files elsewhere that it changed."""


def trace(command: str, folder: Path) -> Traced:
    """Run it, with nothing on standard input."""
    log = folder.parent / "strace.log"
    env = {"PATH": os.environ["PATH"], "HOME": str(folder.parent / "home"), "LC_ALL": "C", "GIT_PAGER": "cat"}
    (folder.parent / "home").mkdir(exist_ok=True)
    words = [str(STRACE), "-f", "-y", "-e", CALLS, "-o", str(log), "timeout", _SECONDS, "bash", "-c", command]
    subprocess.run(
        words,
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    found = Traced()
    for line in log.read_text(errors="replace").splitlines():
        _note(line, folder, found)
    return found


def _note(line: str, folder: Path, found: Traced) -> None:
    parts = _LINE.match(line)
    if parts is None or parts[3].startswith("-"):
        if parts is not None and parts[1] == "connect" and _NETWORK.search(parts[2]):
            found.connected = True
        return
    name, arguments = parts[1], parts[2]
    if name == "connect":
        found.connected = found.connected or bool(_NETWORK.search(arguments))
        return
    texts = [bytes(text, "utf-8").decode("unicode_escape", "replace") for text in _TEXT.findall(arguments)]
    base = re.match(r"(?:AT_FDCWD|\d+)<([^>]*)>", arguments)
    where = Path(base[1]) if base is not None else folder
    opens = name in ("open", "openat", "creat")
    if opens and "O_DIRECTORY" in arguments:
        return
    writes = not opens or name == "creat" or re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", arguments) is not None
    if name in ("symlink", "symlinkat", "link", "linkat"):
        texts = texts[1:]
    for text in texts[:2] if name.startswith("rename") else texts[:1]:
        path = os.path.normpath(where / text)
        if path.startswith(f"{folder}/"):
            (found.changed if writes else found.read).add(path[len(str(folder)) + 1 :])
        elif writes and not path.startswith(("/dev/", "/proc/", str(folder.parent / "home"))):
            found.outside.add(path)
