"""Names in rules: toolsets, patterns, aliases, per-agent declarations, reserved operations."""

import pytest

from remit.model import PolicyError
from tests.decide.kit import TOOLS, book, outcome

PLAIN = {"args": {}, "does": "nothing"}


def codes(**sections) -> list[str]:
    with pytest.raises(PolicyError) as caught:
        book(**sections)
    return [problem.code for problem in caught.value.problems]


# --- toolsets and patterns ---


def test_a_toolset_of_toolsets_and_patterns():
    rulebook = book(
        tools={**TOOLS, "git_add": PLAIN, "git_log": PLAIN},
        toolsets={"all": ["files", "git_*"], "files": ["read", "write"]},
        agents={"a": {"may": ["all"]}},
    )
    assert rulebook.book.toolsets == {"all": ("read", "write", "git_add", "git_log"), "files": ("read", "write")}
    assert [outcome(rulebook, "git_log"), outcome(rulebook, "read", {"path": "x"})] == ["allow", "allow"]
    assert outcome(rulebook, "think") == "deny not-permitted"


def test_a_pattern_that_matches_nothing():
    assert codes(agents={"a": {"may": ["nothing_*"]}}) == ["matches-nothing"]


@pytest.mark.parametrize("scope", [{}, {"path": {"write": ["docs/**"]}}, {"run": []}, {"filters": ["sed"], "sets": []}])
@pytest.mark.parametrize("verb", ["may_not", "must_ask"])
def test_a_prohibition_of_no_command(verb, scope):
    tools = {"terminal": {"args": {"command": "shell"}, "tier": 2}}
    agent = {"may": ["terminal"], verb: [{"terminal": {"shell": scope}}]}
    assert codes(tools=tools, agents={"a": agent}) == ["matches-nothing"]
    for named in ({"run": "any"}, {"sets": ["inspect"]}, {"run": ["rm"]}):
        book(tools=tools, agents={"a": {**agent, verb: [{"terminal": {"shell": {**scope, **named}}}]}})


def test_a_toolset_that_contains_itself():
    assert "toolset-cycle" in codes(toolsets={"x": ["y"], "y": ["x"]}, agents={"a": {"may": ["x"]}})


def test_a_toolset_named_like_a_tool():
    assert codes(toolsets={"read": ["write"]}, agents={"a": {"may": ["write"]}}) == ["duplicate-name"]


# --- aliases ---

ALIASED = {**TOOLS, "vcs": {"args": {}, "does": "nothing", "aliases": ["git_push", "hub/push"]}, "git_log": PLAIN}


def test_a_call_under_another_name_is_a_call_of_the_tool():
    rulebook = book(tools=ALIASED, agents={"a": {"may": ["vcs"]}, "b": {"may": ["hub/push"]}, "c": {"may": ["think"]}})
    assert [outcome(rulebook, name, agent=agent) for agent in "abc" for name in ("vcs", "git_push", "hub/push")] == [
        *["allow"] * 6,
        *["deny not-permitted"] * 3,
    ]


def test_a_prohibition_under_one_name_holds_for_all():
    rulebook = book(tools=ALIASED, agents={"a": {"may": ["vcs"], "may_not": ["git_push"]}})
    assert {outcome(rulebook, name) for name in ("vcs", "git_push", "hub/push")} == {"deny may-not"}


def test_a_prohibited_pattern_matches_aliases():
    rulebook = book(tools=ALIASED, agents={"a": {"may": ["vcs", "git_log"], "may_not": ["git_*"]}})
    assert {outcome(rulebook, name) for name in ("vcs", "git_push", "git_log")} == {"deny may-not"}


def test_a_reserved_pattern_matches_aliases():
    rulebook = book(
        tools=ALIASED,
        agents={"a": {"may": ["vcs"]}},
        runners={"Git": {"may": ["vcs"]}},
        reserved={"git": {"tools": ["git_*"], "runner": "Git"}},
    )
    assert outcome(rulebook, "git_push") == "deny reserved"


