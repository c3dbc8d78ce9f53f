"""Paths that documents name, in sentences, drawn trees and tables of files."""

from __future__ import annotations

import datetime
import time
from pathlib import Path

import pytest

from remit.scan.files import Text
from remit.scan.inline import enumerated
from remit.scan.markdown import read_markdown
from remit.scan.paths import named_in_skill, paths_named
from remit.scan.survey import scan
from tests.scan.repositories import definition, write

KIT = {
    ".claude/agents/baker.md": definition("baker", "Read"),
    ".claude/rules/flour.md": "# Flour\n",
    ".claude/guide.md": "# Guide\n",
    ".claude/oven.md": "# Oven\n",
    ".claude/scripts/weigh.py": "pass\n",
    "shop/prices.toml": "x = 1\n",
    ".gitignore": ".claude/kept/\n",
}
TREE = """# Layout of agents

```
kit/
├── .claude/
│   ├── guide.md
│   ├── oven.md
│   ├── rules/
│   │   └── flour.md
│   ├── scripts/
│   │   └── weigh.py
│   └── {}
└── shop/
```
"""
TABLE = """# Files of the agents

| File | Use |
|---|---|
| `.claude/guide.md` | x |
| `.claude/oven.md` | x |
| `.claude/rules/flour.md` | x |
| `shop/prices.toml` | x |
| `{}` | {} |
"""


@pytest.mark.parametrize(
    ("page", "lost"),
    [
        (TREE.format("pantry/"), [".claude/pantry"]),
        (TREE.format("pantry/   # Notes of each day"), [".claude/pantry"]),
        (TREE.format("pantry/   # generated, one for each run"), []),
        (TREE.format("scripts/weigh.py"), []),
        (TREE.format("settings.local.json"), []),
        (TREE.format("kept/"), []),
        (TREE.format("a/\n│   ├── b.md\n│   ├── c.md\n│   └── d.md"), []),
        (TABLE.format("shop/debts.toml", "the debts"), ["shop/debts.toml"]),
        (TABLE.format("shop/debts.toml", "created by the first run"), []),
        (TABLE.format("shop/prices.toml", "x"), []),
        (TABLE.format("kit.toml", "of each project"), []),
        ("# Agents\n\nRun `python .claude/scripts/bake.py` before work.\n", [".claude/scripts/bake.py"]),
        ("# Agents\n\nRun `python ~/.claude/scripts/bake.py` before work.\n", []),
        ("# Agents\n\n```\nLEAK .claude/scripts/bake.py\n```\n", []),
        ("# Agents\n\n```sh\npython .claude/scripts/bake.py\n```\n", [".claude/scripts/bake.py"]),
        ("# Agents\n\nOnly `docs/*` and `.claude/scripts/bake.py` may change.\n", []),
        ("# Agents\n\n| Thing | Example |\n|---|---|\n| Script | `.claude/scripts/bake.py` |\n", []),
        (
            "# Agents\n\n| Thing | Where |\n|---|---|\n| Script | `.claude/scripts/bake.py` |\n",
            [".claude/scripts/bake.py"],
        ),
        ("# Agents\n\nIt writes `.claude/scripts/bake.py`.\n", []),
        ("# Agents\n\nRun `.cursor/scripts/bake.py`.\n", [".cursor/scripts/bake.py"]),
        ("# Agents\n\nRun `.cursor/scripts/weigh.py`.\n", []),
        ("# Agents\n\nRead `.claude/bread.md`.\n", [".claude/bread.md"]),
        ("# Agents\n\nRead `.gemini/BREAD_GUIDE.md`.\n", [".gemini/BREAD_GUIDE.md"]),
        ("# Agents\n\nGemini reads `.gemini/AGENTS.md` and `.github/copilot-instructions.md`.\n", []),
        ("# Agents\n\nSee `.cursor/rules/my-rule.mdc`.\n", []),
        ("# Agents\n\nRead `.claude/bread.json`.\n", []),
        ("# Agents\n\nFile: `.claude/scripts/bake.ts`\n", []),
        ("# Agents\n\nAfter `/oven-init`, fill in `.claude/bread.md`.\n", []),
        ("# Agents\n\nNotes go to `.claude/bread/day-01.md`.\n", []),
        (
            "# Agents\n\nRead `.claude/bread.md`.\nThen `.claude/guide.md` and `.claude/oven.md`.\n",
            [".claude/bread.md"],
        ),
    ],
)
def test_paths_that_lead_nowhere(tmp_path: Path, page: str, lost: list[str]):
    survey = scan(str(write(tmp_path, {**KIT, "docs/kit.md": page})), today=datetime.date(2026, 11, 19))
    texts = [one.text for one in survey.findings if one.code == "missing-file"]
    assert texts == [f"`{path}` does not exist" for path in lost]


