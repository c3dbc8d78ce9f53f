"""What ships as data: tool packs, tiers, labels, protected paths. YAML for people; little code here."""

from __future__ import annotations

from importlib.resources import files


def packs() -> list[str]:
    """The names of the tool packs."""
    folder = files("remit.catalog") / "packs"
    return sorted(entry.name.removesuffix(".yaml") for entry in folder.iterdir() if entry.name.endswith(".yaml"))


def text(name: str) -> str:
    """The text of one catalog file, such as `tiers.yaml` or `packs/vscode.yaml`."""
    return (files("remit.catalog") / name).read_text("utf-8")
