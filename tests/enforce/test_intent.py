"""From a text to a mode: only among the modes given, and the least privileged one when unsure."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remit import GuardError, IntentRouter, ToolAccess
from tests.enforce.test_access import tool

ASKING, WORKING, CHATTING = "asking", "working", "chatting"
ACCESS = ToolAccess(
    {
        "remit": 1,
        "roles": {WORKING: {}, ASKING: {}, CHATTING: {}, "root": {}},
        "tools": {
            "search": tool(ASKING, WORKING),
            "look": tool(ASKING),
            "write": tool(WORKING, "root", write=True),
            "erase": tool("root", write=True),
        },
    }
)
MODES = {
    WORKING: ["^create", "^add", "^update", "write a", "创建", "新增", "erstelle*", "^crée", "создай*"],
    ASKING: [
        "^how",
        "^what",
        "^why",
        "which",
        "best practice*",
        "如何",
        "怎么",
        "什么是",
        "为什么",
        "^wie",
        "^warum",
        "^как",
    ],
    CHATTING: ["^hi", "^hello", "thanks", "^你好", "谢谢", "weather", "天气", "^danke"],
}
ROUTER = IntentRouter(ACCESS, MODES)


def test_modes_are_ordered_by_what_they_may_do():
    assert ROUTER.modes == (CHATTING, ASKING, WORKING)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("How do I write requirements?", ASKING),
        ("  what files are in the project", ASKING),
        ("HOW", ASKING),
        ("Tell me the best practices for SRS", ASKING),
        ("如何编写需求？", ASKING),
        ("请问这个项目为什么失败", ASKING),
        ("Wie schreibt man Anforderungen?", ASKING),
        ("Как это работает?", ASKING),
        ("Create an SRS for a shop", WORKING),
        ("please write a chapter", WORKING),
        ("创建一个新的需求文档", WORKING),
        ("Erstelle ein Dokument", WORKING),
        ("CRÉE un document", WORKING),
        ("Создайте документ", WORKING),
        ("hello", CHATTING),
        ("你好，今天天气", CHATTING),
        ("ｈｅｌｌｏ there", CHATTING),  # full-width
        ("Cre\u0301e un document".replace("Cre", "cre"), WORKING),  # the accent as a character of its own
    ],
)
def test_texts_and_their_modes(text, mode):
    assert ROUTER.choose(text)[:2] == (mode, True)


@pytest.mark.parametrize(
    ("text", "mode"),
    [
        ("", CHATTING),
        ("hm", CHATTING),
        ("however", CHATTING),  # begins like a pattern, and is another word
        ("the creates", CHATTING),
        ("What is the weather?", CHATTING),  # two modes: the less privileged
        ("How do I write a chapter?", ASKING),
        ("Create a file. Thanks!", CHATTING),
        ("create " + "x " * 4000, CHATTING),  # too long to tell
    ],
)
def test_when_unsure_the_least_privileged(text, mode):
    assert ROUTER.choose(text)[:2] == (mode, False)


@given(st.text(max_size=300))
def test_no_text_leads_out_of_the_modes_given(text):
    assert ROUTER.mode(text) in MODES
    assert IntentRouter(ACCESS, {ASKING: MODES[ASKING]}).mode(text) == ASKING


@given(st.lists(st.sampled_from([p.strip("^*") for ps in MODES.values() for p in ps]), max_size=5))
def test_a_sure_answer_has_a_pattern_of_its_mode_and_of_no_other(parts):
    chosen = ROUTER.choose(" ".join(parts))
    alone = [IntentRouter(ACCESS, {mode: MODES[mode]}).choose(" ".join(parts)).sure for mode in ROUTER.modes]
    assert chosen.sure is (sum(alone) == 1)
    least = next((mode for mode, found in zip(ROUTER.modes, alone, strict=True) if found), ROUTER.modes[0])
    assert chosen.mode == least


@pytest.mark.parametrize("modes", [{}, {"no-such-mode": ["x"]}])
def test_modes_that_are_none(modes):
    with pytest.raises(GuardError) as caught:
        IntentRouter(ACCESS, modes)
    assert caught.value.code == "bad-mode"


@pytest.mark.parametrize("pattern", ["", "^", "*", "a|b", "(a+)+$", "\\w"])
def test_patterns_that_are_none(pattern):
    with pytest.raises(GuardError) as caught:
        IntentRouter(ACCESS, {ASKING: [pattern]})
    assert caught.value.code == "bad-pattern"
