"""Where commands run, and what names mean there, after everything that can change it."""

from __future__ import annotations

import pytest

from remit.languages.programs.understand import understand
from remit.model.terms import UNKNOWN
from tests.languages.bash.places_fuzz import fuzz


def places(text: str) -> tuple[str | None, ...]:
    """Where the last `rm` of a text may run."""
    found = understand(text, new_shell=True)
    assert found.problem is None, found.problem
    return [act.bases for act in found.acts if act.program == "rm"][-1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cd src && make && cd - && rm x", (".",)),
        ("cd src || exit; cd lib || exit; cd -; rm x", ("src/lib", "src")),
        ('set -e; cd src; make; cd "$OLDPWD"; rm x', (".",)),
        ("cd src; cd - && rm x", (".", None)),  # if the first one failed, nobody knows where the second leads
        ("cd - && rm x", (None,)),
        ("for i in 1 2; do cd a; done; cd - && rm x", (".", None)),
        ("cd a && (cd b && cd - && rm x)", ("a",)),
        ("set -e; x=$(cd a; rm x)", (".", "a")),  # a substitution goes on after a command that failed
        ("set -e; ! cd a; rm x", (".", "a")),
        ("set -e; f() { eval 'cd a'; rm x; }; f && ls", (".", "a")),
        ("if ! cd a; then rm x; fi", (".", "a")),
        ("! cd a && rm x", (".", "a")),
        ("if cd a; then rm x; fi", ("a",)),
    ],
)
def test_where_a_command_runs(text, expected):
    assert set(places(text)) == set(expected)


@pytest.mark.parametrize("seed", range(2))
def test_places_are_those_of_bash(seed):
    found, known, _ = fuzz(seed, 60)
    assert found == []
    assert known > 30


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 104))
def test_places_are_those_of_bash_in_many_scripts(seed):
    assert fuzz(seed, 3_000)[0] == []


@pytest.mark.parametrize(
    "text",
    [
        'for i in 1 2; do git status; eval "PATH=./evil"; done',  # the second round runs another git
        "while read x; do git status; eval 'alias git=./evil'; done < f",
        "for i in 1 2; do git status; x='PATH=./evil'; eval \"$x\"; done",
        "for i in 1 2; do git status; eval 'eval PATH=./evil'; done",
        "eval 'git() { PATH=./evil; }'; git status; ls",
        "for i in 1 2; do git status; eval 'git() { ./evil; }'; done",
        "trap 'git() { ./evil; }' DEBUG; git status",
        "f() { git status; }; f; eval 'git() { ./evil; }'; f",
        "declare -n r=PATH; r=./evil; git status",
        "local -n r=PATH; r=./evil; git status",
        "typeset -n r=PATH; r=./evil; git status",
        "coproc cat; git status",
        "coproc X { cat; }; git status",
        "alias git=./evil; git status",
        "shopt -s expand_aliases\nalias git=./evil\ngit status",
        "git=1; BASH_CMDS[git]=./evil; git status",
        "BASH_ALIASES[git]=./evil; git status",
        "hash -p ./evil git; git status",
        "shopt -s dotglob; rm -r *",
        "shopt -s extglob; rm -r !(x)",
        "shopt -s extglob\nrm -r !(x)",
        "shopt -s nocaseglob; rm readme*",
        "set -f; rm *",
        "GLOBIGNORE=x; rm *",
        "mapfile -C 'git() { ./evil; }; :' -c 1 x < f",
        "readarray -tC ./evil x < f",
        "export BASHOPTS; shopt -s nullglob; bash -c 'rm *'",
    ],
)
def test_what_makes_the_rest_unknown(text):
    assert understand(text, new_shell=True).grade == UNKNOWN


def test_a_folder_that_was_kept_is_not_the_one_after_cd():
    found = understand('eval :; p=$PWD; cd docs || exit; rm "$p/x"', new_shell=True)
    assert [touch.path.text for act in found.acts if act.program == "rm" for touch in act.touches] == [None, None]


def test_a_pattern_that_may_become_no_word():
    found = understand("shopt -s nullglob; find *.d -delete", new_shell=True)
    roots = {touch.path.text for act in found.acts for touch in act.touches if touch.effect == "delete"}
    assert roots == {"*.d", "."}  # without a folder to look in, find takes all of this one


def test_a_pattern_that_may_become_no_word_in_a_text_that_is_evaluated():
    found = understand("for i in 1 2; do find *.d -delete; eval 'shopt -s nullglob'; done", new_shell=True)
    roots = {touch.path.text for act in found.acts for touch in act.touches if touch.effect == "delete"}
    assert roots == {"*.d", "."}


@pytest.mark.parametrize("name", ["mapfile", "readarray"])
def test_lines_in_an_array(name):
    found = understand(f'{name} -t files < <(git ls-files); rm "${{files[@]}}"', new_shell=True)
    assert found.grade != UNKNOWN
    assert [word.text for act in found.acts if act.program == "rm" for word in act.command.words[1:]] == [None]


@pytest.mark.parametrize("text", ["alias ls='ls -l'", "alias x=$(date)", "shopt -s dotglob", "bash -c 'alias x=y'"])
def test_what_a_shell_is_told_about_itself_ends_with_it(text):
    assert understand(text, new_shell=True).grade != UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "alias ls='ls -l'",
        "shopt -s dotglob",
        "PATH=./evil",
        "for PATH in ./evil; do :; done",
        "read PATH <<< ./evil",
        "eval PATH=./evil",
        "eval 'git() { ./evil; }'",
    ],
)
def test_a_terminal_keeps_what_a_text_changes(text):
    assert understand(text).grade == UNKNOWN


@pytest.mark.parametrize("text", ["(PATH=./evil)", "PATH=./evil | cat", "x=1", "bash -c 'PATH=./evil'"])
def test_what_a_subshell_changes_ends_with_it(text):
    assert understand(text).grade != UNKNOWN
