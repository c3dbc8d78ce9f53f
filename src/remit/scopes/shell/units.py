"""A shell text as units: one for each command that would run, and one for each path and URL that it touches."""

from __future__ import annotations

from remit.scopes.glob import Glob
from remit.scopes.interface import Unit
from remit.scopes.shell.scope import Placed
from remit.scopes.shell.script import Command
from remit.scopes.shell.understand import UNKNOWN, Act, understand
from remit.scopes.url import UrlError, parse_url


def shell_units(name: str, text: str, cwd: str | None, root: str | None) -> list[Unit]:
    """The units of a text; never empty. A text that can't be read is one command that is not understood."""
    found = understand(text)
    if found.problem is not None:
        lost = Act(None, (), frozenset(), frozenset(), frozenset(), UNKNOWN, Command(()), unknown=(found.problem,))
        return [Unit("shell", name, Placed(lost, cwd, root), text=text, grade=UNKNOWN)]
    units: list[Unit] = []
    for act in found.acts:
        placed = Placed(act, cwd, root)
        dubious = any(path is None for _, path in (*placed.touches, *placed.redirected))
        raw = act.command.raw
        units.append(Unit("shell", name, placed, act.effects, text=raw, grade=act.grade, dubious=dubious))
        for touch, path in (*placed.touches, *placed.redirected):
            if path is not None:
                wide = isinstance(path, Glob)
                effects = frozenset({touch.effect})
                units.append(Unit("path", name, path, effects, wide=wide, text=touch.path.raw, derived=True))
        for word in act.urls:
            try:
                url = parse_url(word.text or "")
            except UrlError:
                continue  # an address that is no URL: the command's effect still counts
            units.append(Unit("url", name, url, frozenset({"network"}), text=word.raw, derived=True))
    if not units:
        units.append(Unit("call", "", "", text=text))
    return units
