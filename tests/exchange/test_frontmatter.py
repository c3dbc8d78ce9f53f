"""The head of a definition: `tools` changes, and no byte beside it."""

from __future__ import annotations

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from remit.exchange.frontmatter import HeadError, decode, give_back, head_of, name_of, set_tools, tools_of

TOOLS = ("Read", "Bash", "mcp__git__log")

names = st.sampled_from(["Read", "Write", "Bash", "mcp__a__b", "Bash(git diff:*)", "Bash(a, b)"])
forms = st.one_of(
    st.just(""),
    st.builds(lambda n: f"tools: {', '.join(n)}\n", st.lists(names, max_size=3)),
    st.builds(lambda n: f"tools: [{', '.join(repr(x) for x in n)}]\n", st.lists(names, max_size=3)),
    st.builds(lambda n: "tools:\n" + "".join(f"  - {x!r}\n" for x in n), st.lists(names, max_size=3)),
    st.builds(lambda n: "tools:\n" + "".join(f"- {x!r}\n" for x in n), st.lists(names, max_size=3)),
    st.builds(lambda n: "tools: [\n" + "".join(f"  {x!r},\n" for x in n) + "]\n", st.lists(names, max_size=3)),
    st.sampled_from(["tools: '*'\n", "tools: *\n", "tools:\n  primary: [Read]\n", "'tools' : Read # only\n"]),
)
others = st.lists(
    st.sampled_from(
        [
            "description: Reviews. Use it: often\n",
            'description: "Reviews: well"\n',
            "description: >\n  tools: are text here\n\n  and more\n",
            "# tools: none\n",
            "model: opus\n",
            "color: blue\n",
            "\n",
            "hooks:\n  PreToolUse:\n    - matcher: x\n",
        ]
    ),
    unique=True,
    max_size=4,
)


def assembled(before: list[str], form: str, after: list[str], crlf: bool, mark: bool) -> str:
    text = "---\nname: reviewer\n" + "".join(before) + form + "".join(after) + "---\n\nYou review. ---\ntools: x\n"
    return ("\ufeff" if mark else "") + (text.replace("\n", "\r\n") if crlf else text)


definitions = st.builds(assembled, others, forms, others, st.booleans(), st.booleans())


@given(definitions, st.lists(names.filter(lambda n: "," not in n and " " not in n), unique=True, max_size=3))
def test_only_the_tools_change_and_they_come_back(text: str, tools: list[str]):
    try:
        new = set_tools(text, tools)
    except HeadError:
        return  # left alone; which of them are is said below
    head, old = head_of(new), head_of(text)
    assert head is not None
    assert old is not None
    assert set(tools_of(head) or ()) == set(tools)
    assert set_tools(new, tools) == new
    lines = [line for line in new.splitlines(keepends=True) if line not in text.splitlines(keepends=True)]
    assert len(lines) <= 1
    assert all(line.startswith("tools: ") for line in lines)
    assert name_of(head) == "reviewer"
    body, was = _load(head.body), _load(old.body)
    if was is not None:
        assert body is not None
        assert {k: v for k, v in body.items() if k != "tools"} == {k: v for k, v in was.items() if k != "tools"}
    back = give_back(new, text, tools)
    if tools_of(old) is not None and set(tools_of(old) or ()) == set(tools):
        return  # nobody can say whose they are
    assert sorted(back.splitlines()) == sorted(text.splitlines())
    if "tools" in (was or {}):
        assert back == text


def _load(body: str) -> dict[str, object] | None:
    """A second opinion on what the head says."""
    try:
        found: dict[str, object] = yaml.safe_load(body)
    except yaml.YAMLError:
        return None
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tools: Read, Write\n", "tools: Read, Bash, mcp__git__log\n"),
        ("tools: [Read, 'Write']\n", "tools: Read, Bash, mcp__git__log\n"),
        ("tools:\n  - Read\n  # why\n  - Write\n", "tools: Read, Bash, mcp__git__log\n"),
        ("tools:\n- Read\n- Write\n", "tools: Read, Bash, mcp__git__log\n"),
        ("tools: [\n  Read,\n  Write\n]\n", "tools: Read, Bash, mcp__git__log\n"),
        ("tools: >\n  Read,\n  Write\n", "tools: Read, Bash, mcp__git__log\n"),
        ("tools: *\n", "tools: Read, Bash, mcp__git__log\n"),
        ("tools:\n", "tools: Read, Bash, mcp__git__log\n"),
        ("tools:\n  primary: [Read]\n  other: [Bash]\n", "tools: Read, Bash, mcp__git__log\n"),
        ('"tools": Read\n', "tools: Read, Bash, mcp__git__log\n"),
        # those that say it already stay as they are
        ("tools: [mcp__git__log, Bash, Read]\n", "tools: [mcp__git__log, Bash, Read]\n"),
        ("tools:\n  - Bash\n  - Read\n  - mcp__git__log\n", "tools:\n  - Bash\n  - Read\n  - mcp__git__log\n"),
    ],
)
@pytest.mark.parametrize("more", ["model: opus\n", ""])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_every_way_to_write_tools(before: str, after: str, more: str, newline: str):
    start, end = "---\nname: reviewer\ndescription: x\n", more + "---\nBody.\n"
    text = (start + before + end).replace("\n", newline)
    assert set_tools(text, TOOLS) == (start + after + end).replace("\n", newline)


