"""Each finding by itself: what gives it, and the near miss that doesn't."""

from __future__ import annotations

import datetime
import json
import re
from pathlib import Path

import pytest

from remit.scan.model import Finding, Survey, Weight
from remit.scan.survey import scan
from remit.scan.vocabulary import tokens
from tests.scan.repositories import definition, write

TODAY = datetime.date(2026, 11, 18)


def looked(root: Path, files: dict[str, str]) -> Survey:
    return scan(str(write(root, files)), today=TODAY)


def of(survey: Survey, code: str) -> list[Finding]:
    return [one for one in survey.findings if one.code == code]


def table(*rows: str, head: str = "| Agent | Tools |") -> str:
    return f"# Agents\n\n{head}\n|{'---|' * (head.count('|') - 1)}\n" + "".join(f"| {row} |\n" for row in rows)


TEAM = {f".claude/agents/{name}.md": definition(name, "Read") for name in ("alpha", "bravo", "carol", "delta")}


# names


def test_a_prefix_that_all_definitions_share_is_no_part_of_the_name(tmp_path: Path):
    files = {f".claude/agents/ax-{n}.md": definition(f"ax-{n}", "Read, Bash") for n in ("scout", "smith", "clerk")}
    survey = looked(tmp_path, {**files, "docs/team.md": table("Scout | Read", "Smith | Read, Bash", "Clerk | Read")})
    assert {one.agent for one in of(survey, "definition-wider")} == {"ax-scout", "ax-clerk"}
    assert ("ax-scout", "Scout") in {agent.names for agent in survey.agents}


def test_a_document_that_leaves_an_agent_out(tmp_path: Path):
    rows = [f"{name} | Read" for name in ("alpha", "bravo", "carol")]
    survey = looked(tmp_path, {**TEAM, "docs/team.md": table(*rows)})
    (one,) = of(survey, "no-section")
    assert one.text == "a document lists the agents; not `delta`"
    assert [str(place) for place in one.places] == ["docs/team.md:5", ".claude/agents/delta.md:2"]
    assert not of(looked(tmp_path / "b", {**TEAM, "docs/team.md": table(*rows, "delta | Read")}), "no-section")
    assert not of(looked(tmp_path / "c", {**TEAM, "docs/team.md": table(rows[0])}), "no-section")


def test_a_line_for_an_agent_that_nobody_defines(tmp_path: Path):
    rows = [f"{name} | Read" for name in ("alpha", "bravo", "carol", "delta", "Explore", "ehco")]
    survey = looked(tmp_path, {**TEAM, "docs/team.md": table(*rows)})
    assert [one.agent for one in of(survey, "undefined-name")] == ["ehco"]


@pytest.mark.parametrize(
    ("extra", "names"),
    [
        ("agents: [bravo, brawo]", ["brawo"]),
        ("handoffs:\n  - label: Next\n    agent: charly\n    prompt: go", ["charly"]),
        ("handoffs:\n  - label: Next\n    agent: bravo\n    prompt: go", []),
        ("agents: ['*']", []),
    ],
)
def test_work_that_goes_to_nobody(tmp_path: Path, extra: str, names: list[str]):
    text = f"---\nname: alpha\ndescription: x\ntools: [read, agent]\n{extra}\n---\nx\n"
    files = {".github/agents/alpha.agent.md": text, ".github/agents/bravo.agent.md": definition("bravo", "[read]")}
    found = of(looked(tmp_path, files), "undefined-name")
    assert [one.text.split("`")[1] for one in found] == names
    assert all("; `bravo` is defined" in one.text for one in found if "brawo" in names)


def test_a_read_only_agent_that_hands_work_to_one_that_writes(tmp_path: Path):
    text = "---\nname: seer\ndescription: You are a read-only agent.\ntools: [read, agent]\nagents: [AGENT]\n---\nx\n"
    files = {
        ".github/agents/smith.agent.md": definition("smith", "[read, edit]"),
        ".github/agents/clerk.agent.md": definition("clerk", "[read]"),
    }
    for name, count in (("smith", 1), ("clerk", 0)):
        written = {**files, ".github/agents/seer.agent.md": text.replace("AGENT", name)}
        assert len(of(looked(tmp_path / name, written), "delegation-reaches")) == count


