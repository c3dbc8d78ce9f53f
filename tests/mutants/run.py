"""Mutation testing of what decides: changes the code in small ways, and sees whether a test notices.

    make mutants                                     # every mutant of every module
    make mutants SAMPLE=600                          # so many of them, drawn at random from all
    make mutants ARGS='decide/view scopes/judge'     # every mutant of two modules

A mutant is run on the tests that reach its line, the quickest first, until one fails. It is applied to a warm
process, forked with everything imported, by giving the live functions the mutated code. What survives that, or is
run by an import already, is run again in a process that imports the mutated module.

Each run first checks itself: two mutants that must die and two that must survive, one of each in either stage.

Results are kept in `build/mutants`: a second run goes on where the first stopped, and runs survivors again.
`survivors.md` lists the survivors that are known, with what each would change.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.abc
import importlib.machinery
import inspect
import json
import math
import os
import random
import resource
import shutil
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
sys.path.insert(0, str(ROOT))

from tests.mutants.operators import Mutant, all_mutants  # noqa: E402
from tests.mutants.reach import KEPT, SOURCE, Reach, first_failure  # noqa: E402

MODULES = (
    *("decide/case", "decide/engine", "decide/grid", "decide/index", "decide/intake", "decide/labels"),
    *("decide/measure", "decide/memo", "decide/preview", "decide/protection", "decide/questions", "decide/reasons"),
    *("decide/selection", "decide/steps", "decide/view"),
    *("scopes/account", "scopes/canonical", "scopes/date", "scopes/email", "scopes/glob", "scopes/glob_algebra"),
    *("scopes/glob_match", "scopes/glob_syntax", "scopes/globset", "scopes/host", "scopes/interface", "scopes/judge"),
    *("scopes/kinds", "scopes/names", "scopes/path", "scopes/plain", "scopes/reach", "scopes/regex", "scopes/url"),
    *("scopes/url_grammar", "scopes/where"),
)
TESTS = (
    *("tests/mutants/oracle_slices.py", "tests/decide", "tests/scopes", "tests/test_cases.py", "tests/properties"),
    *("tests/attacks/test_corpus.py", "tests/languages/programs/test_untold.py"),
    *("tests/oracle/test_found.py", "tests/analyze", "tests/compile", "tests/declare", "tests/explain"),
)
ELSEWHERE = ("command line", "real_hook", "in_every_process", "test_no_step_looks_behind", "polynomial_time")
"""Tests that start programs, read the sources, or judge speed."""
SECONDS = 25.0
"""Seconds of CPU that the tests of one mutant take unmutated, at most. A quarter of that where they run for a second
time, in a fresh process."""
DEAD = ("killed", "timeout")


class Results:
    """What came of each mutant, on disk."""

    def __init__(self) -> None:
        KEPT.mkdir(parents=True, exist_ok=True)
        self.path = KEPT / "results.jsonl"
        self.known: dict[str, dict[str, Any]] = {}
        if self.path.exists():
            rows = map(json.loads, self.path.read_text().splitlines())
            self.known = {row["digest"]: row for row in rows}

    def add(self, mutant: Mutant, outcome: str, by: str) -> None:
        row = {"digest": mutant.digest, **mutant._asdict(), "outcome": outcome, "by": by}
        self.known[mutant.digest] = row
        with self.path.open("a") as file:  # other workers write there too, each a line at a time
            file.write(json.dumps(row) + "\n")

    def outcome(self, mutant: Mutant) -> str | None:
        return self.known[mutant.digest]["outcome"] if mutant.digest in self.known else None


# Running tests


def in_child(does: Callable[[], str], seconds: float) -> tuple[str, str]:
    """What a forked process answers: `killed` by a test, `survived`, or `timeout` after so many seconds of CPU.

    `stalled` says nothing about the mutant: the machine had no time or memory for it.
    """
    folder = tempfile.mkdtemp(prefix="mutants-")
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        with os.fdopen(reading) as file:
            by = file.read()
        _, status = os.waitpid(child, 0)
        shutil.rmtree(folder, ignore_errors=True)
        if os.WIFSIGNALED(status):
            name = signal.Signals(os.WTERMSIG(status)).name
            return ("stalled" if name in ("SIGALRM", "SIGKILL") else "timeout"), name
        return ("survived" if os.WEXITSTATUS(status) == 0 else "killed"), by
    tempfile.tempdir = os.environ["TMPDIR"] = folder
    _child(does, writing, int(seconds) + 1)


def _child(does: Callable[[], str], writing: int, seconds: int) -> NoReturn:
    code = 1
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(60 * seconds)
        by = does()
        os.write(writing, by.encode())
        code = 1 if by else 0
    except BaseException as error:
        os.write(writing, repr(error).encode()[:300])
    finally:
        os._exit(code)


def options() -> list[str]:
    given = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutants"]
    chosen = ["-m", "not more and not long and not hosts"]
    return [*given, *chosen, f"--rootdir={ROOT}", f"--basetemp={tempfile.mkdtemp(prefix='mutants-')}"]


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
        self.loop({item.nodeid: item for item in session.items if not any(word in item.nodeid for word in ELSEWHERE)})
        return True


def with_tests(loop: Callable[[dict[str, pytest.Item]], None], paths: Iterable[str]) -> None:
    """Raises RuntimeError when the tests can't be collected."""
    code = pytest.main([*options(), *paths], plugins=[Plugin(loop)])
    if code not in (0, 5):
        raise RuntimeError(f"pytest: {code}")


