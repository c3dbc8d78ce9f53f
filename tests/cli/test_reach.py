"""`remit reach`: who can be reached, over whom, and what that adds."""

from __future__ import annotations

from tests.cli.kit import Remit

POLICY = """\
remit: 1
name: reach
tools:
  read: {args: {file: path}, does: {read: file}}
  write: {args: {file: path}, does: {write: file}, tier: 1}
  term: {args: {command: shell}, tier: 2}
agents:
  lead: {may: [read], delegates_to: [dev, box]}
  dev: {may: [read, {write: {path: "src/**"}}], delegates_to: [ops]}
  box: {may: [read], delegates_to: [far], delegate_within: chain}
  far: {may: [read, term]}
  ops: {may: [term]}
runners:
  Writer: {may: [write], called_by: [ops]}
"""


def test_what_each_adds_and_over_whom(remit: Remit) -> None:
    remit.policy(POLICY)
    ran = remit("reach", "lead")
    assert ran.code == 0
    blocks = {block.split(" ")[0]: block for block in ran.out.split("\n\n")[1:]}
    assert "lead: 1 tool of its own, effects read, up to tier 0" in ran.out
    assert "Writer (runner), over lead → dev → ops" in blocks["Writer"]
    assert "dev (agent), over lead\n" in blocks["dev"]
    assert "🔒 write (new): path src/**\n     write; tier 1: writes: " in blocks["dev"]
    assert "term (new)" in blocks["ops"]
    assert "as examples show" in blocks["ops"]
    assert "bound by lead, box: only what they may do too\n  adds nothing" in blocks["far"]


def test_for_programs(remit: Remit) -> None:
    remit.policy(POLICY)
    found = remit("reach", "lead", "--json").json
    assert (found["agent"], found["own_tools"], found["own_tier"], found["complete"]) == ("lead", ["read"], 0, True)
    through = {one["name"]: one for one in found["through"]}
    assert set(through) == {"Writer", "box", "dev", "far", "ops"}
    assert [added["tool"] for added in through["far"]["adds"]] == []
    assert through["ops"]["tier"] == 4
    assert "execute" in through["ops"]["effects"]
    assert through["Writer"]["ways"][0]["chain"] == ["lead", "dev", "ops"]


def test_nobody(remit: Remit) -> None:
    remit.policy(POLICY)
    assert remit("reach", "far").out.endswith("it can hand work to nobody\n")


def test_wrong_input(remit: Remit) -> None:
    remit.policy(POLICY)
    ran = remit("reach", "laed")
    assert (ran.code, "unknown agent `laed`" in ran.err, "lead" in ran.err) == (2, True, True)
    assert "missing argument 'AGENT'" in remit("reach").err
    assert "--now: `soon` is not a moment" in remit("reach", "lead", "--now", "soon").err
    remit.policy("remit: 2\n")
    assert remit("reach", "lead").code == 1
