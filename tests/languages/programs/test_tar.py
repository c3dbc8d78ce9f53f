"""tar's command line: archives, directories, and the options that run programs."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest

from remit.languages.bash.reading import Reading, Word
from remit.languages.programs.tar import LONG, SHORT, read_tar


def reading(line: str) -> Reading:
    return read([Word(word, word) for word in shlex.split(line)])


def read(words: list[Word]) -> Reading:
    out = Reading()
    read_tar(words, out)
    return out


def touched(out: Reading) -> list[tuple[str, str | None, bool]]:
    return [(touch.effect, touch.path.text, touch.deep) for touch in out.touches]


@pytest.mark.parametrize(
    ("line", "touches"),
    [
        ("cf x.tar .", [("read", ".", True), ("write", "x.tar", False)]),
        ("czf x.tgz src tests", [("read", "src", True), ("read", "tests", True), ("write", "x.tgz", False)]),
        ("-czvf x.tgz src", [("read", "src", True), ("write", "x.tgz", False)]),
        ("-c -z -fx.tgz src", [("read", "src", True), ("write", "x.tgz", False)]),
        ("--create --file=x.tar src", [("read", "src", True), ("write", "x.tar", False)]),
        ("-c src -f x.tar --exclude-vcs", [("read", "src", True), ("write", "x.tar", False)]),
        ("--cr --file x.tar src", [("read", "src", True), ("write", "x.tar", False)]),
        ("cfb x.tar 20 src", [("read", "src", True), ("write", "x.tar", False)]),
        ("bcf 20 x.tar src", [("read", "src", True), ("write", "x.tar", False)]),
        ("cf - src", [("read", "src", True)]),
        ("cz src", [("read", "src", True)]),
        (
            "-czf x.tgz -C build out -C lib a",
            [
                ("read", "build", False),
                ("read", "build/lib", False),
                ("read", "build/out", True),
                ("read", "build/lib/a", True),
                ("write", "x.tgz", False),
            ],
        ),
        ("-cf x.tar -- -C", [("read", "-C", True), ("write", "x.tar", False)]),
        ("-cf x.tar --exclude=node_modules --exclude '*.pyc' .", [("read", ".", True), ("write", "x.tar", False)]),
        ("-cf x.tar -X skip .", [("read", "skip", False), ("read", ".", True), ("write", "x.tar", False)]),
        ("-cf x.tar --remove-files a", [("read", "a", True), ("delete", "a", True), ("write", "x.tar", False)]),
        ("rf x.tar a", [("read", "a", True), ("write", "x.tar", False)]),
        ("-uf x.tar a", [("read", "a", True), ("write", "x.tar", False)]),
        ("-f x.tar --delete a", [("write", "x.tar", False)]),
        ("-Af x.tar y.tar", [("read", "y.tar", False), ("write", "x.tar", False)]),
        ("tf x.tar", [("read", "x.tar", False)]),
        ("-tvzf x.tgz", [("read", "x.tgz", False)]),
        ("--list --file x.tar --wildcards '*.py'", [("read", "x.tar", False)]),
        ("xf x.tar", [("write", ".", True), ("read", "x.tar", False)]),
        ("xzf x.tgz a/b c", [("write", ".", True), ("read", "x.tgz", False)]),
        ("-xf x.tar --strip-components=1", [("write", ".", True), ("read", "x.tar", False)]),
        ("-xf x.tar -C /tmp/out", [("read", "/tmp/out", False), ("write", "/tmp/out", True), ("read", "x.tar", False)]),
        (
            "xf x.tar --directory out --one-top-level=a",
            [("read", "out", False), ("write", "out", True), ("write", "out/a", True), ("read", "x.tar", False)],
        ),
        (
            "-xf x.tar a -C out b",
            [("read", "out", False), ("write", "out", True), ("write", ".", True), ("read", "x.tar", False)],
        ),
        ("-xOf x.tar a.txt", [("read", "x.tar", False)]),
        ("--extract --to-stdout -f x.tar", [("read", "x.tar", False)]),
        ("xGf x.tar", [("write", ".", True), ("delete", ".", True), ("read", "x.tar", False)]),
        ("df x.tar", [("read", ".", True), ("read", "x.tar", False)]),
        ("--compare -f x.tar src", [("read", "src", True), ("read", "x.tar", False)]),
        ("-cg snap -f x.tar a", [("read", "a", True), ("write", "x.tar", False), ("write", "snap", False)]),
        ("-cvf x.tar --index-file=log a", [("write", "log", False), ("read", "a", True), ("write", "x.tar", False)]),
        ("-I zstd -cf x.tar.zst a", [("read", "a", True), ("write", "x.tar.zst", False)]),
        ("-I 'zstd -19 -T0' -cf x.tar.zst a", [("read", "a", True), ("write", "x.tar.zst", False)]),
        ("cf x.tar a --checkpoint=100 --checkpoint-action=dot", [("read", "a", True), ("write", "x.tar", False)]),
        ("cf ./a:b a", [("read", "a", True), ("write", "./a:b", False)]),
        ("cf a:b a --force-local", [("read", "a", True), ("write", "a:b", False)]),
        ("-cf x.tar --mtime=@0 --sort=name --owner=0 a", [("read", "a", True), ("write", "x.tar", False)]),
        ("-cf x.tar --mtime=/etc/x a", [("read", "/etc/x", False), ("read", "a", True), ("write", "x.tar", False)]),
        ("--version", []),
    ],
)
def test_understands(line: str, touches: list[tuple[str, str, bool]]) -> None:
    out = reading(line)
    assert (out.unknown, out.refused, touched(out)) == ([], [], touches)
    assert out.effects == {effect for effect, _, _ in touches} - {"read"}


@pytest.mark.parametrize("line", ["cf user@x.example:/tmp/a.tar .", "-tf x.example:a.tar", "x --file=x.example:a"])
def test_archives_on_other_hosts_are_network(line: str) -> None:
    out = reading(line)
    assert out.unknown == []
    assert "network" in out.effects
    assert [host.text for host in out.hosts] == ["x.example"]


@pytest.mark.parametrize(
    "line",
    [
        "cf x.tar a --checkpoint=1 --checkpoint-action=exec=id",
        "cf x.tar a --checkpoint-action exec=id",
        "cf x.tar a --checkpoint-a=exec=id",
        "cf x.tar a -I 'sh -c id'",
        "cf x.tar a -Iid",
        "cf x.tar a -I ./zstd",
        "cf x.tar a -I 'zstd -o/etc/x'",
        "cf x.tar a --use-compress-program=id",
        "cf x.tar a --use=id",
        "cIf id x.tar a",
        "xf x.tar --to-command=id",
        "xf x.tar --to-c id",
        "cf h:x.tar a --rsh-command=./x",
        "cf h:x.tar a --rmt-command=./x",
        "cMf x.tar a -F ./x",
        "cMf x.tar a --info-script=./x",
        "cMf x.tar a --new-volume-script=./x",
        "cf x.tar a --set-mtime-command=id",
        "xPf x.tar",
        "xf x.tar --absolute-names",
        "xf x.tar --abs",
    ],
)
def test_refuses_what_runs_programs_or_reaches_any_path(line: str) -> None:
    assert reading(line).refused


@pytest.mark.parametrize(
    "line",
    [
        "",
        "f x.tar",
        "-cxf x.tar a",
        "cf x.tar -T list",
        "cf x.tar --files-from=list",
        "-cf",
        "cyf x.tar a",
        "-cf x.tar --frobnicate a",
        "-cf x.tar --no a",
        "-cf x.tar --verify=1 a",
        "--chec=1 -cf x.tar a",
        "src -cf x.tar",
    ],
)
def test_names_what_is_not_certain(line: str) -> None:
    out = reading(line)
    assert out.unknown
    assert all(text.startswith("tar: ") for text in out.unknown)


def test_words_that_could_turn_into_options() -> None:
    glob, variable = Word("*", "*", glob=True), Word(None, '"$x"')
    start = [Word("cf", "cf"), Word("x.tar", "x.tar")]
    assert read([*start, glob]).unknown
    assert read([*start, variable]).unknown
    assert read([*start, Word("--", "--"), glob]).unknown == []
    assert read([*start, Word("src/*", "src/*", glob=True)]).unknown == []
    assert read([Word("cf", "cf"), variable, Word("a", "a")]).unknown


@pytest.mark.skipif(shutil.which("tar") is None, reason="needs tar")
def test_knows_every_option_of_tar_itself() -> None:
    usage = subprocess.run(["tar", "--usage"], capture_output=True, text=True, check=False).stdout
    if "--checkpoint-action" not in usage:
        pytest.skip("not GNU tar")
    own = re.findall(r"\[--([a-z][a-z0-9-]*)(\[=|=)?", usage)
    assert len(own) > 100
    assert {name for name, _ in own} <= set(LONG)
    for name, value in own:
        assert {"": "flag", "[=": "optional"}.get(value, LONG[name]) == LONG[name], name
        assert (LONG[name] == "flag") is (value == ""), name
    letters = re.search(r"\[-([A-Za-z?]+)\]", usage)
    assert letters is not None
    assert {name for letter in letters.group(1) if LONG[name := SHORT[letter]] != "flag"} == set()
    assert set(re.findall(r"\[-([A-Za-z]) ", usage)) <= set(SHORT)
