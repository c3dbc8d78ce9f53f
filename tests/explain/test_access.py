"""Access reports and who-can, as data and as text."""

from __future__ import annotations

from pathlib import Path

import pytest

from remit.compile import load_rulebook
from remit.explain.access import make_report, report_text, stats_text, who_can, who_can_call
from remit.explain.matrix import callers_of
from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from tests.explain.kit import POLICY


@pytest.fixture
def rulebook(tmp_path: Path) -> Rulebook:
    path = tmp_path / "remit.yaml"
    path.write_text(POLICY, "utf-8")
    return load_rulebook(path)


def test_a_report(rulebook: Rulebook):
    assert report_text(make_report(rulebook, "writer")) == (
        "# Access report for writer\n"
        "\n"
        "**Summary**: 4/7 tools accessible (57 %)\n"
        "\n"
        "**Roles**: everyone, quiet\n"
        "\n"
        "**By layer**:\n"
        "- atomic: 2 tools\n"
        "- no layer: 2 tools\n"
        "\n"
        "**Accessible tools**:\n"
        "- read (atomic/Files) ✅\n"
        "- write (atomic/Files) 🔒: path docs/**\n"
        "- term 🔒: shell git, sqlite3 (of x.db); not effect network\n"
        "- log ✅\n"
    )


def test_statistics(rulebook: Rulebook):
    report = make_report(rulebook, "keeper")
    assert report.stats() == {
        "agent": "keeper",
        "tools": 7,
        "accessible": 1,
        "denied": 6,
        "percentage": 14.3,
        "by_layer": {"no layer": 1},
    }
    assert stats_text(report) == (
        "# Access statistics for keeper\n"
        "\n"
        "- tools: 7\n"
        "- accessible: 1 (14 %)\n"
        "- denied: 6\n"
        "\n"
        "**By layer**:\n"
        "- no layer: 1 tool\n"
    )


def test_a_report_counts_as_the_document_of_srs_writer_does():
    """Roles of the assignment table, as examples/srs-writer says at its top."""
    rulebook = load_rulebook(Path(__file__).parents[2] / "examples" / "srs-writer" / "remit.yaml")
    report = make_report(rulebook, "orchestrator:KNOWLEDGE_QA")
    assert (len(report.accessible), report.by_layer) == (14, {"atomic": 10, "document": 2, "internal": 2})


def test_who_can_by_what_is_written(rulebook: Rulebook):
    assert [one.line for one in who_can(rulebook, "write") if one.verdict != "deny"] == [
        "🔒 writer (agent): path docs/**",
        "✋ boss (agent): ask human: path docs/**",
    ]


def test_who_can_by_decision(rulebook: Rulebook):
    calls = [
        (Call(name, "write", {"file": "docs/x", "text": ""}), Facts()) for name in callers_of(rulebook, everyone=True)
    ]
    assert {one.name: one.verdict for one in who_can_call(rulebook, calls)} == {
        "reader": "deny",
        "writer": "allow",
        "boss": "ask",
        "keeper": "deny",
        "everyone": "deny",
        "quiet": "deny",
        "Shipper": "deny",
    }
