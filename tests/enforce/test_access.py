"""Which tools a caller can use: the 18 tests of a plugin's own access controller in our words, and what lies beside."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from remit import GuardError, PolicyError, ToolAccess
from remit.decide import decide
from remit.model import Call

CONTENT, PROCESS = "specialist:content", "specialist:process"


def tool(*by: str, write: bool = False, **more: object) -> dict[str, object]:
    does = {"write": "path"} if write else {"read": "path"}
    return {"args": {"path": "path"}, "does": does, "layer": "atomic", "accessible_by": list(by), **more}


POLICY = {
    "remit": 1,
    "roles": {CONTENT: {}, PROCESS: {}},
    "agents": {
        "prototype_designer": {"roles": [CONTENT]},
        "fr_writer": {"roles": [CONTENT]},
        "nfr_writer": {"roles": [CONTENT]},
        "project_initializer": {"roles": [PROCESS]},
    },
    "tools": {
        "readFile": tool(CONTENT, PROCESS),
        "writeFile": tool(PROCESS, "prototype_designer", write=True),
        "writePrototypeTheme": tool("prototype_designer", "project_initializer", write=True, category="prototype"),
        "previewPrototype": tool("prototype_designer", category="prototype"),
    },
}


@pytest.fixture
def access() -> ToolAccess:
    return ToolAccess(POLICY)


def names(access: ToolAccess, caller: str, specialist: str | None = None) -> set[str]:
    return {tool.name for tool in access.get_available_tools(caller, specialist)}


# The plugin's own suite


class TestByType:
    def test_content_specialists_read(self, access):
        assert "readFile" in names(access, CONTENT)

    def test_process_specialists_read(self, access):
        assert "readFile" in names(access, PROCESS)


class TestByName:
    def test_the_designer_writes_themes(self, access):
        assert "writePrototypeTheme" in names(access, CONTENT, "prototype_designer")

    def test_another_content_specialist_does_not(self, access):
        assert "writePrototypeTheme" not in names(access, CONTENT, "fr_writer")

    def test_the_initializer_writes_themes(self, access):
        assert "writePrototypeTheme" in names(access, PROCESS, "project_initializer")

    def test_only_the_designer_previews(self, access):
        assert "previewPrototype" in names(access, CONTENT, "prototype_designer")
        assert "previewPrototype" not in names(access, CONTENT, "fr_writer")


class TestByBoth:
    def test_by_type(self, access):
        assert "writeFile" in names(access, PROCESS)

    def test_by_name(self, access):
        assert "writeFile" in names(access, CONTENT, "prototype_designer")

    def test_by_neither(self, access):
        assert "writeFile" not in names(access, CONTENT, "fr_writer")


class TestValidating:
    def test_a_type(self, access):
        assert access.validate_access(CONTENT, "readFile") is True

    def test_a_name(self, access):
        assert access.validate_access(CONTENT, "writePrototypeTheme", "prototype_designer") is True
        assert access.validate_access(CONTENT, "writePrototypeTheme", "fr_writer") is False

    def test_both(self, access):
        assert access.validate_access(PROCESS, "writeFile") is True
        assert access.validate_access(CONTENT, "writeFile", "prototype_designer") is True
        assert access.validate_access(CONTENT, "writeFile", "fr_writer") is False


class TestRegistry:
    def test_a_specialist_that_nobody_knows(self, access):
        assert "writePrototypeTheme" not in names(access, CONTENT, "non_existent")

    def test_the_registry_is_asked(self, access):
        """The plugin's test sees a mock called; here a specialist that goes takes its access along."""
        access.register_specialist("theme_checker", CONTENT)
        assert access.validate_access(CONTENT, "readFile", "theme_checker")
        access.unregister_specialist("theme_checker")
        assert not access.validate_access(CONTENT, "readFile", "theme_checker")


class TestWithoutASpecialist:
    def test_types_still_work(self, access):
        assert "readFile" in names(access, CONTENT)

    def test_tools_of_single_specialists_are_not_shown(self, access):
        assert names(access, CONTENT).isdisjoint(("writePrototypeTheme", "previewPrototype"))


class TestFewerTokens:
    def test_the_designer_sees_both_prototype_tools(self, access):
        tools = access.get_available_tools(CONTENT, "prototype_designer")
        assert sum(tool.category == "prototype" for tool in tools) == 2

    def test_others_see_none(self, access):
        tools = access.get_available_tools(CONTENT, "fr_writer")
        assert sum(tool.category == "prototype" for tool in tools) == 0


# Beside it


def test_a_name_counts_only_under_its_own_role(access):
    """The plugin looked at the name alone, whoever called."""
    assert not access.validate_access(PROCESS, "previewPrototype", "prototype_designer")
    assert access.get_available_tools(PROCESS, "prototype_designer") == ()