@pytest.mark.parametrize(
    "tools",
    [
        {"x": {**PLAIN, "aliases": ["y"]}, "y": PLAIN},
        {"x": {**PLAIN, "aliases": ["z"]}, "y": {**PLAIN, "aliases": ["z"]}},
    ],
    ids=["a tool's name", "another alias"],
)
def test_an_alias_that_is_taken(tools):
    assert codes(tools=tools, agents={"a": {"may": ["x"]}}) == ["duplicate-name"]


# --- declarations of one agent ---


def test_an_agents_own_declaration_counts_for_it_alone():
    own = {"read": {"args": {"file": "path"}, "does": {"read": "file"}}}
    rulebook = book(agents={"a": {"may": ["read"], "tools": own}, "b": {"may": ["read"]}})
    assert outcome(rulebook, "read", {"file": "x"}, agent="a") == "allow"
    assert outcome(rulebook, "read", {"path": "x"}, agent="a") == "deny undeclared-argument"
    assert outcome(rulebook, "read", {"file": "x"}, agent="b") == "deny undeclared-argument"
    assert outcome(rulebook, "read", {"path": "x"}, agent="b") == "allow"


def test_an_agents_own_tool_is_unknown_to_others():
    rulebook = book(agents={"a": {"may": ["mine"], "tools": {"mine": PLAIN}}, "b": {"may": ["think"]}})
    assert outcome(rulebook, "mine", agent="a") == "allow"
    assert outcome(rulebook, "mine", agent="b") == "deny unknown-tool"


def test_an_own_declaration_under_another_name():
    """The alias leads to the tool, and the agent's own declaration of it counts."""
    own = {"vcs": {"args": {"n": "number"}, "does": "nothing"}}
    rulebook = book(tools=ALIASED, agents={"a": {"may": ["vcs"], "tools": own}})
    assert outcome(rulebook, "git_push", {"n": 1}) == "allow"
    assert outcome(rulebook, "git_push") == "deny missing-argument"


def test_an_own_declaration_does_not_escape_the_default_of_its_layer():
    tool = {"args": {}, "does": "nothing", "layer": "internal"}
    sections = {
        "tools": {"t": tool},
        "defaults": {"accessible_by": {"layer": {"internal": ["core"]}}},
        "roles": {"core": {}},
        "agents": {"a": {"may": ["t"], "tools": {"t": tool}}},
    }
    with pytest.raises(PolicyError) as caught:
        book(**sections)
    assert [problem.code for problem in caught.value.problems] == ["never-applies"]


def test_an_own_tool_does_not_escape_what_is_reserved():
    rulebook = book(
        agents={"a": {"may": ["github/pr"], "tools": {"github/pr": PLAIN}}},
        runners={"Hub": {"may": ["think"]}},
        reserved={"github": {"tools": ["github/*"], "runner": "Hub"}},
    )
    assert outcome(rulebook, "github/pr") == "deny reserved"


# --- rules that could never apply ---


def test_a_rule_for_who_may_not_call_the_tool_anyway():
    tools = {"t": {**PLAIN, "accessible_by": ["b"]}}
    assert codes(tools=tools, agents={"a": {"may": ["t"]}, "b": {"may": []}}) == ["never-applies"]


def test_a_scoped_rule_for_who_may_call_the_tool_without():
    tools = {"write": {**TOOLS["write"], "accessible_by": ["a"]}}
    assert codes(tools=tools, agents={"a": {"may": [{"write": {"path": "docs/**"}}]}}) == ["moot-rule"]


def test_an_unscoped_rule_beside_accessible_by_is_harmless():
    tools = {"write": {**TOOLS["write"], "accessible_by": ["a"]}}
    rulebook = book(tools=tools, agents={"a": {"may": ["write"], "may_not": [{"write": {"path": "docs/**"}}]}})
    assert outcome(rulebook, "write", {"path": "docs/x"}) == "deny may-not"
    assert outcome(rulebook, "write", {"path": "src/x"}) == "allow"


