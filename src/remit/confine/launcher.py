"""The plan by which `start.pl` starts one command on a root of mounts, and the words that do it.

A launcher in Perl: nearly every system has it, it starts in the time of a shell, and it reaches the system calls.
Python would take longer to start than all the rest of a launch.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import msgspec

from remit.confine.first_process import FILE
from remit.confine.interface import Unconfinable
from remit.confine.trial import system_program
from remit.model.shipped import shipped

FAILED = 125
"""The exit code of a command that could not be confined."""
SCRIPT = "confine/start.pl"
QUIET = {"PERL_BADLANG": "0"}
"""No word about an unknown locale; it does not come to the command."""
NAMESPACES = 0x1000_0000 | 0x0002_0000 | 0x2000_0000 | 0x0800_0000 | 0x0400_0000 | 0x0200_0000
"""Users, mounts, processes, interprocess communication, names, control groups."""
NETWORK = 0x4000_0000
_CALLS = {"x86_64": (157, 272, 165, 166, 155, 112), "aarch64": (167, 97, 40, 39, 41, 157)}
"""prctl, unshare, mount, umount2, pivot_root, setsid."""
_BIND, _RECURSIVE, _REMOUNT = 0x1000, 0x4000, 0x20
_FLAGS = {
    "ro": 1,
    "nosuid": 2,
    "nodev": 4,
    "noexec": 8,
    "noatime": 0x400,
    "nodiratime": 0x800,
    "relatime": 0x20_0000,
    "rw": 0,
}


class Step(msgspec.Struct, frozen=True):
    """One mount; `options` as of mount(8), of which those with a flag of their own become flags."""

    source: str
    place: str
    kind: str
    options: str
    make: str = ""
    """What is to be made as its place: `folder`, `file` or nothing."""

    def texts(self) -> tuple[str, ...]:
        """As the plan has it."""
        words = self.options.split(",")
        flags = sum(_FLAGS[word] for word in words if word in _FLAGS)
        rest = ",".join(word for word in words if word not in _FLAGS and word not in ("bind", "rbind"))
        if "rbind" in words:
            return self.source, self.place, "", str(_BIND | _RECURSIVE), "", "", self.make
        if "bind" in words:
            second = str(_BIND | _REMOUNT | flags) if flags else ""
            return self.source, self.place, "", str(_BIND), second, "", self.make
        return self.source, self.place, self.kind, str(flags), "", rest, self.make


def write_plan(
    directory: Path, steps: Sequence[Step], *, root: str, cwd: str, identity: tuple[int, int], alone: bool, calls: bytes
) -> tuple[str, ...]:
    """The words that start what stands behind them by this plan: as `identity`, behind the filter `calls`, and if
    `alone` without a network. Raises OSError and Unconfinable."""
    numbers = _CALLS.get(platform.machine())
    if numbers is None:
        raise Unconfinable(f"the system calls of {platform.machine()} are not known")
    script, plan, filter_ = directory / "start.pl", directory / "plan", directory / "filter"
    head = (*numbers, NAMESPACES | (NETWORK if alone else 0), *identity, root, cwd, filter_, directory / FILE)
    texts = [*map(str, head), *(text for step in steps for text in step.texts())]
    if any("\0" in text for text in texts):
        raise Unconfinable("a path has a NUL character in it")
    script.write_bytes(shipped(SCRIPT))
    filter_.write_bytes(calls)
    plan.write_bytes(os.fsencode("".join(f"{text}\0" for text in texts)))
    return system_program("perl"), "-f", str(script), str(plan)
