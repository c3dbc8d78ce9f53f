"""Policy, document, draft: what `remit docs` writes, `remit init` reads back as the same policy, or a narrower one."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from remit.compile import build_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.draft.from_survey import draft_from
from remit.explain.regions import written
from remit.forms.texts import plain
from remit.model.call import Call
from remit.model.errors import PolicyError
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.scan.survey import scan
from tests.drawn import rulebook_of

TODAY = datetime.date(2026, 11, 19)
MATRIX = "# Agents and their tools\n\n<!-- remit:matrix -->\n<!-- /remit -->\n\n"
SECTIONS = "<!-- remit:sections -->\n<!-- /remit -->\n"
PATHS = ("src/a.py", "src/gen/b.py", "docs/a.md", "docs/b/c.md", "notes.txt", ".github/x.yml")
LINES = (
    "git status",
    "git diff --stat",
    "git push",
    "npm test",
    "npm run lint",
    "make test",
    "make",
    "pytest -q",
    "ls src",
)
STATEMENTS = ("SELECT a FROM t", "DELETE FROM t", "SELECT a FROM u", "DROP TABLE t")
GLOBS = st.lists(
    st.sampled_from(("src/**", "docs/*.md", "**/*.md", "notes.txt", "src/gen/*", "docs/**", ".github/*.yml")),
    min_size=1,
    max_size=3,
    unique=True,
)
RUNS = st.lists(
    st.sampled_from(
        (
            "pytest",
            "ls",
            {"git": ["status", "diff"]},
            {"git": ["push"]},
            {"npm": ["test"]},
            {"npm": ["run lint"]},
            {"make": {"targets": ["test"]}},
        )
    ),
    min_size=1,
    max_size=3,
    unique_by=str,
)
PACKS = {
    "claude-code": (("Read", "Glob"), ("Write", "Edit"), ("Bash",), ("WebFetch", "TodoWrite", "Agent")),
    "vscode": (
        ("read_file", "list_dir"),
        ("create_file", "replace_string_in_file"),
        ("run_in_terminal",),
        ("ask_questions",),
    ),
}
SAYABLE = st.fixed_dictionaries({"path": GLOBS}), st.fixed_dictionaries({"shell": st.fixed_dictionaries({"run": RUNS})})


@st.composite
def policies(draw: st.DrawFn, *, sayable: bool) -> dict[str, Any]:
    """A policy; with `sayable`, only of what a document can say: tools, globs and commands."""
    pack = draw(st.sampled_from(sorted(PACKS)))
    looks, writes, shells, further = PACKS[pack]
    names = draw(
        st.lists(st.sampled_from(("scout", "smith", "code-judge", "Lead")), min_size=1, max_size=4, unique=True)
    )
    agents: dict[str, Any] = {}
    for name in names:
        may: list[Any] = [tool for tool in (*looks, *further) if draw(st.booleans())]
        for tool in writes:
            limit = draw(st.sampled_from(("none", "whole", "paths")))
            may += [] if limit == "none" else [tool] if limit == "whole" else [{tool: draw(SAYABLE[0])}]
        limit = draw(st.sampled_from(("none", "whole", "runs")))
        may += [] if limit == "none" else [shells[0]] if limit == "whole" else [{shells[0]: draw(SAYABLE[1])}]
        agents[name] = {"may": may}
        if not sayable:
            _more(draw, agents[name], pack)
        if "Agent" in may:
            others = [other for other in names if other != name]
            some = draw(st.lists(st.sampled_from(others), unique=True)) if others and not sayable else others
            agents[name]["delegates_to"] = some or None
    kept = {name: {key: value for key, value in one.items() if value is not None} for name, one in agents.items()}
    found = {"remit": 1, "use": [pack], "agents": kept}
    if not sayable:
        found["tools"] = {
            "query": {"args": {"sql": "sql"}, "dialect": "sqlite"},
            "refund": {"args": {"amount": "number"}, "does": {"pay": "amount"}, "tier": 1},
        }
    return found


def _more(draw: st.DrawFn, agent: dict[str, Any], pack: str) -> None:
    """Rules that a document says in words, if at all."""
    looks, writes, shells, _ = PACKS[pack]
    everything = (*looks, *writes, *shells)
    agent["may"] += draw(
        st.lists(
            st.sampled_from(
                (
                    {"query": {"sql": {"select": ["t"]}}},
                    "query",
                    {"refund": {"where": {"amount": {"max": 50}}}},
                    {writes[0]: {"path": {"allow": ["src/**"], "except": ["src/gen/**"]}}},
                    {writes[0]: {"path": {"allow": ["docs/*.md"], "new_only": True}}},
                    {shells[0]: {"shell": {"sets": ["inspect"]}}},
                    {shells[0]: {"shell": {"run": ["any"], "path": {"write": []}}}},
                    {shells[0]: {"shell": {"run": ["pytest"], "path": {"write": ["src/**"]}, "filters": ["head"]}}},
                    {shells[0]: {"shell": {"run": ["npm run lint"]}}},
                    {looks[0]: {"when": {"environment": "dev"}}},
                    {shells[0]: {"shell": {"run": [{"npm": {"sub": ["run"], "options": []}}]}}},
                )
            ),
            max_size=2,
            unique_by=str,
        )
    )
    taken = st.one_of(
        st.sampled_from(everything),
        st.builds(lambda tool, globs: {tool: {"path": globs}}, st.sampled_from((*looks, *writes)), GLOBS),
        st.builds(lambda runs: {shells[0]: {"shell": {"run": runs}}}, RUNS),
        st.sampled_from(({"effect": "network"}, {"effect": ["write", "delete"]}, {"path": "src/gen/**"})),
        st.sampled_from(
            (
                {writes[0]: {"path": ["docs/**"], "when": {"environment": "prod"}}},
                {looks[0]: {"path": ["docs/**"], "except": {"path": "docs/b/**"}}},
            )
        ),
    )
    agent["must_ask"] = draw(st.lists(taken, max_size=2, unique_by=str)) or None
    agent["may_not"] = draw(st.lists(taken, max_size=2, unique_by=str)) or None
    agent["locks"] = {"may": draw(GLOBS)} if draw(st.booleans()) else None
    agent["may"] += draw(st.lists(st.sampled_from(({writes[0]: {"path": ["notes.txt"]}},)), max_size=1))
    if pack == "claude-code":
        agent["may"] += draw(st.sampled_from(([], ["Skill"], [{"Skill": {"skill": ["pdf"]}}])))
        agent["must_ask"] = [*(agent["must_ask"] or []), *draw(st.sampled_from(([], [{"Skill": {"skill": "deploy"}}])))]
    agent["skills"] = draw(st.sampled_from((None, None, ["pdf"])))
    agent["apis"] = draw(st.sampled_from((None, None, [])))
    agent["capsule"] = draw(st.sampled_from((None, None, None, "required")))
    agent["project_code"] = draw(st.sampled_from((None, "deny")))


def calls(agent: str) -> Iterator[Call]:
    for path in PATHS:
        full = f"/work/{path}"
        yield Call(agent, "Read", {"file_path": full})
        yield Call(agent, "Write", {"file_path": full, "content": ""})
        yield Call(agent, "Edit", {"file_path": full, "old_string": "a", "new_string": "b"})
        yield Call(agent, "read_file", {"filePath": full})
        yield Call(agent, "create_file", {"filePath": full, "content": ""})
        yield Call(agent, "replace_string_in_file", {"filePath": full, "oldString": "a", "newString": "b"})
    for line in LINES:
        yield Call(agent, "Bash", {"command": line})
        yield Call(agent, "run_in_terminal", {"command": line})
    for statement in STATEMENTS:
        yield Call(agent, "query", {"sql": statement})
    for amount in (5, 500):
        yield Call(agent, "refund", {"amount": amount})
    yield Call(agent, "Glob", {"pattern": "**/*.py"})
    yield Call(agent, "list_dir", {"path": "/work/src"})
    yield Call(agent, "WebFetch", {"url": "https://a.example/", "prompt": ""})
    for skill in ("pdf", "deploy"):
        yield Call(agent, "Skill", {"skill": skill})
    for other in ("scout", "smith"):
        yield Call(agent, "Agent", {"subagent_type": other, "prompt": "", "description": ""})


def back(before: Rulebook, marks: str, pack: str) -> Rulebook | None:
    """What `remit init` drafts from the document that `remit docs` writes, if it takes its tools for those of the pack:
    `read_file` alone may be another's."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "TEAM.md").write_text(written(before, marks)[0], "utf-8")
        draft = draft_from(scan(folder, today=TODAY))
    if draft is not None and f"use: [{pack}]" not in draft.policy:
        return None
    return build_rulebook(plain(parse(draft.policy, "draft"))) if draft is not None else None


