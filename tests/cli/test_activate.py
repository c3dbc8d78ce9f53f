"""`remit activate`: what is checked, shown and asked, and that a crash leaves one rulebook or the other."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from remit.cli import person
from remit.compile import load_rulebook
from remit.enforce.in_force import InForce, look_up_in_force, read_in_force
from remit.grant.credential import set_passphrase
from remit.record.open import open_ledger, open_log
from remit.service.activation import pending
from remit.store import state_directory
from tests.cli.kit import Ran, Remit
from tests.cli.terminal import at_terminal, without_terminal
from tests.explain.kit import POLICY
from tests.record.stores import said

RIGHT = "correct horse battery"
ASKED = "passphrase, to activate small: "
MORE = POLICY.replace("    may: [read]\n", "    may: [read, fetch]\n")
LIFTED = "unsafe_no_credential: true\n"


class Project:
    """A folder with a policy, and its state beside it."""

    def __init__(self, folder: Path, remit: Remit) -> None:
        self.root, self.remit = folder, remit
        self.file = self.root / "remit.yaml"
        self.rulebook = self.root / ".remit" / "rulebook"
        self.write(POLICY)

    def write(self, text: str) -> None:
        self.file.write_text(text)

    def run(self, *args: str) -> Ran:
        """In this process, where there is no terminal to ask."""
        return self.remit("activate", *args, stdin=b"")

    def type(self, *args: str, passphrase: str = RIGHT, question: str = ASKED, stdin: bytes = b"") -> Ran:
        answers = [(question, f"{passphrase}\n")]
        return at_terminal("activate", *args, cwd=self.root, answers=answers, stdin=stdin)

    def credential(self) -> None:
        with open_ledger(self.root, point="test") as opened:
            set_passphrase(opened.store, RIGHT)

    def force(self) -> InForce:
        return look_up_in_force(self.root)

    def ledger(self) -> list[tuple[str, Any]]:
        with open_log(self.root) as opened:
            return [(entry["type"], entry.get("what") or entry.get("by")) for entry in said(opened.store)]

    def agrees(self, text: str) -> bool:
        """What is in force is this policy, and nothing else lies about."""
        self.write(text)
        found = self.force()
        left = sorted(path.name for path in self.rulebook.parent.iterdir())
        return (
            found.rulebook is not None
            and found.rulebook.hash == load_rulebook(self.file).hash
            and left == [".gitignore", "rulebook"]
        )


@pytest.fixture
def project(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, remit: Remit, monkeypatch: pytest.MonkeyPatch
) -> Project:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
    monkeypatch.delenv("REMIT_STORE", raising=False)
    monkeypatch.setattr(person, "TERMINAL", str(tmp_path / "no-terminal"))
    return Project(tmp_path, remit)


def user() -> str:
    from remit.cli.ledger.user import user_name

    return user_name(None)


# The first one, and the next


def test_the_first_needs_only_a_yes(project: Project) -> None:
    refused = project.run()
    assert (refused.code, refused.err) == (2, "remit: nobody can be asked here: add --yes\n")
    assert project.force().activation is None
    ran = project.run("--yes")
    assert ran.code == 0
    assert "first activation: 4 agents, 2 roles, 1 runner, 7 tools" in ran.out
    assert "Set it now, in a terminal: remit credential set\n" in ran.out
    force = project.force()
    assert force.activation is not None
    assert force.rulebook is not None
    assert (force.activation.seq, force.activation.by) == (1, f"{user()} (no credential)")
    assert force.activation.digest == hashlib.sha256(project.rulebook.read_bytes()).hexdigest()
    assert force.activation.policy == force.rulebook.hash == load_rulebook(project.file).hash
    assert project.ledger() == [("activation", f"{user()} (no credential)")]
    assert project.remit("ledger", "verify").code == 0


@pytest.mark.parametrize(("answer", "code"), [("y", 0), ("n", 2), ("", 2)])
def test_the_first_asks_at_a_terminal(project: Project, answer: str, code: int) -> None:
    ran = at_terminal("activate", cwd=project.root, answers=[], stdin=None, typed=f"{answer}\n")
    assert ran.code == code
    assert "activate? [y/N] " in ran.err
    assert "[y/N] \n" not in ran.err, "the answer stands beside the question"
    assert (project.force().activation is not None) == (code == 0)


def test_the_next_is_refused_until_a_passphrase_is_set(project: Project) -> None:
    project.run("--yes")
    project.write(MORE)
    ran = project.run("--yes")
    assert ran.code == 2
    assert "no passphrase is set\n    run `remit credential set` in a terminal" in ran.err
    assert project.agrees(POLICY)
    project.credential()
    project.write(MORE)
    assert project.type().code == 0
    assert project.agrees(MORE)
    assert project.ledger()[1:] == [
        ("credential", "set"),
        ("credential", "given"),
        ("activation", f"{user()} (passphrase)"),
    ]


def test_only_the_right_passphrase_from_the_terminal(project: Project) -> None:
    project.credential()  # already before the first one
    none = without_terminal("activate", "--yes", cwd=project.root, stdin=f"{RIGHT}\n".encode())
    assert (none.code, none.err.splitlines()[0]) == (2, "remit: there is no terminal to ask for the passphrase")
    wrong = project.type("--yes", passphrase="wrong horse battery", stdin=f"{RIGHT}\n".encode())
    assert (wrong.code, wrong.err) == (2, "remit: wrong passphrase\n")
    assert project.force().activation is None
    assert project.ledger() == [("credential", "set"), ("credential", "refused")]
    right = project.type()
    assert (right.code, RIGHT in right.out + right.err) == (0, False)
    assert project.agrees(POLICY)


def test_guessing_gets_slow(project: Project) -> None:
    project.credential()
    assert project.type(passphrase="wrong horse battery").code == 2
    with open_log(project.root) as opened, opened.store.write() as change:
        change.run("UPDATE credential SET failures = failures + 19")
    ran = project.type()
    assert ran.code == 2
    assert ran.err.startswith("remit: too many wrong passphrases; try again in ")
    assert project.force().activation is None


# What a policy says of credentials counts once it is in force


@pytest.mark.parametrize("before", ["first", "later", "damaged"])
def test_a_pending_policy_can_not_lift_the_passphrase(project: Project, before: str) -> None:
    if before != "first":
        project.run("--yes")
    project.credential()
    if before == "damaged":
        project.rulebook.unlink()
    held = project.force()
    project.write(MORE + LIFTED)
    ran = project.run("--yes")
    assert ran.code == 2
    assert "there is no terminal" in ran.err
    assert "WEAKENS ENFORCEMENT (new): unsafe_no_credential" in ran.out
    assert project.force().activation == held.activation


def test_a_rulebook_that_nobody_activated_can_not_lift_it(project: Project) -> None:
    """What an agent would do that can write to `.remit`, though it may not."""
    from remit.compile.file import write_rulebook

    project.run("--yes")
    project.credential()
    project.write(MORE + LIFTED)
    write_rulebook(load_rulebook(project.file), project.rulebook)
    assert project.force().fault is not None
    assert project.run("--yes").code == 2


def test_an_activated_one_lifts_it_and_is_loud(project: Project) -> None:
    project.write(POLICY + LIFTED)
    assert project.run("--yes").code == 0
    project.write(MORE + LIFTED)
    ran = project.run("--yes")
    assert ran.code == 0
    assert "WEAKENS ENFORCEMENT (as before): unsafe_no_credential" in ran.out
    assert project.ledger() == [
        ("activation", f"{user()} (no credential)"),
        ("unsafe", "unsafe_no_credential"),
    ] * 2  # fmt: skip


# What is checked and shown


@pytest.mark.parametrize("what", ["broken", "failing test", "failing example"])
def test_what_does_not_hold_is_not_activated(project: Project, what: str) -> None:
    project.run("--yes")
    if what == "broken":
        project.write(POLICY + "nonsense: 1\n")
    elif what == "failing test":
        tests = {
            "remit_tests": 1,
            "policy": "remit.yaml",
            "tests": [{"call": {"agent": "reader", "tool": "read", "args": {"file": "a"}}, "expect": "deny"}],
        }
        (project.root / "a.test.yaml").write_text(json.dumps(tests))
    else:
        project.write(POLICY.replace("may: [read]\n", "may: [{read: {path: 'a/*', examples: {allow: [b/c]}}}]\n"))
    before = project.force().activation
    for more in ([], ["--dry-run"], ["--json"]):
        ran = project.run("--yes", *more)
        assert ran.code == 1
        assert "what was in force stays in force" in ran.err
    assert ran.json["state"] == "refused"
    assert project.force().activation == before
    assert pending(project.file).state == "broken"
    assert project.force().fault is None


def test_the_difference_in_the_words_of_the_policy(project: Project) -> None:
    project.run("--yes")
    text = (
        MORE.replace('path: "docs/**"', 'path: "doc/**"')
        + "protect: [deploy/**]\nenforce: {observe: {until: 2030-01-01}}\n"
    )
    project.write(
        text.replace("  keeper:\n    may: []\n", "  helper:\n    may: [read]\n").replace("[keeper]", "[boss]")
    )
    before = project.rulebook.read_bytes()
    ran = project.run("--dry-run")
    assert ran.code == 0
    lines = ran.out.splitlines()
    observed = "reader is only observed until 2030-01-01T00:00:00Z: what its rules deny is let through"
    for line in (
        f"WEAKENS ENFORCEMENT (new): {observed}",
        "agent reader",
        "  + may fetch  (remit.yaml:23:17)",
        "  - must_ask write: {path: [docs/**]}  (remit.yaml:33:17)",
        "  + must_ask write: {path: [doc/**]}  (remit.yaml:33:17)",
        "agent helper added",
        "  + may read  (remit.yaml:36:11)",
        "agent keeper removed",
        "+ protected paths: deploy/**",
        "nothing was activated (--dry-run)",
    ):
        assert line in lines, ran.out
    assert any(line.startswith("~ tools wipe: accessible_by: [keeper] → [boss]") for line in lines)
    told = project.run("--dry-run", "--json").json
    assert (told["state"], told["first"]) == ("dry-run", False)
    assert {"what": "added", "section": "protected", "name": "paths", "new": "deploy/**"} in told["changes"]
    assert project.rulebook.read_bytes() == before


def test_a_dry_run_writes_nothing(project: Project) -> None:
    assert project.run("--dry-run").code == 0
    assert not project.rulebook.parent.exists()
    assert [path for path in Path(os.environ["XDG_STATE_HOME"]).rglob("*") if path.is_file()] == []


def test_terminals_are_not_steered_by_names(project: Project) -> None:
    project.run("--yes")
    project.write(POLICY + 'protect: ["a\\e[2Jb", "\\u202Ec"]\n')
    ran = project.run("--dry-run")
    assert "\x1b" not in ran.out
    assert "\u202e" not in ran.out


def test_nothing_changed(project: Project) -> None:
    project.run("--yes")
    project.write("# another comment\n" + POLICY)
    ran = project.run("--json")
    assert (ran.code, ran.json["state"], ran.json["changes"]) == (0, "unchanged", [])
    activation = project.force().activation
    assert activation is not None
    assert activation.seq == 1


@pytest.mark.parametrize("damage", ["missing", "cut", "other", "folder", "mode", "symlink"])
def test_a_damaged_file_is_repaired(project: Project, damage: str, tmp_path: Path) -> None:
    project.run("--yes")
    good = project.rulebook.read_bytes()
    if damage == "missing":
        project.rulebook.unlink()
    elif damage == "cut":
        project.rulebook.write_bytes(good[:100])
    elif damage == "other":
        project.rulebook.write_bytes(b"{}")
    elif damage == "folder":
        project.rulebook.unlink()
        (project.rulebook.parent / ".gitignore").unlink()
        project.rulebook.parent.rmdir()
    elif damage == "mode":
        project.rulebook.chmod(0o666)
    else:
        (tmp_path / "elsewhere").write_bytes(good)
        project.rulebook.unlink()
        project.rulebook.symlink_to(tmp_path / "elsewhere")
    assert project.force().fault is not None
    ran = project.run()  # no person is needed for what a person has put in force already
    assert (ran.code, "written again" in ran.out) == (0, True)
    assert project.rulebook.read_bytes() == good
    assert project.agrees(POLICY)


def test_a_damaged_file_and_moved_lines_need_a_person(project: Project) -> None:
    project.run("--yes")
    project.credential()
    project.rulebook.unlink()
    project.write("# the same, a line further down\n" + POLICY)
    assert project.run("--yes").code == 2
    assert project.type().code == 0
    assert project.force().fault is None


# Pending


def test_pending(project: Project) -> None:
    assert pending(project.file).state == "none"
    project.run("--yes")
    assert pending(project.file).state == "same"
    project.write("# a comment\n" + POLICY)
    assert pending(project.file).state == "same"
    project.write(MORE)
    assert pending(project.file).state == "pending"
    project.write("remit: 1\nagents: [")
    found = pending(project.file)
    assert found.state == "broken"
    assert found.checked.problems
    assert found.force.rulebook is not None


@pytest.mark.parametrize("key", ["apis", "skills", "data_tiers", "delegates_to"])
def test_none_at_all_is_not_the_same_as_no_limit(project: Project, key: str) -> None:
    project.run("--yes")
    project.write(POLICY.replace("    may: [read]\n", f"    may: [read]\n    {key}: []\n"))
    assert pending(project.file).state == "pending"
    assert f"~ {key}: not said → []" in project.run("--dry-run").out


def test_another_machine_on_the_same_store(
    project: Project, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same policy there: its file is written, and nobody has to agree again. Another policy: somebody has to."""
    shared = tmp_path_factory.mktemp("shared")
    shared.chmod(0o700)
    monkeypatch.setenv("REMIT_STORE", f"sqlite://{shared}/remit.db")
    assert project.run("--yes").code == 0
    other = tmp_path_factory.mktemp("other")
    (other / "remit.yaml").write_text(POLICY)
    shutil.copytree(state_directory(project.root) / "keys", state_directory(other) / "keys")
    ran = project.run("--json", "--policy", str(other / "remit.yaml"))
    assert (ran.code, ran.json["state"]) == (0, "repaired")
    assert (other / ".remit" / "rulebook").read_bytes() == project.rulebook.read_bytes()
    (other / "remit.yaml").write_text(MORE)
    assert project.run("--yes", "--policy", str(other / "remit.yaml")).code == 2


