"""awk programs: everyday ones are understood, what opens files, runs commands or connects is found."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from remit.languages.bash.reading import Reading, Touch, Word
from remit.languages.programs.awk import read_awk


def reading(program: str) -> Reading:
    out = Reading()
    read_awk(program, out)
    return out


PLAIN = [
    "",
    "1",
    "{print}",
    "{print $1}",
    "{ print $1, $NF }",
    "NR==1",
    "NR>1",
    "NR > 1 && $3 > 100 { print $1 }",
    "/TODO/ { n++ } END { print n }",
    "!/^#/",
    "!seen[$0]++",
    "/start/,/end/",
    "$2 ~ /x|y/ {print $1}",
    "$2 !~ /[^/]*$/",
    '{sub(/[^/]*$/, ""); print}',
    '{gsub(/[[:space:]]+/, " ")}1',
    r"/\// { print }",
    r"/\"quoted\"/ { print }",
    "{ s += $1 } END { print s / NR }",
    "{ print $1 / 2, $2 / 3 }",
    "{ print a[1] / 2 / b }",
    "{ x /= 2; print x }",
    'BEGIN { FS = ":"; OFS = "\\t" } { print $1, $3 }',
    "BEGIN { for (i = 0; i < 10; i++) print i }",
    '{ if ($1 > 5) print $1; else print "small > 5" }',
    "{ print ($1 > $2) }",
    '{ print (a > b) ? "x" : "y" }',
    "{ x = $1 > 5 ? 1 : 0; print x }",
    '{ a[$1] = a[$1] " " $2 } END { for (k in a) print k, a[k] }',
    "function f(a, b) { return a / b }\n{ print f($1, $2) }",
    '{ printf "%s | %s > %s\\n", $1, $2, $3 }',
    '{ printf("%5.2f\\n", $1) }',
    '# system("id") | getline\n{ print }',
    '{ print "system(\\"id\\") | sh > out" }',
    "length($0) > 80",
    'length > 80 { print FILENAME ":" FNR }',
    "{ getline; print }",
    "{ getline x; print x }",
    "/a/ || /b/ { print } # x | y",
    '{ print > "/dev/stderr" }',
    '{ while ((getline line < "-") > 0) n++ }',
    "{ print $1,\n  $2 }",
    "{ n = split($0, parts, /,/); print parts[n] }",
    '{ print substr($0, index($0, "|") + 1) }',
    '{ close("x"); fflush() }',
    "{ print toupper(substr($0, 1, 1)) substr($0, 2) }",
    "END{print NR}",
    "{ i++ ; print i / 2 }",
    "{ delete a; next } END { exit 1 }",
]


@pytest.mark.parametrize("program", PLAIN)
def test_understands_programs_that_only_print(program: str) -> None:
    out = reading(program)
    assert (out.unknown, out.touches, out.effects, out.shells, out.urls) == ([], [], set(), [], [])


@pytest.mark.parametrize(
    ("program", "effect", "name"),
    [
        ('{ print > "out.txt" }', "write", "out.txt"),
        ('{ print $1, $2 >> "out.txt" }', "write", "out.txt"),
        ('{print>"out"}', "write", "out"),
        ('{ printf("%s", $1) > "/etc/x" }', "write", "/etc/x"),
        ('{ print (1, 2) > "out"; next }', "write", "out"),
        ('{ print (a > b), c > "out" }', "write", "out"),
        ('{ print $1,\n $2 > "out" }', "write", "out"),
        ('{ print a ?\n b : c > "out" }', "write", "out"),
        ('{ if (x > 1) print > "out" }', "write", "out"),
        ('{ print \\\n > "out" }', "write", "out"),
        ('{ print /"/ > "out" } # "', "write", "out"),
        ('{ print a / b > "out" } # /', "write", "out"),
        ('{ getline < "in" }', "read", "in"),
        ('BEGIN { while ((getline line < "in") > 0) print line }', "read", "in"),
        ('{ getline a[1] < "/etc/passwd"; print a[1] }', "read", "/etc/passwd"),
        ('{ getline $1 < "in" }', "read", "in"),
    ],
)
def test_finds_files(program: str, effect: str, name: str) -> None:
    out = reading(program)
    assert (out.unknown, out.touches) == ([], [Touch(effect, Word(name, name))])
    assert out.effects == ({"write"} if effect == "write" else set())


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ('BEGIN{system("curl https://x.example")}', "curl https://x.example"),
        ('BEGIN { system ( "id" ) }', "id"),
        ('{ print | "sort -n" }', "sort -n"),
        ('{ print $1, $2 | "sort"; }', "sort"),
        ('{ printf "%s", $1 | "sh" }', "sh"),
        ('BEGIN { "date" | getline d; print d }', "date"),
        ('BEGIN { while (("ls" | getline f) > 0) print f }', "ls"),
        ('BEGIN { x = "date" | getline }', "date"),
        (r'BEGIN { system("echo \"hi\"") }', 'echo "hi"'),
        ('/"/ { system("id") } # "', "id"),
        ('{ print 1 /2; system("id") } # /', "id"),
        ('{ print a[1] /2; system("id") } # /', "id"),
        ('{ x++ /2; system("id") } # /', "id"),
        ('{ print /\'/; system("id") }', "id"),
        ('/[/"]/ { system("id") } # "/', "id"),
    ],
)
def test_hands_on_commands_that_are_written_out(program: str, command: str) -> None:
    out = reading(program)
    assert (out.unknown, out.shells) == ([], [Word(command, command)])
    assert "execute" in out.effects


@pytest.mark.parametrize(
    "program",
    [
        "{ system($0) }",
        '{ system("rm " $1) }',
        '{ system("rm" x) }',
        "{ system() }",
        r'{ system("\143url x") }',
        '{ print | "sh" x }',
        "{ print | $1 }",
        '{ "ec" "ho" | getline }',
        "{ cmd | getline x }",
        '{ x "date" | getline }',
        'BEGIN{s="/inet/tcp/0/x.example/80"; print |& s}',
        '{ print |& "sh" }',
        '{ "sh" |& getline }',
        '{ print > $1 ".txt" }',
        '{ print > "a" "b" }',
        "{ print > FILENAME }",
        '{ print > "out" > "b" }',
        r'{ print > "\157ut" }',
        "{ getline < $1 }",
        '{ getline < "a" "b" }',
        "{ while ((getline line < file) > 0) print line }",
        '@load "filefuncs"',
        '@include "x.awk"\n{ print }',
        'BEGIN { f = "system"; @f("id") }',
        'BEGIN { awk::system("id") }',
        'BEGIN { extension("x.so") }',
        'BEGIN { ARGV[1] = "/etc/passwd"; ARGC = 2 }',
        'BEGIN { split("a /etc/passwd", ARGV) }',
        'BEGIN { if (1) /"/; system("id") } # "',
        'BEGIN { while (0) /"/; system("id") } # "',
        'BEGIN { getline /"/; system("id") } # "',
        'BEGIN { x = /a/ /"/; system("id") } # "',
        'BEGIN { $/"/; system("id") } # "',
        '/[a[:b]/ { x = "/; system(1) #" }',
        '/x[]/"]/ { print } # "',
        '{ print "a\n" }',
        '{ print "a }',
        "/a\n/",
        "{ print `id` }",
        "{ print “x” }",
        '{ print 0xsystem("id") }',
        "{ print",
        "print }",
    ],
)
def test_what_is_computed_or_not_certain_is_unknown(program: str) -> None:
    out = reading(program)
    assert out.unknown
    assert all(text.startswith("awk program: ") for text in out.unknown)


def test_connections_of_gawk_are_network() -> None:
    out = reading('BEGIN { getline x < "/inet/tcp/0/x.example/80" }')
    assert out.effects == {"network"}
    assert [url.text for url in out.urls] == ["/inet/tcp/0/x.example/80"]
    assert "network" in reading('BEGIN{s="/inet/tcp/0/x.example/80"; print |& s}').effects


@pytest.mark.skipif(shutil.which("awk") is None, reason="needs awk")
@pytest.mark.parametrize("program", PLAIN)
def test_awk_itself_accepts_and_writes_nothing(program: str, tmp_path: Path) -> None:
    run = subprocess.run(["awk", program], cwd=tmp_path, input="1 2 3\n", capture_output=True, text=True, check=False)
    assert "syntax error" not in run.stderr
    assert list(tmp_path.iterdir()) == []
