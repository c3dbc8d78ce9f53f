"""Findings about who there is: enumerations of agents against definitions, and names that nobody defines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from remit.scan.inventory import Inventory, is_lead
from remit.scan.lint.counts import is_past_page
from remit.scan.lint.finding import finding, listing
from remit.scan.model import Account, Finding, Place, Weight
from remit.scan.names import Names, key_of, parts_of, short_names
from remit.scan.rosters import (
    Mention,
    Page,
    Roster,
    is_invented,
    is_name,
    is_one_word,
    own_names,
    parts_of_text,
    shape,
    thing_key,
    without_prefix,
)
from remit.scan.vocabulary import words

_MOST = 6


class Team:
    """The agents that are defined, by every name of theirs, and by the folders that hold them."""

    def __init__(
        self,
        accounts: Sequence[Account],
        inventory: Inventory,
        others: frozenset[str],
        pages: frozenset[str] = frozenset(),
    ) -> None:
        self.known = Names([name for one in accounts for name in one.names])
        self.named = {key_of(name): key_of(one.agent) for one in accounts for name in one.names}
        self.named = {**_short(self.named), **self.named}
        self.every = {key_of(one.agent): one for one in reversed(accounts)}
        self.others = others
        """Keys of skills, commands and files that are no agents, and yet there."""
        self.pages = pages
        """Keys of the names of documents, to which a text may hand its reader, and of names in programs."""
        self.folders: dict[str, set[str]] = {}
        for thing in inventory.things["agents"]:
            key = self.named.get(key_of(thing.name.rpartition("/")[2]))
            parts = thing.path.split("/")[:-1]
            for count in range(thing.folder.count("/") + 1, len(parts) + 1):
                if key is not None:
                    self.folders.setdefault("/".join(parts[:count]), set()).add(key)

    def resolve(self, name: str) -> str | None:
        """The agent that a name means, as its first name's key."""
        found = self.named.get(key_of(name))
        if found is None and (near := self.known.resolve(name)) is not None:
            found = self.named.get(key_of(near))
        return found


def _short(named: Mapping[str, str]) -> dict[str, str]:
    """Names without the prefix that a team's names share, with whom they mean."""
    return {short: named[key_of(name)] for short, name in short_names(named).items()}


def roster_findings(
    pages: Sequence[Page],
    team: Team,
    inventory: Inventory,
    exists: Callable[[str, str], bool],
    leads: Callable[[str, str], bool],
) -> Iterator[Finding]:
    """What pages enumerate and name against who is defined.

    `exists` says whether a path leads to a file from a page or a folder above it, `leads` whether a link of it does.
    """
    used: dict[str, list[Place]] = {}
    unknown: list[tuple[list[str], list[Place], Weight | None]] = []
    silent: dict[tuple[str, ...], list[Place]] = {}
    for page in pages:
        if is_past_page(page.path):
            continue
        rosters = [one for one in page.rosters if not one.cut]
        if (missing := _left_out(page, rosters, team)) is not None:
            silent.setdefault(missing[0], []).append(missing[1])
        unknown += _unknown(page, rosters, team)
        yield from _lost(page, team, exists, leads)
        yield from _things(page, team, inventory)
        for one in page.mentions:
            named = one.form in ("handover", "at") and key_of(one.name) not in team.pages
            if named and _is_used(one, page, team) and is_unknown(one.name, team):
                used.setdefault(one.name, []).append(one.place)
    for names, places in silent.items():
        shown = listing([team.every[key].agent for key in names], _MOST)
        many = len({place.file for place in places})
        text = f"{'a document lists' if many == 1 else f'{many} documents list'} the agents; not {shown}"
        seen = [team.every[key].place for key in names[:_MOST]]
        them = "it" if len(names) == 1 else "them"
        yield finding("no-section/listed", text, *places[: 2 * _MOST], *seen, file=places[0].file, them=them)
    yield from _listed(unknown, used)
    for name, places in used.items():
        text = f"`{name}` is given work and is defined nowhere here"
        yield finding("undefined-name/used", text, *places[:_MOST], agent=name, name=name)


def _is_used(mention: Mention, page: Page, team: Team) -> bool:
    """Whether a text means an agent of this team by a name: a definition, or a page that names others so."""
    others = {team.resolve(one.name) for one in page.mentions if one.form == mention.form} - {None}
    if mention.form == "handover":
        alike = "_" not in mention.name or any("_" in one.agent for one in team.every.values())
        beside = 2 if not page.own else 1 if "skills/" in page.path else 0
        return alike and len(team.every) >= 3 and len(others) >= beside
    known = {part for key in team.every for part in key.split("-")}
    parts = parts_of(mention.name)
    return len(others) >= 3 and len(parts) > 1 and bool(known & set(parts)) and not _GROUPS.search(mention.name)


