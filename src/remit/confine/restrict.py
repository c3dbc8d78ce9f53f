"""What a process gives up for good, with all that it starts: files by Landlock, and by seccomp filters sockets, what
other processes have (limits, priorities, shared memory), and the calls that no confined command has.

Run as a file of its own it is a launcher: `python -I -S restrict.py RULES -- command`. It imports nothing of Remit, so
that it starts in some milliseconds. A file of rules has a line for the network, one for the filter of `call_filter`, in
hexadecimal digits, and one for each path that is left; a zero byte ends each line but the last:

    none
    20000000…
    r:fe00:1234:/usr
"""

import ctypes
import errno
import os
import signal
import struct
import sys

READ, WRITE, LIST, DEVICE = "r", "w", "l", "d"
"""What may be done below a path: read and run; write, make and remove; see names; use a device."""
NEEDED = 3
"""The first version of Landlock that holds writes: before it, any file could be truncated."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER = 38, 22, 2
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE = 0b1_1111_1100_0000 & ~(1 << 6) & ~(1 << 11)  # of its seven kinds neither character nor block devices
_REFER, _TRUNCATE, _IOCTL = 1 << 13, 1 << 14, 1 << 15
_ALL_OF_ABI = {3: 0x7FFF, 4: 0x7FFF, 5: 0xFFFF}
_RIGHTS = {
    READ: _EXECUTE | _READ_FILE | _READ_DIR,
    WRITE: _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE | _REFER | _TRUNCATE,
    LIST: _READ_DIR,
    DEVICE: _READ_FILE | _WRITE_FILE | _TRUNCATE | _IOCTL,
}
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_BIND_AND_CONNECT = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _EACCES, _ENOSYS = 0x7FFF0000, 0x00050000 | errno.EACCES, 0x00050000 | errno.ENOSYS
_PUSH_INPUT, _LINUX_CONSOLE = 0x5412, 0x541C
# The audit architecture, `socket`, `ioctl`, and calls that are not there: io_uring's would get round the filter, the
# next (add_key, request_key, keyctl) lead to the keys that the kernel keeps for the user, the rest to what the user's
# processes share: memory, semaphores and queues (shm…, sem…, msg…, mq_open).
_TABLES = {
    "x86_64": (0xC000003E, 41, 16, (425, 426, 427, 248, 249, 250, 29, 30, 31, 64, 65, 66, 220, *range(68, 72), 240)),
    "aarch64": (0xC00000B7, 198, 29, (425, 426, 427, 217, 218, 219, *range(186, 197), 180)),
}
# Calls that change another process if an argument, the first or the second, names one: prlimit64, sched_setaffinity,
# sched_setscheduler, sched_setparam, sched_setattr; setpriority, ioprio_set. A limit of time would even end it.
_OF_OTHERS = {
    "x86_64": {302: 0, 203: 0, 144: 0, 142: 0, 314: 0, 141: 1, 251: 1},
    "aarch64": {261: 0, 122: 0, 119: 0, 118: 0, 274: 0, 140: 1, 30: 1},
}

_libc = ctypes.CDLL(None, use_errno=True)


def abi() -> int:
    """The version of Landlock in this kernel; 0 for none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, 0, 1)))


def known_machine() -> bool:
    """Whether system calls of this machine are known here."""
    return os.uname().machine in _TABLES


def socket_filter(network: str) -> bytes:
    """A filter under which only these sockets are made: netlink's for routes and, if the network is `open`, IP's.

    Unix sockets are none of them, since Landlock can't tell which are connected to, and a daemon behind one would act
    outside. Nor is input pushed into a terminal, and no other process gets limits or a priority.
    Raises KeyError for a machine that is not known.
    """
    architecture, socket, ioctl, absent = _TABLES[os.uname().machine]
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _ENOSYS), (_LOAD, 0, 0, 0)]
    steps += [(_AT_LEAST, 0, 1, 0x40000000), (_RETURN, 0, 0, _ENOSYS)]  # x32, whose calls have other numbers
    for number in absent:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ENOSYS)]
    families = (_INET, _INET6) if network == "open" else ()
    inner = [(_LOAD, 0, 0, 16)]
    for family in families:
        inner += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, _ALLOW)]
    inner += [(_EQUAL, 1, 0, _NETLINK), (_RETURN, 0, 0, _EACCES)]
    inner += [(_LOAD, 0, 0, 32), (_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _EACCES)]
    steps += [(_EQUAL, 0, len(inner), socket), *inner]
    inner = [(_LOAD, 0, 0, 24)]
    for request in (_PUSH_INPUT, _LINUX_CONSOLE):
        inner += [(_EQUAL, 0, 1, request), (_RETURN, 0, 0, _EACCES)]
    steps += [(_EQUAL, 0, len(inner) + 1, ioctl), *inner, (_RETURN, 0, 0, _ALLOW)]
    for number, argument in _OF_OTHERS[os.uname().machine].items():
        inner = [(_LOAD, 0, 0, 16 + 8 * argument), (_EQUAL, 1, 0, 0), (_RETURN, 0, 0, _EACCES), (_RETURN, 0, 0, _ALLOW)]
        steps += [(_EQUAL, 0, len(inner), number), *inner]
    steps.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("<HBBI", *step) for step in steps)


