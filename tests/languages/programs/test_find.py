"""find's expression: where it looks, what it changes, what it runs."""

from __future__ import annotations

import shlex

import pytest

from remit.languages.bash.reading import Reading, Touch, Word
from remit.languages.programs.find import read_find


def reading(*words: Word | str) -> Reading:
    out = Reading()
    read_find([Word(word, word) if isinstance(word, str) else word for word in words], out)
    return out


def found(text: str, *, glob: bool = False) -> Word:
    """What find hands on: something below a path, or what matches; it goes through no links itself."""
    return Word(text, "{}", glob, deep=not glob, some=True, through="last", found=True)


def deep(*paths: str, effect: str = "read") -> list[Touch]:
    return [Touch(effect, Word(path, path), deep=True) for path in paths]


@pytest.mark.parametrize(
    ("line", "starts"),
    [
        ("", ["."]),
        (".", ["."]),
        ("src tests", ["src", "tests"]),
        ("-name x", ["."]),
        (". -name '*.py'", ["."]),
        ("src -type f -name '*.py' -o -iname '*.md'", ["src"]),
        (". -type f -not -path './.git/*' -print0", ["."]),
        (r". \( -name node_modules -o -name .git \) -prune -o -type f -print", ["."]),
        (". ! -name x -a -size +10k -mtime -7 -mmin +5", ["."]),
        (". -maxdepth 2 -mindepth 1 -type d -empty", ["."]),
        (". -regextype posix-extended -regex '.*/(a|b)' -printf '%p %s\\n'", ["."]),
        ("-L . -perm /111 -user root -ls -quit", ["."]),
        ("-O3 -D tree src -newermt 2024-01-01", ["src"]),
        ("-- src -name x", ["src"]),
        (". -xdev -inum 5 -links 2 -readable -executable", ["."]),
        ("/etc -name passwd", ["/etc"]),
        ("- -name x", ["-"]),
        (". -name -delete", ["."]),
        (". -name ';' -path '-exec'", ["."]),
        (". -fprint /dev/stdout", ["."]),
    ],
)
def test_reads_below_the_start_paths(line: str, starts: list[str]) -> None:
    out = reading(*shlex.split(line))
    assert (out.unknown, out.touches, out.effects, out.commands) == ([], deep(*starts), set(), [])


def test_deletes_below_every_start_path() -> None:
    out = reading("src", "build", "-name", "*.pyc", "-delete")
    assert out.effects == {"delete"}
    assert out.touches == [
        *deep("src"),
        Touch("delete", found("src/**/*.pyc", glob=True), some=True, links="last"),
        *deep("build"),
        Touch("delete", found("build/**/*.pyc", glob=True), some=True, links="last"),
    ]


@pytest.mark.parametrize(
    "line", ["src -delete -name x", "src -name x -o -delete", "src ! -name x -delete", "src -delete"]
)
def test_deletes_all_below_where_the_name_does_not_limit_it(line: str) -> None:
    assert reading(*line.split()).touches == [
        *deep("src"),
        Touch("delete", found("src"), deep=True, some=True, links="last"),
    ]


@pytest.mark.parametrize("action", ["-fprint out", "-fprint0 out", "-fls out", "-fprintf out '%p'"])
def test_writes_lists_to_files(action: str) -> None:
    out = reading(".", *shlex.split(action), "-name", "x")
    assert (out.unknown, out.effects) == ([], {"write"})
    assert out.touches == [Touch("write", Word("out", "out")), *deep(".")]


@pytest.mark.parametrize("test", ["-newer", "-anewer", "-cnewer", "-samefile", "-newerma", "-newerBm"])
def test_reads_reference_files(test: str) -> None:
    out = reading(".", test, "/etc/passwd")
    assert out.unknown == []
    assert out.touches == [Touch("read", Word("/etc/passwd", "/etc/passwd")), *deep(".")]


def test_a_reference_time_is_no_file() -> None:
    assert reading(".", "-newerct", "1 hour ago").touches == deep(".")


FOUND = Word(None, "{}", start="")
BELOW = found(".")


