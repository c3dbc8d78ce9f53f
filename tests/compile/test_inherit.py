"""Inheritance: rules add up; of every other key the nearest value counts, of equals the strictest."""

import pytest

from tests.decide.kit import book, outcome


def caller(**sections):
    """What agent `a` ends up with."""
    return book(**sections).book.callers["a"]


def test_rules_add_up_over_roles():
    rulebook = book(
        roles={"base": {"may": ["read"], "may_not": [{"read": {"path": "secrets/**"}}]}, "mid": {"roles": ["base"]}},
        agents={"a": {"roles": ["mid"], "may": ["write"]}},
    )
    assert rulebook.book.callers["a"].roles == ("base", "mid")
    assert outcome(rulebook, "read", {"path": "x"}) == "allow"
    assert outcome(rulebook, "write", {"path": "x"}) == "allow"
    assert outcome(rulebook, "read", {"path": "secrets/x"}) == "deny may-not"


def test_the_nearest_value_counts():
    roles = {"near": {"roles": ["far"], "data_tiers": [0, 1]}, "far": {"data_tiers": [0], "apis": []}}
    found = caller(roles=roles, agents={"a": {"roles": ["near"], "may": [], "capsule": "required"}})
    assert (found.data_tiers, found.apis, found.capsule) == ((0, 1), (), "required")


def test_the_agents_own_value_counts_before_all():
    roles = {"r": {"data_tiers": [0], "capsule": "required", "delegate_within": "chain"}}
    own = {"data_tiers": [0, 1, 2, 3], "capsule": "optional", "delegate_within": "own"}
    found = caller(roles=roles, agents={"a": {"roles": ["r"], "may": [], **own}})
    assert (found.data_tiers, found.capsule, found.delegate_within) == ((0, 1, 2, 3), "optional", "own")


def test_the_policys_value_counts_last():
    found = caller(project_code="deny", enforce={"observe": {"until": "2027-01-01"}}, agents={"a": {"may": []}})
    assert (found.project_code, found.enforce.observe_until) == ("deny", "2027-01-01T00:00:00Z")
    found = caller(
        project_code="deny", roles={"r": {"project_code": "allow"}}, agents={"a": {"may": [], "roles": ["r"]}}
    )
    assert found.project_code == "allow"


AS_TEXT = ()


@pytest.mark.parametrize(
    ("key", "one", "two", "strictest"),
    [
        ("data_tiers", [0, 1, 2], [0, 2, 3], (0, 2)),
        ("data_tiers_with_grant", [2, 3], [3], (3,)),
        ("skills", ["x", "y"], ["y", "z"], ("y",)),
        ("apis", ["https://x.example/**"], [], ()),
        ("delegates_to", ["b", "c"], ["c"], ("c",)),
        ("capsule", "optional", "required", "required"),
        ("delegate_within", "chain", "own", "chain"),
        ("project_code", "allow", "deny", "deny"),
        ("acknowledges", True, False, False),
        ("review", {"every": "30d"}, {"every": "60d"}, {"every": "30d"}),
        pytest.param("review", {"every": "90d"}, {"every": "100d"}, {"every": "90d"}, marks=AS_TEXT),
        pytest.param("review", {"every": "2d"}, {"every": "36h"}, {"every": "36h"}, marks=AS_TEXT),
    ],
)
@pytest.mark.parametrize("order", [1, -1], ids=["forth", "back"])
def test_of_several_equally_near_the_strictest_counts(key, one, two, strictest, order):
    agents = {"a": {"may": [], "roles": ["r", "s"][::order]}, "b": {"may": []}, "c": {"may": []}}
    found = caller(roles={"r": {key: one}, "s": {key: two}}, agents=agents)
    assert getattr(found, key) == strictest


def test_locks_of_several_roles():
    roles = {
        "r": {"locks": {"may": ["src/**", "docs/**"], "except": ["src/gen/**"]}},
        "s": {"locks": {"may": ["src/**", "tests/**"], "except": ["src/legacy/**"]}},
    }
    rulebook = book(roles=roles, agents={"a": {"roles": ["r", "s"], "may": ["write"]}})
    paths = ["src/a", "docs/a", "tests/a", "src/gen/a", "src/legacy/a"]
    assert [outcome(rulebook, "write", {"path": path}) for path in paths] == ["allow", *["deny locked"] * 4]


def test_observing_ends_with_the_first_of_equals():
    roles = {
        "r": {"enforce": {"observe": {"until": "2027-06-01"}}},
        "s": {"enforce": {"observe": {"until": "2027-01-01"}}},
        "t": {"enforce": "always"},
    }
    found = caller(roles=roles, agents={"a": {"may": [], "roles": ["r", "s"]}})
    assert found.enforce.observe_until == "2027-01-01T00:00:00Z"
    found = caller(roles=roles, agents={"a": {"may": [], "roles": ["r", "s", "t"]}})
    assert found.enforce.observe_until is None


def test_absent_is_not_limited_and_empty_is_none():
    rulebook = book(
        agents={"a": {"may": ["invoke", "fetch"]}, "b": {"may": ["invoke", "fetch"], "skills": [], "apis": []}}
    )
    url = {"url": "https://x.example/"}
    assert outcome(rulebook, "invoke", {"name": "x"}) == "allow"
    assert outcome(rulebook, "fetch", url) == "allow"
    assert outcome(rulebook, "invoke", {"name": "x"}, agent="b") == "deny skill-not-allowed"
    assert outcome(rulebook, "fetch", url, agent="b") == "deny api-not-allowed"


def test_no_delegates_and_nothing_to_issue_unless_said():
    found = caller(agents={"a": {"may": []}})
    assert (found.delegates_to, found.may_issue) == (None, None)
    rulebook = book(agents={"a": {"may": ["delegate"]}, "b": {"may": []}})
    assert outcome(rulebook, "delegate", {"to": "b"}) == "deny delegation-not-allowed"


def test_what_may_be_issued_is_what_all_allow():
    roles = {"r": {"may_issue": {"capsules": True, "data_tiers": [2, 3]}}, "s": {"may_issue": {"data_tiers": [3]}}}
    found = caller(roles=roles, agents={"a": {"may": [], "roles": ["r", "s"]}})
    assert found.may_issue == {"data_tiers": (3,)}
