"""What is written must count: an entry that would be silently ignored, or widen, does not load."""

import pytest

from remit.model import PolicyError
from tests.decide.kit import TOOLS, book, outcome

NETWORK = {"effect": "network"}


def codes(**sections):
    """The codes of the problems for which the policy does not load."""
    with pytest.raises(PolicyError) as caught:
        book(**sections)
    return [problem.code for problem in caught.value.problems]


def test_an_empty_list_of_effects_does_not_load():
    assert codes(agents={"a": {"may": [{"write": {"effect": []}}]}}) == ["bad-value"]


def test_an_empty_list_of_values_does_not_load():
    tools = {"set": {"args": {"mode": {"one_of": []}}, "does": "nothing"}}
    assert codes(tools=tools, agents={"a": {"may": ["set"]}}) == ["bad-value"]


def test_a_condition_with_parts_of_which_one_would_be_ignored_does_not_load():
    tools = {"set": {"args": {"n": "number"}, "does": "nothing"}}
    rule = {"set": {"where": {"n": {"range": [0, 100], "max": 10}}}}
    assert codes(tools=tools, agents={"a": {"may": [rule]}}) == ["bad-value"]


@pytest.mark.parametrize("exception", [{}, {"effect": []}, {"where": {}}])
def test_an_empty_exception_does_not_load(exception):
    prohibition = {"effect": "network", "except": exception}
    assert codes(agents={"a": {"may": ["fetch"], "may_not": [prohibition]}}) == ["bad-value"]


@pytest.mark.parametrize("verb", ["may", "must_ask", "may_not"])
@pytest.mark.parametrize("entry", [{}, []])
def test_an_empty_entry_is_an_error(verb, entry):
    record = {"may": ["read"], verb: [entry]}
    with pytest.raises(PolicyError):
        book(agents={"a": record})


def test_a_range_that_contains_nothing_is_an_error():
    tools = {"set": {"args": {"n": "number"}, "does": "nothing"}}
    rule = {"set": {"where": {"n": {"range": [10, 1]}}}}
    with pytest.raises(PolicyError):
        book(tools=tools, agents={"a": {"may": ["set"], "may_not": [rule]}})


@pytest.mark.parametrize("args", [{"a": "text", "a.b": "path"}, {"a": "path", "a[]": "text"}], ids=["field", "list"])
def test_contradicting_arguments_do_not_load(args):
    tools = {"odd": {"args": args, "does": "nothing"}}
    with pytest.raises(PolicyError):
        book(tools=tools, agents={"a": {"may": ["odd"]}})


@pytest.mark.parametrize("reach", ["a//**", "../**", "https://[**", "https://user@host/**", "a/[b"])
def test_a_reach_that_can_not_be_read_does_not_load(reach):
    tools = {"reach": {"args": {}, "does": {"read": reach}}}
    with pytest.raises(PolicyError):
        book(tools=tools, agents={"a": {"may": ["reach"]}})


def test_a_reach_outside_the_root_is_never_covered_by_accident():
    tools = {"t": {"args": {"p": "path"}, "does": {"read": ["/etc/**", "p"]}}}
    rulebook = book(tools=tools, agents={"a": {"may": ["t"]}})
    assert outcome(rulebook, "t", {"p": "x/a"}) == "deny outside-root"
    assert codes(tools=tools, agents={"a": {"may": [{"t": {"path": "x/**"}}]}}) == ["never-applies"]


@pytest.mark.parametrize(("kind", "default"), [("number", "abc"), ("flag", "yes"), ("path", "a//b"), ("glob", "a/[")])
def test_a_default_that_its_kind_refuses_does_not_load(kind, default):
    tools = {"t": {"args": {"x": kind}, "optional": ["x"], "defaults": {"x": default}, "does": "nothing"}}
    with pytest.raises(PolicyError):
        book(tools=tools, agents={"a": {"may": ["t"]}})


def test_examples_of_a_rule_without_a_tool_are_not_ignored():
    rule = {"effect": "write", "examples": {"allow": [{"path": "x"}]}}
    with pytest.raises(PolicyError):
        book(agents={"a": {"may": ["write"], "may_not": [rule]}})


def test_an_example_beside_a_condition_on_the_capsule_fails():
    """Nobody knows the capsule C-1 when a policy is compiled."""
    rule = {"read": {"when": {"capsule": "C-1"}, "examples": {"allow": ["x"]}}}
    assert codes(agents={"a": {"may": [rule]}}) == ["example-fails"]


@pytest.mark.parametrize(
    "more",
    [{}, {"never": [{"agent": "a", "tool": "read"}]}],
    ids=["example", "never"],
)
def test_a_condition_on_the_context_without_values(more):
    scope = {"when": {"mode": []}, "examples": {"deny": ["x"]}}
    if more:
        del scope["examples"]
    assert codes(agents={"a": {"may": [{"read": scope}]}}, **more) == ["bad-value"]


def test_an_unknown_agent_in_a_condition_does_not_load():
    rule = {"delegate": {"where": {"to": {"agent": ["nobody"]}}}}
    with pytest.raises(PolicyError) as caught:
        book(agents={"a": {"may": [rule]}})
    assert [problem.code for problem in caught.value.problems] == ["unknown-agent"]


@pytest.mark.parametrize("section", ["agents", "roles", "runners"])
@pytest.mark.parametrize("name", ["human", "chain", "system"])
def test_words_with_a_meaning_are_no_names(section, name):
    with pytest.raises(PolicyError):
        book(**{"agents": {"a": {"may": []}}, section: {name: {"may": []}}})


def test_every_tool_of_the_kit_is_used_as_declared():
    """The policies above differ from a good one only in what they test."""
    rulebook = book(agents={"a": {"may": list(TOOLS)}})
    assert outcome(rulebook, "think", {"text": "x"}) == "allow"
