"""What a host says about one tool call, in our words: the same for every host."""

from __future__ import annotations

from typing import Any, Literal

import msgspec


class Event(msgspec.Struct, frozen=True):
    """One question or report of a host."""

    when: Literal["before", "after", "other"]
    session: str = ""
    tool: str = ""
    args: dict[str, Any] = {}
    use: str = ""
    """The host's own id of this use of the tool; before and after have the same."""
    agent: str | None = None
    """The host's name of the agent that calls; None for its main agent."""
    handed: bool = False
    """The agent was handed its work by another one."""
    cwd: str | None = None
    person: bool = False
    """Somebody sits there whom the host could ask."""
    failed: str | None = None
    """For `after`: how it failed, as a name."""
