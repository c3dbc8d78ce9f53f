"""`remit clock`: whether the clock is in doubt, and a person repairs it."""

from __future__ import annotations

import json
import time

from remit.grant.authority import Authority
from remit.grant.clock import Clock
from remit.record.open import open_ledger
from tests.cli.living_kit import POLICY, Team

YEAR = 365 * 24 * 3600


def _ahead(team: Team) -> None:
    """Somebody has acted while the clock was a year ahead."""
    with open_ledger(team.root, point="test") as opened:
        one = Authority(opened.store, opened.vault, clock=Clock(lambda: time.time() + YEAR))
        with opened.store.write() as change:
            one.clock.tick(change)


def test_a_sound_clock(free: Team) -> None:
    ran = free("clock")
    assert ran.code == 0
    assert "✅ it is not in doubt" in ran.out
    ran = free("clock", "repair", "--yes")
    assert ran.code == 2
    assert "the clock is not in doubt" in ran.err


def test_in_doubt_and_repaired(free: Team) -> None:
    _ahead(free)
    ran = free("clock", "--json")
    assert ran.code == 1
    assert json.loads(ran.out)["doubt"]["behind"] > YEAR - 60
    ran = free("clock")
    assert "remit clock repair" in ran.out
    ran = free("clock", "repair", "--yes")
    assert ran.code == 0, ran.err
    assert "✅ the clock shows" in ran.out
    ran = free("clock")
    assert ran.code == 0
    assert "repaired by" in ran.out


def test_only_a_person_repairs_it(team: Team) -> None:
    team.policy(POLICY)
    team.passphrase()
    _ahead(team)
    ran = team("clock", "repair", "--yes")
    assert (ran.code, "✅" in ran.out) == (2, False)
    assert team("clock").code == 1
    typed = team.type("clock", "repair", question="passphrase, to set the clock from ")
    assert typed.code == 0, typed.screen
    assert team("clock").code == 0
    assert [entry["what"] for entry in team.ledger("clock")][-1] == "repaired"
