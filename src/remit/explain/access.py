"""Access reports: what one caller can use, and who can use one tool."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from remit.decide import decide
from remit.explain.cells import DENIED, VERDICTS, MatrixCell
from remit.explain.matrix import caller_note, callers_of, cell_for, cell_json, tool_for, tools_of
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.text import counted, shown

NO_LAYER = "no layer"
MOST = 40_000
"""Characters of all limits of a tool: far more than anybody writes, but not without end."""
MARKS = {"allow": "✅", "ask": "✋", "deny": DENIED}


class Entry(msgspec.Struct, frozen=True):
    """One tool of a report."""

    tool: str
    layer: str | None
    category: str | None
    risk: str | None
    cell: MatrixCell

    def line(self, said: Iterable[str] = ()) -> str:
        """`readFile (atomic/File Ops) 🔒: path docs/**`, with every limit that was not said before."""
        place = "/".join(shown(text) for text in (self.layer, self.category) if text)
        rest = [text for text in self.cell.everything if text not in said]
        limits = f": {shown('; '.join(rest), MOST)}" if rest else ""
        return f"{self.tool}{f' ({place})' if place else ''} {self.cell.symbol}{limits}"


class Report(msgspec.Struct, frozen=True):
    """What one caller can use."""

    name: str
    kind: str
    roles: tuple[str, ...]
    entries: tuple[Entry, ...]
    note: str | None = None
    """What weakens or ends everything that the entries say."""
    tiers: tuple[str, ...] = ()
    """What applies to calls of a tier, whatever the tool."""

    @property
    def accessible(self) -> list[Entry]:
        """The tools that are not simply denied."""
        return [entry for entry in self.entries if entry.cell.symbol != DENIED]

    @property
    def common(self) -> list[str]:
        """Limits of the caller's record that bind every one of them."""
        first, *rest = [entry.cell.limits for entry in self.accessible] or [()]
        return [text for text in first if all(text in others for others in rest)]

    @property
    def by_layer(self) -> dict[str, int]:
        """How many of them there are in each layer."""
        counts: dict[str, int] = {}
        for entry in self.accessible:
            layer = entry.layer or NO_LAYER
            counts[layer] = counts.get(layer, 0) + 1
        return counts

    @property
    def percentage(self) -> float:
        """Of all tools, with one place behind the point."""
        return round(100 * len(self.accessible) / len(self.entries), 1) if self.entries else 0.0

    def stats(self) -> dict[str, Any]:
        """The totals alone."""
        found = len(self.accessible)
        return {
            "agent": self.name,
            "tools": len(self.entries),
            "accessible": found,
            "denied": len(self.entries) - found,
            "percentage": self.percentage,
            "by_layer": self.by_layer,
        }

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        tools = [
            {"tool": e.tool, "layer": e.layer, "category": e.category, "risk": e.risk, **cell_json(e.cell)}
            for e in self.entries
        ]
        return {
            **self.stats(),
            "kind": self.kind,
            "roles": self.roles,
            "note": self.note,
            "limits": self.common,
            "cells": tools,
        }


def make_report(rulebook: Rulebook, caller: str, now: str | None = None) -> Report:
    """The report of a caller that the rulebook knows."""
    found = rulebook.book.callers[caller]
    entries = []
    for name in tools_of(rulebook):
        tool = tool_for(rulebook, caller, name)
        if tool is not None:
            cell = cell_for(rulebook, caller, name, now)
            entries.append(Entry(name, tool.layer, tool.category, tool.risk, cell))
    by_tier = {
        word: [str(tier) for tier, rule in sorted(rulebook.book.tiers.items()) if rule.verdict == verdict]
        for verdict, word in (("ask", "asked about"), ("deny", "denied"))
    }
    tiers = tuple(f"calls of tier {' and '.join(found)} are {word}" for word, found in by_tier.items() if found)
    return Report(found.name, found.kind, found.roles, tuple(entries), caller_note(found, now), tiers)


def report_text(report: Report) -> str:
    """The report in Markdown."""
    lines = [f"# Access report for {report.name}", "", f"**Summary**: {_share(report)}"]
    if report.note:
        lines += ["", f"**Note**: {shown(report.note, 400)}"]
    if report.roles:
        lines += ["", f"**Roles**: {', '.join(report.roles)}"]
    if report.accessible:
        said = report.common
        if said:
            lines += ["", f"**Every call**: {shown('; '.join(said), MOST)}"]
        lines += ["", "**By layer**:", *_layers(report)]
        lines += ["", "**Accessible tools**:", *(f"- {entry.line(said)}" for entry in report.accessible)]
    return "\n".join(lines) + "\n"


