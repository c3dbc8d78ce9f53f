"""Mutation testing of what decides: changes the code in small ways, and sees whether a test notices.

    make mutants                                    # what fits into half an hour
    make mutants ARGS='decide/view --most 500'      # every mutant of one module

A mutant is run on the tests that reach its line (in-process ones, the quickest first) until one fails. It is applied
to a warm process, forked with everything imported, by giving the live functions the mutated code. What survives
that, or is run by an import already, is run again in a fresh process that imports the mutated module.

Results are kept in `build/mutants`: a second run goes on where the first stopped, and runs survivors again.
`survivors.md` lists the survivors that are known, with what each would change.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import importlib.abc
import importlib.machinery
import inspect
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import _lru_cache_wrapper
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "remit"
KEPT = ROOT / "build" / "mutants"
# Those first whose mistakes cost most.
MODULES = (
    *("decide/view", "decide/memo", "decide/steps", "decide/questions", "decide/protection", "decide/engine"),
    *("decide/measure", "decide/labels", "scopes/judge", "scopes/path", "scopes/where", "scopes/globset"),
    *("decide/grid", "decide/index", "decide/intake", "decide/selection", "decide/reasons", "decide/preview"),
    *("decide/case", "scopes/url", "scopes/url_grammar", "scopes/glob", "scopes/glob_match", "scopes/glob_algebra"),
    *("scopes/glob_syntax", "scopes/names", "scopes/plain", "scopes/regex", "scopes/reach", "scopes/kinds"),
)
TESTS = (
    *("tests/mutants/oracle_slices.py", "tests/decide", "tests/scopes", "tests/test_cases.py", "tests/properties"),
    "tests/oracle/test_found.py",
)
ELSEWHERE = ("command line", "real_hook", "test_sql", "test_shell", "test_no_step_looks_behind", "polynomial_time")
"""Tests that start programs, judge other modules, read the sources, or judge speed."""
QUICK, WHOLE = 4.0, 60.0
"""Seconds of CPU that the tests of one mutant may have taken unmutated: warm, and fresh."""


class Results:
    """What came of each mutant, on disk."""

    def __init__(self) -> None:
        KEPT.mkdir(parents=True, exist_ok=True)
        self.path = KEPT / "results.jsonl"
        self.known: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            rows = map(json.loads, self.path.read_text().splitlines())
            self.known = {row["digest"]: row for row in rows}

    def add(self, mutant: Any, outcome: str, by: str) -> None:
        row = {"digest": mutant.digest, **mutant._asdict(), "outcome": outcome, "by": by}
        del row["source"]
        self.known[mutant.digest] = row
        with self.path.open("a") as file:
            file.write(json.dumps(row) + "\n")

    def outcome(self, mutant: Any) -> str | None:
        return self.known[mutant.digest]["outcome"] if mutant.digest in self.known else None


# Running tests


def in_child(does: Callable[[], str], seconds: float) -> tuple[str, str]:
    """What a forked process answers: `killed` by a test, `survived`, or `timeout` after so many seconds of CPU."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as file:
            by = file.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            return "timeout", signal.Signals(os.WTERMSIG(status)).name
        return ("survived" if os.WEXITSTATUS(status) == 0 else "killed"), by
    _child(does, writing, int(seconds) + 1)


def _child(does: Callable[[], str], writing: int, seconds: int) -> NoReturn:
    code = 1
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(30 * seconds)
        by = does()
        os.write(writing, by.encode())
        code = 1 if by else 0
    except BaseException as error:
        os.write(writing, repr(error).encode()[:200])
    finally:
        os._exit(code)


def first_failure(items: list[pytest.Item]) -> str:
    """The test that fails first; empty if none does."""
    from _pytest.runner import runtestprotocol

    for item, after in zip(items, [*items[1:], None], strict=True):
        for report in runtestprotocol(item, log=False, nextitem=after):
            if report.failed:
                return item.nodeid
    return ""


def options() -> list[str]:
    marks = "not more and not long and not hosts"
    given = [
        "-q",
        "--assert=plain",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        "-m",
        marks,
        "--hypothesis-profile=mutants",
    ]
    return [*given, f"--rootdir={ROOT}", f"--basetemp={tempfile.mkdtemp(prefix='mutants-')}"]


class Plugin:
    """Takes over the session once the tests are collected."""

    def __init__(self, loop: Callable[[dict[str, pytest.Item]], None]) -> None:
        self.loop = loop

    @pytest.hookimpl(tryfirst=True)  # before Hypothesis loads its profile
    def pytest_configure(self) -> None:
        """Whether a test fails is all that counts here, not which example is smallest."""
        from hypothesis import Phase, settings

        phases = (Phase.explicit, Phase.generate)
        settings.register_profile("mutants", settings.get_profile("default"), phases=phases, database=None)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items if not any(word in item.nodeid for word in ELSEWHERE)}
        self.loop(items)
        return True


