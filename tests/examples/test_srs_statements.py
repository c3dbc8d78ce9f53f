"""A plugin's design for distributed tool access, statement by statement, numbered as in the example's README."""

from __future__ import annotations

import importlib.util
from typing import Any

import pytest
import yaml

from remit import CallDenied, Guard, PolicyError, ToolAccess
from remit.compile import build_rulebook
from remit.model import Context
from tests.examples.kit import EXAMPLES, Asked

POLICY = EXAMPLES / "srs-writer/remit.yaml"
SRS = Asked("srs-writer")
EXECUTION, QA = "orchestrator:TOOL_EXECUTION", "orchestrator:KNOWLEDGE_QA"
CONTENT, PROCESS = "specialist:content", "specialist:process"
TEXT_ONLY = ("writePrototypeTheme", "previewPrototype", "createComprehensiveSRS", "editSRSDocument")
LATER = (*TEXT_ONLY, "addNewRequirement", "updateRequirement")


@pytest.fixture
def access() -> ToolAccess:
    return ToolAccess(POLICY)


def data() -> dict[str, Any]:
    found = yaml.safe_load(POLICY.read_text("utf-8"))
    assert isinstance(found, dict)
    return found


def reading(*by: str, **more: Any) -> dict[str, Any]:
    return {"args": {"path": "path"}, "does": {"read": "path"}, "accessible_by": list(by), **more}


def test_01_each_tool_says_who():
    assert all(tool.accessible_by is not None for tool in SRS.rulebook.book.tools.values())
    assert SRS(PROCESS, "writeFile", path="a.md", content="") == "allow"
    assert SRS(QA, "writeFile", path="a.md", content="") == "deny"


def test_02_code_enforces_it(tmp_path):
    ran = []
    guard = Guard(POLICY, root=tmp_path, state=tmp_path / "state")

    @guard.tool(does="nothing")
    def finalAnswer(answer: str) -> str:  # noqa: N802 -- the plugin's name
        ran.append(answer)
        return answer

    with guard:
        with guard.agent(QA):
            assert finalAnswer("42") == "42"
        with guard.agent("fr_writer"), pytest.raises(CallDenied) as denied:
            finalAnswer("41")
    assert (ran, denied.value.decision.code) == (["42"], "not-accessible")


def test_03_six_types():
    roles = [caller.name for caller in SRS.rulebook.book.callers.values() if caller.kind == "role"]
    assert roles == [EXECUTION, QA, CONTENT, PROCESS, "document", "internal"]


def test_04_a_name_of_its_own():
    assert SRS("document_formatter", "syntax-checker", files=["a.md"]) == "allow"
    assert SRS("project_initializer", "syntax-checker", files=["a.md"]) == "deny"


def test_05_mixed():
    for caller in (QA, PROCESS, "overall_description_writer"):
        assert SRS(caller, "askQuestion", question="?") == "allow"
    assert SRS("fr_writer", "askQuestion", question="?") == "deny"


def test_06_invisible_to_others(access):
    seen = {tool.name for tool in access.get_available_tools(CONTENT, "fr_writer")}
    assert seen.isdisjoint(("writePrototypeTheme", "previewPrototype"))
    more = {tool.name for tool in access.get_available_tools(CONTENT, "prototype_designer")} - seen
    assert more == {"writePrototypeTheme", "previewPrototype", "executeTextFileEdits"}


def test_07_a_name_that_nobody_knows(access):
    assert SRS.decision("ghost", "readTextFile", {"path": "a"}).code == "unknown-agent"
    assert not access.validate_access(CONTENT, "readTextFile", "ghost")
    access.register_specialist("ghost", CONTENT)
    assert access.validate_access(CONTENT, "readTextFile", "ghost")
    access.unregister_specialist("ghost")
    assert not access.validate_access(CONTENT, "readTextFile", "ghost")


def test_08_available_tools(access):
    names = {tool.name for tool in access.get_available_tools(QA)}
    assert len(names) == 14
    assert "listFiles" in names
    assert "writeFile" not in names


def test_09_validating(access):
    assert access.validate_access(QA, "readFile")  # by its older name
    assert not access.validate_access(QA, "writeFile")
    assert not access.validate_access(QA, "noSuchTool")


def test_10_a_report(access):
    text = access.generate_access_report(QA)
    assert "**Summary**: 14/39 tools accessible (36 %)" in text
    assert "- listFiles (atomic/File Ops) ✅" in text


def test_11_statistics(access):
    """The counts that the table's 33 rows give; the document's own (9, 14, 11, 14, 16, 3) don't match its rows."""
    table = [name for name in SRS.rulebook.book.tools if name not in LATER]
    assert len(table) == 33
    counts = {
        caller: sum(access.validate_access(caller, name) for name in table)
        for caller in (EXECUTION, QA, CONTENT, PROCESS, "document", "internal")
    }
    assert list(counts.values()) == [8, 14, 10, 12, 14, 4]
    stats = access.get_access_stats(QA)
    assert (stats.total, stats.accessible, stats.denied, stats.percentage) == (39, 14, 25, 35.9)
    assert stats.by_layer == {"atomic": 10, "document": 2, "internal": 2}


