"""What OpenCode's settings answer for a tool: `allow`, `ask` and `deny`, for all calls or by pattern.

    permission: {edit: deny, bash: {"*": ask, "git diff*": allow, "git push*": deny}}

Of the patterns that match, the last one counts; so it is with the names of tools, which may be patterns too.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator
from typing import Any

from remit.scan.model import Entry, Mark, Place

ASK = "ask"
_AS_EDIT = ("write", "apply_patch", "patch", "multiedit")
"""Tools that are answered for under another's name."""


def is_pattern(tool: str) -> bool:
    """Whether the name of a tool stands for several: `*`, `web*`."""
    return "*" in tool


def matches(pattern: str, tool: str) -> bool:
    """Whether a pattern is about a tool, by its own name or by the one under which its host answers for it."""
    names = (tool, "edit") if tool in _AS_EDIT else (tool,)
    return any(fnmatch.fnmatchcase(name.lower(), pattern.lower()) for name in names)


def settled(entries: Iterable[Entry]) -> list[Entry]:
    """The entries that still count, in their order: a pattern takes back what was answered before for its tools."""
    kept: list[Entry] = []
    for entry in entries:
        if is_pattern(entry.tool) and entry.scope in (None, ASK):
            kept = [one for one in kept if not matches(entry.tool, one.tool)]
        kept.append(entry)
    return kept


def answers(tool: str, setting: Any, place: Place) -> Iterator[Entry]:
    """The entries that say the same. What the host does with calls that no pattern matches is nowhere in them."""
    if not isinstance(setting, dict):
        mark = Mark.NO if setting in (False, "deny") else Mark.YES if setting in (True, "allow") else Mark.SCOPED
        asked = mark is Mark.SCOPED
        yield Entry(tool, mark, place, ASK if asked else None, asked)
        return
    rules = [(str(pattern), answer) for pattern, answer in setting.items()]
    last = max((n for n, (pattern, _) in enumerate(rules) if pattern == "*"), default=-1)
    rest = rules[last][1] if last >= 0 else None
    after = {answer: [one for one, given in rules[last + 1 :] if given == answer] for answer in ("allow", ASK, "deny")}
    if rest in ("allow", ASK):
        yield from answers(tool, rest, place)
    elif not (after["allow"] or after[ASK]):
        yield Entry(tool, Mark.NO, place)
        return
    else:
        yield from (Entry(tool, Mark.SCOPED, place, pattern) for pattern in after["allow"])
    if rest != ASK:
        yield from (Entry(tool, Mark.SCOPED, place, pattern, asked=True) for pattern in after[ASK])
    yield from (Entry(tool, Mark.NO, place, pattern) for pattern in after["deny"])
