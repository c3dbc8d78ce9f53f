"""Drafts of policies: they load, name their sources, and are never wider than these."""

from __future__ import annotations

import datetime
import json
import subprocess
from pathlib import Path

import pytest

from remit.compile import build_rulebook, load_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.draft.from_survey import draft_from
from remit.draft.from_tools import ToolListError, draft_from_tools, served_tools
from remit.draft.history import committed, judged
from remit.draft.limits import globs_of
from remit.draft.model import Draft
from remit.draft.teams import draft_for, teams
from remit.forms.texts import plain
from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.profile import HELD
from remit.model.rulebook import Rulebook
from remit.scan.survey import scan
from remit.testing.policy_tests import run_tests
from tests.scan.repositories import MATRIX, REVIEWER, definition, write

TODAY = datetime.date(2026, 11, 18)


def book_of(draft: Draft) -> Rulebook:
    return build_rulebook(plain(parse(draft.policy, "remit.yaml")))


def drafted(root: Path, files: dict[str, str]) -> Draft:
    found = draft_from(scan(str(write(root, files)), today=TODAY), committed(str(root)))
    assert found is not None
    return found


def verdict(book: Rulebook, agent: str, tool: str, **args: object) -> str:
    return str(decide(book, Call(agent=agent, tool=tool, args=args), Facts(root="/work")).verdict.word)


def test_what_the_sources_agree_on(tmp_path: Path):
    draft = drafted(
        tmp_path,
        {
            ".claude/agents/code-reviewer.md": REVIEWER,
            ".claude/agents/builder.md": definition("builder", "Read, Write, Bash(git diff:*), mcp__db__query"),
            ".claude/agents/free.md": definition("free", None),
            "AGENTS-AND-TOOLS.md": "# Agents\n\n| Agent | Allowed tools |\n|---|---|\n| builder | Read, Bash |\n",
        },
    )
    book = book_of(draft)
    assert verdict(book, "code-reviewer", "Read", file_path="/work/src/x") == "allow"
    assert verdict(book, "code-reviewer", "Bash", command="git log --oneline") == "allow"
    assert verdict(book, "code-reviewer", "Bash", command="touch src/x") == "deny"
    assert verdict(book, "builder", "Bash", command="git diff") == "allow"
    assert verdict(book, "builder", "Bash", command="git push") == "deny"
    assert (
        verdict(book, "builder", "Write", file_path="/work/src/x", content="") == "deny"
    )  # the document does not grant it
    assert verdict(book, "free", "Read", file_path="/work/src/x") == "allow"
    assert verdict(book, "free", "Bash", command="ls") == "deny"
    assert verdict(book, "main", "Write", file_path="/work/src/x", content="") == "ask"
    assert "# .claude/agents/builder.md:4" in draft.policy
    said = "\n".join(draft.decisions)
    assert "builder: `Write`, `mcp__db__query` left out: denied by AGENTS-AND-TOOLS.md:5, granted by" in said
    assert "free: has no tool list" in said


def test_a_matrix_with_scopes(tmp_path: Path):
    draft = drafted(tmp_path, {"docs/access.md": MATRIX})
    book = book_of(draft)
    assert "use: [vscode]" in draft.policy
    assert verdict(book, "Digger", "create_file", filePath="/work/notes/a.md", content="") == "allow"
    assert verdict(book, "Digger", "create_file", filePath="/work/notes/b/a.md", content="") == "deny"
    assert verdict(book, "Digger", "run_in_terminal", command="ls") == "deny"
    assert verdict(book, "Lead", "create_file", filePath="/work/notes/a.md", content="") == "deny"


def test_scopes_are_tried_on_the_history(tmp_path: Path):
    root = write(tmp_path, {"docs/access.md": MATRIX, "work/7/notes/a.md": "x"})
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(root), *command], check=True, capture_output=True)
    draft = draft_from(scan(str(root), today=TODAY), committed(str(root)))
    assert draft is not None
    assert (
        "Digger: no committed file is within notes/*.md; 1 would be within **/notes/*.md, such as work/7/notes/a.md"
        in draft.decisions
    )


def test_history_runs_nothing_of_the_repository(tmp_path: Path):
    root = write(tmp_path, {"a.txt": "x", "run.sh": "#!/bin/sh\ntouch ran\n"})
    (root / "run.sh").chmod(0o755)
    for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]):
        subprocess.run(["git", "-C", str(root), *command], check=True, capture_output=True)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "pager.log", "core.sshCommand"):
        subprocess.run(["git", "-C", str(root), "config", key, str(root / "run.sh")], check=True)
    (root / "ran").unlink(missing_ok=True)
    assert sorted(committed(str(root))) == ["a.txt", "run.sh"]
    assert not (root / "ran").exists()