def test_a_record_that_hands_on_what_it_forbids(tmp_path: Path):
    lead = "agent_id: lead\ntools_allowed: [read_file]\ntools_forbidden: [git_push]\nmay_delegate_to: [hand]\n"
    hand = "agent_id: hand\ntools_allowed: [read_file, git_push]\nmay_delegate_to: []\n"
    (one,) = of(looked(tmp_path, {"a.yaml": lead, "b.yaml": hand}), "delegation-reaches")
    assert one.text == "may not use `git_push` and hands work to `hand`, which may"
    assert [str(place) for place in one.places] == ["a.yaml:3", "b.yaml:2"]


@pytest.mark.parametrize(
    ("other", "alike"), [("code-reveiwer", True), ("code-reviеwer", True), ("code-reviewers", False), ("coder", False)]
)
def test_names_that_look_alike(tmp_path: Path, other: str, alike: bool):
    files = {f".claude/agents/{n}.md": definition(name, "Read") for n, name in enumerate(("code-reviewer", other))}
    assert bool(of(looked(tmp_path, files), "look-alike-names")) is alike


def test_a_document_of_a_collection_in_a_folder(tmp_path: Path):
    files = {f"prompts/{name}.md": definition(name, "Read, Write") for name in ("alpha", "bravo", "carol")}
    rows = ("alpha | Read", "bravo | Read, Write", "carol | Read, Write")
    found = of(looked(tmp_path, {**files, "docs/team.md": table(*rows)}), "definition-wider")
    assert [one.agent for one in found] == ["alpha"]


# counts


@pytest.mark.parametrize(
    ("path", "text", "weights"),
    [
        ("notes.md", "There are 5 agents in `.claude/agents/`.", [Weight.ERROR]),
        ("notes.md", "There are four agents in `.claude/agents/`.", []),
        ("notes.md", "```\n.claude/\n├── agents/   # 3 review agents\n```", [Weight.WARNING]),
        ("README.md", "It brings 5 specialized agents.", [Weight.WARNING]),
        ("README.md", "Run up to 5 agents at once.", []),
        ("STATUS.md", "- Moved 3 agents to `.claude/agents/`", []),
        ("docs/other.md", "Other teams have 9 specialized agents.", []),
        ("CHANGELOG.md", "Added 2 agents in `.claude/agents/`.", []),
    ],
)
def test_how_many_agents_there_are(tmp_path: Path, path: str, text: str, weights: list[Weight]):
    found = of(looked(tmp_path, {**TEAM, path: f"# All about agents and tools\n\n{text}\n"}), "count-mismatch")
    assert [one.weight for one in found] == weights


CALLERS = """# Tools

| Tool Name | Access Permissions | Description |
|---|---|---|
| **readDisk** | `LEAD`<br/>`WORKER` | reads |
| **writeDisk** | `WORKER`<br/>`clerk_one` | clerk one only |
| **wipeDisk** | `WORKER` | worker only |

| Caller Type | Tool Count |
|---|---|
| LEAD | 1 |
| WORKER | 3 |

| Caller | Can use |
|---|---|
| LEAD | All marked tools |

| Risk Level | Typical Tools |
|---|---|
| High Risk | writeDisk, wipeDisk |

| Risk Level | Tool Examples |
|---|---|
| **Medium risk** (writes) | writeDisk |
| high risk | wipeDisk |

```
Summary: 2/9 tools accessible
```
"""


def test_tables_of_callers(tmp_path: Path):
    survey = looked(tmp_path, {"docs/callers.md": CALLERS})
    assert {(one.code, one.text, one.places[0].line) for one in survey.findings} == {
        ("only-and-more", "`writeDisk`: “clerk one only”, and its row names `WORKER` too", 6),
        ("count-mismatch", "the statistics leave out callers that the tables name: `clerk-one` (1)", 9),
        ("count-mismatch", "an example counts 9 tools; the tables list 3", 28),
        ("claims-everything", "“All marked tools”, but the tables grant 1 of 3 tools", 16),
        ("classified-differently", "`writeDisk` is “high risk” in one table and “medium risk” in another", 20),
    }


