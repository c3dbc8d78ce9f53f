"""What a text shows that makes a command do less than its program could; and what looks like it, and does not."""

import subprocess
from pathlib import Path

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.languages.programs.outputs import output_of
from remit.languages.programs.understand import understand
from remit.model import Call

BOOK = build_rulebook(
    {
        "remit": 1,
        "tools": {"terminal": {"args": {"command": {"shell": "new"}}, "tier": 2}},
        "agents": {"a": {"may": ["terminal"]}},
    }
)


def decided(command: str) -> str:
    decision = decide(BOOK, Call("a", "terminal", {"command": command}))
    return decision.code if decision.verdict.word == "allow" else f"{decision.verdict.word} {decision.code}"


@pytest.mark.parametrize(
    "command",
    [
        # names that are missing, or empty, are no files
        "rm",
        "cp -n",
        "yes | rm",
        "touch",
        'mkdir -p ""',
        # what goes to standard output
        "wget -qO- https://a.example/x",
        "wget -O - https://a.example/x",
        # a file whose name the address or an option tells
        "wget https://a.example/some/",
        "split --additional-suffix=.csv -l100 data.csv out/data_",
        "shred build/x",
        "gzip src/*.log",
        "mkdir -p $(dirname src/a/b.txt)",
        'f=src/a.c; mkdir -p "$(dirname "$f")"',
        # bash itself replaces these, and by no hidden names
        "ls -d ./src/[!_]*",
        "cat src/[^_]*",
        # a link to somewhere outside, wherever the link lies
        "ln -s /opt/x ~/bin/y",
        # commands before an archive is unpacked
        "curl -o /tmp/a.tgz https://a.example/a.tgz; tar xf /tmp/a.tgz -C /tmp",
        # text in quotes is one word
        '[ "`git status --porcelain`" == "" ]',
        'printf "Using: $(which go)\\n"',
        # the options of Go's programs, with one dash or two
        "go test --count=1 --run='X' ./...",
        # an output of a step; one literal line
        'echo "JOB=1" >> $GITHUB_ENV',
        "printf 'JOB=1\\n' >> \"$GITHUB_ENV\"",
        # what the project declares
        "uv lock",
        "poetry lock",
        "python -m build",
        "npm prune",
        "docker compose down -v",
        "gh api -X GET repos/a/b -f state=open",
        "gh api --method=get repos/a/b",
    ],
)
def test_no_question(command: str) -> None:
    assert decided(command) == "allowed"


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ('rm "$f"', "ask tier-asks"),
        ("xargs rm", "ask tier-asks"),
        ('rm -rf "$f"/*', "ask tier-asks"),
        ("cp x $d", "ask target-unknown"),
        ("wget -r -O - https://a.example/ -P .claude", "deny protected"),
        ("wget -r -O - https://a.example/", "ask target-unknown"),
        ("wget -b -O - https://a.example/", "ask tier-asks"),  # it goes on when the command has ended
        ("wget --content-disposition https://a.example/some/", "ask target-unknown"),
        ("wget https://a.example/CLAUDE.md", "deny protected"),
        ("split -a 1 x .git/hook", "deny protected"),
        ("split -a 4 x CLAUDE", "ask target-unknown"),
        ("gunzip *.gz", "ask target-unknown"),
        ("gzip -d out/*", "ask target-unknown"),
        ("touch $(basename x/CLAUDE.md)", "deny protected"),
        ("mkdir -p `dirname .claude/x`", "deny protected"),
        ("dirname() { echo CLAUDE.md; }; touch $(dirname a/b)", "ask target-unknown"),
        ("rm [!a]*", "deny protected"),  # the policy and its like are not hidden
        ("find . -name '[!a]*' -delete", "ask target-unknown"),
        ("ln -s .. src/y", "deny protected"),
        ("ln -s ../.. src/a/y", "deny protected"),
        ('ln -s "$x" src/y', "deny protected"),
        ("tar xf /tmp/a.tgz -C /tmp; touch /tmp/x", "ask target-unknown"),
        ("touch /tmp/x & tar xf /tmp/a.tgz -C /tmp", "ask target-unknown"),
        ("while true; do touch /tmp/x; tar xf /tmp/a.tgz -C /tmp; done", "ask target-unknown"),
        ("touch /tmp/x | tar xf /tmp/a.tgz -C /tmp", "ask target-unknown"),
        ("[ `git status` == x ]", "ask tier-asks"),
        ('[ "`echo "a" b`" == x ]', "ask tier-asks"),
        ('printf "$x"', "ask tier-asks"),
        ('printf "-v$x" y', "ask tier-asks"),
        ("go test --exec=x ./...", "ask tier-asks"),
        ('echo "PATH=x" >> $GITHUB_ENV', "ask tier-asks"),
        ('echo "path=x" >> $GITHUB_ENV', "ask tier-asks"),
        ('echo -e "A=1\\nLD_PRELOAD=x" >> $GITHUB_ENV', "ask tier-asks"),
        ('echo -e "A=1\\rLD_PRELOAD=x" >> $GITHUB_ENV', "ask tier-asks"),
        ("printf 'A=1\\nLD_PRELOAD=x\\n' >> $GITHUB_ENV", "ask tier-asks"),
        ('echo "A=$(cat x)" >> $GITHUB_ENV', "ask tier-asks"),
        ("echo 'A<<EOF' >> $GITHUB_ENV", "ask tier-asks"),
        ("echo x >> $GITHUB_PATH", "ask tier-asks"),
        ("cat x >> $GITHUB_ENV", "ask tier-asks"),
        ("uv lock --upgrade", "ask tier-asks"),
        ("poetry lock --regenerate", "ask tier-asks"),
        ("npm prune x", "ask tier-asks"),
        ("go clean -i -cache", "ask target-unknown"),
        ("go clean -cache ./...", "ask target-unknown"),
        ("gh api repos/a/b -f state=open", "ask tier-asks"),
        ("gh api -X $M repos/a/b", "ask tier-asks"),
        ("gh api -X GET --method DELETE repos/a/b", "ask tier-asks"),
        ("rename -n 'system(1)' *", "ask tier-asks"),
        ("losetup -n /dev/loop0 x", "ask tier-asks"),
        ("losetup -l /dev/loop0 x", "ask tier-asks"),
        ("losetup -O NAME /dev/loop0 x", "ask tier-asks"),
    ],
)
def test_still_a_question(command: str, code: str) -> None:
    assert decided(command) == code


PATHS = [
    "a",
    "a/b.txt",
    "./a",
    "../x",
    "a/..",
    "..",
    ".",
    "/a/b",
    "/a/b/c.d",
    "a/./b",
    "a_b/c-d",
    "..a",
    "a/...",
    "a//b",
]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("program", ["dirname", "basename"])
def test_parts_of_a_path_are_those_that_the_programs_print(program: str, path: str) -> None:
    [act] = understand(f"{program} {path}").acts
    said = output_of(act.command)
    done = subprocess.run([program, path], capture_output=True, text=True, check=True)
    assert said in (None, done.stdout)
    assert said is not None or "//" in path


def test_programs_without_a_name_say_that_it_is_missing(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    for text in (
        "rm",
        "rm -r",
        "rmdir",
        "unlink",
        "mkdir -p",
        "cp -n",
        "mv",
        "touch",
        "chmod 644",
        "truncate -s 0",
        "shred",
    ):
        for words in (text.split(), [*text.split(), ""]):
            subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
            assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("x", "x")], words
