"""Whatever a repository says of its agents: what a draft allows, every place that speaks of the agent allows.

The definitions, settings and matrices are generated, and what each of them grants is worked out here from what was
generated, not from what a scan reads.
"""

from __future__ import annotations

import datetime
import fnmatch
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remit.compile import build_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.draft import from_survey
from remit.draft.agreed import Limit
from remit.draft.from_survey import draft_from
from remit.forms.texts import plain
from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.scan.survey import scan
from tests.scan.repositories import definition, write

TODAY = datetime.date(2026, 11, 19)
LOOKING = ("ls -la", "git status", "git log --oneline")
COMMANDS = (
    *LOOKING,
    "git diff",
    "git diff --stat",
    "git push",
    "npm test",
    "npm run lint",
    "npm run build",
    "make test",
    "make release",
    "pytest -q",
    "python -m pytest",
    "touch src/a.py",
    "./check.sh",
    "git diff && npm test",
)
PATHS = ("src/a.py", "docs/a.md", "docs/b/c.md", "notes/a.md", ".env", "README.md")
SITES = ("https://docs.example.org/a", "https://other.example/a")


@dataclass(frozen=True)
class Act:
    """What a call does: words such as `edit`, and on what."""

    words: tuple[str, ...]
    target: str
    tool: str = ""


@dataclass(frozen=True)
class Token:
    """An entry of a list of tools: what it means to its host, and on what."""

    text: str
    words: frozenset[str]
    holds: Callable[[str], bool] = field(default=lambda target: True)


def token(text: str, *words: str, holds: Callable[[str], bool] = lambda target: True) -> Token:
    return Token(text, frozenset(words), holds)


def begins(*words: str) -> Callable[[str], bool]:
    """Each of the commands begins with these words; looking and a change of the folder need no rule in Claude Code."""
    return lambda line: any(line.split()[: len(one.split())] == one.split() for one in words)


def matches(*globs: str) -> Callable[[str], bool]:
    return lambda path: any(fnmatch.fnmatchcase(path, glob.replace("**", "*")) for glob in globs)


