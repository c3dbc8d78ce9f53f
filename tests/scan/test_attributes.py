"""What tables say of agents besides their tools, and numbers that announce a list."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from remit.scan.attributes import same_model
from remit.scan.survey import scan
from tests.scan.repositories import write


def definition(name: str, head: str = "") -> str:
    return f"---\nname: {name}\ndescription: Does {name} work.\ntools: Read\n{head}---\n\nWork.\n"


SKILLS = {f".claude/skills/{name}/SKILL.md": f"# {name}\n" for name in ("plan", "draft", "lint", "test", "deploy")}
TEAM = {
    ".claude/agents/writer.md": definition("writer", "model: opus\nskills: plan, draft\n"),
    ".claude/agents/checker.md": definition("checker", "model: sonnet\nskills: [lint, test]\n"),
    ".claude/agents/keeper.md": definition("keeper"),
    **SKILLS,
}


def texts(root: Path, files: dict[str, str]) -> list[str]:
    survey = scan(str(write(root, {**TEAM, **files})), today=datetime.date(2026, 11, 19))
    codes = ("tables-differ", "undefined-name", "count-mismatch")
    return [one.text for one in survey.findings if one.code in codes]


MODELS = "| Agent | Model |\n|---|---|\n| writer | {} |\n| checker | Sonnet 4.5 |\n"
GIVEN = "| Agent | Skills |\n|---|---|\n| writer | `plan`, `draft` |\n| checker | {} |\n"
OTHER = "a table gives other skills than the definition: `checker` (`lint`; `lint`, `test`)"
DOERS = "| Command | Agent |\n|---|---|\n| `/draft` | writer |\n| `/lint` | {} |\n| `/test` | checker |\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (
            {"AGENTS.md": MODELS.format("Haiku")},
            ["a table gives another model than the definition: `writer` (Haiku; opus)"],
        ),
        ({"AGENTS.md": MODELS.format("`claude-opus-4`")}, []),
        ({"AGENTS.md": MODELS.format("the best")}, []),
        ({"AGENTS.md": MODELS.format("GPT-5")}, []),
        ({"AGENTS.md": MODELS.format("Opus (Haiku as a fallback)")}, []),
        ({"AGENTS.md": MODELS.replace("Model", "Fallback model").format("Haiku")}, []),
        ({"docs/audit-report.md": MODELS.format("Haiku")}, []),
        ({"AGENTS.md": GIVEN.format("`lint`")}, [OTHER]),
        ({"AGENTS.md": GIVEN.format("`lint`, `test`")}, []),
        ({"AGENTS.md": GIVEN.replace("Skills", "Key skills").format("`lint`")}, []),
        ({"AGENTS.md": GIVEN.format("whatever it needs")}, []),
        (
            {"AGENTS.md": GIVEN.format("`lint`, `test`, `polish`")},
            [
                "a table gives other skills than the definition: `checker` (`lint`, `test`, `polish`; `lint`, `test`)",
                "given to agents, and no such skills here: `polish`",
            ],
        ),
        (
            {"A.md": DOERS.format("checker"), "B.md": DOERS.format("keeper")},
            ["two tables give the work of a command to different agents: `/lint` (checker; keeper)"],
        ),
        ({"A.md": DOERS.format("checker"), "B.md": DOERS.format("checker, keeper")}, []),
        ({"A.md": DOERS.format("checker"), "B.md": DOERS.format("")}, []),
    ],
)
def test_attributes(tmp_path: Path, files: dict[str, str], found: list[str]):
    assert sorted(texts(tmp_path, files)) == sorted(found)


def test_two_tables_without_heads(tmp_path: Path):
    one = "| Agent | Skills |\n|---|---|\n| keeper | `plan`, `deploy` |\n| writer | `plan`, `draft` |\n"
    files = {"A.md": one, "B.md": one.replace("`plan`, `deploy`", "`plan`, `lint`")}
    assert texts(tmp_path, files) == ["two tables give different skills to `keeper` (`plan`, `deploy`; `plan`, `lint`)"]


def test_a_skill_may_be_called_test(tmp_path: Path):
    """Folders of test data are left out, but not a skill, a command or an agent of that name."""
    files = {"README.md": "The 5 skills in `.claude/skills/` help.\n"}
    assert texts(tmp_path, files) == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("opus", "claude-opus-4-1-20250805", True),
        ("Sonnet", "haiku", False),
        ("gemini-2.5-pro", "Flash", False),
        ("gemini-2.5-flash-preview-04-17", "gemini-3-flash-preview", False),
        ("gemini-2.5-flash-preview-04-17", "gemini-2.5-flash", True),
        ("Claude Sonnet 4.5", "claude-sonnet-4-5", True),
        ("Claude Sonnet 4", "claude-sonnet-4-5", False),
        ("gpt-5", "sonnet", True),
        ("inherit", "sonnet", False),
    ],
)
def test_models(one: str, other: str, same: bool):
    assert same_model(one, other) is same_model(other, one) is same


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The agents work in three phases:\n\n- Plan\n- Write\n- Check\n- Ship\n", ["3 phases, and 4 are listed"]),
        ("The agents work in four phases:\n\n- Plan\n- Write\n- Check\n- Ship\n", []),
        ("Use one of these three modes:\n\n- Plan\n- Write\n- Check\n- Ship\n", []),
        ("There are two problems:\n\n- Time\n- Money\n- Space\n", []),
        ("## Three tiers\n\n| Tier | Use |\n|---|---|\n| A | x |\n| B | y |\n", ["3 tiers, and 2 are listed"]),
        ("**Core (4):** alpha, bravo, carol\n", ["4 Core, and 3 are listed"]),
        ("**Core (3):** alpha, bravo, carol\n", []),
        ("**Core (4):** alpha, bravo, and more\n", []),
        (
            "A five-phase pipeline.\n\n" + "".join(f"## Phase {n}: x\n\n" for n in range(1, 7)),
            ["5 phases, and 6 are listed"],
        ),
        ("A five-phase pipeline.\n\n" + "".join(f"## Phase {n}: x\n\n" for n in range(6)), []),
        ("A five-phase pipeline.\n\n" + "".join(f"## Phase {n}: x\n\n" for n in range(1, 6)), []),
    ],
)
def test_announced_lists(tmp_path: Path, text: str, found: list[str]):
    assert texts(tmp_path, {"AGENTS.md": f"How the agents work.\n\n{text}"}) == [
        f"the text announces {one}" for one in found
    ]
