"""`remit install` and `remit uninstall`, whatever the host: what is written, pinned, kept and put back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from remit.adapters.install import files
from remit.store.files import write_whole
from tests.adapters.hooks.speech import CLAUDE, SPEECHES, TOY
from tests.cli.install_kit import POLICY, REVIEWER, Project


@pytest.fixture(params=SPEECHES, ids=lambda host: host.name)
def empty(request: pytest.FixtureRequest, tmp_path: Path) -> Project:
    """A project with a policy in force, in which the host has no files yet."""
    found = Project(tmp_path, request.param)
    found.activate()
    return found


@pytest.fixture
def project(empty: Project) -> Project:
    """The same with settings and a definition; Remit is not installed yet."""
    empty.put(empty.host.settings, empty.settings_text).chmod(0o640)
    empty.put(empty.definition("reviewer"), REVIEWER)
    return empty


# What is written


def test_a_dry_run_writes_nothing(project: Project):
    before = project.files()
    ran = project.install("--dry-run", "--json")
    assert (ran.code, ran.json["written"]) == (0, False)
    wanted = {str(project.root / project.definition("reviewer")), str(project.settings), str(project.hooked)}
    assert {one["path"] for one in ran.json["files"]} == wanted
    assert project.files() == before
    assert project.kept() == []


def test_nothing_is_written_without_yes(project: Project):
    before = project.files()
    ran = project.install()
    assert (ran.code, ran.err) == (
        2,
        "remit: nobody can be asked here, and nothing was written\n    write with --yes\n",
    )
    assert "-tools: Read, Write\n+tools: Read, Edit, Bash\n" in ran.out
    assert f"+++ b/{project.host.settings}\n" in ran.out
    assert project.files() == before


def test_hooks_stand_beside_what_was_there(project: Project):
    assert project.install("--yes").code == 0
    hooks, text = project.hooked.read_text(), project.settings.read_text()
    assert hooks.count(f"/{project.host.name}.sh ]") == {"claude-code": 4, "toy": 3}[project.host.name]
    assert "WebFetch" in text  # which nobody may use
    assert f"/{project.host.name}.sh" not in text
    if project.host is TOY:
        assert text.startswith(project.settings_text)
    else:
        assert json.loads(text)["model"] == "opus"


def test_a_second_run_changes_no_byte(project: Project):
    project.install("--yes")
    before, record = project.files(), project.record()
    ran = project.install()
    assert ran.code == 0
    assert f"{project.host.name}: nothing to do\n" in ran.out
    assert project.files() == before
    assert project.record() == record


def test_a_moved_program_is_replaced_and_never_doubled(project: Project):
    project.install("--yes")
    once = project.hooked.read_bytes()
    project.hooked.write_bytes(once.replace(b"[ -r /", b"[ -r /elsewhere/"))
    assert project.hooked.read_bytes() != once
    assert project.install("--yes").code == 0
    assert sorted(project.hooked.read_bytes().splitlines()) == sorted(once.splitlines())


def test_a_lost_file_of_the_client_is_written_again(project: Project):
    project.install("--yes")
    [path] = project.state.rglob(f"{project.host.name}.client")
    before = path.read_bytes()
    path.unlink()
    assert "nothing to do" not in project.install("--dry-run").out
    project.install("--yes")
    assert path.read_bytes() == before
    assert "nothing to do" in project.install().out


def test_observing_blocks_nothing(project: Project):
    project.activate(POLICY.replace("  reviewer:\n", "  reviewer:\n    enforce: {observe: {until: 2099-01-01}}\n"))
    ran = project.install("--yes")
    assert "no deny rules, since they would bind reviewer, who is only observed" in ran.out
    assert "WebFetch" not in project.settings.read_text()
    assert (project.root / project.definition("reviewer")).read_text() == REVIEWER


def test_the_main_agent_is_appended_to_the_policy(project: Project):
    lacking = POLICY.replace("hosts: {claude-code: {main: boss}}\n", "")
    project.activate(lacking)
    before = project.files()
    assert "name one with --main AGENT: boss, reviewer, writer, idle\n" in project.install("--yes").err
    assert project.install("--yes", "--main", "bos").err == "remit: unknown agent `bos`; did you mean `boss`?\n"
    assert project.install("--yes", "--main", "boss").code == 0
    assert (project.root / "remit.yaml").read_text() == project.policy()
    project.uninstall("--yes")
    assert project.files() == before


@pytest.mark.parametrize("what", ["settings", "definitions"])
def test_nothing_is_written_through_a_symlink(project: Project, what: str, tmp_path: Path):
    target = project.settings if what == "settings" else project.root / project.definition("reviewer")
    target.rename(tmp_path / "real")
    target.symlink_to(tmp_path / "real")
    before = (tmp_path / "real").read_bytes()
    ran = project.install("--yes")
    assert (ran.code, project.kept() == []) == ((2, True) if what == "settings" else (0, False))
    assert "it is a symlink, or below one" in ran.out or "is a symlink, or below one" in ran.err
    assert (tmp_path / "real").read_bytes() == before


def test_settings_that_can_not_be_read_are_an_error_that_changes_nothing(project: Project):
    project.put(project.host.settings, "\0")
    before = project.files()
    ran = project.install("--yes")
    assert ran.code == 2
    assert f"remit: {project.settings}: " in ran.err
    assert project.files() == before


def test_a_host_without_local_settings_says_so(empty: Project):
    ran = empty.install("--yes", "--local")
    if empty.host is CLAUDE:
        assert ran.code == 0
    else:
        assert (ran.code, ran.err) == (2, "remit: the toy host has no local settings\n")


# Pins


def test_the_pins(project: Project):
    mine = project.of_user("mine")
    mine.write_text("---\nname: writer\ndescription: x\n---\n")
    ran = project.install("--yes", "--json")
    record = project.record()
    assert record["agents"] == ran.json["pins"]
    assert list(record["agents"]["reviewer"]) == [str(project.root / project.definition("reviewer"))]
    assert list(record["agents"]["writer"]) == [str(mine)]
    assert "boss" not in record["agents"]  # nobody vouches for a name without a file
    assert record["definitions"][0] == str(project.root / project.host.folder)
    assert record["settings"] == str(project.settings)


def test_a_definition_of_the_user_is_pinned_and_not_edited(project: Project):
    mine = project.of_user("writer")
    mine.write_text("---\nname: writer\ndescription: x\n---\n")
    ran = project.install("--yes")
    assert "left as it is, since it belongs to all projects of the user" in ran.out
    assert "tools" not in mine.read_text()


def test_a_changed_definition_must_be_confirmed(project: Project):
    project.install("--yes")
    path = project.root / project.definition("reviewer")
    path.write_text(path.read_text().replace("You review.", "You do anything."))
    other = project.put(
        project.definition("other"), "---\nname: reviewer\ndescription: x\ntools: Read, Edit, Bash\n---\n"
    )
    ran = project.install()
    assert ran.code == 2
    assert f"definition changed since it was pinned: {project.definition('reviewer')} (reviewer)\n" in ran.out
    assert f"definition that is not pinned yet: {project.definition('other')} (reviewer)\n" in ran.out
    old = project.record()["agents"]
    assert project.install("--yes").code == 0
    assert project.record()["agents"]["reviewer"] != old["reviewer"]
    assert set(project.record()["agents"]["reviewer"]) == {str(path), str(other)}
    assert "nothing to do" in project.install().out


# And back


def test_every_byte_and_mode_comes_back(project: Project):
    before = project.files()
    project.install("--yes")
    assert project.settings.stat().st_mode & 0o777 == 0o640
    ran = project.uninstall("--yes")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, f"{project.host.name}: uninstalled")
    assert project.files() == before
    assert project.kept() == []
    again = project.uninstall()
    assert (again.code, again.out) == (0, f"{project.host.name}: nothing is installed for this project\n")
    wanted = {"host": project.host.name, "files": [], "kept": [], "written": False}
    assert project.uninstall("--json").json == wanted


def test_what_install_made_is_removed(empty: Project):
    before = empty.files()
    paths = [str(empty.settings), str(empty.hooked)]
    ran = empty.install("--yes", "--json")
    assert ran.json["files"] == [{"path": path, "change": "create"} for path in paths]
    ran = empty.uninstall("--yes", "--json")
    assert ran.json["files"] == [{"path": path, "change": "remove"} for path in paths]
    assert empty.files() == before


def test_a_directory_that_is_used_since_stays(tmp_path: Path):
    project = Project(tmp_path)
    project.activate()
    project.install("--yes")
    project.put(".claude/notes.md", "mine")
    project.uninstall("--yes")
    assert [path.name for path in (project.root / ".claude").iterdir()] == ["notes.md"]


def test_it_asks_first_and_can_be_tried(project: Project):
    project.install("--yes")
    installed = project.files()
    assert project.uninstall().code == 2
    assert project.uninstall("--dry-run").out.endswith("dry run: nothing was written\n")
    assert project.files() == installed
    assert project.uninstall("--yes").code == 0


def test_what_people_changed_since_stays_theirs(project: Project):
    project.install("--yes")
    path = project.root / project.definition("reviewer")
    path.write_text(path.read_text() + "More.\n")
    project.settings.write_text(project.settings.read_text() + "\n")
    ran = project.uninstall("--yes", "--json")
    assert {line.partition(";")[0] for line in ran.json["kept"]} == {
        f"{project.definition('reviewer')}: was changed since the installation",
        f"{project.host.settings}: was changed since the installation",
    }
    assert path.read_text() == REVIEWER + "More.\n"
    assert "client.py" not in project.settings.read_text()


def test_what_people_removed_since_stays_away(project: Project):
    project.install("--yes")
    project.settings.unlink()
    (project.root / project.definition("reviewer")).unlink()
    ran = project.uninstall("--yes")
    assert f"{project.host.settings}: was removed since, and stays removed" in ran.out
    assert not project.settings.exists()
    assert project.kept() == []


def test_it_needs_no_policy_any_more(project: Project):
    project.install("--yes")
    (project.root / "remit.yaml").unlink()
    assert project.uninstall("--yes", "--policy", "remit.yaml").code == 0
    assert project.settings.read_text() == project.settings_text


class Killed(BaseException):
    """The process is gone."""


WRITES = {False: 7, True: 6}
"""How many files an installation writes, anew and again for a changed policy; its record counts as none of them."""


def killed_after(writes: int, patch: pytest.MonkeyPatch) -> None:
    """The process ends after so many files, and leaves the next one half-written beside its place."""
    done = 0

    def write(path: Path, data: bytes, **more: Any) -> None:
        nonlocal done
        if done == writes:
            path.with_name(f".{path.name}-0123456789abcdef").write_bytes(data[:10])
            raise Killed
        done += 1
        write_whole(path, data, **more)

    patch.setattr(files, "write_whole", write)


@pytest.mark.sample(4)
@pytest.mark.parametrize("writes", range(max(WRITES.values()) + 1))
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("updating", [False, True])
def test_an_interrupted_install(project: Project, writes: int, again: bool, updating: bool):
    before = project.files()
    if updating:
        project.install("--yes")
        project.activate(POLICY.replace("may: [Read, Task]", "may: [Grep, Task]").replace("[Read, {Bash", "[{Bash"))
    with pytest.MonkeyPatch.context() as patch:
        killed_after(writes, patch)
        if writes < WRITES[updating]:
            with pytest.raises(Killed):
                project.install("--yes")
        else:
            assert project.install("--yes").code == 0
    if again:
        assert project.install("--yes").code == 0
        assert "nothing to do" in project.install().out
    assert project.uninstall("--yes").code == 0
    if updating:
        project.activate()
    after = project.files()
    for found in (before, after):
        found.pop(".remit/rulebook", None)
    assert after == before
    if writes == 0 and not (again or updating):  # nothing was kept yet, so nothing is known to be cleaned
        assert project.kept() == [f".{project.host.name}.originals.json-0123456789abcdef"]
        assert project.install("--yes").code == project.uninstall("--yes").code == 0
    assert project.kept() == []