def test_what_an_agent_reads_at_work_may_lie_in_another_repository(tmp_path: Path):
    text = "# Bake\n\nAs an agent, read `.claude/bread.md`, `.claude/guide.md` and `.claude/oven.md`.\n"
    survey = scan(str(write(tmp_path, {**KIT, ".claude/commands/bake.md": text})), today=datetime.date(2026, 11, 19))
    assert [one.text for one in survey.findings if one.code == "missing-file"] == []


SKILL = "---\nname: {}\ndescription: Bakes.\n---\n\n# Skills of bakers\n\n"
OVEN = ".claude/skills/oven"


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("| Rye | `references/rye.md` | dark |", ["references/rye.md"]),
        ("- **`references/rye.md`** - If the bread should be dark", ["references/rye.md"]),
        ("Read [rye](./references/rye.md#dough) and `references/wheat.md`.", ["references/rye.md"]),
        ("```sh\npython3 scripts/light.py\npython3 scripts/heat.py --fast\n```", ["scripts/heat.py"]),
        ("```sh\npython3 scripts/heat.py --fast\n```", []),
        ("```\nLEAK scripts/heat.py\n```\nRun `scripts/light.py`.", []),
        ("Run `scripts/light.py`.", []),
        ("Run `scripts/weigh.py`.", []),
        ("Use `templates/rye.md`.", []),
        ("It writes `references/rye.md`.", []),
        ("Optional: `references/rye.md`.", []),
        ("See `references/<name>.md`, `references/{kind}.md` and `references/*.md`.", []),
        ("See `references/my-bread.md`.", []),
        ("See https://bread.example/references/rye.md and `~/references/rye.md`.", []),
        ("Put `references/rye.md` beside `SKILL.md`; a `SKILL.md` names it. `SKILL.md` is short.", []),
    ],
)
@pytest.mark.parametrize("page", ["SKILL.md", "references/wheat.md"])
def test_files_of_a_skill(tmp_path: Path, page: str, line: str, lost: list[str]):
    files = {
        **KIT,
        f"{OVEN}/SKILL.md": SKILL.format("oven"),
        f"{OVEN}/references/wheat.md": "# Wheat\n",
        f"{OVEN}/scripts/light.py": "pass\n",
    }
    files[f"{OVEN}/{page}"] = SKILL.format("oven") + line + "\n"
    survey = scan(str(write(tmp_path, files)), today=datetime.date(2026, 11, 19))
    texts = [one.text for one in survey.findings if one.code == "missing-file"]
    assert texts == [f"`{path}` does not exist" for path in lost]


@pytest.mark.parametrize(("folder", "told"), [("oven", True), ("skill-creator", False), ("make-skills", False)])
def test_a_skill_about_skills_gives_examples(tmp_path: Path, folder: str, told: bool):
    page = SKILL.format(folder) + "Name it `references/rye.md`.\n"
    survey = scan(str(write(tmp_path, {f"skills/{folder}/SKILL.md": page})), today=datetime.date(2026, 11, 19))
    assert [one.code for one in survey.findings if one.code == "missing-file"] == ["missing-file"] * told


def test_a_script_that_a_definition_runs(tmp_path: Path):
    text = (
        definition("miller", "Bash") + "\nRun `node .cursor/scripts/mill.js`, then `python .claude/scripts/weigh.py`.\n"
    )
    survey = scan(str(write(tmp_path, {**KIT, ".claude/agents/miller.md": text})), today=datetime.date(2026, 11, 19))
    texts = [one.text for one in survey.findings if one.code == "missing-file"]
    assert texts == ["`.cursor/scripts/mill.js` does not exist"]


def test_a_file_of_a_skill_that_lies_elsewhere(tmp_path: Path):
    files = {"skills/oven/SKILL.md": SKILL.format("oven") + "Read `references/rye.md`.\n"}
    files["skills/mill/references/rye.md"] = "# Rye\n"
    survey = scan(str(write(tmp_path, files)), today=datetime.date(2026, 11, 19))
    assert not [one for one in survey.findings if one.code == "missing-file"]


@pytest.mark.parametrize(
    "form", ["{}\n", "```\n├── .claude/\n│   ├── {}\n```\n", "| Skill | Use |\n|---|---|\n| {} | x |\n"]
)
@pytest.mark.parametrize(
    "long", ["a/", ".claude/a", "Agents", "a.b", "`a.", "│   ", "a, ", "Agents: ", "(", "`", "](", "a/b.md`"]
)
def test_long_lines_take_no_long_time(form: str, long: str):
    text = Text("README.md", form.format(long * 4_000))
    document = read_markdown(text.text)
    began = time.process_time()
    list(paths_named(text, document))
    list(named_in_skill(text, "skills/oven"))
    list(enumerated(document))
    assert time.process_time() - began < 2
