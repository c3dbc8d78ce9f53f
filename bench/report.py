"""The results for people: a table for the terminal and a page for the docs, from the same figures."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from string import Template

from bench import plot
from bench.decisions import Column
from bench.growth import FLOOR, Curve
from bench.guard import TARGET as GUARD_TARGET
from bench.guard import GuardCost
from bench.hook import WITH_TARGET, WITHOUT_TARGET, Hook
from bench.ledger import CALLERS, DURABLE_TARGET, QUEUED_TARGET, LedgerCost
from bench.loading import RULES, TARGET, Loading
from bench.peers import Absent
from bench.peers.interface import PROBED, Engine
from bench.shell import TARGET as SHELL_TARGET
from bench.shell import ShellCost
from bench.shell import said as shell_said
from bench.sql import TARGET as SQL_TARGET
from bench.sql import SqlCost
from bench.startup import Startup
from bench.timing import show
from bench.workloads import POOL, Check

Row = Sequence[str]
NOISE = 1.2
"""What two runs of the same thing may differ by."""


@dataclass(frozen=True, slots=True)
class Results:
    """Everything that one run found."""

    ours: Sequence[Engine]
    peers: Sequence[Engine]
    absent: Sequence[Absent]
    columns: Sequence[Column]
    curves: dict[str, Curve]
    loading: Loading
    startup: Startup
    sql: SqlCost
    shell: ShellCost | None
    ledger: LedgerCost
    guard: GuardCost
    hook: Hook
    quick: bool

    @property
    def engines(self) -> list[Engine]:
        """Ours, then the others."""
        return [*self.ours, *self.peers]


def verdict(ratio: float, target: float) -> str:
    """`ok`, or by how much the target is missed."""
    if ratio <= target:
        return "ok"
    return f"short by {show(ratio - target)} × ({ratio / target - 1:.0%})"


def decision_rows(results: Results) -> tuple[Row, list[Row]]:
    """Engines down, workloads across; `†` marks a cell with wrong decisions, `–` what can't be said."""
    head = ["engine", *(column.workload.key for column in results.columns)]
    rows: list[Row] = [["B1 (table lookup)", *("1" for _ in results.columns)]]
    for engine in results.engines:
        cells = []
        for column in results.columns:
            cost = column.costs.get(engine.name)
            mark = "†" if engine.name in column.wrong else ""
            cells.append(f"{cost}{mark}" if cost else "–")
        rows.append([engine.name, *cells])
    return head, rows


