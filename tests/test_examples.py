"""The six examples: they load, their own tests hold, and the first says what its document says, cell by cell."""

# Arguments come from tables of plain data.
# mypy: disable-error-code="arg-type"

from collections import Counter
from pathlib import Path

import pytest

from remit.compile import load_rulebook
from remit.decide import decide
from remit.model import Call, Context, Rulebook
from remit.testing.policy_tests import run_tests

ROOT = Path(__file__).parents[1]
EXAMPLES = {path.parent.name: path for path in sorted((ROOT / "examples").glob("*/remit.yaml"))}
EXAMPLES["demo"] = ROOT / "src" / "remit" / "catalog" / "demo" / "remit.yaml"
# What waits for SQL scopes: no more than this, so that a test can't hide behind the mark.

# The tool access matrix of the forge pipeline: ✅ allowed, ❌ restricted, 🔒 allowed within a scope.
MATRIX = """
| Tool                         | Orch | Res | Spec | Des | Plan | Impl | Verif | AdvRev | Know |
| ---------------------------- | ---- | --- | ---- | --- | ---- | ---- | ----- | ------ | ---- |
| read_file                    | ✅   | ✅  | ✅   | ✅  | ✅   | ✅   | ✅    | ✅     | ✅   |
| list_dir                     | ✅   | ✅  | ✅   | ✅  | ✅   | ✅   | ✅    | ✅     | ✅   |
| grep_search                  | ❌   | ✅  | ✅   | ✅  | ✅   | ✅   | ✅    | ✅     | ✅   |
| semantic_search              | ❌   | ✅  | ✅   | ✅  | ✅   | ✅   | ❌    | ✅     | ✅   |
| file_search                  | ❌   | ✅  | ✅   | ✅  | ✅   | ✅   | ✅    | ✅     | ✅   |
| create_file                  | ❌   | 🔒  | ✅   | ✅  | ✅   | ✅   | 🔒    | ✅     | ✅   |
| replace_string_in_file       | ❌   | ❌  | ✅   | ✅  | ✅   | ✅   | ❌    | ❌     | ✅   |
| multi_replace_string_in_file | ❌   | ❌  | ❌   | ❌  | ❌   | ✅   | ❌    | ❌     | ❌   |
| run_in_terminal              | 🔒   | ❌  | ❌   | ❌  | ❌   | ✅   | ✅    | 🔒     | 🔒   |
| get_terminal_output          | ✅   | ❌  | ❌   | ❌  | ❌   | ✅   | ✅    | ❌     | ❌   |
| get_errors                   | ❌   | ❌  | ❌   | ❌  | ❌   | ✅   | ✅    | ❌     | ❌   |
| memory                       | ✅   | ❌  | ❌   | ❌  | ❌   | ❌   | ❌    | ❌     | ✅   |
| ask_questions                | ✅   | ❌  | 🔒   | ❌  | ❌   | ❌   | ❌    | ❌     | ❌   |
| list_code_usages             | ❌   | ❌  | ❌   | ❌  | ❌   | ✅   | ❌    | ❌     | ❌   |
"""
AGENTS = {
    "Orch": "orchestrator",
    "Res": "researcher",
    "Spec": "spec",
    "Des": "designer",
    "Plan": "planner",
    "Impl": "implementer",
    "Verif": "verifier",
    "AdvRev": "adversarial-reviewer",
    "Know": "knowledge",
}


def cells() -> dict[tuple[str, str], str]:
    head, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in MATRIX.strip().splitlines()]
    return {(AGENTS[name], row[0]): mark for row in rows for name, mark in zip(head[1:], row[1:], strict=True)}


@pytest.fixture(scope="module", params=EXAMPLES)
def example(request) -> tuple[str, Rulebook]:
    return request.param, load_rulebook(EXAMPLES[request.param])


def test_there_are_six():
    assert sorted(EXAMPLES) == ["cortex", "demo", "forge-pipeline", "maverick", "nexus", "srs-writer"]


