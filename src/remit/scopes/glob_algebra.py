"""What globs have to do with each other: the normal form of an alternative, inclusion and intersection.

An alternative is a run of segments; a segment is a literal text or a run of atoms. Both are words over
"one thing" and "any number of things", so the same two tables answer for segments and for characters,
in time proportional to the product of the lengths.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from remit.scopes.glob_syntax import ANY, CharSet, Token, Tokens, Wild, segments

Atom = Token
Segment = str | tuple[Atom, ...]
Element = Segment | Wild
Alternative = tuple[Element, ...]

ANY_SEGMENT: Segment = (ANY, Wild.STAR)


def normal(tokens: Tokens) -> Alternative:
    """The normal form: no elements for the root, else segments and `DEEP`, which is zero or more of them.

    INVARIANT: in a run of wildcards the ones that demand something come first, and at most one that
    doesn't comes last; so that equal runs are equal values (`**/*` and what is below `**`).
    """
    if not tokens:
        return ()
    parts: list[Element] = [Wild.DEEP if part == (Wild.DEEP,) else _segment(part) for part in segments(tokens)]
    if len(parts) > 1 and parts[-1] is Wild.DEEP:
        parts.insert(-1, ANY_SEGMENT)  # `docs/**` is strictly below docs
    return tuple(_demands_first(parts, Wild.DEEP, ANY_SEGMENT))


def includes(wide: Alternative, narrow: Alternative) -> bool:
    """True only if every path of `narrow` is one of `wide`."""
    return _includes(wide, narrow, Wild.DEEP, ANY_SEGMENT, segment_includes)


def intersects(one: Alternative, other: Alternative) -> bool:
    """False only if no path belongs to both."""
    return _intersects(one, other, Wild.DEEP, segment_intersects)


def segment_includes(wide: Segment, narrow: Segment) -> bool:
    """True only if every text of `narrow` is one of `wide`."""
    return wide == narrow if isinstance(wide, str) else _segment_includes(wide, tuple(narrow))


def segment_intersects(one: Segment, other: Segment) -> bool:
    """False only if no text belongs to both."""
    both = isinstance(one, str) and isinstance(other, str)
    return one == other if both else _segment_intersects(tuple(one), tuple(other))


@functools.lru_cache(maxsize=4096)
def _segment_includes(wide: tuple[Atom, ...], narrow: tuple[Atom, ...]) -> bool:
    return _includes(wide, narrow, Wild.STAR, ANY, _char_includes)


@functools.lru_cache(maxsize=4096)
def _segment_intersects(one: tuple[Atom, ...], other: tuple[Atom, ...]) -> bool:
    return _intersects(one, other, Wild.STAR, _char_intersects)


def _char_includes(wide: str | CharSet, narrow: str | CharSet) -> bool:
    if isinstance(wide, str):
        return wide == narrow
    if isinstance(narrow, str):
        return narrow in wide
    return all(any(a <= low and high <= b for a, b in wide.ranges) for low, high in narrow.ranges)


def _char_intersects(one: str | CharSet, other: str | CharSet) -> bool:
    if isinstance(one, str):
        return one == other if isinstance(other, str) else one in other
    if isinstance(other, str):
        return other in one
    return any(a <= high and low <= b for a, b in one.ranges for low, high in other.ranges)


# The tables are filled from the ends: entry k of a row is about the last k steps of the second word, and the row
# before it, `below`, about one step less of the first.


def _includes(
    wide: Sequence[Any], narrow: Sequence[Any], many: Wild, anything: Any, covers: Callable[[Any, Any], bool]
) -> bool:
    """Whether `wide` can follow every step of `narrow`."""
    below = [True, *(False for _ in narrow)]
    for step in reversed(wide):
        row = [step is many and below[0]]
        free = step is not many and covers(step, anything)
        for k, other in enumerate(reversed(narrow)):
            if step is many:
                row.append(row[k] or below[k + 1])
            elif other is many:  # none, or one of anything and then as many again
                row.append(row[k] and free and below[k + 1])
            else:
                row.append(below[k] and covers(step, other))
        below = row
    return below[-1]


def _intersects(one: Sequence[Any], other: Sequence[Any], many: Wild, meets: Callable[[Any, Any], bool]) -> bool:
    """Whether both can take the same steps to the end."""
    below = [True]
    for theirs in reversed(other):
        below.append(theirs is many and below[-1])
    for step in reversed(one):
        row = [step is many and below[0]]
        for k, theirs in enumerate(reversed(other)):
            if many in (step, theirs):
                row.append(row[k] or below[k + 1])
            else:
                row.append(below[k] and meets(step, theirs))
        below = row
    return below[-1]


def _segment(part: Tokens) -> Segment:
    """One segment: its text if it has no wildcards, else its atoms; a star demands one character."""
    if all(isinstance(token, str) for token in part):
        return "".join(map(str, part))
    atoms: list[Atom] = []
    for token in part:
        atoms += [ANY, Wild.STAR] if token is Wild.STAR else [token]
    return tuple(_demands_first(atoms, Wild.STAR, ANY))


def _demands_first(word: Sequence[Any], many: Wild, anything: Any) -> list[Any]:
    done: list[Any] = []
    at = 0
    while at < len(word):
        run = at
        while run < len(word) and (word[run] is many or word[run] == anything):
            run += 1
        if run == at:
            done.append(word[at])
            at += 1
            continue
        wildcards = word[at:run]
        done += [wildcard for wildcard in wildcards if wildcard is not many]
        done += [many] if many in wildcards else []
        at = run
    return done
