"""The namespaces of a session: what its commands share, and what ends with it.

    with Session.start(profile.network, record) as session:
        place = Place(..., join=session.words, proxy=session.variables)

A session has a user namespace, and unless its network is open, a network namespace with nothing in it but a loopback
of its own. A server that one command starts is reached by the next. The proxy listens on that loopback, but stands
outside: the socket was made inside and handed out. Whatever way the session ends, all that runs in it is killed.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from remit.confine import holder
from remit.confine.destinations import Contact, Destinations
from remit.confine.interface import Unconfinable
from remit.confine.proxy import Bounds, Proxy, Record
from remit.model.profile import Network
from remit.model.system_programs import find_program
from remit.model.text import shown

_WAIT = 30.0


class Session:
    """Namespaces that commands join, from `start` until `close` or the end of this process."""

    def __init__(self, process: subprocess.Popen[bytes], link: socket.socket, words: tuple[str, ...]) -> None:
        self._process = process
        self._link = link
        # INVARIANT: kept open, so that no other namespace gets its number before `close` has looked for it.
        self._namespace = os.open(f"/proc/{process.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
        self._proxy: Proxy | None = None
        self.words = words
        """Before those of a backend: they enter the namespaces, and fail if these are gone."""
        self.variables: Mapping[str, str] = {}
        """What leads programs to the proxy; empty without one."""

    @classmethod
    def start(cls, network: Network, record: Record, *, bounds: Bounds = Bounds()) -> Self:  # noqa: B008 - frozen
        """New namespaces, and the proxy if the network is one of hosts. Raises Unconfinable."""
        enter = find_program("nsenter")
        if enter is None:
            raise Unconfinable("there is no `nsenter` here", help="install the package `util-linux`")
        Destinations(network)  # before anything is started
        apart = network.mode != "open"
        link, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(  # noqa: S603 - our own file
                [sys.executable, "-I", "-S", holder.__file__, "network" if apart else "open"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                close_fds=True,
            )
        link.settimeout(_WAIT)
        try:
            listener = _set_up(process.pid, link, apart)
            into = ("--net",) if apart else ()
            words = (enter, "--target", str(process.pid), "--user", *into, "--preserve-credentials", "--")
            session = cls(process, link, words)
        except (OSError, ValueError) as error:
            _stop(process, link)
            raise Unconfinable(
                f"the namespaces of the session can't be made: {error}",
                help="unprivileged user namespaces must be allowed here",
            ) from None
        link.settimeout(None)
        if network.mode == "hosts" and listener is not None:
            port = int(listener.getsockname()[1])
            session.variables = variables(network, port)
            session._proxy = Proxy(listener, network, record, bounds=bounds)
        elif listener is not None:
            listener.close()
        return session

    @property
    def pid(self) -> int:
        """The process that holds the namespaces."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether commands can still join."""
        return self._process.poll() is None

    @property
    def mark(self) -> int:
        """For `contacts`: what is recorded from now on."""
        return self._proxy.count if self._proxy else 0

    def contacts(self, since: int = 0) -> list[Contact]:
        """What the session's commands tried to reach, after a mark: all of them, since they share the network."""
        return self._proxy.since(since) if self._proxy else []

    def close(self) -> None:
        """Ends the proxy and everything that runs in the session."""
        _stop(self._process, self._link)
        if self._namespace >= 0:
            # Had the holder been killed, nobody would have done this.
            holder.end_all(holder.identity(f"fd/{self._namespace}"))
            os.close(self._namespace)
            self._namespace = -1
        if self._proxy:
            self._proxy.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@cache
def fault() -> Unconfinable | None:
    """Why no session can be made and joined here, found by doing it once; None if it can."""
    try:
        with Session.start(Network(), lambda _: None) as session:
            ran = subprocess.run(  # noqa: S603 - our own words
                [*session.words, "/bin/true"], capture_output=True, text=True, timeout=_WAIT, check=False, cwd="/"
            )
    except Unconfinable as error:
        return error
    except (OSError, subprocess.TimeoutExpired) as error:
        return Unconfinable(f"no session can be joined here: {shown(error)}")
    return None if ran.returncode == 0 else Unconfinable(f"no session can be joined here: {shown(ran.stderr.strip())}")


def variables(network: Network, port: int) -> dict[str, str]:
    """What programs read to find the proxy; the session's own loopback is reached without it.

    A loopback host that the policy names is this machine's, so that it is left to the proxy.
    """
    proxy = f"http://127.0.0.1:{port}"
    known = Destinations(network)
    around = {"localhost": "localhost", "127.0.0.1": "127.0.0.1", "[::1]": "::1"}
    direct = ",".join(text for host, text in around.items() if not known.names_host(host))
    found = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), proxy)
    found["no_proxy"] = direct
    return found | {name.upper(): value for name, value in found.items()} | {"NODE_USE_ENV_PROXY": "1"}


def _set_up(pid: int, link: socket.socket, apart: bool) -> socket.socket | None:
    """Takes the holder to the point where it is ready; the socket that it bound inside. Raises OSError."""
    said = link.recv(200)
    if said != b"made":
        raise OSError(said.decode(errors="replace").removeprefix("no ") or "the holder ended at once")
    _map(pid)
    link.sendall(b"mapped")
    said, handles, _, _ = socket.recv_fds(link, 16, 1)
    if said != b"ready" or len(handles) != (1 if apart else 0):
        raise OSError("the holder ended before it was ready")
    return socket.socket(fileno=handles[0]) if handles else None


def _map(pid: int) -> None:
    """Everybody inside is who they are outside. Root, which may, maps all: a command then runs as somebody else."""
    for name, own in (("uid_map", os.geteuid()), ("gid_map", os.getegid())):
        known = [f"{own} {own} 1"]
        if os.geteuid() == 0:
            lines = Path(f"/proc/self/{name}").read_text().splitlines()
            known = [f"{first} {first} {count}" for first, _, count in (line.split() for line in lines)]
        elif name == "gid_map":
            Path(f"/proc/{pid}/setgroups").write_text("deny")
        Path(f"/proc/{pid}/{name}").write_text("\n".join(known))


def _stop(process: subprocess.Popen[bytes], link: socket.socket) -> None:
    with suppress(OSError):  # closed before, or nobody listens
        link.sendall(b"end")
    link.close()
    with suppress(subprocess.TimeoutExpired):
        process.wait(_WAIT)
        return
    process.kill()
    process.wait()


if __name__ == "__main__":
    sys.exit(str(fault() or "") or 0)  # what `trial.session_trial` runs
