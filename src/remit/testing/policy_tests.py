"""Running the `*.test.yaml` beside a policy: every call decided by the rulebook, with a pinned clock."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import msgspec

from remit.compile.facts import facts_from
from remit.decide import decide
from remit.declare.cases import Expected, PolicyTest, TestFile, read_tests
from remit.declare.files import read_text
from remit.forms.nodes import Node
from remit.model.decision import Decision
from remit.model.errors import PolicyError, Problem
from remit.model.facts import Facts
from remit.model.profile import HELD
from remit.model.rulebook import Rulebook
from remit.model.text import near_miss, shown

_ABOUT = "name the policy under test, beside this file; without the key it is remit.yaml"
Outcome = Literal["passed", "failed"]


class TestResult(msgspec.Struct, frozen=True):
    """What came of one test."""

    __test__ = False

    name: str
    file: str
    at: str
    outcome: Outcome
    expected: str
    got: str
    message: str = ""


def test_files(policy: Path) -> list[Path]:
    """The test files beside a policy."""
    return sorted(policy.parent.glob("*.test.yaml"))


def run_tests(rulebook: Rulebook, policy: Path) -> list[TestResult]:
    """Decides every test that names this policy. Raises PolicyError for a file that can't be read."""
    results: list[TestResult] = []
    for path in test_files(policy):
        file = read_tests(read_text(path, path.name), path.name)
        about = path.parent / file.policy
        if not about.exists():
            problem = Problem("no-policy", f"`policy: {shown(file.policy)}` names no file", path.name, _ABOUT)
            raise PolicyError((problem,))
        if about.resolve() == policy.resolve():
            results.extend(_run(rulebook, file, test) for test in file.tests)
    return results


def _run(rulebook: Rulebook, file: TestFile, test: PolicyTest) -> TestResult:
    facts = _facts(rulebook, file, test)
    decision = decide(rulebook, test.call, facts)
    got = f"{decision.verdict.word} ({decision.code})"
    expected = _words(test.expect)
    wrong = differences(test.expect, decision)
    outcome: Outcome = "failed" if wrong else "passed"
    said = ("decision", "code")  # `expected` and `got` have these
    message = "; ".join([*(text for name, text in wrong.items() if name not in said), decision.reason]) if wrong else ""
    slip = _slip(rulebook, test, decision) if not wrong else None
    if slip is not None:
        outcome, message = "failed", f"denied whatever the rules say: {slip} (to test that, expect the code)"
    return TestResult(test.name, file.source, test.at, outcome, expected, got, message)


def _slip(rulebook: Rulebook, test: PolicyTest, decision: Decision) -> str | None:
    """The name that was probably meant, where a call is denied only because the policy does not know it: such a test
    passes whatever the policy says. One that expects the code means it."""
    if test.expect.decision != "deny" or test.expect.code is not None:
        return None
    book, call = rulebook.book, test.call
    tool = book.tools.get(book.aliases.get(call.tool, call.tool))
    known: dict[str, tuple[Iterable[str], Iterable[str]]] = {
        "unknown-agent": ((call.agent,), book.callers),
        "unknown-tool": ((call.tool,), (*book.tools, *book.aliases)),
        "undeclared-argument": (call.args, tool.args if tool is not None else ()),
    }
    names, there = known.get(decision.code, ((), ()))
    for name in names:
        near = near_miss(name, there) if name not in there else None
        if near is not None or decision.code == "undeclared-argument":
            return f"{decision.reason}{f'; did you mean `{near}`?' if near else ''}"
    return None


def _facts(rulebook: Rulebook, file: TestFile, test: PolicyTest) -> Facts:
    facts = Facts(confined=HELD)
    for node in (file.facts, test.facts):
        if isinstance(node, Node):
            facts = facts_from(rulebook, node)
            if "confined" not in node.value:
                facts = msgspec.structs.replace(facts, confined=HELD)
    if facts.now is None and file.now is not None:
        facts = msgspec.structs.replace(facts, now=file.now)
    return facts


def differences(expected: Expected, decision: Decision) -> dict[str, str]:
    """What the decision says otherwise than expected, by name."""
    found = {}
    pairs = (
        ("decision", expected.decision, decision.verdict.word),
        ("code", expected.code, decision.code),
        ("tier", expected.tier, decision.tier),
        ("data tier", expected.data_tier, decision.data_tier),
        ("would", expected.would, decision.would),
        ("of", expected.of, decision.needs.of if decision.needs is not None else None),
    )
    for name, wanted, got in pairs:
        if wanted is not None and wanted != got:
            found[name] = f"{name} is {got}, expected {wanted}"
    return found


def _words(expected: Expected) -> str:
    return expected.decision + (f" ({expected.code})" if expected.code else "")