def with_tests(loop: Callable[[dict[str, pytest.Item]], None], paths: Iterable[str]) -> None:
    """Raises RuntimeError when the tests can't be collected."""
    code = pytest.main([*options(), *paths], plugins=[Plugin(loop)])
    if code not in (0, 5):
        raise RuntimeError(f"pytest: {code}")


# Which tests reach a line


class Reach:
    """The seconds that each test takes, and the lines that it reaches; measured once for the sources as they are."""

    def __init__(self) -> None:
        self.path = KEPT / f"reach-{_state()}.json"
        self.seconds: dict[str, float] = {}
        self.lines: dict[str, dict[int, list[str]]] = {}
        self.kills: Counter[str] = Counter()

    def load(self) -> bool:
        if self.path.exists():
            data = json.loads(self.path.read_text())
            self.seconds = data["seconds"]
            for one in data["failed"]:
                print(f"left out, since it fails without any mutant: {one}")
            names = list(self.seconds)
            self.lines = {
                m: {int(n): [names[i] for i in at] for n, at in of.items()} for m, of in data["lines"].items()
            }
        return self.path.exists()

    def measure(self, items: dict[str, pytest.Item]) -> str:
        import coverage

        seconds: dict[str, float] = {}
        lines: dict[str, dict[int, list[int]]] = {}
        measured = coverage.Coverage(data_file=None, include=[f"{SOURCE}/*"], config_file=False)
        measured.start()
        for nodeid, item in items.items():
            measured.switch_context(nodeid)
            start = time.process_time()
            if not first_failure([item]):
                seconds[nodeid] = time.process_time() - start
        measured.stop()
        data = measured.get_data()
        numbers = {one: number for number, one in enumerate(seconds)}
        for module in MODULES:
            found = data.contexts_by_lineno(str(SOURCE / f"{module}.py"))
            lines[module] = {line: [numbers[one] for one in tests if one in numbers] for line, tests in found.items()}
        failed = [one for one in items if one not in seconds]
        self.path.write_text(json.dumps({"seconds": seconds, "lines": lines, "failed": failed}))
        return ""

    def tests(self, mutant: Any, most: float) -> tuple[list[str], float]:
        """Those that reach it, the module's own and then the most promising first, and the seconds that they take."""
        found = self.lines[mutant.module].get(mutant.line, [])
        if not found:
            found = sorted({one for tests in self.lines[mutant.module].values() for one in tests})
        chosen: list[str] = []
        total = 0.0
        own = f"/test_{mutant.module.partition('/')[2]}.py"
        for one in sorted(found, key=lambda test: (own not in test, self.seconds[test] / (1 + self.kills[test]))):
            if total + self.seconds[one] <= most or not chosen:
                chosen.append(one)
                total += self.seconds[one]
        return chosen, total


def _state() -> str:
    """Of the modules and the tests."""
    digest = hashlib.sha256()
    tests = [path for name in TESTS for path in ((ROOT / name).rglob("*.py") if "." not in name else [ROOT / name])]
    for path in sorted([*(SOURCE / f"{module}.py" for module in MODULES), *tests]):
        digest.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return digest.hexdigest()[:16]


# Warm


def changed(old: types.CodeType, new: types.CodeType) -> list[tuple[types.CodeType, types.CodeType]] | None:
    """The functions whose code differs; None if something differs that runs when the module is imported."""

    def apart(code: types.CodeType) -> tuple[types.CodeType, list[types.CodeType]]:
        inner = [const for const in code.co_consts if isinstance(const, types.CodeType)]
        bare = tuple(0 if isinstance(const, types.CodeType) else const for const in code.co_consts)
        return code.replace(co_consts=bare, co_linetable=b""), inner  # a definition ends where its last line does

    (bare, inner), (new_bare, new_inner) = apart(old), apart(new)
    if bare != new_bare or len(inner) != len(new_inner):
        return None
    found = []
    for one, other in zip(inner, new_inner, strict=True):
        if one.co_flags & inspect.CO_OPTIMIZED:
            found += [(one, other)] if one != other else []
        else:
            deeper = changed(one, other)
            if deeper is None:
                return None
            found += deeper
    return found


