"""What a hook pays on every call: a new interpreter that reads a rulebook and decides once."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import workloads
from bench.policies import policy_of
from bench.subject import RECORDED, one_decision, set_up
from bench.timing import Shot

BARE = "pass"
MODULES = "\nimport sys\nprint(' '.join(sorted(sys.modules)))"

AGENT = "implementer"
PATH: Shot = (AGENT, "create_file", {"filePath": "src/a.py", "content": "print('hello')\n"})
SHELL: Shot = (AGENT, "run_in_terminal", {"command": "git status"})
CASES = {
    "a path": one_decision(PATH),
    "a command": one_decision(SHELL),
    "a path, recorded": one_decision(PATH) + RECORDED,
}


@dataclass(frozen=True, slots=True)
class Case:
    """CPU time in multiples of a bare interpreter's, and the modules that come on top of its own."""

    ratio: float
    milliseconds: float
    modules: tuple[str, ...]

    @property
    def ours(self) -> tuple[str, ...]:
        """Those of Remit itself."""
        return tuple(name for name in self.modules if name.partition(".")[0] == "remit")

    @property
    def others(self) -> dict[str, int]:
        """How many come from where else: packages by name, the standard library as one."""
        counts: dict[str, int] = {}
        for name in self.modules:
            top = name.partition(".")[0]
            if top != "remit":
                place = "the standard library" if top in sys.stdlib_module_names else top
                counts[place] = counts.get(place, 0) + 1
        return counts


@dataclass(frozen=True, slots=True)
class Startup:
    """Each case by its name; what is asked of the whole is answered for the first, a call with a path."""

    bare_milliseconds: float
    cases: Mapping[str, Case]

    @property
    def first(self) -> Case:
        """A call with a path."""
        return next(iter(self.cases.values()))

    @property
    def ratio(self) -> float:
        return self.first.ratio

    @property
    def milliseconds(self) -> float:
        return self.first.milliseconds

    @property
    def modules(self) -> tuple[str, ...]:
        return self.first.modules

    @property
    def ours(self) -> tuple[str, ...]:
        return self.first.ours

    @property
    def others(self) -> dict[str, int]:
        return self.first.others


def policy() -> dict[str, Any]:
    """That of the path workload, with a shell for one agent."""
    found = policy_of(workloads.pattern())
    found["tools"]["run_in_terminal"] = {"args": {"command": "shell"}}
    mine = [rule for rule in found["agents"][AGENT]["may"] if rule not in ("create_file", "run_in_terminal")]
    shell = {"run_in_terminal": {"shell": {"run": ["git status"]}}}
    found["agents"][AGENT]["may"] = [*mine, {"create_file": {"path": "src/**"}}, shell]
    return found


def _run(code: str, *arguments: str) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-I", "-c", code, *arguments], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), done.stdout


def measure(rounds: int) -> Startup:
    """Start all, one after the other, as often as asked; files are in the disk cache."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder, "project")
        root.mkdir(mode=0o700)
        set_up(policy(), root)
        known = set(_run(BARE + MODULES)[1].split())
        loaded = {name: set(_run(code + MODULES, str(root))[1].split()) - known for name, code in CASES.items()}
        bare: list[float] = []
        times: dict[str, list[float]] = {name: [] for name in CASES}
        for _ in range(rounds):
            bare.append(_run(BARE)[0])
            for name, code in CASES.items():
                times[name].append(_run(code, str(root))[0])
    cases = {
        name: Case(
            ratio=statistics.median(b / a for a, b in zip(bare, found, strict=True)),
            milliseconds=statistics.median(found) * 1000,
            modules=tuple(sorted(loaded[name])),
        )
        for name, found in times.items()
    }
    return Startup(statistics.median(bare) * 1000, cases)


def main() -> None:
    """Print the figures alone: `python -m bench.startup`."""
    found = measure(rounds=15)
    print(f"a bare interpreter: {found.bare_milliseconds:.1f} ms of CPU time")
    for name, case in found.cases.items():
        counts = f"{len(case.modules)} modules, {len(case.ours)} of Remit"
        print(f"{name}: {case.ratio:.1f} ×, {case.milliseconds:.1f} ms, {counts}")


if __name__ == "__main__":
    main()
