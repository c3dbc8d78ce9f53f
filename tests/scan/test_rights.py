"""Rights in words, scopes, servers and hand-overs of documents, against what definitions grant."""

from __future__ import annotations

import datetime
import time
from pathlib import Path

import pytest

from remit.scan.files import Text
from remit.scan.handovers import handed_over
from remit.scan.markdown import read_markdown
from remit.scan.model import Account, Kind, Place
from remit.scan.names import Names
from remit.scan.statements import Statements, own_accounts
from remit.scan.sums import sums_of
from remit.scan.survey import scan
from tests.scan.repositories import definition, write

TEAM = {
    ".claude/agents/code-reviewer.md": definition("code-reviewer", "Read, Edit"),
    ".claude/agents/explorer.md": definition("explorer", "Read, Grep, Bash"),
    ".claude/agents/builder.md": definition("builder", "Read, Edit, Write, Bash"),
    ".claude/agents/planner.md": definition("planner", "Read, Grep"),
}


def found(root: Path, page: str, *, team: dict[str, str] | None = None, path: str = "docs/guide.md") -> list[str]:
    survey = scan(str(write(root, {**(team or TEAM), path: page})), today=datetime.date(2026, 11, 18))
    codes = ("definition-wider", "definition-narrower", "hand-overs-differ", "count-mismatch", "undefined-name")
    return [
        f"{one.code} {one.agent}: {one.text}"
        for one in survey.findings
        if one.code in codes and one.weight.value != "note"
    ]


EDIT = "definition-wider code-reviewer: the text says “{}”, and the definition grants `Edit`"
BASH = "definition-wider explorer: the text says “{}”, and the definition grants `Bash`"
NOTHING = "definition-narrower planner: the text says “{}”, and no tool of the definition's list can do that"


def table(heading: str, *cells: str) -> str:
    rows = zip(("code-reviewer", "explorer", "builder", "planner"), cells, strict=False)
    return f"# Team\n\n| Agent | {heading} |\n|---|---|\n" + "".join(f"| `{name}` | {cell} |\n" for name, cell in rows)


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (
            table("Access", "Read-only", "read-only", "Read/Write", "Read/Write"),
            [
                NOTHING.format("Access: Read/Write"),
                EDIT.format("Access: Read-only"),
                BASH.format("Access: read-only"),
            ],
        ),
        # a shell can write, but whoever must not edit may run commands
        (
            table("Write access", "none", "❌", "`src/**`", "`docs/`"),
            [NOTHING.format("Write access: docs/"), EDIT.format("Write access: none")],
        ),
        (table("Shell access", "no", "no", "yes", "no"), [BASH.format("Shell access: no")]),
        (table("Access", "Read-only (except reports)", "see below", "Full", "varies"), []),
        # whatever the heading: the row is about the agent
        (
            table("Notes", "Read-only", "Quick, read-only.", "Read-only for docs", ""),
            [EDIT.format("Read-only"), BASH.format("Quick, read-only")],
        ),
        (table("Access", "Read-only", "", "", "").replace("# Team", "# MCP servers by agent"), []),
        (table("GitHub access", "Read-only", "Read-only", "Full", "Full"), []),
        ("# Roles\n\n| Agent | Access |\n|---|---|\n| Admin | Read-only |\n| Guest | Read-only |\n", []),
    ],
)
def test_rights_in_columns(tmp_path: Path, page: str, texts: list[str]):
    assert sorted(found(tmp_path, page)) == sorted(texts)


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        (
            "# Read-only agents\n\n- code-reviewer: reads\n- `explorer` — digs\n",
            [EDIT.format("Read-only agents"), BASH.format("Read-only agents")],
        ),
        ("# x\n\n**Write-capable agents:** builder, planner\n", [NOTHING.format("Write-capable agents")]),
        ("# x\n\n- **Read-only agents**: planner, code-reviewer\n", [EDIT.format("Read-only agents")]),
        (
            "# x\n\n**Agents with write access:**\n\n- builder\n- planner\n",
            [NOTHING.format("Agents with write access")],
        ),
        (
            "# Levels\n\n| Level | Agents |\n|---|---|\n| L0: Read-only | code-reviewer, planner |\n| L1 | x |\n",
            [EDIT.format("L0: Read-only")],
        ),
        ("# x\n\n## code-reviewer\n\n- **Write access**: none\n", [EDIT.format("Write access: none")]),
        ("# x\n\n## planner\n\n**Write access:** `docs/`\n", [NOTHING.format("Write access: docs/")]),
        # someone who is not defined, a heading of something else, a list that ended
        ("# x\n\n**Read-only agents:** code-reviewer, somebody\n", []),
        ("# Read-only tools\n\n- code-reviewer\n", []),
        ("# Read-only agents\n\nFirst some text about them.\n\nMore of it.\n\n\n\n\n- code-reviewer\n", []),
        ("# x\n\n## Access\n\n- **Write access**: none\n", []),
        ("```\n# Read-only agents\n\n- code-reviewer\n```\n", []),
    ],
)
def test_rights_of_groups_and_sections(tmp_path: Path, page: str, texts: list[str]):
    assert sorted(found(tmp_path, page)) == sorted(texts)


