"""`remit capsule report`: what happened in a task."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any

from remit.cli.capsule.end import unused_lines
from remit.cli.capsule.show import IdArgument
from remit.cli.common import FINE, InputError
from remit.cli.living import Living, must_look, out_data, to_change, to_look
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, out, paint
from remit.cli.parameters import Option
from remit.explain.page import as_html, as_markdown
from remit.explain.visible import bounded
from remit.grant.asks import AskState
from remit.grant.capsules import CapsuleState
from remit.grant.halts import Incident
from remit.grant.history import Calls, Passed, all_asks, calls_of
from remit.model.moments import seconds_of
from remit.model.rulebook import Rulebook
from remit.model.text import counted
from remit.service.task_report import MOST, TaskReport, report_page, task_report

UNEXPLAINED = 1
MOST_NAMED = 20
"""Files that an incident names."""


class ReportFormat(StrEnum):
    """How a report is printed."""

    text = "text"
    md = "md"
    html = "html"
    json = "json"


def command(
    name: IdArgument,
    against: Annotated[
        str | None,
        Option("--against", metavar="BASE", help="Compare the files that differ from this commit with the calls."),
    ] = None,
    incident: Annotated[
        bool, Option("--incident", help="With --against: open an incident for files that no call explains.")
    ] = False,
    format: Annotated[ReportFormat, Option("--format", help="text, md, html or json.")] = ReportFormat.text,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Report on a task: calls, files written, commands, questions, denials, hand-overs, unused grants.

    With --against, files that no allowed call explains come first, and the exit code is 1 if there are any.

    Examples: `remit capsule report TASK-12`, `remit capsule report TASK-12 --format html > TASK-12.html`
    """
    form = ReportFormat.json if json else format
    if incident and against is None:
        raise InputError("--incident needs --against BASE")
    with to_change(policy) if incident else to_look(policy) as found:
        living = must_look(found, "capsule", name)
        rulebook, _ = living.rulebook(machine=True)
        state = living.authority.state(name)
        root = (living.root / rulebook.book.root).resolve()
        with living.opened.store.read() as view:
            report = task_report(view, rulebook, state, root, against=against)
            calls = calls_of(view, name)
            of_children = {one.task.capsule.id: len(all_asks(view, one.task.capsule.id)) for one in report.below}
        opened = _raised(living, rulebook, report) if incident and report.unexplained else None
    if form is ReportFormat.json:
        out_data(_data(report, calls, of_children, opened))
    elif form is ReportFormat.md:
        out(as_markdown(report_page(report)))
    elif form is ReportFormat.html:
        out(as_html(report_page(report)))
    else:
        out("".join(f"{line}\n" for line in _text(report, calls, of_children)))
    if opened is not None:
        err(f"remit: {opened.id} is open: `remit incidents show {opened.id}`")
    return UNEXPLAINED if report.unexplained else FINE


def _raised(living: Living, rulebook: Rulebook, report: TaskReport) -> Incident:
    """An incident for what no call explains."""
    paths = [one.path for one in report.unexplained]
    more = f" and {len(paths) - MOST_NAMED} more" if len(paths) > MOST_NAMED else ""
    reason = f"changed since {report.against}, and no call explains it: {', '.join(paths[:MOST_NAMED])}{more}"
    capsule = report.state.task.capsule
    return living.authority.found_incident(
        code="unexplained-change",
        reason=bounded(reason, 1_000),
        agent=capsule.agent,
        tool="git diff",
        point="remit",
        policy=rulebook.hash,
        capsule=capsule.id,
    )


def _data(report: TaskReport, calls: Calls, prompts: dict[str, int], opened: Incident | None) -> dict[str, Any]:
    state = report.state
    own = [one for one in report.asks if one.ask.capsule == state.task.capsule.id]
    found: dict[str, Any] = {
        "capsule": state.task.capsule.id,
        "agent": state.task.capsule.agent,
        "goal": state.task.goal,
        "by": state.task.by,
        "issuer": state.task.issuer,
        "made": state.task.made,
        "expires": state.task.capsule.expires,
        "ended": state.ended,
        "ended_by": state.ended_by,
        "first_call": calls.first,
        "last_call": calls.last,
        "calls": calls.tools,
        "denials": calls.denials,
        "prompts": len(own),
        "asks": [ask_data(one) for one in own],
        "gates": report.gates,
        "children": [_child(one, prompts) for one in report.below],
        "unused": report.unused,
        "files": report.files,
        "untold": report.anything,
        "commands": report.commands,
        "denied": report.refused,
    }
    if report.changes is not None:
        found |= {"against": report.against, "changes": report.changes, "unexplained": len(report.unexplained)}
        found["incident"] = opened.id if opened is not None else None
    return found


def _text(report: TaskReport, calls: Calls, prompts: dict[str, int]) -> Iterator[str]:
    state = report.state
    yield from _changes(report)
    yield from _who(state, calls, report.gates)
    yield from _calls(calls)
    for one in report.files[:MOST]:
        what = " and ".join({"write": "wrote", "delete": "deleted"}[effect] for effect in one.effects)
        yield f"  {what} {bounded(one.path, 300)}" + (f", {one.times} times" if one.times > 1 else "")
    for ran in report.commands[:MOST]:
        how = f" ({ran.result})" if ran.result is not None else ""
        yield f"  ran {bounded(ran.command, 300)}{how}"
    if report.anything:
        yield f"  {counted(report.anything, 'call')} with code, or with files that no text names: see --against"
    yield from _asks([one for one in report.asks if one.ask.capsule == state.task.capsule.id])
    yield from _below(report.below, prompts)
    yield from unused_lines(state, report.unused)


