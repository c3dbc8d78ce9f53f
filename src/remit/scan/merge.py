"""All accounts of one agent under one name, with every spelling that was joined.

A repository may hold several teams: copies, versions, plugins. What stands below a folder with definitions of its own
belongs to that team, and everything else to the repository's.
"""

from __future__ import annotations

from collections.abc import Sequence

from remit.scan.model import Account, Agent, Kind
from remit.scan.names import key_of, resolve
from remit.scan.vocabulary import words

_ORDER = (Kind.DEFINITION, Kind.RECORD, Kind.SECTION, Kind.CODE, Kind.MATRIX, Kind.SETTINGS)


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
        team = next(folder for folder in folders if not folder or account.place.file.startswith(f"{folder}/"))
        by_team.setdefault(team, []).append(account)
    found = [agent for team, members in by_team.items() for agent in _merge(members, team)]
    return sorted(found, key=lambda one: (one.name.lower(), one.team))


def _merge(accounts: Sequence[Account], team: str) -> list[Agent]:
    full = {key_of(one.agent): one.agent for one in accounts if one.kind is not Kind.MATRIX}
    groups: dict[str, list[Account]] = {}
    for account in accounts:
        key = key_of(account.agent)
        if account.kind is Kind.MATRIX and key not in full:
            near = resolve(account.agent, full.values())
            key = key_of(near) if near is not None else key
        groups.setdefault(key, []).append(account)
    found = []
    for members in groups.values():
        members.sort(key=lambda one: (_ORDER.index(one.kind), one.place))
        names = tuple(dict.fromkeys(one.agent for one in members))
        found.append(Agent(names[0], names, tuple(members), team))
    return found
