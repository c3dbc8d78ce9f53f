"""Where paths really lead: symlinks are followed below an existing root, before the decision."""

# Arguments come from tables of plain data.
# mypy: disable-error-code="arg-type"

import os
from pathlib import Path

import msgspec
import pytest

from remit.decide import decide
from remit.enforce.declared import Glob
from remit.enforce.guard import Guard
from remit.enforce.paths import look_up, open_root
from remit.model import Call, Context, Facts, RemitError
from tests.decide.kit import TOOLS, book

RULEBOOK = book(
    tools={
        **TOOLS,
        "many": {
            "args": {"items[].path": "path", "note": "text"},
            "optional": ["note"],
            "does": {"write": "items[].path"},
        },
        "here": {
            "args": {"path": "path"},
            "optional": ["path"],
            "defaults": {"path": "docs"},
            "does": {"read": "path"},
        },
    },
    agents={"a": {"may": [{"write": {"path": "docs/**"}}, "read", "many", "here", "think", "sweep"]}},
)


@pytest.fixture
def root(tmp_path):
    root = tmp_path / "proj"
    for name in ("docs", "src", ".git", "secrets"):
        (root / name).mkdir(parents=True)
    (root / "docs" / "a.md").write_text("a")
    (tmp_path / "outside").mkdir()
    return root


def judged(root, tool, args, **context):
    _, facts = open_root(root, root / "remit.yaml", Facts())
    call = Call("a", tool, args, Context(**context))
    decision = decide(RULEBOOK, call, look_up(RULEBOOK, call, facts))
    return decision.verdict.word if decision.allowed else decision.code


def test_a_plain_file(root):
    assert judged(root, "write", {"path": "docs/a.md"}) == "allow"
    assert judged(root, "write", {"path": "docs/new/deep/b.md"}) == "allow"
    assert judged(root, "write", {"path": str(root / "docs" / "a.md")}) == "allow"
    assert judged(root, "write", {"path": "src/a.md"}) == "not-permitted"


def test_a_link_out_of_the_scope(root):
    (root / "docs" / "link").symlink_to("../src")
    assert judged(root, "write", {"path": "docs/link/x"}) == "not-permitted"
    (root / "docs" / "file").symlink_to("../src/new.py")
    assert judged(root, "write", {"path": "docs/file"}) == "not-permitted"


def test_a_link_out_of_the_root(root):
    (root / "docs" / "out").symlink_to("../../outside")
    assert judged(root, "write", {"path": "docs/out/x"}) == "outside-root"
    assert judged(root, "read", {"path": "docs/out/x"}) == "outside-root"
    (root / "docs" / "etc").symlink_to("/etc/passwd")
    assert judged(root, "read", {"path": "docs/etc"}) == "outside-root"


def test_a_link_to_something_protected(root):
    (root / "docs" / "hooks").symlink_to("../.git")
    assert judged(root, "write", {"path": "docs/hooks/pre-commit"}) == "protected"


def test_a_link_within_the_scope_is_an_obligation(root):
    (root / "docs" / "alias").symlink_to("a.md")
    _, facts = open_root(root, root / "remit.yaml", Facts())
    call = Call("a", "write", {"path": "docs/alias"})
    decision = decide(RULEBOOK, call, look_up(RULEBOOK, call, facts))
    assert [(o.do, o.arg, o.value) for o in decision.obligations] == [("use-resolved-path", "path", "docs/a.md")]


def test_dots_after_a_link_are_taken_as_the_system_takes_them(root):
    (root / "docs" / "deep").symlink_to("../src")
    (root / "src" / "x").write_text("x")
    assert judged(root, "write", {"path": "docs/deep/../docs/a.md"}) == "allow"
    assert judged(root, "write", {"path": "docs/deep/../a.md"}) == "not-permitted"  # it is proj/a.md


@pytest.mark.parametrize("path", ["docs/loop", "docs/one", pytest.param("docs/loop/x")])
def test_a_loop(root, path):
    (root / "docs" / "loop").symlink_to("loop")
    (root / "docs" / "one").symlink_to("two")
    (root / "docs" / "two").symlink_to("one")
    assert judged(root, "write", {"path": path}) == "bad-path"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        *((path, "bad-path") for path in ("a\0b", "x" * 5000, "", "a\nb", "~/x", "\ud800")),
        ("x" * 300, "not-permitted"),
        ("../x", "outside-root"),
    ],
)
def test_names_that_the_system_refuses(root, path, code):
    assert judged(root, "write", {"path": path}) == code


