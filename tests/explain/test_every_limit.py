"""Every limit that a policy writes is read back: in words, with its numbers, and none is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.compile import build_rulebook, load_rulebook
from remit.explain.access import make_report, report_text
from remit.explain.cells import SCOPED
from remit.model.policy import Rule
from remit.scopes.judge import Judge

ROOT = Path(__file__).parents[2]
LIMITS = Path(__file__).parent / "limits.yaml"
POLICIES = [LIMITS, *sorted((ROOT / "examples").glob("*/remit.yaml"))]
_SAID = {
    "new_only": "new files only",
    "transaction": "transactions",
    "explain": "explain",
    "optional": "absent",
    "unsafe_any_arguments": "any arguments",
}
"""What a flag is called."""


def written(value: Any, key: str = "") -> Iterator[str]:
    """Every value that a scope writes, as text, and the words for its flags."""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from written(item, name)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from written(item, key)
    elif value is True:
        yield _SAID[key]
    elif value is not False and value is not None and (key, value) != ("conflict", "none"):  # which is the default
        yield f"{value:g}" if isinstance(value, float) else str(value)


def rules_of(path: Path) -> dict[str, Rule]:
    book = load_rulebook(path).book
    return {rule.at: rule for caller in book.callers.values() for rule in caller.rules}


@pytest.mark.parametrize("path", POLICIES, ids=lambda path: path.parent.name)
def test_a_scope_in_full_has_all_that_is_written(path: Path):
    for at, rule in rules_of(path).items():
        text = Judge(rule.scope).in_full()
        for value in written(rule.scope.written()):
            assert value in text, f"{at}: {value}"


def test_a_value_that_is_left_out_is_found():
    assert list(written({"sql": {"select": {"columns": {"orders": ["id", "total"]}}, "transaction": True}})) == [
        "id",
        "total",
        "transactions",
    ]


def test_a_report_says_all_of_them():
    rulebook = load_rulebook(LIMITS)
    report = make_report(rulebook, "a")
    text = report_text(report)
    for rule in rulebook.book.callers["a"].rules:
        for value in written(rule.scope.written()):
            assert value in text, f"{rule.at}: {value}"
    for record in ("src/**", "src/gen/**", "https://api.example/**", "deploy", "data tiers 0, 1", "data tiers 2"):
        assert record in text
    assert "needs a capsule above tier 0" in text
    assert "delegates to b" in text


def test_what_binds_every_call_is_said_once():
    text = report_text(make_report(load_rulebook(LIMITS), "a"))
    assert "**Every call**: data tiers 0, 1; with a grant of its task also data tiers 2" in text
    assert text.count("data tiers 0, 1") == 1


def test_a_long_list_of_limits_is_not_cut_off():
    hosts = [f"https://host-{number}.example/**" for number in range(200)]
    policy = {
        "remit": 1,
        "tools": {"fetch": {"args": {"url": "url"}, "does": {"network": "url"}}},
        "agents": {"a": {"may": [{"fetch": {"url": hosts}}]}},
    }
    report = make_report(build_rulebook(policy), "a")
    assert report.entries[0].cell.symbol == SCOPED
    assert all(host in report_text(report) for host in hosts)


def test_an_observed_agent_is_said_so():
    policy = {
        "remit": 1,
        "tools": {"fetch": {"args": {"url": "url"}, "does": {"network": "url"}}},
        "agents": {"a": {"may": [], "enforce": {"observe": {"until": "2099-01-01"}}}},
    }
    assert "is only observed until 2099-01-01" in report_text(make_report(build_rulebook(policy), "a"))


def test_what_the_record_limits_is_in_words_and_numbers():
    policy = {
        "remit": 1,
        "tools": {
            "refund": {"args": {"amount": "number"}, "does": {"pay": "amount"}},
            "run": {"args": {"command": "shell"}, "tier": 1},
        },
        "agents": {
            "a": {
                "may": ["refund", "run"],
                "daily_sum": {"refund.amount": 700},
                "confine": "required",
                "on_violation": {"halt": {"after": 3, "within": "10m", "for": ["protected", "may_not"]}},
            }
        },
    }
    report = make_report(build_rulebook(policy), "a")
    lines = {entry.tool: entry.line(report.common) for entry in report.entries}
    assert "amount at most 700 a day, in all" in lines["refund"]
    assert "at most 700" not in lines["run"]
    assert "its commands run confined (required)" in lines["run"]
    assert "halted after 3 violations within 10m (protected, may_not)" in report_text(report)
