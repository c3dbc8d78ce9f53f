"""Step 1: the call against the tool's closed declaration, and what no reader could agree on."""

import pytest

from remit.model import Facts
from tests.decide.kit import TOOLS, ask, book, may, outcome

SHAPES = {
    "typed": {
        "args": {
            "text": "text",
            "number": "number",
            "flag": "flag",
            "json": "json",
            "mode": {"one_of": ["fast", 1, False]},
            "where": "path",
        },
        "optional": ["text", "number", "flag", "json", "mode", "where"],
        "does": "nothing",
    },
    "many": {
        "args": {
            "items[].path": "path",
            "items[].text": "text",
            "items[].note": "text",
            "tags[]": "text",
            "by.who": "text",
        },
        "optional": ["items[].note", "tags[]", "by.who"],
        "does": {"write": "items[].path"},
    },
    "plain": {"args": {}, "does": "nothing"},
}
SHAPED = book(tools={**TOOLS, **SHAPES}, agents={"a": {"may": [*SHAPES]}})


def test_an_unknown_agent():
    assert outcome(may("think"), "think", agent="b") == "deny unknown-agent"
    assert outcome(may("think"), "think", agent="a") == "allow"


@pytest.mark.parametrize("name", ["A", "a ", "а", "a\u200b", "", "system", "*"])
def test_a_name_that_only_looks_like_the_agents(name):
    assert outcome(may("think"), "think", agent=name) == "deny unknown-agent"


def test_a_role_and_a_runner_call_too():
    rulebook = book(roles={"r": {"may": ["think"]}}, runners={"R": {"may": ["think"]}}, agents={"a": {"may": []}})
    assert [outcome(rulebook, "think", agent=name) for name in "rR"] == ["allow", "allow"]


def test_a_disabled_agent():
    assert outcome(may("think", enabled=False), "think") == "deny agent-disabled"


def test_an_agent_that_the_registry_lacks():
    rulebook = book(agents={"a": {"may": ["think"]}}, roles={"r": {"may": ["think"]}})
    assert outcome(rulebook, "think", facts=Facts(registry=frozenset({"a"}))) == "allow"
    assert outcome(rulebook, "think", facts=Facts(registry=frozenset({"b"}))) == "deny agent-disabled"
    assert outcome(rulebook, "think", agent="r", facts=Facts(registry=frozenset())) == "allow"  # a role is no agent


@pytest.mark.parametrize("name", ["thunk", "Think", "think ", "thіnk", "server/think", "", "*"])
def test_an_unknown_tool(name):
    assert outcome(may("think"), name) == "deny unknown-tool"


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({}, "allow"),
        ({"text": ""}, "allow"),
        ({"text": 1}, "mistyped-argument"),
        ({"text": None}, "allow"),  # it is optional: null is absent
        ({"text": ["x"]}, "mistyped-argument"),
        ({"number": 1}, "allow"),
        ({"number": 1.5}, "allow"),
        ({"number": -0.0}, "allow"),
        ({"number": True}, "mistyped-argument"),
        ({"number": "1"}, "mistyped-argument"),
        ({"number": float("nan")}, "mistyped-argument"),
        ({"number": float("inf")}, "mistyped-argument"),
        pytest.param({"number": 10**350}, "allow"),
        ({"flag": True}, "allow"),
        ({"flag": 1}, "mistyped-argument"),
        ({"flag": "true"}, "mistyped-argument"),
        ({"json": {"a": [1, None]}}, "allow"),
        ({"json": None}, "allow"),
        ({"mode": "fast"}, "allow"),
        ({"mode": 1}, "allow"),
        ({"mode": False}, "allow"),
        ({"mode": True}, "mistyped-argument"),
        ({"mode": 1.0}, "mistyped-argument"),
        ({"mode": 0}, "mistyped-argument"),
        ({"mode": "Fast"}, "mistyped-argument"),
        ({"where": "x"}, "allow"),
        ({"where": {"path": "x"}}, "mistyped-argument"),
        ({"texts": "x"}, "undeclared-argument"),
        ({"Text": "x"}, "undeclared-argument"),
        ({"text\u200b": "x"}, "undeclared-argument"),
        ({"": "x"}, "undeclared-argument"),
        ({"__proto__": {}}, "undeclared-argument"),
    ],
)
def test_the_kinds_of_values(args, code):
    assert outcome(SHAPED, "typed", args).removeprefix("deny ") == code