TIERS = """# Tiers of agents

What an agent may do, and which agents.

Tier 0 - Read and reason

Tier 1 - Scoped write:

- Mechanic: release scripts, deployment manifests

Tier 2 - Restricted: - Installing new packages - Modifying deployment manifests
"""


def test_an_action_in_two_tiers(tmp_path: Path):
    (one,) = looked(tmp_path, {"docs/tiers.md": TIERS}).findings
    assert (one.code, one.text) == (
        "classified-differently",
        "“deployment manifests” stands under tier 1 and under tier 2",
    )
    assert [place.line for place in one.places] == [9, 11]
    assert not looked(tmp_path / "b", {"docs/t.md": TIERS.replace("Modifying deployment", "Modifying other")}).findings


# scopes


@pytest.mark.parametrize(
    ("scope", "differs"),
    [
        ("`notes/*.md` only. Must match `notes/.*\\.md$`", True),
        ("`notes/*.md` only. Must match `^notes/[^/]*\\.md$`", False),
        ("`notes/**` only. Must match `notes/.*`", False),
    ],
)
def test_a_glob_and_an_expression(tmp_path: Path, scope: str, differs: bool):
    text = "# Agents\n\n| Tool | Scout | Smith |\n|---|---|---|\n| read_file | ✅ | ✅ |\n| create_file | 🔒 | ❌ |\n\n"
    text += f"## Scout\n\n- **2 allowed:** read_file, create_file 🔒\n- **create_file 🔒** — {scope}\n"
    assert bool(of(looked(tmp_path, {"docs/m.md": text}), "patterns-differ")) is differs


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("- Regex pattern: `^git\\s+(diff|log)`", True),
        ("- Commands must match `^(git|psql) .*report`", True),
        ("- Regex pattern: `^git\\s+(diff|log)$`", False),
        ("- Regex pattern: `^[a-z]+ [0-9]`", False),
        ("- Runs `^git diff` on the branch", False),
    ],
)
def test_an_expression_for_commands_without_an_end(tmp_path: Path, line: str, found: bool):
    text = "# Agents\n\n| Tool | Scout | Smith |\n|---|---|---|\n| read_file | ✅ | ✅ |\n| run | 🔒 | ❌ |\n\n"
    text += f"## Scout\n\n- **2 allowed:** read_file, run 🔒\n{line}\n"
    assert bool(of(looked(tmp_path, {"docs/m.md": text}), "patterns-differ")) is found


def test_a_mark_without_its_scope(tmp_path: Path):
    text = (
        "# Agent tools\n\n| Tool | Scout | Smith |\n|---|---|---|\n| read_file | ✅ | ✅ |\n| edit | 🔒 | 🔒 src/** |\n"
    )
    (one,) = of(looked(tmp_path, {"docs/m.md": text}), "scope-not-given")
    assert (one.agent, one.places[0].line) == ("Scout", 6)


@pytest.mark.parametrize(
    ("tools", "shadowed"),
    [("Bash, Bash(git diff:*)", True), ("Bash(git diff:*)", False), ("Bash, Read(src/**)", False)],
)
def test_a_scope_beside_the_whole_tool(tmp_path: Path, tools: str, shadowed: bool):
    assert bool(of(looked(tmp_path, {".claude/agents/a.md": definition("a", tools)}), "shadowed-scope")) is shadowed


@pytest.mark.parametrize(("allow", "moot"), [(["Bash"], True), (["Bash(git:*)"], False)])
def test_a_denied_file_beside_an_open_shell(tmp_path: Path, allow: list[str], moot: bool):
    settings = json.dumps({"permissions": {"allow": allow, "deny": ["Read(./.env)"]}})
    assert bool(of(looked(tmp_path, {".claude/settings.json": settings}), "moot-scope")) is moot


@pytest.mark.parametrize(
    ("tools", "denied", "dead"), [("Read, Bash", "Bash", False), ("Read", "Bash", True), (None, "Bash", False)]
)
def test_a_prohibition_that_takes_nothing_away(tmp_path: Path, tools: str | None, denied: str, dead: bool):
    text = definition("a", tools).replace("description:", f"disallowedTools: {denied}\ndescription:")
    assert bool(of(looked(tmp_path, {".claude/agents/a.md": text}), "dead-prohibition")) is dead