def _changes(report: TaskReport) -> Iterator[str]:
    if report.changes is None:
        return
    titles = {
        "nothing": paint(f"changed since {report.against}, and no call explains it:", "red"),
        "perhaps": "changed, perhaps by code that a call ran:",
        "others": "changed by calls outside of this task:",
    }
    for by, title in titles.items():
        ones = [one for one in report.changes if one.by == by]
        if ones:
            yield title
            yield from (f"  {one.how} {bounded(one.path, 300)}" for one in ones[:MOST])
    if not report.unexplained:
        number, against = len(report.changes), f"from {report.against}"
        said = f"calls explain all {number:,} files that differ {against}" if number > 1 else ""
        said = said or (
            f"calls explain the one file that differs {against}" if number else f"no file differs {against}"
        )
        yield f"{paint('✅', 'green')} {said}"


def ask_data(asked: AskState) -> dict[str, Any]:
    """What was asked and answered, for programs."""
    return {
        "id": asked.id,
        "state": asked.state,
        "agent": asked.ask.agent,
        "tool": asked.ask.tool,
        "tier": asked.ask.tier,
        "of": asked.ask.of,
        "code": asked.ask.code,
        "anticipated": asked.ask.anticipated,
        "asked": asked.ask.asked,
        "answered": asked.answered,
        "took": seconds_between(asked.ask.asked, asked.answered),
        "by": asked.by,
        "by_kind": asked.by_kind,
        "because": asked.because,
    }


def seconds_between(first: str, last: str | None) -> int | None:
    """Seconds from one moment to another; None if one of them is missing."""
    if last is None:
        return None
    try:
        return int(seconds_of(last) - seconds_of(first))
    except ValueError:
        return None


def lasting(seconds: int | None) -> str:
    """`3 min`, `2 h 5 min`."""
    if seconds is None:
        return "?"
    if seconds < 120:
        return f"{max(seconds, 0)} s"
    hours, minutes = divmod(seconds // 60, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"


def _who(state: CapsuleState, calls: Calls, passed: list[Passed]) -> Iterator[str]:
    task = state.task
    yield paint(f"capsule {task.capsule.id}", "bold") + f": {bounded(task.goal, 1_000)}"
    yield f"  handed to {bounded(task.capsule.agent, 100)} by {bounded(task.by, 200)} ({task.issuer}), {task.made}"
    if calls.first is not None:
        yield f"  called from {calls.first} to {calls.last}"
    for gate in passed:
        by = f"passed by {bounded(gate.by, 200)}, {gate.at}" if gate.by is not None else "not passed"
        yield f"  gate {bounded(gate.gate, 100)}: {by}"
    until = f", until {task.capsule.expires}" if task.capsule.expires is not None else ""
    yield f"  ended by {bounded(str(state.ended_by), 200)}, {state.ended}" if state.ended else f"  open{until}"


def _calls(calls: Calls) -> Iterator[str]:
    if not calls.tools:
        yield "  no calls"
    for tool, counts in sorted(calls.tools.items()):
        yield f"  {bounded(tool, 120)}: {', '.join(f'{n} {word}' for word, n in counts.items())}"
    for code, n in sorted(calls.denials.items(), key=lambda item: (-item[1], item[0])):
        yield f"  denied {n} times: {bounded(code, 80)}" if n > 1 else f"  denied once: {bounded(code, 80)}"


def _asks(asks: list[AskState]) -> Iterator[str]:
    people = sum(1 for one in asks if one.ask.of == "human")
    yield f"  prompts: {len(asks)}" + (f", {people} of them for people" if people != len(asks) else "")
    took = sorted(t for one in asks if (t := seconds_between(one.ask.asked, one.answered)) is not None)
    if took:
        yield f"  answered after {lasting(took[len(took) // 2])} (median), {lasting(took[-1])} at most"
    for one in asks:
        by = f" by {bounded(one.by, 120)}" if one.by else ""
        after = f" after {lasting(seconds_between(one.ask.asked, one.answered))}" if one.answered else ""
        why = f": {bounded(one.because, 400)}" if one.because else ""
        flag = ", not-anticipated" if one.ask.anticipated is False else ""
        yield f"    {one.id} {bounded(one.ask.tool, 120)}, tier {one.ask.tier}{flag}: {one.state}{by}{after}{why}"


def _below(below: list[CapsuleState], prompts: dict[str, int]) -> Iterator[str]:
    for child in below:
        name, how = child.task.capsule.id, "ended" if child.ended is not None else "open"
        calls = child.spent.get("calls", 0)
        agent = bounded(child.task.capsule.agent, 100)
        yield f"  handed on to {agent} as {name} ({how}): {counted(calls, 'call')}, {counted(prompts[name], 'prompt')}"


def _child(child: CapsuleState, prompts: dict[str, int]) -> dict[str, Any]:
    name = child.task.capsule.id
    return {
        "id": name,
        "agent": child.task.capsule.agent,
        "ended": child.ended,
        "calls": child.spent.get("calls", 0),
        "prompts": prompts[name],
    }
