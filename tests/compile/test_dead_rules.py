"""Rules that would do nothing are said when a policy loads: an error in one list, a notice across roles."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.model.errors import PolicyError
from remit.model.text import near_miss

TOOLS = {
    "read": {"args": {"path": "path"}, "does": {"read": "path"}},
    "write": {"args": {"path": "path"}, "does": {"write": "path"}},
    "edit": {"args": {"path": "path"}, "does": {"read": "path", "write": "path"}},
    "fetch": {"args": {"url": "url"}, "does": {"network": "url"}},
    "bash": {"args": {"command": "shell"}},
}


def load(record: dict[str, Any], **sections: Any) -> tuple[str, ...]:
    """The notices about an agent with this record."""
    data = {"remit": 1, "tools": TOOLS, "agents": {"a": record}, **sections}
    return build_rulebook(data).book.notices


def refused(record: dict[str, Any], **sections: Any) -> set[str]:
    """The codes of what is wrong with it."""
    with pytest.raises(PolicyError) as error:
        load(record, **sections)
    return {problem.code for problem in error.value.problems}


@pytest.mark.parametrize(
    "record",
    [
        {"may": [{"write": {"path": "src/**"}}], "may_not": ["write"]},
        {"may": ["write"], "may_not": ["write"]},
        {"may": [{"write": {"path": "src/a/**"}}], "may_not": [{"write": {"path": "src/**"}}]},
        {"may": [{"write": {"path": ["a/**", "b/x"]}}], "may_not": [{"path": ["a/**", "b/**"]}]},
        {"may": ["write"], "may_not": [{"effect": "write"}]},
        {"may": ["read"], "must_ask": ["write"], "may_not": ["write"]},
        {
            "may": [{"fetch": {"url": "https://x.example/a/**"}}],
            "may_not": [{"fetch": {"url": "https://x.example/**"}}],
        },
        {"may": [{"write": {"when": {"mode": "x"}}}], "may_not": [{"write": {"when": {"mode": ["x", "y"]}}}]},
        {"may": [{"write": {"path": ".git/hooks/**"}}]},
        {"may": [{"write": {"path": ["remit.yaml"]}}]},
    ],
)
def test_a_permission_that_never_applies_is_an_error(record):
    assert refused(record) == {"never-applies"}


@pytest.mark.parametrize(
    "record",
    [
        {"may": ["write"], "may_not": [{"write": {"path": "src/**"}}]},
        {"may": [{"write": {"path": "**"}}], "may_not": [{"write": {"path": "src/**"}}]},
        {"may": [{"write": {"path": ["src/**", "docs/**"]}}], "may_not": [{"write": {"path": "src/**"}}]},
        {"may": ["*"], "may_not": ["write"]},
        {"may": ["edit"], "may_not": [{"edit": {"path": "src/**"}}]},
        {
            "may": [{"write": {"path": "src/**"}}],
            "may_not": [{"write": {"path": "src/**", "except": {"path": "src/a"}}}],
        },
        {"may": ["write"], "may_not": [{"write": {"when": {"mode": "x"}}}]},
        {"may": ["read"], "may_not": [{"effect": "write"}]},
        {"may": [{"read": {"path": ".git/hooks/**"}}]},
        {"may": [{"write": {"path": "**"}}]},
    ],
)
def test_a_permission_with_something_left_loads(record):
    assert not [text for text in load(record) if "never applies" in text or "moot" in text]


def test_of_two_permissions_in_one_list_the_narrower_is_moot():
    assert refused({"may": ["write", {"write": {"path": "src/**"}}]}) == {"moot-rule"}
    wide = {"may": ["write"]}
    assert any(
        "moot" in text for text in load({"roles": ["r"], "may": [{"write": {"path": "x/**"}}]}, roles={"r": wide})
    )


def test_across_roles_it_is_a_notice():
    notices = load({"roles": ["r"], "may": ["read"], "may_not": ["write"]}, roles={"r": {"may": ["write"]}})
    assert any("never applies" in text for text in notices)


def test_what_the_locks_leave_out_and_what_an_open_shell_makes_moot_are_notices():
    locked = load({"may": [{"write": {"path": "src/**"}}], "locks": {"may": ["docs/**"]}})
    assert any("outside its `locks`" in text for text in locked)
    open_ = load({"may": [{"write": {"path": "src/**"}}, "bash"]})
    assert any("moot beside its open command line" in text for text in open_)
    bound = load({"may": [{"write": {"path": "src/**"}}, "bash"], "locks": {"may": ["src/**"]}})
    assert not any("moot" in text for text in bound)


@pytest.mark.parametrize("verb", ["may", "may_not", "must_ask"])
@pytest.mark.parametrize(
    "run",
    [
        "crul",
        {"git": ["comit"]},
        {"git": ["status", "psuh"]},
        {"git": ["psh"]},
        {"git": "stauts"},
        {"kubectl": {"sub": ["desribe"]}},
        "pyhton3",
        "git comit",
        {"docker": ["biuld"]},
    ],
)
def test_a_slip_in_the_name_of_a_program_or_subcommand_is_an_error(verb, run):
    record: dict[str, Any] = {"may": ["bash"]} if verb != "may" else {}
    assert refused({**record, verb: [{"bash": {"shell": {"run": [run]}}}]}) == {"unknown-name"}


@pytest.mark.parametrize("run", [{"git": ["status", "stash list"]}, "pipx", "/opt/bin/crul", "./crul", "any"])
def test_names_that_are_known_or_no_slips_load(run):
    record = {"may": [{"bash": {"shell": {"run": [run] if run != "any" else "any"}}}]}
    assert not [text for text in load(record) if "catalog" in text]


def test_an_unknown_subcommand_that_is_no_slip_is_a_notice():
    rule = {"bash": {"shell": {"run": [{"git": ["frobnicate"]}]}}}
    for record in ({"may": [rule]}, {"may": ["bash"], "may_not": [rule]}, {"may": ["bash"], "must_ask": [rule]}):
        assert any("no `git frobnicate`" in text for text in load(record))


@pytest.mark.parametrize(
    ("word", "near"),
    [("crul", "curl"), ("crl", None), ("Git", "git"), ("pipx", None), ("zzz", None), ("kubctl", "kubectl")],
)
def test_a_near_miss(word, near):
    assert near_miss(word, ("curl", "git", "pip", "kubectl")) == near


def test_a_program_that_nobody_knows_is_said_so():
    (said,) = [text for text in load({"may": [{"bash": {"shell": {"run": ["mytool"]}}}]}) if "catalog" in text]
    assert said.endswith(
        "the catalog does not know `mytool`: only exactly `mytool` is admitted, and as it could do anything, it is "
        "of the highest tier"
    )
    # A prohibition of it works, and needs no remark.
    never = {"may": ["bash"], "may_not": [{"bash": {"shell": {"run": ["mytool"]}}}]}
    assert not [text for text in load(never) if "catalog" in text]


@pytest.mark.parametrize(
    "record",
    [
        {"may": [{"read": {"effect": "write"}}]},
        {"may": ["read"], "may_not": [{"read": {"effect": ["write", "pay"]}}]},
        {"may": ["read"], "must_ask": [{"read": {"effect": "delete", "path": "src/**"}}]},
        {"may": [{"write": {"path": {"allow": ["src/**"], "except": ["src/**"]}}}]},
        {"may": [{"write": {"path": {"allow": ["src/a/*", "src/b"], "except": ["src/**"]}}}]},
        {"may": ["write"], "may_not": [{"write": {"path": "src/**", "except": {"path": "**"}}}]},
        {
            "may": ["fetch"],
            "must_ask": [{"fetch": {"url": "https://x.example/a", "except": {"url": "https://x.example/**"}}}],
        },
    ],
)
def test_a_rule_about_nothing_is_an_error(record):
    assert refused(record) == {"never-applies"}


@pytest.mark.parametrize(
    "record",
    [
        {"may": [{"edit": {"effect": "write"}}]},
        {"may": [{"edit": {"effect": ["read", "write"]}}]},
        {"may": [{"bash": {"effect": "read"}}]},
        {"may": ["read"], "may_not": [{"effect": "pay"}]},
        {"may": [{"write": {"path": {"allow": ["src/**"], "except": ["src/a/**"]}}}]},
        {"may": [{"read": {"path": {"allow": ["src/**"], "except": ["src/**"], "outside": ["/usr/**"]}}}]},
        {"may": ["write"], "may_not": [{"write": {"path": "src/**", "except": {"path": "src/a/**"}}}]},
        {"may": ["write"], "may_not": [{"effect": "write", "except": {"path": "**"}}]},
        {"may": ["edit"], "may_not": [{"edit": {"path": "src/**", "except": {"path": "**", "effect": "read"}}}]},
        {"may": ["write"], "locks": {"may": ["src/**"]}},
        {"may": [{"write": {"path": "src/**"}}], "locks": {"may": ["src/**"], "except": ["src/a/**"]}},
        {"may": [{"fetch": {"url": "https://x.example/**"}}], "apis": ["https://x.example/a/**"]},
        {"may": [{"fetch": {"url": "https://x.example/a"}}], "apis": ["https://*.example/**", "https://x.example/a"]},
    ],
)
def test_a_rule_about_something_is_none(record):
    assert not [text for text in load(record) if "never applies" in text]


MORE = {
    **TOOLS,
    "hand": {"args": {"to": "agent", "text": "text"}, "does": {"delegate": "to"}},
    "use": {"args": {"name": "skill"}, "does": "nothing"},
}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"may": [{"fetch": {"url": "https://x.example/**"}}], "apis": ["https://y.example/**"]}, "outside its `apis`"),
        ({"may": ["fetch"], "apis": []}, "its `apis` are empty"),
        ({"may": [{"use": {"skill": ["wipe"]}}], "skills": ["ship"]}, "wipe lies outside its `skills`"),
        ({"may": ["use"], "skills": []}, "its `skills` are empty"),
        ({"may": [{"hand": {"agent": ["b"]}}], "delegates_to": ["c"]}, "`delegates_to` has none of b"),
        (
            {"may": [{"write": {"path": "src/**"}}], "locks": {"may": ["src/**"], "except": ["src/**"]}},
            "outside its `locks`",
        ),
    ],
)
def test_what_the_record_leaves_out_is_a_notice(record, said):
    others: dict[str, object] = {"b": {"may": []}, "c": {"may": []}}
    book = build_rulebook({"remit": 1, "tools": MORE, "agents": {"a": record, **others}}).book
    assert any("never applies to a" in text and said in text for text in book.notices)


def test_what_the_record_leaves_in_is_none():
    others = {"b": {"roles": ["r"], "may": []}, "c": {"may": []}}
    record = {
        "may": [{"hand": {"agent": ["b", "c"]}}, {"use": {"skill": ["ship", "wipe"]}}],
        "skills": ["ship"],
        "delegates_to": ["r"],
    }
    data = {"remit": 1, "tools": MORE, "agents": {"a": record, **others}, "roles": {"r": {"may": []}}}
    data["runners"] = {"R": {"may": [], "called_by": ["c"]}}
    assert build_rulebook(data).book.notices == ()