def target_rows(results: Results) -> tuple[Row, list[Row]]:
    """Each target, what was measured, and whether it holds."""
    rows: list[Row] = []
    for column in results.columns:
        workload = column.workload
        for name in (results.ours[0].name, results.ours[1].name):
            cost = column.costs.get(name)
            if workload.target is not None and cost is not None:
                held = verdict(cost.ratio, workload.target)
                rows.append([f"{name}, {workload.key}", f"≤ {workload.target:g} × B1", f"{cost} × B1", held])
    figures = results.loading
    for ratio, beside in (
        (figures.load_to_safe, "libyaml with PyYAML's safe loader"),
        (figures.load_to_events, "libyaml's events alone"),
    ):
        what = f"{RULES:,} rules from YAML to a rulebook, relative to {beside}"
        rows.append([what, f"≤ {TARGET:g} ×", f"{show(ratio)} ×", verdict(ratio, TARGET)])
    cost = results.sql.decision
    rows.append(
        [
            "a SQL-scoped decision, relative to sqlglot's bare parse",
            f"≤ {SQL_TARGET:g} ×",
            f"{show(cost)} ×",
            verdict(cost, SQL_TARGET),
        ]
    )
    if results.shell is not None:
        cost = results.shell.decision
        what = "a decision on a shell command, relative to tree-sitter's bare parse"
        rows.append([what, f"≤ {SHELL_TARGET:g} ×", f"{show(cost)} ×", verdict(cost, SHELL_TARGET)])
    grouped, queued = results.ledger.ratio, results.ledger.queued_to_b1
    held = "ok" if grouped >= DURABLE_TARGET else f"short by {show(DURABLE_TARGET - grouped)} ×"
    what = f"durable ledger entries of {CALLERS} callers, relative to one transaction each"
    rows.append([what, f"≥ {DURABLE_TARGET:g} ×", f"{show(grouped)} ×", held])
    what = "a queued ledger entry, for its caller"
    rows.append([what, f"≤ {QUEUED_TARGET:g} × B1", f"{show(queued)} × B1", verdict(queued, QUEUED_TARGET)])
    rows += _guard_targets(results.guard)
    for way, costs, most in (
        ("with the daemon", results.hook.served, WITH_TARGET),
        ("without it", results.hook.alone, WITHOUT_TARGET),
    ):
        for call, ratio in costs.items():
            what = f"a hook's answer to {call}, {way}, relative to the start of a bare interpreter"
            rows.append([what, f"≤ {most:g} ×", f"{show(ratio)} ×", verdict(ratio, most)])
    curve = results.curves[results.ours[0].name].points
    own = results.curves[FLOOR].points
    smallest, largest = min(curve), max(curve)
    change = curve[largest].ratio / curve[smallest].ratio
    b1 = own[largest].ratio / own[smallest].ratio
    held = "ok" if change <= max(b1, NOISE) else f"B1 itself {show(b1)} ×"
    what = f"cost at {largest:,} cells, relative to {smallest:,}"
    rows.append([what, f"flat (B1: {show(b1)} ×)", f"{show(change)} ×", held])
    return ["what", "target", "measured", ""], rows


def _guard_targets(found: GuardCost) -> list[Row]:
    what = "Guard around an allowed tier-0 call, batched, over the bare function, for its caller"
    held = verdict(found.batched, GUARD_TARGET)
    return [[what, f"≤ {GUARD_TARGET:g} × B1", f"{show(found.batched)} × B1", held]]


def governed_rows(results: Results) -> tuple[Row, list[Row]]:
    """What a governed call costs: for its caller's thread, in all, and by the wall clock."""
    found = results.guard
    rows: list[Row] = [
        [name, show(cost.caller), *(_shown(one) for one in (cost.everything, cost.wall)), found.keeps[name]]
        for name, cost in found.costs.items()
    ]
    rows += [[peer.name, "–", "–", "–", f"absent: {peer.why}"] for peer in found.absent]
    head = ["call", "× B1, its caller", "× B1, all threads", "× a commit, wall clock", "what it records is"]
    return head, rows


def beside_rows(results: Results) -> tuple[Row, list[Row]]:
    """Others' calls in multiples of ours that keep their records alike."""
    rows: list[Row] = [
        [pair.peer, pair.ours, f"{show(pair.cpu)} ×", f"{show(pair.wall)} ×" if pair.wall is not None else "–"]
        for pair in results.guard.beside
    ]
    return ["call", "relative to", "CPU, all threads", "wall clock"], rows


def _shown(ratio: float | None) -> str:
    return "–" if ratio is None else show(ratio)


def growth_rows(results: Results) -> tuple[Row, list[Row]]:
    """Engines down, sizes across, in multiples of B1 at the smallest size."""
    sizes = sorted(results.curves[FLOOR].points)
    rows: list[Row] = []
    for name, curve in results.curves.items():
        cells = [str(curve.points[size]) if size in curve.points else "–" for size in sizes]
        rows.append([name, *cells, "" if sizes[-1] in curve.points else curve.stopped or ""])
    return ["engine", *(f"{size:,}" for size in sizes), "why it stops"], rows


def first_call(results: Results) -> float:
    """What the first call of a cell costs Remit, in a matrix where hardly any cell is called twice."""
    first = results.curves[results.ours[0].name].first
    return first[max(first)]


