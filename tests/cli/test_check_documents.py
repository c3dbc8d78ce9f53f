"""`remit check` compares the policy with what the project's documents and definitions say."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.kit import Remit
from tests.scan.repositories import definition, write

POLICY = """remit: 1
use: [claude-code]
agents:
  scout: {may: [Read, Grep]}
  smith: {may: [Read, Write, {Bash: {shell: {run: [git]}}}]}
"""
TABLE = "# Agents\n\n| Agent | Allowed tools |\n|---|---|\n| scout | Read, WebFetch |\n| smith | Read, Bash |\n"


def project(remit: Remit) -> Path:
    return remit.policy(POLICY).parent


def codes(remit: Remit, *more: str) -> dict[tuple[str, str | None], str]:
    ran = remit("check", "--json", *more)
    return {(one["code"], one["agent"]): one["weight"] for one in json.loads(ran.out)["documents"]}


def test_a_table_against_the_policy(remit: Remit):
    write(project(remit), {"docs/agents.md": TABLE})
    assert codes(remit) == {
        ("policy-narrower", "scout"): "warning",
        ("policy-wider", "smith"): "error",
    }
    ran = remit("check")
    assert ran.code == 0
    assert "document: smith: the policy grants `Write`; the document does not [policy-wider]\n" in ran.out
    assert "  docs/agents.md:6, remit.yaml:5\n" in ran.out
    assert "; fix: narrow the agent's `may`" in ran.out
    assert remit("check", "--strict").code == 1
    assert remit("check", "--strict", "--no-documents").code == 0
    assert "policy-wider" in remit("check", "--quiet").out
    assert "policy-narrower" not in remit("check", "--quiet").out


def test_a_matrix_that_docs_wrote_is_no_finding(remit: Remit):
    """Its marks say "with a scope"; the policy, which it is made from, has the scope."""
    folder = remit.policy(POLICY.replace("Write,", '{Write: {path: "src/**"}},')).parent
    write(folder, {"docs/agents.md": "# Agents\n\n<!-- remit:matrix -->\n<!-- /remit -->\n"})
    assert remit("docs").code == 0
    assert "🔒" in (folder / "docs" / "agents.md").read_text("utf-8")
    assert codes(remit) == {}


def test_definitions_against_the_policy(remit: Remit):
    write(
        project(remit),
        {
            ".claude/agents/scout.md": definition("scout", None),
            ".claude/agents/smith.md": definition("smith", "Read, Edit", "You are a read-only agent."),
            ".claude/agents/stray.md": definition("stray", "Read"),
        },
    )
    assert codes(remit) == {
        ("read-only-can-write", "smith"): "error",
        ("policy-narrower", "smith"): "note",
        ("agent-without-rules", "stray"): "warning",
    }


def test_a_policy_that_settles_it(remit: Remit):
    """A read-only agent's shell is no finding once the policy limits it; nor is a definition without a list."""
    text = definition("scout", "Read, Grep, Bash", "You are a read-only agent.")
    write(project(remit), {".claude/agents/scout.md": text})
    assert codes(remit) == {("policy-narrower", "scout"): "note"}


def test_regions_that_are_out_of_date(remit: Remit):
    write(project(remit), {"docs/agents.md": "<!-- remit:agent scout -->\nold\n<!-- /remit -->\n"})
    assert codes(remit) == {("stale-region", "scout"): "error"}
    assert remit("docs").code == 0
    assert codes(remit) == {}
    write(remit.folder, {"docs/agents.md": "<!-- remit:agent nobody -->\nold\n<!-- /remit -->\n"})
    assert codes(remit) == {("bad-region", None): "error"}


def test_many_findings_are_cut_short(remit: Remit):
    files = {f".claude/agents/a{n}.md": definition(f"a{n}", f"Read, Bash(tool{n}:*), Bash") for n in range(20)}
    write(project(remit), files)
    ran = remit("check")
    assert ran.out.count("[shadowed-scope]") == 11
    assert "… and 9 more findings in documents" in ran.out
    (one,) = [found for found in json.loads(remit("check", "--json").out)["documents"] if "rules" in found["code"]]
    assert one["text"].startswith(
        "20 agents in `.claude/agents` have a definition, and the policy has no such agents: "
    )
