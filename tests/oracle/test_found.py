"""What the oracle has found, one call each: here the engine once differed from docs/semantics.md."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from remit.decide import decide
from remit.model import Approval, Call, Context, Decision, Facts, Statement
from remit.model.policy import Grant, Rule
from tests.drawn import rulebook_of
from tests.oracle.compare import digest


def policy(tool: dict[str, Any], agent: dict[str, Any], **more: Any) -> Any:
    return rulebook_of({"remit": 1, "tools": {"t": tool}, "agents": {"ann": agent}, **more})


def ask(rulebook: Any, args: dict[str, Any], facts: Facts | None = None, **context: Any) -> Decision:
    return decide(rulebook, Call("ann", "t", args, Context(**context)), facts or Facts())


READ = {"args": {"p": "path"}, "does": {"read": "p"}}
READ_BELOW = {"args": {"p": "path"}, "does": {"read": {"below": "p"}}}
GLOB = {"args": {"g": "glob"}, "does": {"read": "g"}}
BASED = {"args": {"p": "path", "g": {"glob": "p"}}, "optional": ["g"], "does": {"read": "g"}}
OUTSIDE = {"path": {"allow": "**", "outside": "/**"}}


@pytest.mark.parametrize("pattern", ["/tmp/z", "/tmp/*"])
def test_all_below_a_path_outside_is_a_wide_unit(pattern: str) -> None:
    rulebook = policy(READ_BELOW, {"may": [{"t": {"path": {"allow": "**", "outside": pattern}}}]})
    assert ask(rulebook, {"p": "/tmp/z"}, Facts(root="/w")).code == "outside-root"


def test_all_below_a_directory_above_the_root_includes_the_root() -> None:
    rulebook = policy(READ_BELOW, {"may": [{"t": OUTSIDE}], "may_not": [{"t": {"path": "secrets/**"}}]})
    assert ask(rulebook, {"p": "secrets"}, Facts(root="/w/p")).code == "may-not"
    assert ask(rulebook, {"p": "/w"}, Facts(root="/w/p")).code == "may-not"


def test_a_directory_above_the_root_is_not_deleted() -> None:
    rulebook = policy({"args": {"p": "path"}, "does": {"delete": "p"}}, {"may": [{"t": OUTSIDE}]})
    assert ask(rulebook, {"p": "/w/p"}, Facts(root="/w/p")).code == "protected"
    assert ask(rulebook, {"p": "/w"}, Facts(root="/w/p")).code == "protected"


def test_a_condition_on_the_base_of_a_glob_counts() -> None:
    scope = {"path": "**", "where": {"p": {"path": "docs/**"}}}
    rulebook = policy(BASED, {"may": [{"t": scope}]})
    assert ask(rulebook, {"p": "docs/a", "g": "*"}).code == "allowed"
    assert ask(rulebook, {"p": "secrets", "g": "*"}).code == "not-permitted"


def test_the_base_of_an_absent_glob_is_a_path_all_the_same() -> None:
    assert ask(policy(BASED, {"may": ["t"]}), {"p": "../../etc"}).code == "outside-root"


def test_all_below_a_path_that_resolved_otherwise_uses_the_resolved_path() -> None:
    decision = ask(policy(READ_BELOW, {"may": ["t"]}), {"p": "docs"}, Facts(root="/w", resolved={"docs": "/w/a"}))
    assert [one.do for one in decision.obligations] == ["use-resolved-path"]


def test_all_below_a_path_has_a_second_spelling_too() -> None:
    rulebook = policy(READ_BELOW, {"may": ["t"], "may_not": [{"t": {"path": "secrets/**"}}]})
    facts = Facts(root="/w", resolved={"secrets": "/w/a"})
    assert ask(rulebook, {"p": "secrets"}, facts).code == "may-not"


def test_a_grant_without_new_only_covers_as_well() -> None:
    write = {"args": {"p": "path"}, "does": {"write": "p"}}
    rulebook = policy(write, {"may": [{"t": {"path": {"allow": "**", "new_only": True}}}]})
    grant = Grant("ann", (Rule("may", ("t",)),), "2027-01-01T00:00:00Z")
    assert ask(rulebook, {"p": "a"}, Facts(now="2026-01-01T00:00:00Z", grants=(grant,))).obligations == ()


def test_new_only_in_a_condition_is_an_obligation_too() -> None:
    write = {"args": {"p": "path"}, "does": {"write": "p"}}
    where = {"p": {"path": {"allow": "docs/**", "new_only": True}}}
    decision = ask(policy(write, {"may": [{"t": {"where": where}}]}), {"p": "docs/a"})
    assert [one.do for one in decision.obligations] == ["create-exclusively"]


def test_a_refusal_denies_whether_or_not_something_is_asked() -> None:
    rulebook = policy(READ, {"may": ["t"]})
    call = Call("ann", "t", {"p": "a"})
    no = Approval("A-1", digest(call, rulebook.hash, Facts()), "Maria", answer="refuse")
    assert decide(rulebook, call, Facts(approvals=(no,))).code == "refused"


def test_an_alias_of_a_tool_of_ones_own() -> None:
    own = {**READ, "aliases": ["other"]}
    rulebook = policy(READ, {"may": ["t"], "tools": {"t": own}})
    assert decide(rulebook, Call("ann", "other", {"p": "a"})).code == "allowed"


def test_a_slash_at_the_end_of_what_is_not_only_read() -> None:
    run = {"args": {"p": "path"}, "does": {"execute": {"below": "p"}}}
    assert ask(policy(run, {"may": ["t"]}), {"p": "docs/"}).code == "bad-path"


def test_names_that_begin_with_a_dot_are_a_glob() -> None:
    assert ask(policy(GLOB, {"may": ["t"]}), {"g": ".*"}).code == "protected"
    assert ask(policy(GLOB, {"may": ["t"]}), {"g": ".e*"}).code == "allowed"


def test_a_fixed_reach_outside_the_root() -> None:
    rulebook = policy({"does": {"write": "/tmp/**"}}, {"may": [{"effect": "write", "path": OUTSIDE["path"]}]})
    assert ask(rulebook, {}).code == "allowed"


@pytest.mark.parametrize("args", [None, [], "", 0, ()], ids=repr)
def test_arguments_that_are_no_object(args: Any) -> None:
    rulebook = policy({"does": "nothing"}, {"may": ["t"]})
    assert ask(rulebook, args).code == "malformed-call"
    assert ask(rulebook, {}).code == "allowed"
    assert ask(rulebook, args).code == "malformed-call"


CONTEXTS: list[dict[str, Any]] = [
    {"cwd": 3},
    {"mode": 3},
    {"data_tier": 7},
    {"data_tier": -1},
    {"data_tier": True},
    {"capsule": 1},
    {"chain": (1,)},
    {"chain": ["ann"]},
    {"capsule_grants": (9,)},
]


@pytest.mark.parametrize("context", CONTEXTS, ids=str)
def test_a_context_of_the_wrong_shape(context: dict[str, Any]) -> None:
    with pytest.raises(TypeError):
        Context(**context)


SHAPES: list[dict[str, Any]] = [
    {"context": None},
    {"statement": "please"},
    {"statement": msgspec.structs.replace(Statement(), intent=1)},
]


@pytest.mark.parametrize("more", SHAPES, ids=str)
def test_a_call_of_the_wrong_shape(more: dict[str, Any]) -> None:
    assert decide(policy(READ, {"may": ["t"]}), Call("ann", "t", {"p": "a"}, **more)).code == "malformed-call"


def test_an_unknown_name_in_the_chain_of_what_is_only_observed() -> None:
    observing = {"may": [], "enforce": {"observe": {"until": "2030-01-01"}}}
    binding = {"may": [], "delegates_to": ["ann"], "delegate_within": "chain"}
    rulebook = rulebook_of({"remit": 1, "tools": {"t": READ}, "agents": {"ann": observing, "bob": binding}})
    decision = ask(rulebook, {"p": "a"}, Facts(now="2026-01-01T00:00:00Z"), chain=("nobody", "bob"))
    assert (decision.code, decision.would) == ("not-permitted", "deny")
