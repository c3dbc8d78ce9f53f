"""`remit suggest`: a week of observing becomes a tighter policy, and a list for a person."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from remit.analyze.within import not_within
from remit.compile import build_rulebook, load_rulebook
from remit.declare.nodes import parse
from remit.forms.texts import plain
from tests.adapters.hooks.project import HOST, JSON, LATER, Project

POLICY: JSON = {
    "remit": 1,
    "name": "tried",
    "use": ["claude-code"],
    "hosts": {HOST: {"main": "lead"}},
    "enforce": {"observe": {"until": LATER}},
    "agents": {"lead": {"may": ["Read", "Write", "Bash", "Grep"]}},
}


@pytest.fixture
def tried(tmp_path: Path) -> Project:
    found = Project(tmp_path, POLICY)
    for name in ("README.md", "docs/a.md"):
        found.ask("Read", {"file_path": str(found.root / name)})
    found.ask("Bash", {"command": "git status"})
    found.ask("WebFetch", {"url": "https://a.example/", "prompt": "p"})
    found.ask("mcp__notes__add", {"text": "x"})
    found.ask("Read", {"file_path": "README.md"}, "Explore")
    return found


def suggest(project: Project, *more: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "XDG_STATE_HOME": str(project.folder / "state")}
    words = [sys.executable, "-m", "remit", "suggest", *more]
    return subprocess.run(words, cwd=project.root, env=env, capture_output=True, text=True, check=False, timeout=120)


def test_what_was_observed_becomes_a_policy(tried: Project):
    ran = suggest(tried, "--json")
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["calls"] == 6
    data = plain(parse(found["policy"], "suggested"))
    assert data["agents"]["lead"]["may"] == [
        {"Bash": {"shell": {"run": [{"git": ["status"]}]}}},
        {"Read": {"path": {"allow": ["README.md", "docs/a.md"]}}},
    ]
    assert list(not_within(build_rulebook(data).book, load_rulebook(tried.root / "remit.yaml").book)) == []
    assert [(one["agent"], one["tool"], one["code"]) for one in found["denied"]] == [
        ("Explore", "Read", "unknown-agent"),
        ("lead", "WebFetch", "not-permitted"),
        ("lead", "mcp__notes__add", "unknown-tool"),
    ]


def test_for_people_each_rule_says_how_often(tried: Project):
    ran = suggest(tried, "--since", "1h")
    assert ran.returncode == 0, ran.stderr
    assert "- Read: {path: {allow: [README.md, docs/a.md]}}    # 2 times, last " in ran.stdout
    assert "# 6 calls since 1h" in ran.stderr
    assert "lead WebFetch: deny (not-permitted), once" in ran.stderr
    later = suggest(tried, "--since", "2099-01-01")
    assert (later.returncode, later.stdout) == (2, "")
    assert "no calls are recorded since 2099-01-01: there is nothing to suggest from" in later.stderr
    assert suggest(tried, "--since", "soon").returncode == 2


TEAM = """\
remit: 1
agents:
  fetcher:
    may: [Read, {WebFetch: {url: ["https://**", "http://localhost:*/**"]}}, Grep]
"""


def test_a_policy_in_several_files_with_urls(tmp_path: Path):
    policy = {**POLICY, "include": ["parts/team.yaml"]}
    policy["agents"] = {"lead": {**POLICY["agents"]["lead"], "may": ["Read", "Task", "WebFetch"]}}
    (tmp_path / "proj" / "parts").mkdir(parents=True)
    (tmp_path / "proj" / "parts" / "team.yaml").write_text(TEAM)
    found = Project(tmp_path, policy)
    for url in ("https://a.example/x", "https://a.example/y?q=1", "http://localhost:8080/z"):
        found.ask("WebFetch", {"url": url, "prompt": "p"})
    ran = suggest(found, "--json")
    assert ran.returncode == 0, ran.stderr
    said = json.loads(ran.stdout)
    main, team = (plain(parse(text, "x")) for text in (said["policy"], said["included"]["parts/team.yaml"]))
    assert main["agents"]["lead"]["may"] == [
        {"WebFetch": {"url": ["http://localhost:8080/**", "https://a.example/**"]}}
    ]
    assert team["agents"]["fetcher"]["may"] == []
    assert main["include"] == ["parts/team.yaml"]
    assert "# parts/team.yaml" in suggest(found).stdout
