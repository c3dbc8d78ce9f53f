"""What a repository has of the things that documents count: agents, skills, commands, hooks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache

import msgspec

from remit.scan.names import key_of, parts_of
from remit.scan.vocabulary import section, words

_DOCUMENT = re.compile(r"(?:^|/)(?:[A-Z\d_-]{3,}|.*(?i:[-_](?:registry|index|guide|template|overview|summary)))\.md$")
_TEAM = 3
"""How many files without a head make a team."""


class Thing(msgspec.Struct, frozen=True):
    """A file, or a folder, that is one of a kind."""

    folder: str
    """Where all of its kind lie: `plugin/skills`."""
    name: str
    """Its name there: `testing/unit`."""

    @property
    def file(self) -> str:
        """The file that it is, or that names it."""
        return self.folder if self.folder.endswith((".json", ".jsonc", ".toml")) else self.path

    @property
    def path(self) -> str:
        return f"{self.folder}/{self.name}"


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((kind, re.compile(one["path"])) for kind, one in section("countables").items() if "path" in one)


def thing_of(path: str) -> tuple[str, Thing] | None:
    """What a file is, and of which kind; None if nobody counts it."""
    for kind, pattern in _patterns():
        match = pattern.match(f"/{path}")
        if match and match[2].rpartition("/")[2].lower() not in words("no_things", ""):
            return kind, Thing(match[1], match[2])
    return None


class Inventory:
    """The things of a repository, by kind. `loose` files may be agents or not: they have no head."""

    def __init__(
        self, paths: Iterable[str], agents: Sequence[str], loose: Sequence[str], settings: Sequence[tuple[str, Thing]]
    ) -> None:
        self.paths = frozenset(paths)
        self.things: dict[str, list[Thing]] = {}
        for path in sorted(self.paths):
            found = thing_of(path)
            if found is not None:
                self.things.setdefault(found[0], []).append(found[1])
        self.things["agents"] = [_agent(path) for path in sorted(set(agents))]
        for kind, thing in settings:
            self.things.setdefault(kind, []).append(thing)
        self.loose = [_agent(path) for path in sorted(set(loose))]
        self._adopt()
        self.starts: frozenset[str] = frozenset()
        """The names of the hooks that settings start."""
        self.modes: list[str] = []
        """The mode of each agent, where its host has such modes; empty for one that names none."""
        self._folders: dict[str, list[str]] = {}
        self._sizes: dict[tuple[str, str, bool], list[tuple[frozenset[str] | None, frozenset[int]]]] = {}

    def _adopt(self) -> None:
        """Files without a head are agents where no file of their folder has one; names in capitals are documents."""
        with_head = {one.folder for one in self.things["agents"]}
        headless = [one for one in self.loose if one.folder not in with_head and _DOCUMENT.search(one.name) is None]
        found = [one for one in headless if sum(other.folder == one.folder for other in headless) >= _TEAM]
        self.things["agents"] += found
        self.loose = [one for one in self.loose if one not in found and _DOCUMENT.search(one.name) is None]

    def folders(self, kind: str) -> list[str]:
        """Every folder that holds things of a kind, at any depth below the one for all of them."""
        if kind not in self._folders:
            found: set[str] = set()
            for thing in self.things.get(kind, ()):
                found.add(thing.folder)
                parts = thing.name.split("/")[:-1]
                found.update(f"{thing.folder}/{'/'.join(parts[:count])}" for count in range(1, len(parts) + 1))
            self._folders[kind] = sorted(found)
        return self._folders[kind]

    def sizes(
        self, kind: str, scope: str, *, named: bool = False, said: frozenset[str] | None = None
    ) -> frozenset[int]:
        """Every number of things below a folder that somebody may mean: all, those of one folder, each name once.

        Whoever named the folder means what lies in it, with or without the folders below. Who counts all of a team
        means one of its own folders; another's, or a part, only if a word of `said` names it.
        """
        key = (kind, scope, named)
        if key not in self._sizes:
            self._sizes[key] = self._count(kind, scope, named)
        return frozenset[int]().union(
            *(
                numbers
                for words_of, numbers in self._sizes[key]
                if said is None or words_of is None or not words_of.isdisjoint(said)
            )
        )

    def _count(self, kind: str, scope: str, named: bool) -> list[tuple[frozenset[str] | None, frozenset[int]]]:
        """The numbers of each folder, with the words that must be said for it to be meant, if any."""
        found = _below(self.things.get(kind, ()), scope)
        loose = _below(self.loose, scope) if kind == "agents" else []
        own = {one.folder for one in found if _home(one.folder) == scope}
        groups: dict[str, list[Thing]] = {scope: found}
        for thing in found:
            holder = thing.path.rpartition("/")[0]
            if named:
                groups.setdefault("directly in it", []).extend([thing] if holder == scope else ())
            if not named or kind == "hooks":  # scripts lie beside what they share
                for folder in {holder, thing.folder, thing.folder.rpartition("/")[0]} - {scope}:
                    groups.setdefault(folder, []).append(thing)
        sizes = []
        for folder, things in groups.items():
            more = len(_below(loose, folder))
            builtin = sum(kind == "agents" and key_of(one.name) in words("builtin_agents", "") for one in set(things))
            # a command's folder is part of its name
            once = len({key_of(one.name if kind == "commands" else one.name.rpartition("/")[2]) for one in things})
            marked = sum(one.path.endswith(".agent.md") for one in set(things))  # pages beside them may be none
            readings = (len(set(things)), once, len(set(things)) - builtin, marked)  # a program's own may be left out
            numbers = {size for many in readings for size in range(many, many + more + 1)}
            meant = (
                named
                or kind == "hooks"
                or folder in {scope, *own}
                or (not own and folder in {one.folder for one in things})
            )
            apart = None if meant else _words_of(folder.removeprefix(scope))
            sizes.append((apart, frozenset(numbers - {0})))
        return sizes

    def has(self, kind: str, scope: str) -> bool:
        """Whether there is something of a kind below a folder."""
        return bool(_below(self.things.get(kind, ()), scope))

    def whole(self, kind: str, scope: str) -> tuple[str, int]:
        """The folder below another that holds the most things of a kind, and how many it holds."""
        things = _below(self.things.get(kind, ()), scope)
        if kind == "hooks":  # what lies deeper may be shared by them
            things = [one for one in things if "/" not in one.name] or things
        found = [one.folder for one in things]
        most = max(
            sorted(set(found)), key=lambda one: (one.rpartition("/")[2] in words("thing_folders", ""), found.count(one))
        )
        return most, found.count(most)

    def of_mode(self, mode: str) -> frozenset[int]:
        """How many agents are of a mode: those without one may be, and a host's own two."""
        sure, open_to = self.modes.count(mode), sum(one in ("", "all") for one in self.modes)
        return frozenset(range(sure, sure + open_to + 1)) | {sure + 1, sure + 2} | {0}

    def started(self, scope: str) -> int:
        """How many hooks below a folder are started by settings."""
        return sum(one.name.rpartition("/")[2] in self.starts for one in _below(self.things.get("hooks", ()), scope))

    def leads(self, scope: str) -> int:
        """How many agents below a folder lead the others."""
        leading = {one.name for one in _below(self.things["agents"], scope) if is_lead(one.name)}
        return len(leading)

    def scope_of(self, kind: str, page: str) -> str | None:
        """The nearest folder around a page whose team has things of a kind; None if there are none."""
        things = self.things.get(kind, ())
        homes = {_home(one.folder) for one in things}
        folder = page.rpartition("/")[0]
        while folder:
            own = folder in homes or folder.rpartition("/")[2] in words("team_folders", "")
            if own and _below(things, folder):
                return folder
            folder = folder.rpartition("/")[0]
        return "" if things else None

    def named_for(self, word: str, scope: str) -> frozenset[int]:
        """How many agents below a folder have a word in their names: all of them, and each name once."""
        found = [one for one in _below(self.things["agents"], scope) if word in parts_of(one.name.rpartition("/")[2])]
        return frozenset({len(found), len({key_of(one.name.rpartition("/")[2]) for one in found})})


