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


@pytest.mark.parametrize(
    "text",
    [
        "find src -name zzz -print0 | xargs -0 git clean -fd",
        "git ls-files -z src | xargs -0 git stash",
        "find src -name zzz -print0 | xargs -0 ls",
    ],
)
def test_xargs_runs_the_command_even_if_it_reads_no_name(text):
    """GNU xargs does, without `-r`: `git clean -fd` alone removes everything that git doesn't know."""
    words = [[word.raw for word in act.command.words] for act in understand(text).acts]
    assert text.partition("xargs -0 ")[2].split() in words
    without = [act.command.raw for act in understand(text.replace("-0 git", "-0r git").replace("-0 ls", "-0r ls")).acts]
    assert text.partition("xargs -0 ")[2] not in without


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("find . -print0 | tar --null -T - -czf x.tgz", UNDERSTOOD),
        ("find . | tar --verbatim-files-from -cf x.tar -T -", UNDERSTOOD),
        ("find . -print0 | tar -T - --null -czf x.tgz", UNKNOWN),  # comes too late for that list
        ("find . -print0 | tar --null --no-verbatim-files-from -T - -czf x.tgz", UNKNOWN),
        ("find . | tar -czf x.tgz -T -", UNKNOWN),
        ("tar --null -T list -xf x.tar", UNKNOWN),
    ],
)
def test_lists_of_names_for_tar(text, grade):
    assert understand(text).grade == grade
