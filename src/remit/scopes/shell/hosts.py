"""Which host a word of a command names."""

from __future__ import annotations

_HEXADECIMAL = frozenset("0123456789abcdef:")


def host_in(text: str) -> str:
    """The name in `user@Host.example:22`, `host:path`, `ssh://host/`, `[::1]`; lower case."""
    rest = text.partition("://")[2] if "://" in text else text
    rest = rest.partition("/")[0].rpartition("@")[2].lower()
    if rest.startswith("["):
        return rest[1:].partition("]")[0]
    is_address = rest.count(":") > 1 and _HEXADECIMAL.issuperset(rest)
    return (rest if is_address else rest.partition(":")[0]).rstrip(".")
