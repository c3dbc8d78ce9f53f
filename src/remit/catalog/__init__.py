"""What ships as data: tool packs, tiers, labels, protected paths. YAML for people; little code here."""

from __future__ import annotations

import os

from remit.model.shipped import HOME, shipped


def packs() -> list[str]:
    """The names of the tool packs."""
    names = os.listdir(os.path.join(HOME, "catalog", "packs"))
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def hosts() -> list[str]:
    """The names of the hosts."""
    names = os.listdir(os.path.join(HOME, "catalog", "hosts"))
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


def text(name: str) -> str:
    """The text of one catalog file, such as `tiers.yaml` or `packs/vscode.yaml`."""
    return shipped(f"catalog/{name}").decode()