def test_a_missing_list_is_added_at_the_end():
    text = "\ufeff---\r\nname: reviewer\r\ndescription: x\r\n---\r\nBody.\r\n"
    assert set_tools(text, TOOLS) == text.replace("x\r\n", "x\r\ntools: Read, Bash, mcp__git__log\r\n")
    assert give_back(set_tools(text, TOOLS), text, TOOLS) == text


def test_no_tools_are_an_empty_list():
    text = "---\nname: reviewer\ndescription: x\n---\n"
    new = set_tools(text, ())
    assert new == "---\nname: reviewer\ndescription: x\ntools: []\n---\n"
    assert set_tools(new, ()) == new
    assert set_tools(text.replace("x\n", "x\ntools:\n"), ()) == new


@pytest.mark.parametrize("tools", ["tools: Read, Write\n", "tools:\n  - Read\n  - Write\n", "tools: [Read, Write]\n"])
def test_a_head_that_is_no_yaml_is_edited_by_lines(tools: str):
    start = "---\nname: reviewer\ndescription: Use it: when asked: often\n"
    text = f"{start}{tools}color: blue\n---\nBody.\n"
    new = set_tools(text, TOOLS)
    assert new == f"{start}tools: Read, Bash, mcp__git__log\ncolor: blue\n---\nBody.\n"
    assert give_back(new, text, TOOLS) == text
    assert set_tools(new, TOOLS) == new


def test_in_a_head_that_is_no_yaml_a_missing_list_goes_behind_the_name():
    text = "---\nname: reviewer\ndescription: Use it: often\n---\n"
    new = set_tools(text, ["Read"])
    assert new == "---\nname: reviewer\ntools: Read\ndescription: Use it: often\n---\n"
    assert give_back(new, text, ["Read"]) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Body only.\n", "it has no head"),
        ("\n---\nname: x\n---\n", "it has no head"),
        ("---\nname: x\n", "it has no head"),
        ("---\nname: x\ndescription: a --- b\n---\n", "`---` appears inside its head"),
        ("---\nname: x\n----\n", "`---` appears inside its head"),
        ("---\nname: x\ndescription: a: b\ntools: Read\ntools: Write\n---\n", "twice"),
        ("---\nname: x\ntools: Read\ntools: Write\n---\n", "twice"),
        ("---\nname: x\nTools: Read\n---\n", "spelt in another way"),
        ("---\n{name: x, tools: [Read]}\n---\n", "is not certain"),
        ("---\n  name: x\n  tools: Read\n---\n", "is not certain"),
        ("---\nname: x\ndescription: a: b\n  tools: Read\n---\n", "is not certain"),
        ("---\nname: x\ndescription: a: b\ntools: [Read,\n  Write]\n---\n", "is not certain"),
        ("---\nname: x\ndescription: a: b\ntools:\n  main: [Read]\n---\n", "is not certain"),
        ("---\nname: x\n  more\ndescription: a: b\n---\n", "is not certain"),
        ("---\nname: x\rtools: Read\n---\n", "unusual"),
        ("---\nname: x\ndescription: a\x85tools: Read\n---\n", "unusual"),
        ("---\nname: x\n" + "a: b\n" * 20_000 + "---\n", "too long"),
    ],
)
def test_what_is_not_certain_is_left_alone(text: str, message: str):
    with pytest.raises(HeadError, match=message):
        set_tools(text, TOOLS)


def test_a_tool_that_can_not_be_written_is_refused():
    with pytest.raises(HeadError, match="can't be written"):
        set_tools("---\nname: x\n---\n", ["Read\nmodel: y"])


def test_tools_that_people_changed_are_theirs():
    text = "---\nname: x\ndescription: y\ntools: Write\n---\n"
    new = set_tools(text, TOOLS).replace("mcp__git__log", "Edit")
    assert give_back(new, text, TOOLS) == new


def test_not_utf8():
    with pytest.raises(HeadError, match="UTF-8"):
        decode(b"\xff")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("name: reviewer\n", "reviewer"),
        ("name: 'reviewer' # the one\n", "reviewer"),
        ("description: a: b\nname: reviewer\n", "reviewer"),
        ("description: a: b\nname: 'reviewer'\n", "reviewer"),
        ("description: a: b\nname: reviewer # the one\n", "reviewer"),
        ("description: a: b\nname: one\nname: two\n", None),
        ("description: x\n", None),
        ("name: [x]\n", None),
        ("description: a: b\nname:\n", None),
    ],
)
def test_the_name(head: str, name: str | None):
    found = head_of(f"---\n{head}---\n")
    assert found is not None
    assert name_of(found) == name