CLAUDE = (
    token("Read", "read", "list"),
    token("Grep", "search", "find"),
    token("Glob", "find", "list"),
    token("Write", "create", "edit"),
    token("Edit", "edit"),
    token("Bash", "run"),
    token("WebFetch", "fetch"),
    token("Bash(git diff:*)", "run", holds=begins("git diff")),
    token("Bash(npm test)", "run", holds="npm test".__eq__),
    token("Bash(npm run lint)", "run", holds="npm run lint".__eq__),
    token("Bash(npm run *)", "run", holds=begins("npm run")),
    token("Bash(make test:*)", "run", holds=begins("make test")),
    token("Bash(git:*)", "run", holds=begins("git")),
    token("Bash(git diff --stat:*)", "run", holds=begins("git diff --stat")),
    token("Bash(git)", "run", holds="git".__eq__),
    token("Bash(python -m pytest:*)", "run", holds=begins("python -m pytest")),
    token("Bash(./check.sh)", "run", holds="./check.sh".__eq__),
    token("Bash(frobnicate:*)", "run", holds=begins("frobnicate")),
    token("Edit(docs/**)", "edit", holds=matches("docs/**")),
    token("Write(notes/*.md)", "create", "edit", holds=matches("notes/*.md")),
    token("Read(src/**)", "read", holds=matches("src/**")),
    token("WebFetch(domain:docs.example.org)", "fetch", holds=lambda url: url.startswith("https://docs.example.org/")),
    token("mcp__db__query"),
    token("TodoWrite"),
    token("frobnicate"),
    token("MultiEdit", "edit"),
    # names of another ecosystem: hosts don't know them, so they may mean no more than there
    token("read_file", "read", "list"),
    token("create_file", "create"),
    token("run_in_terminal", "run"),
    token("editFiles", "create", "edit"),
)
COPILOT = (
    token("read", "read", "list"),
    token("edit", "create", "edit"),
    token("search", "search", "find"),
    token("execute", "run"),
    token("read_file", "read", "list"),
    token("create_file", "create"),
    token("edit/editFiles", "create", "edit"),
    token("runCommands", "run"),
    token("github/create_issue"),
    token("usages"),
    token("runTests"),
    token("Bash", "run"),
    token("replace_string_in_file", "edit"),
    token("Edit", "create", "edit"),
    token("web", "fetch"),
    # one tool of a toolset is no other of it, and a server's tool is none of the host's
    token("read/problems"),
    token("read/terminalLastCommand"),
    token("execute/getTerminalOutput"),
    token("execute/testFailure"),
    token("execute/createAndRunTask"),
    token("edit/createDirectory"),
    token("edit/createFile", "create"),
    token("edit/rename"),
    token("search/changes"),
    token("search/codebase", "search"),
    token("codebase", "search"),
    token("files/create"),
    token("files/edit"),
    token("files/view"),
    token("host/bash"),
)
OPENCODE: dict[str, tuple[str, ...]] = {
    "read": ("read", "list"),
    "glob": ("find",),
    "grep": ("search",),
    "edit": ("create", "edit"),  # the answer for `edit` counts for every tool that writes
    "bash": ("run",),
    "webfetch": ("fetch",),
}
PATTERNS: dict[str, dict[str, Callable[[str], bool]]] = {
    "bash": {
        "git diff*": begins("git diff"),
        "git *": begins("git"),
        "npm test": "npm test".__eq__,
        "npm run *": begins("npm run"),
        "git push*": begins("git push"),
        "make test": "make test".__eq__,
    },
    "edit": {
        "docs/**": matches("docs/**"),
        "*.md": matches("*.md"),
        "src/*": matches("src/*"),
    },
    "read": {"*.env": matches("*.env"), "src/**": matches("src/**")},
}
GEMINI = (
    token("read_file", "read"),
    token("list_directory", "list"),
    token("write_file", "create", "edit"),
    token("replace", "create", "edit"),
    token("run_shell_command", "run"),
    token("glob", "find"),
    token("mcp_db_query"),
    token("Bash", "run"),
    token("edit/createFile", "create"),
)
GIT = token("run_shell_command(git)", "run", holds=begins("git"))
DENIED = (
    token("Bash", "run"),
    token("Write", "create"),
    token("Edit", "edit"),
    token("Read", "read"),
    token("WebFetch", "fetch"),
    token("Bash(git push:*)", "run", holds=begins("git push")),
    token("Bash(npm run *)", "run", holds=begins("npm run")),
    token("Bash(git diff)", "run", holds="git diff".__eq__),
    token("Read(.env)", "read", holds=".env".__eq__),
    token("Edit(docs/**)", "edit", holds=matches("docs/**")),
    token("Edit(*.md)", "edit", holds=matches("*.md", "**/*.md")),
)


@dataclass
class Source:
    """One place and what it allows; `refuses` are entries that take away what the others grant."""

    everything: bool = False
    grants: list[Token] = field(default_factory=list)
    refuses: list[Token] = field(default_factory=list)
    answers: list[tuple[str, Any]] = field(default_factory=list)
    """What OpenCode is told of tools, in its order."""
    changes: bool = True
    """Whether the agent may change anything at all."""
    tells: frozenset[str] = frozenset(("read", "search", "create", "edit", "run", "fetch"))
    """The words that it says anything about."""

    def allows(self, act: Act) -> bool:
        return all(self._allows(word, act) for word in act.words if word in self.tells)

    def _allows(self, word: str, act: Act) -> bool:
        targets = act.target.split(" && ") if word == "run" else [act.target]
        return all(self._allows_one(word, target, act.tool) for target in targets)

    def _allows_one(self, word: str, target: str, tool: str) -> bool:
        if any(word in words and _refused(name, self.answers)(target) for name, words in OPENCODE.items()):
            return False
        if any(tool == one.text or (word in one.words and one.holds(target)) for one in self.refuses):
            return False
        scoped = any(word in one.words and "(" in one.text and one.holds(target) for one in self.grants)
        if not self.changes and word in ("create", "edit"):
            return False
        if not self.changes and word == "run" and target not in (*LOOKING, "git diff", "git diff --stat"):
            return scoped
        return self.everything or any(word in one.words and one.holds(target) for one in self.grants)


@dataclass
class Repository:
    """Files, and by agent all that speaks of it."""

    files: dict[str, str] = field(default_factory=dict)
    sources: dict[str, list[Source]] = field(default_factory=dict)


