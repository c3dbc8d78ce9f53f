"""Links among what a pattern stands for, looked up on a real disk and compared with what the shell itself finds."""

import os
import subprocess

import pytest

from remit.enforce import link_look
from remit.enforce.link_look import links_among
from remit.scopes.glob import Glob


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "project"
    for name in ("docs/sub", "private", "src/deep/er"):
        (root / name).mkdir(parents=True)
    for name, to in {
        "docs/up": "..",
        "docs/to": "../remit.yaml",
        "docs/sub/out": "/etc",
        "src/deep/er/p": "../../../private",
        "private/q": "../docs/sub",
        "docs/plain.md": "",
    }.items():
        (root / name).symlink_to(to) if to else (root / name).touch()
    return str(root)


def look(root, *patterns):
    return links_among([Glob.parse(text) for text in patterns], root)


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("docs/*.md", {}),
        ("docs/t?", {"docs/to": "remit.yaml"}),
        ("docs/sub/*", {"docs/sub/out": "/etc"}),
        ("docs/s*/out", {"docs/sub/out": "/etc"}),
        ("nowhere/*", {}),
    ],
)
def test_finds_the_links_that_a_pattern_matches(root, pattern, expected):
    assert look(root, pattern) == expected


def test_finds_the_links_that_a_pattern_leads_through_and_those_behind_them(root):
    found = look(root, "src/deep/*/p/*")
    assert found["src/deep/er/p"] == "private"
    assert found["private/q"] == "docs/sub"
    assert found["docs/sub/out"] == "/etc"


def test_begins_at_a_folder_that_is_a_link(root):
    assert look(root, "docs/up/private/*")["private/q"] == "docs/sub"


@pytest.mark.parametrize("pattern", ["docs/*", "docs/*/*", "src/*/*/*", "*/*", "docs/u*/private/*"])
def test_every_link_that_bash_expands_to_is_there(root, pattern):
    found = look(root, pattern)
    names = subprocess.run(
        ["bash", "-O", "nullglob", "-c", f"printf '%s\\n' {pattern}"], cwd=root, capture_output=True, check=True
    )
    for name in names.stdout.decode().split():
        real = os.path.realpath(os.path.join(root, name))
        if real == os.path.join(root, name):
            continue
        ways = [link for link in found if name == link or name.startswith(link + "/")]
        assert ways or any(real == os.path.join(root, to) or real == to for to in found.values()), name


def test_what_is_too_much_to_look_at_leads_anywhere(root, monkeypatch):
    monkeypatch.setattr(link_look, "MAX_ENTRIES", 2)
    assert look(root, "docs/**")["docs/**"] == ""


def test_so_does_a_link_that_leads_in_circles(root):
    os.symlink("round", os.path.join(root, "docs/round"))
    assert look(root, "docs/*")["docs/*"] == ""
