"""All accounts of one agent under one name, with every spelling that was joined.

A repository may hold several teams: copies, versions, plugins. What stands below a folder with definitions of its own
belongs to that team, and everything else to the repository's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from remit.scan.model import Account, Agent, Kind
from remit.scan.names import Names, key_of, short_names
from remit.scan.vocabulary import words

_ORDER = (Kind.POLICY, Kind.DEFINITION, Kind.RECORD, Kind.SECTION, Kind.CODE, Kind.MATRIX, Kind.ROSTER, Kind.SETTINGS)


def teams_of(accounts: Sequence[Account]) -> list[str]:
    """The folders of the repository that hold a team of agents, longest first."""
    found = {_folder(one.place.file) for one in accounts if one.kind is Kind.DEFINITION}
    return sorted(found | {""}, key=len, reverse=True)


def _folder(path: str) -> str:
    parts = path.split("/")[:-1]
    own = next((at for at, part in enumerate(parts) if part in words("team_folders", "")), len(parts))
    return "/".join(parts[:own])


def merge(accounts: Sequence[Account]) -> list[Agent]:
    """The agents, sorted by name. Short names of a matrix join the only full name that they can stand for."""
    folders = teams_of(accounts)
    by_team: dict[str, list[Account]] = {}
    for account in accounts:
        if account.kind is not Kind.POLICY:
            by_team.setdefault(team_of(account.place.file, folders), []).append(account)
    _adopt(by_team)
    for account in accounts:
        if account.kind is Kind.POLICY:
            own = [team for team, members in by_team.items() if key_of(account.agent) in _defined(members)]
            for team in own or [""]:
                by_team.setdefault(team, []).append(account)
    found = [agent for team, members in by_team.items() for agent in _merge(members, team)]
    return sorted(found, key=lambda one: (one.name.lower(), one.team))


def _adopt(by_team: dict[str, list[Account]]) -> None:
    """A document of a repository without definitions of its own belongs to the only team that it speaks of."""
    if _defined(by_team.get("", [])):
        return
    names = {team: _defined(members) for team, members in by_team.items() if team}
    files: dict[str, list[Account]] = {}
    for account in by_team.get("", []):
        files.setdefault(account.place.file, []).append(account)
    for found in files.values():
        spoken = {key_of(account.agent) for account in found}
        known = [team for team, keys in names.items() if len(spoken & keys) >= max(2, 0.6 * len(spoken))]
        if len(known) == 1:
            by_team[known[0]] += found
            by_team[""] = [account for account in by_team[""] if account not in found]


def team_of(path: str, folders: Sequence[str]) -> str:
    """The team that a file belongs to, of the folders of all."""
    return next(folder for folder in folders if not folder or path.startswith(f"{folder}/"))


def _clashing(accounts: Sequence[Account]) -> set[str]:
    """The keys that two agents of one folder share, such as `Review` and `Review Agent`: those go by the whole name."""
    seen: dict[tuple[str, str], set[str]] = {}
    for one in accounts:
        if one.kind is Kind.DEFINITION:
            folder = one.place.file.rpartition("/")[0]
            seen.setdefault((key_of(one.agent), folder), set()).add(one.agent.lower())
    return {key for (key, _), names in seen.items() if len(names) > 1}


def _defined(accounts: Sequence[Account]) -> set[str]:
    return {key_of(one.agent) for one in accounts if one.kind is Kind.DEFINITION}


def _merge(accounts: Sequence[Account], team: str) -> list[Agent]:
    full = {key_of(one.agent): one.agent for one in accounts if one.kind not in (Kind.MATRIX, Kind.ROSTER)}
    defined = [one.agent for one in accounts if one.kind in (Kind.DEFINITION, Kind.POLICY)]
    short = {key: key_of(name) for key, name in short_names(defined).items()}
    clashing = _clashing(accounts)
    known_names = Names(full.values())
    files = {key_of(name): key_of(one.agent) for one in accounts if one.kind is Kind.DEFINITION for name in one.names}
    known = {key_of(name) for name in defined}
    groups: dict[str, list[Account]] = {}
    for account in accounts:
        key = key_of(account.agent)
        if key in clashing:
            groups.setdefault(re.sub(r"[\W_]+", "-", account.agent.lower()), []).append(account)
            continue
        if account.kind in (Kind.MATRIX, Kind.SECTION, Kind.ROSTER) and key not in known:
            key = short.get(key) or files.get(key) or key
        if account.kind in (Kind.MATRIX, Kind.ROSTER) and key not in full:
            near = known_names.resolve(account.agent)
            key = key_of(near) if near is not None else key
        groups.setdefault(key, []).append(account)
    found = []
    for members in groups.values():
        members.sort(key=lambda one: (_ORDER.index(one.kind), one.place))
        names = tuple(dict.fromkeys(one.agent for one in members))
        found.append(Agent(names[0], names, tuple(members), team))
    return found
