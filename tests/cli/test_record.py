"""`remit record`, as people type it."""

from __future__ import annotations

from tests.cli.kit import Remit

POLICY = """\
remit: 1
tools:
  read: {args: {p: path}, does: {read: p}}
  write: {args: {p: path}, does: {write: p}, tier: 1}
agents:
  dev: {may: [read], data_tiers: [0, 1]}
"""
RECORD = "agent_id: dev\npermissions:\n  tools_allowed: [read]\n  data_tiers_allowed: [0, 1]\n"


def test_a_record_as_an_entry_and_compared(remit: Remit) -> None:
    remit.policy(POLICY)
    file = str(remit.policy(RECORD, "dev.yaml"))
    assert remit("record", file).out == "dev:\n  data_tiers: [0, 1]\n  may: [read]\n"
    assert remit("record", file, "--json").json == {"dev": {"data_tiers": [0, 1], "may": ["read"]}}
    same = remit("record", file, "--compare")
    assert (same.code, same.out.splitlines()[-1]) == (0, "✅ dev: the policy says what the record says")
    remit.policy(RECORD.replace("[read]", "[write]"), "dev.yaml")
    other = remit("record", file, "--compare", "--json")
    found = ["read: only the policy allows it", "write: only the record allows it"]
    assert (other.code, other.json) == (1, {"agent": "dev", "differences": found})
    remit.policy(RECORD.replace("dev", "nobody"), "dev.yaml")
    assert remit("record", file, "--compare").out.splitlines()[-1] == "❌ nobody: the policy has no agent nobody"


def test_what_is_no_record(remit: Remit) -> None:
    remit.policy(POLICY)
    assert remit("record", "missing.yaml").code == 2
    assert remit("record", "remit.yaml").code == 1
    twice = RECORD + "tools_allowed: [write]\n"
    ran = remit("record", str(remit.policy(twice, "dev.yaml")))
    assert ran.code == 1
    assert "appears twice" in ran.err
