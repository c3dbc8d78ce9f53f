"""`make bench`: measure, print, and write docs/benchmarks.md with its picture.

Targets that are missed are printed as such; they don't fail the run.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # run as a program: `bench` is the package, not this folder

from bench import (  # noqa: E402
    decisions,
    growth,
    guard,
    hook,
    ledger,
    loading,
    peers,
    report,
    shell,
    sql,
    startup,
    subject,
    workloads,
)

PAGE = ROOT / "docs" / "benchmarks.md"
PICTURE = PAGE.with_suffix(".svg")


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    quick = "fewer rounds and sizes, under half a minute; writes nothing"
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--no-write", action="store_true", help="print only")
    return parser.parse_args()


def measure(quick: bool) -> report.Results:
    """Everything, printed as it comes."""
    warnings.simplefilter("ignore")  # of the peers' packages
    logging.disable(logging.CRITICAL)
    engines, absent = peers.load()
    ours = subject.ENGINES
    sizes = [size for size in workloads.GRIDS if size <= (10_000 if quick else 1_000_000)]
    say(f"Remit beside {len(engines)} engines, in multiples of B1; CPU time, medians")
    columns = []
    for workload in workloads.all_of_them():
        say(f"timing {workload.key}: {workload.title}")
        columns.append(decisions.measure(workload, [*ours, *engines], rounds=9 if quick else 61))
    say("timing growth: " + ", ".join(f"{size:,}" for size in sizes) + " cells")
    curves = growth.measure(ours[0], engines, sizes, rounds=7 if quick else 31)
    say(f"timing the loader: {loading.RULES:,} rules")
    loaded = loading.measure(rounds=3 if quick else 9)
    say("timing the start of an interpreter")
    started = startup.measure(rounds=5 if quick else 25)
    say("timing a hook, with the daemon and without")
    hooked = hook.measure(rounds=5 if quick else 21)
    say("timing SQL beside the bare parse")
    queried = sql.measure(rounds=12 if quick else 120)
    say("timing shell commands beside the bare parse")
    read = shell.measure(rounds=3 if quick else 20)
    say("timing the ledger, on this disk")
    written = ledger.measure(rounds=3 if quick else 9)
    say("timing Guard around a function, beside other governed calls")
    guarded = guard.measure(rounds=5 if quick else 30)
    return report.Results(
        ours, engines, absent, columns, curves, loaded, started, queried, read, written, guarded, hooked, quick
    )


def show(results: report.Results) -> None:
    """The tables, on the terminal."""
    print("\nOne decision, × B1")
    print(report.terminal(*report.decision_rows(results)))
    print("\n".join("  " + note for note in report.notes(results)))
    print("\nCost by size, × B1 at the smallest")
    print(report.terminal(*report.growth_rows(results)))
    seconds = results.curves[results.ours[0].name].load_seconds
    print(f"  making a rulebook of {max(seconds):,} cells: {seconds[max(seconds)]:.1f} s")
    print(f"  the first call of a cell, which prepares it: {report.first_call(results):,.0f} × B1, once")
    start = results.startup
    times = f"{start.milliseconds:.0f} ms beside {start.bare_milliseconds:.0f} ms"
    print(f"\nStart, read a rulebook, decide: {start.ratio:.1f} × a bare interpreter's CPU time ({times})")
    counts = "".join(f", {n} of {name}" for name, n in start.others.items())
    print(f"  {len(start.modules)} modules beyond its own: {len(start.ours)} of Remit{counts}")
    print("  " + (", ".join(name for name in start.modules if name not in start.ours) or "none"))
    print("\nA governed call")
    print(report.terminal(*report.governed_rows(results)))
    print("\nOthers' governed calls, beside ours that keep their records alike")
    print(report.terminal(*report.beside_rows(results)))
    print("\nTargets")
    print(report.terminal(*report.target_rows(results)))


def say(text: str) -> None:
    """One line of progress."""
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, print, write."""
    options = arguments()
    began = time.perf_counter()
    results = measure(options.quick)
    show(results)
    if not (options.quick or options.no_write):
        PICTURE.write_text(report.picture(results), encoding="utf-8")
        PAGE.write_text(report.page(results, PICTURE.name), encoding="utf-8")
        print(f"\nwritten: {PAGE.relative_to(ROOT)}, {PICTURE.relative_to(ROOT)}")
    say(f"took {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