# dates


@pytest.mark.parametrize(
    ("last", "next_", "code"),
    [
        ("2026-10-02", "2026-Q1", "dates-contradict"),
        ("2025-10-02", "2026-03", "review-overdue"),
        ("2026-10-02", "2027-01-01", None),
        ("2026-10-02", "2026-Q4", None),
        ("2026-10-02", "2026-13", None),
        ("2026-10-02", "soon", None),
    ],
)
def test_the_dates_of_a_document(tmp_path: Path, last: str, next_: str, code: str | None):
    text = (
        f"**Last Updated**: {last}\n\n" + table("scout | Read, Grep", "smith | Read") + f"\n**Next Review**: {next_}\n"
    )
    assert [one.code for one in looked(tmp_path, {"docs/m.md": text}).findings] == ([code] if code else [])


# what is no list of tools


def test_servers_and_programs_are_no_complete_list(tmp_path: Path):
    rows = ("alpha | kubernetes, helm", "bravo | —", "carol | grafana, prometheus")
    files = {f".claude/agents/{name}.md": definition(name, "Read, Write, Bash") for name in ("alpha", "bravo", "carol")}
    assert not looked(tmp_path, {**files, "docs/team.md": table(*rows)}).findings


@pytest.mark.parametrize(
    "path", ["agents/archive/a.md", "agents/templates/a.md", ".github/prompts/a.prompt.md", "skills/a/SKILL.md"]
)
def test_files_that_are_no_agents_of_a_team(tmp_path: Path, path: str):
    assert not looked(tmp_path, {path: definition("a", "Read, Bash", "You are a read-only agent.")}).agents


def test_a_list_in_brackets_under_a_heading(tmp_path: Path):
    text = '# Sub-agent tools\n\n## Agents\n\n### `scout`\n\n**Tools**: ["Read", "Grep"]\n\n### `boss`\n\n'
    text += "**Tools**: All tools (*)\n"
    survey = looked(tmp_path, {"docs/agents.md": text})
    assert {agent.name: [e.tool for e in agent.accounts[0].entries] for agent in survey.agents} == {
        "scout": ["Read", "Grep"],
        "boss": [],
    }


def test_every_finding_has_its_line_in_the_documentation():
    root = Path(__file__).parents[2]
    sources = [*(root / "src/remit/scan").rglob("*.py"), root / "src/remit/service/documents.py"]
    codes = {code for file in sources for code in re.findall(r'code="([a-z-]+)"', file.read_text("utf-8"))}
    catalog = (root / "src/remit/catalog/findings.yaml").read_text("utf-8")
    codes |= {"definition-wider", "policy-wider", *re.findall(r"^([a-z-]+)(?:/[a-z-]+)?:$", catalog, re.MULTILINE)}
    page = (root / "docs/scan.md").read_text("utf-8")
    assert len(codes) > 40
    assert {code for code in codes if f"`{code}`" not in page} == set()
    assert set(re.findall(r"^\| .*", page, re.MULTILINE)) == set(re.findall(r"^\| .*\|$", page, re.MULTILINE))


def test_what_many_agents_share_is_told_once(tmp_path: Path):
    for count, findings in ((3, 3), (4, 1)):
        files = {f".claude/agents/a{n}.md": definition(f"a{n}", None) for n in range(count)}
        found = of(looked(tmp_path / str(count), files), "no-tool-list")
        assert (len(found), sum(len(one.places) for one in found)) == (findings, count)


def test_tiers_of_something_else(tmp_path: Path):
    text = "# Fines\n\n- Tier 1\n- Recovery: three years\n\n- Tier 2\n- Recovery: three years\n\n- Tier 3\n"
    assert not looked(tmp_path, {"docs/fines.md": text}).findings


def test_postures_of_agents(tmp_path: Path):
    files = {
        ".github/agents/seer.agent.md": definition("seer", "[read, terminal]"),
        ".github/agents/smith.agent.md": definition("smith", "[read, edit, web]"),
        ".github/agents/clerk.agent.md": definition("clerk", "[read, edit, execute]"),
        ".github/agents/boss.agent.md": definition("boss", "[read, edit, execute]"),
        "docs/team.md": table(
            "seer | read-only",
            "smith | read + create",
            "clerk | read + create",
            "boss | full",
            head="| Agent | Posture |",
        ),
    }
    found = {(one.code, one.agent) for one in looked(tmp_path, files).findings if one.weight is Weight.ERROR}
    assert found == {("definition-wider", "seer"), ("definition-wider", "clerk")}


