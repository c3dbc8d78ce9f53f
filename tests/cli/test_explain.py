"""`remit explain`: the trace, with the line of the policy as it stands in the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from remit.cli.quote import quote, quoting
from tests.cli.kit import Remit


def test_an_explanation_quotes_the_rule(remit: Remit):
    ran = remit("explain", "--agent", "writer", "--tool", "write", "--arg", "file=docs/a", "--arg", "text=")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("policy: remit.yaml\n✅ allow: allowed\n")
    assert (
        "rule      remit.yaml:28:9\n"
        "            27 |       - [read, fetch]\n"
        '          > 28 |       - write: {path: "docs/**"}\n'
        "            29 |       - term: {shell: {run: [git, {sqlite3: {db: x.db}}]}}\n"
        "            30 |   boss:\n"
    ) in ran.out


def test_a_deny_quotes_what_comes_nearest(remit: Remit):
    ran = remit("explain", "--call", '{"agent": "writer", "tool": "write", "args": {"file": "a", "text": ""}}')
    assert "not by    remit.yaml:28:9\n" in ran.out
    assert "what would make it pass:\n" in ran.out
    assert "\nsteps:\n" in ran.out


def test_a_rule_of_a_pack_is_quoted_from_the_pack(remit: Remit):
    remit.policy("remit: 1\nuse: [vscode]\nagents: {a: {may: [read_file]}}\n")
    ran = remit("explain", "--agent", "a", "--tool", "read_file", "--arg", "nothing=1")
    assert "rule      pack vscode:" in ran.out
    assert "          > " in ran.out


def test_an_included_rule_is_quoted_from_its_file(remit: Remit):
    remit.policy("remit: 1\ninclude: [parts/a.yaml]\n")
    part = "remit: 1\ntools: {t: {does: nothing}}\nagents:\n  a:\n    may: [t]\n"
    remit.policy(part, "parts/a.yaml")
    ran = remit("explain", "--agent", "a", "--tool", "t")
    assert "rule      parts/a.yaml:5:" in ran.out
    assert "> 5 |     may: [t]" in ran.out


def test_for_programs(remit: Remit):
    ran = remit("explain", "--agent", "reader", "--tool", "read", "--arg", "file=a", "--json")
    assert ran.err == "policy: remit.yaml\n"
    assert ran.json["decision"] == "allow"
    assert ran.json["tier_reason"] == "reads: nothing changes"
    assert list(ran.json["quotes"]) == [ran.json["rule"]]


@pytest.mark.parametrize(
    "rule",
    [
        None,
        "",
        "tiers.3",
        "remit.yaml",
        "remit.yaml:x:1",
        "remit.yaml:0:1",
        "remit.yaml:9999:1",
        "missing.yaml:1:1",
        ".:1:1",
        "pack nothing:1:1",
        "pack ../tiers:1:1",
        "a\0b:1:1",
        "remit.yaml:" + "9" * 5_000 + ":1",
    ],
)
def test_what_cannot_be_quoted_is_left_out(remit: Remit, tmp_path: Path, rule: str | None):
    assert quote(tmp_path / "remit.yaml", rule) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_a_pipe_in_place_of_the_policy_does_not_hang(tmp_path: Path):
    os.mkfifo(tmp_path / "remit.yaml")
    assert quote(tmp_path / "remit.yaml", "remit.yaml:1:1") == []


def test_of_a_long_line_the_part_around_the_place_is_quoted(tmp_path: Path):
    path = tmp_path / "remit.yaml"
    path.write_text("a: 1\n" + "x" * 300 + " here: 2 " + "y" * 300 + "\n", "utf-8")
    lines = quote(path, "remit.yaml:2:302")
    assert lines == ["  1 | a: 1", f"> 2 | …{'x' * 59} here: 2 {'y' * 92}…", "  3 |"]
    assert quoting(path)("remit.yaml:2:302") == lines


def test_quoted_text_steers_nothing(tmp_path: Path):
    path = tmp_path / "remit.yaml"
    path.write_text("a\n# \x1b[31m \u202e " + "x" * 1_000 + "\r\nb", "utf-8")
    lines = quote(path, "remit.yaml:2:1")
    assert not [c for line in lines for c in line if not c.isprintable()]
    assert max(map(len, lines)) < 250