class Warm:
    """All live functions and caches, by the code that they run."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str, int], list[types.FunctionType]] = {}
        self.caches: list[Any] = []
        for one in gc.get_objects():
            if isinstance(one, types.FunctionType):
                code = one.__code__
                self.functions.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(one)
            elif isinstance(one, _lru_cache_wrapper):
                self.caches.append(one)
        gc.freeze()

    def apply(self, mutant: Any) -> Callable[[], None] | None:
        """What puts the mutant into force in this process; None if only an import could."""
        path = str(SOURCE / f"{mutant.module}.py")
        old = compile(Path(path).read_text(encoding="utf-8"), path, "exec", dont_inherit=True)
        pairs = changed(old, compile(mutant.source, path, "exec", dont_inherit=True))
        if not pairs:
            return None
        found = []
        for one, other in pairs:
            live = self.functions.get((path, one.co_qualname, one.co_firstlineno), [])
            if not live or one.co_freevars != other.co_freevars:
                return None
            found += [(function, other) for function in live]

        def swap() -> None:
            for function, code in found:
                function.__code__ = code
            for cache in self.caches:
                cache.cache_clear()

        return swap


def run_warm(mutants: list[Any], results: Results, reach: Reach, until: float) -> None:
    """Settles what a warm process can settle; the rest is `open`."""

    def loop(items: dict[str, pytest.Item]) -> None:
        if not reach.load():
            print(f"measuring what {len(items)} tests reach", flush=True)
            what = in_child(lambda: reach.measure(items), 3600)
            if not reach.load():
                raise RuntimeError(what)
        warm = Warm()
        for mutant in mutants:
            if time.time() > until:
                return
            swap = warm.apply(mutant)
            chosen, total = reach.tests(mutant, QUICK)
            if swap is None or not chosen:
                results.add(mutant, "open", "")
                continue

            def does(swap: Callable[[], None] = swap, chosen: list[str] = chosen) -> str:
                swap()
                return first_failure([items[one] for one in chosen])

            outcome, by = in_child(does, 3 * total + 5)
            reach.kills[by] += outcome == "killed"
            results.add(mutant, "open" if outcome == "survived" else outcome, by)

    with_tests(loop, TESTS)


# Fresh


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module with other source."""

    def __init__(self, mutant: Any) -> None:
        self.name = "remit." + mutant.module.replace("/", ".")
        self.path, self.source = str(SOURCE / f"{mutant.module}.py"), mutant.source

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self, origin=self.path) if name == self.name else None

    def exec_module(self, module: types.ModuleType) -> None:
        module.__file__ = self.path
        exec(compile(self.source, self.path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102


def run_fresh(mutant: Any, reach: Reach) -> tuple[str, str]:
    """The last word on a mutant: imported as if it were the module."""
    chosen, total = reach.tests(mutant, WHOLE)
    if not chosen:
        return "survived", "no test reaches it"

    def does() -> str:
        sys.meta_path.insert(0, Mutated(mutant))
        failed: list[str] = ["the tests can't be collected"]

        def loop(items: dict[str, pytest.Item]) -> None:
            failed[0] = first_failure([items[one] for one in chosen if one in items])

        with_tests(loop, sorted({one.partition("::")[0] for one in chosen}))
        return failed[0]

    return in_child(does, 3 * total + 60)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="MODULE", help="such as decide/view")
    parser.add_argument("--most", type=int, default=40, help="mutants for each module, drawn at random (40)")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=30, help="after which it stops; a second run goes on")
    asked = parser.parse_args()
    unknown = sorted(set(asked.modules) - set(MODULES))
    if unknown:
        parser.error(f"no module `{unknown[0]}`; there are {', '.join(MODULES)}")
    os.nice(5)
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    until = time.time() + 60 * asked.minutes
    from tests.mutants.operators import mutants

    chosen = [one for name in asked.modules for one in mutants(name, SOURCE / f"{name}.py", asked.most, asked.seed)]
    results = Results()
    todo = [one for one in chosen if results.outcome(one) in (None, "open", "survived")]
    print(f"{len(chosen)} mutants, {len(todo)} to run", flush=True)
    if todo:
        _in_fork(lambda: run_warm(todo, results, Reach(), until))
    results, reach = Results(), Reach()
    reach.load()
    for one in chosen:
        if time.time() < until and results.outcome(one) == "open":
            results.add(one, *run_fresh(one, reach))
    return report(chosen, results)


def _in_fork(does: Callable[[], None]) -> None:
    """Keeps this process free of the modules under test."""
    child = os.fork()
    if not child:
        code = 1
        try:
            does()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    if os.waitpid(child, 0)[1]:
        sys.exit("mutants: the tests don't run")


def report(chosen: list[Any], results: Results) -> int:
    """Prints a line for each module and the survivors; 1 if fewer than 95 % of what was run are dead."""
    for row in _rows(chosen, results):
        print(row)
    survivors = [one for one in chosen if results.outcome(one) == "survived"]
    for one in survivors:
        print(f"\n{one.module}:{one.line} {one.operator} {one.digest}\n  - {one.before}\n  + {one.after}")
    counts = Counter(results.outcome(one) for one in chosen)
    dead = counts["killed"] + counts["timeout"]
    return int(dead < 0.95 * (dead + counts["survived"]))


def _rows(chosen: list[Any], results: Results) -> Iterator[str]:
    yield f"{'module':24}{'run':>6}{'killed':>8}{'timeout':>9}{'survived':>10}{'':>4}%"
    names = [*dict.fromkeys(one.module for one in chosen), "all"]
    for name in names:
        counts = Counter(results.outcome(one) for one in chosen if name in (one.module, "all"))
        run = counts["killed"] + counts["timeout"] + counts["survived"]
        share = f"{100 * (run - counts['survived']) / run:5.1f}" if run else "  –"
        yield f"{name:24}{run:6}{counts['killed']:8}{counts['timeout']:9}{counts['survived']:10}{share:>5}"


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