def test_a_scope_that_admits_what_was_committed_is_fine():
    assert judged(["notes/*.md"], ["notes/a.md"]) is None
    assert judged(["notes/*.md"], []) is None
    assert judged(["notes/*.md"], ["src/x.py"]) == "no committed file is within notes/*.md"


@pytest.mark.parametrize(
    ("text", "globs"),
    [
        ("`research/*.yaml` only. Path must match: `research/.*\\.yaml$`", ["research/*.yaml"]),
        ("docs/ and CHANGELOG.md", ["docs/**", "CHANGELOG.md"]),
        ("src/**, tests/**", ["src/**", "tests/**"]),
        ("interactive mode only", []),
        ("everything but `secrets/**`", []),
        ("src/**, not src/gen/**", []),
        ("alles außer `secrets/**`", []),
        ("除 secrets/** 以外", []),
        ("`*`", []),
    ],
)
def test_globs_in_a_sentence(text: str, globs: list[str]):
    assert globs_of(text) == globs


@pytest.mark.parametrize("team", teams())
def test_every_kind_of_team_loads_and_its_tests_pass(team: str, tmp_path: Path):
    draft = draft_for(team)
    policy = tmp_path / "remit.yaml"
    policy.write_text(draft.policy)
    policy.chmod(0o644)
    (tmp_path / "remit.test.yaml").write_text(draft.tests)
    results = run_tests(load_rulebook(policy), policy)
    assert len(results) >= 3
    assert [result for result in results if result.outcome != "passed"] == []
    assert draft.agents >= 2


TOOLS = {
    "result": {
        "tools": [
            {
                "name": "get_issue",
                "inputSchema": {"properties": {"id": {"type": "integer"}}, "required": ["id"]},
                "annotations": {"readOnlyHint": True},
            },
            {
                "name": "close_issue",
                "inputSchema": {
                    "properties": {"id": {"type": "integer"}, "why": {"type": "string"}},
                    "required": ["id"],
                },
            },
            {"name": "drop_all", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}},
            {"name": "bad name!", "inputSchema": {}},
            {"name": "odd", "inputSchema": {"properties": {"a b": {}}}},
        ]
    }
}


def test_a_servers_tools():
    draft = draft_from_tools(*served_tools(json.dumps(TOOLS), "tracker"), "tracker")
    book = book_of(draft)
    assert verdict(book, "reader", "mcp__tracker__get_issue", id=1) == "allow"
    assert verdict(book, "reader", "mcp__tracker__close_issue", id=1) == "deny"
    assert verdict(book, "worker", "mcp__tracker__close_issue", id=1, why="x") == "ask"
    assert verdict(book, "worker", "mcp__tracker__drop_all") == "ask"
    said = "\n".join(draft.decisions)
    assert "bad name!` left out" in said
    assert "`a b`" in said


@pytest.mark.parametrize("text", ["{", "[1]", "{}", '{"tools": "x"}', '{"tools": []}', "[" * 100_000])
def test_what_is_no_list_of_tools(text: str):
    with pytest.raises(ToolListError):
        served_tools(text, "x")


def test_a_draft_with_a_shell_proposes_confinement(tmp_path: Path):
    draft = drafted(tmp_path, {".claude/agents/builder.md": definition("builder", "Read, Bash")})
    assert any("`confine: required`" in text for text in draft.decisions)
    on = draft.policy.replace("# confine:", "confine:").replace("# sandbox:", "sandbox:")
    book = build_rulebook(plain(parse(on, "remit.yaml")))
    assert book.book.callers["builder"].confine == "required"
    call = Call(agent="builder", tool="Bash", args={"command": "frobnicate"})
    assert decide(book, call, Facts(root="/work", confined=HELD)).allowed
    assert decide(book, call, Facts(root="/work")).code == "confine-unavailable"
    assert "confine" not in drafted(tmp_path / "b", {".claude/agents/r.md": definition("r", "Read")}).policy
    coding = draft_for("coding").policy.replace("# confine:", "confine:").replace("# sandbox:", "sandbox:")
    assert build_rulebook(plain(parse(coding, "remit.yaml"))).book.callers["builder"].confine == "required"


