"""A command that is told a folder touches what lies below it, as far as it really looks there."""

import shutil
import subprocess
from importlib.resources import files

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.forms.texts import plain
from remit.languages.programs.profiles import Profile, profile_of, programs
from remit.languages.programs.understand import understand
from remit.model import Call

FOLDERS = plain(parse((files("remit.catalog") / "programs" / "folders.yaml").read_text("utf-8"), "folders.yaml"))[
    "folders"
]
OPENING = [name for entry in FOLDERS if entry["below"] != "names" for name in entry["programs"] if " " not in name]
INSTALLED = sorted(
    name for name in OPENING if shutil.which(name) and name not in ("cd", "pushd", "less", "more", "most")
)
PATTERNS = {
    "grep", "egrep", "fgrep", "zgrep", "zegrep", "zfgrep", "bzgrep", "xzgrep", "sed", "gsed", "awk", "gawk", "mawk",
    "nawk", "original-awk", "jq", "gojq", "jaq",
}  # fmt: skip


def leaves(profile: Profile, words: tuple[str, ...]) -> list[tuple[tuple[str, ...], Profile]]:
    """Every subcommand of a program that has none of its own."""
    found = [leaf for name, sub in profile.sub.items() for leaf in leaves(sub, (*words, name))]
    return found or [(words, profile)]


def kept_out(command: str) -> str:
    tools = {"terminal": {"args": {"command": "shell"}, "tier": 2}}
    agents = {"a": {"may": ["terminal"], "may_not": [{"path": ["private/**"]}]}}
    tiers = {2: "allow", 3: "allow", 4: "allow"}
    rulebook = build_rulebook({"remit": 1, "tools": tools, "agents": agents, "tiers": tiers})
    return decide(rulebook, Call("a", "terminal", {"command": command})).verdict.word


def readers() -> list[str]:
    """Every command of the catalog with `private` where it reads, that does not open files alone."""
    known = [(name, profile_of(name)) for name in (*programs().programs, *programs().aliases)]
    found = []
    for name, profile in known:
        for words, leaf in leaves(profile, (name,)) if profile else ():
            kinds = (leaf.any,) if leaf.any else leaf.args
            if (
                kinds
                and leaf.folders in ("", "names")
                and (kinds[0] or "").removesuffix("...") in ("read", "tree", "edit", "script")
            ):
                found.append(" ".join((*words, "private")))
    return found


def test_every_command_that_is_told_a_folder_touches_what_lies_in_it():
    assert [command for command in readers() if kept_out(command) == "allow"] == []


@pytest.mark.parametrize("option", ["", "-r", "-R"])
@pytest.mark.parametrize("name", INSTALLED)
def test_a_program_that_opens_files_shows_nothing_of_a_folder(tmp_path, name, option):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "canary-name").write_text("canary-content\n")
    words = [name, *filter(None, [option]), *(["."] if name in PATTERNS else []), "private"]
    words += {"cp": ["to"], "install": ["to"], "cmp": ["private"], "join": ["private"], "comm": ["private"]}.get(
        name, []
    )
    words += ["]"] if name == "[" else []
    if kept_out(" ".join(words)) != "allow":
        return  # nobody says that it shows nothing
    done = subprocess.run(words, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
    assert b"canary" not in done.stdout + done.stderr
    assert [path.name for path in tmp_path.rglob("canary-name")] == ["canary-name"]


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("ls", "allow"),
        ("ls -la .", "allow"),
        ("ls src", "allow"),
        ("ls private", "deny"),
        ("ls -a ./private/", "deny"),
        ("cd private && ls", "deny"),
        ("ls -R", "deny"),
        ("ls priv*", "deny"),
        ("ls *.md", "allow"),
        ('for d in */; do ls "$d"; done', "deny"),
        ("echo *", "allow"),
        ("echo */*", "deny"),
        ("stat private", "allow"),
        ("cd private", "allow"),
        ("cat private", "allow"),
        ("pytest", "allow"),
        ("pytest .", "allow"),
        ("pytest tests", "allow"),
        ("pytest private", "deny"),
        ("pytest priv*", "deny"),
        ("cd private && pytest", "deny"),
        ("make -C private", "deny"),
        ("make private/x", "deny"),
        ("python private", "deny"),
        ("python -m private.x", "deny"),
        ("python -m private", "deny"),
        ("go vet ./...", "allow"),
        ("go vet ./private/...", "deny"),
    ],
)
def test_what_is_read_of_a_folder(command, verdict):
    assert kept_out(command) == verdict


def test_patterns_that_bash_replaces_are_read():
    for command in ("echo private/*", "printf %s private/*", "set -- private/*", "for f in private/*; do :; done"):
        assert kept_out(command) == "deny", command
    for command in ("a=(private/*)", "a=(x private/* y); echo ${a[@]}", "shopt -s globstar; echo **", "echo $1/*"):
        assert kept_out(command) == "deny", command
    for command in ("jq .a[0].b x.json", "curl https://x.example/a?b=c", "grep -rn --include=*.py x src"):
        assert kept_out(command) == "allow", command
    for command in ("echo 'private/*'", "case $x in private/*) :;; esac", "[[ $x == private/* ]]", "x=private/*"):
        assert kept_out(command) == "allow", command


def test_what_a_pattern_matches_is_read_once():
    touches = understand("rm -f build/*").acts[0].touches
    assert {touch.effect for touch in touches} == {"delete"}


@pytest.mark.parametrize(
    "command",
    [
        "[ -f private/x ]",
        "[ ! -s private/x ]",
        "[ -n a -a -a private/x ]",
        "test private/x -nt src/a",
        "test src/a -ot private/x",
        "[[ -e private/x ]]",
        "[[ $a == b && private/x -ef src/a ]]",
        'op=$1; [ "$op" private/x ]',
    ],
)
def test_a_test_reads_the_file_that_it_asks_about(command):
    assert kept_out(command) == "deny"


@pytest.mark.parametrize(
    "command", ["[ private/x = src/a ]", "[ -n private/x ]", "[ 1 -gt 0 -a private/x != b ]", "[[ -z private/x ]]"]
)
def test_a_test_of_texts_reads_nothing(command):
    assert kept_out(command) == "allow"