def test_a_table_of_names_alone(tmp_path: Path):
    rows = ("**alpha** | plans", "bravo | builds", "carol | looks", "dalton | waits")
    survey = looked(tmp_path, {**TEAM, "docs/team.md": table(*rows, head="| Agent | Purpose |")})
    assert [(one.code, one.agent) for one in survey.findings] == [("no-section", None), ("undefined-name", "dalton")]
    assert [agent.name for agent in survey.agents] == ["alpha", "bravo", "carol", "delta"]


def test_two_agents_that_only_the_word_agent_tells_apart(tmp_path: Path):
    files = {
        ".github/agents/review.agent.md": definition("Review", "[read]"),
        ".github/agents/review-agent.agent.md": definition("Review Agent", "[read, edit]"),
    }
    survey = looked(tmp_path, files)
    assert [agent.names for agent in survey.agents] == [("Review",), ("Review Agent",)]
    assert not survey.findings


def test_a_file_named_for_an_agent_needs_no_head(tmp_path: Path):
    files = {f".github/agents/a{n}.agent.md": "# Agent\n\nDo it.\n" for n in range(4)}
    survey = looked(tmp_path, {**files, "README.md": "It has 4 specialized agents in `.github/agents`.\n"})
    assert [agent.name for agent in survey.agents] == ["a0", "a1", "a2", "a3"]
    assert [one.code for one in survey.findings] == ["no-tool-list"]


def test_an_offer_to_a_person_is_no_delegation(tmp_path: Path):
    text = (
        "---\nname: seer\ndescription: You are a read-only agent.\ntools: [read]\nhandoffs:\n  - agent: smith\n---\nx\n"
    )
    files = {
        ".github/agents/seer.agent.md": text,
        ".github/agents/smith.agent.md": definition("smith", "[read, edit]"),
    }
    assert not looked(tmp_path, files).findings


@pytest.mark.parametrize(
    ("cell", "tools"),
    [
        ("Read/Edit/Bash", ["Read", "Edit", "Bash"]),
        ("Read / Grep", ["Read", "Grep"]),
        ("`Read/Grep`, Bash(npm run x/y)", ["Read/Grep", "Bash(npm run x/y)"]),
        ("edit/editFiles", ["edit/editFiles"]),
        ("search/codebase, github/create_issue", ["search/codebase", "github/create_issue"]),
        ("Read/Frobnicate", ["Read/Frobnicate"]),
    ],
)
def test_tools_between_slashes(cell: str, tools: list[str]):
    assert tokens(cell) == [each for tool in tools for each in (["Read", "Grep"] if tool == "Read/Grep" else [tool])]


def test_a_table_with_slashes_agrees_with_its_definitions(tmp_path: Path):
    survey = looked(
        tmp_path,
        {
            ".claude/agents/alpha.md": definition("alpha", "Read, Grep, Bash"),
            "docs/t.md": table("alpha | Read/Grep/Bash"),
        },
    )
    assert not [one for one in survey.findings if one.weight is Weight.ERROR]


# the ninth and tenth round


def test_permissions_of_agents_are_kinds_of_tools(tmp_path: Path):
    team = {f".claude/agents/{n}.md": definition(n, t) for n, t in (("alpha", "Read, Bash"), ("bravo", "Read, Bash"))}
    head = "| Agent | Role | Permissions |"
    page = table("**Alpha** | Looks | READ", "Bravo | Runs | READ, EXECUTE (git)", head=head)
    (one,) = of(looked(tmp_path / "a", {**team, "docs/team.md": page}), "definition-wider")
    assert (one.agent, one.text) == ("alpha", "the text says “Permissions: READ”, and the definition grants `Bash`")
    # no row has a word for commands: nothing is said about them
    silent = table("Alpha | Looks | READ", "Bravo | Runs | READ, WRITE", head=head)
    assert not of(looked(tmp_path / "b", {**team, "docs/team.md": silent}), "definition-wider")
    # a product's users have rights as well
    users = table("Admin | Rules | READ, EXECUTE", "Alpha | Looks | READ", head="| Role | Task | Permissions |")
    assert not of(looked(tmp_path / "c", {**team, "docs/team.md": users}), "definition-wider")


