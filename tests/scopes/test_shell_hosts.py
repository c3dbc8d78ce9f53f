"""A URL of which the text tells only the host could be any page there."""

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call

PAGE = 'curl "https://api.x.example/v$V/a"'


def decided(text: str, rules: dict[str, Any], **sections: Any) -> str:
    tools = {"terminal": {"args": {"command": "shell"}, "tier": 2}}
    policy = {"remit": 1, "name": "x", "tools": tools, "agents": {"a": {"may": ["terminal"], **rules}}, **sections}
    decision = decide(build_rulebook(policy), Call("a", "terminal", {"command": text}))
    return f"{decision.code} {decision.tier}"


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, "allowed 2"),
        ({"may_not": [{"url": "https://api.x.example/v1/**"}]}, "may-not 2"),
        ({"may_not": [{"host": ["api.x.example"]}]}, "may-not 2"),
        ({"may_not": [{"effect": "network"}]}, "may-not 2"),
        ({"may_not": [{"url": "https://other.example/**"}]}, "allowed 2"),
        ({"apis": ["https://api.x.example/**?*"]}, "allowed 2"),
        ({"apis": ["https://api.x.example/v1/**"]}, "api-not-allowed 2"),
        (
            {"may": [{"terminal": {"shell": {"run": [{"curl": {"url": ["https://api.x.example/**"]}}]}}}]},
            "not-permitted 2",
        ),
    ],
)
def test_rules(rules: dict[str, Any], expected: str) -> None:
    assert decided(PAGE, rules) == expected


@pytest.mark.parametrize("label", [{"host": ["api.x.example"]}, {"url": ["https://api.x.example/v1/**"]}])
def test_labels(label: dict[str, Any]) -> None:
    assert decided(PAGE, {}, labels={"production": label}) == "tier-asks 4"


@pytest.mark.parametrize(
    "url",
    ["https://$H/x", "https://a@$H/x", "https://a.example.$H/x", "https://a.example:$P/", "$U", "https://1.2.3/$X"],
)
def test_a_host_that_is_not_told(url: str) -> None:
    assert decided(f'curl "{url}"', {}) == "tier-asks 4"


def test_a_branch_that_is_not_told_could_be_a_shared_one() -> None:
    assert decided('git push origin -- "$B"', {}) == "tier-asks 4"
