"""Which files a search finds is seen on the disk."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from remit.enforce import find_look
from remit.model.facts import PLAIN_NAMES
from remit.scopes.glob import Glob
from remit.scopes.shell.sole import found_files, sole_search
from tests.enforce.test_git_look import decided, facts_of, write


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    write(root, {"src/a.py": "", "src/old/b.bak": "", "notes.bak": "", "docs/x.md": "", ".claude/settings.json": "{}"})
    return root


@pytest.mark.parametrize(
    "command",
    [
        "find . -name '*.bak' -delete",
        "find . -name '*.bak' -exec rm {} +",
        "find . -name '*.bak' -print0 | xargs -0 rm",
        "find . -name '*.bak' | xargs rm -f",
        "find . -name '*.bak' | sort | xargs -I{} chmod 600 {}",
        "find . -name '*.bak' | xargs sed -i s/a/b/",
    ],
)
def test_a_search_is_asked_about_only_where_it_finds_something_protected(project: Path, command: str) -> None:
    assert decided(project, command).code == "allowed"
    write(project, {".claude/x.bak": ""})
    assert ".claude/x.bak, which is protected" in decided(project, command).reason


@pytest.mark.parametrize(
    ("name", "command", "code"),
    [
        # a name that makes other words of itself
        ("x y/a.bak", "find . -name '*.bak' | xargs rm", "target-unknown"),
        ("it's/a.bak", "find . -name '*.bak' | xargs rm", "target-unknown"),
        ("a\nb.bak", "find . -name '*.bak' | xargs rm", "target-unknown"),
        ("-rf.bak", "ls | xargs rm", "target-unknown"),
        ("x y.bak", "find . -name '*.bak' -print0 | xargs -0 rm", "allowed"),
        ("x y.bak", "find . -name '*.bak' -delete", "allowed"),
    ],
)
def test_names(project: Path, name: str, command: str, code: str) -> None:
    write(project, {name: ""})
    assert decided(project, command).code == code


@pytest.mark.parametrize(
    "command",
    [
        "find . -type f -exec sed -i s/a/b/ {} +",  # git's own files, and the settings
        "find . -exec cp {} {}.bak \\;",
        # names of files that are there, of others that are not
        "ls -A docs | xargs touch",
        "ls -A | (cd docs && xargs touch)",
        "find . -name '*.json' | (cd docs; xargs touch)",
        "git ls-files | xargs touch",
        "touch x && find . -name '*.bak' -delete",
        "make && find . -name '*.bak' -delete",
    ],
)
def test_what_is_still_asked(project: Path, command: str) -> None:
    assert decided(project, command).verdict.word == "ask"


def test_a_link_is_what_it_leads_to(project: Path) -> None:
    (project / "link.bak").symlink_to(".claude/settings.json")
    assert decided(project, "find . -name '*.bak' -exec chmod 777 {} +").verdict.word != "allow"


def test_labels_see_what_is_found(project: Path) -> None:
    command = "find . -name '*.txt' -delete"
    write(project, {"todo.txt": ""})
    assert decided(project, command).tier == 2
    write(project, {"requirements.txt": ""})
    assert decided(project, command).tier == 3


def test_a_tree_that_is_no_answer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = "find -L . -name '*.bak' -delete"  # not tried, but compared with all there is
    assert facts_of(project, command).changes
    monkeypatch.setattr(find_look, "MAX_ENTRIES", 3)
    assert not facts_of(project, command).changes
    monkeypatch.undo()
    (project / "linked").symlink_to("/etc", target_is_directory=True)
    assert not facts_of(project, command).changes


@pytest.mark.parametrize(
    "tests", ["-name '*.py'", "-name 'a*'", "-name b.bak", "-maxdepth 1 -name '*.bak'", "-name '?.md'", ""]
)
@pytest.mark.parametrize("start", [".", "src", "./src", "docs/", "nowhere"])
def test_it_names_at_least_what_find_finds(project: Path, start: str, tests: str) -> None:
    text = f"find {start} {tests} -print0 | xargs -0 touch"
    run = subprocess.run(["bash", "-c", f"find {start} {tests} -print0"], cwd=project, capture_output=True, check=False)
    found = {os.path.normpath(name) for name in run.stdout.decode().split("\0") if name}
    patterns = found_files(text, None, str(project))
    seen = find_look.changes_of(patterns, str(project))
    named = {path for key, paths in seen.items() if key != PLAIN_NAMES for path in paths}
    assert found <= named | {pattern.base for pattern in patterns}


TESTS = [
    "-type f -size +1k",
    "-type f -size -2 -perm 644",
    "-iname 'A*' -o -name '*.md'",
    "! -path './.claude/*' -type f",
    "-type f -not -name '*.py'",
    "\\( -name '*.bak' -o -name '*.md' \\) -type f",
    "-path ./src -prune -o -type f",
    "-maxdepth 1 -type f -name '*.bak'",
    "-mindepth 2 -empty",
    "-regex '.*[.]py'",
    "-type d -empty",
    "-mtime +3 -type f -size +1k",
    "-newer src/a.py -name '*.md'",
]


@pytest.mark.parametrize("action", ["-exec printf '%s\\0' {} \\;", "-exec printf '%s\\0' {} +", "-print0"])
@pytest.mark.parametrize("tests", TESTS)
def test_a_look_names_at_least_what_the_search_acts_on(project: Path, tests: str, action: str) -> None:
    write(project, {"big.txt": "x" * 5000, "src/Ab.c": "x" * 3000, "src/empty/.keep": ""})
    (project / "src" / "void").mkdir()
    text = f"find . {tests} {action}"
    look = sole_search(text, None, str(project))
    assert look is not None
    assert set(look.words) <= {"find", *shlex.split(tests), "-print0", ".", "(", ")", "-true"}  # no action is left
    done = subprocess.run(["bash", "-c", text], cwd=project, capture_output=True, check=True)
    seen = subprocess.run([*look.words], cwd=project, capture_output=True, check=True)
    assert set(done.stdout.split(b"\0")) <= set(seen.stdout.split(b"\0"))


@pytest.mark.parametrize(
    "text",
    [
        "find . -exec false \\; -o -exec rm {} \\;",  # whether it fails, nobody knows
        "find . ! -exec true \\; -delete",
        "find . -mtime +3 ! -name x -delete",
        "find . ! -mtime +3 -delete",
        "find -L . -name x -delete",
        "find . -name [a-z]* -delete",
        "find . -name $x -delete",
        "find . -size +1k -fprint out -delete",
        "find . -size +1k -printf '%p' | xargs rm",
        "find . -size +1k , -delete",
        "find . -size +1k -quit -delete",
        "find . -files0-from x -delete",
        "find . -size",
        "find . -exec rm {}",
        "find . -size +1k -delete; find . -size -1k -delete",
        "for x in 1 2; do find . -size +1k -delete; done",
        "ls | xargs rm; find . -size +1k -delete",
        "LC_ALL=C find . -size +1k -delete",
        "find . -size +1k -frobnicate -delete",
    ],
)
def test_a_search_that_is_not_looked_at(text: str) -> None:
    assert sole_search(text, None, "/root-of-it") is None


def test_other_tests_than_the_name_count(project: Path) -> None:
    write(project, {"big.txt": "x" * 5000})
    assert decided(project, "find . -type f -size +1k -exec rm {} +").code == "allowed"
    assert decided(project, "find . -size +1k -exec rm -r {} +").verdict.word == "ask"  # folders have a size, too
    assert decided(project, "find . -type f ! -path './.*' -exec sed -i s/a/b/ {} +").code == "allowed"
    assert decided(project, "find . -size -1k -type f -exec chmod 600 {} +").code == "allowed"  # only empty files
    write(project, {".claude/settings.json": "x" * 5000})
    assert (
        ".claude/settings.json, which is protected" in decided(project, "find . -type f -size +1k -exec rm {} +").reason
    )


def test_an_age_is_no_reason_not_to_ask(project: Path) -> None:
    assert decided(project, "find . -type f -mmin -100000 -exec rm {} +").verdict.word == "ask"
    assert decided(project, "find . -type f -mtime +100000 -exec rm {} +").verdict.word == "ask"


def test_a_folder_too_large_to_look_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """What comes in from it may hold instructions; what only goes away is no reason to ask."""
    monkeypatch.setattr(find_look, "MAX_ENTRIES", 3)
    for number in range(9):
        (tmp_path / "x").mkdir(exist_ok=True)
        (tmp_path / "x" / f"{number}.txt").write_text("")
    into, away = Glob.parse("docs/**"), Glob.parse("x/**")
    names = frozenset({"claude.md"})
    assert find_look.named_below([(into, "x")], names, str(tmp_path)) == {"docs/**": ("x/claude.md",)}
    assert find_look.named_below([(away, "x")], names, str(tmp_path)) == {}
    monkeypatch.setattr(find_look, "MAX_ENTRIES", 50)
    assert find_look.named_below([(into, "x")], names, str(tmp_path)) == {}
