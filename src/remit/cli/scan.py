"""`remit scan`: what a repository says about its agents, and where it contradicts itself."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from remit.cli.common import FINE, write_file
from remit.cli.options import JsonOption
from remit.cli.output import columns, out, out_json, paint, watched
from remit.cli.parameters import Argument, Option
from remit.draft.teams import teams
from remit.explain.visible import bounded
from remit.model.text import brief, counted
from remit.scan.board import COLUMNS, SIGNS, board
from remit.scan.model import Finding, Survey, Weight
from remit.scan.page import html_page
from remit.scan.settings import is_everybody
from remit.scan.survey import scan

FOUND = 1
_COLOURS = {Weight.ERROR: "red", Weight.WARNING: "yellow", Weight.NOTE: "dim"}
_SIGNS = {Weight.ERROR: "❌", Weight.WARNING: "⚠ ", Weight.NOTE: "· "}
_SHORT = {"network": "net", "delegate": "hand"}
_EACH = 5
_ROWS = 40
_NAME = 28
"""How many letters of an agent's name are shown; `…` stands for its middle."""


def command(
    path: Annotated[str, Argument(metavar="[PATH]", help="A repository, a folder or one file.")] = ".",
    all: Annotated[bool, Option("--all", help="Show every finding and every agent.")] = False,
    html: Annotated[
        Path | None, Option("--html", metavar="FILE", help="Also write an HTML page that can be filtered.")
    ] = None,
    strict: Annotated[
        bool, Option("--strict", help="Exit with 1 for warnings too, not only for contradictions.")
    ] = False,
    json: JsonOption = False,
) -> int:
    """Scan a repository for what it says its agents may do: definitions, settings, matrices. Changes and runs nothing.

    Exits with 1 for an error (❌): two places contradict each other, or an agent can do what its own text rules out.

    Examples: `remit scan`, `remit scan ../service --html agents.html`, `remit scan --json | jq .findings`
    """
    with watched(machine=json) as progress:
        survey = scan(path, today=datetime.date.today(), progress=progress)
    if html is not None:
        write_file("--html", html, html_page(survey))
    if json:
        out_json(msgspec.to_builtins(survey))
    else:
        out(text_of(survey, every=all))
        if html is not None:
            out(f"the page is {bounded(str(html), 200)}\n")
    worst = {Weight.ERROR, Weight.WARNING} if strict else {Weight.ERROR}
    return FOUND if any(one.weight in worst for one in survey.findings) else FINE


def text_of(survey: Survey, *, every: bool = False) -> str:
    """The survey for a terminal."""
    lines = [*_heading(survey), *_matrix(survey, every=every), *_findings(survey, every=every), *_held(survey)]
    lines += _next(survey)
    for path, why in survey.skipped[: None if every else 3]:
        lines.append(paint(f"not read: {bounded(path, 100)}: {bounded(why, 100)}", "dim"))
    if len(survey.skipped) > 3 and not every:
        lines.append(paint(f"and {len(survey.skipped) - 3} more files not read (--all lists them)", "dim"))
    return "\n".join(lines) + "\n"


def _heading(survey: Survey) -> Iterable[str]:
    if not survey.agents:
        yield f"no agents found in {counted(survey.read, 'text')} of {counted(survey.files, 'file')}"
        yield f"`remit init --team {'|'.join(teams())}` writes a first policy for such a team,"
        yield "`remit init --python FILE` one from a Python program's tools and agents"
        return
    read, files = _many(survey.read, "text"), _many(survey.files, "file")
    yield f"{_many(sum(not is_everybody(agent) for agent in survey.agents), 'agent')} in {read} ({files} looked at)"


def _matrix(survey: Survey, *, every: bool) -> Iterable[str]:
    lines = [line for line in board(survey) if every or line.tells]
    if not lines:
        return
    rows = lines if every else lines[:_ROWS]
    names = {line.agent: brief(line.agent, _NAME) for line in rows}
    width = max(map(columns, names.values()))
    yield ""
    yield " " * width + "  " + " ".join(f"{_SHORT.get(column, column):>6}" for column in COLUMNS)
    before = None
    for line in rows:
        name = "" if (line.agent, line.team) == before else names[line.agent]
        before = (line.agent, line.team)
        cells = " ".join(f"{SIGNS[cell.mark]:>{6 if cell.mark is None else 5}}" for cell in line.cells)
        yield f"{name}{' ' * (width - columns(name))}  {cells}  {paint(bounded(str(line.account.place), 60), 'dim')}"
    if len(lines) > len(rows):
        yield paint(f"… and {len(lines) - len(rows)} more rows (--all, or --html FILE)", "dim")
    yield paint("✅ yes  🔒 with a scope  ❌ no  ？ unclear  · not said", "dim")
    joined = [agent for agent in survey.agents if every or len(set(map(_letters, agent.names))) > 1]
    joined = [agent for agent in joined if len(agent.names) > 1]
    for agent in joined[: None if every else 5]:
        yield paint(f"joined: {', '.join(bounded(name, 40) for name in agent.names)}", "dim")


def _findings(survey: Survey, *, every: bool) -> Iterable[str]:
    counts = Counter((one.weight, one.code) for one in survey.findings)
    seen: Counter[tuple[Weight, str]] = Counter()
    yield ""
    if not survey.findings and survey.agents:
        yield f"{paint('✅', 'green')} no contradictions or risks found"
    if survey.findings:
        weights = Counter(one.weight for one in survey.findings)
        yield ", ".join(counted(weights[weight], weight) for weight in Weight if weights[weight]) + ":"
    for one in survey.findings:
        key = (one.weight, one.code)
        seen[key] += 1
        if every or seen[key] <= _EACH:
            yield from _finding(one)
        elif seen[key] == _EACH + 1:
            yield paint(f"   … and {counts[key] - _EACH} more of {one.code} (--all)", "dim")


def _finding(one: Finding) -> Iterable[str]:
    who = f"{bounded(one.agent, 60)}: " if one.agent else ""
    sign, code = paint(_SIGNS[one.weight], _COLOURS[one.weight]), paint(f"[{one.code}]", "dim")
    yield f"{sign} {who}{bounded(one.text, 300)} {code}"
    yield paint("   " + ", ".join(bounded(str(place), 100) for place in one.places[:3]), "dim")
    yield paint(f"   fix: {bounded(one.fix, 200)}", "dim")


def _held(survey: Survey) -> Iterable[str]:
    total = survey.enforced[0][2] if survey.enforced else 0
    if not total:
        return
    yield ""
    yield f"Of {_many(total, 'statement')} about an agent and a tool, what enforces them today:"
    for who, count, _ in survey.enforced:
        yield f"  {count:>5}  {who}" if count or "remit.yaml" not in who else f"         {who}"


def _next(survey: Survey) -> Iterator[str]:
    """What to do with this: nothing is enforced until there is a policy."""
    if not survey.agents:
        return
    policy = any("remit.yaml" in who for who, *_ in survey.enforced)
    errors = any(one.weight is Weight.ERROR for one in survey.findings)
    first = "correct what is marked ❌, then " if errors else ""
    todo = "`remit check` compares these places with the policy" if policy else "`remit init` writes a policy from this"
    yield ""
    yield f"next: {first}{todo}"


def _letters(name: str) -> str:
    """A name without what spellings of one name differ in anyway."""
    return "".join(filter(str.isalnum, name.casefold()))


def _many(count: int, noun: str) -> str:
    return counted(count, noun)