@pytest.mark.parametrize("head", ["`--allowedTools`", "Tool budget", "allowed-tools"])
def test_other_headings_of_tool_lists(tmp_path: Path, head: str):
    page = table("alpha | `Read`", "bravo | `Read,Bash`", head=f"| Agent | {head} |")
    team = {f".claude/agents/{n}.md": definition(n, "Read, Bash") for n in ("alpha", "bravo")}
    assert [one.agent for one in of(looked(tmp_path, {**team, "docs/team.md": page}), "definition-wider")] == ["alpha"]


def test_a_column_of_further_tools_belongs_to_the_marks(tmp_path: Path):
    rows = ("alpha | ✓ | - | WebFetch", "bravo | ✓ | ✓ | -")
    page = table(*rows, head="| Agent | Read | Bash | Other |") + "\n## alpha\n\n**Allowed tools**: Read, WebFetch\n"
    assert not of(looked(tmp_path / "a", {"docs/agents.md": page}), "list-against-matrix")
    more = page.replace("Read, WebFetch", "Read, WebSearch")
    found = of(looked(tmp_path / "b", {"docs/agents.md": more}), "list-against-matrix")
    assert {word for one in found for word in ("WebFetch", "WebSearch") if word in one.text} == {
        "WebFetch",
        "WebSearch",
    }


@pytest.mark.parametrize(
    "folder", [".claude.backup.20260101", ".claude-old", "team-test-fixtures/.claude", "fixture_a"]
)
def test_copies_and_test_data_are_no_team(tmp_path: Path, folder: str):
    survey = looked(tmp_path, {f"{folder}/agents/alpha.md": definition("alpha", None)})
    assert (survey.agents, survey.findings) == ((), ())


@pytest.mark.parametrize("folder", ["backup-service/.claude", "older/.claude", "prefixtures/.claude"])
def test_a_product_is_no_copy(tmp_path: Path, folder: str):
    survey = looked(tmp_path, {f"{folder}/agents/alpha.md": definition("alpha", None)})
    assert [agent.name for agent in survey.agents] == ["alpha"]


def test_a_claim_in_brackets_and_one_for_a_while(tmp_path: Path):
    files = {
        ".claude/agents/alpha.md": definition("alpha", "Read, Bash", "- NEVER edit or write files (read-only agent)"),
        ".claude/agents/bravo.md": definition("bravo", "Read, Bash", "- Wait (you are read-only during a check)"),
    }
    assert [one.agent for one in of(looked(tmp_path, files), "read-only-can-write")] == ["alpha"]


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("All three worker agents in `.claude/agents` report back.", 0),
        ("All three agents in `.claude/agents` report back.", 1),
        ("├── agents/   # ~30 specialist subagents", 1),
        ("Some 30 agents in `.claude/agents` would be too many.", 0),
    ],
)
def test_a_number_of_some_agents_and_one_beside_a_folder(tmp_path: Path, line: str, count: int):
    survey = looked(tmp_path, {**TEAM, "README.md": f"# Team\n\n```\n.claude/\n{line}\n```\n"})
    assert len(of(survey, "count-mismatch")) == count


def test_a_name_that_nobody_has_in_a_table_of_some_agents(tmp_path: Path):
    team = {f".claude/agents/{n * 3}.md": definition(n * 3, "Read") for n in "abcdefgh"}
    rows = [f"{name} | Read" for name in ("aaa", "bbb", "ccc", "code-checker")]
    survey = looked(tmp_path, {**team, "docs/team.md": table(*rows)})
    assert [one.agent for one in of(survey, "undefined-name")] == ["code-checker"]
    assert not of(survey, "no-section")


def test_capitals_do_not_part_a_name(tmp_path: Path):
    names = ("opensource-check", "gitOps", "alpha")
    team = {f".claude/agents/{n}.md": definition(n, "Read") for n in names}
    survey = looked(
        tmp_path, {**team, "docs/team.md": table("OpenSourceCheck | Read", "GitOps | Read", "Alpha | Read")}
    )
    assert not of(survey, "undefined-name")
    assert not of(survey, "no-section")
    assert len(survey.agents) == 3


