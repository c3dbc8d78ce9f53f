"""Variables, caches and what is known of systems."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.confine.environment import caches, surroundings, variables
from remit.confine.git_dirs import tracked
from remit.confine.interface import Place
from tests.confine.places import populate, profile

SECRET = ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "SSH_AUTH_SOCK", "ANTHROPIC_API_KEY", "GIT_DIR", "GIT_SSH_COMMAND")


def test_git_has_an_author_and_nothing_secret_passes(tmp_path: Path) -> None:
    root = tmp_path / "root"
    populate(root)
    given_ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "LC_ALL": "C", **dict.fromkeys(SECRET, "x")}
    found = variables(profile(environment=("SSH_AUTH_SOCK", "REMIT_KEY")), Place(root, root, tmp_path), given_)
    assert found == {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "LC_ALL": "C",
        **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "A"),
        **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "a@b.example"),
        "GIT_DISCOVERY_ACROSS_FILESYSTEM": "1",
    }


def test_a_program_that_an_agent_put_into_the_path_is_not_run_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever activates the environment of a project has a folder in `PATH` that agents write."""
    root, mark = tmp_path / "root", tmp_path / "ran"
    populate(root)
    planted = root / ".venv/bin"
    planted.mkdir(parents=True)
    for name in ("git", "env", "sh", "bash", "bwrap", "nsenter", "perl"):
        (planted / name).write_text(f"#!/bin/sh\necho {name} >> {mark}\n")
        (planted / name).chmod(0o755)
    path = f"{planted}:/usr/bin:/bin"
    monkeypatch.setenv("PATH", path)
    found = variables(profile(), Place(root, root, tmp_path), {"PATH": path, "HOME": str(tmp_path)})
    assert found["PATH"] == path  # inside, it is the command's own affair
    assert found["GIT_AUTHOR_NAME"] == "A"
    tracked(root, ["a"])
    assert not mark.exists()


@given(st.sampled_from([*SECRET, "REMIT_STATE", "LD_PRELOAD", "DOCKER_HOST", "XDG_RUNTIME_DIR"]))
def test_no_policy_passes_what_never_passes(name: str) -> None:
    known = surroundings()
    place = Place(Path("/nowhere"), Path("/nowhere"), Path("/nowhere"))
    found = variables(profile(environment=(name,)), place, {"HOME": "/nowhere", "PATH": "/nowhere", name: "x"})
    never = any(name.startswith(each.removesuffix("*")) for each in known.never)
    assert (name not in found) is never


def test_the_proxy_of_the_session_counts(tmp_path: Path) -> None:
    place = Place(tmp_path, tmp_path, tmp_path, proxy={"http_proxy": "http://127.0.0.1:1"})
    assert variables(profile(), place, {"http_proxy": "http://elsewhere"})["http_proxy"] == "http://127.0.0.1:1"


def test_caches_are_folders_of_the_home() -> None:
    home = Path("/home/a")
    assert caches(profile(caches=("go", "unknown")), home) == [home / "go/pkg/mod", home / ".cache/go-build"]
    for folders in surroundings().caches.values():
        assert all(folder[0] != "/" and ".." not in folder for folder in folders)
