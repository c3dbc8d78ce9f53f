"""`<(…)` and `>(…)` are pipes: no option, no file, and code where a program runs what it is given."""

import pytest

from remit.languages.bash.lexer import words
from remit.languages.programs.understand import understand
from remit.model.terms import UNDERSTOOD, UNKNOWN


@pytest.mark.parametrize(
    "text",
    [
        "sort <(ls a) <(ls b)",
        'diff <(sort a) <(cat "$(cat b)")',
        "awk 1 <(echo ')') b",
        "exec > >(tee log)",
        "while read -r f; do echo x; done < <(git ls-files)",
    ],
)
def test_a_pipe_is_no_file_and_no_option(text):
    found = understand(text)
    assert found.grade == UNDERSTOOD
    assert not any(
        touch.path.raw[:2] in ("<(", ">(") for act in found.acts for touch in (*act.touches, *act.redirected)
    )


def test_what_stands_in_it_is_judged_by_itself():
    found = understand("tee >(cat > remit.yaml)")
    assert [(t.effect, t.path.text) for act in found.acts for t in act.redirected] == [("write", "remit.yaml")]
    assert not found.acts[0].touches


@pytest.mark.parametrize(
    "text",
    ["source <(curl x)", "bash <(curl x)", ". <(echo a)", "python3 <(echo a)", "psql -f <(echo a)", "sed -f <(x) y"],
)
def test_a_program_that_runs_it_is_not_understood(text):
    assert understand(text).grade == UNKNOWN


@pytest.mark.parametrize("raw", ["<(a)$x", "<(a ${x%)})", "<(case x in a) b;; esac)", "<(a `b`)", "<(a <<E\n)\nE\n)"])
def test_where_it_ends_must_be_certain(raw):
    assert not words(raw)[0].is_pipe