def test_every_scope_of_a_list_is_kept(tmp_path: Path):
    draft = drafted(tmp_path, {".claude/agents/t.md": definition("t", "Read, Bash(pytest:*), Bash(git diff:*)")})
    book = book_of(draft)
    assert verdict(book, "t", "Bash", command="git diff") == "allow"
    assert verdict(book, "t", "Bash", command="pytest -q") == "allow"
    assert verdict(book, "t", "Bash", command="git push") == "deny"


def test_a_scope_that_another_place_does_not_give_is_left_out(tmp_path: Path):
    table = "# Agents\n\n| Agent | Read | Bash |\n|---|---|---|\n| t | ✅ | 🔒 pytest |\n| u | ✅ | ❌ |\n"
    files = {
        ".claude/agents/t.md": definition("t", "Read, Bash(pytest:*), Bash(git diff:*)"),
        ".claude/agents/u.md": definition("u", "Read"),
        "AGENTS.md": table,
    }
    draft = drafted(tmp_path, files)
    book = book_of(draft)
    assert verdict(book, "t", "Bash", command="pytest -q") == "allow"
    assert verdict(book, "t", "Bash", command="git diff") == "deny"
    assert "t: `Bash` left out: limited to “git diff:*”, and to “pytest” by AGENTS.md:5" in draft.decisions


def test_what_settings_deny_and_ask_about_is_in_the_draft(tmp_path: Path):
    settings = {
        "permissions": {
            "allow": ["Bash(make test)"],
            "ask": ["Bash(git commit:*)", "Edit(docs/**)"],
            "deny": ["Read(.env)", "WebFetch", "Bash(git push:*)", "Bash(*deploy*)", "Read(~/keys)"],
        }
    }
    files = {
        ".claude/agents/t.md": definition("t", "Read, Edit, WebFetch, Bash"),
        ".claude/agents/u.md": definition("u", "Read, Bash(ls:*)"),
        ".claude/settings.json": json.dumps(settings, indent=1),
    }
    draft = drafted(tmp_path, files)
    book = book_of(draft)
    assert verdict(book, "t", "Read", file_path="/work/src/a") == "allow"
    assert verdict(book, "t", "Read", file_path="/work/.env") == "deny"
    assert verdict(book, "t", "Read", file_path="/work/a/.env/x") == "deny"
    assert verdict(book, "main", "Read", file_path="/work/a/.env") == "deny"
    for agent in ("t", "main"):
        assert verdict(book, agent, "WebFetch", url="https://a.example/", prompt="x") == "deny"
    edit = {"old_string": "a", "new_string": "b"}
    assert verdict(book, "t", "Edit", file_path="/work/src/a", **edit) == "allow"
    assert verdict(book, "t", "Edit", file_path="/work/docs/a", **edit) == "ask"
    assert verdict(book, "t", "Bash", command="git add a") == "allow"
    assert verdict(book, "t", "Bash", command="git commit -m x") == "ask"
    assert verdict(book, "t", "Bash", command="git push") == "ask"
    assert verdict(book, "main", "Bash", command="make test") == "allow"
    assert verdict(book, "main", "Bash", command="make release") == "ask"
    assert "git" not in draft.policy.partition("  u:")[2].partition("  main:")[0]
    said = [text for text in draft.decisions if "settings.json" in text]
    assert "t: `WebFetch` left out: denied to every agent by .claude/settings.json:12" in said
    assert any(text.startswith("`Bash(*deploy*)`, `Read(~/keys)`: only its host follows") for text in said)


def test_the_session_looks_without_a_question(tmp_path: Path):
    book = book_of(drafted(tmp_path, {".claude/agents/t.md": definition("t", "Read")}))
    assert verdict(book, "main", "Bash", command="git status") == "allow"
    assert verdict(book, "main", "Bash", command="ls -la | head") == "allow"
    assert verdict(book, "main", "Bash", command="touch a") == "ask"


def test_words_of_another_language_mean_tools_that_read(tmp_path: Path):
    table = "# Rechte\n\n| Rolle | Lesen | Schreiben |\n|---|---|---|\n| Prüfer | ja | nein |\n| Leser | ja | nein |\n"
    files = {
        ".claude/agents/pruefer.md": definition("pruefer", "Read, Write"),
        ".claude/agents/leser.md": definition("leser", None),
        "docs/rechte.md": table,
    }
    book = book_of(drafted(tmp_path, files))
    for agent in ("pruefer", "leser"):
        assert verdict(book, agent, "Read", file_path="/work/a") == "allow"
        assert verdict(book, agent, "Write", file_path="/work/a", content="") == "deny"