def test_a_path_scope_on_a_tool_that_reaches_further():
    tools = {"t": {"args": {"path": "path"}, "does": {"write": "path", "read": "**"}}}
    assert codes(tools=tools, agents={"a": {"may": [{"t": {"path": "docs/**"}}]}}) == ["never-applies"]


def test_a_scope_of_a_kind_that_the_tool_lacks():
    assert codes(agents={"a": {"may": [{"think": {"path": "docs/**"}}]}}) == ["kind-mismatch"]


def test_a_condition_on_an_argument_that_is_not_there():
    assert codes(agents={"a": {"may": [{"think": {"where": {"txet": "x"}}}]}}) == ["undeclared-argument"]


@pytest.mark.parametrize(
    ("tool", "condition"),
    [
        ("read", {"path": {"regex": "a.*"}}),
        ("read", {"path": "a"}),
        ("fetch", {"url": {"one_of": ["https://x.example/"]}}),
        ("run", {"command": {"regex": "git .*"}}),
        ("query", {"sql": "SELECT 1"}),
        ("think", {"text": {"path": "a/**"}}),
        ("think", {"text": {"min": 1}}),
    ],
)
def test_a_condition_that_the_kind_does_not_take(tool, condition):
    assert codes(agents={"a": {"may": [{tool: {"where": condition}}]}}) == ["kind-mismatch"]


def test_an_agent_without_any_permission():
    assert codes(agents={"a": {}}) == ["no-permissions"]
    assert book(agents={"a": {"may": []}}).book.callers["a"].rules == ()


def test_a_may_without_a_tool_names_an_effect():
    assert codes(agents={"a": {"may": [{"path": "docs/**"}]}}) == ["missing-tool"]
    rulebook = book(agents={"a": {"may": [{"effect": "read"}]}})
    assert [outcome(rulebook, name, {"path": "x"}) for name in ("read", "write")] == ["allow", "deny not-permitted"]


# --- who may be named ---


@pytest.mark.parametrize(
    ("sections", "code"),
    [
        ({"agents": {"a": {"may": [], "roles": ["nobody"]}}}, "unknown-role"),
        ({"agents": {"a": {"may": [], "roles": ["b"]}, "b": {"may": []}}}, "unknown-role"),
        ({"agents": {"a": {"may": [], "delegates_to": ["nobody"]}}}, "unknown-agent"),
        ({"agents": {"a": {"may": []}}, "runners": {"R": {"may": [], "called_by": ["nobody"]}}}, "unknown-agent"),
        ({"agents": {"a": {"may": ["t"]}}, "tools": {"t": {**PLAIN, "accessible_by": ["a", "x"]}}}, "unknown-agent"),
        ({"agents": {"a": {"may": []}}, "reserved": {"git": {"programs": ["git"], "runner": "a"}}}, "unknown-runner"),
        ({"agents": {"a": {"may": []}}, "tiers": {4: {"ask": "nobody"}}}, "unknown-agent"),
        ({"agents": {"a": {"may": []}}, "hosts": {"claude-code": {"main": "nobody"}}}, "unknown-agent"),
        ({"agents": {"a": {"may": [], "must_ask": [{"think": {"ask": "nobody"}}]}}}, "unknown-agent"),
        ({"agents": {"a": {"may": [{"delegate": {"agent": ["nobody"]}}]}}}, "unknown-agent"),
        ({"agents": {"a": {"may": []}}, "never": [{"agent": "nobody", "tool": "think"}]}, "unknown-agent"),
        (
            {
                "agents": {"a": {"may": []}},
                "grants": [{"agent": "x", "may": ["think"], "adr": "1", "approved_by": "p", "until": "2027-01-01"}],
            },
            "unknown-agent",
        ),
    ],
)
def test_a_name_that_nobody_has(sections, code):
    assert codes(**sections) == [code]


def test_a_role_that_belongs_to_itself():
    found = codes(roles={"x": {"roles": ["y"]}, "y": {"roles": ["x"]}}, agents={"a": {"may": [], "roles": ["x"]}})
    assert set(found) == {"role-cycle"}
