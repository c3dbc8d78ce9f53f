"""What ships as data: tool packs, tiers, labels, protected paths. YAML for people; little code here."""

from __future__ import annotations

import os

from remit.model.pattern import compile_later
from remit.model.shipped import HOME, shipped


def packs() -> list[str]:
    """The names of the tool packs."""
    names = os.listdir(os.path.join(HOME, "catalog", "packs"))
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


HOSTS = "remit.hosts"
"""The group of entry points by which installed packages add hosts."""
_PLAIN = compile_later(r"[a-z][a-z0-9-]{0,39}")


def is_host_name(name: str) -> bool:
    """True for what a host could be called."""
    return _PLAIN.fullmatch(name) is not None


def added_hosts() -> dict[str, str]:
    """By name: where installed packages have a host."""
    from importlib.metadata import entry_points  # here: it takes long, and few look for plugins

    # a name becomes part of paths and commands: one that is not plain names no host
    return {one.name: one.value for one in entry_points(group=HOSTS) if is_host_name(one.name)}


def hosts() -> list[str]:
    """The names of the hosts that ship with Remit."""
    names = os.listdir(os.path.join(HOME, "catalog", "hosts"))
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def text(name: str) -> str:
    """The text of one catalog file, such as `tiers.yaml` or `packs/vscode.yaml`."""
    return shipped(f"catalog/{name}").decode()
