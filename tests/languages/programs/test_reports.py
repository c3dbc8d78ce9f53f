"""Programs that test and check overwrite no file of the workspace that is not a report or a cache."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from remit.languages.programs.profiles import Profile, profile_of, programs

PLACES = frozenset(("write", "write_tree", "report", "made", "new_folder", "into", "prefix", "target_dir"))
APART = frozenset(("tsc", "npx tsc", "go"))
"""`tsc` is in a set only where it writes nothing; what stands before a subcommand of go is none of its options."""


def _named() -> Iterator[tuple[str, Profile]]:
    """Each program, and each subcommand, that the sets for tests and checks name."""
    entries: list[Any] = [*programs().sets["test"], *programs().sets["lint"]]
    for entry in entries:
        for name, says in ({entry: {}} if isinstance(entry, str) else entry).items():
            profile = profile_of(name)
            assert profile is not None
            yield name, profile
            for sub in says if isinstance(says, list) else says.get("sub", []):
                one: Profile | None = profile
                for word in sub.split():
                    one = one.sub.get(word) if one is not None else None
                if one is not None:
                    yield f"{name} {sub}", one


def test_an_option_that_names_a_place_to_write_names_one_for_reports():
    found = {
        name
        for name, profile in _named()
        if not profile.reports and any(option.kind in PLACES for option in profile.options.values())
    }
    assert found <= APART


def test_there_is_such_an_option():
    assert len([name for name, profile in _named() if profile.reports]) > 40
