"""Exceptions of a path scope, for calls that reach everything below a directory."""

from __future__ import annotations

import pytest

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
        ("docs/open", "allow"),
        ("docs/open/x", "allow"),
        ("src", "allow"),
    ],
)
def test_prohibited_is_all_that_is_not_certainly_excepted(path: str, expected: str) -> None:
    assert outcome(may("sweep", may_not=[{"sweep": SCOPE}]), "sweep", {"path": path}) == expected
