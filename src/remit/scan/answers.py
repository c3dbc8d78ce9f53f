"""What settings answer for a tool: `allow`, `ask` and `deny`, for all calls or by pattern.

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
