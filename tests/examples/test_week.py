"""Nexus and cortex through a scripted week, and `remit demo week`, which shows it."""

from __future__ import annotations

import shutil
import tempfile
import unicodedata

import pytest

from remit import catalog
from remit.grant import credential
from remit.grant.credential import Parameters
from remit.record.audit import state_faults
from remit.record.open import open_log
from remit.service.week import SPECIALIST, Week
from tests.activated import activate
from tests.cli.kit import Remit
from tests.examples.kit import EXAMPLES

QUICK = Parameters(n=2**4, r=8, p=1, length=32)
"""Nobody guesses at these passphrases."""
pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="the week is set in real repositories")


@pytest.fixture(scope="module")
def week(tmp_path_factory: pytest.TempPathFactory) -> tuple[Week, list[str]]:
    patch = pytest.MonkeyPatch()
    patch.setattr(credential, "NOW", QUICK)
    lines: list[str] = []
    found = Week(tmp_path_factory.mktemp("week"), lines.append)
    found.run()
    patch.undo()
    return found, lines


@pytest.mark.parametrize("name", ["nexus", "cortex"])
def test_the_policies_are_those_of_the_examples(name):
    assert catalog.text(f"demo/{name}.yaml") == (EXAMPLES / name / "remit.yaml").read_text("utf-8")


def test_work_waits_for_its_gate_and_keeps_to_its_scope(week):
    monday = week[1][: week[1].index("# Tuesday: a violation, and a halt (cortex)")]
    assert [line[0] for line in monday if ": Write" in line] == ["❌", "✅", "❌"]
    assert (week[0].folder / "nexus/src/search.py").read_text() == "index = {}\n"
    assert not (week[0].folder / "nexus/docs/search.md").exists()


def test_a_violation_halts_its_agent_alone_until_a_person_resumes_it(week):
    assert week[0].halted_codes == ["halted", "allowed", "allowed"]  # itself, another, itself once resumed
    assert "https://paste.example/upload" not in week[0].ran


def test_the_overdue_review_is_the_specialists(week):
    assert week[0].overdue is not None
    assert (week[0].overdue.who, week[0].overdue.state) == (SPECIALIST, "overdue")
    assert "sam signs the review; overdue now: nothing" in week[1]


def test_production_takes_two_people_and_counts_once(week):
    assert week[0].approvals == ["tier-asks", "tier-asks", "allowed", "tier-asks"]
    assert week[0].ran == ["deploy 2.1"]


def test_the_change_that_no_call_explains_is_found(week):
    report = week[0].report
    assert report is not None
    assert [one.path for one in report.unexplained] == ["src/billing.py"]
    assert [one.path for one in report.changes or () if one.by == "task"] == ["src/search.py"]
    assert week[0].incidents == ["may-not", "unexplained-change"]


def test_the_ledgers_verify_with_every_signature(week):
    assert week[0].verified == {"nexus": True, "cortex": True}
    for name in ("nexus", "cortex"):
        place = week[0].folder / name
        with open_log(place, state=place.with_name(f"{name}-state")) as opened, opened.store.read() as view:
            assert list(state_faults(view)) == []


def test_as_people_see_it_in_a_project_of_theirs(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(credential, "NOW", QUICK)
    monkeypatch.setenv("NO_COLOR", "1")
    temporary, here = tmp_path / "temporary", tmp_path / "here"
    temporary.mkdir()
    here.mkdir()
    (here / "remit.yaml").write_text("remit: 1\nagents: {a: {may: []}}\n", "utf-8")
    activate(here / "remit.yaml")
    monkeypatch.chdir(here)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    done = Remit(here, capsys, monkeypatch)("demo", "week")
    assert done.code == 0, done.err
    assert "\x1b" not in done.out
    lines = done.out.splitlines()
    wide = [sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line) for line in lines]
    assert max(wide) <= 80
    days = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    assert [line.split(":")[0] for line in lines if line.startswith(days)] == list(days)
    assert list(temporary.iterdir()) == []
