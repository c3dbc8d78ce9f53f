"""What an activation would change, in lines for people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.analyze.changes import Change
from remit.cli.output import paint
from remit.model.text import shown
from remit.service.activation import Difference
from remit.testing.check import sizes

_LONGEST = 100_000
_MARKS = {"added": ("+", "green"), "removed": ("-", "red"), "changed": ("~", "yellow")}
_CALLERS = {"agents": "agent", "roles": "role", "runners": "runner"}


def as_text(difference: Difference) -> str:
    """The difference for people."""
    return "".join(f"{line}\n" for line in _lines(difference))


def _lines(difference: Difference) -> Iterator[str]:
    for one, fresh in difference.weakens():
        since = "new" if fresh else "as before"
        yield f"{paint('WEAKENS ENFORCEMENT', 'red')} ({since}): {shown(_weak(one), _LONGEST)}"
    force = difference.force
    if force.fault is not None:
        yield f"{paint('NOTHING IS IN FORCE', 'red')}: {shown(force.fault, _LONGEST)}"
    if force.activation is None:
        yield f"first activation: {sizes(difference.new.book)}; `remit matrix` shows who may do what"
        return
    if force.rulebook is None:
        yield "what was in force can't be compared; this is all that the new policy says:"
    yield from _callers(difference.changes)
    for change in difference.changes:
        if change.section not in _CALLERS:
            yield _line(change, f"{change.section} {change.name}".strip())
    if not difference.changes:
        yield "nothing changed"


def _callers(changes: tuple[Change, ...]) -> Iterator[str]:
    """Each caller with its changes; callers with the same changes together."""
    by_name: dict[tuple[str, str], list[Change]] = {}
    for change in changes:
        if change.section in _CALLERS:
            by_name.setdefault((change.section, change.name), []).append(change)
    blocks: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (section, name), mine in by_name.items():
        whole = [change.what for change in mine if not change.key]
        head = f"{_CALLERS[section]} {{}}" + (f" {whole[0]}" if whole else "")
        lines = tuple(_line(change, change.key, caller=True) for change in mine if change.key)
        blocks.setdefault((head, lines), []).append(shown(name, _LONGEST))
    for (head, lines), names in blocks.items():
        yield paint(head.replace("{}", ", ".join(names), 1), "bold")
        yield from (f"  {line}" for line in lines)


def _line(change: Change, what: str, *, caller: bool = False) -> str:
    mark, colour = _MARKS[change.what]
    text = what if caller or not change.key else f"{what}: {change.key}"
    if change.what == "changed":
        old, new = ("not said" if value is None else value for value in (change.old, change.new))
        text += f": {old} → {new}"
    else:
        value = change.new if change.new is not None else change.old
        verb = caller and change.key in ("may", "must_ask", "may_not")
        text += "" if value is None else f" {value}" if verb else f": {value}"
    place = f"  ({change.at})" if change.at else ""
    return paint(f"{mark} {shown(text, _LONGEST)}", colour) + paint(shown(place, _LONGEST), "dim")


def _weak(one: dict[str, Any]) -> str:
    if one["kind"] == "observe":
        return f"{one['agent']} is only observed until {one['until']}: what its rules deny is let through"
    more = " ".join(f"{key} {value}" for key, value in one.items() if key not in ("kind", "what"))
    return f"{one['what']} {more}".strip()
