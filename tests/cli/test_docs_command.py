"""`remit docs` as people type it, and the way back: what it writes, `remit init` reads."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from remit.compile import build_rulebook, load_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.draft.from_survey import draft_from
from remit.explain.matrix import callers_of, cell_for, tools_of
from remit.explain.regions import written
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


@pytest.mark.parametrize("more", [(), ("--check",), ("README.md",)])
def test_without_a_region_it_says_how_to_make_one(remit: Remit, more: tuple[str, ...]) -> None:
    remit.policy(POLICY)
    (remit.folder / "README.md").write_text("# Ours\n", "utf-8")
    ran = remit("docs", *more)
    assert (ran.code, ran.err) == (0, "")
    assert "no document has a region; put `<!-- remit:matrix -->`" in ran.out


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
        ("a\n<!-- /remit -->\n", "line 2: <!-- /remit --> ends no region"),
        ("a <!-- remit:matrix --> b <!-- /remit -->", "line 1: the mark can't be understood"),
        ("<!-- REMIT:matrix -->\n<!-- /REMIT -->", "line 1: the mark can't be understood"),
        ("<!-- remit:matrix\n-->x\n<!-- /remit -->", "line 1: the mark can't be understood"),
        ("<!-- remit:matrix -->\nmine\n```\n<!-- /remit -->\n```\n", "line 1: the region has no end"),
        ("<!-- remit:agent scuot -->\n<!-- /remit -->", "did you mean `scout`"),
    ],
)
def test_marks_that_are_wrong(remit: Remit, page: Path, text: str, said: str):
    page.write_text(text)
    ran = remit("docs")
    assert ran.code == 2
    assert said in ran.err
    assert page.read_text() == text


@pytest.mark.parametrize(
    "text",
    [
        "```md\n<!-- remit:matrix -->\n```\n",
        "```md\n<!-- remit:matrix -->\n<!-- /remit -->\n",
        "Put `<!-- remit:matrix -->` and `<!-- /remit -->` there.\n",
    ],
)
def test_marks_in_code_are_examples(remit: Remit, page: Path, text: str):
    page.write_text(text)
    assert remit("docs").code == 0
    assert page.read_text() == text


def test_a_document_with_two_names_is_written_once(remit: Remit, page: Path):
    link = remit.folder / "CLAUDE.md"
    link.symlink_to(page.name)
    assert remit("docs").out.count("regions written") == 1
    assert link.is_symlink()
    assert remit("docs", "--check", "CLAUDE.md").code == 0


def test_documents_that_are_not_ours_to_write(remit: Remit, page: Path, tmp_path_factory: pytest.TempPathFactory):
    outside = tmp_path_factory.mktemp("outside") / "notes.md"
    outside.write_bytes(PAGE.encode())
    (remit.folder / "LINK.md").symlink_to(outside)
    ran = remit("docs", "LINK.md")
    assert (ran.code, "leads out of the project" in ran.err) == (2, True)
    (remit.folder / "A.md").write_bytes(PAGE.encode())
    page.chmod(0o444)
    ran = remit("docs")
    assert (ran.code, "TEAM.md` is read-only; nothing was written" in ran.err) == (2, True)
    assert {path.read_bytes() for path in (outside, page, remit.folder / "A.md")} == {PAGE.encode()}


def test_a_document_that_changes_meanwhile_is_kept(remit: Remit, page: Path, monkeypatch: pytest.MonkeyPatch):
    def edited(*given: object) -> object:
        page.write_text("somebody's edit")
        return written(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("remit.cli.docs.written", edited)
    ran = remit("docs")
    assert (ran.code, "was changed meanwhile" in ran.err) == (2, True)
    assert page.read_text() == "somebody's edit"


def test_words_of_a_policy_are_neither_marks_nor_tags(remit: Remit, page: Path):
    scopes = ["<!-- /remit -->/**", "<script>x</script>/**", "<!-- remit:matrix -->"]
    remit.policy(POLICY.replace('["notes/*.md", "research/**"]', str(scopes)))
    marks = ("matrix", "sections", "agent scout", "prompt scout")
    page.write_text("".join(f"<!-- remit:{mark} -->\n<!-- /remit -->\n" for mark in marks) + "mine\n")
    assert remit("docs").code == 0
    text = page.read_text()
    assert (text.count("<!-- /remit -->"), text.count("<!-- remit:"), text.endswith("mine\n")) == (4, 4, True)
    assert "<script" not in text.replace("\\<", "")
    assert remit("docs", "--check").code == 0


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


ROOT = Path(__file__).parents[2]
POLICIES = [*sorted(ROOT.glob("examples/*/remit.yaml")), *sorted((ROOT / "src/remit/catalog/teams").glob("*.yaml"))]


@pytest.mark.parametrize(
    "policy",
    [path for path in POLICIES if ".test." not in path.name],
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_the_way_back_is_never_wider(policy: Path, tmp_path: Path):
    """What Remit writes contradicts nothing, names every agent, and gives a draft that allows no more."""
    before = load_rulebook(policy)
    (tmp_path / "TEAM.md").write_text(written(before, PAGE.replace("\r\n", "\n"))[0])
    survey = scan(str(tmp_path), today=datetime.date(2026, 11, 18))
    assert [one for one in survey.findings if one.weight == "error"] == []
    callers = callers_of(before, everyone=False)
    assert {agent.name for agent in survey.agents} == set(callers)
    draft = draft_from(survey)
    assert draft is not None
    after = build_rulebook(plain(parse(draft.policy, "draft")))
    rank = {"❌": 0, "✋": 1, "🔒": 2, "✅": 3}
    wider = [
        (caller, tool)
        for caller in callers
        for tool in tools_of(before)
        if caller in after.book.callers and tool in after.book.tools
        if rank[cell_for(after, caller, tool).symbol] > rank[cell_for(before, caller, tool).symbol]
    ]
    assert wider == []
