"""Policies for kinds of teams, as they ship in `catalog/teams/`."""

from __future__ import annotations

import os

from remit import catalog
from remit.draft.model import CONFINE, Draft
from remit.model.errors import RemitError
from remit.model.shipped import HOME
from remit.model.text import did_you_mean, shown


def teams() -> list[str]:
    """The names of the kinds of teams."""
    names = os.listdir(os.path.join(HOME, "catalog", "teams"))
    return sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml") and ".test." not in name)


def about(team: str) -> str:
    """One sentence about a kind of team."""
    return catalog.text(f"teams/{team}.yaml").split("\n", 1)[0].removeprefix("# ")


def draft_for(team: str) -> Draft:
    """The draft for a kind of team. Raises RemitError."""
    if team not in teams():
        known = ", ".join(teams())
        raise RemitError(
            f"no team `{shown(team)}`{did_you_mean(team, teams())}; there are {known}", code="unknown-team"
        )
    policy, tests = catalog.text(f"teams/{team}.yaml"), catalog.text(f"teams/{team}.test.yaml")
    decisions = [
        "the agents' names: they must be those of your host or program",
        "the folders, tables and hosts in the scopes",
    ]
    if "# confine: required" in policy:
        decisions.append(CONFINE)
    return Draft(policy, tests, tuple(decisions), policy.count("\n    may:"))
