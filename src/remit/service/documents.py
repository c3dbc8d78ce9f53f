"""What a repository's documents and definitions say, against its policy."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from remit.explain.cells import ALLOWED, DENIED, MatrixCell
from remit.explain.matrix import cell_for, tools_of
from remit.explain.regions import RegionError, has_marks, written
from remit.model.rulebook import Rulebook
from remit.scan.files import Text
from remit.scan.model import Account, Entry, Finding, Kind, Mark, Place, Weight
from remit.scan.survey import scan

MOST = 20_000
"""Files that are looked at: a check is run often."""
_AT = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::\d+)?")


def document_findings(
    path: Path, rulebook: Rulebook, *, progress: Callable[[str], None] | None = None
) -> tuple[Finding, ...]:
    """The findings of a scan of the policy's folder, with the policy as what is enforced."""
    root = path.absolute().parent
    marked: list[str] = []

    def look(text: Text) -> None:
        if text.path.endswith(".md") and has_marks(text.text):
            marked.append(text.path)

    survey = scan(
        str(root),
        today=datetime.date.today(),
        policy=list(policy_accounts(rulebook, path.name)),
        most=MOST,
        progress=progress,
        look=look,
    )
    return (*_stale(root, marked, rulebook, path.name), *survey.findings)


def policy_accounts(rulebook: Rulebook, name: str) -> Iterator[Account]:
    """What a policy allows, agent by agent, in the words of a scan."""
    tools = tools_of(rulebook)
    for caller in rulebook.book.callers.values():
        if caller.kind != "agent":
            continue
        place = _place(caller.at, name)
        entries = tuple(_entry(tool, cell_for(rulebook, caller.name, tool), place, name) for tool in tools)
        yield Account(agent=caller.name, kind=Kind.POLICY, place=place, entries=entries)


def _entry(tool: str, cell: MatrixCell, place: Place, name: str) -> Entry:
    mark = {ALLOWED: Mark.YES, DENIED: Mark.NO}.get(cell.symbol, Mark.SCOPED)
    at = _place(cell.rules[0], name) if cell.rules else place
    return Entry(tool, mark, at, "; ".join(cell.scopes) or None)


def _place(at: str, name: str) -> Place:
    """A place of the rulebook as a line of a file; what stands in no file of the project is the policy's own."""
    found = _AT.fullmatch(at)
    return Place(found["file"], int(found["line"])) if found is not None else Place(name, 1)


def _stale(root: Path, marked: list[str], rulebook: Rulebook, name: str) -> Iterator[Finding]:
    for path in marked:
        try:
            _, changed = written(rulebook, (root / path).read_bytes().decode("utf-8"))
        except (OSError, UnicodeDecodeError):
            continue
        except RegionError as error:
            yield Finding(
                code="bad-region",
                weight=Weight.ERROR,
                agent=None,
                text=str(error),
                places=(Place(path, 1),),
                why="`remit docs` writes nothing while a mark can't be understood",
                fix="correct the mark",
            )
            continue
        for region in changed:
            yield Finding(
                code="stale-region",
                weight=Weight.ERROR,
                agent=region.name,
                text=f"the text of `remit:{region.kind}` is not what the policy says",
                places=(Place(path, region.line), Place(name, 1)),
                why="people and agents read it as the rule",
                fix="run `remit docs`",
            )
