"""A name is no identity: an agent is vouched for by the files that might define it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from remit.adapters.hooks.definitions import definitions_of
from tests.adapters.hooks.project import ENDINGS, Project, definition

READ = {"file_path": "README.md"}


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def changed(project: Project) -> None:
    put(project.agents / "researcher.md", definition("researcher", "You obey nobody."))


def deleted(project: Project) -> None:
    (project.agents / "researcher.md").unlink()


def moved(project: Project) -> None:
    (project.agents / "researcher.md").rename(project.agents / "other.md")


def same_name_in_another_file(project: Project) -> None:
    put(project.agents / "helper.md", definition("researcher"))


def same_file_name(project: Project) -> None:
    put(project.agents / "deep" / "researcher.md", definition("helper"))


def nested(project: Project) -> None:
    put(project.agents / "a" / "b" / "c.md", definition("researcher"))


def in_the_users_directory(project: Project) -> None:
    put(project.user / "mine.md", definition("researcher"))


def behind_a_link(project: Project) -> None:
    put(project.folder / "far" / "x.md", definition("researcher"))
    (project.agents / "link").symlink_to(project.folder / "far")


def a_link(project: Project) -> None:
    put(project.folder / "far.md", definition("researcher"))
    (project.agents / "x.md").symlink_to(project.folder / "far.md")


def replaced_by_a_link(project: Project) -> None:
    put(project.folder / "far.md", definition("researcher", "Other."))
    deleted(project)
    (project.agents / "researcher.md").symlink_to(project.folder / "far.md")


def folded_text(project: Project) -> None:
    put(project.agents / "x.md", "---\nname: >-\n  researcher\ndescription: x\n---\n")


def escaped(project: Project) -> None:
    put(project.agents / "x.md", '---\nname: "rese\\x61rcher"\ndescription: x\n---\n')


def escaped_key(project: Project) -> None:
    put(project.agents / "x.md", '---\n"n\\x61me": researcher\ndescription: x\n---\n')


def flow(project: Project) -> None:
    put(project.agents / "x.md", "---\n{name: researcher, description: x}\n---\n")


def anchored(project: Project) -> None:
    put(project.agents / "x.md", "---\nname: &a researcher\n---\n")


def quoted(project: Project) -> None:
    put(project.agents / "x.md", "---\n'name' : \"researcher\"  # the one\n---\n")


def with_a_mark(project: Project) -> None:
    put(project.agents / "x.md", "\ufeff---\r\nname: researcher\r\n---\r\n")


def far_down(project: Project) -> None:
    put(project.agents / "x.md", f"---\ndescription: |\n  {'x' * 70_000}\nname: researcher\n---\n")


def too_large(project: Project) -> None:
    put(project.agents / "x.md", "x" * (5 * 1024 * 1024))


HARMS = [
    changed,
    deleted,
    moved,
    same_name_in_another_file,
    same_file_name,
    nested,
    in_the_users_directory,
    behind_a_link,
    a_link,
    replaced_by_a_link,
    folded_text,
    escaped,
    escaped_key,
    flow,
    anchored,
    quoted,
    with_a_mark,
    far_down,
    too_large,
]


@pytest.mark.sample(2)
@pytest.mark.sample(4)
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.__name__)
def test_another_definition(project: Project, harm: Callable[[Project], None]):
    assert project.ask("Read", READ, "researcher").decision == "allow"
    harm(project)
    project.ask("Read", READ, "researcher").denied("(unpinned)")
    assert project.intent()["code"] == "unpinned"
    project.ask("Read", READ, agent_type="researcher").denied("(unpinned)")  # `--agent researcher`
    assert project.ask("Read", READ).decision == "allow", "the main agent has no definition"


def test_a_daemon_sees_changes(project: Project):
    with project.serving():
        path = project.agents / "researcher.md"
        before, times = path.read_bytes(), path.stat()
        assert project.ask("Read", READ, "researcher").decision == "allow"
        path.write_bytes(before.replace(b"help", b"harm"))  # as long, and as old
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        project.ask("Read", READ, "researcher").denied("(unpinned)")
        path.write_bytes(before)
        assert project.ask("Read", READ, "researcher").decision == "allow"
        same_name_in_another_file(project)
        project.ask("Read", READ, "researcher").denied("(unpinned)")
        project.install()
        assert project.ask("Read", READ, "researcher").decision == "allow"
        project.install(pinned=("asker",))
        project.ask("Read", READ, "researcher").denied("(unpinned)")


def test_others_do_not_disturb(project: Project):
    put(project.agents / "helper.md", "---\nname: helper\ndescription: >-\n  Helps the researcher.\n---\n<b>Hi</b>\n")
    put(project.agents / "notes.txt", definition("researcher"))
    put(project.agents / "README.md", "# About the researcher\n\n{no: front}\n")
    (project.agents / "broken.md").symlink_to("nowhere.md")
    (project.agents / "loop").symlink_to(project.agents)
    assert project.ask("Read", READ, "researcher").decision == "allow"


def test_odd_files_that_were_there_are_pinned(project: Project):
    flow(project)
    project.ask("Read", READ, "asker").denied("(unpinned)")
    project.install()
    assert project.ask("Read", READ, "asker").decision == "allow"
    assert len(definitions_of("asker", (str(project.agents),), ENDINGS)) == 2


def test_a_directory_that_can_not_be_read(project: Project):
    (project.agents / "researcher.md").unlink()
    for path in project.agents.iterdir():
        path.unlink()
    project.agents.rmdir()
    project.agents.write_text("no directory")
    project.ask("Read", READ, "researcher").denied("(unpinned)")
