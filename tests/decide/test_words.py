"""The texts of a decision: escaped, bounded, about nobody else's rules, and safe to copy."""

# Wrong types are what is tested.
# mypy: disable-error-code="arg-type,dict-item,union-attr"

import pytest
import yaml

from remit.compile import build_rulebook
from remit.decide import decide
from remit.model import Call, Context, Facts
from remit.scopes.glob import Glob
from tests.decide.kit import TOOLS, ask, book, facts, may, outcome

HOSTILE = {
    "ansi": "\x1b[2J\x1b[31mred",
    "newline": "a\nallow: yes",
    "return": "a\rb",
    "nul": "a\0b",
    "bidi": "a\u202egpj.exe",
    "isolate": "a\u2066b\u2069",
    "zero width": "a\u200bb",
    "surrogate": "a\ud800b",
    "line separator": "a\u2028b",
    "delete": "a\x7fb",
    "c1": "a\x9bb",
    "tag": "a\U000e0041b",
    "long": "x" * 100_000,
}
each_hostile = pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)


def texts(decision) -> list[str]:
    """Everything in a decision that somebody may read on a terminal."""
    remedy = decision.remedy
    found = [decision.agent, decision.tool, decision.code, decision.reason, *decision.detail]
    if remedy is not None:
        found += [text for text in (remedy.text, remedy.command, remedy.policy) if text]
    return found


def assert_clean(decision) -> None:
    for text in texts(decision):
        assert text.isprintable(), ascii(text)
        assert not set(text) & set("\u202e\u2066\u2069\u200b\U000e0041")
        assert len(text) < 1000


@each_hostile
def test_the_agents_name(text):
    decision = ask(may("think"), "think", agent=text)
    assert decision.code == "unknown-agent"
    assert_clean(decision)


@each_hostile
def test_the_tools_name(text):
    decision = ask(may("think"), text)
    assert decision.code == "unknown-tool"
    assert_clean(decision)


@each_hostile
def test_the_name_of_an_argument(text):
    decision = ask(may("think"), "think", {text: 1})
    assert decision.code == "undeclared-argument"
    assert_clean(decision)


@each_hostile
@pytest.mark.parametrize("tool", ["read", "write", "delete", "sweep"])
def test_paths(tool, text):
    for path in (text, f"docs/{text}", f"/etc/{text}", f".git/{text}"):
        decision = ask(may(tool, may_not=[{tool: {"path": "docs/**"}}]), tool, {"path": path})
        assert decision.verdict.word == "deny"
        assert_clean(decision)


@each_hostile
@pytest.mark.parametrize(("tool", "arg"), [("fetch", "url"), ("find", "glob"), ("delegate", "to"), ("invoke", "name")])
def test_other_arguments(tool, arg, text):
    for value in (text, f"https://x.example/{text}"):
        assert_clean(ask(may(tool, skills=["dig"], apis=[]), tool, {arg: value}))


@each_hostile
@pytest.mark.parametrize("key", ["capsule", "mode", "session", "cwd", "environment"])
def test_the_context(key, text):
    assert_clean(ask(may({"read": {"when": {"mode": "m"}}}), "read", {"path": "x"}, **{key: text}))


@each_hostile
def test_the_chain(text):
    decision = ask(may("think"), "think", chain=(text,))
    assert decision.code == "broken-chain"
    assert_clean(decision)


@each_hostile
def test_what_the_facts_say(text):
    from remit.decide.questions import call_digest
    from remit.model import Approval

    rulebook = may(must_ask=["think"])
    digest = call_digest(Call("a", "think"), rulebook.hash, Facts())
    decision = ask(rulebook, "think", facts=Facts(approvals=(Approval(text, digest, text, answer="refuse"),)))
    assert decision.code == "refused"
    assert_clean(decision)


def test_a_printable_path_of_printable_length_is_shown_as_it_is():
    reason = ask(may("write"), "write", {"path": ".git/häßlich – “x”.txt"}).reason
    assert reason == ".git/häßlich – “x”.txt is protected and can't be changed by an agent"


# --- nobody else's rules ---


