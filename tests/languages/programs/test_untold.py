"""Every effect on files has a target: a word, what the profile says, or everything."""

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