_GROUPS = re.compile(r"[-_](?:teams?|bot|org|users?|ai|io|js|group|owners?)$")
"""How people and groups of people are named behind an `@`."""


def _lost(
    page: Page, team: Team, exists: Callable[[str, str], bool], leads: Callable[[str, str], bool]
) -> Iterator[Finding]:
    """Paths of definitions, skills, commands and scripts that lead nowhere."""
    named = list(dict.fromkeys(one.name for one in page.mentions if one.form in ("file", "link")))[: _MOST * 20]
    linked = {one.name for one in page.mentions if one.form == "link" and not page.own}
    there = {path for path in named if exists(path, page.path)}
    lost: dict[str, list[str]] = {}
    for path in named:
        folder, plain = _folder_of(path)
        kind = folder.rpartition("/")[2]
        ours = folder.startswith(".") or any(one == folder or one.endswith(f"/{folder}") for one in team.folders)
        beside = sum(_folder_of(one)[0] == folder for one in there) > 1
        moved = kind in ("agents", "chatmodes") and folder.startswith(".") and team.resolve(plain) is not None
        broken = path in linked and not leads(path, page.path)
        if (broken or (path not in there and ours and (beside or moved))) and not _is_nobody(plain):
            lost.setdefault(folder, []).append(path)
    for paths in lost.values():
        if (
            not paths[0].startswith(".")
            and linked.isdisjoint(paths)
            and all(team.resolve(_folder_of(path)[1]) for path in paths)
        ):
            continue  # a short way to write where they are
        places = [next(one.place for one in page.mentions if one.name == path) for path in paths]
        text = f"{listing(paths, _MOST)} {'does' if len(paths) == 1 else 'do'} not exist"
        yield finding("missing-file", text, *places[:_MOST])
    scripts = [one for one in page.mentions if one.form == "script" and not exists(one.name, page.path)]
    if scripts:
        paths = list(dict.fromkeys(one.name for one in scripts))
        text = f"settings run {listing(paths, _MOST)}, which {'does' if len(paths) == 1 else 'do'} not exist"
        yield finding("missing-file/script", text, *(one.place for one in scripts[:_MOST]))


def _folder_of(path: str) -> tuple[str, str]:
    """The folder for all of a kind, and the name of one of them there."""
    parts = path.split("/")
    at = max(at for at, part in enumerate(parts[:-1]) if part in words("thing_folders", ""))
    plain = re.sub(r"(?:\.agent|\.chatmode|\.prompt|\.instructions)?\.\w+$", "", parts[-1])
    return "/".join(parts[: at + 1]), parts[at + 1] if plain == "SKILL" else plain


def _is_nobody(plain: str) -> bool:
    return is_invented(plain) or plain.lower() in words("no_agent_files", "") | words("no_things", "")


def need_findings(needs: Sequence[Mention], team: Team, inventory: Inventory) -> Iterator[Finding]:
    """Skills, commands and agents that definitions say their agents work with, and that nothing defines."""
    known = all_things(inventory)
    for kind in dict.fromkeys(one.form for one in needs):
        by_name: dict[str, list[Place]] = {}
        for one in needs:
            if one.form == kind:
                by_name.setdefault(one.name.lstrip("@/$"), []).append(one.place)
        unknown = [name for name in by_name if not _is_there(name, kind, known, team)]
        right = len(by_name) - len(unknown)
        if right < 2 or right < 0.6 * len(by_name):
            continue  # of another repository, or not what the words mean here
        for name in unknown:
            text = f"its definition lists `{name}` among its {kind}, and nothing defines it"
            yield finding("undefined-name/needed", text, *by_name[name][:_MOST], name=name)


def _is_there(name: str, kind: str, known: frozenset[str], team: Team) -> bool:
    """Whether a name of a kind is defined here, or need not be."""
    key = thing_key(name)
    if kind == "agents":
        return not is_unknown(name, team)
    return (
        key in known | team.others | words("builtin_commands", "")
        or is_invented(name)
        or any(_is_part(key, other) for other in known)
    )


def all_things(inventory: Inventory) -> frozenset[str]:
    """The keys of everything that is no agent, and of the folders that hold it."""
    things = [one for found in inventory.things.values() for one in found]
    return frozenset(
        {thing_key(one.name) for one in things} | {thing_key(one.folder.rpartition("/")[2]) for one in things}
    )


