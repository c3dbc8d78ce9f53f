"""What invented repositories taught: templates, archives, links, other languages, dates, and files that take long."""

from __future__ import annotations

import datetime
import os
import time
from pathlib import Path

import pytest

from remit.scan.claims import describes_read_only
from remit.scan.model import Finding, Survey
from remit.scan.survey import scan
from tests.scan.repositories import definition, write

TODAY = datetime.date(2026, 11, 18)


def looked(root: Path, files: dict[str, str]) -> Survey:
    return scan(str(write(root, files)), today=TODAY)


def of(survey: Survey, code: str) -> list[Finding]:
    return [one for one in survey.findings if one.code == code]


WRONG = definition("mender", "Read, Write", description="Read-only, never modifies files.")


# what is no definition


@pytest.mark.parametrize("blank", ["<agent>", "{agent}", "{{name}}", "[your agent]", "$AGENT", "___"])
def test_a_blank_to_fill_in_is_no_agent(tmp_path: Path, blank: str):
    record = f"agent_id: {blank}\npermissions:\n  tools_allowed: [read_file]\n  tools_forbidden: [read_file]\n"
    files = {"docs/form.md": f"# Records of agents\n\n```yaml\n{record}```\n", ".claude/agents/new.md": ""}
    files[".claude/agents/new.md"] = WRONG.replace("mender", blank)
    assert looked(tmp_path, files).agents == ()
    (one,) = of(
        looked(tmp_path / "b", {"docs/form.md": files["docs/form.md"].replace(blank, "mender")}),
        "allowed-and-prohibited",
    )
    assert one.agent == "mender"


@pytest.mark.parametrize("folder", ["archive", "old/2024", "_archived/team", "Backup"])
def test_the_folder_of_a_program_that_was_put_away(tmp_path: Path, folder: str):
    assert looked(tmp_path, {f"{folder}/.claude/agents/mender.md": WRONG}).agents == ()
    found = looked(tmp_path / "b", {"archiver/.claude/agents/mender.md": WRONG})
    assert [one.code for one in found.findings] == ["read-only-can-write"]


def test_a_link_where_no_host_looks_is_no_second_definition(tmp_path: Path):
    write(tmp_path, {".claude/agents/mender.md": WRONG, "shared/extra.md": WRONG.replace("mender", "extra")})
    (tmp_path / ".agents").mkdir()
    os.symlink("../.claude/agents/mender.md", tmp_path / ".agents/mender.md")
    os.symlink("../../shared/extra.md", tmp_path / ".claude/agents/extra.md")
    places = {str(account.place) for one in scan(str(tmp_path), today=TODAY).agents for account in one.accounts}
    assert places == {".claude/agents/mender.md:2", ".claude/agents/extra.md:2", "shared/extra.md:2"}


# examples of what is wrong


TABLE = "| Tool | Access permissions |\n|---|---|\n| readNote | `READER` `EDITOR` |\n| dropNote | `EDITOR` |\n"
EXAMPLE = '{first}export const dropNote = {{\n  name: "dropNote",\n  accessibleBy: [Caller.READER]\n}};\n'


@pytest.mark.parametrize(
    ("heading", "first", "count"),
    [
        ("Examples", "", 1),
        ("Incorrect examples", "", 0),
        ("❌ Too permissive", "", 0),
        ("Don't", "", 0),
        ("Falsche Beispiele", "", 0),
        ("Examples", "// ❌ too permissive\n", 0),
        ("Examples", "// ✅ right\n", 1),
    ],
)
def test_an_example_of_what_is_wrong_is_no_statement(tmp_path: Path, heading: str, first: str, count: int):
    page = f"# Tools\n\n{TABLE.replace('` `', '`<br>`')}\n## {heading}\n\n```ts\n{EXAMPLE.format(first=first)}```\n"
    assert len(of(looked(tmp_path, {"docs/tools.md": page}), "example-against-table")) == count


# other languages


