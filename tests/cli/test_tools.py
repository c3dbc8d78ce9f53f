"""`remit tools`: what an agent can see."""

from __future__ import annotations

from pathlib import Path

from tests.cli.kit import Remit

POLICY = """\
remit: 1
use: [claude-code]
agents:
  a: {may: [Read, {Write: {path: "notes/**"}}], must_ask: [{Edit: {path: "docs/**"}}]}
  b: {may: []}
"""


def test_tools_with_arguments_and_limits(remit: Remit) -> None:
    remit.policy(POLICY)
    ran = remit("tools", "--agent", "a")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert "🔒 Write(file_path, content)" in lines
    assert lines[lines.index("🔒 Write(file_path, content)") + 1] == "    path notes/**"
    assert [line.partition("(")[0].split()[-1] for line in lines[1:] if not line.startswith(" ")] == [
        "Read",
        "Write",
        "Edit",
    ]


def test_the_same_for_a_program(remit: Remit) -> None:
    remit.policy(POLICY)
    found = remit("tools", "--agent", "a", "--json").json
    by = {one["name"]: one for one in found["tools"]}
    assert {name: one["verdict"] for name, one in by.items()} == {"Read": "allow", "Write": "allow", "Edit": "ask"}
    assert by["Write"]["args"] == {
        "file_path": {"kind": "path", "optional": False},
        "content": {"kind": "text", "optional": False},
    }
    assert remit("tools", "--agent", "b", "--json").json["tools"] == []
    assert "b can see no tool" in remit("tools", "--agent", "b").out
    assert remit("tools", "--agent", "c").code == 2


def test_tools_and_who_can_say_them_too(remit: Remit):
    remit.policy((Path(__file__).parents[1] / "explain" / "limits.yaml").read_text("utf-8"))
    assert "git (status, log, commit; effects read, write)" in remit("tools", "--agent", "a").out
    assert "select orders, crm.* (of orders only id, total)" in remit("who-can", "db").out
    limits = {one["name"]: one["limits"] for one in remit("tools", "--agent", "a", "--json").json["tools"]}
    assert limits["Bash"].count("data tiers 0, 1") == 1
