"""Which files a formatter could change is seen on the disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.enforce.test_git_look import decided, facts_of, write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    write(root, {"src/a.py": "x=1\n", "src/b.go": "b", "src/c.rs": "c", ".claude/settings.json": "{}"})
    write(root, {"pyproject.toml": "[tool.ruff.lint]\nextend-select = ['E']\n[tool.setuptools]\ninclude = ['x']\n"})
    return root


FORMATTERS = {
    "black .": ".py",
    "black -q .": ".py",
    "ruff format .": ".ipynb",
    "ruff format": ".py",
    "ruff check --fix .": ".pyi",
    "isort .": ".py",
    "gofmt -w .": ".go",
    "go fmt ./...": ".go",
    "cargo fmt": ".rs",
}


@pytest.mark.parametrize(("command", "end"), FORMATTERS.items())
def test_a_formatter_is_asked_about_only_where_it_could_change_something_protected(project, command, end):
    assert decided(project, command).code == "allowed"
    write(project, {f".claude/hooks/x{end}": ""})
    assert f".claude/hooks/x{end}, which is protected" in decided(project, command).reason


@pytest.mark.parametrize(
    "command",
    [
        "black --include x .",
        "ruff format --config x.toml .",
        "ruff format --preview .",
        "prettier --write .",
        "black . ../x",
    ],
)
def test_what_could_take_other_files_is_asked(project, command):
    assert decided(project, command).verdict.word == "ask"
    assert not facts_of(project, command).changes


@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("pyproject.toml", "[tool.black]\ninclude = 'json$'", "black ."),
        ("pyproject.toml", "[tool.ruff]\nextend-include = ['*.json']", "ruff format ."),
        ("src/ruff.toml", "extension = {json = 'python'}", "ruff format ."),
        (".ruff.toml", "extend = '../x.toml'", "ruff check --fix ."),
        (".isort.cfg", "[settings]\nsupported_extensions = json", "isort ."),
        ("pyproject.toml", "not toml", "black ."),
    ],
)
def test_a_configuration_that_chooses_other_files_is_no_answer(project, name, text, command):
    write(project, {name: text})
    assert decided(project, command).code == "target-unknown"


def test_links_are_followed_or_no_answer(project):
    (project / "src/link.py").symlink_to(project / ".claude/settings.json")
    assert ".claude/settings.json, which is protected" in decided(project, "black .").reason
    (project / "src/link.py").unlink()
    (project / "out").symlink_to(project.parent)
    assert not facts_of(project, "black .").changes