ITEM = {"path": "x", "text": ""}


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"items": [ITEM]}, "allow"),
        ({"items": [ITEM, {**ITEM, "note": "n"}], "tags": ["x", "y"], "by": {"who": "me"}}, "allow"),
        ({"items": []}, "allow"),
        ({}, "missing-argument"),
        ({"items": [{"path": "x"}]}, "missing-argument"),
        ({"items": [ITEM, {"text": ""}]}, "missing-argument"),
        ({"items": ITEM}, "mistyped-argument"),
        ({"items": "x"}, "mistyped-argument"),
        ({"items": ["x"]}, "mistyped-argument"),
        ({"items": [ITEM, None]}, "mistyped-argument"),
        ({"items": [{**ITEM, "path": ["x"]}]}, "mistyped-argument"),
        ({"items": [ITEM], "tags": "x"}, "mistyped-argument"),
        ({"items": [ITEM], "tags": [1]}, "mistyped-argument"),
        ({"items": [ITEM], "by": "me"}, "mistyped-argument"),
        ({"items": [{**ITEM, "mode": 1}]}, "undeclared-argument"),
        ({"items": [ITEM], "by": {"whom": "me"}}, "undeclared-argument"),
        ({"items": [ITEM], "items[].path": "x"}, "undeclared-argument"),
        ({"items": [ITEM], "by.who": "me"}, "undeclared-argument"),
        ({"items[]": [ITEM]}, "undeclared-argument"),
        ({"items": [ITEM, {**ITEM, "path": "../x"}]}, "outside-root"),
        ({"items": [ITEM, {**ITEM, "path": ".claude/settings.json"}]}, "protected"),
    ],
)
def test_lists_and_objects(args, code):
    assert outcome(SHAPED, "many", args).removeprefix("deny ") == code


def test_a_tool_without_arguments():
    assert outcome(SHAPED, "plain") == "allow"
    assert outcome(SHAPED, "plain", {"x": 1}) == "deny undeclared-argument"


@pytest.mark.parametrize("args", [pytest.param(None), pytest.param([]), "x", 1])
def test_arguments_that_are_no_object(args):
    from remit.decide import decide
    from remit.model import Call

    decision = decide(SHAPED, Call("a", "plain", args))
    assert (decision.verdict.word, decision.code) == ("deny", "malformed-call")


def test_an_absent_argument_is_judged_as_its_default():
    tools = {
        "grep": {
            "args": {"path": "path"},
            "optional": ["path"],
            "defaults": {"path": "secrets"},
            "does": {"read": "path"},
        }
    }
    rulebook = book(tools=tools, agents={"a": {"may": ["grep"], "may_not": [{"grep": {"path": "secrets"}}]}})
    assert outcome(rulebook, "grep", {"path": "docs"}) == "allow"
    assert outcome(rulebook, "grep") == "deny may-not"


READER = may("read", "write", "sweep")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a", "allow"),
        ("a/b.c", "allow"),
        ("./a", "allow"),
        ("a/../b", "allow"),
        ("a/./b", "allow"),
        ("a b/ü.txt", "allow"),
        ("a:b", "allow"),
        ("...", "allow"),
        ("%2e%2e/x", "allow"),
        ("a$b", "allow"),
        (".", "allow"),
        ("docs/", "allow"),
        ("", "bad-path"),
        ("x" * 4097, "bad-path"),
        ("a\\b", "bad-path"),
        ("a\nb", "bad-path"),
        ("a\0b", "bad-path"),
        ("a\x1bb", "bad-path"),
        ("a\u200bb", "bad-path"),
        ("a\u202eb", "bad-path"),
        ("a\ud800b", "bad-path"),
        ("a\u2028b", "bad-path"),
        ("a\ue000b", "bad-path"),
        ("a\u0378b", "bad-path"),
        ("a//b", "bad-path"),
        ("a//", "bad-path"),
        ("~/x", "bad-path"),
        ("~root/x", "bad-path"),
        ("C:/x", "bad-path"),
        ("$HOME/x", "bad-path"),
        ("${HOME}/x", "bad-path"),
        ("$(id)", "bad-path"),
        ("..", "outside-root"),
        ("a/../../b", "outside-root"),
        ("../project/a", "outside-root"),
        ("/etc/passwd", "outside-root"),
        ("/", "outside-root"),
    ],
)
def test_path_texts(text, code):
    assert outcome(READER, "read", {"path": text}).removeprefix("deny ") == code


def test_a_path_that_ends_in_a_slash_is_only_read():
    assert outcome(READER, "read", {"path": "docs/"}) == "allow"
    assert outcome(READER, "sweep", {"path": "docs/"}) == "allow"
    assert outcome(READER, "write", {"path": "docs/"}) == "deny bad-path"