def test_a_reason_speaks_of_the_callers_own_rules():
    agents = {
        "a": {"may": [{"write": {"path": "docs/**"}}], "delegates_to": ["b"]},
        "b": {"may": [{"write": {"path": "topsecret-b/**"}}], "may_not": [{"write": {"path": "hidden-b/**"}}]},
        "other": {"may": ["read"], "locks": {"may": ["locked-other/**"]}, "apis": ["https://other.example/**"]},
    }
    grants = [
        {
            "agent": "b",
            "may": [{"write": {"path": "granted-b/**"}}],
            "adr": "1",
            "approved_by": "p",
            "until": "2030-01-01",
        }
    ]
    rulebook = book(agents=agents, grants=grants)
    calls = [
        ("write", {"path": "src/x"}),
        ("write", {"path": ".git/x"}),
        ("read", {"path": "x"}),
        ("think", {}),
        ("nothing", {}),
        ("delegate", {"to": "other"}),
        ("fetch", {"url": "https://x.example/"}),
    ]
    for tool, args in calls:
        decision = ask(rulebook, tool, args, facts=Facts(now="2026-11-15T12:00:00Z"))
        assert decision.verdict.word == "deny"
        said = " ".join(texts(decision))
        for secret in ("topsecret-b", "hidden-b", "granted-b", "locked-other", "other.example"):
            assert secret not in said


@pytest.mark.parametrize(
    ("rulebook", "tool", "args", "reason"),
    [
        (
            may({"write": {"path": "research/*.yaml"}}),
            "write",
            {"path": "x"},
            "write is limited to research/*.yaml for a",
        ),
        (may("read"), "write", {"path": "x"}, "a may not use write"),
        (may("write", may_not=["write"]), "write", {"path": "x"}, "a may not use write"),
        (may("write"), "write", {"path": ".git/config"}, ".git/config is protected and can't be changed by an agent"),
        (may("write", locks={"may": ["src/**"]}), "write", {"path": "x"}, "a may write and delete only src/**"),
        (
            may({"query": {"sql": {"select": ["t"]}}}),
            "query",
            {"sql": "SELECT a FROM u"},
            "`SELECT a FROM u` is not permitted for a: it would read u; it may read only t",
        ),
        (may("read"), "run", {"command": "ls"}, "a may not use run"),
        (
            may({"run": {"shell": {"run": ["ls"]}}}),
            "run",
            {"command": "ls; rm x"},
            "`rm x` is not permitted for a: rm is not among the commands; ls may be run",
        ),
        (
            may("run", data_tiers=[0]),
            "run",
            {"command": "ls; zzz"},
            "a may not run what is not understood: `zzz` (`zzz` isn't known)",
        ),
        (
            may("run", locks={"may": ["src/**"]}),
            "run",
            {"command": 'echo "x'},
            "a may not run what is not understood: `echo \"x` (a quote that doesn't end)",
        ),
        (
            may("run", may_not=[{"path": "p/**"}]),
            "run",
            {"command": "ls -Ö"},
            "a may not use run (path p/**); `ls -Ö` might do that: it is not understood (the option `-Ö` isn't known)",
        ),
        (
            may("query", data_tiers=[0]),
            "query",
            {"sql": "SELECT o(a) FROM t"},
            "a may not run what is not understood: `SELECT o(a) FROM t` (the function o is not known to be harmless)",
        ),
        (
            may("run"),
            "run",
            {"command": "file $(which sh)"},
            "the text doesn't tell what `$(which sh)` is: the command could change something protected",
        ),
        (may("think"), "think", {"txt": 1}, "think has no argument `txt`; it has text"),
        (may("read"), "read", {}, "the argument `path` is missing"),
        (may("read"), "read", {"path": 1}, "`path` must be text"),
        (may("deploy"), "deploy", {}, "tier 4 asks human (deploys: changes what runs for users)"),
    ],
)
def test_reasons_are_short_and_say_what_counts(rulebook, tool, args, reason):
    assert ask(rulebook, tool, args).reason == reason


def test_an_unknown_argument_names_the_pack_and_its_version():
    rulebook = build_rulebook({"remit": 1, "use": ["vscode"], "agents": {"a": {"may": ["read_file"]}}})
    decision = decide(rulebook, Call("a", "read_file", {"filePath": "x", "encoding": "utf-8"}))
    pack = rulebook.book.tools["read_file"].pack
    assert (
        decision.reason
        == f"read_file has no argument `encoding` (pack {pack}); it has filePath, startLine, endLine, offset, limit"
    )


# --- remedies can be pasted ---


def test_a_remedy_permits_the_call():
    rulebook = may("read")
    decision = ask(rulebook, "write", {"path": "docs/x"})
    assert decision.remedy.policy == 'agents: {a: {may: [write: {path: "docs/x"}]}}'
    added = yaml.safe_load(decision.remedy.policy)
    assert outcome(book(**added), "write", {"path": "docs/x"}) == "allow"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM t JOIN u ON t.a = u.a",
        "SELECT 1",
        "INSERT INTO t VALUES (1)",
        "REPLACE INTO t VALUES (1)",
        "INSERT OR ABORT INTO t VALUES (1)",
        "UPDATE t SET a = 1",
        "DELETE FROM t",
        "PRAGMA busy_timeout = 1",
        "EXPLAIN SELECT a FROM t",
        "SELECT unheard_of(a) FROM t",
        "CREATE INDEX i ON t (a)",
    ],
)
def test_a_remedy_permits_the_statement(text):
    decision = ask(may("read"), "query", {"sql": text})
    added = yaml.safe_load(decision.remedy.policy)
    assert outcome(book(**added, tiers={3: "allow", 4: "allow"}), "query", {"sql": text}) == "allow"


