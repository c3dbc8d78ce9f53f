"""The blast radius of a text by itself: what a command, a query, a URL or a path would reach, whoever asks for it.

    radius = radius_of(rulebook, "shell", "pip install x")
    radius.tier, radius.why     # 3, "installs dependencies: …"

The rulebook gives the labels and tiers; its agents and rules play no part.
"""

from __future__ import annotations

from typing import Any

import msgspec

from remit.decide.preview import grid_of, preview_call
from remit.model.call import Call
from remit.model.decision import Target
from remit.model.errors import NotUnderstood
from remit.model.facts import Facts
from remit.model.policy import Argument, Caller, Does, Tool
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.scopes.kinds import kind_of

_NOBODY = "anyone"


class Radius(msgspec.Struct, frozen=True):
    """How far one text reaches, and why."""

    effects: tuple[str, ...]
    grade: str
    tier: int
    why: str
    data_tier: int
    data_why: str
    targets: tuple[Target, ...]
    problem: str | None = None
    """Why it can't be read at all; then it would be denied."""

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "effects": self.effects,
            "grade": self.grade,
            "tier": self.tier,
            "tier_reason": self.why,
            "data_tier": self.data_tier,
            "data_reason": self.data_why or None,
            "targets": self.targets,
            "problem": self.problem,
        }

    def lines(self) -> list[str]:
        """For people."""
        if self.problem is not None:
            return [f"not read: {shown(self.problem, 200)}; the call would be denied"]
        found = [f"tier {self.tier}: {shown(self.why, 200)}"]
        if self.data_tier:
            found.append(f"data tier {self.data_tier}: {shown(self.data_why, 200)}")
        return found


def radius_of(
    rulebook: Rulebook,
    kind: str,
    text: str,
    effect: str | None = None,
    dialect: str = "sqlite",
    root: str | None = None,
) -> Radius:
    """The radius of a text of one kind. `effect` is that of a tool on it, where the text itself doesn't tell."""
    about = kind_of(kind)
    does = () if about.language else (Does(effect or about.usual_effect, "text"),)
    tool = Tool("text", args={"text": Argument(kind)}, does=does, dialect=dialect)
    book = msgspec.structs.replace(rulebook.book, callers={_NOBODY: Caller(_NOBODY, "agent")})
    grid = grid_of(Rulebook(book, rulebook.hash))
    row = grid.row(_NOBODY)
    if row is None:
        raise LookupError(_NOBODY)
    try:
        found = preview_call(grid.cell(row, tool), Call(_NOBODY, "text", {"text": text}), Facts(root=root))
    except NotUnderstood as error:
        return Radius((), "not understood", 0, "", 0, "", (), str(error))
    reason, data_reason = found.tier_why, found.data_why
    return Radius(found.effects, found.grade, found.tier, reason, found.data_tier, data_reason, found.targets)