def verdicts(book: Rulebook, agent: str) -> list[tuple[Call, str]]:
    found = ((call, decide(book, call, Facts(root="/work"))) for call in calls(agent))
    return [(call, str(decision.verdict.word)) for call, decision in found]


def compared(data: dict[str, Any], marks: str) -> Iterator[tuple[str, str, dict[str, Any], str, str]]:
    """The calls on which the policy and what comes back differ."""
    try:
        before = rulebook_of(data)
    except PolicyError:
        assume(False)
    after = back(before, marks, data["use"][0])
    if after is None:
        return
    for agent in data["agents"]:
        later = dict_of(verdicts(after, agent)) if agent in after.book.callers else {}
        for call, was in verdicts(before, agent):
            now = later.get(repr(call), "deny")
            if was != now:
                yield agent, call.tool, dict(call.args), was, now


def dict_of(found: list[tuple[Call, str]]) -> dict[str, str]:
    return {repr(call): verdict for call, verdict in found}


RANK = {"deny": 0, "ask": 1, "allow": 2}


@settings(max_examples=80)
@given(data=policies(sayable=True))
def test_what_a_document_can_say_comes_back(data: dict[str, Any]) -> None:
    assert list(compared(data, MATRIX + SECTIONS)) == []


@settings(max_examples=80)
@given(data=policies(sayable=False), marks=st.sampled_from((MATRIX + SECTIONS, MATRIX, SECTIONS)))
def test_nothing_comes_back_wider(data: dict[str, Any], marks: str) -> None:
    assert [one for one in compared(data, marks) if RANK[one[4]] > RANK[one[3]]] == []
