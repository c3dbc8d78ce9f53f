"""`remit report`, `remit who-can` and `remit schema`."""

from __future__ import annotations

import pytest

from tests.cli.kit import Remit


def test_a_report(remit: Remit):
    ran = remit("report", "reader")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == (
        "policy: remit.yaml\n"
        "# Access report for reader\n"
        "\n"
        "**Summary**: 2/7 tools accessible (29 %)\n"
        "\n"
        "**Roles**: everyone\n"
        "\n"
        "**By layer**:\n"
        "- atomic: 1 tool\n"
        "- no layer: 1 tool\n"
        "\n"
        "**Accessible tools**:\n"
        "- read (atomic/Files) ✅\n"
        "- log ✅\n"
    )


def test_statistics(remit: Remit):
    assert "- accessible: 2 (29 %)\n- denied: 5\n" in remit("report", "reader", "--stats").out
    assert remit("report", "reader", "--stats", "--json").json == {
        "agent": "reader",
        "tools": 7,
        "accessible": 2,
        "denied": 5,
        "percentage": 28.6,
        "by_layer": {"atomic": 1, "no layer": 1},
    }


def test_for_everybody(remit: Remit):
    names = ["reader", "writer", "boss", "keeper", "everyone", "quiet", "Shipper"]
    assert [one["agent"] for one in remit("report", "--all", "--json").json] == names
    assert remit("report", "--all").out.count("# Access report for ") == len(names)


def test_a_report_for_programs(remit: Remit):
    found = remit("report", "writer", "--json").json
    assert found["cells"][1] == {
        "tool": "write",
        "layer": "atomic",
        "category": "Files",
        "risk": None,
        "symbol": "🔒",
        "verdict": "allow",
        "scopes": ["path docs/**"],
        "in_full": ["path docs/**"],
        "rules": ["remit.yaml:28:9"],
        "why": None,
        "limits": [],
    }


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("report",), "remit: name one AGENT, or say --all\n"),
        (("report", "reader", "--all"), "remit: either AGENT or --all, not both\n"),
        (("report", "raeder"), "remit: unknown agent `raeder`; did you mean `reader`?\n"),
        (
            ("report", "\x1b[31m"),
            "remit: unknown agent `\\x1b[31m`; there is reader, writer, boss, keeper, everyone, quiet, Shipper\n",
        ),
        (("who-can",), "remit: missing argument 'TOOL'; see `remit who-can --help`\n"),
        (("who-can", "wriet"), "remit: unknown tool `wriet`; did you mean `write`?\n"),
        (
            ("who-can", "write", "--args", "1"),
            (
                "remit: --args: expected a JSON object, got `1`\n"
                '    quote it for the shell, with double quotation marks inside: --args \'{"name": "value"}\'\n'
            ),
        ),
    ],
)
def test_bad_usage(remit: Remit, args: tuple[str, ...], said: str):
    ran = remit(*args)
    assert (ran.code, ran.err) == (2, said)


def test_who_can(remit: Remit):
    assert remit("who-can", "write").out == (
        "policy: remit.yaml\n"
        "write: 2 of 7 agents, roles and runners\n"
        "  🔒 writer (agent): path docs/**\n"
        "  ✋ boss (agent): ask human: path docs/**\n"
        "not: reader, keeper, everyone, quiet, Shipper\n"
    )


def test_who_can_under_another_name(remit: Remit):
    assert "✅ reader (agent)" in remit("who-can", "cat").out


def test_who_can_with_arguments_is_decided(remit: Remit):
    ran = remit("who-can", "write", "--args", '{"file": "docs/a", "text": ""}')
    assert ran.out.splitlines()[:4] == [
        "policy: remit.yaml",
        "write: 2 of 7 agents, roles and runners, decided call by call with these arguments",
        "  ✅ writer (agent)",
        "  ✋ boss (agent): boss must ask human before write",
    ]
    assert "  ❌ reader (agent): reader may not use write\n" in ran.out


def test_who_can_for_programs(remit: Remit):
    found = remit("who-can", "write", "--arg", "file=src/a", "--arg", "text=", "--json").json
    assert found["by"] == "decision"
    assert {one["name"]: one["verdict"] for one in found["callers"]}["boss"] == "allow"
    assert found["callers"][0]["decision"]["code"] == "not-permitted"
    assert remit("who-can", "write", "--json").json["by"] == "policy"


def test_the_schema(remit: Remit):
    ran = remit("schema")
    assert (ran.code, ran.err) == (0, "")
    assert ran.json["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_the_text_for_a_prompt(remit: Remit):
    text = remit("report", "writer", "--instructions").out
    assert "You are `writer`." in text
    assert "**You MAY use**\n\n- read\n- write: path docs/**\n" in text
    may_not = text.partition("**You MAY NOT use**")[2]
    cells = remit("report", "writer", "--json").json["cells"]
    assert [cell["tool"] for cell in cells if cell["verdict"] == "deny"] == may_not.strip().removeprefix("- ").split(
        ", "
    )
    assert remit("report", "writer", "--instructions", "--json").code == 2