def is_lead(name: str, *, alone: bool = False) -> bool:
    """Whether an agent's name says that it leads others; `alone`: and not that it manages some matter."""
    parts = parts_of(name.rpartition("/")[2])
    leading = words("leads", "") - (words("leads_of_matters", "") if alone and len(parts) > 1 else frozenset())
    return not leading.isdisjoint(parts)


def _home(folder: str) -> str:
    """The folder of the team that keeps its things in another: the repository's, for a program's hidden folder."""
    parts = folder.split("/")[:-1]
    while parts and (parts[-1] in words("team_folders", "") or parts[-1].startswith(".")):
        parts.pop()
    return "/".join(parts)


def _words_of(folder: str) -> frozenset[str]:
    """The words of a folder's path that tell it from others."""
    parts = {word for word in re.findall(r"[^\W_]+", folder.lower()) if not word.isdigit()}
    return frozenset(parts | {word.removesuffix("s") for word in parts}) - words("thing_folders", "")


def _agent(path: str) -> Thing:
    parts = path.split("/")
    own = next(
        (at for at, part in enumerate(parts) if part in ("agents", "agent", "chatmodes", "modes")), len(parts) - 2
    )
    return Thing("/".join(parts[: own + 1]), "/".join(parts[own + 1 :]))


def _below(things: Sequence[Thing], folder: str) -> list[Thing]:
    return [one for one in things if not folder or one.path.startswith(f"{folder}/")]
