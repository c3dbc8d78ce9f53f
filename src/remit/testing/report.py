"""What a check found, as files for others: JUnit XML for CI, and one HTML page for people."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from remit.model.html import html_file, text
from remit.model.text import shown
from remit.testing.check import Checked
from remit.testing.policy_tests import TestResult

_LONG = 2_000
_MARKS = {"passed": "✅", "failed": "❌"}


def as_junit(checked: Checked) -> str:
    """JUnit XML: a suite for the policy itself, where each problem is an error, and one for each file of tests."""
    suites = {"policy": _of_policy(checked)}
    for test in checked.tests:
        suites.setdefault(test.file, []).append(_case(test))
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuites name="remit" {_counts([case for cases in suites.values() for case in cases])}>')
    for name, cases in suites.items():
        lines += [f"  <testsuite name={_attribute(name)} {_counts(cases)}>", *cases, "  </testsuite>"]
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _counts(cases: list[str]) -> str:
    failures, errors = (sum(f"><{kind} " in case for case in cases) for kind in ("failure", "error"))
    return f'tests="{len(cases)}" failures="{failures}" errors="{errors}"'


def _of_policy(checked: Checked) -> list[str]:
    name = _attribute(checked.path)
    if not checked.problems:
        return [f'    <testcase classname="policy" name={name}/>']
    return [
        f'    <testcase classname="policy" name={_attribute(problem.at or str(checked.path))}>'
        f"{_found('error', problem.code, problem.message, problem.help)}</testcase>"
        for problem in checked.problems
    ]


def _case(test: TestResult) -> str:
    line = test.at.rpartition(":")[0].rpartition(":")[2]
    where = f" file={_attribute(test.file)} line={_attribute(line)}"
    start = f"    <testcase classname={_attribute(test.file)} name={_attribute(test.name)}{where}"
    if test.outcome == "passed":
        return f"{start}/>"
    message = f"expected {test.expected}, got {test.got}: {test.message}"
    return f"{start}>{_found('failure', 'decision', message)}</testcase>"


def _found(kind: str, code: str, message: str, help: str | None = None) -> str:
    """The message twice: some servers show the attribute, others only what stands inside."""
    inside = escape(shown(f"{message}\n{help}" if help else message, _LONG))
    return f"<{kind} type={_attribute(code)} message={_attribute(message)}>{inside}</{kind}>"


def _attribute(value: object) -> str:
    """Text from outside as an attribute; what XML can't hold is named."""
    return quoteattr(shown(value, _LONG))


def as_html(checked: Checked) -> str:
    """One page: what is wrong first, then every test, with a filter."""
    done = checked.outcomes()
    rows = "".join(map(_row, sorted(checked.tests, key=lambda test: test.outcome != "failed")))
    problems = "".join(
        f"<li><code>{text(one.at)}</code> {text(one.message, _LONG)} <small>({text(one.code)})</small>"
        + (f"<br><small>{text(one.help, _LONG)}</small>" if one.help else "")
        + "</li>"
        for one in checked.problems
    )
    mark = "✅" if checked.fine else "❌"
    return html_file(
        "tests",
        title=f"Tests of {shown(checked.path, 100)}",
        heading=f"{mark} Tests of <code>{text(checked.path)}</code>",
        summary=f"{done['passed']} passed, {done['failed']} failed, {len(checked.problems)} problems in the policy.",
        problems=f'<section class="alarm"><h2>Problems</h2><ul>{problems}</ul></section>' if problems else "",
        rows=rows or '<tr><td colspan="5" class="none">There are no tests: write a <code>*.test.yaml</code>.</td></tr>',
    )


def _row(test: TestResult) -> str:
    words = f"{test.name} {test.at} {test.expected} {test.got} {test.outcome}".lower()
    shape = f'<span aria-hidden="true">{_MARKS[test.outcome]}</span> {test.outcome}'
    why = f"<br><small>{text(test.message, _LONG)}</small>" if test.outcome == "failed" and test.message else ""
    cells = [shape, text(test.name, 200), f"<code>{text(test.at)}</code>", text(test.expected), text(test.got) + why]
    found = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="{test.outcome}" data-f="{text(words)}" data-o="{test.outcome}">{found}</tr>'
