"""Past calls are those of agents: a message that was no call is refused and recorded, and counts nowhere."""

from __future__ import annotations

from remit.record import past


class _Stored:
    def __init__(self, **data: object) -> None:
        self.data = {"type": "intent", **data}


def test_messages_without_an_agent_and_a_tool_are_no_calls(monkeypatch) -> None:
    entries = [
        _Stored(agent="", tool="", code="malformed-call", session=None),
        _Stored(agent="a", tool="Read", session=None),
        _Stored(agent="a", tool="Read", session="remit-probe-1"),
        _Stored(agent="a", tool="", session=None),
    ]
    monkeypatch.setattr(past, "all_said", lambda view, first=0: [(one, one.data) for one in entries])
    monkeypatch.setattr(past, "_past", lambda view, stored, data: stored)
    assert list(past.past_calls(None)) == [entries[1], entries[3]]  # type: ignore[arg-type,comparison-overlap]