def test_every_path_of_a_list_is_resolved(root):
    (root / "docs" / "hooks").symlink_to("../.git")
    item = {"path": "docs/a.md"}
    assert judged(root, "many", {"items": [item, item]}) == "allow"
    assert judged(root, "many", {"items": [item, {"path": "docs/hooks/x"}]}) == "protected"


def test_a_default_is_resolved(root):
    assert judged(root, "here", {}) == "allow"
    os.rmdir(root / "secrets")
    (root / "docs" / "a.md").unlink()
    (root / "docs").rmdir()
    (root / "docs").symlink_to("../outside")
    assert judged(root, "here", {}) == "outside-root"


def test_relative_to_the_working_directory(root):
    (root / "src" / "docs").symlink_to("../docs")
    assert judged(root, "write", {"path": "a.md"}, cwd="docs") == "allow"
    assert judged(root, "write", {"path": "a.md"}, cwd="src") == "not-permitted"
    assert judged(root, "write", {"path": "docs/a.md"}, cwd="src") == "allow"


@pytest.mark.parametrize("args", [{"path": 1}, {"path": None}, {}, {"items": "x"}, {"items": [1]}, {"items": None}])
def test_what_is_mistyped_is_left_to_the_decision(root, args):
    tool = "many" if "items" in args else "read"
    assert judged(root, tool, args) == ("mistyped-argument" if args else "missing-argument")


def test_unknown_tools_are_left_to_the_decision(root):
    _, facts = open_root(root, root / "remit.yaml", Facts())
    for call in (Call("a", "nothing", {"path": "x"}), Call("nobody", "nothing", {"path": "x"}), Call("a", "think", [])):
        assert look_up(RULEBOOK, call, facts) == facts


def test_paths_of_an_unknown_caller_are_looked_up_for_what_binds_everybody(root):
    _, facts = open_root(root, root / "remit.yaml", Facts())
    found = look_up(RULEBOOK, Call("nobody", "read", {"path": "x"}), facts)
    assert found.resolved == {"x": str(root / "x")}


def test_a_root_that_is_itself_a_link(root, tmp_path):
    (tmp_path / "alias").symlink_to(root)
    real, facts = open_root(tmp_path / "alias", root / "remit.yaml", Facts())
    assert real == root.resolve()
    assert facts.root == str(root.resolve())


def test_a_root_that_does_not_exist(tmp_path):
    where, facts = open_root(tmp_path / "nowhere", tmp_path / "remit.yaml", Facts(notes=("before",)))
    assert where == tmp_path / "nowhere"
    assert facts.resolved is None
    assert facts.notes == ("before", "the root does not exist: paths are judged by their text")
    call = Call("a", "write", {"path": "docs/x"})
    decision = decide(RULEBOOK, call, look_up(RULEBOOK, call, facts))
    assert decision.allowed
    assert decision.detail[:2] == facts.notes


def test_a_root_that_is_a_file(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(RemitError) as caught:
        open_root(tmp_path / "file", tmp_path / "remit.yaml", Facts())
    assert (caught.value.code, str(caught.value)) == ("bad-root", f"the root {tmp_path / 'file'} is not a directory")


def test_the_default_root_is_the_policys_own_directory(root):
    real, _ = open_root(None, root / "remit.yaml", Facts())
    assert real == root.resolve()
    real, _ = open_root(None, root / "remit.yaml", Facts(), policy_root="docs")
    assert real == (root / "docs").resolve()


def test_other_facts_stay(root):
    facts = Facts(now="2026-11-15T12:00:00Z", halts=frozenset({"b"}))
    _, found = open_root(root, root / "remit.yaml", facts)
    assert msgspec.structs.replace(found, root=None, resolved=None) == facts


def test_a_glob_is_put_in_place_in_every_call(tmp_path: Path):
    """Also when the call is one of those that are let through quickly."""
    seen: list[str] = []
    guard = Guard({"remit": 1, "agents": {"a": {"may": ["search"]}}}, root=tmp_path, state=tmp_path.parent / "state")

    @guard.tool(does={"read": "pattern"})
    def search(pattern: Glob) -> None:
        seen.append(pattern)

    with guard, guard.agent("a"):
        for _ in range(4):
            search("*.md")
    assert seen == [f"{tmp_path}/*.md"] * 4