@pytest.mark.parametrize(
    ("tools", "body", "wrong"),
    [
        ("Read, Write", "# Z\n\n- **Access:** read-only\n", True),
        ("Read, Write", "Write access: none\n", True),
        (None, "Write access: none\n", True),
        ("Read", "Write access: none\n", False),
        ("Read, Write", "Write access: `docs/`\n", False),
        ("Read", "Write access: `docs/`\n", True),
        ("Read, mcp__files__save", "Write access: `docs/`\n", False),
        ("Read, Write", "Database access: read-only\n", False),
    ],
)
def test_rights_that_a_definition_gives_itself(tmp_path: Path, tools: str | None, body: str, wrong: bool):
    team = {".claude/agents/z.md": definition("z", tools, body)}
    assert bool(found(tmp_path, "# x\n", team=team)) is wrong


LESS = "the document grants every tool; the definition's list has none to write files"


@pytest.mark.parametrize(
    ("cell", "texts"),
    [
        (
            "Read, Grep, Bash(git log:*)",
            ["definition-wider explorer: the document grants `Bash(git log:*)`; the definition grants `Bash` whole"],
        ),
        ("Read, Grep, Bash(git log:*), Bash", []),
        ("Read, Grep, Bash (mostly)", []),
        ("Read, Grep, Bash", []),
        (
            "All tools",
            [
                "definition-narrower explorer: " + LESS,
            ],
        ),
        ("Read, Search, Terminal", []),
    ],
)
def test_lists_of_a_document(tmp_path: Path, cell: str, texts: list[str]):
    page = f"# Team\n\n| Agent | Tools |\n|---|---|\n| explorer | {cell} |\n| builder | Read, Edit, Write, Bash |\n"
    assert found(tmp_path, page) == texts


LACKS = "a table gives agents servers that no tool of their definitions belongs to: "


@pytest.mark.parametrize(
    ("page", "texts"),
    [
        ("| a-dev | maps, mail |\n| b-dev | none |\n", []),
        (
            "| a-dev | maps |\n| b-dev | mail |\n",
            [
                "definition-wider None: definitions grant tools of servers that a table does not give: `mail` (a-dev)",
                "definition-narrower None: " + LACKS + "`mail` (b-dev)",
            ],
        ),
        ("| a-dev | maps, mail |\n| c-dev | mail |\n", []),
        ("| a-dev | maps, mail |\n| d-dev | mail |\n", []),
    ],
)
def test_servers_against_definitions(tmp_path: Path, page: str, texts: list[str]):
    team = {
        ".claude/agents/a-dev.md": definition("a-dev", "Read, mcp__maps__find, mcp__mail__*"),
        ".claude/agents/b-dev.md": definition("b-dev", "Read, Bash"),
        ".claude/agents/c-dev.md": definition("c-dev", None),
        ".claude/agents/d-dev.md": definition("d-dev", "Read, mcp__*"),
    }
    assert found(tmp_path, f"# x\n\n| Agent | MCP servers |\n|---|---|\n{page}", team=team) == texts


def handing(name: str, others: list[str], body: str = "Work.") -> str:
    rows = "".join(f"  - label: Go\n    agent: {one}\n    prompt: x\n" for one in others)
    return f"---\nname: {name}\ndescription: Works\ntools: [read, edit]\nhandoffs:\n{rows}---\n{body}\n"


APART = "heads and a text hand work to different agents:"
OWN = "its head and the text hand work to different agents:"
TABLE = "# x\n\n| Agent | Hands off to |\n|---|---|\n"