def instructions_text(report: Report) -> str:
    """The section of an agent's prompt that says what it may, must ask about, and may not, in Markdown."""
    groups: dict[str, list[Entry]] = {}
    for entry in report.entries:
        groups.setdefault(_group(entry.cell), []).append(entry)
    lines = ["## Tool permissions", ""]
    lines += [f"You are `{shown(report.name)}`. Each call is decided by the policy, whatever this text says. If a call"]
    lines += ["is denied, don't try it in another way: say what you need, and why."]
    if report.tiers:
        lines += [f"Whatever the tool, {' and '.join(report.tiers)}."]
    if report.note is not None:
        lines += ["", f"{report.note}."]
    if report.common:
        lines += ["", f"For all of it: {shown('; '.join(report.common), MOST)}."]
    for title, word in _TITLES:
        if word in groups:
            lines += ["", f"**You {title}**", "", *(_permitted(entry, report.common) for entry in groups[word])]
    if "deny" in groups:
        lines += ["", "**You MAY NOT use**", "", f"- {', '.join(entry.tool for entry in groups['deny'])}"]
    return "\n".join(lines) + "\n"


_TITLES = (
    ("MAY use", "allow"),
    ("MAY use, but MUST ASK where it says so", "some"),
    ("MUST ASK before you use", "ask"),
)


def _group(cell: MatrixCell) -> str:
    """The part of a prompt that a tool belongs to: `some` if only some of its calls are asked about."""
    return "some" if cell.verdict == "ask" and not cell.always_asks else cell.verdict


def _permitted(entry: Entry, said: Iterable[str]) -> str:
    """A tool with every limit that does not hold for all."""
    rest = [text for text in entry.cell.everything if text not in said]
    limits = f": {shown('; '.join(rest), MOST)}" if rest else ""
    return f"- {entry.tool}{limits}"


def stats_text(report: Report) -> str:
    """The totals in Markdown."""
    stats = report.stats()
    lines = [f"# Access statistics for {report.name}", ""]
    lines += [
        f"- tools: {stats['tools']}",
        f"- accessible: {stats['accessible']} ({round(report.percentage)} %)",
        f"- denied: {stats['denied']}",
    ]
    if report.by_layer:
        lines += ["", "**By layer**:", *_layers(report)]
    return "\n".join(lines) + "\n"


def _share(report: Report) -> str:
    return f"{len(report.accessible)}/{len(report.entries)} tools accessible ({round(report.percentage)} %)"


def _layers(report: Report) -> list[str]:
    return [f"- {shown(name)}: {counted(n, 'tool')}" for name, n in sorted(report.by_layer.items())]


class Access(msgspec.Struct, frozen=True):
    """What one caller may do with one tool: in general, or with given arguments."""

    name: str
    kind: str
    cell: MatrixCell
    decision: Decision | None = None

    @property
    def verdict(self) -> str:
        """`allow`, `ask` or `deny`."""
        return self.decision.verdict.word if self.decision is not None else VERDICTS[self.cell.symbol]

    @property
    def line(self) -> str:
        """For people."""
        if self.decision is not None:
            reason = "" if self.decision.allowed and not self.decision.would else f": {self.decision.reason}"
            return f"{MARKS[self.verdict]} {self.name} ({self.kind}){reason}"
        limits = f": {shown('; '.join(self.cell.everything), MOST)}" if self.cell.everything else ""
        return f"{self.cell.symbol} {self.name} ({self.kind}){limits}"

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        found: dict[str, Any] = {
            "name": self.name,
            "kind": self.kind,
            **cell_json(self.cell),
            "verdict": self.verdict,
        }
        if self.decision is not None:
            found["decision"] = self.decision.as_json(None)
        return found


def who_can(rulebook: Rulebook, tool: str, now: str | None = None) -> list[Access]:
    """Everybody's access to a tool, by what is written."""
    callers = rulebook.book.callers
    return [
        Access(name, callers[name].kind, cell_for(rulebook, name, tool, now))
        for name in callers_of(rulebook, everyone=True)
    ]


def who_can_call(rulebook: Rulebook, calls: list[tuple[Call, Facts]]) -> list[Access]:
    """The same, with each caller's call decided."""
    callers = rulebook.book.callers
    return [
        Access(
            call.agent,
            callers[call.agent].kind,
            cell_for(rulebook, call.agent, call.tool, facts.now),
            decide(rulebook, call, facts).for_call(call.args),
        )
        for call, facts in calls
    ]
