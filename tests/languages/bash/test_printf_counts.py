"""`printf %n` sets a variable to what it has printed so far: in every form that bash knows, compared with bash."""

import itertools
import subprocess

import pytest

from remit.languages.bash.builtins import counted
from remit.languages.bash.reading import Word
from remit.languages.programs.understand import understand
from remit.model.terms import UNDERSTOOD, UNKNOWN

_PARTS = (
    ("", "%%", "a", "%s"),
    ("%", "%%", "\\045"),
    ("", "-", " 0", "*", "5.3", "'"),
    ("", "h", "ll", "z", "\\"),
    ("n", "d"),
)
FORMS = ["".join(parts) for parts in itertools.product(*_PARTS)]


def test_whatever_bash_counts_in_is_seen() -> None:
    script = 'for form; do V=no; printf "$form" V V V V > /dev/null 2>&1; [ "$V" = no ] || echo "$form"; done'
    ran = subprocess.run(
        ["bash", "-c", f"{script} < /dev/null", "_", *FORMS], capture_output=True, text=True, check=False
    )
    counts = set(ran.stdout.splitlines())
    seen = {form for form in FORMS if counted([Word(form, form), Word("V", "V")])}
    assert len(counts) > 50
    assert counts <= seen
    assert not {form for form in seen if "n" not in form}


@pytest.mark.parametrize(
    "text",
    [
        "printf 'x%n' PATH; ls",
        'printf "x%n$y" PATH; ls',
        'printf "x$y" PATH; ls',
        'printf "x%s$(cat y)" "$z"; ls',
        "y=%n; printf \"a$y\" PATH; ls",
        "printf -- %hn IFS; ls",
        "for i in 1 2; do ls; printf %n PATH; done",
    ],
)  # fmt: skip
def test_names_mean_something_else_afterwards(text: str) -> None:
    [act] = [act for act in understand(text, new_shell=True).acts if act.program == "ls"]
    assert act.grade == UNKNOWN


@pytest.mark.parametrize("text", ["printf '%d%%\\n' PATH; ls", 'printf "x$y" text; ls', 'printf "x$(cat y)\\n"; ls'])
def test_what_counts_nothing_changes_nothing(text: str) -> None:
    assert {act.grade for act in understand(text, new_shell=True).acts} == {UNDERSTOOD}


def test_a_variable_that_was_counted_in_is_no_longer_known() -> None:
    [act] = [act for act in understand("x=docs/a; printf %n x; rm $x").acts if act.program == "rm"]
    assert [touch.path.text for touch in act.touches] != ["docs/a"]
