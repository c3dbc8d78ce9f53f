"""`git add -A` reads what has changed, and whoever enforces asks git what that is."""

import subprocess

import pytest

from remit import Call, build_rulebook, decide_call
from remit.enforce.paths import look_up, open_root
from remit.model import Facts

POLICY = {
    "remit": 1,
    "tools": {"Bash": {"args": {"command": "shell"}}},
    "agents": {"a": {"may": ["Bash"], "may_not": [{"path": ["private/**"]}]}},
}


@pytest.fixture
def ask(tmp_path):
    for name in ("private/p.txt", "src/a.py", ".gitignore"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("ignored\n")
    who = ("-c", "user.name=a", "-c", "user.email=a@x.example")
    for words in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "x")):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    rulebook = build_rulebook(POLICY)
    _, facts = open_root(tmp_path, tmp_path / "remit.yaml", Facts())

    def verdict(command: str) -> str:
        call = Call("a", "Bash", {"command": command})
        return decide_call(rulebook, call, look_up(rulebook, call, facts)).verdict.word

    return verdict


STAGING = ["git add -A", "git add .", "git add -u", "git commit -am x", "git add -A && git commit -m x"]


@pytest.mark.parametrize("command", STAGING)
def test_what_has_not_changed_is_not_read(tmp_path, ask, command):
    (tmp_path / "src/a.py").write_text("changed\n")
    (tmp_path / "private/ignored").touch()
    assert ask(command) == "allow"


@pytest.mark.parametrize("command", STAGING)
def test_what_has_changed_is_read(tmp_path, ask, command):
    (tmp_path / "private/p.txt").write_text("changed\n")
    assert ask(command) == "deny"


@pytest.mark.parametrize(
    "command",
    ["git add -f .", "cd src && git add -A", "make && git add -A", "rm .gitignore && git add -A", "git -C . add -A"],
)
def test_what_nobody_can_tell_could_be_anything(ask, command):
    assert ask(command) == "deny"
