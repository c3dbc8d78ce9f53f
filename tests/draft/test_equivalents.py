"""`remit init --host`: a list of tools for one host in the words of another, never wider than it was."""

import itertools
from pathlib import Path

import pytest

from remit import catalog
from remit.compile import build_rulebook
from remit.declare.load import read_pack
from remit.declare.nodes import parse
from remit.draft.equivalents import Granted, _table, meanings, translated
from remit.forms.texts import plain
from remit.scan.model import Place
from tests.cli.kit import Remit

HERE = Place("AGENTS.md", 1)
TOOLS, IMPLIES = _table()
MATRIX = """\
| Tool | Researcher | Writer | Reviewer |
|---|---|---|---|
| read_file | ✅ | ✅ | ✅ |
| list_dir | ✅ | ✅ | ❌ |
| grep_search | ✅ | ✅ | ✅ |
| create_file | 🔒 `research/*.yaml` | ✅ | ❌ |
| replace_string_in_file | ❌ | ✅ | ❌ |
| run_in_terminal | ❌ | ✅ | ❌ |
"""


def test_every_tool_of_the_table_is_one_of_its_pack():
    assert sorted(TOOLS) == sorted([*catalog.hosts(), "vscode"])
    for pack, rows in TOOLS.items():
        assert {row.tool for row in rows} <= read_pack(pack).keys(), pack


def test_what_the_table_gives_is_what_the_packs_say():
    """A tool that gives nothing but looking has no effect but reading; one that writes says so."""
    look, effects = {"read", "list", "find", "search", "ask", "plan"}, {"create": "write", "edit": "write"}
    for pack, rows in TOOLS.items():
        for row in rows:
            tool = read_pack(pack)[row.tool]
            does = {one.effect for one in tool.does}
            if row.gives <= look and row.shell is None:
                assert does <= {"read"}, (pack, row)
            if row.gives & effects.keys():
                assert "write" in does, (pack, row)
            if "delete" in does and row.effect is None:
                assert "delete" in row.gives, (pack, row)


@pytest.mark.parametrize("pack", TOOLS)
@pytest.mark.parametrize("source", TOOLS)
def test_nothing_gets_wider(source, pack):
    """Whatever set of tools is granted: all that the translation gives was granted, or follows from it."""
    names = list(dict.fromkeys(row.tool for row in TOOLS[source]))
    for granted in itertools.chain(itertools.combinations(names, 1), itertools.combinations(names, 2), [tuple(names)]):
        words = {word for tool in granted for word in meanings(tool)}
        follows = words | {more for word in words for more in IMPLIES.get(word, ())}
        found, left = translated([Granted(tool, None, HERE) for tool in granted], pack)
        assert all(one.equal.gives <= follows for one in found)
        assert {one.tool for one in left} <= set(granted)


def test_limits_that_differ_are_not_joined():
    found, left = translated(
        [Granted("create_file", "a/**", HERE), Granted("replace_string_in_file", None, HERE)], "codex"
    )
    assert [(one.equal.tool, one.equal.new_only, one.sources[0].limit) for one in found] == []
    assert [one.tool for one in left] == ["create_file", "replace_string_in_file"]


def test_what_is_denied_follows_from_nothing():
    granted = [Granted("read_file", None, HERE)]
    assert [one.equal.tool for one in translated(granted, "copilot-cli")[0]] == ["view"]
    assert translated(granted, "copilot-cli", ["list_dir"]) == ([], granted)


EXPECTED = {
    "copilot-cli": {
        "Researcher": ["view", "glob", "grep", {"create": {"path": ["research/*.yaml"]}}],
        "Writer": ["view", "glob", "grep", "create", "edit", {"apply_patch": {"effect": "write"}}, "bash"],
        "Reviewer": ["glob", "grep"],
    },
    "codex": {
        "Researcher": [
            {"Bash": {"shell": {"sets": ["inspect"]}}},
            {"apply_patch": {"path": {"allow": ["research/*.yaml"], "new_only": True}, "effect": "write"}},
        ],
        "Writer": ["Bash", {"apply_patch": {"effect": "write"}}],
        "Reviewer": [],
    },
    "claude-code": {
        "Researcher": ["Read", "Glob", "Grep", {"Write": {"path": {"allow": ["research/*.yaml"], "new_only": True}}}],
        "Writer": ["Read", "Glob", "Grep", "Write", "Edit", "Bash"],
        "Reviewer": ["Read", "Grep"],
    },
}


@pytest.mark.parametrize("host", EXPECTED)
def test_a_matrix_of_vs_code(host, tmp_path: Path, monkeypatch, capsys):
    (tmp_path / "AGENTS.md").write_text(MATRIX)
    monkeypatch.chdir(tmp_path)
    remit = Remit(tmp_path, capsys, monkeypatch)
    said = remit("init", "--host", host)
    assert said.code == 0
    data = plain(parse((tmp_path / "remit.yaml").read_text(), "remit.yaml"))
    build_rulebook(data)
    for name, rules in EXPECTED[host].items():
        entries = data["agents"][name]["may"]
        assert [one for entry in entries for one in (entry if isinstance(entry, list) else [entry])] == rules
    assert ("`read_file`" in said.out) == (host != "claude-code")
    assert remit("check").code == 0
