"""What is written must count: an entry that would be silently ignored, or widen, does not load."""

import pytest

from remit.model import PolicyError
from tests.decide.kit import TOOLS, book, may, outcome

NETWORK = {"effect": "network"}


def test_an_empty_list_of_effects_permits_nothing():
    try:
        rulebook = may({"write": {"effect": []}})
    except PolicyError:
        return
    assert outcome(rulebook, "write", {"path": "x"}) == "deny not-permitted"


def test_an_empty_list_of_values_admits_no_value():
    tools = {"set": {"args": {"mode": {"one_of": []}}, "does": "nothing"}}
    try:
        rulebook = book(tools=tools, agents={"a": {"may": ["set"]}})
    except PolicyError:
        return
    assert outcome(rulebook, "set", {"mode": "anything"}) == "deny mistyped-argument"


def test_every_part_of_a_condition_counts():
    tools = {"set": {"args": {"n": "number"}, "does": "nothing"}}
    rule = {"set": {"where": {"n": {"range": [0, 100], "max": 10}}}}
    try:
        rulebook = book(tools=tools, agents={"a": {"may": [rule]}})
    except PolicyError:
        return
    assert outcome(rulebook, "set", {"n": 50}) == "deny not-permitted"


@pytest.mark.parametrize("exception", [{}, {"effect": []}, {"where": {}}])
def test_an_empty_exception_takes_nothing_out(exception):
    try:
        rulebook = may("fetch", may_not=[{"effect": "network", "except": exception}])
    except PolicyError:
        return
    assert outcome(rulebook, "fetch", {"url": "https://x.example/"}) == "deny may-not"


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
    for rule in ("t", {"t": {"path": "x/**"}}):
        try:
            rulebook = book(tools=tools, agents={"a": {"may": [rule]}})
        except PolicyError:
            continue
        assert outcome(rulebook, "t", {"p": "x/a"}) in ("deny outside-root", "deny not-permitted")


@pytest.mark.parametrize(("kind", "default"), [("number", "abc"), ("flag", "yes"), ("path", "a//b"), ("glob", "a/[")])
def test_a_default_that_its_kind_refuses_does_not_load(kind, default):
    tools = {"t": {"args": {"x": kind}, "optional": ["x"], "defaults": {"x": default}, "does": "nothing"}}
    with pytest.raises(PolicyError):
        book(tools=tools, agents={"a": {"may": ["t"]}})


def test_examples_of_a_rule_without_a_tool_are_not_ignored():
    rule = {"effect": "write", "examples": {"allow": [{"path": "x"}]}}
    with pytest.raises(PolicyError):
        book(agents={"a": {"may": ["write"], "may_not": [rule]}})


def test_an_example_beside_a_condition_on_the_capsule():
    rule = {"read": {"when": {"capsule": "C-1"}, "examples": {"allow": ["x"]}}}
    found = []
    try:
        book(agents={"a": {"may": [rule]}})
    except PolicyError as error:
        found = [problem.code for problem in error.problems]
    assert found in ([], ["example-fails"])  # the latter is right too: nobody knows the capsule C-1


@pytest.mark.parametrize(
    "more",
    [{}, {"never": [{"agent": "a", "tool": "read"}]}],
    ids=["example", "never"],
)
def test_a_condition_on_the_context_without_values(more):
    scope = {"when": {"mode": []}, "examples": {"deny": ["x"]}}
    if more:
        del scope["examples"]
    rule = {"read": scope}
    try:
        rulebook = book(agents={"a": {"may": [rule]}}, **more)
    except PolicyError:
        return
    assert outcome(rulebook, "read", {"path": "x"}, mode="interactive") == "deny not-permitted"


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