@pytest.mark.parametrize(
    "label",
    [
        "**3 allowed:**", "**3 herramientas permitidas:**", "**3 permitidos:**", "**3 autorisés :**", "**3 outils autorisés :**",
        "**3 erlaubte Werkzeuge:**", "**3 ferramentas permitidas:**", "**3 工具：**", "**3 허용 도구:**", "**3 ツール：**",
    ],
)  # fmt: skip
def test_a_count_before_a_list_in_other_languages(tmp_path: Path, label: str):
    files = {".claude/agents/mender.md": definition("mender", "Read, Grep")}
    page = "# Agents\n\n## mender\n\n- {} Read, Grep\n"
    (one,) = of(looked(tmp_path, {**files, "docs/a.md": page.format(label)}), "count-mismatch")
    assert (one.text, str(one.places[0])) == ("the text says 3 tools and lists 2", "docs/a.md:5")
    right = page.format(label.replace("3", "2"))
    assert not of(looked(tmp_path / "b", {**files, "docs/a.md": right}), "count-mismatch")


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        ("Agent en lecture seule qui ne modifie aucun fichier", True),
        ("N'écrit jamais", True),
        ("Ne modifie aucun fichier sauf les rapports", False),
        ("Prüft; ändert keine Dateien", True),
        ("Bearbeitet nie eine Datei", True),
        ("Bearbeitet Dateien und Ordner", False),
        ("ändert keine Dateien außer in docs/", False),
        ("Agente de solo lectura", True),
        ("No modifica archivos fuera de docs", False),
        ("Nunca edita ningún archivo", True),
        ("Agente somente leitura", True),
        ("Não modifica nenhum arquivo", True),
        ("Não cria testes", False),
        ("Non modifica mai file", True),
        ("Не изменяет файлы", True),
        ("只读分析", True),
        ("不会修改文件", True),
        ("不修改文件以外的内容", False),
        ("未经批准不修改文件", False),
        ("파일을 수정하지 않습니다", True),
        ("승인 없이 파일을 수정하지 않습니다", False),
        ("ファイルを変更しません", True),
        ("許可なくファイルを変更しません", False),
        ("Looks around, changes no files.", True),
        ("Writes nothing to stdout", False),
        ("Changes nothing but comments", False),
    ],
)
def test_read_only_in_other_languages(sentence: str, claims: bool):
    assert describes_read_only(sentence) is claims


@pytest.mark.parametrize(
    "line",
    ["Next review: 2025-03-01", "Próxima revisión: 2025-03-01", "**Próxima revisão:** 2025-03-01",
     "Prochaine revue : 2025-03-01", "Nächste Prüfung: 2025-03-01", "下次审查：2025-03-01", "次回レビュー: 2025-03-01"],
)  # fmt: skip
def test_a_review_that_is_late_in_other_languages(tmp_path: Path, line: str):
    page = f"# Agents\n\n{line}\n\n| Agent | Tools |\n|---|---|\n| mender | Read |\n| finder | Read, Grep |\n"
    (one,) = of(looked(tmp_path, {"docs/a.md": page}), "review-overdue")
    assert one.text == "its review was due 2025-03-01, 627 days ago"
    assert not of(looked(tmp_path / "b", {"docs/a.md": page.replace("2025", "2027")}), "review-overdue")


# records, sections


RECORD = (
    "agent_id: mender\npermissions:\n  tools_allowed: [read_file]\n  resource_locks_allowed: [{}]\n"
    "  resource_locks_forbidden: [{}]\n"
)


@pytest.mark.parametrize(
    ("allowed", "forbidden", "void"),
    [("src/**, docs/**", "docs/**", "`docs/**`"), ("docs/api/*.md", "docs/**", "`docs/api/*.md`"), ("docs/**", "docs/api/**", ""),
     ("docs2/**", "docs/**", ""), ("docs/../src/**", "docs/**", "")],
)  # fmt: skip
def test_a_lock_that_another_list_takes_away(tmp_path: Path, allowed: str, forbidden: str, void: str):
    page = f"# Agents\n\n```yaml\n{RECORD.format(allowed, forbidden)}```\n"
    said = [one.text for one in of(looked(tmp_path, {"docs/a.md": page}), "shadowed-scope")]
    text = f"`resource_locks_allowed` has {void}, all of which `resource_locks_forbidden` takes away"
    assert said == ([text] if void else [])


