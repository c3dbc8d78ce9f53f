"""What a hook pays on every call: a new interpreter that reads a rulebook and decides once."""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import workloads
from bench.policies import policy_of
from bench.subject import ONE_DECISION, save

BARE = "pass"
MODULES = "\nimport sys\nprint(' '.join(sorted(sys.modules)))"


@dataclass(frozen=True, slots=True)
class Startup:
    """CPU time in multiples of a bare interpreter's, and the modules that come on top of its own."""

    ratio: float
    bare_milliseconds: float
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


def _run(code: str, *arguments: str) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-I", "-c", code, *arguments], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), done.stdout


def measure(rounds: int) -> Startup:
    """Start both, one after the other, as often as asked; files are in the disk cache."""
    with tempfile.TemporaryDirectory() as folder:
        rulebook = str(Path(folder) / "rulebook")
        save(policy_of(workloads.pattern()), Path(rulebook))
        bare_modules = set(_run(BARE + MODULES)[1].split())
        modules = set(_run(ONE_DECISION + MODULES, rulebook)[1].split())
        bare, full = [], []
        for _ in range(rounds):
            bare.append(_run(BARE)[0])
            full.append(_run(ONE_DECISION, rulebook)[0])
    return Startup(
        ratio=statistics.median(b / a for a, b in zip(bare, full, strict=True)),
        bare_milliseconds=statistics.median(bare) * 1000,
        milliseconds=statistics.median(full) * 1000,
        modules=tuple(sorted(modules - bare_modules)),
    )
