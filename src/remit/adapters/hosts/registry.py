"""Which hosts there are: those that ship with Remit, and those that installed packages bring along.

A package adds a host by an entry point in the group `remit.hosts`, whose name is the host's and whose object is a
`Host`. It can't replace one that ships with Remit.
"""

from __future__ import annotations

import re
from importlib import import_module

from remit.adapters.hosts.interface import Host
from remit.model.errors import RemitError
from remit.model.text import did_you_mean, shown

BUILT_IN = {"claude-code": "remit.adapters.hosts.claude_code"}
"""By name: the module that has it as `HOST`."""
GROUP = "remit.hosts"
_PLAIN = re.compile(r"[a-z][a-z0-9-]{0,39}")


class UnknownHost(RemitError):
    """A host that nothing here knows, or that can't be loaded."""

    code = "unknown-host"


def names() -> list[str]:
    """Every host."""
    return [*BUILT_IN, *sorted(_added().keys() - BUILT_IN.keys())]


def find(name: str) -> Host:
    """The host of this name. Raises UnknownHost."""
    if name in BUILT_IN:
        found: Host = import_module(BUILT_IN[name]).HOST
        return found
    target = _added().get(name)
    if target is None:
        raise UnknownHost(f"unknown host `{shown(name)}`{did_you_mean(name, names())}")
    module, _, attribute = target.partition(":")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:
        raise UnknownHost(f"the host `{name}` can't be loaded: {type(error).__name__}: {shown(error, 200)}") from None
    if getattr(found, "name", None) != name:
        raise UnknownHost(f"the host `{name}` says that it is another")
    return found


def _added() -> dict[str, str]:
    """By name: where installed packages have a host."""
    from importlib.metadata import entry_points

    # a name becomes part of paths and commands: one that is not plain names no host
    return {one.name: one.value for one in entry_points(group=GROUP) if _PLAIN.fullmatch(one.name)}
