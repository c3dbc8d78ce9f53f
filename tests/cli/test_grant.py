"""`remit grant --standing`: one entry more in the policy, every other byte kept, and in force only once activated."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from remit.compile import load_rulebook
from remit.enforce.errors import NotActivated
from tests.cli.living_kit import FREE, POLICY, Team

GRANT = (
    "grant", "--standing", "--agent", "tester", "--tool", "write", "--path", "tests/**", "--until", "2099-03-01",
    "--adr", "ADR-12", "--approved-by", "security",
)  # fmt: skip
ENTRY = '{agent: tester, may: [{write: {path: ["tests/**"]}}], adr: ADR-12, approved_by: security, until: 2099-03-01}'
COMMENTED = FREE + "# the end, with no line break after it"


def left(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if name.startswith("."))


def test_the_difference_is_shown_and_written(free: Team) -> None:
    free.write("remit.yaml", COMMENTED)
    before = left(free.root)
    dry = free(*GRANT, "--dry-run")
    assert (dry.code, (free.root / "remit.yaml").read_text()) == (0, COMMENTED)
    assert "+grants:\n+  - " + ENTRY + "\n" in dry.out
    assert dry.out.endswith("nothing was changed (--dry-run)\n")
    ran = free(*GRANT, "--yes")
    assert ran.code == 0
    assert "`remit activate` puts it in force" in ran.out
    assert (free.root / "remit.yaml").read_text() == f"{COMMENTED}\ngrants:\n  - {ENTRY}\n"
    assert left(free.root) == before
    [grant] = load_rulebook(free.root / "remit.yaml").book.grants
    assert (grant.agent, grant.adr, grant.approved_by, grant.until) == (
        "tester",
        "ADR-12",
        "security",
        "2099-03-01T00:00:00Z",
    )


def test_it_counts_once_it_is_activated(free: Team) -> None:
    assert free.call("write", agent="tester", file="tests/a", text="x") == "not-permitted"
    free(*GRANT, "--yes")
    with pytest.warns(NotActivated):
        assert free.call("write", agent="tester", file="tests/a", text="x") == "not-permitted"
    assert free("activate", "--yes").code == 0
    assert free.call("write", agent="tester", file="tests/a", text="x") == "None"
    assert free.call("write", agent="tester", file="src/a", text="x") == "not-permitted"


def test_a_second_one_comes_behind_the_first(free: Team) -> None:
    os.chmod(free.root / "remit.yaml", 0o640)
    free(*GRANT, "--yes")
    again = [word.replace("tests/**", 'it\'s "x"/**') for word in GRANT]
    assert free(*again, "--yes").code == 0
    text = (free.root / "remit.yaml").read_text()
    assert text.startswith(f"{FREE}grants:\n  - {ENTRY}\n  - {{agent: tester, ")
    grants = load_rulebook(free.root / "remit.yaml").book.grants
    assert [grant.rules[0].scope.parts["path"]["allow"] for grant in grants] == [
        ("tests/**",),
        ('it\'s "x"/**',),
    ]
    assert (free.root / "remit.yaml").stat().st_mode & 0o777 == 0o640


def test_for_programs(free: Team) -> None:
    found = free(*GRANT, "--yes", "--json").json
    assert (found["state"], found["entry"]) == ("written", ENTRY)
    assert found["policy"] == load_rulebook(free.root / "remit.yaml").hash != found["was"]


def test_only_with_the_passphrase(team: Team) -> None:
    team.policy(POLICY)
    team.passphrase()
    blind = team(*GRANT, "--yes")
    assert (blind.code, blind.err.splitlines()[0]) == (2, "remit: there is no terminal to ask for the passphrase")
    question = "passphrase, to grant write to tester: "
    wrong = team.type(*GRANT, question=question, passphrase="wrong horse battery")
    assert (wrong.code, wrong.err) == (2, "remit: wrong passphrase\n")
    assert (team.root / "remit.yaml").read_text() == POLICY
    right = team.type(*GRANT, question=question)
    assert right.code == 0
    assert "written, by " in right.out
    assert (team.root / "remit.yaml").read_text().endswith(f"grants:\n  - {ENTRY}\n")


def without(option: str) -> tuple[str, ...]:
    at = GRANT.index(option)
    return GRANT[:at] + GRANT[at + 2 :]


def instead(option: str, value: str) -> tuple[str, ...]:
    at = GRANT.index(option)
    return (*GRANT[: at + 1], value, *GRANT[at + 2 :])


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (("grant", "--agent", "dev"), 2, "a grant for one task belongs in the task"),
        (("grant",), 2, "put it under `grants:` of a task and run `remit capsule new`"),
        (without("--agent"), 2, "a standing grant needs --agent"),
        (without("--tool"), 2, "a standing grant needs --tool"),
        (without("--until"), 2, "a standing grant needs --until"),
        (without("--adr"), 2, "a standing grant needs --adr"),
        (without("--approved-by"), 2, "a standing grant needs --approved-by"),
        (instead("--agent", "testre"), 2, "unknown agent `testre`"),
        (instead("--tool", "wirte"), 2, "unknown tool `wirte`"),
        (instead("--until", "soon"), 2, "--until: `soon` is not a moment"),
        (instead("--until", "2020-01-01"), 2, "has passed already"),
        (instead("--adr", "a\nb"), 2, "--adr: one line"),
        (instead("--approved-by", " x"), 2, "--approved-by: one line"),
        (instead("--path", "/etc/**"), 1, "remit.yaml:"),
        (instead("--path", "docs/[", ), 1, "remit.yaml:"),
    ],
)  # fmt: skip
def test_wrong_input_changes_nothing(free: Team, args: tuple[str, ...], code: int, message: str) -> None:
    before = left(free.root)
    ran = free(*args, "--yes")
    assert (ran.code, message in ran.err) == (code, True), ran.err
    assert (free.root / "remit.yaml").read_text() == FREE
    assert left(free.root) == before


def test_a_policy_that_does_not_load_or_can_not_be_edited(free: Team) -> None:
    free.write("remit.yaml", FREE + "nonsense: 1\n")
    assert free(*GRANT, "--yes").code == 1
    flow = "{remit: 1, tools: {write: {args: {file: path}, does: {write: file}}}, agents: {tester: {may: [write]}}}\n"
    free.write("remit.yaml", flow)
    ran = free(*GRANT, "--yes")
    assert (ran.code, "add it under `grants:`: {agent: tester" in ran.err) == (2, True)
    assert (free.root / "remit.yaml").read_text() == flow


def test_a_grant_that_a_never_forbids_is_refused(free: Team) -> None:
    text = FREE + "never: [{agent: tester, tool: write}]\n"
    free.write("remit.yaml", text)
    ran = free(*GRANT, "--yes")
    assert ran.code == 1
    assert ".remit.yaml." not in ran.err
    assert (free.root / "remit.yaml").read_text() == text