@st.composite
def answered(draw: st.DrawFn) -> tuple[str, Source]:
    """The text of a definition for OpenCode: what it answers for tools, by pattern or not, and its answers."""
    rules = draw(permissions())
    lines = [f"  {json.dumps(key)}: {json.dumps(answer)}" for key, answer in rules.items()]
    head = "permission:\n" + "\n".join(lines) + "\n" if lines else ""
    text = f"---\ndescription: Works.\nmode: subagent\n{head}---\nDo the work.\n"
    return text, Source(everything=True, answers=list(rules.items()))


@st.composite
def permissions(draw: st.DrawFn) -> dict[str, Any]:
    """What OpenCode is told of tools, in the order in which it counts: names of tools, and patterns of names."""
    rules: dict[str, Any] = {}
    for tool in draw(st.permutations((*OPENCODE, "*", "web*", "e*"))):
        form = draw(st.sampled_from(("none", "none", "none", "allow", "deny", "ask", "patterns")))
        if form == "patterns" and tool in PATTERNS:
            patterns = draw(st.lists(st.sampled_from(("*", *PATTERNS[tool])), min_size=1, max_size=4, unique=True))
            rules[tool] = {pattern: draw(st.sampled_from(("allow", "ask", "deny"))) for pattern in patterns}
        elif form in ("allow", "deny", "ask"):
            rules[tool] = form
    return rules


def _refused(tool: str, answers: list[tuple[str, Any]]) -> Callable[[str], bool]:
    """Whether the host asks or denies: the last answer that matches says it; what none matches is not known."""

    def refused(target: str) -> bool:
        holds = PATTERNS.get(tool, {})
        found = [
            given
            for key, answer in answers
            if fnmatch.fnmatchcase(tool, key)
            for pattern, given in (answer.items() if isinstance(answer, dict) else (("*", answer),))
            if pattern == "*" or holds[pattern](target)
        ]
        return bool(found) and found[-1] != "allow"

    return refused


NAMES = ("alpha", "Beta Agent", "gamma-reviewer")
KEYS = {"alpha": "alpha", "Beta Agent": "beta", "gamma-reviewer": "gamma-reviewer"}


@st.composite
def definitions(draw: st.DrawFn, pool: tuple[Token, ...], name: str) -> tuple[str, Source]:
    """The text of a definition in one of the forms that people write, and what it grants."""
    chosen = draw(st.lists(st.sampled_from(pool), max_size=5, unique_by=lambda one: one.text))
    form = draw(
        st.sampled_from(
            ("comma", "list", "block", "objects", "nested", "word", "empty", "none", "star", "broken", "null")
        )
    )
    texts = [one.text for one in chosen]
    source, head = Source(grants=chosen), ""
    if form == "word" or (form != "empty" and not chosen):
        source.grants = chosen[:1] or [pool[0]]
        head = f"tools: {source.grants[0].text}\n"
    elif form in ("comma", "broken"):
        head = f"tools: {', '.join(texts)}\n"
    elif form == "list":
        head = f"tools: [{', '.join(json.dumps(one) for one in texts)}]\n"
    elif form == "block":
        head = "tools:\n" + "".join(f"  - {json.dumps(one)}\n" for one in texts)
    elif form == "objects":
        head = "tools:\n" + "".join(f"  - name: {json.dumps(one)}\n    description: x\n" for one in texts)
    elif form == "nested":
        head = f"tools:\n  primary: {json.dumps(texts[:1])}\n  more: {json.dumps(texts[1:])}\n"
    elif form == "empty":
        source.grants, head = [], "tools: []\n"
    elif form in ("none", "null", "star"):
        source.everything, head = True, {"none": "", "null": "tools:\n", "star": 'tools: "*"\n'}[form]
    denied = (
        draw(st.lists(st.sampled_from(DENIED), max_size=2, unique_by=lambda one: one.text)) if pool is CLAUDE else []
    )
    if denied:
        head += f"disallowedTools: {', '.join(one.text for one in denied)}\n"
        source.refuses += denied
    kept = draw(st.sampled_from(("", "", "", "plan", "acceptEdits", "claim"))) if pool is CLAUDE else ""
    if kept in ("plan", "acceptEdits"):
        head += f"permissionMode: {kept}\n"
    source.changes = kept not in ("plan", "claim")
    about = "Strictly read-only. Reviews." if kept == "claim" else "Works."
    about = "Use it when: the user: asks" if form == "broken" and kept != "claim" else about
    bom = draw(st.sampled_from(("", "", "\ufeff")))
    return f"{bom}---\nname: {name}\ndescription: {about}\n{head}---\nDo the work.\n", source