@pytest.mark.parametrize("text", ["ATTACH 'x' AS y", "SELECT (", "VACUUM INTO 'x'"])
def test_no_remedy_takes_the_limits_away(text):
    decision = ask(may({"query": {"sql": {"select": "any"}}}), "query", {"sql": text})
    assert (decision.code, decision.remedy.policy) == ("not-permitted", None)


NASTY = ["**", "*", "docs/*", "a?c", "{a,b}", "[ab]", 'a"b', 'a"}, read: {path: "**', "[", "a{b"]


@pytest.mark.parametrize("path", ["a: b", "a#b", "a'b", "a, b", *(pytest.param(path) for path in NASTY)])
def test_a_remedy_permits_no_more_than_the_call(path):
    decision = ask(may("read"), "write", {"path": path})
    assert decision.code == "not-permitted"
    if decision.remedy is None or decision.remedy.policy is None:
        raise AssertionError("no remedy to look at")
    added = yaml.safe_load(decision.remedy.policy)
    (rule,) = added["agents"]["a"]["may"]
    assert list(rule) == ["write"]
    glob = Glob.parse(rule["write"]["path"])
    assert glob.matches(path)
    assert not any(glob.matches(other) for other in ("other", "abc", "docs/other", "a", "b", "a/b"))


@pytest.mark.parametrize("tool", ["x: {}, y", "a, b", "a}: b", "#a", "a: b", "[a]", '"a'])
def test_a_declaration_to_paste_declares_only_that_tool(tool):
    decision = ask(may("read"), tool)
    if decision.remedy.policy is None:
        return  # not every text is a name
    added = yaml.safe_load(decision.remedy.policy)
    assert list(added["tools"]) == [tool]


# --- it never raises ---


@pytest.mark.parametrize(
    "fields",
    [
        (1, "think"),
        ("a", 1),
        (["a"], "think"),
        ("a", {"think": 1}),
        ("a", "think", {"text": object()}),
        ("a", "think", {}, None),
        ("a", "read", {1: 2}),
        (None, None, None, None),
    ],
)
def test_nonsense_is_denied(fields):
    rulebook = may("think", "read")
    call = Call(*fields)
    for _ in range(2):
        assert decide(rulebook, call).verdict.word == "deny"
        decide(rulebook, Call("a", "think"))
        decide(rulebook, Call("a", "read", {"path": "x"}))


@pytest.mark.parametrize(
    "nonsense", [{"cwd": 1}, {"chain": (1, None)}, {"chain": "boss"}, {"capsule": 1}, {"data_tier": "x"}]
)
def test_nonsense_is_no_context(nonsense):
    with pytest.raises(TypeError):
        Context(**nonsense)


def test_a_rule_that_fails_denies(monkeypatch):
    from remit.scopes.judge import Judge

    def broken(self, *_):
        raise ZeroDivisionError("secret detail")

    rulebook = may("read", may_not=[{"read": {"path": "x"}}])
    monkeypatch.setattr(Judge, "touches", broken)
    decision = decide(rulebook, Call("a", "read", {"path": "y"}))
    assert (decision.verdict.word, decision.code) == ("deny", "rule-failed")
    assert decision.reason == "the call could not be judged (ZeroDivisionError)"


def test_facts_that_make_no_sense_deny():
    rulebook = may("write")
    known = facts(rulebook, capsules={"C": {"agent": "a", "scope": ["docs/**"]}})
    broken = Facts(capsules={"C": "no capsule"})
    assert outcome(rulebook, "write", {"path": "x"}, facts=known, capsule="C") == "allow"
    assert outcome(rulebook, "write", {"path": "x"}, facts=broken, capsule="C") == "deny rule-failed"


def test_the_kit_has_a_tool_for_every_kind():
    kinds = {kind for tool in TOOLS.values() for kind in tool["args"].values()}
    assert {"path", "glob", "url", "agent", "skill", "text", "shell", "sql"} <= kinds


def test_the_trace_says_why_a_rule_does_not_cover_a_unit():
    command = ask(may({"run": {"shell": {"run": ["ls"]}}}), "run", {"command": "cat x"})
    assert command.detail[-1].endswith("may: shell ls: cat is not among the commands; ls may be run")
    path = ask(may({"read": {"path": "docs/**"}}), "read", {"path": "x"})
    assert path.detail[-1].endswith("may: path docs/**")
