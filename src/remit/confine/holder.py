"""The process that holds the namespaces of a session: run as a file of its own, by `confine.network`, never imported
with the rest of Remit there, so that it starts in some milliseconds.

Its input is a socket to its owner. When that closes, however the owner ended, it kills everything that runs in the
session, and ends. Nothing inside can reach it: commands have process namespaces of their own.
"""

import ctypes
import fcntl
import os
import signal
import socket
import struct
import sys
import time
from contextlib import suppress

_NEW_USER, _NEW_NETWORK = 0x1000_0000, 0x4000_0000
_SET_FLAGS, _UP_AND_RUNNING = 0x8914, 0x41
_PARENT_OF_NAMESPACE = 0xB702
_LINGER = 5.0


def identity(name: str) -> tuple[int, int]:
    """Of a namespace, by its name below /proc/self. Raises OSError."""
    found = os.stat(f"/proc/self/{name}")
    return found.st_dev, found.st_ino


def belongs(pid: int, session: tuple[int, int]) -> bool:
    """Whether the user namespace of a process is the session's or one below it."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as status:
            if status.read().rpartition(b")")[2].split()[0] in (b"Z", b"X"):
                return False  # ended, though nobody has waited for it
        namespace = os.open(f"/proc/{pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False  # gone, or of somebody else
    while True:
        found = os.fstat(namespace)
        if (found.st_dev, found.st_ino) == session:
            os.close(namespace)
            return True
        try:
            above = fcntl.ioctl(namespace, _PARENT_OF_NAMESPACE)
        except OSError:
            return False  # the top of what may be seen
        finally:
            os.close(namespace)
        namespace = above


def end_all(session: tuple[int, int], *, but: int = 0) -> None:
    """Kills every process of a session, until none is left."""
    for attempt in range(200):
        left = [int(name) for name in os.listdir("/proc") if name.isdigit() and int(name) != but]
        left = [pid for pid in left if belongs(pid, session)]
        if not left:
            return
        for pid in left:
            _kill(pid, session)
        time.sleep(min(0.001 * 2**attempt, 0.1))


def _kill(pid: int, session: tuple[int, int]) -> None:
    try:
        handle = os.pidfd_open(pid)
    except OSError:
        return
    try:
        if belongs(pid, session):  # again: the number could have been given to another process meanwhile
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except OSError:
        pass
    finally:
        os.close(handle)


def main() -> None:
    """Makes the namespaces, tells the owner, and waits for its end."""
    owner = socket.socket(fileno=0)
    with_network = sys.argv[1] == "network"
    os.setsid()  # an interrupt from the terminal is for the command, not for this process
    if ctypes.CDLL(None, use_errno=True).unshare(_NEW_USER | (_NEW_NETWORK if with_network else 0)) != 0:
        fault = ctypes.get_errno()
        owner.sendall(f"no {os.strerror(fault)}".encode())
        return
    owner.sendall(b"made")
    if owner.recv(16) != b"mapped":
        return
    if with_network:
        with socket.socket() as listener:
            fcntl.ioctl(listener, _SET_FLAGS, struct.pack("16sh14x", b"lo", _UP_AND_RUNNING))
            listener.bind(("127.0.0.1", 0))
            listener.listen(256)
            socket.send_fds(owner, [b"ready"], [listener.fileno()])
    else:
        owner.sendall(b"ready")
    session = identity("ns/user")
    try:
        orderly = owner.recv(16) == b"end"
    except OSError:
        orderly = False
    with suppress(OSError), open("/proc/sys/user/max_user_namespaces", "w") as most:
        most.write("0")  # of this namespace: whatever joins now can't have one of its own, and a backend fails
    end_all(session, but=os.getpid())
    # An owner that was killed may have started a command just before, which has yet to join.
    until = time.monotonic() + (0 if orderly else _LINGER)
    while time.monotonic() < until:
        time.sleep(0.05)
        end_all(session, but=os.getpid())


if __name__ == "__main__":
    main()
