"""`remit usage`: what was used of what a policy allows, and the changes that would fit."""

from __future__ import annotations

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.forms.texts import plain
from remit.model.call import Call
from remit.model.facts import Facts
from tests.cli.living_kit import FREE, Team


@pytest.fixture
def worked(free: Team) -> Team:
    """A week: dev writes two files and is denied often; lead only reads; tester does nothing."""
    free.new("id: TASK-12\nagent: dev\ngoal: reports\ndata_tiers: [2]\n")
    with free.guard() as guard:
        with guard.agent("dev"):
            guard.call("write", {"file": "src/a.py", "text": "x"})
            guard.call("write", {"file": "src/b.py", "text": "x"})
        with guard.agent("dev", capsule="TASK-12"):
            guard.call("read", {"file": "reports/a"})
        with guard.agent("lead"):
            guard.call("read", {"file": "src/a.py"})
    for name in ("notes/a.md", "notes/b.md", "notes/a.md"):
        assert free.call("write", file=name, text="x") == "not-permitted"
    assert free.call("write", agent="tester", file="src/a.py", text="x") == "not-permitted"
    return free


def test_everything_at_once(worked: Team) -> None:
    found = worked("usage", "--json").json
    assert found["calls"] == 8
    assert (found["never_used"], found["only_read"]) == ([], ["lead"])
    assert [(one["agent"], one["calls"], one["denied"], one["data"]) for one in found["agents"]] == [
        ("lead", 1, 0, {}),
        ("dev", 6, 3, {"2": 1}),
        ("tester", 1, 1, {}),
    ]
    assert found["denials"] == {"not-permitted": {"dev write": 3, "tester write": 1}}
    assert [(one["agent"], one["rule"]) for one in found["unused"]] == [
        ("dev", "term"),
        ("dev", "query"),
        ("dev", "deploy"),
        ("tester", "read"),
    ]


def test_a_rule_that_is_too_coarse_comes_with_one_that_fits(worked: Team) -> None:
    [coarse] = [one for one in worked("usage", "--json").json["coarse"] if "write" in one["rule"]]
    assert (coarse["agent"], coarse["times"]) == ("dev", 2)
    assert coarse["rule"] == 'write: {"path":{"allow":["src/**"]}}'
    rule = plain(parse(coarse["fits"], "fits"))
    policy: dict[str, Any] = plain(parse(FREE, "policy"))
    policy["agents"]["dev"]["may"][1] = rule
    rulebook = build_rulebook(policy)
    words = {
        name: decide(rulebook, Call("dev", "write", {"file": name, "text": ""}), Facts(root="/r")).verdict.word
        for name in ("src/a.py", "src/b.py", "src/c.py", "src/deep/a.py")
    }
    assert words == {"src/a.py": "allow", "src/b.py": "allow", "src/c.py": "deny", "src/deep/a.py": "deny"}


def test_a_rule_that_is_too_narrow_comes_with_the_grant_that_fits(worked: Team) -> None:
    [narrow] = worked("usage", "--json").json["narrow"]
    assert (narrow["agent"], narrow["tool"], narrow["code"], narrow["times"]) == ("dev", "write", "not-permitted", 3)
    assert len(narrow["fits"]) == 2
    grants = "".join(f"  - {one}\n" for one in narrow["fits"])
    task = f"id: T-2\nagent: dev\ngoal: notes\ngrants:\n{grants}"
    assert worked.new(task).code == 0
    assert worked.call("write", "T-2", file="notes/a.md", text="x") == "None"
    assert worked.call("write", "T-2", file="notes/b.md", text="x") == "None"
    assert worked.call("write", "T-2", file="notes/c.md", text="x") == "not-permitted"


def test_how_often_is_often(worked: Team) -> None:
    found = worked("usage", "--often", "1", "--json").json
    assert [(one["agent"], one["times"]) for one in found["narrow"]] == [("dev", 3), ("tester", 1)]
    assert worked("usage", "--often", "4", "--json").json["narrow"] == []


def test_the_page_for_people(worked: Team) -> None:
    text = worked("usage").out
    assert "only read: lead (1 allowed calls)\n" in text
    assert "sensitive data: dev: 1 of data tier 2;" in text
    assert "  4 not-permitted: dev write 3, tester write 1\n" in text
    assert "too coarse" in text
    assert "      for one task, under `grants:`:  write: {path: " in text


def test_one_agent(worked: Team) -> None:
    found = worked("usage", "--agent", "lead", "--json").json
    assert ([one["agent"] for one in found["agents"]], found["calls"], found["denials"]) == (["lead"], 1, {})
    assert worked("usage", "--agent", "nobody").code == 2


def test_a_window_in_which_nothing_happened(worked: Team) -> None:
    found = worked("usage", "--since", "2099-01-01", "--json").json
    assert (found["calls"], found["never_used"]) == (0, ["lead", "dev", "tester"])
    assert len(found["unused"]) == 7


def test_calls_by_data_tier(worked: Team) -> None:
    shown = worked("ledger", "show", "--data-tier", "2", "--data-tier", "3", "--json").out.splitlines()
    assert len(shown) == 1
    assert '"agent":"dev"' in shown[0].replace(" ", "")
    assert worked("ledger", "show", "--data-tier", "3", "--json").out == ""
    assert worked("ledger", "show", "--data-tier", "4").code == 2
