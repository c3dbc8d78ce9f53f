"""Which units the arguments of a call fall into."""

from __future__ import annotations

import pytest

from tests.decide.kit import book, outcome

ARGS = {"path": "path", "glob": {"glob": "path"}}
RULE = {"look": {"path": ["src/**/*.py", "src/**/.py"]}}


@pytest.mark.parametrize(
    ("reads", "args", "expected"),
    [
        (["glob"], {"path": "src", "glob": "*.py"}, "allow"),  # the glob stands for its base
        (["glob"], {"path": "src"}, "deny not-permitted"),
        (["glob", {"below": "path"}], {"path": "src", "glob": "*.py"}, "deny not-permitted"),  # the base counts itself
        (["glob", "path"], {"path": "src", "glob": "*.py"}, "deny not-permitted"),
        ([{"below": "path"}], {"path": "src", "glob": "*.py"}, "deny not-permitted"),
    ],
)
def test_the_base_of_a_glob_is_a_unit_if_it_has_effects(
    reads: list[object], args: dict[str, str], expected: str
) -> None:
    tools = {"look": {"args": ARGS, "optional": ["glob"], "does": {"read": reads}}}
    assert outcome(book(tools=tools, agents={"a": {"may": [RULE]}}), "look", args) == expected
