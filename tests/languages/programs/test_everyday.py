"""Everyday commands of coding agents: a shell scope must not get in the way of real work.

`everyday.yaml` has each command with its scope, its effects and its grade. One that is denied says why. One that is
`asked` doesn't tell which files it changes; at a point that can look, it is asked only if they are protected.
"""

from pathlib import Path

import pytest
import yaml

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call

GROUPS = yaml.safe_load((Path(__file__).parent / "everyday.yaml").read_text())
TERMINAL = {"args": {"command": "shell"}, "tier": 2}


def rulebook(scope):
    may = [{"terminal": {"shell": scope}}]
    tiers = {3: "allow", 4: "allow"}
    return build_rulebook({"remit": 1, "tools": {"terminal": TERMINAL}, "tiers": tiers, "agents": {"a": {"may": may}}})


def judged(book, command):
    """What is decided on a command, in the form of the file."""
    decision = decide(book, Call("a", "terminal", {"command": command}))
    return decision.verdict.word, sorted(decision.effects), decision.grade


@pytest.mark.parametrize("group", GROUPS, ids=[group["scope"] for group in GROUPS])
def test_everyday_commands(group):
    book = rulebook(group["shell"])
    found = {case["run"]: judged(book, case["run"]) for case in group["commands"]}
    expected = {
        case["run"]: (
            "deny" if "denied" in case else "ask" if case.get("asked") else "allow",
            sorted(case["does"]),
            case.get("grade", "understood"),
        )
        for case in group["commands"]
    }
    assert found == expected


def test_each_denial_is_justified_and_most_commands_pass():
    cases = [case for group in GROUPS for case in group["commands"]]
    denied = [case for case in cases if "denied" in case]
    assert all(len(case["denied"]) > 5 for case in denied)
    assert len(cases) >= 500
    assert len(denied) <= 65


def test_denial_texts_are_short_and_speak_of_the_part():
    for group in GROUPS:
        book = rulebook(group["shell"])
        for case in group["commands"]:
            if "denied" in case:
                reason = decide(book, Call("a", "terminal", {"command": case["run"]})).reason
                assert len(reason) < 360, reason
                assert "`" in reason or "protected" in reason, reason
