"""Lists of subjects, such as all that were halted: this machine remembers whatever was ever added to one.

An entry is found by a column that no hash covers, and of a subject that nobody looks for, nobody would notice that it
is gone. So the memory of this machine (`state_memory.py`) has, for each list, where the first entry of its newest
subject is, and for each of these the one before it. Whoever reads an entry of somebody else adds it in its place.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from remit.store.interface import Transaction

STATES = "states"
"""The notes that hold this, and the place of the newest entry about each subject."""
BY_KEY = {"halt": 0, "incident": 0, "review": 0, "answer": 1, "daily": 1}
"""Kinds whose subjects are looked up together, and how many parts of their keys these have in common."""
BY_AGENT = "capsule"
"""The kind whose subjects are looked up by the agent that the row names."""


def list_of(of: tuple[str | int, ...], row: object) -> tuple[str | int, ...] | None:
    """Which list the first entry about something belongs to; None if to none."""
    kind = str(of[0]) if of else ""
    if kind == BY_AGENT:
        agent = row.get("agent") if isinstance(row, Mapping) else None
        return (kind, agent) if isinstance(agent, str) else None
    return of[: 1 + BY_KEY[kind]] if kind in BY_KEY else None


def note_listed(view: Transaction, names: tuple[str | int, ...], place: int) -> None:
    """Adds the first entry about a subject, which is there, to a list."""
    after, before = None, view.noted(STATES, _newest(names))
    while before is not None and before > place:
        after, before = before, _before(view, names, before)
    if before == place:
        return
    if before is not None:
        view.note(STATES, _one(names, place), before)
    view.note(STATES, _newest(names) if after is None else _one(names, after), place)


def listed_places(view: Transaction, names: tuple[str | int, ...]) -> list[int]:
    """Where the first entries about all subjects of a list are, the newest first."""
    found: list[int] = []
    place = view.noted(STATES, _newest(names))
    while place is not None:
        found.append(place)
        place = _before(view, names, place)
    return found


def _before(view: Transaction, names: tuple[str | int, ...], place: int) -> int | None:
    found: int | None = view.noted(STATES, _one(names, place))
    return found if found is not None and found < place else None


def _newest(names: tuple[str | int, ...]) -> str:
    return msgspec.json.encode(("listed", *names)).decode()


def _one(names: tuple[str | int, ...], place: int) -> str:
    return msgspec.json.encode(("listed before", place, *names)).decode()
