"""Starting: what a command loads, counted in modules and, with a wide margin, in CPU time beside a bare interpreter."""

from __future__ import annotations

import ast
import inspect
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.cli import typer_app
from remit.cli.arguments import read_plainly
from remit.cli.main import run
from remit.cli.table import COMMANDS, Command, Entry, Group
from remit.cli.typer_app import as_typer, function_of

SRC = Path(__file__).parents[2] / "src" / "remit"
SMALL = """\
remit: 1
tools:
  read: {args: {path: path}, does: {read: path}}
agents:
  a: {may: [{read: {path: docs/**}}]}
"""
SHOW = (
    "import sys; from remit.cli.main import run; code = run(sys.argv[1:]); print(code, *sys.modules, file=sys.stderr)"
)
HEAVY = {
    "typer",
    "click",
    "rich",
    "asyncio",
    "cryptography",
    "sqlglot",
    "sqlite3",
    "psycopg",
    "re2",
    "importlib.metadata",
}


def each(commands: dict[str, Entry], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Command]]:
    for name, entry in commands.items():
        if isinstance(entry, Group):
            yield from each(entry.commands, (*path, name))
            if entry.alone is not None:
                yield (*path, name), entry.alone
        else:
            yield (*path, name), entry


ALL = dict(each(COMMANDS))


def loaded(*args: str, cwd: Path) -> set[str]:
    """The modules that a command leaves loaded in an interpreter of its own."""
    ran = subprocess.run([sys.executable, "-I", "-c", SHOW, *args], cwd=cwd, capture_output=True, text=True, timeout=60)
    code, *modules = ran.stderr.splitlines()[-1].split()
    assert code == "0", ran.stderr
    return set(modules)


@pytest.mark.parametrize("args", [(), ("--version",), ("--help",), ("ledger", "--help"), ("capsule",)])
def test_help_and_version_load_next_to_nothing(tmp_path: Path, args: tuple[str, ...]):
    modules = loaded(*args, cwd=tmp_path)
    assert modules & (HEAVY | {"msgspec", "yaml", "json", "pathlib", "inspect"}) == set()
    assert {name for name in modules if name.startswith("remit")} == {
        *("remit", "remit.cli", "remit.cli.main", "remit.cli.output", "remit.cli.table", "remit.cli.usage")
    }


def test_checking_a_small_policy_loads_no_command_line_library(tmp_path: Path):
    (tmp_path / "remit.yaml").write_text(SMALL)
    modules = loaded("check", cwd=tmp_path)
    assert modules & (HEAVY | {"importlib.resources", "hashlib", "tempfile", "zipfile", "socket", "threading"}) == set()
    unused = {"remit.enforce", "remit.store", "remit.record", "remit.grant", "remit.service", "remit.explain"}
    assert modules & unused == set()
    assert len(modules) < 264


def cpu(*command: str, cwd: Path) -> float:
    """Seconds of CPU time that a program takes, with bytecode that was written before."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    env["PYTHONPYCACHEPREFIX"] = str(cwd.parent / f"{cwd.name}-bytecode")  # no folder of the project
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *command], cwd=cwd, env=env, capture_output=True, timeout=120, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize(
    ("args", "pages", "most"),
    [(("--version",), 0, 4), (("--help",), 0, 4), (("check",), 0, 16), (("check",), 1, 28)],
)
def test_starting_takes_a_few_bare_interpreters(tmp_path: Path, args: tuple[str, ...], pages: int, most: int):
    """CPU time, the least of several that alternate: other programs on the machine slow both down alike."""
    (tmp_path / "remit.yaml").write_text(SMALL)
    for page in range(pages):  # `check` compares the policy with documents, where there are any
        (tmp_path / f"{page}.md").write_text("# Agents\n\nThey read.\n")
    cpu("-m", "remit", *args, cwd=tmp_path)
    bare, whole = [], []
    for _ in range(7):
        bare.append(cpu("-c", "pass", cwd=tmp_path))
        whole.append(cpu("-m", "remit", *args, cwd=tmp_path))
    assert min(whole) <= most * min(bare)


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_the_table_says_what_the_command_says(path: tuple[str, ...]):
    text = " ".join((inspect.getdoc(function_of(ALL[path])) or "").split("\n\n")[0].split())
    assert ALL[path].help == text.split(". ")[0].removesuffix(".")


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_has_help_by_its_full_name(path: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    assert run([*path, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: remit {' '.join(path)} [OPTIONS]")


class Called(Exception):
    """What a command was called with."""


def by_typer(path: tuple[str, ...], args: list[str]) -> dict[str, Any] | None:
    """The keywords that typer reads, defaults included; None for what it refuses."""
    function = function_of(ALL[path])

    def recording(of: Any) -> Any:
        real = as_typer(of)
        if of is not function:
            return real

        def recorded(**given: Any) -> int:
            raise Called(given)

        recorded.__doc__, recorded.__annotations__ = real.__doc__, real.__annotations__
        setattr(recorded, "__signature__", inspect.signature(real))  # noqa: B010 # as in typer_app
        return recorded

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer_app, "as_typer", recording)
        try:
            typer_app.run_typer([*path, *args])
        except Called as found:
            return dict(found.args[0])
        except Exception as error:
            if not hasattr(error, "format_message"):
                raise
    return None


WORDS = st.sampled_from(
    ["", "a", "x.yaml", "7", "-", "--", "-q", "--policy", "--json", "a=b", "--because=why", "é", "--h"]
)


@settings(max_examples=25, deadline=None)
@given(st.data())
@pytest.mark.parametrize("path", ALL, ids=" ".join)
@pytest.mark.sample(12)
def test_what_is_read_plainly_typer_reads_the_same(path: tuple[str, ...], data: st.DataObject):
    function = function_of(ALL[path])
    names = [name for hint in function.__annotations__.values() for name in _names(hint)]
    words = data.draw(st.lists(WORDS | st.sampled_from([*names, *names, "v"]), max_size=6))
    plain = read_plainly(function, words)
    if plain is None:
        return
    defaults = {
        name: one.default
        for name, one in inspect.signature(function).parameters.items()
        if one.default is not inspect.Parameter.empty
    }
    assert {**defaults, **plain} == by_typer(path, words)


def _names(hint: str) -> list[str]:
    known = {"PolicyOption": ["--policy"], "JsonOption": ["--json"], "StateOption": ["--state"]}
    return known.get(hint, [word.strip("\"',()") for word in hint.split() if word.startswith(('Option("--', '"-'))])


def inner_imports(text: str) -> list[int]:
    """The lines of imports inside functions."""
    functions = [
        node for node in ast.walk(ast.parse(text)) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    inside = (node for one in functions for node in ast.walk(one))
    return sorted({node.lineno for node in inside if isinstance(node, (ast.Import, ast.ImportFrom))})


def without_reason(text: str) -> bool:
    """Whether a file has imports inside functions, and none of them says why: `# here: …`."""
    lines = text.splitlines()
    comments = [lines[number - 1].partition("#")[2] for number in inner_imports(text)]
    return bool(comments) and not any(" here" in one for one in comments)


def test_imports_stand_at_the_top():
    """Or they say why they don't, once in a file."""
    assert [str(file.relative_to(SRC)) for file in SRC.rglob("*.py") if without_reason(file.read_text("utf-8"))] == []
    assert without_reason("def act():\n    import json\n")
    assert not without_reason("def act():\n    import json  # here: few need it\n")
