"""Every effect on files has a target: a word, what the profile says, or everything."""

from typing import Any

import pytest

from remit.compile import build_rulebook
from remit.decide import decide
from remit.languages.bash.reading import FILE_EFFECTS
from remit.languages.programs.profiles import Profile, profile_of, programs
from remit.languages.programs.understand import understand
from remit.model import Call
from remit.model.facts import Facts

TERMINAL = {"args": {"command": "shell"}, "tier": 2}


def leaves(profile: Profile, words: tuple[str, ...]) -> list[tuple[tuple[str, ...], Profile]]:
    """Every subcommand of a program that has none of its own."""
    found = [leaf for name, sub in profile.sub.items() for leaf in leaves(sub, (*words, name))]
    return found or [(words, profile)]


def commands() -> list[str]:
    known = [(name, profile_of(name)) for name in (*programs().programs, *programs().aliases)]
    return [" ".join(words) for name, profile in known if profile for words, _ in leaves(profile, (name,))]


def book(**agent):
    tiers = {2: "allow", 3: "allow", 4: "allow"}
    agents = {"a": {"may": ["terminal"], **agent}}
    return build_rulebook({"remit": 1, "tools": {"terminal": TERMINAL}, "tiers": tiers, "agents": agents})


def test_no_program_of_the_catalog_changes_files_past_locks():
    rulebook = book(locks={"may": ["docs/**"]})
    escaped = []
    for command in commands():
        for act in understand(command).acts:
            told = {touch.effect for touch in act.touches}
            open_ = {"write", "delete"} & (act.own - act.asked) & set(FILE_EFFECTS)
            if open_ & told and act.grade == "understood":
                decision = decide(rulebook, Call("a", "terminal", {"command": command}))
                if decision.verdict.word == "allow":
                    escaped.append(command)
    assert escaped == []


@pytest.mark.parametrize("command", ["git stash", "git apply x.patch", "touch $f", "echo x > $f"])
def test_what_is_not_told_is_asked_of_a_person_for_protection_alone(command):
    decision = decide(book(), Call("a", "terminal", {"command": command}))
    assert (decision.verdict.word, decision.code, decision.violation) == ("ask", "target-unknown", False)


@pytest.mark.parametrize(
    "command", ["git commit -m x", "git fetch", "git status", "ruff format src", "touch x", "git log"]
)
def test_everyday_work_passes(command):
    assert decide(book(), Call("a", "terminal", {"command": command})).code == "allowed"


def test_whoever_looked_what_git_would_change_spares_the_question():
    call = Call("a", "terminal", {"command": "git stash"})
    assert decide(book(), call, Facts(changes={"git stash": ()})).code == "allowed"
    assert decide(book(), call, Facts(changes={"git stash": (".claude/settings.json",)})).code == "target-unknown"


def test_project_code_deny_overrides_every_may():
    agent = book(project_code="deny")
    for command in ("pytest", "bash notes/x.sh", "python3 src/x.py", "sed -f x.sed a", ". x.sh", "nosuch"):
        assert decide(agent, Call("a", "terminal", {"command": command})).code == "project-code"
    assert decide(agent, Call("a", "terminal", {"command": "ls"})).code == "allowed"


UNSCOPED = {
    "remit": 1,
    "tools": {"bash": {"args": {"command": "shell"}, "tier": 1}},
    "agents": {"a": {"may": ["bash"]}},
}
LOCKED = {**UNSCOPED, "agents": {"a": {"may": ["bash"], "locks": {"may": ["docs/**", "a.txt"]}}}}


def _decided(policy: dict[str, Any], text: str) -> str:
    found = decide(build_rulebook(policy), Call("a", "bash", {"command": text}), Facts(root="/p"))
    return f"{found.verdict.word} {found.code}".removesuffix(" allowed")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # What lies below a path is also that path: it may be a file.
        ("chmod -R 777 .claude", "deny protected"),
        ("git restore .claude/settings.json", "deny protected"),
        ("find .claude/settings.json -delete", "deny protected"),
        ("git checkout HEAD -- .claude/settings.json", "deny protected"),
        ("rm -rf .", "deny protected"),
        ("unzip -d .claude a.zip", "deny protected"),
        ("find .claude -type f -exec rm {} +", "deny protected"),
        # Of some that the text doesn't tell, one could be protected.
        ("tar xf a.tar", "ask target-unknown"),
        ("unzip a.zip", "ask target-unknown"),
        ("cp -rT other .", "ask target-unknown"),
        ("find . -type f -mtime +5 -delete", "ask target-unknown"),
        ("find . -name '*.pyc' -delete", "ask target-unknown"),
        ("git clean -fd", "ask target-unknown"),
        # None of these can be.
        ("tar xf a.tar -C build", "allow"),
        ("find build -type f -delete", "allow"),
        ("find src -name '*.pyc' -delete", "allow"),
    ],
)
def test_some_of_what_lies_below(text, expected):
    assert _decided(UNSCOPED, text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("git restore a.txt", "allow"),
        ("git restore docs", "allow"),
        ("git restore src", "deny locked"),
        ("git restore b.txt", "deny locked"),
        ("tar xf x.tar -C docs", "allow"),
        ("tar xf x.tar", "deny locked"),
        ("find . -name '*.md' -delete", "deny locked"),
        ("find docs -name '*.md' -delete", "allow"),
    ],
)
def test_locks_and_what_lies_below(text, expected):
    assert _decided(LOCKED, text) == expected
