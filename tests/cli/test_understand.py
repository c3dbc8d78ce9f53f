"""`remit understand`: what a text would do and how far it reaches, whoever asks for it."""

from __future__ import annotations

from tests.cli.kit import Remit


def test_sql_with_its_tier(remit: Remit):
    ran = remit("understand", "--sql", "WITH x AS (SELECT 1) DELETE FROM runs WHERE id = 7")
    assert ran.code == 0
    assert "✅ DELETE: delete" in ran.out
    assert "     delete runs\n" in ran.out
    assert "tier 1: deletes" in ran.out
    found = remit("understand", "--sql", "COPY t TO PROGRAM 'sh'", "--dialect", "postgres", "--json").json
    assert (found["tier"], found["dialect"]) == (4, "postgres")
    assert found["statements"][0]["reaches"][0]["effect"] == "execute"
    assert remit("understand", "--sql", "", "--json").json["statements"] == []


def test_a_url_with_its_tier(remit: Remit):
    ran = remit("understand", "--url", "https://api.example/x?token=1")
    assert "host api.example" in ran.out
    assert "tier 1: reaches the network" in ran.out
    assert "no URL" in remit("understand", "--url", "https://a@b/").out


def test_a_path_with_its_tiers(remit: Remit):
    found = remit("understand", "--path", ".github/workflows/ci.yml", "--json").json
    assert [found[effect]["tier"] for effect in ("read", "write", "delete")] == [0, 3, 3]
    assert "labelled ci" in found["write"]["tier_reason"]


def test_the_labels_of_a_policy(remit: Remit):
    remit.policy("remit: 1\nlabels: {data: {3: {table: [people]}}}\nagents: {a: {may: []}}\n", "labels.yaml")
    ran = remit("understand", "--sql", "SELECT * FROM people", "--policy", "labels.yaml")
    assert "data tier 3: table people" in ran.out
    assert "data tier" not in remit("understand", "--sql", "SELECT * FROM people").out


def test_a_command_says_its_tier(remit: Remit):
    assert "tier 3: installs dependencies" in remit("understand", "npm i left-pad").out
    targets = remit("understand", "git push origin main", "--json").json["targets"]
    assert {target["value"] for target in targets if target["kind"] == "branch"} == {"main"}


def test_one_thing_at_a_time(remit: Remit):
    for options in ((), ("ls", "--sql", "x"), ("--url", "a", "--path", "b")):
        ran = remit("understand", *options)
        assert ran.code == 2
        assert "--sql, --url, --path" in ran.err