@pytest.mark.parametrize(
    ("page", "body", "texts"),
    [
        (f"{TABLE}| lead | coder, `tester` |\n", "x", []),
        (
            f"{TABLE}| lead | coder, reviewer |\n",
            "x",
            [f"{APART} `lead`: `reviewer` in the text only, `tester` in the head only"],
        ),
        (f"{TABLE}| lead | coder |\n", "x", [f"{APART} `lead`: `tester` in the head only"]),
        (f"{TABLE}| lead | reviewer |\n", "x", []),
        (
            f"{TABLE}| lead | reviewer |\n| coder | tester |\n| tester | lead |\n| reviewer | lead, coder |\n",
            "x",
            [
                (
                    f"{APART} `lead`: `reviewer` in the text only, `coder`, `tester` in the head only; "
                    "`reviewer`: `coder` in the text only"
                )
            ],
        ),
        ("# Agent handoffs\n\n- @lead → @coder → @tester\n", "x", []),
        (
            "# Agent handoffs\n\n```\n@coder → @lead   (questions)\n```\n",
            "x",
            [f"{APART} `coder`: `lead` in the text only"],
        ),
        ("# How it works\n\n- @coder → @lead\n", "x", []),
        (f"{TABLE}| lead | the next in line |\n| coder | reviewer |\n", "x", []),
        (f"{TABLE.replace('Hands off to', 'Works with')}| lead | coder |\n", "x", []),
        (
            "# x\n",
            "## Handoffs\n\n- **coder**: code\n- **@reviewer** — reads\n",
            [f"{OWN} `reviewer` in the text only, `tester` in the head only"],
        ),
        ("# x\n", "## Handoffs\n\n- **coder**: code\n- **From whom**: reviewer\n", []),
        ("# x\n", "## Handoffs\n\n- **coder**: code\n- **tester**: tests\n", []),
    ],
)
def test_hand_overs(tmp_path: Path, page: str, body: str, texts: list[str]):
    team = {
        ".github/agents/lead.agent.md": handing("lead", ["coder", "tester"], body),
        ".github/agents/coder.agent.md": handing("coder", ["tester"]),
        ".github/agents/tester.agent.md": handing("tester", ["lead"]),
        ".github/agents/reviewer.agent.md": handing("reviewer", ["lead"]),
    }
    told = found(tmp_path, page, team=team)
    assert [one.partition(": ")[2] for one in told if one.startswith("hand-overs-differ")] == texts


def test_sub_agents_that_a_permission_allows(tmp_path: Path):
    task = "permission:\n  task:\n    '*': deny\n    coder: allow\n    gone: allow\n"
    head = f"---\ndescription: Leads\nmode: primary\n{task}"
    team = {
        ".opencode/agents/lead.md": f"{head}---\nx\n",
        ".opencode/agents/coder.md": "---\ndescription: x\nmode: subagent\n---\n",
    }
    assert found(tmp_path, "# x\n", team=team) == [
        "undefined-name lead: hands work to `gone`, which is defined nowhere here"
    ]


@pytest.mark.parametrize(
    ("page", "sums"),
    [
        ("We have 20 agents: 5 core + 8 dev + 6 ops.", [(20, 19)]),
        ("We have 20 agents: 6 core + 8 dev + 6 ops.", []),
        ("There are 12 skills (4 review, 4 build, 3 test) here.", [(12, 11)]),
        ("There are 12 skills (4 review, 3 build) here.", []),  # there may be more
        ("9 agents (3 hosts, 4 languages, 5 teams)", []),
        ("12 agents: 5 skills + 3 commands + 4 hooks", []),
        ("## Agents (9)\n\n### Core (4)\n\n### Tests (4)\n", [(9, 8)]),
        ("## Agents (9)\n\n### Core (5)\n\n### Tests (4)\n", []),
        ("## Agents (9)\n\n### Core (5)\n\n### Tests\n", []),
        ("| Group | Agents |\n|---|---|\n| a | 3 |\n| b | 4 |\n| **Total** | **8** |\n", [(8, 7)]),
        ("| Group | Agents |\n|---|---|\n| a | 3 |\n| b | 5 |\n| Total | 8 |\n", []),
        ("| Group | Cost |\n|---|---|\n| a | 3 |\n| b | 4 |\n| Total | 8 |\n", []),
    ],
)
def test_totals_and_their_parts(page: str, sums: list[tuple[int, int]]):
    text = Text("docs/guide.md", page)
    assert [(one.said, one.added) for one in sums_of(text, read_markdown(page))] == sums