def test_the_drafts_tests_call_a_tool_that_the_agent_has(tmp_path: Path):
    draft = drafted(tmp_path, {".claude/agents/t.md": definition("t", "Read, Write")})
    assert "call: {agent: t, tool: Write, args: {file_path: remit.yaml, content: x}}" in draft.tests


def test_a_name_that_a_policy_can_not_say_is_a_question(tmp_path: Path):
    """The host would call the agent by the name in its definition, and the policy would not know it."""
    draft = drafted(tmp_path, {".claude/agents/review.md": definition("Code Reviewer", "Read")})
    assert "  code-reviewer:" in draft.policy
    said = "\n".join(draft.decisions)
    assert "code-reviewer: its definition says `name: Code Reviewer`, which a policy can't name" in said
    assert "write `name: code-reviewer` there" in said


def test_agents_of_an_editor_are_carried_by_the_host_whose_hooks_it_runs(tmp_path: Path):
    agent = "---\nname: tester\ndescription: Tests.\ntools: [read, edit, usages]\n---\nTests.\n"
    draft = drafted(tmp_path, {".github/agents/tester.agent.md": agent})
    book = book_of(draft)
    assert "use: [vscode, copilot-cli]" in draft.policy
    assert book.book.hosts == {"copilot-cli": {"main": "main"}}
    assert verdict(book, "tester", "list_code_usages", symbolName="f") == "allow"
    assert verdict(book, "main", "read_file", filePath="/work/a") == "allow"
    assert verdict(book, "main", "create_file", filePath="/work/a", content="") == "ask"
    assert verdict(book, "tester", "view", path="/work/a") == "allow"
    assert verdict(book, "tester", "create", path="/work/a", file_text="") == "allow"
    assert verdict(book, "tester", "bash", command="ls", description="") == "deny"
    assert "every call is judged as the main agent's" in draft.decisions[0]


def test_a_document_without_a_host_says_whose_tools_were_taken(tmp_path: Path):
    text = (
        "# Agents\n\n| Agent | Allowed tools |\n|---|---|\n| builder | Read, Write, Bash |\n| looker | Read, Grep |\n"
    )
    draft = drafted(tmp_path, {"AGENTS.md": text})
    assert draft.decisions[0].startswith("no definition says which host runs these agents")
    assert "remit init --host HOST" in draft.decisions[0]


def test_a_limit_on_writing_limits_every_tool_that_writes(tmp_path: Path):
    table = "# Agents\n\n| Agent | Read | Write |\n|---|---|---|\n| scribe | ✅ | 🔒 `docs/**` |\n| other | ✅ | ✅ |\n"
    files = {
        ".claude/agents/scribe.md": definition("scribe", "Read, Write, Edit"),
        ".claude/agents/other.md": definition("other", "Read, Write, Edit"),
        "AGENTS.md": table,
    }
    book = book_of(drafted(tmp_path, files))
    edit = {"old_string": "a", "new_string": "b"}
    assert verdict(book, "scribe", "Edit", file_path="/work/docs/a.md", **edit) == "allow"
    assert verdict(book, "scribe", "Edit", file_path="/work/src/a.py", **edit) == "deny"
    assert verdict(book, "other", "Edit", file_path="/work/src/a.py", **edit) == "allow"


def test_whom_a_host_keeps_an_agent_from_gets_no_work_of_it(tmp_path: Path) -> None:
    head = "---\ndescription: Works.\nmode: subagent\npermission: {task: %s}\n---\nDo.\n"
    draft = drafted(
        tmp_path,
        {
            ".opencode/agents/lead.md": head % '{"*": allow, "ops-*": deny, reviewer: deny}',
            ".opencode/agents/ops-one.md": head % "{lead: allow}",
            ".opencode/agents/reviewer.md": head % "deny",
            ".opencode/agents/tester.md": head % "deny",
        },
    )
    assert {name: caller.delegates_to for name, caller in book_of(draft).book.callers.items()} == {
        "lead": ("tester",),
        "main": ("lead", "ops-one", "reviewer", "tester"),
        "ops-one": ("lead",),
        "reviewer": None,
        "tester": None,
    }
    assert not any("only its host" in text for text in draft.decisions)