def _things(page: Page, team: Team, inventory: Inventory) -> Iterator[Finding]:
    """Skills, commands and the like that a page lists and nothing defines, and those that a list of all leaves out."""
    known = all_things(inventory) if page.things else frozenset()
    by_kind: dict[str, list[Roster]] = {}
    for roster in page.things:
        if not roster.cut:
            by_kind.setdefault(roster.kind, []).append(roster)
        prefixed = bool(without_prefix([thing_key(name) for name, _ in roster.names]))
        wrong = [
            (name, line)
            for name, line in roster.names
            if is_nowhere(name, known, team) and not (prefixed and thing_key(name).partition("-")[2] in known)
        ]
        if wrong:
            text = f"among the {roster.kind}, and nowhere here: {listing([name for name, _ in wrong], _MOST)}"
            yield finding("undefined-name/thing", text, *(Place(page.path, line) for _, line in wrong[:_MOST]))
    for kind, rosters in by_kind.items():
        titled = [
            one for one in rosters if one.form == "tree" or any(is_directory(each, kind) for each in one.headings[:2])
        ]
        listed = {thing_key(name) for one in rosters if titled for name, _ in one.names}
        scope = inventory.scope_of(kind, page.path)
        folders: dict[str, set[str]] = {}
        for thing in inventory.things.get(kind, ()):
            if scope is not None and thing.path.startswith(f"{scope}/" if scope else ""):
                folders.setdefault(thing.folder, set()).add(thing_key(thing.name))
        every = frozenset[str]().union(*folders.values())
        if any(
            len(all_of) > 2 and all_of <= listed and len(listed & every) <= 1.2 * len(all_of)
            for all_of in folders.values()
        ):
            continue  # all of one of the folders
        for folder, members in sorted(folders.items()):
            absent = sorted(
                key for key in members - listed if not page.names(key) and not any(_is_part(key, one) for one in listed)
            )
            renamed = kind == "skills" and len(listed - known) >= len(absent)  # a head may give another name
            whole = not page.own and any(is_whole(one, kind) for one in titled)
            share = 0.5 if whole else 0.7
            if len(listed & members) >= max(3, share * len(members)) and absent and not renamed:
                text = f"a document lists the {kind} of `{folder}`; not {listing(absent, _MOST)}"
                them = "it" if len(absent) == 1 else "them"
                yield finding("no-section/things", text, titled[0].place, file=page.path, them=them)
                break


def is_nowhere(name: str, known: frozenset[str], team: Team) -> bool:
    """Whether nothing here has the name of a skill or a command; a part of a name may stand for it."""
    key = thing_key(name)
    return (
        key not in known
        and key not in team.others | team.pages | words("builtin_commands", "")
        and team.resolve(name.lstrip("/")) is None
        and ":" not in name
        and not is_invented(name.lstrip("/"))
        and not any(_is_part(key, other) for other in known)
    )


def _is_part(key: str, other: str) -> bool:
    """Whether one of two names begins or ends with all the words of the other: `debug`, `gk-debug`."""
    short, long = sorted((key, other), key=len)
    return len(short) > 3 and f"-{long}-".find(f"-{short}-") in (0, len(long) - len(short))


def is_unknown(name: str, team: Team, *, lead: bool = False) -> bool:
    """Whether nobody defines a name; who leads others may be the host's main session, unless `lead` says otherwise."""
    key = key_of(name)
    return (
        "/" not in name  # several of them, or a folder
        and team.resolve(name) is None
        and name.lower() not in words("no_agent_files", "")
        and key not in own_names() | team.others | words("nobody", "")
        and not is_invented(name)
        and parts_of(name)[:1] not in (("all",), ("any",), ("every",), ("other",), ("others",))
        and (lead or not is_lead(name, alone=re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name) is not None))
        and ":" not in name
    )


def is_directory(heading: str, kind: str = "agents") -> bool:
    """Whether a heading introduces all of a kind, and not those for some use: "Agents", "Agent Roster (v1)"."""
    whole = words("counts_whole", "") | words("directories", "") | {kind, kind.removesuffix("s")}
    heading = _ASIDE.sub(lambda aside: aside[0] if _is_part_of_them(aside[0]) else "", heading)
    said = {word for word in parts_of_text(heading) if not re.search(r"\d", word) and word != "v"}
    unspaced = sorted((word for word in whole if word[0] >= "\u3040"), key=len, reverse=True)
    rest = {re.sub("|".join(unspaced), "", word) if word[0] >= "\u3040" else word for word in said - whole} - {""}
    return bool(said) and not rest