# Crashes: the process ends at once, with nothing cleaned up

CRASH = """
import os, sys
import remit.enforce.in_force, remit.record.policy
name, when = sys.argv[1:3]
module = remit.record.policy if name == "record_weakenings" else remit.enforce.in_force
real = getattr(module, name)
def crash(*args, **more):
    if when == "after":
        real(*args, **more)
    os._exit(9)
setattr(module, name, crash)
from remit.cli.main import run
sys.exit(run(["activate", "--yes"]))
"""
POINTS = [
    ("stage_rulebook", "before", "old"),
    ("stage_rulebook", "after", "old"),
    ("add_activation", "before", "old"),
    ("add_activation", "after", "old"),  # not committed
    ("_added", "after", "nothing"),
    ("put_in_place", "before", "nothing"),
    ("put_in_place", "after", "new"),
]


THEN = ["the same", "another", "back", "broken"]


@pytest.mark.sample(2)
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "when", "left", "then"),
    [(*point, then) for point in POINTS for then in (THEN if point[2] == "nothing" else THEN[:2])],
)
def test_a_crash_leaves_one_or_the_other_and_is_healed(
    project: Project, name: str, when: str, left: str, then: str
) -> None:
    old, new, other = POLICY + LIFTED, MORE + LIFTED, MORE + LIFTED + "gates: [plan]\n"
    project.write(old)
    assert project.run("--yes").code == 0
    project.write(new)
    ran = subprocess.run([sys.executable, "-c", CRASH, name, when], cwd=project.root, capture_output=True, check=False)
    assert ran.returncode == 9
    found = project.force()
    if left == "nothing":
        assert found.fault is not None
    else:
        project.write(old if left == "old" else new)
        assert found.rulebook is not None
        assert found.rulebook.hash == load_rulebook(project.file).hash
    wanted = {"the same": new, "another": other, "back": old, "broken": "remit: 1\nagents: ["}[then]
    project.write(wanted)
    again = project.run("--yes")
    if then == "broken":
        assert again.code == 1
        project.write(new)
        assert project.run("--yes").code == 0
        wanted = new
    else:
        assert again.code == 0, again.err
    assert project.agrees(wanted)
    assert project.run("--yes").code == 0
    assert project.remit("ledger", "verify").code == 0


