"""Ways of delegation: to whom an agent's work can come, over whom, and who binds what is done there.

A call binds those along its chain up to the last who delegates `within: chain`. Of several ways to the same agent only
those count that bind least: whatever another way lets through, one of them does too.
"""

from __future__ import annotations

from collections import defaultdict, deque

import msgspec

from remit.decide.grid import PerRulebook
from remit.model.rulebook import Book
from remit.model.terms import MAX_CHAIN

MOST_WAYS = 20_000
"""Ways that are looked at; beyond that the rest is taken as unbound, which overstates."""


class Way(msgspec.Struct, frozen=True):
    """One way to one agent or runner."""

    to: str
    chain: tuple[str, ...]
    """From the first who hands work on to the one before `to`."""
    bound: tuple[str, ...] = ()
    """Those along the chain who may do it themselves, or it is denied."""


class Ways(msgspec.Struct, frozen=True):
    """Everything that can be reached from one agent."""

    by_name: dict[str, tuple[Way, ...]]
    """The shortest first."""
    complete: bool = True
    """False: there were too many ways, and what is said of them is more than can happen."""


def ways_from(book: Book, start: str) -> Ways:
    """The ways from an agent, without going round, and with at most so many hand-overs as a chain may hold.

    Going round adds nothing: who comes twice only lengthens the chain, and a longer chain never binds less.
    """
    found: dict[str, list[tuple[frozenset[str], Way]]] = {}
    if start not in book.callers or not book.callers[start].enabled:
        return Ways({})
    takers = direct_takers(book)
    seen: dict[str, list[tuple[frozenset[str], frozenset[str]]]] = {}
    waiting = deque([Way(start, ())])
    looked = 0
    while waiting:
        way = waiting.popleft()
        looked += 1
        if looked > MOST_WAYS:
            return _overstated(book, start, takers)
        if len(way.chain) >= MAX_CHAIN:
            continue
        chain = (*way.chain, way.to)
        bound = chain if book.callers[way.to].delegate_within == "chain" else way.bound
        for taker in takers[way.to]:
            if taker in chain:
                continue
            # Another way over some of the same, which binds no more, can go on wherever this one can.
            before, binding = frozenset(chain), frozenset(bound)
            known = seen.setdefault(taker, [])
            if any(one <= before and two <= binding for one, two in known):
                continue
            known.append((before, binding))
            further = Way(taker, chain, bound)
            waiting.append(further)
            _keep(found.setdefault(taker, []), binding, further)
    return Ways({name: tuple(way for _, way in ways) for name, ways in sorted(found.items())})


def _keep(ways: list[tuple[frozenset[str], Way]], binding: frozenset[str], way: Way) -> None:
    """Keeps the way unless another binds no more; drops those that bind more."""
    if any(other <= binding for other, _ in ways):
        return
    ways[:] = [(other, kept) for other, kept in ways if not binding <= other]
    ways.append((binding, way))


def direct_takers(book: Book) -> dict[str, list[str]]:
    """Whom each can hand work to, as `hands_to` says; without comparing all with all, since policies have thousands."""
    live = [caller for caller in book.callers.values() if caller.enabled]
    called, asking = defaultdict[str, set[int]](set), defaultdict[str, set[int]](set)
    for place, taker in enumerate(live):
        for word in (taker.name, *taker.roles):
            called[word].add(place)
        for word in taker.called_by or ():
            asking[word].add(place)
    found = {}
    for giver in book.callers.values():
        places = set[int]().union(*(called.get(word, ()) for word in giver.delegates_to or ()))
        places.update(*(asking.get(word, ()) for word in (giver.name, *giver.roles)))
        found[giver.name] = [live[place].name for place in sorted(places) if live[place].name != giver.name]
    return found


takers_of = PerRulebook(lambda rulebook: direct_takers(rulebook.book))
"""The same, made once for each rulebook."""


def _overstated(book: Book, start: str, takers: dict[str, list[str]]) -> Ways:
    """Each that can be reached over a shortest way, bound by nobody but a start that binds all."""
    bound = (start,) if book.callers[start].delegate_within == "chain" else ()
    found: dict[str, tuple[Way, ...]] = {}
    waiting = deque([Way(start, (), bound)])
    while waiting:
        way = waiting.popleft()
        if len(way.chain) >= MAX_CHAIN:
            continue
        for taker in takers[way.to]:
            if taker != start and taker not in found:
                further = Way(taker, (*way.chain, way.to), bound)
                found[taker] = (further,)
                waiting.append(further)
    return Ways(dict(sorted(found.items())), complete=False)
