"""What an installation tells people: the diff, what the policy doesn't know, and what was left alone."""

from __future__ import annotations

from pathlib import Path

from remit.adapters.install.changes import Change, diff
from remit.adapters.install.compare import lines_for_agents, lines_for_tools
from remit.adapters.install.edits import Edits
from remit.adapters.install.own_server import Registration
from remit.cli.output import paint
from remit.forms.shapes import NAME
from remit.model.text import escaped, shown


def edits_text(edits: Edits) -> str:
    """What is found and what would change."""
    place, who = edits.place, edits.main
    lines = [paint(f"policy: {shown(place.policy, 300)}", "dim"), f"main agent: {shown(who.name)}"]
    if who.lines and not who.wanted and not who.written:
        lines += ["the policy must say so; add to it:", f"    {shown(who.lines.rstrip(), 300)}"]
    text = "".join(f"{line}\n" for line in lines)
    text += "".join(diff_text(change, place.root) for change in edits.needed)
    text += server_text(edits.server)
    text += "".join(f"{shown(line, 600)}\n" for line in edits.pins)
    return text + _found(edits)


def closing(edits: Edits, written: bool) -> str:
    """What it comes to."""
    if edits.nothing:
        text = f"{edits.place.name}: nothing to do\n"
    elif written:
        places = ", ".join(shown(one.path, 300) for one in edits.record.copies)
        text = f"{edits.place.name}: installed; hooks in {places}\n"
    else:
        text = "dry run: nothing was written\n"
    who = edits.main
    if who.lines:
        file = shown(edits.place.policy.name)
        said = f"{file} names the main agent now" if who.wanted or who.written else f"{file} must name the main agent"
        text += f"{said}: run `remit activate`; until then every call of the main agent is denied\n"
    return text


def server_text(server: Registration | None) -> str:
    """What becomes of Remit's own MCP server. No diff: the host's file may hold what nobody is to be shown."""
    if server is None or not server.change.needed:
        return ""
    word = "taken out of" if server.kept is None else "registered for this project in"
    return f"Remit's own MCP server: {word} {shown(server.change.path, 300)}\n"


def diff_text(change: Change, root: Path) -> str:
    """One change, safe to show."""
    return "".join(f"{_painted(escaped(line))}\n" for line in diff(change, root))


def _painted(line: str) -> str:
    if line.startswith(("+++", "---")):
        return paint(line, "bold")
    return paint(line, "green") if line[:1] == "+" else paint(line, "red") if line[:1] == "-" else line


def _found(edits: Edits) -> str:
    lines = _section("agents of the host that the policy does not know (their calls are denied)", edits.unknown_agents)
    lines += _paste(lines_for_agents(edits.unknown_agents))
    unable = [name for name in edits.unknown_agents if not NAME.fullmatch(name)]
    lines += _section("  a policy can't have these names; change `name:` in their definitions", unable)
    lines += _section("tools of the host that the policy does not know (they are denied)", edits.unknown_tools)
    lines += _paste(lines_for_tools(edits.place.setup, edits.unknown_tools))
    lines += _section("agents of the policy that the host has no definition of", edits.undefined_agents)
    lines += [paint(f"note: {shown(text, 600)}", "yellow") for text in edits.warnings]
    return "".join(f"{line}\n" for line in lines)


def _section(title: str, names: list[str]) -> list[str]:
    return [f"{title}: {shown(', '.join(names), 2000)}"] if names else []


def _paste(lines: list[str]) -> list[str]:
    return ["  to let the policy decide about them, add to it:", *(f"    {line}" for line in lines)] if lines else []