@pytest.mark.parametrize(
    ("line", "command"),
    [
        (r". -exec grep -l TODO {} \;", ["grep", "-l", "TODO", BELOW]),
        ("src -exec grep -l TODO {} +", ["grep", "-l", "TODO", *[found("src")] * 2]),
        (r"src -name 'x*' -exec rm -f {} \; -print", ["rm", "-f", found("src/**/x*", glob=True)]),
        (r"src -name 'x*' -o -exec rm -f {} \; -print", ["rm", "-f", found("src")]),
        (r"src -exec rm {} \; -name x", ["rm", found("src")]),
        (
            r"src -exec mv {} {}.bak \;",
            ["mv", found("src"), Word("src*", "{}.bak", True, True, True)],
        ),
        (
            r"src -exec cp {} old/{} \;",
            ["cp", found("src"), Word("old/src", "old/{}", deep=True, some=True)],
        ),
        (r"src -exec cp {} {}/../../x \;", ["cp", found("src"), Word(None, "{}/../../x")]),
        (r"src -exec dd if={} \;", ["dd", Word(None, "if={}")]),
        (r". -exec echo + \;", ["echo", "+"]),
        (r". -exec echo a{} + \;", ["echo", Word(None, "a{}"), "+"]),
        (r". -ok rm {} + \;", ["rm", BELOW, "+"]),
        (r". -exec {} \;", [BELOW]),
        (r". -exec sh -c 'cat {}' \;", ["sh", "-c", Word(None, "cat {}")]),
        (". -execdir rm {} +", ["rm", FOUND, FOUND]),
        (r". -execdir cat ../../x \;", ["cat", Word(None, "../../x", start="")]),
        (r". -okdir touch -c /tmp/x \;", ["touch", "-c", "/tmp/x"]),
        (r". -execdir sort --output=x {} \;", ["sort", Word(None, "--output=x", start=""), FOUND]),
    ],
)
def test_hands_on_commands(line: str, command: list[Word | str]) -> None:
    out = reading(*shlex.split(line))
    assert out.unknown == []
    assert out.commands == [[Word(word, word) if isinstance(word, str) else word for word in command]]


def test_reads_on_behind_a_command() -> None:
    out = reading(*shlex.split(r". -exec echo {} \; -exec cat {} + -delete -fprint out"))
    assert len(out.commands) == 2
    assert out.effects == {"delete", "write"}


@pytest.mark.parametrize(
    "line",
    [
        ". -delet",
        ". --delete",
        ". -frobnicate",
        ". -newerxy z",
        ". -files0-from list",
        "-f src -name x",
        "-LH .",
    ],
)
def test_names_what_is_not_certain(line: str) -> None:
    out = reading(*shlex.split(line))
    assert out.unknown
    assert all(text.startswith("find: ") for text in out.unknown)


def test_files0_from_is_read() -> None:
    assert Touch("read", Word("list", "list")) in reading("-files0-from", "list").touches


@pytest.mark.parametrize(
    ("words", "certain"),
    [
        ([Word(None, "$x")], False),
        ([Word(None, '"$x"', start="")], True),
        ([Word(None, '"src/$x"', start="src/")], True),
        ([Word(None, '"src/$@"')], False),
        ([Word(None, "src/$x")], False),
        ([".", "-name", Word(None, '"$x"', start="")], True),
        ([".", "-name", Word(None, "$x")], False),
        ([".", Word(None, '"$x"', start="")], True),
        ([Word("*", "*", glob=True), "-name", "x"], False),
        ([Word("src/*", "src/*", glob=True), "-name", "x"], True),
        ([Word("*.d", "*.d", glob=True), "-name", "x"], True),
        ([".", "-name", Word("*.py", "*.py", glob=True)], True),
        ([".", "-name", Word("*", "*", glob=True)], False),
        ([".", "-name", Word("[a-z]*", "[a-z]*", glob=True)], False),
        ([".", "-exec", "cat", Word("*", "*", glob=True), ";"], False),
        ([".", "-exec", "cat", Word("src/*", "src/*", glob=True), ";"], True),
        ([".", "-exec", "cat", Word(None, "$x"), ";"], False),
    ],
)
def test_words_that_are_not_literal(words: list[Word | str], certain: bool) -> None:
    assert (reading(*words).unknown == []) is certain


@pytest.mark.parametrize(
    "line",
    [
        ". -name x -exec rm {}",
        ". -delete foo",
        ". -name '*.o' foo -delete",
        ". -exec rm {} \\; 1",
        ". -exec \\;",
        ". -delete -name",
    ],
)
def test_an_expression_that_find_refuses_changes_nothing(line):
    out = reading(*shlex.split(line))
    assert (out.unknown, out.commands, out.effects) == ([], [], set())


@pytest.mark.parametrize("word", [Word(None, "$x"), Word("*", "*", glob=True)])
def test_a_word_that_is_not_literal_could_complete_the_expression(word):
    assert reading(".", "-exec", "rm", "{}", word).unknown


def test_what_fprint_names_is_opened_while_the_expression_is_read():
    assert reading(".", "-fprint", "log", "foo").effects == {"write"}


def test_maxdepth_1_finds_names_beside_each_other():
    out = reading(".", "-maxdepth", "1", "-name", "x*", "-delete")
    assert [touch.path.text for touch in out.touches if touch.effect == "delete"] == ["./x*"]
    out = reading(".", "-maxdepth", "1", "-maxdepth", "2", "-name", "x*", "-delete")
    assert [touch.path.text for touch in out.touches if touch.effect == "delete"] == ["./**/x*"]


def test_the_start_path_is_found_by_its_own_name():
    out = reading("a/.claude", "-name", ".cl*", "-delete")
    assert [(t.path.text, t.deep) for t in out.touches if t.effect == "delete"] == [("a/.claude", True)]
