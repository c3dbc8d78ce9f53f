"""Everyday commands under Landlock, which only allows, below folders: what it takes away, and why."""

from __future__ import annotations

import os
import shutil
import sys
from typing import Any

import pytest

from remit.confine import restrict
from remit.confine.backends import landlock
from remit.confine.backends.landlock import Landlock
from remit.confine.trial import Trial
from tests.attacks.confined.arena import Arena
from tests.attacks.confined.everyday import EVERYDAY, LANDLOCK_AREAS, LANDLOCK_LOSES
from tests.attacks.confined.test_everyday import Pair, difference
from tests.confine.places import NOBODY, Site, as_user

SYSTEM_PYTHON = "/usr/bin/python3"
ROWS = [(area, command) for area in LANDLOCK_AREAS for command in EVERYDAY[area]]
pytestmark = [
    pytest.mark.hosts,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root can be an ordinary user for a while"),
    pytest.mark.skipif(restrict.abi() < restrict.NEEDED, reason="the kernel has no Landlock that would do"),
    pytest.mark.skipif(not os.path.exists(SYSTEM_PYTHON), reason="nobody has no Python here"),
]


def lost(site: Site) -> list[tuple[str, str, str, Any]]:
    """What ends otherwise than without limits, with the difference and what it says; by an ordinary user."""
    sys.executable = SYSTEM_PYTHON  # of a child
    vars(landlock)["session_trial"] = lambda state: Trial(works=False)
    site.folder.joinpath("e").mkdir()
    pair = Pair(site.folder / "e/a", Arena.build(site.folder / "e/t"), lambda state: Landlock(state), tools="")
    found = []
    for area, command in ROWS:
        plain, confined = pair.both(command)
        if plain != confined:
            found.append((area, command, difference(plain, confined), pair.said))
    shutil.rmtree(site.folder / "e", ignore_errors=True)
    return found


def test_what_landlock_takes_away_is_known_with_its_reason():
    with as_user(NOBODY, Landlock) as call:
        found = call(lost)
    for one in found:
        print(*one, sep="\n    ", file=sys.stderr)
    known = {command: reason for reason, commands in LANDLOCK_LOSES.items() for command in commands}
    print(f"{len(ROWS) - len(found)} of {len(ROWS)} everyday commands are unchanged", file=sys.stderr)
    assert [command for _, command, *_ in found if command not in known] == []
    assert len(found) >= 0.6 * len(known), "it takes less away than the documentation says"
