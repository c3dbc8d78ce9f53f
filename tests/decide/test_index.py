"""What is protected, for changes that reach many paths at once."""

from __future__ import annotations

import pytest

from remit.model import Facts
from tests.decide.kit import book, may, outcome


def changed(effect: str, reach: str) -> str:
    """The outcome of a tool that always changes what lies there."""
    tools = {"tidy": {"args": {}, "does": {effect: reach}, "tier": 1}}
    return outcome(book(tools=tools, agents={"a": {"may": ["tidy"]}}), "tidy")


@pytest.mark.parametrize("effect", ["write", "delete"])
@pytest.mark.parametrize(
    "reach",
    [
        ".vs*ode",  # might be the directory that `.vscode/settings.json` lies in
        ".VS*ODE",
        ".github/h*s",
        ".git*b",  # or one above
        ".vscode/*",  # might match a protected glob
        ".clau*",  # might be a protected name
        ".claude/x",
        "**",
    ],
)
def test_a_wide_change_might_reach_what_is_protected(effect: str, reach: str) -> None:
    assert changed(effect, reach) == "deny protected"


@pytest.mark.parametrize("effect", ["write", "delete"])
@pytest.mark.parametrize("reach", ["docs/x", "docs/**", ".vs*x", ".github/x/**", ".vscode/*.md", "x/.vs*ode"])
def test_other_wide_changes_are_judged_as_usual(effect: str, reach: str) -> None:
    assert changed(effect, reach) != "deny protected"


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/state/x", "allow"), ("/state", "allow"), ("/", "allow"), ("x", "allow")],
)
def test_a_path_without_effects_is_neither_read_nor_changed(path: str, expected: str) -> None:
    tools = {"name": {"args": {"path": "path"}, "does": "nothing"}}
    rulebook = book(tools=tools, agents={"a": {"may": [{"name": {"where": {"path": {"optional": True}}}}]}})
    known = Facts(guarded=("/state",), sealed=("/state",), root="/")
    assert outcome(rulebook, "name", {"path": path}, facts=known) == expected


GUARDED = Facts(root="/w", guarded=("/home/a/state", "/w/inside/state"))


def reached(effect: str, reach: str) -> str:
    """The outcome of a tool with a fixed reach, where two directories are guarded."""
    tools = {"tidy": {"args": {}, "does": {effect: reach}, "tier": 1}}
    return outcome(book(tools=tools, agents={"a": {"may": ["tidy"]}}), "tidy", facts=GUARDED)


@pytest.mark.parametrize(
    ("reach", "changing", "reading"),
    [
        ("/home/*", "deny protected", "deny outside-root"),  # above it, only a change counts
        ("/ho*/a", "deny protected", "deny outside-root"),
        ("/home/a/state/*", "deny protected", "deny protected"),
        ("/srv/*", "deny outside-root", "deny outside-root"),
        ("docs/*", "allow", "allow"),
    ],
)
def test_wide_paths_around_what_is_guarded(reach: str, changing: str, reading: str) -> None:
    assert reached("read", reach) == reading
    assert reached("write", reach) == changing


@pytest.mark.parametrize(
    ("tool", "path", "expected"),
    [
        ("read", ".", "allow"),
        ("write", ".", "deny protected"),
        ("write", "inside", "deny protected"),
        ("read", "inside", "allow"),
        ("read", "inside/state/x", "deny protected"),
        ("write", "insides", "allow"),
    ],
)
def test_the_root_is_above_what_is_guarded_in_it(tool: str, path: str, expected: str) -> None:
    assert outcome(may("read", "write"), tool, {"path": path}, facts=GUARDED) == expected