def test_the_tests_of_an_example_hold(example):
    name, rulebook = example
    results = run_tests(rulebook, EXAMPLES[name])
    assert [f"{r.file}:{r.at} {r.name}: {r.message}" for r in results if r.outcome == "failed"] == []
    counts = Counter(result.outcome for result in results)
    assert counts["passed"] >= 50


def test_every_agent_of_an_example_is_tested(example):
    """An agent that no test calls could say anything."""
    from remit.declare.cases import read_tests

    name, rulebook = example
    called = {
        test.call.agent
        for file in EXAMPLES[name].parent.glob("*.test.yaml")
        for test in read_tests(file.read_text(), file.name).tests
    }
    agents = {caller.name for caller in rulebook.book.callers.values() if caller.kind == "agent"}
    assert agents - called == set()


def test_an_example_weakens_nothing(example):
    _, rulebook = example
    assert rulebook.book.unsafe == ()


@pytest.fixture(scope="module")
def forge() -> Rulebook:
    return load_rulebook(EXAMPLES["forge-pipeline"])


def written(rulebook: Rulebook, agent: str, tool: str) -> str:
    """The cell as the policy says it: no rule, a rule without scope, or only rules with one."""
    rules = [rule for rule in rulebook.book.callers[agent].rules if rule.verb == "may" and tool in (rule.tools or ())]
    if not rules:
        return "❌"
    return "✅" if any(not rule.scope.on_arguments and not rule.scope.when for rule in rules) else "🔒"


def test_the_matrix_has_every_cell():
    assert len(cells()) == 14 * 9
    assert Counter(cells().values()) == {"✅": 64, "❌": 56, "🔒": 6}


def test_the_policy_says_the_matrix(forge):
    assert {cell: written(forge, *cell) for cell in cells()} == cells()


# For each tool arguments that lie within every scope of the matrix, and some that lie outside of it.
INSIDE = {
    "read_file": {"filePath": "README.md"},
    "list_dir": {"path": "src"},
    "grep_search": {"query": "x", "isRegexp": False},
    "semantic_search": {"query": "x"},
    "file_search": {"query": "*.py"},
    "replace_string_in_file": {"filePath": "a", "oldString": "a", "newString": "b"},
    "multi_replace_string_in_file": {
        "explanation": "x",
        "replacements": [{"filePath": "a", "oldString": "", "newString": ""}],
    },
    "get_terminal_output": {"id": "1"},
    "get_errors": {},
    "memory": {"command": "view"},
    "ask_questions": {"questions": []},
    "list_code_usages": {"symbol": "x"},
}
FILES = {"researcher": "research/a.yaml", "verifier": "verification-reports/a.yaml"}


@pytest.mark.parametrize(("agent", "tool"), cells(), ids=lambda name: name)
def test_decisions_follow_the_matrix(forge, agent, tool):
    mark = cells()[agent, tool]
    if tool == "run_in_terminal":
        decision = decide(forge, Call(agent, tool, {"command": "git status"}))
        # 🔒 is another scope for each: the orchestrator's has git status, those of the other two have not.
        allowed = mark == "✅" or agent == "orchestrator"
        assert (decision.verdict.word, decision.code) == (
            ("allow", "allowed") if allowed else ("deny", "not-permitted")
        )
        return
    args = INSIDE.get(tool) or {"filePath": FILES.get(agent, "docs/a.md"), "content": ""}
    inside = decide(forge, Call(agent, tool, INSIDE.get(tool, args), Context(mode="interactive")))
    other = {"filePath": "elsewhere/a.md", "content": ""} if tool == "create_file" else INSIDE[tool]
    outside = decide(forge, Call(agent, tool, other, Context(mode="autopilot")))
    found = {"allow allow": "✅", "allow deny": "🔒", "deny deny": "❌"}
    assert found[f"{inside.verdict.word} {outside.verdict.word}"] == mark
