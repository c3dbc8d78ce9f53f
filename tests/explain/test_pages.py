"""The matrix as a document: whole outputs compared, and nothing in them that acts."""

from __future__ import annotations

import csv
import io
import json
import os
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from remit.compile import load_rulebook
from remit.explain.cells import MatrixCell
from remit.explain.matrix import Matrix, chosen_tools, make_matrix
from remit.explain.matrix_page import html_page
from remit.explain.pages import comma_separated, markdown
from remit.model.rulebook import Rulebook
from tests.explain.kit import POLICY

GOLDEN = Path(__file__).parent / "golden"


@pytest.fixture
def rulebook(tmp_path: Path) -> Rulebook:
    path = tmp_path / "remit.yaml"
    path.write_text(POLICY, "utf-8")
    return load_rulebook(path)


def as_json(matrix: Matrix, *, transpose: bool = False) -> str:
    return msgspec.json.format(msgspec.json.encode(matrix.as_json()), indent=2).decode() + "\n"


@pytest.mark.parametrize(
    ("name", "page", "transpose"),
    [
        ("matrix.md", markdown, False),
        ("matrix.html", html_page, False),
        ("matrix.csv", comma_separated, False),
        ("matrix.json", as_json, False),
        ("transposed.md", markdown, True),
    ],
)
def test_whole_outputs(rulebook: Rulebook, name: str, page, transpose: bool):
    """REMIT_GOLDEN=1 writes them anew; the difference is then for a person to read."""
    text = page(make_matrix(rulebook), transpose=transpose).replace(rulebook.hash, "sha256:HASH")
    if os.environ.get("REMIT_GOLDEN") == "1":
        (GOLDEN / name).write_text(text, "utf-8")
    assert text == (GOLDEN / name).read_text("utf-8")


EVIL = '=cmd|"/c calc"!A1<script>alert(1)</script>`|\x1b[31m\u202e\n# x'


@pytest.fixture
def evil() -> Matrix:
    """Names that the loader would refuse, and a scope with somebody's text in it."""
    cell = MatrixCell("🔒", scopes=(EVIL,), why=EVIL)
    return Matrix(EVIL, "sha256:x", (EVIL,), (EVIL,), {EVIL: {EVIL: cell}}, (EVIL,))


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.scripts = 0

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.scripts += tag == "script"
        self.attributes.update(name for name, _ in attrs)


@pytest.mark.parametrize("page", [markdown, html_page, comma_separated])
def test_no_text_steers_a_terminal(evil: Matrix, page):
    text = page(evil)
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_no_text_becomes_markup_in_html(evil: Matrix):
    parser = Tags()
    parser.feed(html_page(evil))
    assert parser.scripts == 2  # the page's own, and its data
    assert not {name for name in parser.attributes if name.startswith("on")}
    assert not parser.attributes & {"src", "href"}


def test_no_text_becomes_markup_in_markdown(evil: Matrix):
    text = markdown(evil)
    assert "<script" not in text.replace("\\<", "")
    rows = [line for line in text.splitlines() if line.startswith(("| Tool", "| =cmd"))]
    assert [line.replace("\\|", "").count("|") for line in rows] == [3, 3]


def test_no_text_becomes_a_formula(evil: Matrix):
    rows = list(csv.reader(io.StringIO(comma_separated(evil))))
    assert [len(row) for row in rows] == [2, 2]
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_a_page_can_be_read_aloud(rulebook: Rulebook):
    page = html_page(make_matrix(rulebook))
    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert page.count('<th scope="row">') == 7
    assert page.count('<th scope="col"') == 5
    assert page.count('aria-hidden="true"') == page.count('<span class="words"') == 28


def test_a_cell_has_its_lines_and_examples(rulebook: Rulebook):
    page = html_page(make_matrix(rulebook), rulebook=rulebook, quote=lambda place: [f"> {place} | it"])
    data = json.loads(page.partition('id="cells">')[2].partition("</script>")[0])
    assert len(data["cells"]) == 28
    cell = next(one for one in data["cells"].values() if (one["who"], one["tool"]) == ("writer", "write"))
    assert cell == {
        "who": "writer",
        "tool": "write",
        "symbol": "🔒",
        "verdict": "allowed with a scope",
        "limits": ["path docs/**"],
        "rules": ["remit.yaml:28:9"],
        "allowed": [[f'{{"file":"docs/{name}","text":"x"}}', ""] for name in ("x", "remit-probe", "7")],
        "denied": cell["denied"],
    }
    assert ['{"file":".env","text":"x"}', "write is limited to docs/** for writer"] in cell["denied"] or any(
        "../other/x" in args and "leaves the root" in why for args, why in cell["denied"]
    )
    assert data["lines"]["remit.yaml:28:9"] == ["> remit.yaml:28:9 | it"]


def test_a_transposed_page_opens_the_same_cells(rulebook: Rulebook):
    matrix = make_matrix(rulebook)
    page = html_page(matrix, transpose=True)
    data = json.loads(page.partition('id="cells">')[2].partition("</script>")[0])
    for row, caller in enumerate(matrix.callers):
        for column, tool in enumerate(matrix.tools):
            assert (data["cells"][f"{row}-{column}"]["who"], data["cells"][f"{row}-{column}"]["tool"]) == (caller, tool)


def test_tools_are_chosen_by_name_alias_set_and_pattern(rulebook: Rulebook):
    assert chosen_tools(rulebook, ["cat", "w*", "files", "raed"]) == (["read", "write", "wipe"], ["raed"])