def in_forks(shards: list[Callable[[], None]]) -> None:
    """Each in a process of its own, so that this one stays as it is; exits if one fails."""
    children = []
    for does in shards:
        sys.stdout.flush()
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
        children.append(child)
    statuses = [os.waitpid(child, 0)[1] for child in children]
    if any(statuses):
        sys.exit("mutants: the tests don't run")


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
    """All live functions, by the code that they run, and the caches of what decides."""

    def __init__(self) -> None:
        self.functions: dict[tuple[str, str, int], list[types.FunctionType]] = {}
        self.caches: list[Any] = []
        for one in gc.get_objects():
            if isinstance(one, types.FunctionType):
                code = one.__code__
                self.functions.setdefault((code.co_filename, code.co_qualname, code.co_firstlineno), []).append(one)
            elif isinstance(one, _lru_cache_wrapper) and str(one.__module__).startswith(("remit.decide", "remit.sc")):
                self.caches.append(one)
        gc.freeze()

    def apply(self, module: str, source: str) -> Callable[[], None] | None:
        """What puts a mutant into force in this process; None if only an import could."""
        path = str(SOURCE / f"{module}.py")
        old = compile(Path(path).read_text(encoding="utf-8"), path, "exec", dont_inherit=True)
        pairs = changed(old, compile(source, path, "exec", dont_inherit=True))
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

    def run(self, mutant: Mutant, items: dict[str, pytest.Item], reach: Reach, most: float) -> tuple[str, str]:
        """`open` for what this process can't settle."""
        swap = self.apply(mutant.module, mutated(mutant))
        chosen, total = reach.tests(mutant, most)
        if swap is None or not chosen:
            return "open", ""

        def does() -> str:
            swap()
            return first_failure([items[one] for one in chosen])

        outcome, by = in_child(does, 3 * total + 5)
        reach.kills[mutant.module, by] += outcome == "killed"
        if outcome in ("survived", "stalled"):
            return "open", outcome
        return outcome, by


def mutated(mutant: Mutant) -> str:
    return mutant.source((SOURCE / f"{mutant.module}.py").read_text(encoding="utf-8"))


def run_warm(mutants: list[Mutant], until: float, jobs: int, most: float) -> None:
    """Settles what a warm process can settle; the rest is `open`."""

    def loop(items: dict[str, pytest.Item]) -> None:
        first_failure([item for name, item in items.items() if "oracle_slices" in name])  # fills the oracle's own cache
        reach = Reach(MODULES)

        def measure(files: list[str]) -> None:
            for file in files:
                print(f"measuring what {len(unknown[file])} tests of {file} reach", flush=True)
                reach.measure(file, unknown[file])

        unknown = reach.unknown(items.values())
        new = list(unknown)
        in_forks([lambda at=at: measure(new[at::jobs]) for at in range(jobs if new else 0)])  # type: ignore[misc]
        files = list(dict.fromkeys(name.partition("::")[0] for name in items))
        (KEPT / "files.json").write_text(json.dumps(files))
        reach.load(files)
        reach.kills.update((row["module"], row["by"]) for row in Results().known.values() if row["outcome"] == "killed")
        for one in reach.failed:
            print(f"left out, since it fails without any mutant: {one}")
        warm = Warm()
        for bad, mutant in itself(at_import=False):
            must_be("killed" if bad else "open", mutant, warm.run(mutant, items, reach, most))

        def work(shard: list[Mutant]) -> None:
            results = Results()
            for mutant in shard:
                if time.time() < until:
                    results.add(mutant, *warm.run(mutant, items, reach, most))

        in_forks([lambda at=at: work(mutants[at::jobs]) for at in range(jobs)])  # type: ignore[misc]

    with_tests(loop, TESTS)


