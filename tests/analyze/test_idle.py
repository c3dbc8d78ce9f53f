"""Parts of rules that do nothing are told, with their place; parts that do something are not."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook

READ = {"read": {"args": {"file": "path"}, "does": {"read": "file"}}}
RUN = {"run": {"args": {"command": "shell"}, "tier": 1}}


def told(agent: dict[str, Any], roles: dict[str, Any] | None = None) -> list[str]:
    data = {"remit": 1, "tools": {**READ, **RUN}, "agents": {"a": agent}, **({"roles": roles} if roles else {})}
    return [text for text in build_rulebook(data).book.notices if "takes nothing out" in text or "all of" in text]


@pytest.mark.parametrize(
    "agent",
    [
        {"may": [{"read": {"path": {"allow": "src/**", "except": "scr/keys/**"}}}]},
        {"may": [{"read": {"path": {"allow": ["src/**", "docs/**"], "except": ["src/keys/**", "doc/keys/**"]}}}]},
        {"may": [{"read": {"where": {"file": {"path": {"allow": "src/*.py", "except": "src/*.js"}}}}}]},
        {"may": ["read"], "may_not": [{"read": {"path": "src/**", "except": {"path": "scr/open/**"}}}]},
        {"may": ["read"], "locks": {"may": ["src/**"], "except": ["scr/generated/**"]}},
    ],
)
def test_an_exception_that_meets_nothing_is_told(agent: dict[str, Any]):
    [text] = told(agent)
    assert "`except` of this" in text
    assert "lies outside" in text


@pytest.mark.parametrize(
    "agent",
    [
        {"may": [{"read": {"path": {"allow": "src/**", "except": "**/*.pem"}}}]},
        {"may": [{"read": {"path": {"allow": "**", "except": ["keys/**", ".env"]}}}]},
        {"may": [{"read": {"path": {"allow": "SRC/**", "except": "src/keys/**"}}}]},
        {"may": ["read"], "may_not": [{"read": {"path": "src/**", "except": {"path": "src/open/**"}}}]},
        {"may": ["read"], "locks": {"may": ["src/**"], "except": ["src/generated/**"]}},
    ],
)
def test_one_that_meets_something_is_not(agent: dict[str, Any]):
    assert told(agent) == []


def test_what_a_role_says_is_told_once():
    roles = {"r": {"may": [{"read": {"path": {"allow": "src/**", "except": "scr/x/**"}}}]}}
    assert len(told({"roles": ["r"], "may": []}, roles)) == 1


@pytest.mark.parametrize(
    ("scope", "whole", "unread"),
    [
        ({"run": [{"git": {"sub": ["push"], "options": ["--force"]}}]}, "git push", "`options`"),
        ({"run": ["rm -rf"]}, "rm", "`-rf`"),
        ({"run": ["git push --force"]}, "git push", "`--force`"),
        ({"run": [{"curl": {"url": "https://x.example/**"}}]}, "curl", "`url`"),
        ({"run": [{"ssh": {"host": "*.prod.example"}}]}, "ssh", "`host`"),
        ({"run": [{"make": {"targets": ["deploy"]}}]}, "make", "`targets`"),
        ({"run": ["rm"], "path": {"delete": ["src/**"]}}, "rm", "`path`"),
    ],
)
@pytest.mark.parametrize("verb", ["may_not", "must_ask"])
def test_a_limit_that_a_prohibition_does_not_look_at_is_told(scope: dict[str, Any], whole: str, unread: str, verb: str):
    [text] = told({"may": ["run"], verb: [{"run": {"shell": scope}}]})
    assert f"all of `{whole}`: only the program and its subcommands count here, not {unread}" in text


@pytest.mark.parametrize("run", [["git"], [{"git": ["push"]}], ["git push"], [{"kubectl": ["delete pod"]}], "any"])
def test_a_prohibition_of_whole_commands_is_not(run: Any):
    assert told({"may": ["run"], "may_not": [{"run": {"shell": {"run": run}}}]}) == []


def test_a_permission_with_limits_is_not():
    scope = {"run": [{"git": {"sub": ["push"], "options": ["--dry-run"]}}, "rm -rf build"]}
    assert told({"may": [{"run": {"shell": scope}}]}) == []