@st.composite
def repositories(draw: st.DrawFn) -> Repository:
    """Definitions, maybe two of one agent, with settings and a matrix or without."""
    found = Repository()
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True))
    places = draw(st.sampled_from((("",), ("",), ("web/", "api/"))))
    layout = draw(st.sampled_from(("claude", "claude", "copilot", "both", "opencode", "gemini", "cursor")))
    for name in names:
        key = KEYS[name]
        for place in places:
            if layout == "opencode":
                text, source = draw(answered())
                found.files[f"{place}.opencode/agents/{key}.md"] = text
            elif layout == "gemini":
                text, source = draw(definitions(GEMINI, name))
                found.files[f"{place}.gemini/agents/{key}.md"] = text
            elif layout == "cursor":
                looks = draw(st.booleans())
                source = Source(everything=True, changes=not looks)
                head = "readonly: true\n" if looks else ""
                text = f"---\nname: {name}\ndescription: Works.\n{head}---\nDo the work.\n"
                found.files[f"{place}.cursor/agents/{key}.md"] = text
            if layout in ("opencode", "gemini", "cursor"):
                found.sources.setdefault(key, []).append(source)
                continue
            if layout != "copilot":
                text, source = draw(definitions(CLAUDE, name))
                found.files[f"{place}.claude/agents/{key}.md"] = text
                found.sources.setdefault(key, []).append(source)
            if layout != "claude":
                text, source = draw(definitions(COPILOT, name))
                found.files[f"{place}.github/agents/{key}.agent.md"] = text
                found.sources.setdefault(key, []).append(source)
    if layout == "opencode" and draw(st.booleans()):
        rules = draw(permissions())
        found.files["opencode.json"] = json.dumps({"permission": rules}, indent=1)
        for source in (one for sources in found.sources.values() for one in sources):
            source.answers[:0] = rules.items()  # an agent's own come after them
    if layout == "gemini" and draw(st.booleans()):
        core = draw(st.lists(st.sampled_from((*GEMINI, GIT)), min_size=1, max_size=4, unique_by=lambda one: one.text))
        found.files[".gemini/settings.json"] = json.dumps({"tools": {"core": [one.text for one in core]}})
        for sources in found.sources.values():
            sources.append(Source(grants=core))
    if draw(st.booleans()) and layout == "claude":
        denied = draw(st.lists(st.sampled_from(DENIED), max_size=3, unique_by=lambda one: one.text))
        asked = draw(st.lists(st.sampled_from(DENIED), max_size=2, unique_by=lambda one: one.text))
        rules = {
            "deny": [one.text for one in denied],
            "ask": [one.text for one in asked],
            "allow": ["Read", "Bash(npm run *)"],
        }
        found.files[".claude/settings.json"] = json.dumps({"permissions": rules}, indent=1)
        for sources in found.sources.values():
            sources.append(Source(everything=True, refuses=[*denied, *asked]))
    if places == ("",):
        for file in draw(st.lists(st.sampled_from(("AGENTS.md", "docs/agents.md")), unique=True)):
            if len(names) > 1:
                found.files[file] = _matrix(draw, found, names)
        for file in draw(st.lists(st.sampled_from(("README.md", "TEAM.md")), max_size=1)):
            found.files[file] = _sections(draw, found, names)
    return found


TITLES = {
    "en": ("Agent", "Read", "Write", "Edit", "Bash"),
    "es": ("Agente", "Leer", "Escribir", "Editar", "Terminal"),
    "pt": ("Agente", "Ler", "Escrever", "Editar", "Terminal"),
    "zh": ("代理", "读取", "写入", "编辑", "执行"),
}


