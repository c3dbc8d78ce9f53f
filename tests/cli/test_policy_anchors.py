"""Anchors that the policy names: whoever empties the store can't shorten the list, and a new log is noticed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from remit import Guard
from remit.enforce.in_force import ledger_settings
from remit.model.errors import RemitError
from remit.record.open import open_ledger
from remit.service.daemon import Daemon
from remit.store.place import state_directory
from tests.cli.kit import Remit
from tests.record.project import deny


@pytest.fixture
def remit(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Remit:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("REMIT_STORE", raising=False)
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    found = Remit(root, capsys, monkeypatch)
    write(found, tmp_path / "kept")
    ran = found("activate", "--yes")
    assert ran.code == 0, ran.err
    return found


def write(remit: Remit, *anchors: Path | str) -> None:
    named = [f"file:{one}" if isinstance(one, Path) else one for one in anchors]
    ledger = {"ledger": {"anchors": named}} if named else {}
    tools = {"ping": {"does": {"network": "https://a.example/**"}, "tier": 0}}
    policy = {"remit": 1, "name": "p", "unsafe_no_credential": True, "tools": tools, "agents": {"a": {"may": ["ping"]}}}
    remit.policy(json.dumps({**policy, **ledger}))


def guard(remit: Remit) -> None:
    """A guard that starts and ends."""
    with Guard(remit.folder / "remit.yaml").start():
        pass


def daemon(remit: Remit) -> None:
    with Daemon(remit.folder, lambda host, answer: None, on_fault=pytest.fail):
        pass


def command(remit: Remit) -> None:
    with open_ledger(remit.folder, point="remit", settings=ledger_settings(remit.folder)):
        pass


POINTS = (guard, daemon, command)


def test_an_activation_is_handed_to_the_anchors_of_the_policy(remit: Remit, tmp_path: Path):
    name = f"file:{tmp_path}/kept"
    [found] = remit("ledger", "anchor", "list", "--json").json
    assert (found["anchor"], found["error"]) == (name, None)
    assert found["size"] > 0
    assert [one["anchor"] for one in remit("ledger", "verify", "--json").json["anchors"]] == [name]
    ran = remit("ledger", "anchor", "remove", name)
    assert (ran.code, "the policy names it" in ran.err) == (2, True)


@pytest.mark.parametrize("point", POINTS)
def test_all_that_write_hand_it_on(remit: Remit, tmp_path: Path, point):
    before = (tmp_path / "kept").stat().st_size
    point(remit)
    with open_ledger(remit.folder, point="test", settings=ledger_settings(remit.folder)) as opened:
        deny(opened)
        opened.ledger.flush()
        opened.push()
    assert (tmp_path / "kept").stat().st_size > before


@pytest.mark.parametrize("point", POINTS)
def test_a_new_log_where_the_anchor_knows_an_old_one_is_refused(remit: Remit, point):
    shutil.rmtree(state_directory(remit.folder))
    with pytest.raises(RemitError) as caught:
        point(remit)
    assert caught.value.code == "anchor-malformed"
    ran = remit("activate", "--yes")
    assert (ran.code, "removed or replaced" in ran.err) == (2, True)


def test_it_is_in_status_and_verify(remit: Remit, tmp_path: Path):
    shutil.rmtree(state_directory(remit.folder))
    with open_ledger(remit.folder, point="somebody"):  # who does not know the policy
        pass
    found = remit("status", "--json").json
    assert "anchor-malformed" in [one["code"] for one in found["findings"]]
    ran = remit("ledger", "verify", "--json")
    assert "anchor-malformed" in [one["code"] for one in ran.json["problems"]]


def test_a_new_place_begins_a_new_log(remit: Remit, tmp_path: Path):
    shutil.rmtree(state_directory(remit.folder))
    write(remit, tmp_path / "second")
    assert remit("activate", "--yes").code == 0
    assert (tmp_path / "second").exists()
    for point in POINTS:
        point(remit)


def test_an_anchor_that_the_policy_no_longer_names_is_not_missed(remit: Remit, tmp_path: Path):
    write(remit, tmp_path / "second")
    assert remit("activate", "--yes").code == 0
    with open_ledger(remit.folder, point="test", settings=ledger_settings(remit.folder)) as opened:
        assert opened.warnings == []


def test_whoever_empties_the_store_s_list_changes_nothing(remit: Remit, tmp_path: Path):
    """As the anchor is in the policy, an emptied file is missed, whatever the store says."""
    (tmp_path / "kept").write_text("")
    with open_ledger(remit.folder, point="test", settings=ledger_settings(remit.folder)) as opened:
        [said] = opened.warnings
    assert "keeps none" in said


@pytest.mark.parametrize("bad", ["kept", "file:kept", "ftp://x", "witness:https://w.example"])
def test_what_is_no_anchor_does_not_load(remit: Remit, bad: str):
    write(remit, bad)
    ran = remit("check")
    assert ran.code != 0
    assert "anchor" in ran.out + ran.err


def test_what_only_looks_like_an_anchor_is_not_activated(remit: Remit):
    write(remit, "witness:https://w.example+w/1+00000000+AAAA")
    ran = remit("activate", "--yes")
    assert (ran.code, "not an anchor" in ran.err) == (2, True)
    guard_policy = remit.folder / "remit.yaml"
    assert guard_policy.exists()
    assert remit("ledger", "verify").code == 0