# Fresh


class Mutated(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Imports one module with other source."""

    def __init__(self, mutant: Mutant) -> None:
        self.name = "remit." + mutant.module.replace("/", ".")
        self.path, self.source = str(SOURCE / f"{mutant.module}.py"), mutated(mutant)

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(name, self, origin=self.path) if name == self.name else None

    def exec_module(self, module: types.ModuleType) -> None:
        module.__file__ = self.path
        exec(compile(self.source, self.path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102


def run_fresh(mutant: Mutant, reach: Reach, most: float) -> tuple[str, str]:
    """The last word on a mutant: imported as if it were the module."""
    chosen, total = reach.tests(mutant, most)
    if not chosen:
        return "survived", "no test reaches it"

    def does() -> str:
        sys.meta_path.insert(0, Mutated(mutant))
        failed: list[str] = ["the tests can't be collected"]

        def loop(items: dict[str, pytest.Item]) -> None:
            missing = [one for one in chosen if one not in items]
            failed[0] = f"not collected: {missing[0]}" if missing else first_failure([items[one] for one in chosen])

        with_tests(loop, sorted({one.partition("::")[0] for one in chosen}))
        return failed[0]

    return in_child(does, 3 * total + 60)


def run_all_fresh(mutants: list[Mutant], until: float, jobs: int, most: float) -> None:
    reach = Reach(MODULES)
    reach.load(json.loads((KEPT / "files.json").read_text()))
    for bad, mutant in itself(at_import=True):
        must_be("killed" if bad else "survived", mutant, run_fresh(mutant, reach, most / 4))

    def work(shard: list[Mutant]) -> None:
        results = Results()
        for mutant in shard:
            if time.time() < until:
                survived = results.known[mutant.digest]["by"] == "survived"
                results.add(mutant, *run_fresh(mutant, reach, most / 4 if survived else most))

    in_forks([lambda at=at: work(mutants[at::jobs]) for at in range(jobs)])  # type: ignore[misc]


def preload() -> None:
    """What tests import, but for Remit itself: fresh processes are forked with it."""
    for name in ("hypothesis.strategies", "msgspec", "yaml", "re2", "sqlglot.dialects", "rich", "jsonschema"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


# The check of itself


def itself(*, at_import: bool) -> Iterator[tuple[bool, Mutant]]:
    """A mutant that must die, for it lets every unit be covered, and one that must survive, for it does nothing."""
    module = "scopes/judge"
    source = (SOURCE / f"{module}.py").read_text(encoding="utf-8")
    head = "def covers(self, unit: Unit) -> bool:\n"
    for bad in (True, False):
        if at_import:
            at, text = (
                len(source),
                "\nJudge.covers = lambda self, unit: True\n" if bad else "\nJudge.covers = Judge.covers\n",
            )
        else:
            at, text = source.index(head) + len(head), "        return True\n" if bad else "        unit = unit\n"
        yield bad, Mutant(module, source[:at].count("\n"), "itself", "", text.strip(), at, at, text, "")


def must_be(expected: str, mutant: Mutant, found: tuple[str, str]) -> None:
    stage = "a warm process" if mutant.text.startswith(" ") else "a fresh process"
    print(f"check: in {stage}, `{mutant.after}` is {found[0]} {found[1]}".rstrip(), flush=True)
    if found[0] != expected:
        sys.exit(f"mutants: it should be {expected}; no figure of this run would mean anything")


# The whole


def main() -> int:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("modules", nargs="*", default=MODULES, metavar="MODULE", help="such as decide/view")
    parser.add_argument("--sample", type=int, metavar="N", help="so many mutants, drawn at random from all")
    parser.add_argument("--seed", type=int, default=12)
    parser.add_argument("--minutes", type=float, default=1e6, help="after which it stops; a second run goes on")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of CPU for the tests of one mutant, at most")
    parser.add_argument("--measure", action="store_true", help="again which tests reach which lines")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    asked = parser.parse_args()
    unknown = sorted(set(asked.modules) - set(MODULES))
    if unknown:
        parser.error(f"no module `{unknown[0]}`; there are {', '.join(MODULES)}")
    os.nice(5)
    os.chdir(ROOT)
    if asked.measure:
        shutil.rmtree(KEPT / "reach", ignore_errors=True)
    until = time.time() + 60 * asked.minutes
    made = [all_mutants(name, SOURCE / f"{name}.py", KEPT / "made") for name in asked.modules]
    everything = [one for each in made for one in each.mutants]
    chosen = everything
    if asked.sample is not None and asked.sample < len(everything):
        chosen = random.Random(asked.seed).sample(everything, asked.sample)  # noqa: S311
    results = Results()
    todo = [one for one in chosen if results.outcome(one) not in DEAD]
    print(f"{len(everything)} mutants, {len(chosen)} chosen, {len(todo)} to run", flush=True)
    inert = sum((Counter(each.inert) for each in made), Counter[str]())
    print("left out, since they can't alter a decision:", ", ".join(f"{n} {why}" for why, n in inert.most_common()))
    if todo:
        new = [one for one in todo if results.outcome(one) != "open"]  # what is open, a run that was stopped has tried
        if new:
            in_forks([lambda: run_warm(new, until, asked.jobs, asked.seconds)])
        results = Results()
        left = [one for one in todo if results.outcome(one) == "open"]
        print(f"{len(left)} of them need a fresh process", flush=True)
        preload()
        run_all_fresh(left, until, asked.jobs, asked.seconds)
    return report(chosen, Results(), len(everything))


def interval(dead: int, run: int) -> tuple[float, float]:
    """Wilson's, of 95 %: within it lies the share of all mutants that such a sample was drawn from."""
    z, share = 1.96, dead / run
    middle = share + z * z / (2 * run)
    half = z * math.sqrt(share * (1 - share) / run + z * z / (4 * run * run))
    return (middle - half) / (1 + z * z / run), (middle + half) / (1 + z * z / run)


def report(chosen: list[Mutant], results: Results, everything: int) -> int:
    """Prints a line for each module and the survivors; 1 if fewer than 95 % of what was run are dead."""
    for row in _rows(chosen, results):
        print(row)
    for one in sorted(chosen):
        if results.outcome(one) == "survived":
            print(f"\n{one.module}:{one.line} {one.operator} {one.digest}\n  - {one.before}\n  + {one.after}")
    counts = Counter(results.outcome(one) for one in chosen)
    dead = counts["killed"] + counts["timeout"]
    run = dead + counts["survived"]
    if not run:
        return 1
    print(f"\n{dead} of {run} killed: {100 * dead / run:.1f} %", end="")
    if run < everything:
        low, high = interval(dead, run)
        print(f"; of all {everything}, with 95 % confidence, between {100 * low:.1f} and {100 * high:.1f} %", end="")
    print(f"; {len(chosen) - run} not run" if run < len(chosen) else "")
    return int(dead < 0.95 * run)


def _rows(chosen: list[Mutant], results: Results) -> Iterator[str]:
    yield f"{'module':24}{'run':>6}{'killed':>8}{'timeout':>9}{'survived':>10}{'':>4}%"
    names = [*sorted({one.module for one in chosen}), "all"]
    for name in names:
        counts = Counter(results.outcome(one) for one in chosen if name in (one.module, "all"))
        run = counts["killed"] + counts["timeout"] + counts["survived"]
        share = f"{100 * (run - counts['survived']) / run:5.1f}" if run else "  –"
        yield f"{name:24}{run:6}{counts['killed']:8}{counts['timeout']:9}{counts['survived']:10}{share:>5}"


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        sys.exit(main())
