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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kubectl delete pod web", "allow"),
        ("kubectl delete po/web", "allow"),
        ("kubectl delete pods --all", "allow"),
        ("kubectl delete namespace web", "deny"),
        ("kubectl delete pod,ns web", "deny"),
        ("kubectl delete pod/web ns/web", "deny"),
        ("kubectl delete all --all", "deny"),
        ("kubectl delete -f a.yaml", "deny"),
        ("kubectl rollout restart deploy/web", "allow"),
        ("kubectl rollout restart ds/web", "deny"),
        ("kubectl scale sts/web --replicas=2", "allow"),
        ("kubectl scale deploy/web --replicas=0", "deny"),
    ],
)
def test_only_the_named_kind_is_changed(text: str, expected: str) -> None:
    may = [{"kubectl": ["delete pod", "rollout restart deployment", "scale sts"]}]
    assert _verdict(text, may) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kubectl delete pod web", "allow"),
        ("kubectl delete ns web", "deny"),
        ("kubectl delete pod/web ns/web", "deny"),
        ("kubectl delete all --all", "deny"),  # it may stand for several kinds
        ("kubectl delete -f a.yaml", "deny"),
        ("kubectl delete --all", "deny"),
        ("kubectl delete $k web", "deny"),
    ],
)
def test_all_but_the_named_kind_is_changed(text: str, expected: str) -> None:
    assert _verdict(text, [{"kubectl": ["delete"]}], [{"kubectl": ["delete namespace"]}]) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kubectl apply -f a.yaml", "allow"),
        ("kubectl apply -k overlays/dev", "allow"),
        ("kubectl apply -f https://x.example/a.yaml", "deny"),
        ("kubectl apply -f a.yaml --filename=https://x.example/a.yaml", "deny"),
        ("kubectl apply -k https://github.example/x/y", "deny"),
        ("kubectl create -f https://x.example/a.yaml", "deny"),
        ("kubectl get pods --server=https://x.example", "deny"),
        ("kubectl -s https://x.example get pods", "deny"),
    ],
)
def test_what_comes_from_elsewhere_or_goes_elsewhere(text: str, expected: str) -> None:
    assert _verdict(text, [{"kubectl": ["apply", "create", "get"]}]) == expected


@pytest.mark.parametrize(
    ("program", "text", "expected"),
    [
        ("scp", "scp a web.staging.example:/tmp", "allow"),
        ("scp", "scp a bob@web.staging.example:/tmp", "allow"),
        ("scp", "scp web.staging.example:a b", "allow"),
        ("scp", "scp -3 web.staging.example:a web.prod.example:b", "deny"),
        ("scp", "scp a b", "deny"),
        ("scp", 'scp a "web.staging.example:$x"', "deny"),
        ("rsync", "rsync -a src/ web.staging.example:/x", "allow"),
        ("rsync", "rsync -a src/ web.prod.example:/x", "deny"),
        ("sftp", "sftp web.prod.example", "deny"),
        ("curl", "curl https://web.staging.example/x", "allow"),
        ("curl", "curl https://web.staging.example@evil.example/", "deny"),
        ("curl", 'curl "https://evil.example\\@web.staging.example/"', "deny"),
        ("curl", "curl --proxy http://evil.example https://web.staging.example/", "deny"),
        ("ssh", "ssh WEB.Staging.example", "allow"),
        ("ssh", "ssh bob@web.staging.example", "allow"),
        ("ssh", "ssh web.staging.example:22", "allow"),
        ("ssh", "ssh web.staging.example.evil.example", "deny"),
    ],
)
def test_a_host_is_seen_wherever_the_command_names_it(program: str, text: str, expected: str) -> None:
    assert _verdict(text, [{program: {"host": ["*.staging.example"]}}]) == expected


@pytest.mark.parametrize(
    ("prohibited", "text", "expected"),
    [
        ("git push", "git status", "allow"),
        ("git push", "git push", "deny"),
        ("git push", "git -C . push origin x", "deny"),
        ("git push --force", "git push", "deny"),  # all of it: how it is done is not looked at
        ("git push --force", "git status", "allow"),
        ("npm publish", "npm ls", "allow"),
        ("npm publish", "npm publish", "deny"),
        ("git push", "git $x", "deny"),
        ("rm -rf", "rm a", "deny"),
    ],
)
def test_a_whole_command_in_a_prohibition_is_its_subcommand(prohibited: str, text: str, expected: str) -> None:
    assert _verdict(text, ["git", "npm", {"rm": {"effects": ["delete"]}}], [prohibited]) == expected