def test_12_cached(access):
    first = access.get_available_tools(CONTENT, "fr_writer")
    assert access.get_available_tools(CONTENT, "fr_writer") is first
    assert access.get_available_tools(CONTENT) is not first
    access.register_tool("spellcheck", reading("fr_writer"))
    assert len(access.get_available_tools(CONTENT, "fr_writer")) == len(first) + 1


def test_13_verified_before_it_runs(tmp_path):
    ran = []
    guard = Guard(POLICY, root=tmp_path, state=tmp_path / "state")

    @guard.tool(does="nothing")
    def getSystemStatus() -> str:  # noqa: N802
        ran.append(1)
        return "fine"

    with guard:
        with guard.agent(CONTENT), pytest.raises(CallDenied, match="getSystemStatus"):
            guard.call("getSystemStatus")
        with guard.agent(QA):
            assert guard.call("getSystemStatus") == "fine"
    assert ran == [1]


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("How to write requirements?", QA),
        ("What files in project?", QA),
        ("What's the weather?", QA),
        ("如何编写需求", QA),
        ("你好", QA),
        ("Create SRS", EXECUTION),
        ("Add requirement", EXECUTION),
        ("Check file", EXECUTION),
        ("创建需求文档", EXECUTION),
        ("do whatever you think", QA),  # there, executed
        ("delete the file, thanks", EXECUTION),
        ("delete it? what is the weather?", QA),  # both: the less privileged
        ("", QA),
    ],
)
def test_14_the_mode_by_the_text(text, mode):
    spec = importlib.util.spec_from_file_location("intents", EXAMPLES / "srs-writer/intents.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.ROUTER.mode(text) == mode


def fails(change: dict[str, Any]) -> None:
    found = data()
    for name, by in change.items():
        found["tools"][name]["accessible_by"] = by
    with pytest.raises(PolicyError, match="does not hold"):
        build_rulebook(found)


def test_15_nothing_dangerous_by_questions():
    for name in ("writeFile", "createDirectory", "deleteFile"):
        assert name not in SRS.may(QA)
        fails({name: [QA]})


def test_16_experts_call_no_experts(access):
    for agent in (CONTENT, PROCESS, "fr_writer", "project_initializer"):
        assert SRS(agent, "createComprehensiveSRS", request="x") == "deny"
    for by in ([CONTENT], [PROCESS], ["fr_writer"], [EXECUTION, "project_initializer"]):
        fails({"createComprehensiveSRS": by})
    # Nor by a tool of another layer that starts them, also if it comes while the program runs.
    expert = {"args": {"request": "text"}, "does": {"delegate": "specialist:*"}, "accessible_by": ["fr_writer"]}
    for layer in ("specialist", "atomic"):
        with pytest.raises(PolicyError, match="does not hold"):
            access.register_tool("helper", {**expert, "layer": layer})
    chained = SRS.decision("fr_writer", "readTextFile", {"path": "a.md"}, chain=("prototype_designer",))
    assert chained.code == "broken-chain"


def test_17_an_empty_list_is_nobody():
    assert all("internetSearch" not in SRS.may(caller) for caller in SRS.rulebook.book.callers)
    fails({"internetSearch": [CONTENT]})


def test_18_deleting_is_internal():
    for name in ("deleteFile", "moveAndRenameFile"):
        assert [c for c in SRS.rulebook.book.callers if name in SRS.may(c)] == ["internal"]
        fails({name: ["internal", PROCESS]})


def test_19_the_final_answer():
    assert {c for c in SRS.rulebook.book.callers if "finalAnswer" in SRS.may(c)} == {EXECUTION, QA}
    fails({"finalAnswer": [EXECUTION, QA, CONTENT]})


def test_20_the_table():
    """Every cell is a test of the example; `test_examples.py` runs them."""
    text = (EXAMPLES / "srs-writer/access.test.yaml").read_text("utf-8")
    tests = yaml.safe_load(text)["tests"]
    called = {(test["call"]["tool"], test["call"]["agent"]) for test in tests}
    table = [name for name in SRS.rulebook.book.tools if name not in LATER]
    roles = (EXECUTION, QA, CONTENT, PROCESS, "document", "internal")
    assert {(name, role) for name in table for role in roles} <= called


def test_21_a_new_tool_declares_its_callers(access):
    access.register_tool("quiet", {"args": {"path": "path"}, "does": {"read": "path"}})
    assert all(not access.validate_access(caller, "quiet") for caller in access.rulebook.book.callers)
    with pytest.raises(PolicyError, match="fr_writter"):
        access.register_tool("newTool", reading("fr_writter"))


def test_22_a_change_is_tested():
    from remit.testing.policy_tests import run_tests

    found = data()
    found["tools"]["writeFile"]["accessible_by"].append("fr_writer")
    results = run_tests(build_rulebook(found), POLICY)
    assert any(result.outcome == "failed" and "writeFile" in f"{result.name}{result.message}" for result in results)


def test_23_confirmation_and_labels():
    decision = SRS.decision("internal", "deleteFile", {"path": "a.md"})
    assert decision.verdict.word == "ask"
    assert SRS.rulebook.book.tools["deleteFile"].risk == "high"
    assert SRS.rulebook.book.tools["askQuestion"].interaction == "interactive"
    assert Context().mode is None
