"""The reader against bash: what bash runs for a text must be among the commands that the reader lists."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from remit.languages.bash.lexer import words
from remit.languages.bash.reader import MAX_TEXT, read_script
from remit.languages.bash.script import Redirect, Script
from remit.languages.programs.understand import understand
from remit.model.errors import NotUnderstood
from tests.languages.bash.bash_fuzz import Bash, Run, differences, fuzz, fuzz_all

CASES = yaml.safe_load((Path(__file__).parent / "bash_cases.yaml").read_text())


def bash_version() -> int:
    bash = shutil.which("bash")
    if bash is None:
        return 0
    found = re.search(r"version (\d+)", subprocess.run([bash, "--version"], capture_output=True, text=True).stdout)
    return int(found[1]) if found else 0


needs_bash = pytest.mark.skipif(
    bash_version() < 5 or not (shutil.which("gcc") or shutil.which("cc")), reason="needs bash 5 and a C compiler"
)


@pytest.fixture(scope="module")
def bash() -> Iterator[Bash]:
    with Bash() as made:
        yield made


def outcome(text: str) -> Script | None:
    """The script; None if it is refused."""
    try:
        return read_script(text)
    except NotUnderstood:
        return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: repr(case["text"])[1:50])
def test_cases(case):
    script = outcome(case["text"])
    found = None if script is None else [[word.text for word in command.words] for command in script.commands]
    assert found == case.get("commands")


@needs_bash
@pytest.mark.parametrize("exits", [0, 127])
@pytest.mark.sample(1)
def test_bash_runs_what_the_cases_say(bash, exits):
    """Whatever the programs return, bash runs nothing that a case doesn't list."""
    found = []
    for case in CASES:
        script = outcome(case["text"])
        if script is not None:
            found += [(case["text"], why) for why in differences(script, bash.run(case["text"], exits))]
    assert found == []


@needs_bash
def test_the_comparison_sees_differences(bash):
    """It must not be clean only because it sees nothing."""
    run = bash.run("V1=x c1 a 'b c' > f9 <<< in; git \"$(c2)\" | c3")
    for text, why in {
        "V1=x c1 a 'b c' > f9 <<< in": "not listed: ['c2']",
        'V1=x c1 a b > f9 <<< in; git "$(c2)" | c3': "not listed: ['c1', 'a', 'b c']",
        "c1 a 'b c' > f9 <<< in; git \"$(c2)\" | c3": "environment: 'V1=x'",
        "V1=x c1 a 'b c' > f8 <<< in; git \"$(c2)\" | c3": "a file: 'f9'",
        "V1=x c1 a 'b c' > f9 <<< out; git \"$(c2)\" | c3": "standard input of ['c1', 'a', 'b c']: pipe 'in\\n'",
        "V1=x c1 a 'b c' > f9 <<< in; git \"$(c2)\"; c3": "standard input of ['c3']: pipe ''",
    }.items():
        assert why in differences(read_script(text), run)
    assert differences(read_script("V1=x c1 a 'b c' > f9 <<< in; git \"$(c2)\" | c3"), run) == []
    assert bash.run("no-such-program") == Run((), ())


@needs_bash
@pytest.mark.parametrize("count", [400, pytest.param(3_000, marks=pytest.mark.more)])
def test_generated_texts(count):
    report = fuzz(seed=count, count=count)
    assert report.ran == count
    assert report.called > count / 3
    assert report.differences == []


@needs_bash
@pytest.mark.long
def test_many_generated_texts(capsys):
    report = fuzz_all(seed=5, count=50_000)
    with capsys.disabled():
        print(f"\n{report}")
    assert report.differences == []