def _sections(draw: st.DrawFn, found: Repository, names: list[str]) -> str:
    """A page with a section for each agent: what it may use, what it may not, and what it says of itself."""
    lines = ["# Agents", ""]
    words = {
        "Read": ("read",),
        "Write": ("create", "edit"),
        "Edit": ("create", "edit"),
        "Bash": ("run",),
        "WebFetch": ("fetch",),
    }
    for name in names:
        lines += [f"## {name}", "", "Works on what it is given.", ""]
        tools = draw(st.lists(st.sampled_from(tuple(words)), unique=True, max_size=4))
        never = draw(st.lists(st.sampled_from(tuple(words)), unique=True, max_size=2))
        if tools:
            lines.append(f"- **Allowed tools:** {', '.join(tools)}")
            grants = [Token(tool, frozenset(words[tool])) for tool in tools]
            tells = frozenset(("create", "edit", "run", "fetch"))
            found.sources[KEYS[name]].append(Source(grants=grants, tells=tells))
        if never:
            lines.append(f"- **Forbidden tools:** {', '.join(never)}")
            refuses = [Token(tool, frozenset()) for tool in never]  # the tool itself
            found.sources[KEYS[name]].append(Source(everything=True, refuses=refuses))
        said = draw(st.sampled_from(("", "", "access", "sentence")))
        if said == "access":
            lines.append("- **Access:** read-only")
        elif said == "sentence":
            lines += ["", f"The {name} agent never edits files and never runs commands."]
        if said:
            tells = frozenset(("create", "edit") if said == "access" else ("create", "edit", "run"))
            found.sources[KEYS[name]].append(Source(tells=tells, everything=False))
        lines.append("")
    return "\n".join(lines)


def _matrix(draw: st.DrawFn, found: Repository, names: list[str]) -> str:
    cells = {
        "Read": (("✅", None), ("❌", "no")),
        "Write": (("✅", None), ("❌", "no"), ("🔒 `docs/**`", "docs/**")),
        "Edit": (("✅", None), ("❌", "no"), ("🔒 `docs/**`", "docs/**"), ("🔒", "no")),
        "Bash": (("✅", None), ("❌", "no"), ("🔒 git diff, npm test", "git diff"), ("🔒 in plan mode only", "no")),
    }
    words = {"Read": ("read",), "Write": ("create", "edit"), "Edit": ("edit",), "Bash": ("run",)}
    titles = TITLES[draw(st.sampled_from(("en", "en", *TITLES)))]
    lines = ["# Agents and their tools", "", f"| {' | '.join(titles)} |", "|---|---|---|---|---|"]
    for name in names:
        row, source = [], Source(tells=frozenset(("read", "create", "edit", "run")))
        for column, choices in cells.items():
            cell, scope = draw(st.sampled_from(choices))
            row.append(cell)
            if scope == "no":
                source.refuses.append(Token(column, frozenset()))
                continue
            holds = {
                None: lambda target: True,
                "docs/**": matches("docs/**"),
                "git diff": begins("git diff", "npm test"),
            }[scope]
            source.grants.append(Token(column, frozenset(words[column]), holds))
        lines.append(f"| {name} | {' | '.join(row)} |")
        found.sources[KEYS[name]].append(source)
    text = "\n".join(lines) + "\n"
    return text.encode().decode("mac_roman") if draw(st.sampled_from((False, False, False, True))) else text


ELSEWHERE = {
    "opencode": (
        ("read", "filePath"),
        ("write", "filePath", "content"),
        ("edit", "filePath", "oldString", "newString"),
        ("bash",),
    ),
    "gemini-cli": (
        ("read_file", "file_path"),
        ("write_file", "file_path", "content"),
        ("replace", "file_path", "old_string", "new_string"),
        ("run_shell_command",),
    ),
    "cursor": (
        ("Read", "path"),
        ("Write", "path", "contents"),
        ("StrReplace", "path", "old_string", "new_string"),
        ("Shell",),
    ),
}


