"""Findings about what places say of agents besides their tools: models, skills, and who does the work of a command."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from remit.model.text import shown
from remit.scan.attributes import Assignment, Attribute, same_model
from remit.scan.lint.counts import is_past_page
from remit.scan.lint.finding import finding, listing
from remit.scan.lint.rosters import Team
from remit.scan.model import Finding, Place
from remit.scan.names import key_of

_MOST = 8
_ALIKE = 0.3
"""How much two tables must share to be about the same thing."""


def attribute_findings(
    heads: Sequence[Attribute], tables: Sequence[Attribute], known: Mapping[str, frozenset[str]]
) -> Iterator[Finding]:
    """What tables and heads say differently, and names in them that nothing has. `known` are keys of names by kind."""
    tables = [one for one in tables if not is_past_page(one.place.file)]
    yield from _against_heads(heads, tables)
    yield from _against_each_other(tables, {(key_of(one.agent), one.kind) for one in heads})
    yield from _undefined(heads, tables, known)


def _against_heads(heads: Sequence[Attribute], tables: Sequence[Attribute]) -> Iterator[Finding]:
    """Tables that give agents another model or other skills than their definitions."""
    held: dict[tuple[str, str], list[Attribute]] = {}
    for one in heads:
        held.setdefault((key_of(one.agent), one.kind), []).append(one)
    wrong: dict[tuple[str, str], list[tuple[Attribute, Attribute]]] = {}
    right: dict[tuple[str, str], int] = {}
    for one in tables:
        own = held.get((key_of(one.agent), one.kind), [])
        key = (one.place.file, one.kind)
        if own and not any(_agree(one, head) for head in own):
            wrong.setdefault(key, []).append((one, own[0]))
        elif own:
            right[key] = right.get(key, 0) + 1
    for (file, kind), pairs in wrong.items():
        if kind != "model" and len(pairs) > 2 * right.get((file, kind), 0) + 1:
            continue  # a column about something else
        told = [f"`{head.agent}` ({_told(one)}; {_told(head)})" for one, head in pairs]
        what = "another model" if kind == "model" else f"other {kind}"
        text = f"a table gives {what} than the definition: {', '.join(told[:4])}{_more(told)}"
        places = [place for one, head in pairs for place in (one.place, head.place)]
        agent = pairs[0][1].agent if len(pairs) == 1 else None
        yield finding("tables-differ/head", text, *places[: 2 * _MOST], agent=agent)


def _against_each_other(tables: Sequence[Attribute], in_heads: set[tuple[str, str]]) -> Iterator[Finding]:
    """Two tables that give the same agents different models or skills."""
    by_table: dict[tuple[str, str], dict[str, Attribute]] = {}
    for one in tables:
        if one.whole and (one.kind != "model" or (key_of(one.agent), one.kind) not in in_heads):
            rows = by_table.setdefault((one.kind, one.place.file), {})
            rows[one.agent] = _both(rows[one.agent], one) if one.agent in rows and one.kind != "model" else one
    keys = sorted(by_table)
    for at, first in enumerate(keys):
        for second in keys[at + 1 :]:
            mine, theirs = by_table[first], by_table[second]
            both = sorted(mine.keys() & theirs.keys())
            if first[0] != second[0] or not both:
                continue
            differ = [agent for agent in both if not _agree(mine[agent], theirs[agent], exactly=True)]
            if not differ or (first[0] != "model" and _overlap([(mine[a], theirs[a]) for a in both]) < _ALIKE):
                continue
            told = [f"`{agent}` ({_told(mine[agent])}; {_told(theirs[agent])})" for agent in differ]
            what = "different models" if first[0] == "model" else f"different {first[0]}"
            text = f"two tables give {what} to {', '.join(told[:4])}{_more(told)}"
            places = [place for agent in differ for place in (mine[agent].place, theirs[agent].place)]
            only = differ[0] if len(differ) == 1 else None
            yield finding("tables-differ/attribute", text, *places[: 2 * _MOST], agent=only)


def _both(one: Attribute, other: Attribute) -> Attribute:
    """What two rows of one table say of an agent together."""
    named = dict(zip((*one.values, *other.values), (*one.names, *other.names), strict=True))
    return msgspec.structs.replace(one, values=tuple(named), names=tuple(named.values()))


def _agree(one: Attribute, other: Attribute, *, exactly: bool = False) -> bool:
    """Whether two places may both be right."""
    if one.kind == "model":
        return same_model(one.values[0], other.values[0])
    mine, theirs = set(one.values), set(other.values)
    return mine == theirs if one.whole or exactly else mine <= theirs


def _overlap(pairs: Sequence[tuple[Attribute, Attribute]]) -> float:
    both = sum(len({*one.values} & {*other.values}) for one, other in pairs)
    return both / max(1, sum(len({*one.values, *other.values}) for one, other in pairs))


def _told(one: Attribute) -> str:
    return shown(one.values[0], 30) if one.kind == "model" else listing(one.names, 3)


def _more(told: Sequence[str]) -> str:
    return f" and {len(told) - 4} more" if len(told) > 4 else ""


def _undefined(
    heads: Sequence[Attribute], tables: Sequence[Attribute], known: Mapping[str, frozenset[str]]
) -> Iterator[Finding]:
    """Skills that are given to agents and that nothing defines, where most of those beside them are there."""
    there = frozenset().union(*known.values())
    by_file: dict[tuple[str, str], list[tuple[str, str, Place]]] = {}
    for one in (*heads, *tables):
        if one.kind != "model":
            group = "" if one in heads else one.place.file
            rows = by_file.setdefault((one.kind, group), [])
            rows += [(key, name, one.place) for key, name in zip(one.values, one.names, strict=True)]
    for (kind, _), rows in by_file.items():
        wrong: dict[str, tuple[str, list[Place]]] = {}
        for key, name, place in rows:
            if not any(_is_same(key, other) for other in there):
                wrong.setdefault(key, (name, []))[1].append(place)
        right = {key for key, _, _ in rows} - wrong.keys()
        if wrong and len(right) >= 3 and len(right) >= len(wrong):
            text = f"given to agents, and no such {kind} here: {listing([name for name, _ in wrong.values()], _MOST)}"
            yield finding("undefined-name/thing", text, *[places[0] for _, places in wrong.values()][:_MOST])


def _is_same(key: str, other: str) -> bool:
    """Whether two keys of names mean one thing: one of them may have a prefix more."""
    return key == other or other.endswith(f"-{key}") or key.endswith(f"-{other}")


def assignment_findings(assignments: Sequence[Assignment], team: Team) -> Iterator[Finding]:
    """Commands that two tables give to different agents."""
    by_command: dict[str, list[Assignment]] = {}
    for one in assignments:
        if not is_past_page(one.place.file):
            by_command.setdefault(one.command, []).append(one)
    found: dict[tuple[str, str], list[tuple[Assignment, Assignment]]] = {}
    for given in by_command.values():
        for other in given[1:]:
            if {team.resolve(name) for name in given[0].agents}.isdisjoint(map(team.resolve, other.agents)):
                found.setdefault((given[0].place.file, other.place.file), []).append((given[0], other))
                break
    for pairs in found.values():
        told = [f"`{one.command}` ({', '.join(one.agents)}; {', '.join(other.agents)})" for one, other in pairs]
        text = f"two tables give the work of a command to different agents: {', '.join(told[:4])}{_more(told)}"
        places = [place for one, other in pairs for place in (one.place, other.place)]
        yield finding("tables-differ/commands", text, *places[: 2 * _MOST])