class Rules:
    """A set of rules, ready to be put on the process that calls `restrict`. Raises OSError."""

    def __init__(self, network: str, paths: list[str], calls: bytes = b"") -> None:
        """Each of `paths` is `rights:device:inode:path`. What is gone is left out; what was replaced is an error.
        `calls` is one more filter."""
        version = abi()
        if version < NEEDED:
            raise OSError(errno.ENOSYS, f"Landlock {version} is too old")
        handled = _ALL_OF_ABI.get(version, 0xFFFF)
        tcp = _BIND_AND_CONNECT if version >= 4 and network != "open" else 0
        scoped = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
        attributes = struct.pack("<QQQ", handled, tcp, scoped)[: 24 if version >= 6 else 16 if version >= 4 else 8]
        self.filters = [each for each in (calls, socket_filter(network)) if each]
        self.descriptor = _checked(_libc.syscall(_CREATE_RULESET, attributes, len(attributes), 0))
        for text in paths:
            rights, device, inode, path = text.split(":", 3)
            try:
                opened = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
            except FileNotFoundError:
                continue
            try:
                found = os.fstat(opened)
                if (found.st_dev, found.st_ino) != (int(device, 16), int(inode, 16)):
                    raise OSError(errno.ESTALE, "it was replaced while the command was started", path)
                mask = 0
                for right in rights:
                    mask |= _RIGHTS[right]
                mask &= handled if found.st_mode & 0o170000 == 0o040000 else handled & _OF_FILES
                rule = struct.pack("<Qi", mask, opened)
                _checked(_libc.syscall(_ADD_RULE, self.descriptor, _PATH_BENEATH, rule, 0))
            finally:
                os.close(opened)

    def restrict(self) -> None:
        """Puts the rules on this thread and all that it starts, for ever: after `fork`, before `exec`."""
        _checked(_libc.prctl(_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        _checked(_libc.syscall(_RESTRICT_SELF, self.descriptor, 0))
        for each in self.filters:
            program = ctypes.create_string_buffer(each, len(each))
            fprog = struct.pack("<HxxxxxxQ", len(each) // 8, ctypes.addressof(program))
            _checked(_libc.prctl(_SET_SECCOMP, _FILTER, fprog, 0, 0))

    def close(self) -> None:
        os.close(self.descriptor)


def rule(path: str, rights: str) -> str:
    """One line of rules for a path as it is now. Raises OSError."""
    found = os.stat(path, follow_symlinks=False)
    return f"{rights}:{found.st_dev:x}:{found.st_ino:x}:{path}"


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _try_it() -> None:
    """Ends with 0 if the rules hold here."""
    Rules("none", [rule("/", READ)]).restrict()
    import socket  # here: only a trial needs it

    os.listdir("/")
    for forbidden in (lambda: os.open("/dev/null", os.O_WRONLY), socket.socket, lambda: socket.socket(socket.AF_UNIX)):
        try:
            forbidden()
        except PermissionError:
            continue
        sys.exit("what is forbidden worked")
    sys.exit(0)


def main() -> None:
    """The launcher; without a file of rules, a trial."""
    if len(sys.argv) == 1:
        _try_it()
    try:
        with open(sys.argv[1], "rb") as file:
            network, calls, *paths = os.fsdecode(file.read()).split("\0")
        rules = Rules(network, paths, bytes.fromhex(calls))
        rules.restrict()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # which Python ignores, and the command would too
    except (OSError, ValueError, KeyError) as error:
        sys.exit(_said(f"the command could not be confined: {error}", 126))
    try:
        os.execvp(sys.argv[3], sys.argv[3:])  # noqa: S606 - the launcher's purpose
    except OSError as error:
        sys.exit(_said(f"{sys.argv[3]}: {error.strerror}", 127 if error.errno == errno.ENOENT else 126))


def _said(text: str, code: int) -> int:
    print(f"remit: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    main()
