"""`remit profile`, and what `remit explain` and `remit decide` say of a confined command."""

from __future__ import annotations

from tests.cli.kit import Remit

POLICY = """
remit: 1
use: [claude-code]
confine: required
sandbox: {caches: [pip], hide: ["**/*.pem"], limits: {time: 10m, memory: 4G, processes: 50, file_size: 2M}}
agents:
  dev:
    may: [Bash, {WebFetch: {url: "https://docs.python.org/**"}}]
    locks: {may: ["src/**", "research/*.yaml"], except: ["src/gen/**"]}
  reader: {may: [Read]}
"""


def test_a_profile_in_words(remit: Remit) -> None:
    remit.policy(POLICY)
    ran = remit("profile", "dev")
    assert ran.code == 0
    words = " ".join(ran.out.split())
    assert "dev, Bash: runs confined, or not at all" in words
    assert "writes research/*.yaml, src/** except src/gen/**" in words
    assert ".git as git does when it commits, without its hooks and configuration" in words
    assert "reads all below the root, and the system but not **/*.pem" in words
    assert "network only https://docs.python.org/**, through a proxy; of https it sees the host, not the path" in words
    assert "home empty, and gone afterwards, and the caches of pip" in words
    assert "limits 600 seconds, 4 GiB of memory, 50 processes, files of 2 MiB" in words
    assert "narrower mounts can enforce `research/*.yaml`" in words
    assert "reader may use no tool that runs commands" in remit("profile", "reader").out


def test_for_programs(remit: Remit) -> None:
    remit.policy(POLICY)
    found = remit("profile", "dev", "--json").json["Bash"]
    assert found["confine"] == "required"
    assert found["profile"]["network"] == {"mode": "hosts", "urls": ["https://docs.python.org/**"]}
    assert found["profile"]["write"] == [{"may": ["research/*.yaml", "src/**"], "except": ["src/gen/**"]}]
    call = ("--agent", "dev", "--tool", "Bash", "--arg", "command=frobnicate")
    explained = remit("explain", *call, "--json").json
    assert explained["profile"] == found["profile"]
    assert [one["value"] for one in explained["obligations"] if one["do"] == "confine"] == [found["digest"]]


def test_a_decision_says_that_it_is_confined_and_to_what(remit: Remit) -> None:
    remit.policy(POLICY)
    text = remit("explain", "--agent", "dev", "--tool", "Bash", "--arg", "command=frobnicate $x").out
    assert "✅ allow" in text
    assert "confined  to this:\n          writes    research/*.yaml" in text
    assert "decided as if commands could be confined here" in text
    facts = remit.folder / "facts.yaml"
    facts.write_text("confined: [write]\n")
    refused = remit("explain", "--agent", "dev", "--tool", "Bash", "--arg", "command=ls", "--facts", str(facts)).out
    assert "(confine-unavailable)" in refused
    assert "`remit status` says what is missing" in refused


def test_the_profile_of_who_is_not_confined(remit: Remit) -> None:
    remit.policy(POLICY.replace("confine: required", "confine: off"))
    assert "does not run confined (`confine: off`); if it did" in remit("profile", "dev").out
    assert remit("profile", "nobody").code == 2
