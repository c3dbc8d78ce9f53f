"""`remit graph` as people type it."""

from __future__ import annotations

import pytest

from tests.cli.kit import Remit

POLICY = """
remit: 1
tools: {t: {args: {}, does: nothing}}
roles: {worker: {may: [t]}}
agents:
  lead: {may: [t], delegates_to: [worker, Git]}
  a: {roles: [worker], delegates_to: [b], delegate_within: chain}
  b: {roles: [worker]}
runners: {Git: {may: [t], called_by: [lead]}}
"""


@pytest.fixture(autouse=True)
def policy(remit: Remit) -> None:
    remit.policy(POLICY)


def test_as_text(remit: Remit):
    assert remit("graph").out.splitlines()[1:] == [
        "lead → a, b, Git",
        "a → b (its own limits go along)",
        "hand nothing on: b, Git",
    ]


def test_as_mermaid(remit: Remit):
    lines = remit("graph", "--format", "mermaid").out.splitlines()
    assert lines[0] == "flowchart LR"
    assert '  n0["lead"]' in lines
    assert '  n3[/"Git"/]' in lines
    assert {"  n0 --> n1", "  n0 --> n2", "  n0 --> n3", "  n1 ==> n2"} <= set(lines)


def test_as_dot_and_json(remit: Remit):
    assert '  "a" -> "b" [style=bold];' in remit("graph", "--format", "dot").out
    assert remit("graph", "--json").json["edges"][-1] == {"giver": "a", "taker": "b", "bound": True}


def test_a_wrong_format(remit: Remit):
    ran = remit("graph", "--format", "mermiad")
    assert ran.code == 2
    assert "did you mean `mermaid`" in ran.err


def test_as_a_picture(remit: Remit):
    ran = remit("graph", "--svg", "graph.svg")
    assert ran.code == 0
    assert "lead → a, b, Git" in ran.out
    text = (remit.folder / "graph.svg").read_text()
    assert text.startswith("<svg ")
    assert all(f">{name}</text>" in text for name in ("lead", "a", "b", "Git"))
