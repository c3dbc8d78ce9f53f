"""A guard starts only if its functions are what was published; whoever edits the file, edits it for nobody."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from remit.compile import build_rulebook, load_rulebook
from remit.decide import decide
from remit.enforce.declarations import Publication
from remit.enforce.errors import GuardError
from remit.enforce.guard import Guard
from remit.model.call import Call
from remit.model.errors import PolicyError
from tests.activated import activate

POLICY = """\
remit: 1
agents: {dev: {may: [write, send]}, ops: {may: [send]}}
defaults: {accessible_by: {layer: {outside: [dev, ops]}}}
"""


def declared(policy: Any, root: Path, **more: Any) -> Guard:
    """A guard with two tools; `more` changes how `write` is declared."""
    guard = Guard(policy, root=root, state=root.parent / "state")
    told: dict[str, Any] = {"does": {"write": "path"}, "tier": 2, "confirm": True, "accessible_by": ["dev"]}

    @guard.tool(**told | more)
    def write(path: Path, content: str = "") -> None: ...

    @guard.tool(does={"network": "https://mail.example/**"}, layer="outside")
    def send(to: str) -> None: ...

    return guard


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with the policy and what was published beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "remit.yaml").write_text(POLICY)
    Publication.of({f"{folder}/app.py:guard": declared(folder / "remit.yaml", folder)}).write()
    return folder


def test_it_starts_when_they_are_the_same(root: Path):
    with declared(root / "remit.yaml", root) as guard:
        assert guard.rulebook.hash == load_rulebook(root / "remit.yaml").hash
        assert guard.rulebook.book.published_by == ("app.py:guard",)


def test_it_starts_under_a_rulebook_that_has_them(root: Path):
    """Who has access to a layer is filled in there."""
    rulebook = load_rulebook(root / "remit.yaml")
    assert rulebook.book.tools["send"].accessible_by == ("dev", "ops")
    with declared(rulebook, root) as guard:
        assert guard.rulebook is rulebook


def refused(guard: Guard) -> str:
    with pytest.raises(PolicyError) as caught:
        guard.start()
    assert {problem.code for problem in caught.value.problems} == {"not-published"}
    return str(caught.value)


OPTIONAL = '    optional: [content]\n    defaults:\n      content: ""\n'
TAMPERED: dict[str, Callable[[str], str]] = {
    "a lower tier": lambda text: text.replace("tier: 2", "tier: 1"),
    "no tier": lambda text: text.replace("    tier: 2\n", ""),
    "an effect less": lambda text: text.replace("does: {write: path}", "does: nothing"),
    "another effect": lambda text: text.replace("does: {write: path}", "does: {read: path}"),
    "another kind": lambda text: text.replace("content: text", "content: json").replace(
        OPTIONAL, "    optional: [content]\n"
    ),
    "an argument less": lambda text: text.replace(", content: text", "").replace(OPTIONAL, ""),
    "an argument more": lambda text: text.replace("content: text", "content: text, mode: text"),
    "not optional": lambda text: text.replace(OPTIONAL, ""),
    "no confirmation": lambda text: text.replace("    confirm: true\n", ""),
    "one more who may": lambda text: text.replace("accessible_by: [dev]", "accessible_by: [dev, ops]"),
    "everybody": lambda text: text.replace("    accessible_by: [dev]\n", ""),
    "another reach": lambda text: text.replace("https://mail.example/**", "https://mail.example/a/**"),
    "who may, of what said nothing": lambda text: text.replace("layer: outside", "layer: outside\n    risk: low"),
    "another default": lambda text: text.replace('content: ""', "content: x"),
    "no default": lambda text: text.replace(OPTIONAL, "    optional: [content]\n"),
    "an alias": lambda text: text.replace("    tier: 2", "    aliases: [wr]\n    tier: 2"),
}


@pytest.mark.parametrize("name", TAMPERED)
def test_an_edited_file(root: Path, name: str):
    file = root / "remit.tools.yaml"
    before = file.read_text()
    file.write_text(TAMPERED[name](before))
    assert file.read_text() != before
    load_rulebook(root / "remit.yaml")  # it is a good policy by itself
    said = refused(declared(root / "remit.yaml", root))
    assert "remit.tools.yaml:" in said
    assert "run `remit publish app.py:guard`" in said
    refused(declared(load_rulebook(root / "remit.yaml"), root))


def test_access_that_nobody_declared(root: Path):
    """It would be a `may` for everyone in it. Under a file the layer's default is no excuse."""
    file = root / "remit.tools.yaml"
    file.write_text(file.read_text().replace("layer: outside", "layer: outside\n    accessible_by: [dev]"))
    assert "its `accessible_by`" in refused(declared(root / "remit.yaml", root))


@pytest.mark.parametrize(
    "more",
    [{"tier": 3}, {"does": {"read": "path"}}, {"confirm": None}, {"accessible_by": None}, {"risk": "high"}],
)
def test_a_changed_function(root: Path, more: dict[str, Any]):
    refused(declared(root / "remit.yaml", root, **more))


def test_a_function_more_and_one_less(root: Path):
    guard = declared(root / "remit.yaml", root)
    guard.tool(does="nothing")(fresh)
    assert "tool `fresh` is not published" in refused(guard)
    alone = Guard(root / "remit.yaml", state=root.parent / "state")
    alone.tool(does="nothing")(fresh)
    assert "has no function for it" in refused(alone)


