"""Manifests of plugins and marketplaces: what they count, the paths they name, the plugins they leave out."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

from remit.scan.files import Text
from remit.scan.manifests import read_manifest
from remit.scan.survey import scan
from tests.scan.repositories import definition, write

TEAM = {f"agents/{name}.md": definition(name, "Read") for name in ("baker", "miller", "porter", "tanner")}
SKILLS = {f"skills/{name}/SKILL.md": f"# {name}\n" for name in ("knead", "grind", "carry", "tan", "weave")}


def found(root: Path, files: dict[str, str]) -> list[str]:
    survey = scan(str(write(root, files)), today=datetime.date(2026, 11, 19))
    codes = ("count-mismatch", "missing-file", "no-section")
    return [f"{one.code}: {one.text}" for one in survey.findings if one.code in codes]


@pytest.mark.parametrize(
    ("manifest", "texts"),
    [
        (
            {"description": "Has 6 agents and 5 skills."},
            ["count-mismatch: the text speaks of 6 agents; `agents` defines 4"],
        ),
        ({"description": "A guild of 4 agents and 5 skills."}, []),
        ({"description": "A guild of up to 6 agents."}, []),
        ({"description": "Skills for .NET 6 skills."}, []),
        ({"description": ["6 agents"]}, []),
        (
            {"agents": ["./agents/baker.md", "./agents/weaver.md"]},
            ["missing-file: a manifest names `./agents/weaver.md`, which does not exist"],
        ),
        ({"agents": ["./agents/baker.md"], "skills": "skills/", "commands": None}, []),
        ({"agents": ["../../elsewhere/agents/x.md", "agents/*.md", 3]}, []),
    ],
)
def test_the_manifest_of_a_plugin(tmp_path: Path, manifest: dict[str, object], texts: list[str]):
    assert found(tmp_path, {**TEAM, **SKILLS, ".claude-plugin/plugin.json": json.dumps(manifest, indent=1)}) == texts


def test_a_manifest_that_lies_deeper_names_paths_from_the_root_or_from_its_folder(tmp_path: Path):
    manifest = json.dumps({"agents": ["agents/baker.md", "own.md", "nowhere/baker.md"]})
    files = {**TEAM, ".github/plugin/own.md": "# Own\n", ".github/plugin/plugin.json": manifest}
    assert found(tmp_path, files) == ["missing-file: a manifest names `nowhere/baker.md`, which does not exist"]


def test_a_marketplace_counts_what_each_plugin_has_and_offers_them_all(tmp_path: Path):
    files = {}
    for plugin in ("bread", "cloth", "leather", "paper"):
        files[f"plugins/{plugin}/.claude-plugin/plugin.json"] = json.dumps({"name": plugin})
        for agent in ("first", "second", "third", "fourth"):
            files[f"plugins/{plugin}/agents/{plugin}-{agent}.md"] = definition(f"{plugin}-{agent}", "Read")
    offered = [
        {"name": "bread", "source": "./plugins/bread", "description": "The bakery with 5 agents."},
        {"name": "cloth", "source": "./plugins/cloth", "description": "The mill with 4 agents."},
        {"name": "leather", "source": "./plugins/leather"},
        {"name": "wood", "source": "./plugins/wood"},
        {"name": "far", "source": {"source": "github", "repo": "acme/far"}, "description": "It has 9 agents."},
    ]
    files[".claude-plugin/marketplace.json"] = json.dumps({"plugins": offered}, indent=1)
    assert sorted(found(tmp_path, files)) == [
        "count-mismatch: the text speaks of 5 agents; `plugins/bread/agents` defines 4",
        "missing-file: a manifest names `./plugins/wood`, which does not exist",
        "no-section: a marketplace offers the plugins of `plugins`; not `paper`",
    ]


@pytest.mark.parametrize("text", ["", "[]", "{", '{"plugins": 3}', "[" * 5_000, '{"plugins": [{"source": 7}, 1]}'])
def test_a_manifest_that_is_none_says_nothing(text: str):
    manifest = read_manifest(Text("plugin.json", text))
    assert manifest is None or (manifest.counts, manifest.paths, manifest.plugins) == ((), (), ())
