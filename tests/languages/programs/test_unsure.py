"""A word that is not literal could be an option, or several words: what a command counts as doing then."""

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.languages.bash.lexer import words
from remit.languages.programs.profiles import Profile, profile_of, programs
from remit.languages.programs.understand import understand
from remit.model import Call
from remit.model.terms import UNDERSTOOD, UNKNOWN

ONE_WORD = {
    '"$x"': "",
    '"src/$x"': "src/",
    '"--out=$x"': "--out=",
    '--out="$x"': "--out=",
    '"$(dirname "$x")/a"': "",
    '"${x%.*}.c"': "",
    '"${1:-.}"': "",
    '"$*"': "",
    "-j$(nproc)": "-j",
    "$((1 + 2))": "",
    '"$(cat <<\'EOF\'\nit\'s "so"\nEOF\n)"': "",
}
SEVERAL = (
    "$x",
    "src/$x",
    '"$@"',
    '"${@:2}"',
    '"${a[@]}"',
    '"${x:-"$@"}"',
    '"$x"*',
    '"$x"{a,b}',
    '"${x@Q}"',
    '"$(case x in a) echo "b" ;; esac)$@"',
)


@pytest.mark.parametrize("raw", ONE_WORD)
def test_words_that_stay_one(raw):
    assert [word.start for word in words(raw)] == [ONE_WORD[raw]]


@pytest.mark.parametrize("raw", SEVERAL)
def test_words_that_may_become_several(raw):
    assert [word.start for word in words(raw)] == [None]


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("rm $x", UNDERSTOOD),
        ('cp "$a" "$b"', UNDERSTOOD),
        ("wc -l $(git ls-files)", UNDERSTOOD),
        ("tail -n $x log", UNDERSTOOD),
        ("ls | xargs rm", UNDERSTOOD),
        ("tcpdump $x", UNKNOWN),
        ('sort "$x"', UNKNOWN),
        ('sort "./$x"', UNDERSTOOD),
        ('sort -- "$x"', UNDERSTOOD),
        ("sort ./$x", UNKNOWN),
        ("sort -k $x a", UNKNOWN),
        ('sort -k "$x" a', UNDERSTOOD),
        ('sort --key="$x" a', UNDERSTOOD),
        ('sort --compress-program="$x" a', UNKNOWN),
        ('sort "--compress-program=$x" a', UNKNOWN),
        ('make "$x"', UNKNOWN),
        ('make "S$x"', UNKNOWN),
        ('mypy "@$x"', UNKNOWN),
        ('git push origin "$x"', UNKNOWN),
        ('find "$d" -type f', UNDERSTOOD),
        ("find $d -type f", UNKNOWN),
        ('find . "$a" ls {} \\;', UNKNOWN),
        ("xargs -I cat cat a", UNKNOWN),
        ("xargs -I a -I rm rm b", UNKNOWN),
    ],
)
def test_grades(text, grade):
    assert understand(text).grade == grade


@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ("rm $x", {"delete"}),
        ('uniq "$x"', {"read", "write"}),
        ("ls | xargs cp", {"read", "write"}),
        ("chown $x a", {"read", "write", "system"}),
        ('find "$d" -type f', {"read", "write", "delete"}),
        ("ls | xargs -n 1 -I {} mv {} b", {"read", "write", "delete"}),
    ],
)
def test_it_counts_as_all_that_the_program_can_do(text, effects):
    act = understand(text).acts[-1]
    assert act.effects == effects
    assert {touch.effect for touch in act.touches if touch.path.text is None} == effects - {"system"}


@pytest.mark.parametrize("text", ["rm $x", 'cp "$a" "$b"', 'find "$d"', "ls | xargs rm", 'git diff "$x"'])
def test_locks_and_prohibitions_see_it(text):
    tools = {"terminal": {"args": {"command": "shell"}, "tier": 2}}
    agents = {"a": {"may": ["terminal"], "may_not": [{"path": "secrets/**"}]}}
    book = build_rulebook({"remit": 1, "tools": tools, "agents": agents})
    assert not decide(book, Call("a", "terminal", {"command": text})).allowed


def _known(program: str) -> Profile:
    profile = profile_of(program)
    assert profile is not None
    return profile


def _bounded(profile: Profile, name: str):
    if profile.at_most is not None:
        yield name, profile
    for word, inner in profile.sub.items():
        yield from _bounded(inner, f"{name} {word}")


@pytest.mark.parametrize("word", ["$x", '"$x"'])
def test_no_program_is_understood_without_saying_what_it_does_at_most(word):
    """Whatever the options are: a program that nobody looked through is not understood."""
    bounded = {name for program in programs().programs for name, _ in _bounded(_known(program), program)}
    assert len(bounded) > 50
    for program in programs().programs:
        profile = _known(program)
        if profile.any is None and not profile.sub and profile.special != "find" and program not in bounded:
            assert understand(f"{program} {word}").grade == UNKNOWN, program


@pytest.mark.parametrize("text", ["jobs $x", "dpkg-architecture $x", 'cowsay "$x"', "lspci $x", 'gh search prs "$x"'])
def test_a_word_that_is_not_literal_could_be_an_option_that_is_refused(text):
    assert understand(text).grade == UNKNOWN


@pytest.mark.parametrize("text", ['test -n "$x"', 'printf "a $x"', 'lspci "a$x"'])
def test_a_word_that_can_be_no_such_option_is_text(text):
    assert understand(text).grade == UNDERSTOOD


@pytest.mark.parametrize(
    "text",
    ['git config "core.hooksPath$x" docs', 'git "co$x" a', 'docker "r$x" alpine', 'npm "pub$x" .', 'gh "pr$x" merge 1'],
)
def test_a_subcommand_that_is_not_literal(text: str) -> None:
    assert understand(text).grade == UNKNOWN
