"""Words that are joined into one text, options with known values, and programs that do at most so much."""

import pytest

from remit.languages.programs.understand import Act, understand
from remit.model.terms import UNKNOWN


def acts(text: str) -> list[Act]:
    return list(understand(text, new_shell=True).acts)


@pytest.mark.parametrize(
    "text",
    ["ssh h rm -rf x", "ssh h -p 22 rm -rf x", "ssh -t h 'rm -rf' x", "tmux new rm -rf x", "eval rm -rf x"],
)
def test_what_follows_is_one_text(text: str) -> None:
    [outer, inner] = acts(text)
    assert outer.grade != UNKNOWN
    assert (inner.program, {touch.path.text for touch in inner.touches}) == ("rm", {"x"})


def test_each_word_is_a_text() -> None:
    assert [act.program for act in acts("hyperfine ls 'rm -rf x'")] == ["hyperfine", "ls", "rm"]


@pytest.mark.parametrize(
    "text",
    [
        "ssh h -o ProxyCommand=x ls",  # options stand on both sides of the host
        "ssh h -L 1:a:2 ls",
        'ssh h "$x"',
        "python3 -X pycache_prefix=/tmp -m pytest",
        "python3 -X presite=m -m pytest",
        "cargo build -Z script",
        "brew --frobnicate",
        "svn diff --diff-cmd x",
        "hg --config alias.x=y status",
        "set -o posix",
    ],
)
def test_still_not_understood(text: str) -> None:
    assert UNKNOWN in {act.grade for act in acts(text)}


@pytest.mark.parametrize(
    "text",
    [
        "python3 -X dev -m pytest",
        "cargo build -Zbuild-std --target x",
        "cargo nextest run --cargo-profile dev",
        "du --files0-from=-",
        "set -o noclobber",
        "svn status",
        "hg log",
        "tmux show-options -g",
        "mail -s x a@x.example",
        "brew --prefix",
        'tox -e x -- "$BRANCH" --pre="$P"',
        'curl -d "$x" https://a.example/',
    ],
)
def test_understood(text: str) -> None:
    assert UNKNOWN not in {act.grade for act in acts(text)}


@pytest.mark.parametrize(
    "text", ['pip install "$(cat x)"', "uv pip install $(cat x)", 'python -m pip install "$(cat x)"']
)
def test_what_is_installed_is_not_told(text: str) -> None:
    act = acts(text)[0]
    assert act.effects >= {"install", "execute", "system", "network", "write", "delete"}
    assert [word.text for word in act.urls][:1] == [None]


def test_data_that_is_not_told_could_be_any_file() -> None:
    act = acts('curl -d "$x" https://a.example/')[0]
    assert any(touch.effect == "read" and touch.path.text is None for touch in act.touches)


@pytest.mark.parametrize(
    ("text", "effect"), [("svn commit -m x", "publish"), ("hg push", "publish"), ("mail -s x a@b.example", "publish")]
)
def test_what_others_see(text: str, effect: str) -> None:
    assert effect in acts(text)[0].effects
