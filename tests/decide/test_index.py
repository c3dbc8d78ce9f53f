"""What is protected, for changes that reach many paths at once."""

from __future__ import annotations

import msgspec
import pytest

from remit.decide.index import ProtectedPaths
from remit.decide.preview import cell_of
from remit.model import Call, Facts, Rulebook
from remit.scopes.glob import Glob
from remit.scopes.interface import Unit
from tests.decide.kit import ask, book, may, outcome


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


@pytest.mark.parametrize(
    ("text", "real", "expected"),
    [
        (".cursor/rules/x", "/w/.cursor/rules/x", "allow"),
        (".claude/x", "/w/.cursor/rules/x", "deny protected"),  # a link to where protection is lifted
        (".cursor/rules/x", "/w/.claude/x", "deny protected"),  # a link from there
        ("docs/x", "/w/.cursor/rules/x", "allow"),
    ],
)
def test_both_spellings_must_lie_where_protection_is_lifted(text: str, real: str, expected: str) -> None:
    rulebook = book(agents={"a": {"may": ["write"]}}, unsafe_unprotect=[".cursor/rules/**"])
    known = Facts(root="/w", resolved={text: real})
    assert outcome(rulebook, "write", {"path": text}, facts=known) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/a/state", "deny protected"),
        ("/home/a/state/x", "deny protected"),
        ("/srv/stated", "allow"),
        ("inside/state/x", "deny protected"),
        ("inside/stated", "allow"),
    ],
)
def test_a_search_of_what_is_guarded(path: str, expected: str) -> None:
    rulebook = may({"sweep": {"path": {"allow": "**", "outside": "/**"}}})
    assert outcome(rulebook, "sweep", {"path": path}, facts=GUARDED) == expected


@pytest.mark.parametrize(("own", "tier"), [(True, 3), (False, 4)])
def test_without_a_tier_for_own_branches_a_push_publishes(own: bool, tier: int) -> None:
    rulebook = may("run")
    if not own:
        tiers = {name: rule for name, rule in rulebook.book.label_tiers.items() if name != "own_branch"}
        rulebook = Rulebook(msgspec.structs.replace(rulebook.book, label_tiers=tiers), "sha256:0")
    assert ask(rulebook, "run", {"command": "git push origin topic"}).tier == tier


@pytest.mark.parametrize(
    ("value", "effects"),
    [
        (".remit/x", "read write delete"),
        ("docs/.REMIT", "read write delete"),
        (".claude/x", "write delete"),
        (".vscode", "write delete"),
        (".github", "write delete"),
        (".", "delete"),
        (".githubs", ""),
        ("docs", ""),
    ],
)
def test_which_effects_on_a_path_touch_what_is_protected(value: str, effects: str) -> None:
    protected = ProtectedPaths(may("read").book)
    tried = ("read", "network", "write", "delete")
    found = [effect for effect in tried if protected.names_path(Unit("path", "", value, frozenset((effect,))))]
    assert found == effects.split()
    assert not protected.names_path(Unit("path", "", value))


@pytest.mark.parametrize(
    ("glob", "effects"),
    [
        ("x/.claude/*", "write delete"),
        ("x/.rem*/y", "read write delete"),
        (".remit/**", "read write delete"),
        (".git*b", "write delete"),
        ("x/**", ""),
    ],
)
def test_which_effects_on_many_paths_touch_what_is_protected(glob: str, effects: str) -> None:
    protected = ProtectedPaths(may("read").book)
    tried = ("read", "network", "write", "delete")
    units = [Unit("path", "", Glob.parse(glob), frozenset((effect,)), wide=True) for effect in tried]
    assert [effect for effect, unit in zip(tried, units, strict=True) if protected.names_path(unit)] == effects.split()


def test_what_lies_above_the_root_has_a_place_only_if_the_root_has() -> None:
    protected = ProtectedPaths(may("read").book)
    protected.above = ("../policy.yaml", "../../base.yaml")
    assert protected.above_root(None) == frozenset()
    assert protected.above_root("/w/a") == {"/w/policy.yaml", "/base.yaml"}


def test_a_push_that_does_nothing_but_publish() -> None:
    rulebook = may("run")
    cell = cell_of(rulebook, "a", "run")
    assert cell is not None
    call = Call("a", "run", {"command": "git push origin topic"})
    unit = cell.intake.units(cell.intake.values(call.args), call, Facts())[0]
    alone = msgspec.structs.replace(unit, effects=frozenset({"publish"}))
    words = "publishes: others see the branch, and nothing is built on it yet"
    assert cell.index.effect_tier(alone) == (3, words)
    assert cell.index.effect_tier(unit) == (3, words)
    assert cell.index.effect_tier(msgspec.structs.replace(unit, effects=frozenset({"publish", "deploy"}))) == (
        rulebook.book.effect_tiers["deploy"],
        rulebook.book.tier_words["effect deploy"],
    )
