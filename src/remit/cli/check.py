"""`remit check`: does the policy load, and do its examples, `never` statements and tests hold?"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from remit.cli.common import BAD_POLICY, FINE, clock, find_policy, say_policy, write_file
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, out_json, paint, problem_text, watched
from remit.cli.parameters import Option
from remit.cli.quote import frame
from remit.model.rulebook import Book
from remit.model.text import counted, shown
from remit.testing.check import Checked, counts, examine, sizes

if TYPE_CHECKING:
    from remit.grant.reviews import Review
    from remit.scan.model import Finding


def command(
    policy: PolicyOption = None,
    json: JsonOption = False,
    quiet: Annotated[bool, Option("--quiet", "-q", help="Print only what is wrong.")] = False,
    strict: Annotated[
        bool, Option("--strict", help="Also fail for overdue reviews, and for documents that contradict the policy.")
    ] = False,
    no_documents: Annotated[
        bool, Option("--no-documents", help="Don't compare the policy with the project's documents.")
    ] = False,
    junit: Annotated[Path | None, Option("--junit", metavar="FILE", help="Also write JUnit XML, for CI.")] = None,
    html: Annotated[
        Path | None, Option("--html", metavar="FILE", help="Also write one HTML page with every test.")
    ] = None,
) -> int:
    """Check that a policy loads, its examples and `never` statements hold, and its tests pass.

    Then compare it with the definitions and documents below its folder, and show contradictions. `remit test`,
    `validate` and `lint` are the same command.

    Examples: `remit check`, `remit check --strict`, `remit check --no-documents`
    """
    path = find_policy(policy)
    if not quiet:
        say_policy(path, machine=json)
    checked = examine(path)
    _write_reports(checked, junit, html)
    overdue = _overdue(path, checked) if strict else []
    findings = _documents(path, checked, machine=json) if not no_documents else ()
    fine = checked.fine and not overdue and not (strict and any(one.weight == "error" for one in findings))
    if json:
        found = {"documents": findings, "ok": fine}
        out_json(as_json(checked) | found | ({"overdue": overdue} if strict else {}))
    else:
        out("".join(f"{paint('overdue', 'red')}: {line}\n" for line in map(_review_text, overdue)))
        if findings:
            from remit.cli.check_documents import findings_text  # here: a policy without documents does without

            out(findings_text(findings, strict=strict, quiet=quiet))
        out(as_text(checked, quiet=quiet))
    return FINE if fine else BAD_POLICY


def _documents(path: Path, checked: Checked, *, machine: bool) -> tuple[Finding, ...]:
    """What the project's definitions and documents contradict."""
    if checked.rulebook is None or not _has_documents(path.absolute().parent):
        return ()
    from remit.service.documents import document_findings  # here: a policy without documents does without

    with watched(machine=machine) as progress:
        return document_findings(path, checked.rulebook, progress=progress)


def _has_documents(folder: Path) -> bool:
    try:
        with os.scandir(folder) as entries:
            return any(entry.name.endswith(".md") or entry.is_dir() for entry in entries)
    except OSError:
        return False


def _write_reports(checked: Checked, junit: Path | None, html: Path | None) -> None:
    """Writes the files that were asked for. Raises InputError."""
    if junit is None and html is None:
        return
    from remit.testing.report import as_html, as_junit  # here: most checks write none

    if junit is not None:
        write_file("--junit", junit, as_junit(checked))
    if html is not None:
        write_file("--html", html, as_html(checked))


def _overdue(path: Path, checked: Checked) -> list[Review]:
    """Reviews that are overdue, by the policy and by what the ledger says. Raises LedgerError and StoreError."""
    from remit.service.reviews import standing_reviews  # here: a plain check opens no ledger

    if checked.rulebook is None:
        return []
    return [one for one in standing_reviews(path, checked.rulebook) if one.state == "overdue"]


def _review_text(one: Review) -> str:
    return f"{shown(one.who, 100)}: last reviewed {one.on} by {shown(one.by or '', 100)}, {one.days} days ago"


def as_json(checked: Checked) -> dict[str, Any]:
    """The result for programs."""
    book = checked.rulebook.book if checked.rulebook is not None else None
    return {
        "file": str(checked.path).encode("utf-8", "backslashreplace").decode(),
        "ok": checked.fine,
        "policy": checked.rulebook.hash if checked.rulebook is not None else None,
        "problems": checked.problems,
        "notices": checked.notices(clock()),
        "unsafe": book.unsafe if book is not None else (),
        "counts": counts(book) if book is not None else None,
        "tests": {**checked.outcomes(), "results": checked.tests},
    }


def as_text(checked: Checked, *, quiet: bool) -> str:
    """The result for people: first what is wrong, then what is worth knowing, then the sum."""
    lines: list[str] = []
    for problem in checked.problems:
        said, _, help_ = problem_text(problem).partition("\n")
        shown_ = [] if quiet else frame(checked.path, problem.at)
        lines += [f"{paint('error', 'red')}: {said}", *shown_, *([help_] if help_ else [])]
    for test in checked.tests:
        if test.outcome == "failed":
            what = f"expected {test.expected}, got {test.got}: {shown(test.message, 400)}"
            lines.append(f"{paint('failed', 'red')}: {test.at}: {shown(test.name, 200)}: {what}")
            lines += [] if quiet else frame(checked.path, test.at)
    book = checked.rulebook.book if checked.rulebook is not None else None
    if book is not None and not quiet:
        lines.extend(f"{paint('notice', 'yellow')}: {shown(text, 400)}" for text in checked.notices(clock()))
        lines.extend(f"{paint('unsafe', 'yellow')}: {shown(text, 400)}" for text in book.unsafe)
    if not quiet:
        lines.append(_sum(checked, book))
    return "".join(f"{line}\n" for line in lines)


def _sum(checked: Checked, book: Book | None) -> str:
    if book is None:
        number = len(checked.problems)
        return paint(f"❌ {counted(number, 'problem')}", "red")
    done = checked.outcomes()
    tests = ", ".join(f"{n} {word}" for word, n in done.items() if n) or "none"
    mark = paint("✅", "green") if checked.fine else paint("❌", "red")
    return f"{mark} {sizes(book)}; tests: {tests}"
