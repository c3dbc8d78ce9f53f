"""Which tests reach a line of what decides, and how long each takes.

It is measured once for each file of tests, and again when that file, what tests share, or the code has changed.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol

from tests.mutants.operators import Mutant

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "remit"
KEPT = ROOT / "build" / "mutants"


def first_failure(items: list[pytest.Item]) -> str:
    """The test that fails first; empty if none does. Processes that run at once have temporary folders of their own."""
    if items:
        items[0].config._tmp_path_factory._basetemp = Path(tempfile.mkdtemp(prefix="mutants-"))  # type: ignore[attr-defined]
    for item, after in zip(items, [*items[1:], None], strict=True):
        for report in runtestprotocol(item, log=False, nextitem=after):
            if report.failed:
                return item.nodeid
    return ""


class Reach:
    """By module and line, the tests that reach it; by test, its seconds of CPU."""

    def __init__(self, modules: Iterable[str]) -> None:
        self.modules = tuple(modules)
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[int, list[str]]] = {module: {} for module in self.modules}
        self.failed: list[str] = []
        """Tests that fail without any mutant: they are left out."""
        self.kills: Counter[tuple[str, str]] = Counter()
        """How many mutants of a module a test has killed so far."""
        self._shared = self._digest()

    def _digest(self) -> str:
        """Of the code and of what tests share."""
        digest = hashlib.sha256()
        helpers = (path for path in (ROOT / "tests").rglob("*.py") if not path.name.startswith("test_"))
        for path in sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.yaml"), *helpers]):
            if path.parent != Path(__file__).parent:
                digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
        return digest.hexdigest()

    def _kept(self, file: str) -> Path:
        key = self._shared.encode() + (ROOT / file).read_bytes()
        return KEPT / "reach" / f"{file.replace('/', '-')}-{hashlib.sha256(key).hexdigest()[:16]}.json"

    def unknown(self, items: Iterable[pytest.Item]) -> list[str]:
        """The files of tests that were not measured yet."""
        files = dict.fromkeys(item.nodeid.partition("::")[0] for item in items)
        return [file for file in files if not self._kept(file).exists()]

    def measure(self, file: str, items: Iterable[pytest.Item]) -> None:
        """Runs a file's tests under coverage, and keeps what they reach."""
        import coverage

        seconds: dict[str, float] = {}
        failed: list[str] = []
        measured = coverage.Coverage(data_file=None, include=[f"{SOURCE}/*"], config_file=False)
        measured.start()
        for item in items:
            measured.switch_context(item.nodeid)
            start = time.process_time()
            if first_failure([item]):
                failed.append(item.nodeid)
            else:
                seconds[item.nodeid] = time.process_time() - start
        measured.stop()
        data = measured.get_data()
        lines = {
            module: {
                line: [one for one in tests if one in seconds]
                for line, tests in data.contexts_by_lineno(str(SOURCE / f"{module}.py")).items()
            }
            for module in self.modules
        }
        kept = self._kept(file)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps({"seconds": seconds, "lines": lines, "failed": failed}))

    def load(self, files: Iterable[str]) -> None:
        for file in files:
            data = json.loads(self._kept(file).read_text())
            self.seconds |= data["seconds"]
            self.failed += data["failed"]
            for module in self.modules:
                for line, tests in data["lines"].get(module, {}).items():
                    self.lines[module].setdefault(int(line), []).extend(tests)

    def tests(self, mutant: Mutant, most: float) -> tuple[list[str], float]:
        """Those that reach it, the quickest and most promising first, and the seconds that they take together."""
        lines = self.lines[mutant.module]
        found = lines.get(mutant.line) or sorted({one for tests in lines.values() for one in tests})
        chosen: list[str] = []
        total = 0.0
        for one in self._ordered(found, mutant.module):
            if total + self.seconds[one] <= most or not chosen:
                chosen.append(one)
                total += self.seconds[one]
        return chosen, total

    def _ordered(self, tests: Iterable[str], module: str) -> list[str]:
        """By what they cost and how promising they are: a second case of the same test is less so."""
        folder, _, name = module.partition("/")
        own, near = f"/test_{name}", f"tests/{folder}/"

        def cost(test: str) -> float:
            promise = 1 + self.kills[module, test] + 8 * (own in test) + 2 * (near in test)
            return (self.seconds[test] + 0.002) / promise

        cases: Counter[str] = Counter()
        costs: dict[str, float] = {}
        for test in sorted(tests, key=cost):
            function = test.partition("[")[0]
            cases[function] += 1
            costs[test] = cost(test) * cases[function]
        return sorted(costs, key=lambda test: costs[test])
