"""Which backend is taken, what a trial keeps, and what people are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.confine import pick, trial
from remit.confine.interface import Backend, Unconfinable
from remit.confine.look import is_exact
from remit.model.profile import HOLDS, Network, Profile, Region
from tests.confine.places import profile


class Known:
    """A backend of which it is known what it holds."""

    def __init__(self, name: str, *holds: str) -> None:
        self.name, self._holds = name, frozenset(holds)

    def holds(self) -> frozenset[str]:
        return self._holds

    def lacking(self) -> tuple[str, ...]:
        return () if self._holds else (f"{self.name} is not installed; apt install {self.name}",)


@pytest.mark.parametrize(
    ("chosen", "exact"),
    [
        (profile(), True),
        (profile("docs/**"), True),
        (profile("{docs,src}/**"), True),
        (profile("docs/**", avoid=("docs/secret/**", "docs/x")), True),
        (profile("**", avoid=("docs/**",)), True),
        (profile("research/*.yaml"), False),
        (profile("spikes/SPIKE-[0-9]*/**"), False),
        (profile("docs/**", avoid=("docs/**/*.lock",)), False),
        (profile("docs/a.md"), False),
    ],
)
def test_mounts_are_exact_for_whole_folders(chosen: Profile, exact: bool) -> None:
    assert is_exact(chosen) is exact


def test_the_overlay_is_taken_for_what_mounts_cannot_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = Known("bubblewrap", *HOLDS), Known("overlay", *HOLDS), Known("landlock", "write")
    given: list[Known] = [first, second, third]
    monkeypatch.setattr(pick, "backends", lambda state: tuple(given))
    assert named(pick.pick(tmp_path, profile("docs/**"))) == "bubblewrap"
    assert named(pick.pick(tmp_path, profile("docs/*.md"))) == "overlay"
    given[1] = Known("overlay")
    assert named(pick.pick(tmp_path, profile("docs/*.md"))) == "bubblewrap"
    given[0] = Known("bubblewrap")
    with pytest.raises(Unconfinable, match="apt install bubblewrap"):
        pick.pick(tmp_path, Profile("coder", (Region(("docs/**",)),), (), network=Network()))
    assert pick.lines(tmp_path)[0].startswith("commands are confined by landlock")
    given[2] = Known("landlock")
    assert pick.lines(tmp_path)[0] == "no command can be confined on this machine"
    assert pick.holds(tmp_path) == frozenset()


def named(backend: Backend) -> str:
    return backend.name


@pytest.mark.parametrize(
    ("said", "help"),
    [
        ("bwrap: setting up uid map: Permission denied", "AppArmor"),
        ("bwrap: No permissions to create new namespace, likely because…", "seccomp"),
        ("bwrap: Creating new namespace failed: … (ENOSPC): No space left on device", "max_user_namespaces"),
        ("bwrap: Can't mount proc on /newroot/proc: Operation not permitted", "container"),
        ("unshare: unshare failed: Operation not permitted", "forbidden here"),
    ],
)
def test_a_trial_that_fails_says_what_to_do(tmp_path: Path, said: str, help: str) -> None:
    found = trial.tried("x", "/bin/sh", ["/bin/sh", "-c", f'echo "{said}" >&2; exit 1'], tmp_path)
    assert not found.works
    assert said in found.said
    assert help in found.help


def test_a_trial_that_worked_is_kept_and_one_that_failed_is_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = tmp_path / "count"
    words = ["/bin/sh", "-c", f"echo x >> {count}; test -e {tmp_path}/ok"]
    for expected, runs in ((False, 1), (False, 2)):
        monkeypatch.setattr(trial, "_known", {})
        assert trial.tried("x", "/bin/sh", words, tmp_path).works is expected
        assert len(count.read_text().split()) == runs
    (tmp_path / "ok").touch()
    for _ in range(2):
        monkeypatch.setattr(trial, "_known", {})
        assert trial.tried("x", "/bin/sh", words, tmp_path).works
    assert len(count.read_text().split()) == 3
    monkeypatch.setattr(trial, "_known", {})
    monkeypatch.setattr(trial, "boot_id", lambda: "another boot")
    assert trial.tried("x", "/bin/sh", words, tmp_path).works
    assert len(count.read_text().split()) == 4
