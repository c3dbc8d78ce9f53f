"""Marked regions of documents, written from the policy: a matrix, a section for each agent, the text of a prompt.

    <!-- remit:matrix -->
    …
    <!-- /remit -->

What stands between the marks is Remit's; everything else is the author's and stays as it is, to the byte.
"""

from __future__ import annotations

import re
from bisect import bisect_right

import msgspec

from remit.explain.access import instructions_text, make_report
from remit.explain.cells import ALLOWED, SCOPED, MatrixCell
from remit.explain.matrix import Matrix, callers_of, cell_for, make_matrix, tools_of
from remit.explain.pages import escaped_markdown, legend
from remit.model.errors import RemitError
from remit.model.names import known_name
from remit.model.rulebook import Rulebook
from remit.model.text import shown

KINDS = ("matrix", "sections", "agent", "prompt")
_MARK = re.compile(r"<!--\s*(?:remit\s*:|/\s*remit\b)", re.IGNORECASE)
_START = re.compile(r"<!--\s*remit:\s*([a-z]+)(?:[ \t]+([^\s>]+))?\s*-->[ \t]*(?=\r?\n|$)")
_END = re.compile(r"<!--\s*/remit\s*-->")
_TAG = re.compile(r"\\?<(?=!--)|(?<!\\)<(?=[A-Za-z/!?])")
"""What a page would read as HTML, or as a mark of ours, in words that come from the policy."""
_FENCE = re.compile(r"^[ ]{0,3}(`{3,}|~{3,}).*?(?:^[ ]{0,3}\1[`~]*[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)
"""A block of code; only a fence that is as long, and nothing else on its line, ends it."""


_HANDS = "delegates to "


class RegionError(RemitError):
    """A region that can't be written; `str(error)` names the line."""

    code = "bad-region"


class Region(msgspec.Struct, frozen=True):
    """One marked region: what it should show, and where its text lies."""

    kind: str
    name: str | None
    start: int
    end: int
    line: int


def has_marks(text: str) -> bool:
    """Whether a document has anything that looks like a mark of ours."""
    return _MARK.search(text) is not None


def regions_of(text: str) -> list[Region]:
    """The regions of a document, in order; marks inside of code are examples. Raises RegionError.

    INVARIANT: whatever looks like a mark is one, or an error: nothing of the author's is taken for a region's text.
    """
    code = [match.span() for match in _FENCE.finditer(text)]
    starts = [start for start, _ in code]
    found: list[Region] = []
    opened: tuple[re.Match[str], int] | None = None
    for mark in _MARK.finditer(text):
        at = mark.start()
        before = text[text.rfind("\n", 0, at) + 1 : at]
        block = bisect_right(starts, at) - 1
        if (block >= 0 and at < code[block][1]) or before.count("`") % 2:
            continue
        line = text.count("\n", 0, at) + 1
        start, end = _START.match(text, at), _END.match(text, at)
        if start is None and end is None:
            raise RegionError(
                f"line {line}: the mark can't be understood; write <!-- remit:matrix --> at the end of a line, and "
                "<!-- /remit --> below"
            )
        if start is not None:
            if opened is not None:
                raise _endless(opened[1])
            _check(start, line)
            opened = start, line
        elif opened is None:
            raise RegionError(f"line {line}: <!-- /remit --> ends no region")
        else:
            first, line = opened
            found.append(Region(first[1], first[2], first.end(), at, line))
            opened = None
    if opened is not None:
        raise _endless(opened[1])
    return found


def _endless(line: int) -> RegionError:
    return RegionError(f"line {line}: the region has no end; add <!-- /remit -->")


def _check(start: re.Match[str], line: int) -> None:
    """Raises RegionError for a mark that names no kind of region, or lacks the agent."""
    if start[1] not in KINDS:
        raise RegionError(f"line {line}: no region `{shown(start[1])}`; there are {', '.join(KINDS)}")
    if (start[2] is None) != (start[1] in ("matrix", "sections")):
        needs = "needs the name of an agent" if start[2] is None else "takes no name"
        raise RegionError(f"line {line}: `remit:{start[1]}` {needs}")


def written(rulebook: Rulebook, text: str) -> tuple[str, list[Region]]:
    """The document with every region as the policy has it, and those that changed. Raises RegionError."""
    changed: list[Region] = []
    newline = "\r\n" if "\r\n" in text else "\n"
    for region in reversed(regions_of(text)):
        content = _TAG.sub("&lt;", region_text(rulebook, region))
        new = f"\n{content.strip()}\n".replace("\n", newline)
        if text[region.start : region.end] != new:
            changed.insert(0, region)
            text = text[: region.start] + new + text[region.end :]
    return text, changed


def region_text(rulebook: Rulebook, region: Region) -> str:
    """What a region shows. Raises RegionError."""
    if region.kind == "matrix":
        return matrix_text(rulebook)
    if region.kind == "sections":
        return "\n".join(agent_text(rulebook, name) for name in callers_of(rulebook, everyone=False))
    try:
        name = known_name(region.name or "", list(rulebook.book.callers), "agent")
    except RemitError as error:
        raise RegionError(f"line {region.line}: {error}") from None
    return agent_text(rulebook, name) if region.kind == "agent" else prompt_text(rulebook, name)


def matrix_text(rulebook: Rulebook) -> str:
    """The matrix as a table: the tools that somebody may use, and a legend."""
    matrix = make_matrix(rulebook)
    rows = [tool for tool in matrix.tools if any(matrix.cell(tool, c).verdict != "deny" for c in matrix.callers)]
    lines = [
        "| Tool | " + " | ".join(map(escaped_markdown, matrix.callers)) + " |",
        "|" + " --- |" * (len(matrix.callers) + 1),
    ]
    lines += [
        f"| {escaped_markdown(tool)} | " + " | ".join(_symbol(matrix, tool, c) for c in matrix.callers) + " |"
        for tool in rows
    ]
    return "\n".join([*lines, "", f"**Legend:** {legend()}", ""])


def _symbol(matrix: Matrix, tool: str, caller: str) -> str:
    """The mark of a cell: here nothing else says that the caller's record limits what the rules allow."""
    cell = matrix.cell(tool, caller)
    everybody = set(matrix.callers) - {caller}
    to = [set(text.removeprefix(_HANDS).split(", ")) for text in cell.limits if text.startswith(_HANDS)]
    limited = len(to) < len(cell.limits) or any(not everybody <= names for names in to)
    return SCOPED if cell.symbol == ALLOWED and limited else cell.symbol


def agent_text(rulebook: Rulebook, name: str) -> str:
    """A section about one agent: how many tools, which, and every limit in words."""
    cells = _cells(rulebook, name)
    lines = [f"### {escaped_markdown(name)}", ""]
    names = (
        ", ".join(f"{escaped_markdown(tool)}{'' if not cell.scopes else ' ' + cell.symbol}" for tool, cell in cells)
        or "none"
    )
    lines.append(f"- **{len(cells)} allowed:** {names}")
    lines += [
        f"- **{escaped_markdown(tool)} {cell.symbol}** — {escaped_markdown('; '.join(cell.in_full))}"
        for tool, cell in cells
        if cell.scopes
    ]
    for limit in dict.fromkeys(limit for _, cell in cells for limit in cell.limits):
        lines.append(f"- {escaped_markdown(limit)}")
    return "\n".join([*lines, ""])


def prompt_text(rulebook: Rulebook, name: str) -> str:
    """What to tell the agent itself: MAY, MUST ASK, MAY NOT."""
    return instructions_text(make_report(rulebook, name))


def session_lists(rulebook: Rulebook, name: str) -> tuple[list[str], list[str]]:
    """What to enable in the host for this agent, and what to leave off."""
    on = [tool for tool, _ in _cells(rulebook, name)]
    return on, [tool for tool in tools_of(rulebook) if tool not in on]


def _cells(rulebook: Rulebook, name: str) -> list[tuple[str, MatrixCell]]:
    found = ((tool, cell_for(rulebook, name, tool)) for tool in tools_of(rulebook))
    return [(tool, cell) for tool, cell in found if cell.verdict != "deny"]
