"""A trial run: whether the real flags work on this machine, in this container, for this user; kept until a reboot."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from remit.confine.interface import Unconfinable
from remit.confine.placeholders import boot_id
from remit.model.decoding import Decoding
from remit.model.digest import sha256
from remit.model.system_programs import find_program

APPARMOR = "AppArmor forbids it: give bwrap a profile with `userns` (docs/confinement.md has it), then reload AppArmor"
REASONS = (
    ("uid map: Permission denied", APPARMOR),
    ("uid_map failed: Operation not permitted", APPARMOR),
    ("write failed /proc/self/uid_map", APPARMOR),
    ("No space left on device", "user namespaces are switched off: sysctl user.max_user_namespaces=15000"),
    (
        "Can't mount proc",
        "this is inside another container: start that one with --security-opt systempaths=unconfined",
    ),
    (
        "No permissions to create",
        "namespaces are forbidden here (Docker: --security-opt seccomp=unconfined); Landlock may work",
    ),
    (
        "unshare failed: Operation not permitted",
        "namespaces are forbidden here (Docker: --security-opt seccomp=unconfined)",
    ),
    ("Operation not permitted", "namespaces are forbidden here, by a container or by another sandbox around this one"),
)


class Trial(msgspec.Struct, frozen=True):
    """How it went."""

    works: bool
    said: str = ""
    help: str = ""

    def lines(self) -> tuple[str, ...]:
        """For people, empty if it works."""
        return () if self.works else (f"{self.said}; {self.help}" if self.help else self.said,)


_known: dict[str, Trial] = {}


def system_program(name: str) -> str:
    """Its absolute path. Raises Unconfinable."""
    found = find_program(name)
    if found is None:
        raise Unconfinable(f"`{name}` is not installed")
    return found


def tried(name: str, binary: str, words: Sequence[str], state: Path, run: Callable[[], Trial] | None = None) -> Trial:
    """Runs the words once per boot, binary, user and namespaces, or `run`, for which they stand; raises nothing."""
    key = sha256("\0".join((*_around(binary), *words)).encode()).hexdigest()
    if key in _known:
        return _known[key]
    file = state / f"trial-{name}.json"
    trial = _kept(file, key) or (run() if run is not None else run_once(words))
    _known[key] = trial
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = file.with_suffix(f".{os.getpid()}")
        scratch.write_bytes(msgspec.json.encode({"key": key, "trial": trial}))
        os.replace(scratch, file)
    except OSError:
        pass  # the next process tries again
    return trial


def session_trial(state: Path) -> Trial:
    """Whether a session's namespaces can be made and joined here: what a profile with some hosts needs."""
    words = (sys.executable, "-I", "-m", "remit.confine.network")
    return tried("session", sys.executable, words, state)


class _File(msgspec.Struct):
    key: str
    trial: Trial


_FILE = Decoding(_File)


def _kept(file: Path, key: str) -> Trial | None:
    try:
        kept = _FILE.decode(file.read_bytes())
    except (OSError, msgspec.DecodeError):
        return None
    return kept.trial if kept.key == key and kept.trial.works else None  # what failed may have been mended


def _around(binary: str) -> list[str]:
    """All that a trial's outcome depends on: the boot, the program, the user, and the namespaces around."""
    found = [boot_id(), binary, str(os.geteuid())]
    try:
        status = os.stat(binary)
        found.append(f"{status.st_size} {status.st_mtime_ns} {status.st_ino}")
        found += [os.readlink(f"/proc/self/ns/{kind}") for kind in ("user", "mnt", "pid", "net")]
        found += [line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("Seccomp")]
        found.append(Path("/proc/self/attr/current").read_text())
    except OSError:
        pass
    return found


def run_once(words: Sequence[str]) -> Trial:
    """One run of these words."""
    try:
        done = subprocess.run(words, capture_output=True, timeout=30, check=False, env={"PATH": "/usr/bin:/bin"})  # noqa: S603
    except (OSError, subprocess.TimeoutExpired) as error:
        return Trial(works=False, said=f"`{words[0]}` could not be run: {error}")
    if done.returncode == 0:
        return Trial(works=True)
    said = os.fsdecode(done.stderr).strip().splitlines()
    text = ": ".join(said[:2]) if said else f"exit code {done.returncode}"
    return Trial(works=False, said=text, help=next((help for part, help in REASONS if part in text), ""))
