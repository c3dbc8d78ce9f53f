"""Databases behind a tool and behind a terminal: evasions, and the everyday calls that must not be hurt by them.

`sql_rows.jsonl` holds inputs for four agents of `policy.yaml`, each with what must come of it and why.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from remit.compile import load_rulebook
from remit.decide import decide
from remit.enforce.paths import look_up, open_root
from remit.model import CallError, Facts
from remit.model.wire import decode_call

HERE = Path(__file__).parent
ROWS = [json.loads(line) for line in (HERE / "sql_rows.jsonl").read_text().splitlines()]
AGENTS = ("ledger_knowledge_sql", "ledger_knowledge_terminal", "reviewer_terminal", "orchestrator_terminal")
ROOT = Path("/workspace/proj")


@pytest.fixture(scope="module")
def answers() -> list[tuple[dict[str, str], str, str]]:
    """Each row with its verdict and code."""
    rulebook = load_rulebook(HERE / "policy.yaml")
    _, facts = open_root(ROOT, HERE / "policy.yaml", Facts(now="2026-11-15T12:00:00Z"))
    found = []
    for row in ROWS:
        tool, name = ("query", "sql") if row["agent"].endswith("_sql") else ("terminal", "command")
        line = {"id": "1", "agent": row["agent"], "tool": tool, "args": {name: row["input"]}}
        try:
            call = decode_call(json.dumps(line).encode())
        except CallError as error:
            found.append((row, "deny", error.code))
            continue
        decision = decide(rulebook, call, look_up(rulebook, call, facts))
        found.append((row, decision.verdict.word, decision.code))
    return found


def test_the_table_is_whole() -> None:
    assert len({(row["agent"], row["input"]) for row in ROWS}) == len(ROWS) > 1000
    kinds = Counter((row["agent"], row["expect"]) for row in ROWS)
    assert set(kinds) == {(agent, expect) for agent in AGENTS for expect in ("allow", "deny")}
    assert min(kinds.values()) >= 20


LOOKED_AT = {"git switch main", "git stash push -m wip", "git stash pop", "git merge --no-ff feature"}
"""Here nobody looks which files these would change, so that they are asked."""


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("expect", ["deny", "allow"])
def test_every_row_is_decided_as_it_must_be(
    answers: list[tuple[dict[str, str], str, str]], agent: str, expect: str
) -> None:
    rows = [each for each in answers if each[0]["agent"] == agent and each[0]["expect"] == expect]
    others = [each for each in rows if each[0]["input"] not in LOOKED_AT]
    wrong = [f"{row['input']!r} ({row['why']}): {verdict} {code}" for row, verdict, code in others if verdict != expect]
    assert wrong == []
    assert {code for row, _, code in rows if row["input"] in LOOKED_AT} <= {"target-unknown"}


def test_no_row_is_denied_by_accident(answers: list[tuple[dict[str, str], str, str]]) -> None:
    assert [row["input"] for row, _, code in answers if code == "rule-failed"] == []
