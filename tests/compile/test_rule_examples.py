"""Examples in a rule: decided by the whole rulebook for that agent when the policy loads."""

import pytest

from remit.model import PolicyError, Problem
from tests.decide.kit import book


def problems(**sections) -> list[Problem]:
    with pytest.raises(PolicyError) as caught:
        book(**sections)
    return list(caught.value.problems)


def test_examples_that_hold():
    examples = {
        "allow": ["docs/a.md", {"path": "docs/b.md"}],
        "ask": ["docs/deploy/.env"],
        "deny": ["src/a.py", "../x", "docs/../src/a.py", "docs/private/x"],
    }
    rule = {"write": {"path": "docs/**", "examples": examples}}
    book(agents={"a": {"may": [rule], "may_not": [{"write": {"path": "docs/private/**"}}]}})


@pytest.mark.parametrize(
    ("expected", "path", "is_"),
    [
        ("allow", "src/a", "deny: write is limited to docs/** for a"),
        ("deny", "docs/a", "allow: allowed"),
        ("ask", "docs/a", "allow: allowed"),
        (
            "allow",
            "docs/.env",
            "ask: tier 4 asks human (docs/.env is labelled security: keys and authentication guard everything else)",
        ),
    ],
)
def test_an_example_that_fails(expected, path, is_):
    rule = {"write": {"path": "docs/**", "examples": {expected: [path]}}}
    assert problems(agents={"a": {"may": [rule]}}) == [
        Problem(
            "example-fails",
            f"the example `{path}` of a is expected to be {expected}, but is {is_}",
            "policy.agents.a.may[0].write",
        )
    ]


def test_the_examples_of_a_role_are_decided_for_each_member():
    roles = {"writer": {"may": [{"write": {"path": "docs/**", "examples": {"allow": ["docs/a"]}}}]}}
    agents = {"a": {"roles": ["writer"]}, "b": {"roles": ["writer"], "may_not": ["write"]}}
    assert [problem.message.split(" is ")[0] for problem in problems(roles=roles, agents=agents)] == [
        "the example `docs/a` of b"
    ]


def test_examples_of_a_prohibition():
    rule = {"write": {"path": "docs/**", "examples": {"deny": ["docs/a"], "allow": ["src/a"]}}}
    book(agents={"a": {"may": ["write"], "may_not": [rule]}})


def test_an_example_has_the_context_that_the_rule_wants():
    book(agents={"a": {"may": [{"write": {"when": {"mode": "auto"}, "examples": {"allow": ["x"]}}}]}})


def test_an_example_has_the_capsule_that_the_agent_needs():
    book(agents={"a": {"may": [{"write": {"examples": {"allow": ["x"]}}}], "capsule": "required"}})


def test_an_example_that_leaves_open_which_argument_it_is():
    found = problems(agents={"a": {"may": [{"copy": {"examples": {"allow": ["x"]}}}]}})
    assert [(problem.code, problem.message) for problem in found] == [
        ("bad-example", "give the arguments of the example `x` as a mapping")
    ]
    book(agents={"a": {"may": [{"copy": {"examples": {"allow": [{"from": "x", "to": "y"}]}}}]}})


def test_shell_examples_are_decided():
    rule = {"run": {"shell": {"run": ["ls"]}, "examples": {"allow": ["ls"], "deny": ["rm x", "ls; rm x"]}}}
    rulebook = book(agents={"a": {"may": [rule]}})
    assert rulebook.book.notices == ()
    wrong = {"run": {"shell": {"run": ["ls"]}, "examples": {"allow": ["rm x"], "deny": ["ls"]}}}
    assert [problem.message.split(" is ")[0] for problem in problems(agents={"a": {"may": [wrong]}})] == [
        "the example `rm x` of a",
        "the example `ls` of a",
    ]


@pytest.mark.parametrize(
    "rule",
    [
        {"query": {"sql": {"select": "any"}, "examples": {"allow": ["SELECT 1"], "deny": ["DROP TABLE x"]}}},
        {
            "run": {
                "shell": {"run": [{"sqlite3": {"db": "x.db", "sql": {"select": "any"}}}]},
                "examples": {"allow": ["sqlite3 x.db 'SELECT 1'"], "deny": ["sqlite3 x.db 'DROP TABLE x'"]},
            }
        },
    ],
    ids=["argument", "terminal"],
)
def test_sql_examples(rule):
    assert book(agents={"a": {"may": [rule]}}).book.notices == ()
    for scope in rule.values():
        examples = scope["examples"]
        scope["examples"] = {"allow": examples["deny"], "deny": examples["allow"]}
    assert len(problems(agents={"a": {"may": [rule]}})) == 2


def test_all_failing_examples_are_reported():
    rule = {"write": {"path": "docs/**", "examples": {"allow": ["x", "y"], "deny": ["docs/z"]}}}
    assert len(problems(agents={"a": {"may": [rule]}})) == 3
