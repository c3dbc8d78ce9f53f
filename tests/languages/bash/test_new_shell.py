"""Variables of a new shell come from its host, and are no options; whatever the text itself can have set is not one."""

import shutil
import subprocess

import pytest

from remit.compile import build_rulebook
from remit.languages.bash.follow import given_names
from remit.languages.programs.understand import understand
from remit.model import PolicyError
from remit.model.terms import UNDERSTOOD, UNKNOWN

SETS = (
    "x=-delete",
    "export x=-delete",
    "declare -g x=-delete",
    "read x <<< -delete",
    "read 'x' <<< -delete",
    'read "$(printf x)" <<< -delete',
    "printf -v x %s -delete",
    "printf -v 'x' %s -delete",
    "mapfile x <<< -delete",
    "for x in -delete; do :; done",
    ": ${x:=-delete}",
    ': "${x=-delete}"',
    "((x=-1))",
    ": $((x=-1))",
    "let x=-1",
    "eval x=-delete",
    "eval 'x''=-delete'",
    "eval ': ${'x':=-delete}'",
    "declare -n r=x; r=-delete",
    "declare -n r='x'; r=-delete",
    "f() { x=-delete; }; f",
    "if true; then x=-delete; fi",
    "false || x=-delete",
    "exec {x}</dev/null",
    "source /dev/stdin <<< x=-delete",
    "x=(-delete)",
    "x+=-delete",
    "getopts x x -x",
    'unset x; : "${x:=-delete}"',
    "trap 'x=-delete' DEBUG; :",
)
"""Each leaves something in `x`."""


@pytest.mark.parametrize("text", SETS)
def test_what_the_text_sets(text: str) -> None:
    if shutil.which("bash"):
        run = subprocess.run(
            ["bash", "-c", f'{text}\n[ "$x" ] && echo set'], capture_output=True, text=True, check=False
        )
        assert run.stdout.strip().endswith("set"), run.stderr
    found = understand(f"{text}\nfind . $x -name a", new_shell=True)
    last = found.acts[-1] if found.acts else None
    assert last is None or last.grade == UNKNOWN or "delete" in last.effects or last.command.words[2].text is not None


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("find $dir -name '*.py'", UNDERSTOOD),
        ("find $dir/src -type f", UNDERSTOOD),
        ("sort ${file}", UNDERSTOOD),
        ("sed -n 1p $file", UNDERSTOOD),
        # what runs, or where it goes, is still not known
        ("$tool x", UNKNOWN),
        ("bash $script", UNKNOWN),
        ("python -c $code", UNKNOWN),
        # the value may hold programs and options by its very purpose, or is the shell's own
        ("find $PATH", UNKNOWN),
        ("sort $LESSOPEN", UNKNOWN),
        ("sort $BASH_EXECUTION_STRING", UNKNOWN),
        ("sort $_", UNKNOWN),
        # what comes of it is not the value itself
        ("sort ${x:--o}", UNKNOWN),
        ("sort ${x#?}", UNKNOWN),
        ("sort -$x", UNKNOWN),
        ("sort $(cat $x)", UNKNOWN),
        # the shell is another one, with variables that this one may have exported
        ("bash -c 'sort $x'", UNKNOWN),
    ],
)
def test_what_comes_from_the_host(text: str, grade: str) -> None:
    assert understand(text, new_shell=True).grade == grade
    assert understand(text).grade == UNKNOWN


def test_a_new_shell_has_no_arguments() -> None:
    [act] = understand('find "$@" $1 src', new_shell=True).acts
    assert [word.text for word in act.command.words] == ["find", "src"]
    assert understand('find "$@" src').grade == UNKNOWN


def test_targets_stay_untold() -> None:
    act = understand("rm $x", new_shell=True).acts[0]  # the second: where `x` is not set
    assert [(touch.effect, touch.path.text) for touch in act.touches] == [("delete", None)]


def test_names_that_only_occur_as_values() -> None:
    assert given_names('find $a ${b} "$c" ${d:-x} $((e)) f $f') == {"a", "b", "c"}


@pytest.mark.parametrize("kind", [{"shell": "old"}, {"shell": "new", "one_of": ["a"]}])
def test_a_kind_that_is_none(kind: dict[str, object]) -> None:
    with pytest.raises(PolicyError):
        build_rulebook({"remit": 1, "name": "x", "tools": {"run": {"args": {"command": kind}}}, "agents": {}})


@pytest.mark.parametrize(
    ("text", "effect"),
    [
        ("find . $x-delete", "delete"),
        ('find . "$x"-delete', "delete"),
        ("find . -$x'delete'", "delete"),
        ("sort $x -o a", "write"),
        ("sort $x-oa", "write"),
        ("g$x push", None),
        ("git $x push", None),
        ("git $x config core.hooksPath a", None),
        ("git config $x core.hooksPath a", None),
        ("git config core.hooksPath$x a", None),
        ('git config "core.hooksPath$x" a', None),
        ("timeout $x rm a", None),
        ("sort $a$b$c$d$e", None),
    ],
)
def test_a_variable_may_be_missing(text: str, effect: str | None) -> None:
    """Whoever writes the text can count on a variable that nobody has: without it, other words mean other things."""
    found = understand(text, new_shell=True)
    assert found.grade == UNKNOWN or effect in {one for act in found.acts for one in act.effects}
    assert effect is not None or found.grade == UNKNOWN