def test_a_warning_that_comes_after_the_rhythm_of_reviews(tmp_path: Path):
    page = "# Agents\n\nGrants are reviewed quarterly.\n\n| Mode | Action |\n|---|---|\n| Quarterly review skipped | warn at {}d |\n"
    page += f"\n```yaml\n{RECORD.format('a', 'b')}```\n"
    (one,) = of(looked(tmp_path, {"docs/a.md": page.format(120)}), "dates-contradict")
    assert one.text == "reviews are quarterly (every 92 days at most), and the warning comes after 120"
    assert not of(looked(tmp_path / "b", {"docs/a.md": page.format(90)}), "dates-contradict")


def test_a_section_for_an_agent_that_the_matrix_lacks(tmp_path: Path):
    names = ("mender", "finder", "keeper")
    rows = "".join(f"| {tool} | ✅ | ✅ | ✅ |\n" for tool in ("Read", "Grep"))
    page = f"# Tools of agents\n\n| Tool | {' | '.join(names)} |\n|---|---|---|---|\n{rows}\n"
    page += "".join(f"## {name}\n\n- **2 allowed:** Read, Grep\n\n" for name in (*names, "Sender"))
    files = {f".claude/agents/{name}.md": definition(name, "Read, Grep") for name in names}
    (one,) = of(looked(tmp_path, {**files, "docs/a.md": page}), "undefined-name")
    assert one.text == "has a section, and `Sender` is neither in the matrix beside it nor defined"
    defined = {**files, ".claude/agents/sender.md": definition("sender", "Read, Grep")}
    assert not of(looked(tmp_path / "b", {**defined, "docs/a.md": page}), "undefined-name")


# files that take long, or for ever


def test_pipes_where_a_scan_looks_hang_nothing(tmp_path: Path):
    write(tmp_path, {".claude/agents/mender.md": WRONG})
    for name in (".gitignore", ".mcp.json", "README.md", ".claude/agents/pipe.md"):
        os.mkfifo(tmp_path / name)
    survey = scan(str(tmp_path), today=TODAY)
    assert [one.name for one in survey.agents] == ["mender"]
    assert {path for path, why in survey.skipped if why == "not a regular file"} == {
        ".mcp.json", "README.md", ".claude/agents/pipe.md"
    }  # fmt: skip


@pytest.mark.parametrize(
    "settings",
    ['{"permissions": {"allow": 5, "deny": "Bash", "ask": {"Read": 1}}}', '{"permissions": [1]}', '{"permissions": {"allow": [null, 1]}}'],
)  # fmt: skip
def test_settings_of_another_shape(tmp_path: Path, settings: str):
    survey = looked(tmp_path, {".claude/settings.json": settings, ".gemini/settings.json": '{"tools": {"exclude": 7}}'})
    assert survey.findings == ()


def _seconds(root: Path) -> float:
    start = time.process_time()
    scan(str(root), today=TODAY)
    return time.process_time() - start


def test_many_names_and_documents_take_time_in_proportion(tmp_path: Path):
    """Four times as much takes about four times as long; what is compared pair by pair takes sixteen times."""
    page = "# Agents\n\n| Agent | Tools |\n|---|---|\n| mender | Read{} |\n| finder | Read, Bash |\n"
    for name, count in (("small", 60), ("large", 240)):
        servers = ",\n".join(f'"s{n}": {{"command": "x"}}' for n in range(50 * count))
        records = "".join(f"agent_id: a{n}\npermissions:\n  tools_allowed: [read_file]\n\n" for n in range(20 * count))
        write(
            tmp_path / name,
            {
                ".claude/agents/mender.md": definition("mender", "Read"),
                ".mcp.json": f'{{"mcpServers": {{{servers}}}}}',
                "docs/records.md": f"# Agents\n\n{records}",
                **{f"docs/{n}.md": page.format(", Grep" * (n % 2)) for n in range(count)},
            },
        )
    _seconds(tmp_path / "small")
    assert _seconds(tmp_path / "large") < 9 * _seconds(tmp_path / "small") + 1


# sentences and examples against the tables of their document


TOOLS = "# Tools of agents\n\n| Agent | Allowed tools |\n|---|---|\n| StyleFixer | Read, Edit |\n| BugFixerAgent | Read, Bash |\n"


