"""`remit matrix`, in the terminal and as documents."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.kit import Remit

TABLE = """\
policy: remit.yaml
Tool    reader   writer   boss   keeper
───────────────────────────────────────
read      ✅       ✅      🔒      ❌
write     ❌       🔒      ✋      ❌
fetch     ❌       ❌      ✅      ❌
term      ❌       🔒      ✅      ❌
ship      ❌       ❌      ❌      ❌
wipe      ❌       ❌      ❌      ✋
log       ✅       ✅      ✅      ❌

✅ allowed · 🔒 allowed with a scope · ✋ must ask · ❌ denied

scopes:
  writer write 🔒 path docs/**
  writer term 🔒 shell git, sqlite3 (of x.db); not effect network
  boss read 🔒 not path secrets/**
  boss write ✋ ask human: path docs/**
  keeper wipe ✋ ask human: confirmed each time
"""


def test_the_table(remit: Remit):
    ran = remit("matrix")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == TABLE


def test_the_matrix_of_forge_pipeline_is_the_documents():
    """Seed 000, cell by cell; runSubagent stands in the orchestrator's section only."""
    from remit.compile import load_rulebook
    from remit.explain.matrix import make_matrix

    seed = {
        "read_file": "✅✅✅✅✅✅✅✅✅",
        "list_dir": "✅✅✅✅✅✅✅✅✅",
        "grep_search": "❌✅✅✅✅✅✅✅✅",
        "semantic_search": "❌✅✅✅✅✅❌✅✅",
        "file_search": "❌✅✅✅✅✅✅✅✅",
        "create_file": "❌🔒✅✅✅✅🔒✅✅",
        "replace_string_in_file": "❌❌✅✅✅✅❌❌✅",
        "multi_replace_string_in_file": "❌❌❌❌❌✅❌❌❌",
        "run_in_terminal": "🔒❌❌❌❌✅✅🔒🔒",
        "get_terminal_output": "✅❌❌❌❌✅✅❌❌",
        "get_errors": "❌❌❌❌❌✅✅❌❌",
        "memory": "✅❌❌❌❌❌❌❌✅",
        "ask_questions": "✅❌🔒❌❌❌❌❌❌",
        "list_code_usages": "❌❌❌❌❌✅❌❌❌",
        "runSubagent": "✅❌❌❌❌❌❌❌❌",
    }
    path = Path(__file__).parents[2] / "examples" / "forge-pipeline" / "remit.yaml"
    matrix = make_matrix(load_rulebook(path))
    assert {tool: "".join(c.symbol for c in row.values()) for tool, row in matrix.cells.items()} == seed


@pytest.mark.parametrize(
    ("args", "first"),
    [
        (("--format", "md"), "# Tool access matrix of small"),
        (("--format", "html"), "<!doctype html>"),
        (("--format", "csv"), "Tool,reader,writer,boss,keeper"),
        (("--format", "csv", "--all"), "Tool,reader,writer,boss,keeper,everyone,quiet,Shipper"),
        (("--format", "csv", "--agents", "boss, Shipper"), "Tool,boss,Shipper"),
        (("--format", "csv", "--tools", "cat,w*", "--transpose"), "Agent,read,write,wipe"),
        (("--format", "json"), "{"),
        (("--json",), "{"),
    ],
)
def test_documents_leave_stdout_to_themselves(remit: Remit, args: tuple[str, ...], first: str):
    ran = remit("matrix", *args)
    assert (ran.code, ran.err) == (0, "policy: remit.yaml\n")
    assert ran.out.splitlines()[0] == first


def test_json(remit: Remit):
    found = remit("matrix", "--format", "json").json
    assert remit("matrix", "--json").json == found
    assert found["cells"]["write"]["writer"] == {
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
        (("--agents", "raeder"), "remit: unknown agent `raeder`; did you mean `reader`?\n"),
        (("--tools", "wriet"), "remit: unknown tool `wriet`; did you mean `write`?\n"),
        (
            ("--tools", "\x1b"),
            "remit: unknown tool `\\x1b`; there is read, write, fetch, term, ship, wipe, log, files\n",
        ),
        (("--format", "pdf"), "remit: invalid value for '--format': 'pdf' is not one of "),
        (("--now", "x"), "remit: --now: `x` is not a moment\n"),
    ],
)
def test_bad_usage(remit: Remit, args: tuple[str, ...], said: str):
    ran = remit("matrix", *args)
    assert ran.code == 2
    assert ran.err.startswith(said)


def test_a_policy_of_roles_only(remit: Remit):
    remit.policy("remit: 1\ntools: {t: {does: nothing}}\nroles: {r: {may: [t]}}\n")
    assert remit("matrix", "--format", "csv").out == "Tool,r\nt,✅\n"


def test_a_policy_of_nobody(remit: Remit):
    remit.policy("remit: 1\n")
    ran = remit("matrix")
    assert ran.code == 0
    assert "✅ allowed" in ran.out


class Terminal:
    """Stdout that says it is a terminal of this width."""

    def __init__(self, patch: pytest.MonkeyPatch, columns: int) -> None:
        patch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        patch.setattr(shutil, "get_terminal_size", lambda *args: os.terminal_size((columns, 24)))
        patch.setenv("TERM", "xterm")
        patch.delenv("NO_COLOR", raising=False)


def test_colours_only_on_a_terminal(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    Terminal(monkeypatch, 80)
    assert "\x1b[" in remit("matrix").out
    assert "\x1b[31m" in remit("decide", "--agent", "x", "--tool", "y").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in remit("matrix").out
    assert "\x1b[" not in remit("decide", "--agent", "x", "--tool", "y").out


@pytest.mark.sample(7)
@pytest.mark.parametrize("columns", [10, *range(16, 42), 200])
def test_a_narrow_terminal_gets_several_tables(remit: Remit, monkeypatch: pytest.MonkeyPatch, columns: int):
    from rich.cells import cell_len

    monkeypatch.setenv("NO_COLOR", "1")
    Terminal(monkeypatch, columns)
    monkeypatch.setenv("NO_COLOR", "1")
    text = remit("matrix").out.partition("✅ allowed")[0].removeprefix("policy: remit.yaml\n")
    heads = [line for line in text.splitlines() if line.startswith("Tool")]
    assert " ".join(heads).replace("Tool", "").split() == ["reader", "writer", "boss", "keeper"]
    assert "…" not in text
    if columns >= 16:
        assert max(cell_len(line) for line in text.splitlines()) <= columns
    assert text.count("wipe") == len(heads)


def test_a_terminal_without_symbols(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("remit.cli.output.unicode_output", lambda: False)
    text = remit("matrix").out
    assert text.isascii()
    rows = [line.split() for line in text.splitlines()]
    assert ["read", "yes", "yes", "scope", "no"] in rows
    assert ["write", "no", "scope", "ask", "no"] in rows


def test_json_is_json_whatever_the_terminal(remit: Remit, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("remit.cli.output.unicode_output", lambda: False)
    assert "✅" in json.loads(remit("matrix", "--format", "json").out)["legend"]


def test_the_page_as_a_file(remit: Remit, tmp_path: Path):
    ran = remit("matrix", "--html", str(tmp_path / "m.html"))
    assert (ran.code, ran.out) == (0, TABLE)
    assert (tmp_path / "m.html").read_text() == remit("matrix", "--format", "html").out
    assert "can't write" in remit("matrix", "--html", str(tmp_path / "no" / "m.html")).err