@needs_bash
@pytest.mark.parametrize("count", [2_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_braces(count):
    """Brace expansion has corners that nobody would guess: `{a}b,c}` becomes `a}b` and `c`."""
    rng = random.Random(count)  # noqa: S311 - the same words again each time
    pieces = ["{", "}", ",", "..", "a", "b", "1", "3", "0", "-", "+", "{a,b}", "{1..3}", "{}"]
    pieces += ["'x'", '""', "\\,", "\\{", "\\}", "','", "$'{'"]
    expected = []
    for _ in range(count):
        raw = "{" + "".join(rng.choice(pieces) for _ in range(rng.randrange(9)))
        try:
            expected.append((raw, [word.text for word in words(raw)]))
        except NotUnderstood:
            continue
    head = "set -f\np() { if [ $# -gt 0 ]; then printf '%s\\001' \"$@\"; fi; printf '\\002'; }\n"
    script = head + "".join(f"p {raw}\n" for raw, _ in expected)
    out = subprocess.run(["bash"], input=script, capture_output=True, text=True, check=True).stdout
    found = [each.split("\1")[:-1] for each in out.split("\2")[:-1]]
    assert len(expected) > count * 0.9
    assert [(raw, each) for (raw, _), each in zip(expected, found, strict=True)] == expected


JOINED = {
    "c1": [set()],
    "c1; c2": [{"then"}, {"then"}],
    "c1 &": [{"background"}],
    "c1 && c2 || c3": [{"and"}, {"and", "or"}, {"or"}],
    "c1 && c2; c3": [{"and", "then"}, {"and", "then"}, {"then"}],
    "c1 | c2": [{"pipe"}, {"pipe"}],
    "(c1)": [{"subshell"}],
    "{ c1; c2; } && c3": [{"group", "then", "and"}, {"group", "then", "and"}, {"and"}],
    "if c1; then c2; fi": [{"condition"}, {"condition"}],
    "while c1; do c2; done": [{"loop"}, {"loop"}],
    "f() { c1; }": [{"function", "group"}],
    "c1 $(c2; c3) && c4": [{"and"}, {"substitution", "then"}, {"substitution", "then"}, {"and"}],
    "c1 `c2` | c3": [{"pipe"}, {"substitution"}, {"pipe"}],
}


@pytest.mark.parametrize("text", JOINED)
def test_what_joins_commands(text):
    assert [set(command.joined) for command in read_script(text).commands] == JOINED[text]


FED = {
    "c1 | c2 | c3": [None, 0, 1],
    "c1 a $(c2) | c3": [None, None, 0],
    "(c1) | c2": [None, -1],
    "c1 | (c2)": [None, -1],
    "c1 | { c2; c3; }": [None, -1, -1],
    "c1 | while c2; do c3; done": [None, -1, -1],
    "{ c1; } < f": [-1, None],
    "c1 | c2 $(c3)": [None, 0, -1],
    "f() { c1; }; c2 | f": [-1, None, 1],
    "exec < f; c1": [None, -1],
    "c1 < f": [None],
    "c1 > >(c2)": [None, -1],
    "c1 | c2 >(c3)": [None, 0, -1],
    "c1 >(c2) <(c3)": [None, -1, None],
    "c1 <<< x > $(c2)": [None, -1],
}


@pytest.mark.parametrize("text", FED)
def test_what_feeds_commands(text):
    """A pipe reaches everything inside of the stage; -1 is a source that isn't one simple command."""
    assert [command.piped_from for command in read_script(text).commands] == FED[text]


def test_redirections_and_assignments():
    (command,) = read_script("A=1 B='x y' c1 <<-'E' 2>&1 >f &>> 'g h'\n\ta $x\n\tE\n").commands
    assert [(name, value.text) for name, value in command.assigns] == [("A", "1"), ("B", "x y")]
    assert command.redirects[0] == Redirect("<<", "0", body="a $x\n", quoted=True)
    others = [
        (redirect.op, redirect.fd, redirect.target and redirect.target.text) for redirect in command.redirects[1:]
    ]
    assert others == [(">&", "2", "1"), (">", "", "f"), ("&>>", "", "g h")]


def test_functions_are_named():
    assert read_script("f() { c1; }; function g { c2; }").functions == {"f", "g"}


@pytest.mark.parametrize(
    "text",
    [
        "c1 " + "a" * MAX_TEXT,
        "c1\0",
        "; ".join(["c1"] * 300),
        "c1 " + "$(c1 " * 200 + ")" * 200,
        "(" * 3000,
        "{ " * 3000,
        "c1 " + "{a,b}" * 12,
        "c1 {1..100000}",
        "c1 " + "{a" * 8000,
        "c1 " + "`" * 999,
        "c1 ${x:-" * 500,
        "c1 $((" + "(" * 5000,
        "c1 " + "\\\n" * 5000 + '"',
        "case x in " + "a) case x in " * 500,
        "if " * 3000,
        "! " * 8000 + "(",
        "f() " * 4000,
    ],
    ids=lambda text: text[:12].encode("unicode_escape").decode(),
)
def test_hostile_texts_are_refused(text):
    """However deep, long or open: refused, and by no other exception."""
    with pytest.raises(NotUnderstood):
        read_script(text)
    assert understand(text).problem is not None