def picture(results: Results) -> str:
    """Cost against size, as SVG."""
    lines = []
    colours = iter(plot.COLOURS)
    for name, curve in results.curves.items():
        points = {size: cost.ratio for size, cost in curve.points.items()}
        if not points:
            continue
        if name == FLOOR:
            lines.append(plot.Line(name, points, "#4b5563", dash="5 4"))
        elif name == results.ours[0].name:
            lines.append(plot.Line(name, points, "#1d4ed8", width=3.2))
        else:
            lines.append(plot.Line(name, points, next(colours)))
    return plot.plot(
        lines,
        title="Cost of a decision as the matrix grows",
        note="in multiples of a bare table lookup (B1) at the smallest size; lower is better",
        x_label="(agent, tool) cells in the policy",
        y_label="cost of one decision",
    )


def terminal(head: Row, rows: Sequence[Row]) -> str:
    """An aligned table; figures to the right, words to the left."""
    widths = [max(len(row[n]) for row in [head, *rows]) for n in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [
            cell.rjust(width) if n and width < 15 else cell.ljust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return "\n".join([lines[0], "  " + "─" * (max(map(len, lines)) - 2), *lines[1:]])


def _markdown(head: Row, rows: Sequence[Row]) -> str:
    ruler = ["---", *("--:" if all(len(row[n]) < 15 for row in rows) else "---" for n in range(1, len(head)))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ruler, *rows])


def _version(engine: Engine) -> str:
    try:
        return f"{engine.distribution} {version(engine.distribution)}"
    except PackageNotFoundError:
        return engine.distribution


def notes(results: Results) -> list[str]:
    """What the marks in the table stand for, and who is missing."""
    own = {engine.name for engine in results.ours}
    found = []
    for column in results.columns:
        key = column.workload.key
        asked = len(column.workload.refused) + PROBED
        for name, wrong in column.wrong.items():
            found.append(f"{name}, {key}: {len(wrong)} of {asked} calls decided wrongly, e.g. `{wrong[0]}`")
        for name, reason in column.cannot.items():
            if name in own or reason:
                found.append(f"{name}, {key}: not timed: {reason}")
    found += [f"absent: {peer.name} ({peer.why})" for peer in results.absent]
    return found


def page(results: Results, picture_name: str) -> str:
    """The whole of docs/benchmarks.md."""
    start, loaded = results.startup, results.loading
    template = Template(Path(__file__).with_name("page.template").read_text(encoding="utf-8"))
    return template.substitute(
        date=date.today(),
        python=f"{platform.python_implementation()} {platform.python_version()}",
        quick=" A quick run: the figures are rough." if results.quick else "",
        decisions=_markdown(*decision_rows(results)),
        workloads="\n".join(f"* **{c.workload.key}**: {c.workload.title}." for c in results.columns),
        notes="\n".join(f"* {note}" for note in notes(results)),
        targets=_markdown(*target_rows(results)),
        picture=picture_name,
        growth=_markdown(*growth_rows(results)),
        first=show(first_call(results)),
        rules=f"{RULES:,}",
        kilobytes=loaded.kilobytes,
        load_to_safe=show(loaded.load_to_safe),
        load_to_events=show(loaded.load_to_events),
        declare_to_safe=show(loaded.declare_to_safe),
        start=show(start.ratio),
        modules=len(start.modules),
        ours=len(start.ours),
        others=", ".join(f"{n} of {name}" for name, n in start.others.items()) or "no others",
        governed=_markdown(*governed_rows(results)),
        beside=_markdown(*beside_rows(results)),
        shell=shell_said(results.shell),
        checks=_markdown(*check_rows(results)),
        pool=f"{POOL:,}",
    )


def check_rows(results: Results) -> tuple[Row, list[Row]]:
    """Each engine with its version, how it is used, and what it looks at."""
    rows: list[Row] = []
    for engine in results.engines:
        looks = [engine.checks.get(check, "can't") for check in Check]
        rows.append([engine.name, _version(engine), engine.use, *looks])
    return ["engine", "version", "used here as", *(check.value for check in Check)], rows
