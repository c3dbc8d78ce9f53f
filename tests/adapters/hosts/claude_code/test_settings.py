"""Our hooks and deny rules in Claude Code's settings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit.adapters.hosts.claude_code.settings import EVENTS, group, install, is_ours, switched_off, uninstall
from remit.exchange.json_text import JsonError

COMMAND = "/opt/py/bin/python -I -S /opt/py/lib/remit/adapters/hooks/client.py claude-code /state/x"
MOVED = COMMAND.replace("/opt/py", "'/new place'")
RULES = ["WebFetch", "Edit(/.remit/**)"]

handlers = st.fixed_dictionaries({"type": st.just("command"), "command": st.sampled_from(["say hi", COMMAND, MOVED])})
groups = st.fixed_dictionaries({"hooks": st.lists(handlers, max_size=3)}, optional={"matcher": st.just("Bash")})
files = st.fixed_dictionaries(
    {},
    optional={
        "model": st.text(max_size=5),
        "hooks": st.dictionaries(st.sampled_from([*EVENTS, "Stop"]), st.lists(groups, max_size=3), max_size=3),
        "permissions": st.fixed_dictionaries(
            {},
            optional={
                "allow": st.lists(st.text(max_size=4), max_size=2),
                "deny": st.lists(st.sampled_from(["Bash", *RULES]), max_size=2),
            },
        ),
        "other": st.lists(st.integers(0, 9), max_size=2),
    },
)
texts = st.builds(lambda data, indent: json.dumps(data, indent=indent) + "\n", files, st.sampled_from([None, 2, "\t"]))


def ours(data: dict[str, Any]) -> list[str]:
    entries = [entry for found in data.get("hooks", {}).values() for entry in found]
    return [h["command"] for entry in entries for h in entry["hooks"] if is_ours(h["command"])]


@given(texts)
def test_installing_twice_is_installing_once(text: str):
    once, mine = install(text, COMMAND, RULES)
    assert install(once, COMMAND, RULES, mine) == (once, mine)
    data = json.loads(once)
    assert ours(data) == [COMMAND] * len(EVENTS)
    assert all(group(COMMAND) in data["hooks"][event] for event in EVENTS)
    assert set(RULES) <= set(data["permissions"]["deny"])


@given(texts)
def test_a_moved_program_and_other_rules_replace_ours_only(text: str):
    once, mine = install(text, COMMAND, RULES)
    again, still = install(once, MOVED, RULES[1:], mine)
    assert ours(json.loads(again)) == [MOVED] * len(EVENTS)
    assert still == tuple(rule for rule in mine if rule in RULES[1:])
    before = json.loads(text).get("permissions", {}).get("deny", [])
    assert [rule for rule in json.loads(again)["permissions"]["deny"] if rule not in still] == before


@given(texts)
def test_what_is_taken_out_is_what_was_put_in(text: str):
    once, mine = install(text, COMMAND, RULES)
    back = uninstall(once, mine, text)
    before = json.loads(text)
    if not ours(before):
        assert json.loads(back) == before
        assert list(json.loads(back)) == list(before)
    assert ours(json.loads(back)) == []


def test_everything_else_stays_as_it_is_written():
    text = '{\n    "model":   "opus",\n    "hooks": {"Stop": []},\n    "list": [1,2]\n}'
    new, _ = install(text, COMMAND, [])
    assert new.startswith('{\n    "model":   "opus",\n    "hooks": {"Stop": [], "PreToolUse": [')
    assert new.endswith(',\n    "list": [1,2]\n}')


def test_the_hook_blocks_when_it_fails():
    new, _ = install("{}\n", COMMAND, [])
    assert json.loads(new)["hooks"]["PreToolUse"] == [
        {
            "matcher": "*",
            "hooks": [{"type": "command", "command": COMMAND, "timeout": 30, "onFailure": "block"}],
        }
    ]


def test_ours_in_a_group_of_others_is_taken_out_alone():
    hooks = [{"type": "command", "command": "say hi"}, {"type": "command", "command": MOVED}]
    text = json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": hooks}]}}, indent=2)
    new, _ = install(text, COMMAND, [])
    assert json.loads(new)["hooks"]["PreToolUse"] == [{"matcher": "Bash", "hooks": hooks[:1]}, group(COMMAND)]


@pytest.mark.parametrize(
    ("command", "mine"),
    [
        (COMMAND, True),
        (MOVED, True),
        (COMMAND.replace("claude-code", "codex"), False),
        ("python client.py claude-code", False),
        ("python /x/notremit/adapters/hooks/client.py claude-code", False),
        ("say 'unfinished", False),
        (None, False),
        (["x"], False),
    ],
)
def test_ours_is_known_by_its_program(command: object, mine: bool):
    assert is_ours(command) is mine


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"hooks": []}, "`hooks` is not of type object"),
        ({"hooks": None}, "`hooks` is not of type object"),
        ({"hooks": {"PreToolUse": {}}}, "`hooks.PreToolUse` is not a list of hooks"),
        ({"hooks": {"Stop": [{"hooks": [{"type": "nonsense"}]}]}}, "`hooks.Stop` is not a list of hooks"),
        ({"hooks": {"Stop": ["x"]}}, "`hooks.Stop` is not a list of hooks"),
        ({"permissions": 1}, "`permissions` is not of type object"),
        ({"permissions": {"deny": 5}}, "`permissions.deny` is not a list of texts"),
        ({"permissions": {"allow": [5]}}, "`permissions.allow` is not a list of texts"),
        ({"model": 5}, "`model` is not of type text"),
    ],
)
def test_settings_that_the_host_would_ignore_are_refused(data: Any, message: str):
    with pytest.raises(JsonError) as caught:
        install(json.dumps(data), COMMAND, RULES)
    assert str(caught.value) == f"{message}, so the host would ignore the file"


def test_taking_out_does_not_mind_what_people_made_of_it():
    text = json.dumps({"hooks": {"PreToolUse": [5, group(COMMAND)], "Stop": 1}, "permissions": {"deny": 5}, "model": 5})
    assert json.loads(uninstall(text, RULES, "{}")) == {
        "hooks": {"PreToolUse": [5], "Stop": 1},
        "permissions": {"deny": 5},
        "model": 5,
    }
    assert uninstall('{"hooks": [], "permissions": []}', RULES, '{"hooks": [], "permissions": []}')


def test_hooks_can_be_switched_off():
    assert switched_off('{"disableAllHooks": true}')
    assert not switched_off('{"disableAllHooks": "true"}')