def test_what_nobody_knows(access):
    assert access.get_available_tools("document") == ()
    for ask in (access.get_access_stats, access.generate_access_report):
        with pytest.raises(GuardError, match="knows no caller `document`"):
            ask("document")
    assert access.cached == 0  # answers for made-up callers would fill the memory
    assert not access.validate_access(CONTENT, "deleteFile")


def test_statistics_with_percentages(access):
    stats = access.get_access_stats(CONTENT, "prototype_designer")
    assert (stats.total, stats.accessible, stats.denied, stats.percentage) == (4, 4, 0, 100.0)
    assert stats.by_layer == {"atomic": 4}
    assert access.get_access_stats(CONTENT).percentage == 25.0


def test_a_report(access):
    report = access.generate_access_report(CONTENT, "prototype_designer")
    assert report.startswith("# Access report for prototype_designer\n\n**Summary**: 4/4 tools accessible (100 %)")
    assert "- previewPrototype (atomic/prototype) ✅" in report


def test_definitions_are_the_callers_to_change(access):
    first = access.get_tool_definitions(CONTENT)
    first[0]["name"] = "x"
    assert access.get_tool_definitions(CONTENT)[0]["name"] == "readFile"
    assert access.get_tool_definitions(CONTENT)[0]["input_schema"]["required"] == ["path"]


def test_answers_are_kept_and_forgotten(access):
    kept = access.get_available_tools(CONTENT)
    assert access.get_available_tools(CONTENT) is kept
    assert access.get_available_tools(CONTENT, "fr_writer") is not kept
    assert access.cached == 2
    access.register_tool("lint", tool("fr_writer"))
    assert access.cached == 0
    assert "lint" in names(access, CONTENT, "fr_writer")
    assert "lint" not in names(access, CONTENT)
    access.unregister_tool("lint")
    assert "lint" not in names(access, CONTENT, "fr_writer")
    assert not access.validate_access(CONTENT, "lint", "fr_writer")


@pytest.mark.parametrize(
    ("name", "definition", "problem"),
    [
        ("readFile", tool(CONTENT), "declared twice"),
        ("lint", tool("nobody"), "nobody"),
        ("lint", {**tool(CONTENT), "acessible_by": []}, "acessible_by"),
    ],
)
def test_a_tool_that_is_wrong_changes_nothing(access, name, definition, problem):
    before, kept = access.rulebook, access.get_available_tools(CONTENT)
    with pytest.raises(PolicyError, match=problem):
        access.register_tool(name, definition)
    assert access.rulebook is before
    assert access.get_available_tools(CONTENT) is kept


def test_only_what_was_registered_can_be_unregistered(access):
    for remove in (access.unregister_tool, access.unregister_specialist):
        with pytest.raises(GuardError, match="was registered"):
            remove("readFile")
    with pytest.raises(PolicyError, match="namespace"):
        access.register_specialist(CONTENT, PROCESS)
    with pytest.raises(PolicyError, match="unknown"):
        access.register_specialist("x", "no-such-role")


def test_a_never_holds_for_what_is_registered():
    never = {"role": CONTENT, "effect": "write", "because": "they only read"}
    tools = {"readFile": tool(CONTENT), "writeFile": tool(PROCESS, write=True)}
    access = ToolAccess({**POLICY, "tools": tools, "never": [never]})
    with pytest.raises(PolicyError, match="does not hold"):
        access.register_tool("save", tool(CONTENT, write=True))
    access.register_tool("save", tool(PROCESS, write=True))
    assert access.validate_access(PROCESS, "save")


def test_a_policy_file_and_its_changes(tmp_path):
    file = tmp_path / "remit.yaml"
    file.write_text("remit: 1\nroles: {r: {}}\ntools: {t: {args: {p: path}, does: {read: p}, accessible_by: [r]}}\n")
    access = ToolAccess(file)
    access.register_specialist("a", "r")
    assert access.validate_access("r", "t", "a")
    file.write_text(file.read_text().replace("[r]", "[]"))
    assert access.validate_access("r", "t", "a")
    access.reload()
    assert not access.validate_access("r", "t", "a")


def test_many_threads_register_and_none_is_lost(access):
    def work(n: int) -> None:
        access.register_tool(f"tool{n}", tool("fr_writer"))
        access.get_available_tools(CONTENT, "fr_writer")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {f"tool{n}" for n in range(8)} <= names(access, CONTENT, "fr_writer")


def test_it_says_what_decisions_say():
    """In the example, tool by tool and caller by caller: what isn't shown is denied, and what is denied isn't shown."""
    access = ToolAccess(Path(__file__).parents[2] / "examples/srs-writer/remit.yaml")
    book = access.rulebook.book
    for caller in book.callers:
        for name in book.tools:
            decision = decide(access.rulebook, Call(caller, name, {}))
            if not access.validate_access(caller, name):
                assert decision.verdict.word == "deny"
            else:
                assert decision.code in ("allowed", "missing-argument", "tier-asks", "must-ask", "confirm"), (
                    caller,
                    name,
                    decision.code,
                )
