"""No agent changes what governs it: through the hook, for one that may use every tool without a scope."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remit.declare.nodes import parse
from remit.forms.texts import plain
from tests.adapters.hooks.project import Project

ROWS = plain(parse(Path(__file__).with_name("protected.yaml").read_text("utf-8"), "protected.yaml"))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = Project(tmp_path_factory.mktemp("protected"))
    (project.root / "policy-link.yaml").symlink_to("remit.yaml")
    (project.root / "root-link").symlink_to(".")
    (project.root / "state-link").symlink_to(project.state)
    with project.serving():
        yield project


def filled(project: Project, row: dict[str, Any]) -> dict[str, Any]:
    words = {"root": project.root, "state": project.state, "name": project.state.name, "home": project.home}
    words["proj"] = project.root.name
    text = json.dumps(row["args"])
    for name, value in words.items():
        text = text.replace("{" + name + "}", str(value))
    found: dict[str, Any] = json.loads(text)
    return found


def shown(row: dict[str, Any]) -> str:
    return f"{row['tool']}: {next(iter(row['args'].values()))}"


@pytest.mark.sample(40)
@pytest.mark.parametrize("row", ROWS["denied"], ids=shown)
def test_denied(served: Project, row):
    served.ask(row["tool"], filled(served, row)).denied()


@pytest.mark.parametrize("row", ROWS["allowed"], ids=shown)
def test_allowed(served: Project, row):
    said = served.ask(row["tool"], filled(served, row))
    assert said.decision == "allow", said


def test_from_a_directory_with_another_name(served: Project):
    alias = served.folder / "alias"
    alias.symlink_to(served.root)
    served.ask("Bash", {"command": "echo x > remit.yaml"}, cwd=str(alias)).denied("(protected)")
    served.ask("Bash", {"command": "rm .claude/settings.json"}, cwd=str(alias)).denied("(protected)")


@pytest.mark.parametrize("where", [".", "docs", ".claude", ".."])
def test_from_other_directories(served: Project, where):
    """The host's working directory moves with the agent's `cd`."""
    cwd = (served.root / where).resolve()
    up = {".": "", "docs": "../", ".claude": "../", "..": f"{served.root.name}/"}[where]
    for command in (f"echo x > {up}remit.yaml", f"rm {up}.claude/settings.json", f"rm -rf {up}.remit"):
        served.ask("Bash", {"command": command}, cwd=str(cwd)).denied()
    served.ask("Write", {"file_path": f"{up}remit.yaml", "content": "x"}, cwd=str(cwd)).denied("(protected)")
