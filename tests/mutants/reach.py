"""Which tests reach a line of what decides, and how long each takes.

Each test is measured once, and again when its file has changed. When the code changes, what was measured moves with
the lines that stayed the same; a new line is reached by what reaches the lines around it. That can be off by some
tests, which can only let a mutant survive; `--measure` measures all again.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

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
        self.sources = {one: (SOURCE / f"{one}.py").read_text(encoding="utf-8") for one in self.modules}

    def _kept(self, file: str) -> Path:
        key = hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:16]
        return KEPT / "reach" / f"{file.replace('/', '-')}-{key}.json"

    def _read(self, file: str) -> dict[str, Any]:
        """What was measured of a file of tests, with the lines that the code has now."""
        kept = self._kept(file)
        if not kept.exists():
            return {"seconds": {}, "failed": [], "lines": {}}
        data: dict[str, Any] = json.loads(kept.read_text())
        for module, digest in data.pop("sources").items():
            source = self.sources.get(module, "")
            if source and digest != _digest(source):
                before = (KEPT / "sources" / digest).read_text(encoding="utf-8")
                data["lines"][module] = _moved(data["lines"].get(module, {}), before, source)
        return data

    def unknown(self, items: Iterable[pytest.Item]) -> dict[str, list[pytest.Item]]:
        """By file, the tests that were not measured yet."""
        files: dict[str, list[pytest.Item]] = {}
        for item in items:
            files.setdefault(item.nodeid.partition("::")[0], []).append(item)
        found = {}
        for file, mine in files.items():
            data = self._read(file)
            new = [item for item in mine if item.nodeid not in data["seconds"] and item.nodeid not in data["failed"]]
            if new:
                found[file] = new
        return found

    def measure(self, file: str, items: Iterable[pytest.Item]) -> None:
        """Runs tests of a file under coverage, and keeps what they reach."""
        import coverage

        kept = self._read(file)
        seconds: dict[str, float] = {}
        measured = coverage.Coverage(data_file=None, include=[f"{SOURCE}/*"], config_file=False)
        measured.start()
        for item in items:
            measured.switch_context(item.nodeid)
            start = time.process_time()
            if first_failure([item]):
                kept["failed"].append(item.nodeid)
            else:
                seconds[item.nodeid] = time.process_time() - start
        measured.stop()
        data = measured.get_data()
        for module in self.modules:
            lines = kept["lines"].setdefault(module, {})
            for line, tests in data.contexts_by_lineno(str(SOURCE / f"{module}.py")).items():
                lines.setdefault(str(line), []).extend(one for one in tests if one in seconds)
        kept["seconds"] |= seconds
        kept["sources"] = {module: self._keep_source(module) for module in self.modules}
        path = self._kept(file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept))

    def _keep_source(self, module: str) -> str:
        source = self.sources[module]
        digest = _digest(source)
        (KEPT / "sources").mkdir(parents=True, exist_ok=True)
        (KEPT / "sources" / digest).write_text(source, encoding="utf-8")
        return digest

    def load(self, files: Iterable[str]) -> None:
        for file in files:
            data = self._read(file)
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
        whole = (f"{near}test_whole.py", f"{near}test_drawn.py")

        def cost(test: str) -> float:
            promise = 1 + self.kills[module, test] + 2 * (near in test)
            promise += 8 * (own in test) + 20 * test.startswith(whole)
            return (self.seconds[test] + 0.002) / promise

        cases: Counter[str] = Counter()
        costs: dict[str, float] = {}
        for test in sorted(tests, key=cost):
            function = test.partition("[")[0]
            cases[function] += 1
            costs[test] = cost(test) * cases[function]
        return sorted(costs, key=lambda test: costs[test])


def _digest(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _moved(lines: dict[str, list[str]], before: str, after: str) -> dict[str, list[str]]:
    """What reaches the lines of a source that has changed."""
    old, new = before.split("\n"), after.split("\n")
    found: dict[str, list[str]] = {}
    for tag, start, end, to, until in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            for number in range(end - start):
                if str(start + number + 1) in lines:
                    found[str(to + number + 1)] = lines[str(start + number + 1)]
        elif until > to:
            around = {test for line in range(start - 1, end + 3) for test in lines.get(str(line), ())}
            found |= {str(line + 1): sorted(around) for line in range(to, until)}
    return found