def test_one_question_about_many_tools(tmp_path: Path) -> None:
    """A list of a server's tools is one question, and the whole list is among the details."""
    names = [f"mcp__db__{name}" for name in ("get", "put", "list", "drop", "copy", "move")]
    listed = "".join(f"  - {name}\n" for name in ["Read", *names])
    head = f"---\nname: t\ndescription: Works.\ntools:\n{listed}---\nDo.\n"
    draft = drafted(tmp_path, {".claude/agents/t.md": head})
    about = "left out: of an MCP server; `remit init --tools FILE --server NAME` drafts its tools (.claude/agents/t.md:"
    first = ", ".join(f"`{name}`" for name in names[:4])
    assert [text for text in draft.decisions if "MCP" in text] == [f"t: {first} and 2 more {about}4)"]
    assert [text for text in draft.details if "MCP" in text] == [f"t: `{name}` {about}4)" for name in names]


def test_the_session_of_a_host_alone(tmp_path: Path) -> None:
    """Settings and no agents: what the session does without a question, asks about and never does."""
    rules = {"allow": ["Bash(npm test:*)"], "deny": ["Read(.env)", "WebFetch"]}
    draft = drafted(tmp_path, {".claude/settings.json": json.dumps({"permissions": rules})})
    book = book_of(draft)
    assert list(book.book.callers) == ["main"]
    assert [
        verdict(book, "main", "Read", file_path="/work/src/x"),
        verdict(book, "main", "Read", file_path="/work/.env"),
        verdict(book, "main", "Bash", command="npm test"),
        verdict(book, "main", "Bash", command="npm publish"),
        verdict(book, "main", "Write", file_path="/work/src/x", content=""),
        verdict(book, "main", "WebFetch", url="https://a.example/", prompt=""),
        verdict(book, "main", "Agent", subagent_type="main", prompt="", description=""),
    ] == ["allow", "deny", "allow", "ask", "ask", "deny", "deny"]


def test_agents_of_documents_alone_are_listed(tmp_path: Path) -> None:
    draft = drafted(
        tmp_path,
        {
            ".claude/agents/a.md": definition("a", "Read"),
            "AGENTS.md": "# Agents\n\n| Agent | Allowed tools |\n|---|---|\n| a | Read |\n| ghost | Read |\n",
        },
    )
    assert draft.decisions == ("ghost: only a document names it (AGENTS.md:6): if nobody runs it, take it out",)


RECORDS = """# Permissions

```yaml
agent_id: builder
permissions:
  tools_allowed: [read_file, run_command]
  tools_forbidden: [git_push]
  data_tiers_allowed: [0, 1]
  resource_locks_allowed: [src/**]
  resource_locks_forbidden: [src/gen/**]
  external_apis_allowed: []
  may_delegate_to: [tester, nobody-here]
```

```yaml
agent_id: tester
permissions:
  tools_allowed: [run_command]
  resource_locks_allowed: ["src/["]
```
"""


def test_permission_records_are_a_program_with_tools_of_its_own(tmp_path: Path) -> None:
    """Its tools are declared, with arguments for a person to name; its limits hold for all that the agent does."""
    draft = drafted(tmp_path, {"PERMISSIONS.md": RECORDS})
    data = plain(parse(draft.policy, "remit.yaml"))
    unknown = {"args": {}, "does": {"write": {"records": "program"}}, "tier": 3}
    assert data == {
        "remit": 1,
        "tools": {"read_file": unknown, "run_command": unknown},
        "agents": {
            "builder": {
                "may": [["read_file", "run_command"]],
                "data_tiers": [0, 1],
                "apis": [],
                "locks": {"may": ["src/**"], "except": ["src/gen/**"]},
                "delegates_to": ["tester"],
            },
            "tester": {"may": []},
        },
    }
    book = book_of(draft)
    assert verdict(book, "builder", "read_file") == "ask"
    assert verdict(book, "builder", "read_file", path="x") == "deny"
    assert [text for text in draft.decisions if "tester" in text] == [
        "tester: has limits that can't be written as rules; it may do nothing (PERMISSIONS.md:16)"
    ]


def test_a_program_that_says_who_may_call_its_tools(tmp_path: Path) -> None:
    """Each file declares tools of its own: what an agent has is in all of them."""
    one = "export const a = { name: 'readNote', accessibleBy: ['writer', 'reader'] };\n"
    two = "export const b = { name: 'writeFile', accessibleBy: ['writer'] };\n"
    draft = drafted(tmp_path, {"src/a.ts": one, "src/b.ts": two})
    data = plain(parse(draft.policy, "remit.yaml"))
    assert (list(data["tools"]), data["agents"], data.get("use")) == (
        ["readNote", "writeFile"],
        {"reader": {"may": [["readNote"]]}, "writer": {"may": [["readNote"], ["writeFile"]]}},
        None,
    )
    assert len(draft.decisions) == 1
