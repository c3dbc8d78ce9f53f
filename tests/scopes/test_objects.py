"""Rules name a subcommand with its object, and hosts by pattern."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call


def _verdict(text: str, may: list[Any], may_not: list[Any] | None = None) -> str:
    def rule(run: list[Any]) -> dict[str, Any]:
        return {"terminal": {"shell": {"run": run}}}

    agent: dict[str, Any] = {"may": [rule(may)]}
    if may_not:
        agent["may_not"] = [rule(may_not)]
    book = build_rulebook(
        {
            "remit": 1,
            "name": "objects",
            "tiers": {3: "allow", 4: "allow"},
            "tools": {"terminal": {"args": {"command": "shell"}, "tier": 2}},
            "agents": {"a": agent},
        }
    )
    return decide(book, Call("a", "terminal", {"command": text})).verdict.name.lower()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kubectl get pods", "allow"),
        ("kubectl get po web", "allow"),
        ("kubectl get pod/web", "allow"),
        ("kubectl get pods,services", "deny"),
        ("kubectl get services", "deny"),
        ("kubectl get secrets", "deny"),
        ("kubectl get --raw /api/v1/secrets", "deny"),
        ("kubectl get pod/web pod/db", "allow"),
        ("kubectl get pod/web secret/db", "deny"),
        ("kubectl get pod/web service/db", "deny"),
        ("kubectl get -f https://x.example/a.yaml", "deny"),
        ("kubectl get --filename=a.yaml -o yaml", "deny"),
        ("kubectl get -k base", "deny"),
    ],
)
def test_only_the_named_kind(text: str, expected: str) -> None:
    assert _verdict(text, [{"kubectl": ["get pods"]}]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kubectl get pods", "allow"),
        ("kubectl get cm", "deny"),
        ("kubectl get pods,configmaps", "deny"),
        ("kubectl get secret db", "deny"),
        ("kubectl get pod/a configmap/b", "deny"),
        ("kubectl get -f a.yaml", "deny"),
        ("kubectl describe -f a.yaml", "deny"),
    ],
)
def test_all_but_the_named_kind(text: str, expected: str) -> None:
    assert _verdict(text, [{"kubectl": ["get"]}], [{"kubectl": ["get configmaps"]}]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssh web.staging.example uptime", "allow"),
        ("ssh staging.example uptime", "deny"),
        ("ssh evil.example uptime", "deny"),
        ("ssh xstaging.example uptime", "deny"),
    ],
)
def test_hosts_by_pattern(text: str, expected: str) -> None:
    entry = {"ssh": {"host": ["*.staging.example"], "effects": ["network", "execute", "read", "write"]}}
    assert _verdict(text, [entry, "uptime"]) == expected
