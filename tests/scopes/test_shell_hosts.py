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


UNTOLD = [
    'curl "https://$H/x"',
    'curl "https://a@$H/x"',
    'curl "https://a.example.$H/x"',
    'curl "https://a.example:$P/"',
    'curl "https://1.2.3/$X"',
    'ping -c 1 -- "$H"',
    'ssh "a@$H"',
    'rsync -a src "a@$H:x"',
    "curl https://a:b@x.example/",  # no URL by the strict grammar
]


@pytest.mark.parametrize("text", UNTOLD)
@pytest.mark.parametrize(
    ("rules", "code"),
    [
        ({"may_not": [{"url": "https://other.example/**"}]}, "may-not"),
        ({"may_not": [{"url": "gopher://other.example:*/**"}]}, "may-not"),
        ({"may_not": [{"host": ["other.example"]}]}, "may-not"),
        ({"apis": ["https://**"]}, "api-not-allowed"),
        ({"apis": ["https://x.example/**"]}, "api-not-allowed"),
    ],
)
def test_an_address_that_is_not_told_could_be_any(text: str, rules: dict[str, Any], code: str) -> None:
    assert decided(text, rules).split()[0] == code


@pytest.mark.parametrize("text", UNTOLD)
def test_without_rules_about_addresses_it_is_one_like_others(text: str) -> None:
    assert decided(text, {}).split()[0] in ("allowed", "target-unknown")
    for label in ({"host": ["db.prod.example"]}, {"url": ["https://db.prod.example/**"]}):
        assert decided(text, {}, labels={"production": label}) == "tier-asks 4"


@pytest.mark.parametrize("scope", [{"url": ["https://**"]}, {"host": ["x.example"]}])
def test_no_scope_has_it(scope: dict[str, Any]) -> None:
    rules = {"may": [{"terminal": {"shell": {"run": [{"curl": scope}]}}}]}
    assert decided('curl "https://$H/x"', rules) == "not-permitted 2"


def test_a_word_that_could_be_an_option() -> None:
    assert decided('curl "$U"', {}) == "tier-asks 4"


def test_a_branch_that_is_not_told_could_be_a_shared_one() -> None:
    assert decided('git push origin -- "$B"', {}) == "tier-asks 4"