@pytest.mark.parametrize(
    ("sentence", "agents"),
    [
        ("1. **No shell access for fixers**: they edit only", ["BugFixerAgent"]),
        ("## No Bash for Fixers", ["BugFixerAgent"]),
        ("No network access for fixers", []),
        ("No shell access for reviewers", []),
        ("Shell access for fixers", []),
    ],
)
def test_what_a_group_of_agents_must_not_have(tmp_path: Path, sentence: str, agents: list[str]):
    found = of(looked(tmp_path, {"docs/a.md": f"{TOOLS}\n{sentence}\n"}), "allowed-and-prohibited")
    assert [one.agent for one in found] == agents


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (["`SELECT` — any table", "`PRAGMA busy_timeout` — settings only"], ["`PRAGMA busy_timeout`"]),
        (["`SELECT` — any table", "`INSERT INTO notes`"], []),
    ],
)
def test_only_above_a_list_that_has_more(tmp_path: Path, items: list[str], said: list[str]):
    page = f"{TOOLS}\n## StyleFixer\n\n- **Bash** — SELECT + INSERT on `notes` only.\n- **Allowed SQL operations:**\n"
    page += "".join(f"  - {item}\n" for item in items) + "- **Prohibited:** DROP\n"
    found = of(looked(tmp_path, {"docs/a.md": page}), "only-and-more")
    assert [one.text for one in found] == [
        f"“Bash — SELECT + INSERT on notes only.”, and the list below allows {name} too" for name in said
    ]


@pytest.mark.parametrize(
    ("first", "second", "count"),
    [
        ("**Status**: In planning - v3.0", "- ✅ v3.0 Completed", 1),
        ("Status: v2.1 released", "- v2.1 planned", 1),
        ("**Status**: In planning - v3.0", "- ✅ v2.0 Completed", 0),
        ("**Status**: v3.0 done", "- ✅ v3.0 Completed", 0),
        ("v3.0 was planned and is done", "- v3.0 Completed", 0),
    ],
)
def test_a_version_that_is_planned_and_done(tmp_path: Path, first: str, second: str, count: int):
    page = TOOLS.replace("\n\n", f"\n\n{first}\n\n", 1) + f"\n{second}\n"
    assert len(of(looked(tmp_path, {"docs/a.md": page}), "classified-differently")) == count


CLASS = "```ts\nclass ToolGate {{\n  open(tool: string): boolean {{\n    if (tool) {{ return true; }}\n  }}\n{rest}}}\n```\n"


@pytest.mark.parametrize(
    ("rest", "use", "names"),
    [
        ("", "toolGate.report(caller)", ["toolGate.report"]),
        ("", "toolGate.open(tool)", []),
        ("  // ... existing methods\n", "toolGate.report(caller)", []),
        ("  private report(): void\n", "toolGate.report(caller)", []),
        ("", "this.toolGate.report(caller)", []),
        ("", "otherGate.report(caller)", []),
    ],
)
def test_a_method_that_its_class_lacks(tmp_path: Path, rest: str, use: str, names: list[str]):
    page = f"{TOOLS}\n{CLASS.format(rest=rest)}\n```ts\nconst found = {use};\n```\n"
    found = [one for one in of(looked(tmp_path, {"docs/a.md": page}), "undefined-name") if "method" in one.text]
    assert [one.text.split("`")[1] for one in found] == names


CALLERS = "# Tools of agents\n\n| Tool | Access permissions |\n|---|---|\n| readNote | `READER`<br>`EDITOR` |\n| dropNote | `EDITOR` |\n"


@pytest.mark.parametrize(
    ("said", "count"), [("accessibleTools: 2", 1), ("accessibleTools: 1", 0), ("2/2 tools accessible", 1)]
)
def test_an_example_that_counts_what_a_caller_may_use(tmp_path: Path, said: str, count: int):
    page = f"{CALLERS}\n```ts\nconst stats = gate.stats(Caller.READER);\n/* {said} */\n```\n"
    found = of(looked(tmp_path, {"docs/a.md": page}), "count-mismatch")
    assert [(one.agent, one.text) for one in found] == [
        ("READER", "an example says that it may use 2 tools, the tables grant 1")
    ] * count