def test_a_head_of_opencode_outside_its_folder(tmp_path: Path):
    head = "---\ndescription: Looks\nmode: subagent\npermission:\n  edit: deny\n  bash: deny\n---\nLook.\n"
    survey = looked(tmp_path, {"team/alpha.md": head, "team/bravo.md": head.replace("mode: subagent\n", "")})
    (one,) = survey.agents
    assert (one.name, one.accounts[0].host) == ("alpha", "opencode")


# what many share


def test_what_agents_of_many_folders_share_is_told_once(tmp_path: Path):
    claim = "You are a read-only agent."
    folders = (".claude/agents/a", ".claude/agents/b", ".claude/agents/b/c")
    files = {
        f"{one}/x{at}.md": definition(f"x{at}", "Read, Bash", claim)
        for at, one in enumerate((*folders, ".claude/agents"))
    }
    (one,) = of(looked(tmp_path / "a", files), "read-only-can-write")
    assert one.text == "4 agents in `.claude/agents` call themselves read-only and can write: `x0`, `x1`, `x2`, `x3`"
    apart = {f"packs/{at}/.claude/agents/helper.md": definition("helper", None) for at in range(5)}
    (one,) = of(looked(tmp_path / "b", apart), "no-tool-list")
    assert one.text == "5 agents in `packs` have no tool list, so the host gives them every tool: `helper`"
    few = dict(list(apart.items())[:3])
    assert len(of(looked(tmp_path / "c", few), "no-tool-list")) == 3


def test_one_name_that_many_pages_list_is_told_once(tmp_path: Path):
    rows = [f"{name} | Read" for name in ("alpha", "bravo", "carol", "delta", "tuner")]
    page = table(*rows)
    files = {
        **TEAM,
        "docs/one.md": page,
        "docs/two.md": page.replace("| delta | Read |", "| delta | Read |\n| diver | Read |"),
    }
    files["docs/three.md"] = "# Work\n\nDelegate to `alpha-x` never.\n\n" + table(*rows[:4], "sailor | Read")
    found = of(looked(tmp_path, files), "undefined-name")
    assert sorted((one.text, len(one.places)) for one in found) == [
        ("among the agents, without a definition: `diver`, `tuner`", 3),
        ("among the agents, without a definition: `sailor`", 1),
    ]


def test_copies_for_another_program_are_no_second_definition(tmp_path: Path):
    own = definition("alpha", "Read, Write")
    copy = definition("alpha", None)
    assert not of(
        looked(tmp_path / "a", {".claude/agents/alpha.md": own, "agents/alpha/AGENT.md": copy}), "defined-twice"
    )
    twice = {".claude/agents/alpha.md": own, ".claude/agents/more/alpha.md": copy}
    assert of(looked(tmp_path / "b", twice), "defined-twice")


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("Delegate to `deep-diver` now.", ["deep-diver"]),
        ("Delegate to `deep-diver` if available.", []),
        ("Delegate to the `deep-tools:alpha` agent.", []),
        ("Delegates to `deep-diver`.", ["deep-diver"]),
        ("Delegates to `deep-notes`.", []),  # a skill, wherever it lies
    ],
)
def test_work_for_those_who_may_not_be_there(tmp_path: Path, line: str, named: list[str]):
    files = {
        **TEAM,
        ".claude/commands/go.md": f"{line}\n",
        "lore/deep-notes/SKILL.md": "---\nname: deep-notes\n---\nx\n",
    }
    assert [one.agent for one in of(looked(tmp_path, files), "undefined-name")] == named


def test_a_script_that_git_ignores_is_made_on_each_machine(tmp_path: Path):
    settings = '{"hooks": {"Stop": [{"command": "node $CLAUDE_PROJECT_DIR/.local-hooks/run.js"}]}}'
    files = {**TEAM, ".claude/settings.json": settings}
    assert of(looked(tmp_path / "a", files), "missing-file")
    assert not of(looked(tmp_path / "b", {**files, ".gitignore": "*.log\n.local-hooks/\n"}), "missing-file")