@pytest.mark.parametrize(
    ("tree", "texts"),
    [
        (
            "├── chatmodes/   # 3 chat modes",
            ["count-mismatch None: the text speaks of 3 chatmodes; `.claude/chatmodes` has 0"],
        ),
        ("├── agents/   # 4 agents", []),
    ],
)
def test_a_folder_that_is_not_there(tmp_path: Path, tree: str, texts: list[str]):
    more = {".claude/commands/skill.md": "x", ".claude/commands/plan.md": "x"}
    page = f"# Layout\n\n```\n.claude/\n{tree}\n```\n\nThe 2 commands in `.claude/commands/`.\n"
    assert found(tmp_path, page, team={**TEAM, **more}) == texts


def test_agents_that_a_program_defines(tmp_path: Path):
    page = "# x\n\nDelegate to `docs-writer`, then delegate to `code-reviewer`, `explorer`; delegate to `builder`.\n"
    team = {**TEAM, "src/agents.ts": 'export const agents = { "docs-writer": {} }'}
    assert found(tmp_path / "a", page, team=team, path=".claude/skills/x/guide.md") == []
    assert found(tmp_path / "b", page, path=".claude/skills/x/guide.md") == [
        "undefined-name docs-writer: `docs-writer` is given work and is defined nowhere here"
    ]


OPENCODE = (
    "---\ndescription: {description}\nmode: subagent\n"
    "tools:\n  write: true\n  bash: true\npermission:\n{rules}---\nWork.\n"
)


@pytest.mark.parametrize(
    ("rules", "wrong"),
    [
        ("  edit: ask\n  bash:\n    'git *': allow\n    '*': deny\n", False),
        ("  edit: ask\n  bash: ask\n", False),
        ("  edit: ask\n", True),
        ("  edit: ask\n  bash: allow\n", True),
    ],
)
def test_what_permission_says_wins_over_tools(tmp_path: Path, rules: str, wrong: bool):
    head = OPENCODE.format(description="Works", rules=rules)
    survey = scan(str(write(tmp_path, {".opencode/agents/z.md": head})), today=datetime.date(2026, 11, 18))
    assert any(one.code == "moot-scope" for one in survey.findings) is wrong


@pytest.mark.parametrize(("mode", "wrong"), [("primary", True), ("subagent", False), ("fast", False)])
def test_modes_in_tables(tmp_path: Path, mode: str, wrong: bool):
    team = {f".opencode/agents/{n}.md": OPENCODE.format(description="x", rules="  edit: ask\n") for n in ("one", "two")}
    page = f"# Agents\n\n| Agent | Mode |\n|---|---|\n| `one` | {mode} |\n| `two` | subagent |\n"
    survey = scan(str(write(tmp_path, {**team, "docs/guide.md": page})), today=datetime.date(2026, 11, 18))
    texts = [one.text for one in survey.findings if one.code == "defined-twice"]
    assert texts == (["the text says “Mode: primary”, and the definition's mode is subagent"] if wrong else [])


@pytest.mark.parametrize(
    ("sentence", "wrong"), [("", True), ("They are typical usage patterns, not access restrictions.", False)]
)
def test_lists_that_are_no_limits(tmp_path: Path, sentence: str, wrong: bool):
    page = f"# Team\n\n{sentence}\n\n| Agent | Tools |\n|---|---|\n| explorer | Read, Grep |\n| planner | Read |\n"
    assert any(one.startswith("definition-wider") for one in found(tmp_path, page)) is wrong


def test_files_that_a_tree_draws(tmp_path: Path):
    kept = ("one", "two")
    files = {f".github/instructions/{name}.instructions.md": "x" for name in kept}
    rows = "".join(f"│   ├── {name}.instructions.md\n" for name in (*kept, "gone"))
    page = f"# Agents and instructions\n\n```\n.github/\n├── instructions/\n{rows}```\n"
    survey = scan(str(write(tmp_path, {**TEAM, **files, "docs/guide.md": page})), today=datetime.date(2026, 11, 18))
    assert [one.text for one in survey.findings if one.code == "missing-file"] == [
        "`.github/instructions/gone.instructions.md` does not exist"
    ]