def calls(agent: str, packs: frozenset[str]) -> Iterator[tuple[Call, Act]]:
    """Calls of an agent in the tools of the draft's packs, and what each does."""
    if "claude-code" in packs:
        for path in PATHS:
            full = f"/work/{path}"
            yield Call(agent, "Read", {"file_path": full}), Act(("read",), path, "Read")
            yield Call(agent, "Write", {"file_path": full, "content": ""}), Act(("create", "edit"), path, "Write")
            edit = {"file_path": full, "old_string": "a", "new_string": "b"}
            yield Call(agent, "Edit", edit), Act(("edit",), path, "Edit")
        for line in COMMANDS:
            yield Call(agent, "Bash", {"command": line}), Act(("run",), line, "Bash")
        for url in SITES:
            yield Call(agent, "WebFetch", {"url": url, "prompt": "x"}), Act(("fetch",), url, "WebFetch")
    for pack, tools in ELSEWHERE.items():
        for path in PATHS if pack in packs else ():
            full = f"/work/{path}"
            read, write, change, _ = tools
            yield Call(agent, read[0], {read[1]: full}), Act(("read",), path, read[0])
            yield Call(agent, write[0], {write[1]: full, write[2]: ""}), Act(("create", "edit"), path, write[0])
            changes = {change[1]: full, change[2]: "a", change[3]: "b"}
            yield Call(agent, change[0], changes), Act(("edit",), path, change[0])
        for line in COMMANDS if pack in packs else ():
            yield Call(agent, tools[3][0], {"command": line}), Act(("run",), line, tools[3][0])
    for path in PATHS if "vscode" in packs else ():
        full = f"/work/{path}"
        yield Call(agent, "read_file", {"filePath": full}), Act(("read",), path)
        yield Call(agent, "create_file", {"filePath": full, "content": ""}), Act(("create",), path)
        edit = {"filePath": full, "oldString": "a", "newString": "b"}
        yield Call(agent, "replace_string_in_file", edit), Act(("edit",), path)
        yield Call(agent, "view", {"path": full}), Act(("read",), path)
        yield Call(agent, "create", {"path": full, "file_text": ""}), Act(("create",), path)
        yield Call(agent, "edit", {"path": full, "old_str": "a", "new_str": "b"}), Act(("edit",), path)
    for line in COMMANDS if "vscode" in packs else ():
        yield (
            Call(agent, "run_in_terminal", {"command": line, "explanation": "", "isBackground": False}),
            Act(("run",), line),
        )
        yield Call(agent, "bash", {"command": line, "description": ""}), Act(("run",), line)


def drafted(found: Repository) -> tuple[Rulebook, frozenset[str]]:
    """The draft, and its packs."""
    with tempfile.TemporaryDirectory() as folder:
        draft = draft_from(scan(str(write(Path(folder), found.files)), today=TODAY))
    assert draft is not None
    data = plain(parse(draft.policy, "draft"))
    return build_rulebook(data), frozenset(data.get("use", ()))


def wider(found: Repository) -> tuple[list[tuple[str, str, dict[str, object]]], int]:
    """The calls that the draft allows and some place does not, and how many it allows."""
    book, packs = drafted(found)
    wrong: list[tuple[str, str, dict[str, object]]] = []
    allowed = 0
    for agent in found.sources:
        for call, act in calls(agent, packs):
            decision = decide(book, call, Facts(root="/work"))
            new = any(one.do == "create-exclusively" for one in decision.obligations)
            does = replace(act, words=("create",), tool="") if new else act
            allowed += decision.allowed
            if decision.allowed and not all(source.allows(does) for source in found.sources[agent]):
                wrong.append((agent, call.tool, dict(call.args)))
    return wrong, allowed


@settings(max_examples=100)
@given(found=repositories())
def test_what_a_draft_allows_every_place_allows(found: Repository) -> None:
    wrong, _ = wider(found)
    assert wrong == [], found.files


ALL = Repository(
    {
        "a/.claude/agents/alpha.md": definition("alpha", "Read, Write, Edit, Bash, WebFetch"),
        "b/.claude/agents/alpha.md": definition(
            "alpha", "Read, Edit(docs/**), Bash(npm test), WebFetch\ndisallowedTools: WebFetch"
        ),
        ".claude/settings.json": '{"permissions": {"deny": ["Read(.env)"], "ask": ["Edit(docs/b/**)"]}}',
    },
    {
        "alpha": [
            Source(grants=[one for one in CLAUDE if one.text in ("Read", "Write", "Edit", "Bash", "WebFetch")]),
            Source(
                grants=[one for one in CLAUDE if one.text in ("Read", "Edit(docs/**)", "Bash(npm test)")],
                refuses=[token("WebFetch", "fetch")],
            ),
            Source(
                everything=True,
                refuses=[
                    token("Read(.env)", "read", holds=".env".__eq__),
                    token("Edit(docs/b/**)", "edit", holds=matches("docs/b/**")),
                ],
            ),
        ]
    },
)


def test_some_of_it_is_allowed() -> None:
    """What all three places say is allowed, and nothing else."""
    wrong, allowed = wider(ALL)
    assert (wrong, allowed) == ([], len(PATHS) - 1 + 1 + 1)  # files to read, a document to edit, a command


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("refusal", lambda *_: None),
        ("takes", lambda *_: ()),
        ("limit_of", lambda _, entry, __: Limit(entry.scope, entry.place)),
    ],
)
def test_the_property_notices_a_draft_that_is_wider(
    name: str, instead: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(from_survey, name, instead)
    assert wider(ALL)[0] != []
