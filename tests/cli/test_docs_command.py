"""`remit docs` as people type it, and the way back: what it writes, `remit init` reads."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from remit.compile import build_rulebook, load_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.draft.from_survey import draft_from
from remit.forms.texts import plain
from remit.model.call import Call
from remit.model.facts import Facts
from remit.scan.survey import scan
from tests.cli.kit import Remit

POLICY = """
remit: 1
use: [vscode]
agents:
  scout:
    may: [read_file, list_dir, create_file: {path: ["notes/*.md", "research/**"]}]
  smith:
    may: [read_file, create_file, replace_string_in_file]
  judge:
    may: [read_file]
"""
PAGE = (
    "# Team\r\n\r\nOurs.\r\n<!-- remit:matrix -->\r\n<!-- /remit -->\r\n\r\n"
    "<!-- remit:sections -->\r\nold\r\n<!-- /remit -->\r\nend"
)


@pytest.fixture
def page(remit: Remit) -> Path:
    remit.policy(POLICY)
    path = remit.folder / "TEAM.md"
    path.write_bytes(PAGE.encode())
    return path


def test_only_the_regions_change(remit: Remit, page: Path):
    ran = remit("docs", "--check")
    assert ran.code == 1
    assert "2 regions out of date" in ran.out
    assert page.read_bytes() == PAGE.encode()
    assert remit("docs").code == 0
    text = page.read_bytes().decode()
    assert text.startswith("# Team\r\n\r\nOurs.\r\n<!-- remit:matrix -->\r\n| Tool | scout | smith | judge |\r\n")
    assert text.endswith("<!-- /remit -->\r\nend")
    assert "\n" not in text.replace("\r\n", "")
    assert remit("docs", "--check").code == 0
    remit.policy(POLICY.replace("judge:\n    may: [read_file]", "judge:\n    may: [read_file, list_dir]"))
    assert remit("docs", "--check", "--json").json == {"stale": [page.name]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<!-- remit:matrix -->\n", "line 1: the region has no end"),
        ("x\n<!-- remit:matrix -->\n<!-- remit:sections -->\n<!-- /remit -->", "line 2: the region has no end"),
        ("<!-- remit:matrx -->\n<!-- /remit -->", "no region `matrx`"),
        ("<!-- remit:prompt -->\n<!-- /remit -->", "needs the name of an agent"),
        ("<!-- remit:matrix scout -->\n<!-- /remit -->", "takes no name"),
        ("<!-- remit:agent scuot -->\n<!-- /remit -->", "did you mean `scout`"),
    ],
)
def test_marks_that_are_wrong(remit: Remit, page: Path, text: str, said: str):
    page.write_text(text)
    ran = remit("docs")
    assert ran.code == 2
    assert said in ran.err
    assert page.read_text() == text


def test_marks_in_code_are_examples(remit: Remit, page: Path):
    text = "```md\n<!-- remit:matrix -->\n```\n"
    page.write_text(text)
    assert remit("docs").code == 0
    assert page.read_text() == text


def test_what_to_enable(remit: Remit, page: Path):
    ran = remit("docs", "--session", "judge")
    assert ran.code == 0
    assert "enable:    read_file\n" in ran.out
    assert "**You MAY NOT use**" in ran.out


def test_the_way_back(remit: Remit, page: Path):
    """A document that Remit wrote becomes a policy that decides the same, for all that such a document can say."""
    assert remit("docs").code == 0
    survey = scan(str(page), today=datetime.date(2026, 11, 18))
    draft = draft_from(survey)
    assert draft is not None
    before, after = load_rulebook(remit.folder / "remit.yaml"), build_rulebook(plain(parse(draft.policy, "draft")))
    paths = ["notes/a.md", "notes/b/c.md", "research/x/y", "src/a.py", "../out", "remit.yaml", ".git/hooks/x"]
    calls = [
        Call(agent=agent, tool=tool, args=args)
        for agent in ("scout", "smith", "judge")
        for path in paths
        for tool, args in (
            ("read_file", {"filePath": f"/work/{path}"}),
            ("list_dir", {"path": f"/work/{path}"}),
            ("create_file", {"filePath": f"/work/{path}", "content": "x"}),
            ("replace_string_in_file", {"filePath": f"/work/{path}", "oldString": "a", "newString": "b"}),
            ("run_in_terminal", {"command": "ls"}),
        )
    ]
    facts = Facts(root="/work")
    differ = [call for call in calls if decide(before, call, facts).verdict is not decide(after, call, facts).verdict]
    assert differ == []
    assert {decide(before, call, facts).verdict.word for call in calls} == {"allow", "deny"}
