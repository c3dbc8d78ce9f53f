"""The public surface: what is documented can be imported, and docs, examples and the demo import nothing else."""

from __future__ import annotations

import ast
import pydoc
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import remit

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
BLOCK = re.compile(r"^( *)```(?:python|py)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
EXAMPLES = sorted(ROOT.glob("examples/**/*.py"))


def imported(code: str) -> Iterator[str]:
    """What a program imports of Remit: `remit.Guard`, `remit.enforce.guard.Guard`, `remit.enforce`."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "remit":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] == "remit")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "remit":
            yield f"remit.{node.attr}"


def programs() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        text = page.read_text("utf-8")
        for match in BLOCK.finditer(text):
            yield f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}", textwrap.dedent(match[2])
    for file in EXAMPLES:
        yield str(file.relative_to(ROOT)), file.read_text("utf-8")


def test_docs_and_examples_import_only_what_is_public():
    public = {"remit", "remit.testing", *(f"remit.{name}" for name in remit.__all__)}
    found = {where: set(imported(code)) for where, code in programs()}
    assert len(found) > 8
    assert {"remit.Guard", "remit.Call"} <= set().union(*found.values())
    assert {where: names - public for where, names in found.items() if names - public} == {}


def test_the_page_lists_exactly_what_is_public():
    page = (ROOT / "docs" / "api.md").read_text("utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", page, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(remit.__all__)


@pytest.mark.parametrize("name", remit.__all__)
def test_every_name_is_there_and_says_what_it_is(name: str):
    found = getattr(remit, name)
    assert name in dir(remit)
    if isinstance(found, type) or callable(found):
        assert found.__doc__ or name in ("Shell", "Sql", "Url", "Glob", "FilePath", "Agent", "Skill")


def test_help_shows_it():
    text = pydoc.plain(pydoc.render_doc(remit))
    assert "Guard" in text
    assert "class CallDenied" in text
    assert "load_rulebook(" in text


def test_nothing_else_is_there():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        remit.nothing  # noqa: B018


def test_importing_it_loads_nothing():
    code = "import sys; import remit; print(*(n for n in sys.modules if n.split('.')[0] in ('remit', 'msgspec')))"
    ran = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["remit"]


def test_the_example_in_its_docstring_works(tmp_path: Path):
    """The first thing that `help(remit)` shows, as a program."""
    code = (remit.__doc__ or "").split("\n\n", 1)[1].split("\n\nEverything")[0]
    project = tmp_path / "project"
    (project / "research").mkdir(parents=True)
    (project / "program.py").write_text(code)
    ran = subprocess.run(
        [sys.executable, "program.py"],
        cwd=project,
        env={"XDG_STATE_HOME": str(tmp_path / "state"), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == "write_file is limited to research/*.md for researcher\n"
    assert (project / "research" / "a.md").read_text() == "x"
