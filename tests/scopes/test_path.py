"""Where a path lies, what a path scope must say, and its exceptions for calls that reach all below a directory."""

from __future__ import annotations

import pytest

from remit.model import PolicyError
from remit.scopes.glob import Glob
from remit.scopes.path import names_base, relative_to
from tests.decide.kit import may, outcome

SCOPE = {"path": {"allow": ["docs/**"], "except": ["docs/open/**"]}}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/a", "allow"),
        ("docs/opened", "allow"),
        ("docs", "deny not-permitted"),
        ("docs/open", "deny not-permitted"),
        ("docs/open/x", "deny not-permitted"),
        ("docs/OPEN/x", "deny not-permitted"),  # a file system may take it for the same
        ("src", "deny not-permitted"),
    ],
)
def test_permitted_is_only_what_holds_nothing_excepted(path: str, expected: str) -> None:
    assert outcome(may({"sweep": SCOPE}), "sweep", {"path": path}) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("docs/a", "deny may-not"),
        ("docs", "deny may-not"),
        ("DOCS/a", "deny may-not"),
        ("docs/OPEN/x", "deny may-not"),  # nobody knows that it is the same
        ("docs/open", "allow"),  # the call reaches what lies below it, and all of that is excepted
        ("docs/open/x", "allow"),
        ("src", "allow"),
    ],
)
def test_prohibited_is_all_that_is_not_certainly_excepted(path: str, expected: str) -> None:
    assert outcome(may("sweep", may_not=[{"sweep": SCOPE}]), "sweep", {"path": path}) == expected


@pytest.mark.parametrize(
    ("absolute", "root", "expected"),
    [
        ("/w/a/b", "/w", "a/b"),
        ("/w/a/b", "/w/", "a/b"),
        ("/w", "/w", "."),
        ("/w", "/w/", "."),
        ("/wide", "/w", "/wide"),
        ("/v", "/w", "/v"),
        ("/w/a", None, "/w/a"),
        ("/a/b", "/", "a/b"),
        ("/", "/", "."),
    ],
)
def test_a_path_at_or_below_the_root_takes_its_relative_form(absolute: str, root: str | None, expected: str) -> None:
    assert relative_to(absolute, root) == expected


@pytest.mark.parametrize("scope", [{}, {"except": ["x"]}, {"outside": []}, {"new_only": True}])
def test_a_path_scope_says_what_it_allows(scope: dict[str, object]) -> None:
    with pytest.raises(PolicyError, match="a path scope says `allow` or `outside`"):
        may({"read": {"path": scope}})


@pytest.mark.parametrize(
    ("scope", "path", "expected"),
    [
        ({"allow": [], "outside": ["/etc/**"]}, "/etc/x", "allow"),
        ({"outside": ["/etc/**"]}, "/etc/x", "allow"),
        ({"outside": ["/etc/**"]}, "x", "deny not-permitted"),
        ({"allow": ["x"], "outside": []}, "/etc/x", "deny outside-root"),
        ({"allow": ["x"]}, "x", "allow"),
    ],
)
def test_an_empty_list_allows_nothing(scope: dict[str, object], path: str, expected: str) -> None:
    assert outcome(may({"read": {"path": scope}}), "read", {"path": path}) == expected


@pytest.mark.parametrize(
    ("below", "expected"),
    [("docs/x/**", True), ("docs/x/*", False), ("docs/x/*.md", False), ("docs/y/**", False), ("docs/**", False)],
)
def test_only_all_below_a_file_is_that_file(below: str, expected: bool) -> None:
    assert names_base(["docs/x"], Glob.parse(below)) is expected


def test_a_text_with_wildcards_names_no_file() -> None:
    assert not names_base(["docs/[x]"], Glob.parse("docs/[x]/**"))


@pytest.mark.parametrize("text", ["a", "./a"])
def test_a_path_has_at_most_4096_characters(text: str) -> None:
    longest = text + "/aaa" * 1024
    codes = [outcome(may("read"), "read", {"path": longest[:size]}) for size in (4095, 4097)]
    assert codes == ["allow", "deny bad-path"]
    assert outcome(may("read"), "read", {"path": "a" * 4096}) == "allow"
