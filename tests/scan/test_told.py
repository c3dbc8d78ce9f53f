"""What the text of a definition tells its agent to use, or not to, against its own head and the host's settings."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from remit.scan.survey import scan
from tests.scan.repositories import definition, write


def found(root: Path, files: dict[str, str]) -> list[str]:
    survey = scan(str(write(root, files)), today=datetime.date(2026, 11, 19))
    codes = ("definition-wider", "definition-narrower", "defined-twice", "undefined-name")
    return [f"{one.agent}: {one.text}" for one in survey.findings if one.code in codes and one.weight.value != "note"]


def agent(name: str, tools: str | None, body: str) -> dict[str, str]:
    return {f".claude/agents/{name}.md": definition(name, tools) + f"\n# {name}\n\n{body}\n"}


LACKS = "smith: its text tells it to use {}; its list lacks {}"


@pytest.mark.parametrize(
    ("tools", "body", "expected"),
    [
        ("Read, Grep", "Look it up with the WebFetch tool.", [LACKS.format("`WebFetch`", "it")]),
        ("Read, Grep", "- Use `Bash` to run the tests", [LACKS.format("`Bash`", "it")]),
        ("Read", "Use the `Task` tool for each file. Then use the `Skill` tool.", [LACKS.format("`Task`, `Skill`", "them")]),
        ("Read", "Search with `mcp__docs__find` first.", [LACKS.format("`mcp__docs__find`", "it")]),
        # what it holds by another name, or what a shell can do as well
        ("Read, WebSearch", "Use the `WebFetch` tool.", []),
        ("Read, Agent", "Use the Task tool to start helpers.", []),
        ("Bash", "Use `Grep` to find names.", []),
        ("Read, mcp__docs__*", "Search with `mcp__docs__find` first.", []),
        (None, "Use the `WebFetch` tool.", []),
        # open, or about somebody else
        ("Read", "Use `WebFetch` only if available.", []),
        ("Read", "Never use `Task`.", []),
        ("Read", "The orchestrator starts you with the Task tool.", []),
        ("Read", "Other agents use `Bash`.", []),
        ("Read", "```\nUse `Bash`.\n```", []),
    ],
)  # fmt: skip
def test_tools_that_a_text_uses(tmp_path: Path, tools: str | None, body: str, expected: list[str]):
    assert found(tmp_path, agent("smith", tools, body)) == expected


WIDER = "smith: the text says “{}”, and the definition grants `{}`"
DENIES = "smith: the document denies `{}`; the definition grants it"


@pytest.mark.parametrize(
    ("tools", "body", "expected"),
    [
        ("Read, Bash", "You have no shell.", [WIDER.format("You have no shell.", "Bash")]),
        ("Read, Bash", "You cannot run commands. Ask.", [WIDER.format("You cannot run commands.", "Bash")]),
        ("Read, Write", "- **Never use `Write`**\n- look", [DENIES.format("Write")]),
        ("Read, WebFetch", "You do not have a `WebFetch` tool.", [DENIES.format("WebFetch")]),
        ("Read", "You have no shell.", []),
        # an exception, a time, or half a sentence
        ("Read, Bash", "You cannot run commands unless the lead says so.", []),
        ("Read, Bash", "## When you plan\n\nYou cannot run commands.", []),
        ("Read, Bash", "Never use Bash for searching.", []),
        ("Read, Grep, Bash", "Don't just grep.", []),
        ("Read, Bash", "You do not run commands\nthat delete anything.", []),
    ],
)  # fmt: skip
def test_tools_that_a_text_denies(tmp_path: Path, tools: str, body: str, expected: list[str]):
    assert found(tmp_path, agent("smith", tools, body)) == expected


def settings(**lists: list[str]) -> str:
    return json.dumps({"permissions": lists})


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {".claude/settings.json": settings(deny=["WebFetch"]), **agent("smith", "Read, WebFetch", "Works.")},
            ["smith: `WebFetch` is denied to every agent in the settings, and in the tools of `smith`"],
        ),
        ({".claude/settings.json": settings(deny=["WebFetch"]), **agent("smith", "Read", "Works.")}, []),
        ({"other/.claude/settings.json": settings(deny=["Read"]), **agent("smith", "Read", "Works.")}, []),
        (
            {".claude/settings.json": settings(deny=["Bash(curl:*)"]), **agent("smith", "Bash", "Run `curl -s x`.")},
            ["smith: the settings deny `Bash(curl:*)`, and its text tells it to run `curl -s x`"],
        ),
        ({".claude/settings.json": settings(deny=["Bash(curl:*)"]), **agent("smith", "Bash", "Run `curly x`.")}, []),
        (
            {".claude/settings.json": settings(deny=["Bash(curl:*)"]), **agent("smith", "Bash", "Never run `curl x`.")},
            [],
        ),
        (
            {
                ".claude/settings.json": settings(deny=["Bash(git push:*)"]),
                ".claude/settings.local.json": settings(allow=["Bash(git push:*)"]),
                **agent("smith", "Read", "Works."),
            },
            ["None: `Bash(git push:*)` is both denied and allowed in settings"],
        ),
        (
            {
                ".gemini/settings.json": json.dumps({"excludeTools": ["run_shell_command"]}),
                ".gemini/agents/smith.md": definition("smith", "[read_file, run_shell_command]"),
            },
            ["smith: `run_shell_command` is denied to every agent in the settings, and in the tools of `smith`"],
        ),
    ],
)
def test_settings_against_definitions(tmp_path: Path, files: dict[str, str], expected: list[str]):
    assert found(tmp_path, files) == expected


def test_servers_that_no_settings_declare(tmp_path: Path):
    servers = json.dumps({"mcpServers": {"docs": {"command": "docs"}}})
    team = {
        **agent("smith", "Read, mcp__docs__find", "Works."),
        **agent("clerk", "Read, mcp__archive__find", "Works."),
        **agent("guide", "Read, mcp__ide__open", "Works."),
    }
    absent = "clerk: `mcp__archive__find` is a tool of a server that no settings here declare"
    assert found(tmp_path / "a", {".mcp.json": servers, **team}) == [absent]
    assert found(tmp_path / "b", team) == []
    # none of them is declared here: they are declared elsewhere
    other = json.dumps({"mcpServers": {"mail": {"command": "mail"}}})
    assert found(tmp_path / "c", {".mcp.json": other, **team}) == []