@pytest.mark.parametrize(
    ("number", "third", "found"),
    [("four", "C: the last layer", True), ("three", "C: the last layer", False), ("four", "C: the last one", False)],
)
def test_a_number_of_layers_over_items_that_say_that_they_are_layers(
    tmp_path: Path, number: str, third: str, found: bool
):
    page = (
        TOOLS
        + f"\n## Design\n\nA {number}-layer design:\n\n### Parts\n\n- A: the first layer\n- B: a layer\n- {third}\n"
    )
    said = [one.text for one in of(looked(tmp_path, {"docs/a.md": page}), "count-mismatch")]
    assert said == (["the text announces 4 layers, and 3 are listed"] if found else [])


LINES = (
    "-",
    "|-",
    ":-",
    "- ",
    "| ",
    "a|",
    "a ",
    "1 agents ",
    "never write, ",
    "* ",
    "`a` ",
    "(",
    "[a](",
    "only ",
    "\t",
    "---\n",
)


@pytest.mark.parametrize("piece", LINES)
def test_no_line_makes_an_expression_try_every_way(tmp_path: Path, piece: str):
    """In a table's place, under a number, in a head and in a sentence."""
    long = (piece * 400)[:400]
    page = f"# Agents\n\nAll agents (12):\n\n| Agent | Tools |\n{long}x\n\n## mender\n\n{long}!\n\n- **3 allowed:** {long}!\n"
    files = {"README.md": page, ".claude/agents/mender.md": definition("mender", "Read", long, f"Read-only {long}!")}
    write(tmp_path, {**files, ".claude/agents/other.md": f"---\nname: other\ntools: {long}!\n---\n{long}x\n"})
    assert _seconds(tmp_path) < 5


# what one place leaves open, names that are nearly the same


def test_a_table_of_marks_says_nothing_of_a_tool_that_it_has_no_place_for(tmp_path: Path):
    one = "# Agents\n\n| Tool | mender | finder |\n|---|---|---|\n| Read | ✅ | ✅ |\n| Grep | ✅ | ❌ |\n"
    other = "# Agents\n\n| Agent | Read | Write |\n|---|---|---|\n| mender | ✅ | ❌ |\n| finder | ✅ | ❌ |\n"
    assert not of(looked(tmp_path, {"a.md": one, "b.md": other}), "tables-differ")
    denies = other.replace("Write", "Grep")
    (found,) = of(looked(tmp_path / "b", {"a.md": one, "b.md": denies}), "tables-differ")
    assert found.text == "two tables give it different tools: `Grep` in one of them only"


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [("code-reviewer", "code-reviewr", True), ("planner", "planer", True), ("ai-reviewer", "api-reviewer", False),
     ("tester", "testers", False), ("reviewer", "previewer", False), ("writer", "waiter", False)],
)  # fmt: skip
def test_names_that_differ_by_a_letter_inside_a_word(tmp_path: Path, one: str, other: str, alike: bool):
    files = {f".claude/agents/{name}.md": definition(name, "Read") for name in (one, other)}
    assert bool(of(looked(tmp_path, files), "look-alike-names")) is alike


@pytest.mark.parametrize(
    ("cell", "count"), [("exclusive", 1), ("✅ (only)", 1), ("✅ (only in `docs/`)", 0), ("✅ (only for docs)", 0)]
)
def test_only_in_a_folder_is_no_claim_to_be_the_only_one(tmp_path: Path, cell: str, count: int):
    rows = f"| mender | ✅ | {cell} | ❌ |\n| finder | ✅ | ✅ | ❌ |\n"
    page = f"# Agents\n\n| Agent | Read | Edit | Bash |\n|---|---|---|---|\n{rows}"
    assert len(of(looked(tmp_path, {"docs/a.md": page}), "only-and-more")) == count


def test_a_number_that_is_only_typical(tmp_path: Path):
    files = {f".claude/agents/{name}.md": definition(name, "Read") for name in ("mender", "finder", "keeper")}
    page = "# Agents\n\nA team {} has 7 agents.\n"
    assert not of(looked(tmp_path, {**files, "docs/agents.md": page.format("typically")}), "count-mismatch")
