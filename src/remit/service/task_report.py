"""What happened in a task: its calls, the files and commands among them, questions, denials, and what was left over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from remit.explain.extent import rule_text
from remit.explain.page import Code, Item, Page, Section, code
from remit.grant.asks import AskState
from remit.grant.capsules import CapsuleState
from remit.grant.history import Passed, Unused, all_asks, children, gates, unused
from remit.model.rulebook import Rulebook
from remit.model.text import counted, how_often
from remit.record.past import PastCall, finished_calls
from remit.service.changed_files import Explained, changed_since, explained
from remit.service.touched import changes_of
from remit.store.interface import Transaction

MOST = 200
"""Lines of one section."""


class WrittenFile(msgspec.Struct, frozen=True):
    """A file, or a pattern of files, that calls of the task changed."""

    path: str
    effects: tuple[str, ...]
    times: int
    first: str
    last: str
    agents: tuple[str, ...]


class RanCommand(msgspec.Struct, frozen=True, omit_defaults=True):
    """A command of the task."""

    seq: int
    at: str
    agent: str
    tool: str
    command: str
    result: str | None
    grade: str = "understood"


class RefusedCall(msgspec.Struct, frozen=True):
    """A call of the task that was denied, or could not begin."""

    seq: int
    at: str
    agent: str
    tool: str
    about: str
    code: str
    rule: str | None


class TaskReport(msgspec.Struct, frozen=True):
    """Everything of one task."""

    state: CapsuleState
    calls: list[PastCall]
    files: list[WrittenFile]
    anything: int
    """Calls that ran code, or whose text doesn't tell which files they changed."""
    commands: list[RanCommand]
    refused: list[RefusedCall]
    asks: list[AskState]
    gates: list[Passed]
    below: list[CapsuleState]
    unused: Unused
    against: str | None = None
    changes: list[Explained] | None = None
    """What differs from a commit, and what explains it; None if nobody asked."""

    @property
    def unexplained(self) -> list[Explained]:
        """Files that no call explains."""
        return [one for one in self.changes or () if one.by == "nothing"]


def task_report(
    view: Transaction, rulebook: Rulebook, state: CapsuleState, root: Path, *, against: str | None = None
) -> TaskReport:
    """Of a task and all tasks below it. Raises LedgerError, StoreError, and RemitError without a comparison."""
    name = state.task.capsule.id
    below = _all_below(view, name)
    mine = frozenset({name, *(one.task.capsule.id for one in below)})
    every = finished_calls(view)
    calls = [past for past in every if past.call.context.capsule in mine]
    files, anything = _files(rulebook, calls, str(root))
    changes = None
    if against is not None:
        when, changed = changed_since(root, against)
        since = [past for past in every if past.at.split(".")[0] + "Z" >= when]
        changes = explained(rulebook, changed, since, mine, str(root))
    return TaskReport(
        state=state,
        calls=calls,
        files=files,
        anything=anything,
        commands=_commands(rulebook, calls),
        refused=[_refused(past) for past in calls if past.decision == "deny" or past.result == "not-run"],
        asks=[one for capsule in (name, *sorted(mine - {name})) for one in all_asks(view, capsule)],
        gates=gates(state),
        below=below,
        unused=unused(state.task, state.spent),
        against=against,
        changes=changes,
    )


def _all_below(view: Transaction, name: str) -> list[CapsuleState]:
    found: list[CapsuleState] = []
    for child in children(view, name):
        found += [child, *_all_below(view, child.task.capsule.id)]
    return found


def _files(rulebook: Rulebook, calls: Iterable[PastCall], root: str) -> tuple[list[WrittenFile], int]:
    by_path: dict[str, list[tuple[str, PastCall]]] = {}
    anything = 0
    for past in calls:
        if past.ran:
            changes = changes_of(rulebook, past, root)
            anything += changes.anything
            for touched in changes.files:
                by_path.setdefault(touched.path, []).append((touched.effect, past))
    found = []
    for path, uses in sorted(by_path.items()):
        times = {past.seq: past for _, past in uses}
        moments = sorted(past.at for past in times.values())
        effects = tuple(sorted({effect for effect, _ in uses}))
        agents = tuple(sorted({past.call.agent for past in times.values()}))
        found.append(WrittenFile(path, effects, len(times), moments[0], moments[-1], agents))
    return found, anything


def _commands(rulebook: Rulebook, calls: Iterable[PastCall]) -> list[RanCommand]:
    found = []
    for past in calls:
        tool = rulebook.book.tools.get(rulebook.book.aliases.get(past.call.tool, past.call.tool))
        for name, argument in (tool.args if tool is not None else {}).items():
            text = past.call.args.get(name)
            if argument.kind == "shell" and isinstance(text, str) and past.ran:
                result = past.result if past.result != "done" else None
                found.append(RanCommand(past.seq, past.at, past.call.agent, past.call.tool, text, result, past.grade))
    return found


def _refused(past: PastCall) -> RefusedCall:
    why = past.code if past.decision == "deny" else past.error or "not-run"
    return RefusedCall(past.seq, past.at, past.call.agent, past.call.tool, subject(past), why, past.rule)