def test_what_is_lost_half_way_needs_the_passphrase(project: Project) -> None:
    """The row is there, its file is not, and the policy is another one: what is in force can't be asked any more."""
    project.write(POLICY + LIFTED)
    project.run("--yes")
    project.write(MORE + LIFTED)
    subprocess.run([sys.executable, "-c", CRASH, "put_in_place", "before"], cwd=project.root, check=False)
    for left in project.rulebook.parent.glob(".rulebook-*"):
        left.unlink()
    project.write(MORE + LIFTED + "gates: [plan]\n")
    assert project.run("--yes").code == 2
    project.credential()
    assert project.type().code == 0
    assert project.agrees(MORE + LIFTED + "gates: [plan]\n")


def test_somebody_else_was_quicker(project: Project) -> None:
    from remit.enforce.in_force import ActivationError, put_in_force
    from remit.grant.person import Signatory

    project.run("--yes")
    project.write(MORE)
    with open_ledger(project.root, point="test") as opened:
        stale = read_in_force(project.root, opened.store).activation
        put_in_force(opened, project.root, load_rulebook(project.file), after=stale, by=Signatory("anna"))
        project.write(POLICY)
        with pytest.raises(ActivationError, match="meanwhile"):
            put_in_force(opened, project.root, load_rulebook(project.file), after=stale, by=Signatory("bob"))
    assert project.agrees(MORE)


def test_a_policy_that_is_changed_while_the_question_stands_is_not_what_is_activated(project: Project) -> None:
    """The person agrees to what was shown."""
    project.run("--yes")
    project.credential()
    project.write(MORE)

    def answer() -> str:
        project.write(MORE + LIFTED)
        return f"{RIGHT}\n"

    assert at_terminal("activate", cwd=project.root, answers=[(ASKED, answer)]).code == 0
    assert project.agrees(MORE)
