"""What OpenCode's settings answer for a tool: `allow`, `ask` and `deny`, for all calls or by pattern.

    permission: {edit: deny, bash: {"*": ask, "git diff*": allow, "git push*": deny}}

Of the patterns that match, the last one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.scan.model import Entry, Mark, Place

ASK = "ask"


def answers(tool: str, setting: Any, place: Place) -> Iterator[Entry]:
    """The entries that say the same. What the host does with calls that no pattern matches is nowhere in them."""
    if not isinstance(setting, dict):
        mark = Mark.NO if setting in (False, "deny") else Mark.YES if setting in (True, "allow") else Mark.SCOPED
        yield Entry(tool, mark, place, ASK if mark is Mark.SCOPED else None)
        return
    rules = [(str(pattern), answer) for pattern, answer in setting.items()]
    last = max((n for n, (pattern, _) in enumerate(rules) if pattern == "*"), default=-1)
    rest = rules[last][1] if last >= 0 else None
    after = {answer: [one for one, given in rules[last + 1 :] if given == answer] for answer in ("allow", ASK, "deny")}
    if rest in ("allow", ASK):
        yield Entry(tool, Mark.YES if rest == "allow" else Mark.SCOPED, place, None if rest == "allow" else ASK)
    elif after["allow"]:
        yield Entry(tool, Mark.SCOPED, place, ", ".join(after["allow"]))
    elif not after[ASK]:
        yield Entry(tool, Mark.NO, place)
        return
    if after[ASK] and rest != ASK:
        yield Entry(tool, Mark.SCOPED, place, ", ".join(after[ASK]), asked=True)
    yield from (Entry(tool, Mark.NO, place, pattern) for pattern in after["deny"])
