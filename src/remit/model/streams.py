"""Targets of streams: which there are, and how they are written."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_PLACES = ("file", "syslog+unix")
_HOSTS = ("syslog+udp", "syslog+tcp", "syslog+tls")
PORTS = {"syslog+udp": 514, "syslog+tcp": 601, "syslog+tls": 6514}


class Target(NamedTuple):
    """Where a stream goes: a path, a host and port, or a URL."""

    kind: str
    path: str = ""
    host: str = ""
    port: int = 0
    url: str = ""


def check_target(text: str) -> Target:
    """Reads a target. Raises ValueError."""
    kind, _, rest = text.partition(":")
    if not text.isprintable() or " " in text or len(text) > 2048:
        raise ValueError("a target has no spaces or control characters, and is not long")
    if kind in _PLACES:
        if not rest.startswith("/") or rest.endswith("/"):
            raise ValueError(f"write {kind}:/PATH, with an absolute path")
        return Target(kind, path=rest)
    if kind not in (*_HOSTS, "http", "https"):
        known = ", ".join((*_PLACES, *_HOSTS, "https"))
        raise ValueError(f"a stream goes to one of {known}")
    parts = urlsplit(text)
    if not parts.hostname or parts.username is not None or parts.password is not None or parts.fragment:
        raise ValueError("name a host, without user, password or fragment")
    if kind in _HOSTS:
        if parts.path or parts.query:
            raise ValueError(f"write {kind}://HOST:PORT")
        return Target(kind, host=parts.hostname, port=parts.port or PORTS[kind])
    if kind == "http" and parts.hostname not in LOCAL:
        raise ValueError("plain http goes only to this machine; write https://")
    return Target(kind, host=parts.hostname, port=parts.port or (443 if kind == "https" else 80), url=text)
