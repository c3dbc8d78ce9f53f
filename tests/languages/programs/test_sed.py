"""sed scripts: everyday ones are understood, what writes, reads or runs is found."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from remit.languages.bash.reading import Reading, Touch, Word
from remit.languages.programs.sed import read_sed


def reading(script: str, extended: bool = False) -> Reading:
    out = Reading()
    read_sed(script, extended, out)
    return out


def files(*pairs: tuple[str, str]) -> list[Touch]:
    return [Touch(effect, Word(name, name)) for effect, name in pairs]


PLAIN = [
    "",
    "p",
    "5p",
    "1,10p",
    "$p",
    "$!d",
    "1~2d",
    "0~4p",
    "/^def /p",
    "/a/,/b/p",
    "/a/I,+3p",
    "0,/x/d",
    "10q",
    "5Q",
    "q5",
    "1!G;h;$!d",
    "/^$/d",
    "/^#/d;/^$/d",
    "s/a/b/",
    "s/a/b/g",
    "s/a/b/2gp",
    "s/a/b/ g",
    "s|/usr|/opt|g",
    "s#a#b#I;s,c,d,M",
    r"s/\//x/",
    r"s,a\,b,c,",
    "s/[/]/x/",
    "s/[^/]*$//",
    "s/[]/]/x/",
    "s/[[:space:]]*$//",
    r"s/[\/]/x/",
    r"s/[\t ]\+$//",
    r"s/[^\\]*/x/",
    r"s/\[x\]/y/",
    r"s/\\[/]/x/",
    "s/a/b\\\nw out/",
    "s/rm -rf/e/;s/w out.txt/r in/",
    r"\%a/b%p",
    r"\xaxp",
    "y/abc/xyz/",
    r"y/a\/b/123/",
    ":a;N;$!ba;s/\\n/,/g",
    ":top\nN\nbtop",
    "/x/{p;d}",
    "/x/{p;d;};p",
    "/x/ {\n  s/a/b/\n  p\n}",
    "1{/a/{p}}",
    "{ba};:a;p",
    "t;p",
    "T end;p;:end",
    "a foo",
    "a foo}",
    "a\\\nfoo\\\nw out\np",
    "a\\foo",
    "a\\  foo",
    "1i\\\n  # header w out",
    "$a\\",
    "c changed",
    "1i #!/bin/sh",
    "/x/c\\\nw out",
    "a hello\\\nw out",
    "=",
    "=;F;l;l 5;z;x",
    "v 4.2\np",
    "# comment; w out\np",
    "#n\np",
    "p # w out",
    "p;;;p",
    " ; p ",
    "n;d",
    "$!N;P;D",
    "1 ! p",
    "w /dev/stdout",
    "s/a/b/w /dev/stderr",
    "r /dev/stdin",
]


@pytest.mark.parametrize("script", PLAIN)
def test_understands_scripts_that_touch_nothing(script: str) -> None:
    out = reading(script)
    assert (out.unknown, out.touches, out.effects, out.shells) == ([], [], set(), [])


@pytest.mark.parametrize(
    ("script", "touches"),
    [
        ("w out.txt", [("write", "out.txt")]),
        ("1w out.txt", [("write", "out.txt")]),
        ("wout", [("write", "out")]),
        ("W out", [("write", "out")]),
        ("w out; p", [("write", "out; p")]),
        ("w out }", [("write", "out }")]),
        ("s/a/b/w out", [("write", "out")]),
        ("s/a/b/gpw out", [("write", "out")]),
        ("s/a/b/ w out;p", [("write", "out;p")]),
        ("s|a|b|w /etc/x", [("write", "/etc/x")]),
        ("r in", [("read", "in")]),
        ("/x/R in", [("read", "in")]),
        ("$!{/x/w out\n}", [("write", "out")]),
        ("p\nw a\nr b", [("write", "a"), ("read", "b")]),
        ("{ba};:a;w out", [("write", "out")]),
        ("a foo\nw out", [("write", "out")]),
        ("a foo\\\\\nw out", [("write", "out")]),
        ("i\\\nfoo\nw out", [("write", "out")]),
        ("#n\nw out", [("write", "out")]),
        ("y/w/x/;w out", [("write", "out")]),
        ("s/[/]/x/w out", [("write", "out")]),
        ("s/x[^]/]/y/w out", [("write", "out")]),
        (r"\,a\,b,w out", [("write", "out")]),
    ],
)
def test_finds_files(script: str, touches: list[tuple[str, str]]) -> None:
    out = reading(script)
    assert (out.unknown, out.touches) == ([], files(*touches))
    assert out.effects == ({"write"} if any(effect == "write" for effect, _ in touches) else set())


@pytest.mark.parametrize(
    ("script", "command"),
    [("e date", "date"), ("1e curl https://x.example", "curl https://x.example"), ("e;p", ";p"), ("$!e }", "}")],
)
def test_hands_on_commands_that_are_written_out(script: str, command: str) -> None:
    out = reading(script)
    assert (out.unknown, out.shells, out.effects) == ([], [Word(command, command)], {"execute"})


@pytest.mark.parametrize(
    "script",
    ["e", "1e\np", "e\\\ndate", "s/.*/id/e", "s/a/b/pe", "s/a/b/ge;p", "s/a/b/ e", "s,a,b,Ie", "s/x/y/ew out"],
)
def test_commands_that_the_input_makes_are_unknown(script: str) -> None:
    out = reading(script)
    assert out.unknown
    assert "execute" in out.effects


@pytest.mark.parametrize(
    "script",
    [
        "s/a/b",
        "s/a",
        "s/a\nb/c/",
        "s/a/b\nw out/",
        "s/a/b/k",
        "s[a[b[",
        "sßaßbß",
        r"s/[\]/]/x/",
        "s/[/x/",
        "p}",
        "}",
        "{p",
        "1",
        "1,p",
        "1;2p",
        "1!!p",
        "1{p}w out",
        "p p",
        "q5 w out",
        "k",
        "w",
        "r\np",
        "a",
        "a\\  \nw out",
        "i\\\\\ne touch out",
        ":",
        ":a w out",
        ":a}w out",
        "ba w out\n:a",
        "ba#foo\n:a",
        "/a",
        "y/a/b/w out",
        "1#x",
        "\\",
    ],
)
def test_names_what_is_not_certain(script: str) -> None:
    out = reading(script)
    assert len(out.unknown) == 1
    assert out.unknown[0].startswith("sed script: ")


@pytest.mark.skipif(shutil.which("sed") is None, reason="needs sed")
@pytest.mark.parametrize("script", [script for script in PLAIN if "/dev/" not in script])
def test_sed_itself_accepts_and_writes_nothing(script: str, tmp_path: Path) -> None:
    version = subprocess.run(["sed", "--version"], capture_output=True, text=True, check=False).stdout
    if not version.startswith("sed (GNU sed) 4.9"):
        pytest.skip("brackets and labels are read differently by other versions")
    run = subprocess.run(["sed", script], cwd=tmp_path, input="a/b]\n", capture_output=True, text=True, check=False)
    assert "sed: -e" not in run.stderr
    assert list(tmp_path.iterdir()) == []
