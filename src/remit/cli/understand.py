"""`remit understand`: what a command would do, without any policy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from remit.cli.options import JsonOption

if TYPE_CHECKING:
    from remit.scopes.shell.understand import Act, Understanding

_SIGNS = {"understood": "✅", "project code": "🔧", "not understood": "❓"}


def command(
    text: Annotated[str, typer.Argument(metavar="COMMAND", help="The shell text, in quotes; - reads it from stdin.")],
    json: JsonOption = False,
) -> int:
    """Show what a shell text would run: programs, effects, paths, and what could not be followed."""
    from remit.cli.common import FINE
    from remit.cli.output import out, out_json
    from remit.scopes.shell.understand import understand

    if text == "-":
        import sys

        text = sys.stdin.read()
    found = understand(text)
    if json:
        out_json(as_json(found))
    else:
        out(_text(found))
    return FINE


def as_json(found: Understanding) -> dict[str, Any]:
    """The understanding as plain data."""
    return {
        "grade": found.grade,
        "problem": found.problem,
        "effects": sorted({effect for act in found.acts for effect in act.effects}),
        "commands": [
            {
                "program": act.program,
                "sub": list(act.sub),
                "grade": act.grade,
                "effects": sorted(act.effects),
                "paths": [
                    {"effect": t.effect, "path": t.path.text, "raw": t.path.raw, "deep": t.deep}
                    for t in (*act.touches, *act.redirected)
                ],
                "urls": [word.raw for word in act.urls],
                "hosts": [word.raw for word in act.hosts],
                "joined": sorted(act.command.joined),
                "via": list(act.via),
                "unknown": list(act.unknown),
                "refused": list(act.refused),
                "dynamic": [*act.dynamic, *act.loose],
                "text": act.command.raw,
            }
            for act in found.acts
        ],
    }


def _text(found: Understanding) -> str:
    from remit.declare.nodes import show

    if found.problem is not None:
        return f"❓ not understood: {show(found.problem, 200)}\n"
    lines = []
    for act in found.acts:
        via = f"{' → '.join(act.via)} → " if act.via else ""
        name = " ".join((act.program or "?", *act.sub))
        effects = ", ".join(sorted(act.effects)) or "nothing"
        lines.append(f"{_SIGNS[act.grade]} {show(via + name)}: {effects} ({act.grade})")
        lines.extend(f"     {show(line, 160)}" for line in _details(act))
    effects = ", ".join(sorted({effect for act in found.acts for effect in act.effects})) or "nothing"
    lines.append(f"in all: {effects}; {found.grade}")
    return "".join(f"{line}\n" for line in lines)


def _details(act: Act) -> list[str]:
    lines = []
    for touch in (*act.touches, *act.redirected):
        lines.append(f"{touch.effect}s {touch.path.raw}{' and all below' if touch.deep else ''}")
    lines.extend(f"reaches {word.raw}" for word in (*act.urls, *act.hosts))
    lines.extend(f"target {word.raw}" for word in act.targets)
    lines.extend(f"sets {name}" for name, _ in act.command.assigns)
    lines.extend(f"could not be followed: {text}" for text in act.unknown)
    lines.extend(f"not admitted by naming it: {text}" for text in act.refused)
    lines.extend(f"not literal: {text}" for text in dict.fromkeys((*act.dynamic, *act.loose)))
    return lines