def is_whole(roster: Roster, kind: str = "agents") -> bool:
    """Whether a heading of an enumeration says that it has all there are: "Command Reference", "Agents Catalog"."""
    return any(
        is_directory(one, kind) and not words("says_all", "").isdisjoint(parts_of_text(one)) for one in roster.headings
    )


_ASIDE = re.compile(r"\s*[(（][^()（）]*[)）]")


def _is_part_of_them(aside: str) -> bool:
    """Whether what stands in brackets behind a heading makes it one of some only: "Agents (optional)"."""
    some = words("part_of_agents", "") | words("elsewhere", "") | words("some_of_them_only", "")
    return not some.isdisjoint(parts_of_text(aside))


def _left_out(page: Page, rosters: Sequence[Roster], team: Team) -> tuple[tuple[str, ...], Place] | None:
    """Agents that a page, which enumerates most of a team, never mentions, and where it does."""
    titled = [one for one in rosters if one.form in ("tree", "matrix") or any(map(is_directory, one.headings))]
    listed = {found for one in titled for name, _ in one.names if (found := team.resolve(name)) is not None}
    drawn = any(one.form == "tree" for one in titled)
    whole = not page.own and any(map(is_whole, titled))
    if not any(one.form in ("tree", "table", "matrix") or len(one.names) > 4 for one in titled):
        return None
    if any(len(members) > 2 and members - own_names() == listed - own_names() for members in team.folders.values()):
        return None  # all of one of the teams
    absent: dict[str, None] = {}
    for members in team.folders.values():
        if len(listed & members) >= 3 and len(listed & members) >= (0.5 if drawn or whole else 0.7) * len(members):
            absent.update(dict.fromkeys(sorted(members - listed)))
    missing = [
        key
        for key in absent
        if not any(page.names("-".join(parts_of_text(name))) for name in team.every[key].names)
        and key not in own_names()
        and not page.names(key)
        and not is_lead(key, alone=True)
    ]
    return (tuple(missing), titled[0].place) if missing else None


def _unknown(
    page: Page, rosters: Sequence[Roster], team: Team
) -> Iterator[tuple[list[str], list[Place], Weight | None]]:
    """Names in an enumeration of agents that nobody defines, where they stand, and how much that weighs."""
    for roster in rosters:
        right = [name for name, _ in roster.names if team.resolve(name) is not None]
        alike = {shape(name) for name in right} or {"id"}
        certain = roster.form in ("table", "handles") and not roster.loose
        certain = certain and all(is_one_word(name) for name, _ in roster.names)
        if not roster.part and (
            len(right) < (2 if certain else 3) or len(right) < (0.4 if certain else 0.6) * len(roster.names)
        ):
            continue
        wrong = [
            (name, line)
            for name, line in roster.names
            if is_name(name)
            and is_unknown(name, team, lead=certain and "-" in name and 5 <= len(right) >= len(roster.names) - 2)
            and (shape(name) in alike or roster.form == "tree")
            if not roster.loose or re.search(r"[-_]", name)
        ]
        if wrong:
            light = roster.form == "list" and len(right) < 5 and not any(map(is_directory, roster.headings[:1]))
            yield (
                list(dict.fromkeys(name for name, _ in wrong)),
                [Place(page.path, line) for _, line in wrong],
                Weight.NOTE if light else None,
            )


def _listed(
    unknown: Sequence[tuple[list[str], list[Place], Weight | None]], used: dict[str, list[Place]]
) -> Iterator[Finding]:
    """One finding for all enumerations that share a name which nobody defines, and for its use elsewhere."""
    groups: list[tuple[dict[str, str], list[Place], set[Weight | None]]] = []
    for names, places, weight in unknown:
        keys = {key_of(name): name for name in names}
        same = [group for group in groups if not group[0].keys().isdisjoint(keys)]
        groups = [group for group in groups if group not in same]
        merged = {key: name for group in same for key, name in group[0].items()}
        found = [place for group in same for place in group[1]]
        groups.append(({**keys, **merged}, [*found, *places], {weight}.union(*(group[2] for group in same))))
    for keys, places, weights in groups:
        named = list(keys.values())
        for name in [name for name in used if key_of(name) in keys]:
            places += used.pop(name)
        yield finding(
            "undefined-name/listed",
            f"among the agents, without a definition: {listing(named, _MOST)}",
            *places[: 2 * _MOST],
            agent=named[0] if len(named) == 1 else None,
            weight=Weight.NOTE if weights == {Weight.NOTE} else None,
        )
