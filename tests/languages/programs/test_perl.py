"""Perl programs in the text: those that only change or pick lines are as harmless as sed's."""

from __future__ import annotations

import time

import pytest

from remit.languages.programs.understand import understand
from remit.model.terms import PROJECT, UNDERSTOOD, UNKNOWN


@pytest.mark.parametrize(
    ("text", "effects"),
    [
        ("perl -pe 's/a/b/' f.txt", {"read"}),
        ("perl -pi -e 's/a/b/g; s|c$|d|' src/*.py", {"read", "write"}),
        ("perl -i.bak -pe 's/(a)(b)/$2$1/' f", {"read", "write"}),
        ("ls | perl -ne 'print if /x|y/i'", {"read"}),
        ("ls | perl -nle 'print $1 if m/\\.([^.\\/]+)$/'", {"read"}),
        ("ls | perl -ne 'print \"$1\\n\" if /\\[(\\d+)\\]/'", {"read"}),
        ("perl -ne 'print unless eof' f", {"read"}),
        ("perl -wnl -e '/\\s1$/ and print' f", {"read"}),
        ("perl -pe 'y/a-z/A-Z/' f", {"read"}),
    ],
)
def test_programs_that_only_change_lines(text, effects):
    found = understand(text, new_shell=True)
    assert found.grade == UNDERSTOOD
    assert {effect for act in found.acts for effect in act.effects} == effects


def test_the_copies_that_it_keeps():
    touches = understand("perl -i.bak -pe 's/a/b/' f", new_shell=True).acts[0].touches
    assert {(touch.effect, touch.path.text) for touch in touches} == {("read", "f"), ("write", "f"), ("write", "f.bak")}


@pytest.mark.parametrize(
    "text",
    [
        "perl -pe 's/a/b/e' f",
        "perl -pe 's/a/b/ge' f",
        "perl -pe 's/a/b/; system 1' f",
        "perl -pe 's/a/b/\nsystem 1' f",
        "perl -pe 'system 1' f",
        "perl -pe '`id`' f",
        "perl -pe 's/(?{system 1})/b/' f",
        "perl -pe 's/(??{system 1})/b/' f",
        "perl -ne 'print if /(?{system 1})/' f",
        "perl -pe 's/@{[system 1]}/b/' f",
        "perl -pe 's/a/@{[system 1]}/' f",
        "perl -pe 's/a/${\\system 1}/' f",
        "perl -pe 's/a/$x{system 1}/' f",
        "perl -pe 's/a/$1[system 1]/' f",
        "perl -ne 'print \"@{[system 1]}\"' f",
        "perl -ne 'print \"$1[system 1]\"' f",
        "perl -ne 'print <STDIN>' f",
        "perl -ne 'print {system 1} 2' f",
        "perl -pe 's/\\p{IsEvil}/b/' f",
        "perl -Mevil -pe 's/a/b/' f",
        "perl -Ievil -pe 's/a/b/' f",
        "perl -F'/x/);system(1)#/' -ane 'print' f",
        "perl -F'/x/);system(1)#/' -an f.pl",
        "perl -s -pe 's/a/b/' f",
        "perl -e 's/a/b/' f",
        'perl -pe "$x" f',
        "perl -pe 's/a/b/' '|id'",
        "perl -pe 's/a/b/' 'id|'",
        "perl -pe 's/a/b/' '>x'",
        "perl -pe 's/a/b/' *.txt",
        "perl -pe 's/a/b/' src/*",
        "perl -pe 's/a/b/' \"$x\"",
        "find . -type f -exec perl -pe 's/a/b/' {} +",
        "perl -pe 'BEGIN { system 1 }' f",
    ],
)
def test_everything_else_is_code(text):
    assert understand(text, new_shell=True).grade == UNKNOWN


@pytest.mark.more
@pytest.mark.parametrize("part", ["s/a/b/;", "s/\\a", "print if /x/;", 'print "a",', "s/a/b/ if /", "y/a/b/ "])
def test_a_long_program_takes_no_longer_than_its_length(part):
    """Four times the text takes well below sixteen times the work."""
    times = []
    for count in (100, 400):
        text = f"perl -pe '{part * count}' f"
        best = []
        for turn in range(5):
            begun = time.process_time()
            understand(f"{text} {turn}", new_shell=True)
            best.append(time.process_time() - begun)
        times.append(min(best))
    assert times[1] < 12 * times[0] + 0.05


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("cat x | python3 src/x.py", PROJECT),
        ("bash s.sh < x", PROJECT),
        ("node x.js < x", PROJECT),
        ("cat x | python3", UNKNOWN),
        ("cat x | bash", UNKNOWN),
        ("cat x | bash -s s.sh", UNKNOWN),
        ("cat x | bash -is s.sh", UNKNOWN),
        ("cat x | python3 -i x.py", UNKNOWN),
        ("cat x | python3 - x.py", UNKNOWN),
        ("cat x | bash - x.sh", UNKNOWN),
        ("cat x | sh /dev/stdin", UNKNOWN),
        ("cat x | node -r ./x.js", UNKNOWN),
        ("cat x | bash --rcfile s.sh", UNKNOWN),
    ],
)
def test_a_script_that_is_named_reads_its_input_itself(text, grade):
    assert understand(text, new_shell=True).grade == grade
