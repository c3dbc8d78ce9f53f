"""Skills and commands that texts speak of as there, and that nothing defines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from remit.scan.inventory import Inventory
from remit.scan.lint.counts import is_past_page
from remit.scan.lint.finding import finding
from remit.scan.lint.rosters import Team, all_things, is_nowhere, is_unknown
from remit.scan.model import Finding, Place
from remit.scan.names import common_prefix, key_of
from remit.scan.rosters import Mention, shape, thing_key
from remit.scan.spoken import CALLED, Spoken
from remit.scan.vocabulary import words

_MOST = 12
_FEWEST = 3


def spoken_findings(
    spoken: Sequence[Spoken], team: Team, inventory: Inventory, reported: Sequence[Finding]
) -> Iterator[Finding]:
    """One finding for each name, with every text that speaks of it beside names most of which are defined."""
    known = all_things(inventory) | {thing_key(one.name) for one in spoken if one.kind == CALLED}
    seen = {place for one in reported for place in one.places}
    groups: dict[tuple[str, str], dict[str, list[Spoken]]] = {}
    for one in spoken:
        if one.kind != CALLED and not is_past_page(one.place.file):
            group = groups.setdefault((_source(one.place.file), one.kind), {})
            group.setdefault(thing_key(one.name), []).append(one)
    lost: dict[tuple[str, str], list[Spoken]] = {}
    for (_, kind), names in groups.items():
        prefix = common_prefix(names)
        absent = {
            key
            for key, found in names.items()
            if is_nowhere(found[0].name, known, team)
            and not (prefix and key.removeprefix(f"{prefix}-") in known)
            and key not in words("public_skills", "")
        }
        if not _mostly(len(names) - len(absent), len(absent)):
            continue
        beside = _beside(names)
        for key in absent:
            right = [one for one in names[key] if all(_twice(beside[each], absent) for each in _scopes(one))]
            if right:
                lost.setdefault((kind, key), []).extend(right)
    for (kind, _), found in lost.items():
        places = list(dict.fromkeys(one.place for one in found))
        if not seen.issuperset(places):
            text = f"`{found[0].name}` is named among the {kind}, and nothing defines it"
            yield finding("undefined-name/spoken", text, *_one_per_file(places), name=found[0].name)


def _mostly(right: int, absent: int) -> bool:
    return right >= _FEWEST and right >= 2 * absent


def _scopes(one: Spoken) -> tuple[tuple[str, str], ...]:
    """The text, and the list or the table, that a name is of."""
    return (one.place.file, ""), (one.place.file, one.within)


def _beside(names: Mapping[str, Sequence[Spoken]]) -> dict[tuple[str, str], set[str]]:
    """The keys that each text, and each list or table, speaks of."""
    found: dict[tuple[str, str], set[str]] = {}
    for key, mentions in names.items():
        for one in mentions:
            for scope in _scopes(one):
                found.setdefault(scope, set()).add(key)
    return found


def _twice(keys: set[str], absent: set[str]) -> bool:
    """Whether two thirds of what one text speaks of are there: the others may come from elsewhere."""
    return len(keys - absent) >= 2 * len(keys & absent)


def colleague_findings(colleagues: Sequence[Mention], team: Team, reported: Sequence[Finding]) -> Iterator[Finding]:
    """One finding for each name that definitions list as an agent theirs works with, where most are defined."""
    seen = {place for one in reported for place in one.places}
    groups: dict[tuple[str, str, str], dict[str, list[Mention]]] = {}
    for one in colleagues:
        group = groups.setdefault((_source(one.place.file), one.form, shape(one.name)), {})
        group.setdefault(key_of(one.name), []).append(one)
    lost: dict[str, list[Mention]] = {}
    for names in groups.values():
        absent = [key for key, found in names.items() if is_unknown(found[0].name, team)]
        right = sum(team.resolve(found[0].name) is not None for found in names.values())
        if _mostly(right, len(absent)):
            for key in absent:
                lost.setdefault(key, []).extend(names[key])
    for found in lost.values():
        places = list(dict.fromkeys(one.place for one in found))
        if not seen.issuperset(places):
            name = found[0].name
            text = f"`{name}` is named as an agent to work with, and nothing defines it"
            yield finding("undefined-name/spoken", text, *_one_per_file(places), name=name)


def _one_per_file(places: Sequence[Place]) -> list[Place]:
    """The first place in each file, and then the others."""
    first = {place.file: place for place in reversed(places)}
    return [*sorted(first.values()), *(place for place in places if place not in first.values())][:_MOST]


def _source(path: str) -> str:
    """The folder that holds all of a kind, for a text of one of them; a document is alone."""
    parts = path.split("/")
    at = next((at for at, part in enumerate(parts[:-1]) if part in words("thing_folders", "")), None)
    return "/".join(parts[: at + 1]) if at is not None and not re.fullmatch(r"(?i)readme\.md", parts[-1]) else path
