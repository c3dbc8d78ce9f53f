"""Which host a word of a command names."""

from __future__ import annotations

import re

_WRITTEN = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:[^\s@:/?#\\\[\]]*@)?"
    r"(?:\[(?P<bracket>[0-9a-f:.]+)\]|(?P<address>[0-9a-f]*(?::[0-9a-f]*){2,})(?=/|$)|(?P<name>[\w.*-]+))(?=[:/]|$)",
    re.IGNORECASE,
)


def host_in(text: str) -> str | None:
    """The name in `user@Host.example:22`, `host:path`, `ssh://host/`, `[::1]`; lower case.

    None if nobody can tell: of `a:x@b` and `a?@b` some programs take the first name, and some the last.
    """
    found = _WRITTEN.match(text)
    if found is None or "@" in text[found.end() :].partition("/")[0]:
        return None
    return (found["bracket"] or found["address"] or found["name"]).lower().rstrip(".")