def fresh(text: str) -> None: ...


def test_what_is_said_to_people_may_differ(root: Path):
    file = root / "remit.tools.yaml"
    file.write_text(file.read_text().replace("    args: {to: text}", "    about: Sends.\n    args: {to: text}"))
    with declared(root / "remit.yaml", root):
        pass


def test_a_tool_twice(root: Path):
    (root / "remit.yaml").write_text(POLICY + "tools: {send: {args: {to: text}, does: nothing}}\n")
    with pytest.raises(PolicyError, match="tool `send` is declared twice"):
        load_rulebook(root / "remit.yaml")


HOSTILE = {
    "agents": "remit: 1\npublished_by: [a:b]\ntools: {}\nagents: {x: {may: [any]}}\n",
    "grants": "remit: 1\npublished_by: [a:b]\ntools: {}\ngrants: []\n",
    "an include": "remit: 1\npublished_by: [a:b]\ntools: {}\ninclude: x.yaml\n",
    "unprotect": "remit: 1\npublished_by: [a:b]\ntools: {}\nunsafe_unprotect: ['**']\n",
    "nobody": "remit: 1\ntools: {}\n",
    "an empty list": "remit: 1\npublished_by: []\ntools: {}\n",
    "a command": 'remit: 1\npublished_by: ["a:b; rm -rf ~"]\ntools: {}\n',
    "an option": 'remit: 1\npublished_by: ["--policy=x:b"]\ntools: {}\n',
    "no tools": "remit: 1\npublished_by: [a:b]\n",
    "nothing": "",
    "no YAML": "{",
    "a word of scopes": "remit: 1\npublished_by: [a:b]\ntools: {path: {args: {}, does: nothing}}\n",
    "another format": "remit: 2\npublished_by: [a:b]\ntools: {}\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_does_not_load(root: Path, name: str):
    (root / "remit.tools.yaml").write_text(HOSTILE[name])
    with pytest.raises(PolicyError) as caught:
        load_rulebook(root / "remit.yaml")
    assert any(problem.at.startswith("remit.tools.yaml") for problem in caught.value.problems)


def test_a_file_that_cannot_be_trusted(root: Path):
    file = root / "remit.tools.yaml"
    text = file.read_text()

    def code() -> str:
        with pytest.raises(PolicyError) as caught:
            load_rulebook(root / "remit.yaml")
        return next(problem.code for problem in caught.value.problems if problem.at.startswith(file.name))

    file.chmod(0o666)
    assert code() == "world-writable"
    file.unlink()
    (root / "other.yaml").write_text(text)
    os.symlink("other.yaml", file)
    assert code() == "policy-symlink"
    file.unlink()
    os.symlink("nowhere", file)
    assert code() == "policy-symlink"
    file.unlink()
    file.mkdir()
    assert code() == "unreadable"
    file.rmdir()
    with file.open("wb") as large:
        large.truncate(17 * 1024 * 1024)
    assert code() == "too-large"


# What it is part of


def test_it_is_in_the_digest_and_activated_with_the_policy(root: Path):
    before = load_rulebook(root / "remit.yaml").hash
    activate(root / "remit.yaml", state=root.parent / "state")
    file = root / "remit.tools.yaml"
    file.write_text(file.read_text().replace("tier: 2", "tier: 3"))
    assert load_rulebook(root / "remit.yaml").hash != before
    file.write_text(file.read_text().replace("tier: 3", "tier: 2").replace('"app.py:guard"', '"other.py:guard"'))
    assert load_rulebook(root / "remit.yaml").hash != before


@pytest.mark.parametrize("name", ["remit.tools.yaml", "./remit.tools.yaml", "sub/../remit.tools.yaml"])
def test_no_agent_may_write_it(tmp_path: Path, name: str):
    """Before it is there, too: whoever could make it could declare tools."""
    data = {
        "remit": 1,
        "tools": {"w": {"args": {"p": "path"}, "does": {"write": "p"}}},
        "agents": {"a": {"may": ["w"]}},
    }
    (tmp_path / "remit.yaml").write_text(
        "{remit: 1, tools: {w: {args: {p: path}, does: {write: p}}}, agents: {a: {may: [w]}}}"
    )
    for rulebook in (load_rulebook(tmp_path / "remit.yaml"), build_rulebook(data)):
        decision = decide(rulebook, Call("a", "w", {"p": name}))
        assert (decision.verdict.word, decision.code) == ("deny", "protected")
        assert decide(rulebook, Call("a", "w", {"p": "other.tools.yaml"})).verdict.word == "allow"


# Without it


def test_a_script_needs_no_file(tmp_path: Path):
    (tmp_path / "remit.yaml").write_text(POLICY)
    for policy in (tmp_path / "remit.yaml", {"remit": 1, "agents": {"dev": {"may": ["send"]}, "ops": {"may": []}}}):
        with declared(policy, tmp_path / "root") as guard:
            assert guard.rulebook.book.published_by == ()


def test_a_rulebook_without_the_tools_says_what_to_run(tmp_path: Path):
    rulebook = build_rulebook({"remit": 1, "agents": {"dev": {"may": []}}})
    with pytest.raises(GuardError) as caught:
        declared(rulebook, tmp_path / "root").start()
    assert "remit publish" in str(caught.value.help)