@pytest.mark.parametrize(
    ("page", "path", "text"),
    [
        ("They come with 6 specialized agents.\n", "commands/README.md", "6 agents; `.claude/agents` defines 4"),
        ("It brings a 5-agent team.\n", "README.md", "5 agents; `.claude/agents` defines 4"),
        ("It brings a 4-agent team.\n", "README.md", ""),
        ("All 29 agents exceeded the limit of 3 agents.\n", "README.md", ""),
        ("It has 6 instructions.\n", "README.md", ""),
    ],
)
def test_numbers_of_the_whole_team(tmp_path: Path, page: str, path: str, text: str):
    assert [one for one in found(tmp_path, page, path=path) if "count-mismatch" in one] == (
        [f"count-mismatch None: the text speaks of {text}"] if text else []
    )


def test_a_leader_in_a_list_of_names_is_defined_too(tmp_path: Path):
    names = ("code-reviewer", "explorer", "builder", "planner", "doc-writer", "agent-coordinator")
    team = {**TEAM, ".claude/agents/doc-writer.md": definition("doc-writer", "Read")}
    page = "# Agents\n\n| Agent | Use |\n|---|---|\n" + "".join(f"| `{name}` | x |\n" for name in names)
    assert found(tmp_path, page, team=team) == [
        "undefined-name agent-coordinator: among the agents, without a definition: `agent-coordinator`"
    ]


CALLERS = """# Access

| Tool | Accessible by |
|---|---|
| readPage | `LEAD_TALK`<br/>`EXPERT_TEXT` |
| endTurn | `LEAD_TALK` |

```ts
endTurn: {{
    accessibleBy: [Caller.{caller}]
}}
```

```
- page: {said} tools

- readPage (page/Files)
- dropPage (page/Files)
- endTurn (system/Flow)
```
"""


@pytest.mark.parametrize(
    ("caller", "said", "codes"),
    [
        ("LEAD_TALK", 2, set()),
        ("LEAD", 2, set()),
        ("EXPERT", 2, {"example-against-table"}),  # whoever is meant: none of them has it
        ("LEAD_TALK", 3, {"count-mismatch"}),
    ],
)
def test_examples_against_their_tables_and_lists(tmp_path: Path, caller: str, said: int, codes: set[str]):
    page = CALLERS.format(caller=caller, said=said)
    survey = scan(str(write(tmp_path, {"docs/access.md": page})), today=datetime.date(2026, 11, 18))
    assert {one.code for one in survey.findings} & {"example-against-table", "count-mismatch"} == codes


HOSTILE = [
    "**Write access" + ": " * 50_000,
    "Write access: " + "./a/" * 30_000,
    "Write access: " + "*" * 100_000,
    "20 agents: " + "5 a + " * 20_000,
    "20 agents (" * 10_000,
    "1 agents: " * 10_000,
    "| Agent | Write access | Hands off to |\n|---|---|---|\n"
    "| builder | " + "a/, " * 20_000 + "| " + "x, " * 20_000 + "|\n",
    "| Agent | Access |\n|---|---|\n" + "| builder | read" + "-only " * 20_000 + "|\n",
    "# " + "Level 1: " * 20_000 + "\n- builder\n",
    "# Read-only agents\n" + "- builder (" * 20_000,
    "- `" + "x" * 100_000 + " (" + "y" * 100_000,
    "## Agents " + "(1 " * 30_000,
    "| a | Agents |\n|---|---|\n" + "| x | 1 |\n" * 20_000 + "| total | 1 |\n",
    "".join(f"{'#' * (n % 6 + 1)} Agents ({n % 9})\n" for n in range(5_000)),
]


@pytest.mark.parametrize("page", HOSTILE)
def test_hostile_documents_are_read_in_no_time(page: str):
    """No pattern goes back over what it read again and again: quadratic ones would take minutes here."""
    known = Names(["builder", "planner"])
    started = time.process_time()
    text, document = Text("docs/guide.md", page), read_markdown(page)
    list(Statements(known).read(text, document))
    handed_over(text, document, known)
    list(own_accounts(Account(agent="builder", kind=Kind.DEFINITION, place=Place("docs/guide.md", 1)), text))
    list(sums_of(text, document))
    assert time.process_time() - started < 2
