"""A profile in words: what an agent's confined commands may touch."""

from __future__ import annotations

from remit.analyze.confined import narrow, usable, why_narrow
from remit.decide.preview import grid_of, profile_of
from remit.model.policy import Confine
from remit.model.profile import Limits, Profile, Region
from remit.model.rulebook import Rulebook
from remit.model.text import shown

MOST = 12
_SIZES = ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"))


def profiles(rulebook: Rulebook, agent: str) -> dict[str, tuple[Confine, Profile]]:
    """By tool that takes a text for a shell and that some rule lets the agent use: the mode and the profile."""
    grid = grid_of(rulebook)
    row = grid.row(agent)
    if row is None:
        return {}
    names = dict.fromkeys((*rulebook.book.tools, *row.caller.tools))
    cells = [grid.cell(row, tool) for name in names if (tool := row.tool(name)) is not None]
    mine = filter(usable, cells)
    return {cell.tool.name: (cell.confine, profile_of(rulebook, agent, cell.tool.name)) for cell in mine}


def in_words(profile: Profile) -> list[str]:
    """A line for each part of it."""
    lines = [
        f"writes    {_regions(profile.write)}",
        "          never what is protected, nor what lies outside the root",
    ]
    lines.append(
        "          .git as git does when it commits, without its hooks and configuration"
        if profile.git
        else "          nothing in .git: no rule lets it commit"
    )
    lines.append(f"reads     {_regions(profile.read)}, and the system")
    hidden = [text for text in profile.hidden if text.removeprefix("**/") not in profile.protected_names]
    if hidden:
        lines.append(f"          but not {_list(hidden)}")
    network = profile.network
    if network.mode == "hosts":
        lines.append(f"network   only {_list(network.urls)}, through a proxy; of https it sees the host, not the path")
    else:
        lines.append(f"network   {_NETWORK[network.mode]}")
    shares = f", and the caches of {', '.join(profile.caches)}" if profile.caches else ""
    lines.append(f"home      {_HOME[profile.home]}{shares}")
    lines.append(f"limits    {_limits(profile.limits)}")
    for text in narrow(profile):
        lines.append(f"narrower  {why_narrow(text)}")
    lines.append(f"digest    {profile.digest}")
    return lines


_NETWORK = {"none": "none", "open": "everything; commands that are not understood ask as if unconfined"}
_HOME = {"private": "empty, and gone afterwards", "read": "the user's own, read-only, without keys and tokens"}


def _regions(regions: tuple[Region, ...]) -> str:
    if not regions:
        return "all below the root"
    return "; and within ".join(_region(one) for one in regions)


def _region(region: Region) -> str:
    avoid = f" except {_list(region.except_)}" if region.except_ else ""
    may = "all below the root" if region.may == ("**",) else _list(region.may)
    return (may or "nothing") + avoid


def _list(texts: tuple[str, ...] | list[str]) -> str:
    more = f" and {len(texts) - MOST} more" if len(texts) > MOST else ""
    return ", ".join(shown(text, 120) for text in texts[:MOST]) + more


def _limits(limits: Limits) -> str:
    found = []
    if limits.seconds is not None:
        found.append(f"{limits.seconds} seconds")
    if limits.memory is not None:
        found.append(f"{_size(limits.memory)} of memory")
    if limits.processes is not None:
        found.append(f"{limits.processes} processes")
    if limits.file_size is not None:
        found.append(f"files of {_size(limits.file_size)}")
    return ", ".join(found) or "none"


def _size(amount: int) -> str:
    return next(f"{amount // unit} {word}" for unit, word in _SIZES if amount >= unit)