@pytest.mark.parametrize(
    ("path", "cwd", "root", "code"),
    [
        ("a", "docs", None, "allow"),
        ("../a", "docs", None, "allow"),
        ("../../a", "docs", None, "outside-root"),
        ("a", "..", None, "outside-root"),
        ("a", "/etc", None, "outside-root"),
        ("a", "a//b", None, "bad-path"),
        ("/w/p/a", None, "/w/p", "allow"),
        ("/w/p", None, "/w/p", "allow"),
        ("/w/p/../q", None, "/w/p", "outside-root"),
        ("/w/q/../p/a", None, "/w/p", "allow"),
        ("/w/pp/a", None, "/w/p", "outside-root"),
        ("/w/p/a", None, None, "outside-root"),
        ("a", "/w/p/docs", "/w/p", "allow"),
        ("a", "/w", "/w/p", "outside-root"),
    ],
)
def test_working_directory_and_root(path, cwd, root, code):
    found = outcome(READER, "read", {"path": path}, facts=Facts(root=root), cwd=cwd)
    assert found.removeprefix("deny ") == code


def test_resolved_paths_count():
    known = Facts(root="/p", resolved={"docs/a": "/p/docs/a", "link": "/p/secrets/x", "out": "/etc/passwd", ".": "/p"})
    rulebook = may("read", may_not=[{"read": {"path": "secrets/**"}}, {"read": {"path": "link"}}])
    texts = ["docs/a", ".", "out", "elsewhere", "link"]
    assert [outcome(rulebook, "read", {"path": text}, facts=known) for text in texts] == [
        "allow",
        "allow",
        "deny outside-root",
        "deny bad-path",
        "deny may-not",
    ]


def test_a_prohibition_looks_at_both_spellings():
    known = Facts(root="/p", resolved={"secrets/a": "/p/data/a"})
    rulebook = may("read", may_not=[{"read": {"path": "secrets/**"}}])
    assert outcome(rulebook, "read", {"path": "secrets/a"}, facts=known) == "deny may-not"


def test_a_prohibition_looks_at_both_spellings_of_a_directory():
    known = Facts(root="/p", resolved={"secrets": "/p/data"})
    rulebook = may("sweep", may_not=[{"sweep": {"path": "secrets/**"}}])
    assert outcome(rulebook, "sweep", {"path": "secrets"}, facts=known) == "deny may-not"


def test_a_directory_that_resolved_otherwise_is_an_obligation():
    known = Facts(root="/p", resolved={"link": "/p/data"})
    decision = ask(may("sweep"), "sweep", {"path": "link"}, facts=known)
    assert [(o.do, o.arg, o.value) for o in decision.obligations] == [("use-resolved-path", "path", "data")]


FINDER = may("find", may_not=[{"find": {"path": "secrets/**"}}])


@pytest.mark.parametrize(
    ("glob", "code"),
    [
        ("docs/*", "allow"),
        ("docs/**", "allow"),
        ("secrets/k", "may-not"),
        ("*", "may-not"),
        ("*.pem", "may-not"),
        ("**/*.md", "may-not"),
        ("s*/k", "may-not"),
        ("secrets*/k", "may-not"),
        ("SECRETS/k", "may-not"),
        ("{docs,secrets}/k", "may-not"),
        ("[st]ecrets/k", "may-not"),
        ("./secrets/k", "may-not"),
        pytest.param("sec[r]ets*/k", "may-not"),
        pytest.param("{secrets,docs}*/k", "may-not"),
        ("../*", "outside-root"),
        ("docs/../*", "outside-root"),
        ("/etc/*", "outside-root"),
        ("docs/[", "bad-glob"),
        ("{src,../x}", "bad-glob"),
        ("docs//x", "bad-glob"),
        ("", "bad-path"),
        ("~/*", "bad-path"),
        ("a\\*", "bad-path"),
    ],
)
def test_glob_arguments(glob, code):
    assert outcome(FINDER, "find", {"glob": glob}).removeprefix("deny ") == code


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("https://x.example/", "allow"),
        ("HTTPS://X.example/a?b=c#d", "allow"),
        ("http://127.0.0.1:8080/", "allow"),
        ("", "bad-url"),
        ("x.example", "bad-url"),
        ("//x.example/", "bad-url"),
        ("https:x.example", "bad-url"),
        ("https://user@x.example/", "bad-url"),
        ("https://x.example\\@y.example/", "bad-url"),
        ("https://x.example/\n", "bad-url"),
        (" https://x.example/", "bad-url"),
        ("https://ex\u0430mple.com/", "bad-url"),
        ("https://x.example:0/", "bad-url"),
        ("https://x.example:99999/", "bad-url"),
        ("https://0x7f.1/", "bad-url"),
        ("https://x.example/%zz", "bad-url"),
        ("https://x.example/" + "a" * 9000, "bad-url"),
    ],
)
def test_urls(url, code):
    assert outcome(may("fetch"), "fetch", {"url": url}).removeprefix("deny ") == code
