"""Which hosts there are: those that ship with Remit, and those that installed packages bring along.

A package adds a host by an entry point in the group `remit.hosts`, whose name is the host's and whose object is a
`Host`. It can't replace one that ships with Remit.
"""

from __future__ import annotations

from importlib import import_module

from remit.adapters.hosts.interface import Host
from remit.model.errors import RemitError
from remit.model.text import shown, suggestion

BUILT_IN = {
    "claude-code": "remit.adapters.hosts.claude_code",
    "copilot-cli": "remit.adapters.hosts.copilot_cli",
    "opencode": "remit.adapters.hosts.opencode",
    "codex": "remit.adapters.hosts.codex",
    "gemini-cli": "remit.adapters.hosts.gemini_cli",
    "cursor": "remit.adapters.hosts.cursor",
}
"""By name: the module that has it as `HOST`."""


class UnknownHost(RemitError):
    """A host that nothing here knows, or that can't be loaded."""

    code = "unknown-host"


def names() -> list[str]:
    """Every host."""
    from remit import catalog  # here: a hook has no use for it

    return [*BUILT_IN, *sorted(catalog.added_hosts().keys() - BUILT_IN.keys())]


def _editors() -> dict[str, str]:
    """The programs that run the hooks of a host, by their packs: `vscode`, with that host."""
    catalogs = ((name, import_module(path).HOST.setup().catalog) for name, path in BUILT_IN.items())
    return {pack: name for name, catalog in catalogs for pack in catalog.also}


def find(name: str) -> Host:
    """The host of this name. Raises UnknownHost."""
    if name in BUILT_IN:
        found: Host = import_module(BUILT_IN[name]).HOST
        return found
    from remit import catalog  # here: for the same reason

    if not catalog.is_host_name(name):
        form = "a host's name has at most 40 characters of a-z, 0-9 and -, and begins with a letter"
        raise UnknownHost(f"unknown host `{shown(name)}`: {form}{suggestion(name, names())}")
    target = catalog.added_hosts().get(name)
    if target is None and name in (editors := _editors()):
        help_ = f"its agents run the hooks of {editors[name]}: `remit install {editors[name]}`"
        raise UnknownHost(f"`{shown(name)}` is not a host of its own", help=help_)
    if target is None:
        raise UnknownHost(f"unknown host `{shown(name)}`{suggestion(name, names())}")
    module, _, attribute = target.partition(":")
    place = f"the host `{name}` (entry point `{shown(target)}`)"
    if not attribute:
        raise UnknownHost(f"{place} can't be loaded: it names a module and no object; write `module:object`")
    try:
        found = getattr(import_module(module), attribute)
    except Exception as error:
        raise UnknownHost(f"{place} can't be loaded: {type(error).__name__}: {shown(error, 200)}") from None
    own = getattr(found, "name", None)
    if own is None:
        raise UnknownHost(f"{place} is not a host: {shown(type(found).__name__)} has no `name`")
    if own != name:
        raise UnknownHost(f"{place} is another host: its own name is `{shown(own)}`")
    return found
