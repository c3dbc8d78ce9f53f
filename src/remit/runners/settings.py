"""What ships as data about runners: their environment, and what git may take from a repository."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import msgspec

from remit import catalog
from remit.declare.nodes import parse
from remit.forms.texts import plain
from remit.model.decoding import Decoding


class GitSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What counts for git whatever the repository says, and what a repository may say."""

    protocols: tuple[str, ...]
    settings: dict[str, str]
    overrides: tuple[str, ...]
    harmless: tuple[str, ...]
    harmless_in_submodules: tuple[str, ...]


class RunnerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`catalog/runners.yaml`."""

    places: tuple[str, ...]
    environment: dict[str, str]
    git: GitSettings


@cache
def runner_settings() -> RunnerSettings:
    """Read once."""
    return Decoding(RunnerSettings).convert(plain(parse(catalog.text("runners.yaml"), "catalog runners.yaml")))


def git_variables(protocols: tuple[str, ...], more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The settings that hold, as variables: they count for every git below, one that another program runs too."""
    settings = {**runner_settings().git.settings, **(more or {})}
    found = {"GIT_ALLOW_PROTOCOL": ":".join(protocols), "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings.items()):
        found |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return found