def subject(past: PastCall) -> str:
    """What the call was about: its shortest telling arguments, in one text."""
    texts = [f"{name}: {value}" for name, value in past.call.args.items() if isinstance(value, str | int | float)]
    return "; ".join(sorted(texts, key=len)[:3])


# The page


def report_page(report: TaskReport) -> Page:
    """The same as a page: what needs a person comes first."""
    task, sections = report.state.task, list[Section]()
    if report.changes is not None:
        sections += _change_sections(report)
    sections += [
        Section("Files written", [_file(one) for one in report.files[:MOST]], "no files known from the calls"),
        Section("Commands", [_command(one) for one in report.commands[:MOST]]),
        Section("Questions", [_ask(one) for one in report.asks[:MOST]]),
        Section("Denials", [_denial(one) for one in report.refused[:MOST]]),
        Section("Calls by tool", _tools(report.calls)),
        Section("Handed on", [_child(one) for one in report.below[:MOST]], "nothing"),
        Section("Given and not used", _left(report)),
    ]
    ended = f"ended {report.state.ended} by {report.state.ended_by}" if report.state.ended else "open"
    facts: list[Item] = [
        ["agent: ", code(task.capsule.agent), ", handed by ", code(task.by), f" ({task.issuer}), {task.made}; {ended}"],
        [_summary(report)],
    ]
    facts += [_gate(one) for one in report.gates]
    if report.anything:
        what = f"{counted(report.anything, 'call')} with code or unknown files: compare with --against"
        facts.append([what])
    return Page(f"Task {task.capsule.id}", task.goal, facts, sections)


def _summary(report: TaskReport) -> str:
    allowed = sum(1 for past in report.calls if past.decision == "allow")
    parts = (
        f"{counted(len(report.calls), 'call')}, {allowed} allowed",
        f"{counted(len(report.files), 'file')} written",
        f"{len(report.commands)} commands",
        f"{counted(len(report.asks), 'question')}",
        f"{len(report.refused)} denials",
    )
    return "; ".join(parts)


def _change_sections(report: TaskReport) -> list[Section]:
    groups = {
        by: [one for one in report.changes or () if one.by == by] for by in ("nothing", "perhaps", "others", "task")
    }
    titles = {
        "nothing": f"Changed since {report.against}, and no call explains it",
        "perhaps": "Changed, perhaps by code that a call ran",
        "others": "Changed by calls outside of this task",
        "task": "Changed by this task",
    }
    found = []
    for by, ones in groups.items():
        if ones or by == "nothing":
            items = [_change(one) for one in ones[:MOST]]
            found.append(Section(titles[by], items, "every changed file is explained by a call", by == "nothing"))
    return found


def _change(one: Explained) -> Item:
    found: list[str | Code] = [code(one.path), f" {one.how}"]
    if one.calls:
        calls = ", ".join(map(str, one.calls[-5:]))
        found += [f" (calls {calls} of ", code(", ".join(one.agents)), ")"]
    return found


def _file(one: WrittenFile) -> Item:
    what = " and ".join({"write": "written", "delete": "deleted"}[effect] for effect in one.effects)
    times = how_often(one.times)
    return [code(one.path), f" {what} {times}, last {one.last[:19]}, by ", code(", ".join(one.agents))]


def _command(one: RanCommand) -> Item:
    how = "" if one.result is None else f" ({one.result})"
    grade = "" if one.grade == "understood" else f" [{one.grade}]"
    return [code(one.command), f"{grade}{how} by ", code(one.agent)]


def _ask(one: AskState) -> Item:
    found: list[str | Code] = [code(one.id), " ", code(one.ask.tool), f", tier {one.ask.tier}: {one.state}"]
    if one.by:
        found += [" by ", code(one.by)]
    if one.because:
        found += [": ", code(one.because)]
    return found


def _denial(one: RefusedCall) -> Item:
    found: list[str | Code] = [code(one.agent), " ", code(one.tool), " ", code(one.about), f": {one.code}"]
    if one.rule:
        found += [" (", code(one.rule), ")"]
    return found


def _gate(one: Passed) -> Item:
    return [
        "gate ",
        code(one.gate),
        f": passed {one.at} by " if one.by else ": not passed",
        *([code(one.by)] if one.by else []),
    ]


def _tools(calls: Iterable[PastCall]) -> list[Item]:
    counts: dict[str, Counter[str]] = {}
    for past in calls:
        counts.setdefault(past.call.tool, Counter())[past.decision] += 1
    return [
        [code(tool), ": " + ", ".join(f"{number} {word}" for word, number in sorted(found.items()))]
        for tool, found in sorted(counts.items())
    ]


def _child(one: CapsuleState) -> Item:
    how = "ended" if one.ended is not None else "open"
    return [
        code(one.task.capsule.id),
        " to ",
        code(one.task.capsule.agent),
        f", {how}, {counted(one.spent.get('calls', 0), 'call')}",
    ]


def _left(report: TaskReport) -> list[Item]:
    capsule, left = report.state.task.capsule, report.unused
    found: list[Item] = [["grant ", code(rule_text(capsule.grants[number]))] for number in left.grants]
    found += [["item of the plan ", code(rule_text(capsule.plan[number]))] for number in left.plan]
    found += [[f"data tier {tier}"] for tier in left.data_tiers]
    return found
