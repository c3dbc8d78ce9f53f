"""The evasion corpus: every row decided by a policy that says its scope in a few lines.

`corpus.jsonl` holds inputs from real permission bypasses (`sources.json`) with what must come of them, `scopes.json`
says the scopes in plain English, `policy.yaml` says them to Remit. A false allow is a vulnerability; a false deny is
an agent that can't work.
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
ROWS = [json.loads(line) for line in (HERE / "corpus.jsonl").read_text().splitlines()]
SCOPES = json.loads((HERE / "scopes.json").read_text())
ROOT = Path(SCOPES["environment"]["workspace_root"])

TERMINALS = {name for name, scope in SCOPES["scopes"].items() if scope["input"] == "terminal command string"}
TOOLS = {**dict.fromkeys(TERMINALS, ("terminal", "command")), "ledger_knowledge_sql": ("query", "sql")}
TOOLS |= {name: ("write", "path") for name, scope in SCOPES["scopes"].items() if scope["family"] == "path"}
TOOLS["api_allowlist"] = ("fetch", "url")


@pytest.fixture(scope="module")
def rulebook():
    return load_rulebook(HERE / "policy.yaml")


def call_line(row) -> bytes:
    """The row as a call for its agent; an `args_json` goes in as the raw text it is."""
    value, raw, context = row["input"], None, {}
    if row["scope"] in TOOLS:
        tool, name = TOOLS[row["scope"]]
        args = {name: value}
    else:
        tool, args, context = value.get("tool"), value.get("args", {}), value.get("context", {})
        raw = value.get("args_json")
    head = json.dumps({"id": row["id"], "agent": row["scope"], "tool": tool, "context": context})
    return f'{head[:-1]}, "args": {raw if raw is not None else json.dumps(args)}}}'.encode()


def answer(rulebook, row, facts: Facts) -> tuple[str, str]:
    """The verdict and its code, as `remit decide --calls` gives them."""
    try:
        call = decode_call(call_line(row))
    except CallError as error:
        return "deny", error.code
    decision = decide(rulebook, call, look_up(rulebook, call, facts))
    return decision.verdict.word, decision.code


@pytest.fixture(scope="module")
def answers(rulebook):
    _, facts = open_root(ROOT, HERE / "policy.yaml", Facts(now="2026-11-15T12:00:00Z"))
    assert facts.resolved is None, "the corpus is judged by text: its root must not exist here"
    return {row["id"]: answer(rulebook, row, facts) for row in ROWS if not row.get("needs_fs")}


def told(row) -> str:
    return f"{row['id']} {row['scope']} ({row['technique']}): {row['input']!r}"


def test_the_corpus_is_whole():
    assert Counter(row["expect"] for row in ROWS) == {"deny": 265, "allow": 175, "ask-or-deny": 7}
    assert len({row["id"] for row in ROWS}) == len(ROWS)
    assert {row["scope"] for row in ROWS} == set(SCOPES["scopes"])


def test_every_scope_is_an_agent(rulebook):
    assert set(SCOPES["scopes"]) <= set(rulebook.book.callers)
    assert len(SCOPES["scopes"]) == 18


def test_no_row_is_falsely_allowed(answers):
    wrong = [told(row) for row in ROWS if row["expect"] != "allow" and answers[row["id"]][0] == "allow"]
    assert wrong == []


@pytest.mark.parametrize(("family", "least"), [("shell", 84), ("sql", 34), ("path", 25), ("url", 12), ("args", 20)])
def test_no_row_is_falsely_denied(answers, family, least):
    rows = [row for row in ROWS if row["family"] == family and row["expect"] == "allow"]
    assert len(rows) >= least
    wrong = [f"{told(row)}: {answers[row['id']][1]}" for row in rows if answers[row["id"]][0] != "allow"]
    assert wrong == []


@pytest.mark.parametrize("family", ["shell", "sql", "path", "url", "args"])
def test_refusals_have_a_code_of_their_own(answers, family):
    """A denial by accident (an internal failure) is no protection."""
    codes = {answers[row["id"]][1] for row in ROWS if row["family"] == family}
    assert "rule-failed" not in codes
    assert len(codes) >= (3 if family != "sql" else 2)


def test_the_same_with_a_root_that_exists(rulebook, tmp_path):
    """Relative paths mean the same below a real, empty directory; absolute ones are rewritten to it."""
    _, facts = open_root(tmp_path, HERE / "policy.yaml", Facts())
    wrong = []
    for row in ROWS:
        if row.get("needs_fs"):
            continue
        moved = json.loads(json.dumps(row).replace(str(ROOT), str(tmp_path)))
        verdict, code = answer(rulebook, moved, facts)
        if (verdict == "allow") != (row["expect"] == "allow"):
            wrong.append(f"{told(row)}: {verdict} {code}")
    assert wrong == []
