"""A seccomp filter for what mounts can't hold: system calls that a confined command does without.

* A user namespace of its own. In it a command may have a mount namespace without the mounts that keep protected files:
  there the kernel lets it rename what is a mount elsewhere, and put something else in its place. As root it could also
  give files capabilities that count for every user of the machine.
* Sockets of other kinds than Unix, IP and netlink. No network namespace separates the ones that lead from a virtual
  machine to its host (vsock).
* Keys that the kernel keeps for the user (`keyctl`): no namespace separates them.
* Files with a setuid or setgid bit: such a file would let any user of the machine act as whoever ran the command.

io_uring, clone3 and openat2 hide from a filter what they do, and other system call tables have other
numbers: all of these are answered with ENOSYS, upon which libraries take the older call.
"""

from __future__ import annotations

import platform
import struct

import msgspec

from remit.confine.interface import Unconfinable

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _EPERM, _ENOSYS, _NO_FAMILY = 0x7FFF0000, 0x00050001, 0x00050026, 0x00050061
_SETUID_OR_SETGID = 0o6000
_NEW_USER = 0x1000_0000
_X32 = 0x4000_0000
_OPENAT2 = 437
_FAMILIES = (1, 2, 10, 16)
"""Unix, IP, IPv6, netlink: a network namespace has them of its own."""

_MAKES = 0o100 | 0o20000000
"""O_CREAT and O_TMPFILE: without them the mode of `open` is whatever stood in the register."""


class _Calls(msgspec.Struct, frozen=True):
    """Numbers of system calls on one kind of machine."""

    architecture: int
    absent: tuple[int, ...]
    """clone3, io_uring's, and those for the kernel's keys: add_key, request_key, keyctl."""
    socket: int
    starts: tuple[int, ...]
    """clone and unshare: their first argument has flags."""
    """openat2."""
    modes: dict[int, int]
    """With the argument that is a mode."""
    opens: dict[int, int]
    """The same for calls that have flags in the argument before."""


_TABLES = {
    "x86_64": _Calls(
        architecture=0xC000003E,
        absent=(435, 425, 426, 427, 248, 249, 250),
        socket=41,
        starts=(56, 272),
        modes={90: 1, 91: 1, 268: 2, 452: 2, 133: 1, 259: 2, 85: 1},
        opens={2: 2, 257: 3},
    ),
    "aarch64": _Calls(
        architecture=0xC00000B7,
        absent=(435, 425, 426, 427, 217, 218, 219),
        socket=198,
        starts=(220, 97),
        modes={52: 1, 53: 2, 452: 2, 33: 2},
        opens={56: 3},
    ),
}


def program(*, machine: str | None = None) -> bytes:
    """The filter, as the kernel takes it. Raises Unconfinable for a machine whose system calls are not known here."""
    name = machine or platform.machine()
    known = _TABLES.get(name)
    if known is None:
        raise Unconfinable(f"the system calls of {name} are not known: commands can't be filtered")
    steps: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, known.architecture),
        (_RETURN, 0, 0, _ENOSYS),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _ENOSYS),
    ]
    for number in (*known.absent, _OPENAT2):
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ENOSYS)]
    allowed = [step for family in _FAMILIES for step in ((_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW))]
    family = [(_LOAD, 0, 0, 16), *allowed, (_RETURN, 0, 0, _NO_FAMILY)]
    steps += [(_EQUAL, 0, len(family), known.socket), *family]
    for number in known.starts:
        steps += [(_EQUAL, 0, 4, number), *_judged(0, _NEW_USER)]
    for number, argument in known.modes.items():
        steps += [(_EQUAL, 0, 4, number), *_judged(argument, _SETUID_OR_SETGID)]
    for number, argument in known.opens.items():
        steps += [
            (_EQUAL, 0, 7, number),
            (_LOAD, 0, 0, 16 + 8 * (argument - 1)),
            (_ANY_BIT, 1, 0, _MAKES),
            (_RETURN, 0, 0, _ALLOW),
            *_judged(argument, _SETUID_OR_SETGID),
        ]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


def _judged(argument: int, forbidden: int) -> list[tuple[int, int, int, int]]:
    return [
        (_LOAD, 0, 0, 16 + 8 * argument),
        (_ANY_BIT, 0, 1, forbidden),
        (_RETURN, 0, 0, _EPERM),
        (_RETURN, 0, 0, _ALLOW),
    ]
