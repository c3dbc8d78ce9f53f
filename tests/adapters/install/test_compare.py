"""What the policy gives to Claude Code's agents, and what it doesn't know."""

from __future__ import annotations

import pytest

from remit.adapters.hosts import registry
from remit.adapters.install import compare
from remit.compile import compile_policy
from remit.declare.load import build_policy, read_pack
from remit.model.rulebook import Rulebook

SETUP = registry.find("claude-code").setup()
NOW = "2026-11-16T00:00:00Z"


def rulebook(**more: object) -> Rulebook:
    data = {
        "remit": 1,
        "use": ["claude-code"],
        "tools": {
            "mcp__git__log": {"args": {"branch": "text"}, "does": "nothing"},
            "elsewhere": {"args": {}, "does": "nothing"},
        },
        "agents": {
            "boss": {"may": ["Task", "Read"], "delegates_to": ["reviewer"]},
            "reviewer": {
                "roles": ["reader"],
                "may": ["mcp__git__log", "elsewhere", {"Bash": {"shell": {"run": ["git"]}}}],
                "must_ask": [{"Edit": {"path": "docs/**"}}],
                "may_not": ["Read"],
            },
        },
        "roles": {"reader": {"may": ["Read"]}},
        "runners": {"Builder": {"may": ["Write"]}},
        **more,
    }
    return compile_policy(build_policy(data))


def test_an_agent_gets_what_it_could_be_allowed():
    book = rulebook()
    assert compare.usable_tools(SETUP, book, "boss", NOW) == ["Read", "Agent"]
    assert compare.usable_tools(SETUP, book, "reviewer", NOW) == ["Edit", "Bash", "mcp__git__log"]


def test_a_standing_grant_counts_while_it_lasts():
    grants = [{"agent": "boss", "may": ["Grep"], "until": "2026-12-01", "approved_by": "x", "adr": "1"}]
    book = rulebook(grants=grants)
    assert "Grep" in compare.usable_tools(SETUP, book, "boss", NOW)
    assert "Grep" not in compare.usable_tools(SETUP, book, "boss", "2027-01-01T00:00:00Z")


def test_what_nobody_may_use_is_denied_and_a_runner_is_somebody():
    used = {"Agent", "Read", "Bash", "Edit", "Write"}
    paths = ["Edit(/.remit/**)", "Edit(/.claude/**)", "Read(/.remit/**)"]
    nobody = [tool for tool in read_pack("claude-code") if tool not in used]
    assert {"Glob", "WebFetch", "NotebookEdit"} < set(nobody)
    assert compare.deny_rules(SETUP, rulebook(), NOW) == [*nobody, *paths]
    assert compare.left_out(rulebook(), NOW) == []


@pytest.mark.parametrize("who", ["boss", "reviewer"])
def test_while_anybody_is_only_observed_nothing_is_denied(who: str):
    watched = {"boss": {"may": ["Read"]}, "reviewer": {"may": ["Read"]}}
    watched[who]["enforce"] = {"observe": {"until": "2026-12-01"}}  # type: ignore[assignment]
    book = rulebook(agents=watched)
    assert compare.deny_rules(SETUP, book, NOW) == []
    assert who in compare.left_out(book, NOW)[0]
    assert "Bash" in compare.deny_rules(SETUP, book, "2026-12-02T00:00:00Z")


@pytest.mark.parametrize("more", [{"unsafe_unprotect": [".claude/notes/**"]}, {"root": "src"}])
def test_paths_are_left_to_the_hook_where_the_hosts_words_would_not_fit(more: dict[str, object]):
    book = rulebook(**more)
    assert not any("(" in rule for rule in compare.deny_rules(SETUP, book, NOW))
    assert "paths" in compare.left_out(book, NOW)[0]


def test_what_the_policy_does_not_know():
    book = rulebook()
    assert compare.unknown_agents(SETUP, book, ["reviewer", "odd one"])[:2] == ["odd one", "general-purpose"]
    assert compare.unknown_tools(SETUP, book, ["git", "my.server", "git"]) == ["mcp__my_server__*"]
    assert compare.undefined_agents(SETUP, book, ["Reviewer"], "boss") == ["reviewer"]
    assert compare.unknown_tools(SETUP, rulebook(use=["claude-code"]), []) == []
    bare = compile_policy(build_policy({"remit": 1, "agents": {"x": {"may": []}}}))
    assert compare.unknown_tools(SETUP, bare, ["git"])[-1:] == ["mcp__git__*"]


def test_the_lines_to_paste_are_a_policy():
    import yaml

    strangers = ["odd one", "ok", *SETUP.catalog.agents]
    text = "\n".join([*compare.lines_for_agents(strangers), *compare.lines_for_tools(SETUP, ["Read", "mcp__git__*"])])
    assert "nothing" not in text.replace("nothing is known", "")  # what a tool does that nobody knows, a person says
    told = text.replace("ARGUMENT", "query").replace("KIND", "path").replace("EFFECT", "read")
    policy = build_policy({"remit": 1, **yaml.safe_load(told)})
    assert {"ok", "general-purpose"} <= set(policy.callers)
    assert "odd one" not in policy.callers
    assert {"Read", "mcp__git__NAME"} <= set(policy.tools)
    assert compare.lines_for_agents(["odd one"]) == []
    assert compare.lines_for_tools(SETUP, []) == []
