"""Steps 3 and 4: what is prohibited, and what is permitted."""

# Arguments come from tables of plain data.
# mypy: disable-error-code="arg-type"

import pytest

from remit.model import Facts
from tests.decide.kit import NOW, TOOLS, ask, book, facts, may, outcome

URL = {"url": "https://x.example/a"}


def table(rulebook, tool, cases, **more):
    """Compares the outcome for each value of the tool's one argument with what is expected."""
    (name,) = TOOLS[tool]["args"]
    found = {value: outcome(rulebook, tool, {name: value}, **more) for value in cases}
    assert found == cases


# --- step 3: may_not ---


def test_a_may_not_without_scope():
    rulebook = may("read", "write", may_not=["write"])
    assert outcome(rulebook, "write", {"path": "x"}) == "deny may-not"
    assert outcome(rulebook, "read", {"path": "x"}) == "allow"


def test_a_may_not_ignores_case_and_unicode_form_while_may_does_not():
    table(
        may({"write": {"path": "Straße/**"}}, may_not=[{"write": {"path": "**/private/**"}}]),
        "write",
        {
            "Straße/x": "allow",
            "straße/x": "deny not-permitted",
            "STRASSE/x": "deny not-permitted",
            "Straße/private/x": "deny may-not",
            "Straße/PRIVATE/x": "deny may-not",
            "Straße/ｐrivate/x": "deny may-not",
        },
    )


def test_a_may_not_with_an_exception_inside_the_path():
    table(
        may("write", may_not=[{"write": {"path": {"allow": ["docs/**"], "except": ["docs/open/**"]}}}]),
        "write",
        {"docs/x": "deny may-not", "docs/open/x": "allow", "docs/OPEN/x": "deny may-not", "src/x": "allow"},
    )


def test_a_may_not_holds_if_any_unit_matches():
    rulebook = may("copy", may_not=[{"copy": {"path": "secrets/**"}}])
    assert outcome(rulebook, "copy", {"from": "a", "to": "b"}) == "allow"
    assert outcome(rulebook, "copy", {"from": "secrets/a", "to": "b"}) == "deny may-not"
    assert outcome(rulebook, "copy", {"from": "a", "to": "secrets/b"}) == "deny may-not"


def test_a_may_not_by_effect_and_path_wants_both_of_one_unit():
    rulebook = may("copy", may_not=[{"effect": "write", "path": "docs/**"}])
    assert outcome(rulebook, "copy", {"from": "docs/a", "to": "src/b"}) == "allow"
    assert outcome(rulebook, "copy", {"from": "src/a", "to": "docs/b"}) == "deny may-not"


def test_a_may_not_holds_for_what_a_wide_unit_might_touch():
    rulebook = may("index", "sweep", may_not=[{"path": "secrets/**"}])
    assert outcome(rulebook, "index", {"query": "x"}) == "deny may-not"
    table(rulebook, "sweep", {".": "deny may-not", "secrets": "deny may-not", "docs": "allow"})


def test_an_exception_is_judged_unit_by_unit():
    tools = {**TOOLS, "get": {"args": {"url": "url", "to": "path"}, "does": {"network": "url", "install": "to"}}}
    agents = {
        "a": {"may": ["get", "fetch"], "may_not": [{"effect": ["network", "install"], "except": {"effect": "install"}}]}
    }
    rulebook = book(tools=tools, agents=agents)
    assert outcome(rulebook, "get", {**URL, "to": "x"}) == "deny may-not"  # the URL is no installation
    rulebook = may("fetch", may_not=[{"effect": "network", "except": {"url": "https://x.example/**"}}])
    table(rulebook, "fetch", {"https://x.example/a": "allow", "https://y.example/a": "deny may-not"})


def test_an_exception_must_certainly_hold():
    rulebook = may("fetch", may_not=[{"effect": "network", "except": {"url": "https://x.example/api/**"}}])
    table(
        rulebook,
        "fetch",
        {"https://x.example/api/a": "allow", "https://x.example/api/%2e%2e/admin": "deny may-not"},
    )


def test_an_exception_grants_nothing():
    rulebook = may("read", may_not=[{"effect": "network", "except": {"url": "https://x.example/**"}}])
    assert outcome(rulebook, "fetch", URL) == "deny not-permitted"


def test_an_ambiguous_url_might_lie_within():
    rulebook = may("fetch", may_not=[{"fetch": {"url": "https://x.example/admin/**"}}])
    table(
        rulebook,
        "fetch",
        {
            "https://x.example/api/a": "allow",
            "https://x.example/admin/a": "deny may-not",
            "https://x.example/api/../admin/a": "deny may-not",
            "https://x.example/api/%2e%2e/admin/a": "deny may-not",
            "https://y.example/admin/a": "allow",
        },
    )


@pytest.mark.parametrize(
    ("condition", "values"),
    [
        ({"text": "x"}, {"x": "deny may-not", "X": "allow", "xx": "allow"}),
        ({"text": ["x", "y"]}, {"x": "deny may-not", "y": "deny may-not", "z": "allow"}),
        ({"text": {"regex": "rm .*"}}, {"rm x": "deny may-not", "rm x\ny": "deny may-not", "arm x": "allow"}),
        ({"text": {"length": {"min": 3}}}, {"ab": "allow", "abc": "deny may-not"}),
    ],
)
def test_a_may_not_with_a_condition(condition, values):
    table(may("think", may_not=[{"think": {"where": condition}}]), "think", values)


def test_a_condition_on_an_absent_argument():
    rulebook = may({"think": {"where": {"text": {"length": {"max": 3}}}}})
    assert outcome(rulebook, "think", {"text": "x"}) == "allow"
    assert outcome(rulebook, "think") == "deny not-permitted"
    rulebook = may("think", may_not=[{"think": {"where": {"text": {"length": {"max": 3}}}}}])
    assert outcome(rulebook, "think") == "allow"


def test_a_may_not_in_a_context():
    rulebook = may("think", may_not=[{"think": {"when": {"environment": ["prod", "stage"]}}}])
    found = [outcome(rulebook, "think", environment=name) for name in (None, "dev", "stage", "prod")]
    assert found == ["allow", "allow", "deny may-not", "deny may-not"]


# --- step 3: reserved, accessible_by ---

RESERVED = book(
    tools={**TOOLS, "git_push": {"args": {}, "does": "nothing"}, "git_pull": {"args": {}, "does": "nothing"}},
    agents={"a": {"may": ["git_push", "fetch", "search_web", "think"]}},
    runners={"Git": {"may": ["git_push", "fetch"]}, "Other": {"may": ["git_push"]}},
    reserved={"git": {"tools": ["git_*"], "urls": ["https://git.example/**"], "programs": ["git"], "runner": "Git"}},
)


def test_what_is_reserved_to_a_runner():
    found = {name: outcome(RESERVED, "git_push", agent=name) for name in ("a", "Git", "Other")}
    assert found == {"a": "deny reserved", "Git": "allow", "Other": "deny reserved"}
    assert outcome(RESERVED, "think") == "allow"


@pytest.mark.parametrize(
    ("entry", "command", "expected"),
    [
        ({"programs": ["git"]}, "git status", "deny reserved"),
        ({"programs": ["git"]}, "ls", "allow"),
        ({"programs": ["git"]}, "nosuch", "deny reserved"),  # it could run anything
        ({"modules": ["pytest"]}, "python -m pytest", "deny reserved"),
        ({"modules": ["pytest"]}, "ls", "allow"),
        ({"urls": ["https://git.example/**"]}, "nosuch", "deny reserved"),
        ({"urls": ["https://git.example/**"]}, "curl https://git.example/x", "deny reserved"),
        ({"urls": ["https://git.example/**"]}, "ls", "allow"),
        ({"tools": ["fetch"]}, "ls", "allow"),
    ],
)
def test_what_each_part_of_a_reservation_reserves(entry, command, expected):
    agents = {"a": {"may": ["run"]}}
    runners = {"Git": {"may": ["run"]}}
    rulebook = book(agents=agents, runners=runners, reserved={"git": {**entry, "runner": "Git"}})
    assert outcome(rulebook, "run", {"command": command}) == expected
    assert outcome(rulebook, "run", {"command": command}, agent="Git") != "deny reserved"


def test_a_reserved_url():
    urls = {
        "https://git.example/x": "deny reserved",
        "https://GIT.example:443/x": "deny reserved",
        "https://git.example/a/../x": "deny reserved",
        "https://other.example/x": "allow",
    }
    table(RESERVED, "fetch", urls)
    table(RESERVED, "fetch", dict.fromkeys(urls, "allow"), agent="Git")
    assert outcome(RESERVED, "search_web", {"query": "x"}) == "deny reserved"


def test_accessible_by():
    tools = {"t": {"args": {}, "does": "nothing", "accessible_by": ["r", "b"]}}
    agents = {"a": {"roles": ["r"]}, "b": {"may": []}, "c": {"may": []}}
    rulebook = book(tools=tools, roles={"r": {}}, agents=agents)
    assert [outcome(rulebook, "t", agent=name) for name in "abcr"] == ["allow", "allow", "deny not-accessible", "allow"]


def test_accessible_by_nobody():
    tools = {"t": {"args": {}, "does": "nothing", "accessible_by": []}}
    assert outcome(book(tools=tools, agents={"a": {"may": []}}), "t") == "deny not-accessible"


def test_accessible_by_default_of_a_layer():
    tools = {
        "inner": {"args": {}, "does": "nothing", "layer": "internal"},
        "opened": {"args": {}, "does": "nothing", "layer": "internal", "accessible_by": ["a"]},
        "outer": {"args": {}, "does": "nothing", "layer": "atomic"},
    }
    rulebook = book(
        tools=tools,
        defaults={"accessible_by": {"layer": {"internal": ["core"]}}},
        roles={"core": {}},
        agents={"a": {"may": ["outer"]}, "b": {"roles": ["core"]}},
    )
    assert [outcome(rulebook, name) for name in tools] == ["deny not-accessible", "allow", "allow"]
    assert [outcome(rulebook, name, agent="b") for name in tools] == [
        "allow",
        "deny not-accessible",
        "deny not-permitted",
    ]


def test_accessible_by_does_not_reach_outside_the_root():
    tools = {"read": {**TOOLS["read"], "accessible_by": ["a"]}}
    rulebook = book(tools=tools, agents={"a": {}})
    table(rulebook, "read", {"x": "allow", "/etc/passwd": "deny outside-root"})


# --- step 4 ---


def test_nothing_is_permitted_that_is_not_said():
    assert outcome(may(), "think") == "deny not-permitted"
    assert outcome(may("read"), "write", {"path": "x"}) == "deny not-permitted"


def test_a_path_scope():
    table(
        may({"write": {"path": ["docs/*.md", "notes/**"]}}),
        "write",
        {
            "docs/a.md": "allow",
            "docs/.md": "deny not-permitted",
            "docs/a/b.md": "deny not-permitted",
            "docs/a.md.txt": "deny not-permitted",
            "docs/x/../a.md": "allow",
            "notes/a/b/c": "allow",
            "notes": "deny not-permitted",
            "Docs/a.md": "deny not-permitted",
            "src/a.md": "deny not-permitted",
        },
    )


def test_a_path_scope_with_exceptions():
    table(
        may({"write": {"path": {"allow": ["src/**"], "except": ["src/gen/**"]}}}),
        "write",
        {"src/a": "allow", "src/gen/a": "deny not-permitted", "src/GEN/a": "deny not-permitted"},
    )


def test_paths_outside_the_root():
    table(
        may({"read": {"path": {"allow": ["docs/**"], "outside": ["/usr/share/**"]}}}),
        "read",
        {
            "docs/a": "allow",
            "/usr/share/dict/words": "allow",
            "/usr/share/../lib/x": "deny outside-root",
            "/USR/share/x": "deny outside-root",
            "usr/share/x": "deny not-permitted",
        },
    )


def test_a_path_scope_for_all_below():
    table(
        may({"sweep": {"path": "docs/**"}}),
        "sweep",
        {"docs": "allow", "docs/a": "allow", ".": "deny not-permitted", "src": "deny not-permitted"},
    )


def test_a_path_scope_for_globs():
    table(
        may({"find": {"path": "docs/**"}}),
        "find",
        {"docs/*.md": "allow", "docs/**": "allow", "*.md": "deny not-permitted", "doc*/x": "deny not-permitted"},
    )


def test_different_units_by_different_rules():
    rulebook = may({"copy": {"path": "src/**"}}, {"copy": {"path": "docs/**"}})
    assert outcome(rulebook, "copy", {"from": "src/a", "to": "docs/b"}) == "allow"
    assert outcome(rulebook, "copy", {"from": "src/a", "to": "etc/b"}) == "deny not-permitted"


def test_every_dangerous_argument_must_be_mentioned():
    tools = {"save": {"args": {"url": "url", "to": "path"}, "does": {"network": "url", "write": "to"}}}

    def saves(scope):
        rulebook = book(tools=tools, agents={"a": {"may": [{"save": scope}]}})
        return outcome(rulebook, "save", {**URL, "to": "out/x"})

    url, path = {"url": "https://x.example/**"}, {"path": "out/**"}
    assert saves({}) == "allow"
    assert saves({**url, **path}) == "allow"
    assert saves({"when": {}}) == "allow"
    assert saves(url) == "deny not-permitted"
    assert saves(path) == "deny not-permitted"
    assert saves({**path, "where": {"url": {"url": "https://x.example/**"}}}) == "allow"
    assert saves({"where": {"to": path, "url": url}}) == "allow"
    assert saves({"where": {"to": path}}) == "deny not-permitted"


def test_a_url_scope():
    table(
        may({"fetch": {"url": ["https://x.example/**", "https://y.example/api/*"]}}),
        "fetch",
        {
            "https://x.example/a/b?c=d": "allow",
            "https://x.example": "allow",
            "https://X.EXAMPLE:443/": "allow",
            "http://x.example/": "deny not-permitted",
            "https://x.example:8443/": "deny not-permitted",
            "https://a.x.example/": "deny not-permitted",
            "https://x.example.evil.example/": "deny not-permitted",
            "https://y.example/api/a": "allow",
            "https://y.example/api/a/b": "deny not-permitted",
            "https://y.example/api/..%2fadmin": "deny not-permitted",
        },
    )


def test_agents_and_skills():
    agents = {
        "a": {"may": [{"delegate": {"agent": ["b"]}}, {"invoke": {"skill": ["dig"]}}], "delegates_to": ["b", "c"]}
    }
    rulebook = book(agents={**agents, "b": {"may": []}, "c": {"may": []}})
    table(rulebook, "delegate", {"b": "allow", "c": "deny not-permitted", "B": "deny not-permitted"})
    table(rulebook, "invoke", {"dig": "allow", "Dig": "deny not-permitted"})


def test_a_scope_by_effect():
    rulebook = may({"effect": ["read", "network"]})
    assert outcome(rulebook, "read", {"path": "x"}) == "allow"
    assert outcome(rulebook, "fetch", URL) == "allow"
    assert outcome(rulebook, "copy", {"from": "x", "to": "y"}) == "deny not-permitted"
    assert outcome(rulebook, "think") == "deny not-permitted"  # no effect at all is not one of these


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        (5, 5, "allow"),
        (5, 5.0, "allow"),
        (5, 6, "deny"),
        (1, True, "deny"),
        ([1, 2], 2, "allow"),
        ({"range": [1, 10]}, 1, "allow"),
        ({"range": [1, 10]}, 10, "allow"),
        ({"range": [1, 10]}, 10.5, "deny"),
        ({"min": 3}, 2, "deny"),
        ({"max": 3}, 3, "allow"),
    ],
)
def test_conditions_on_numbers(condition, value, expected):
    tools = {"set": {"args": {"n": "number"}, "does": "nothing"}}
    rulebook = book(tools=tools, agents={"a": {"may": [{"set": {"where": {"n": condition}}}]}})
    assert outcome(rulebook, "set", {"n": value}).split()[0] == expected


@pytest.mark.parametrize(
    ("regex", "value", "expected"),
    [
        ("[a-z]+", "abc", "allow"),
        ("[a-z]+", "abc\n", "deny"),
        ("[a-z]+$", "abc\n", "deny"),
        ("[a-z]+", "abc1", "deny"),
        ("a|b", "ab", "deny"),
        ("a.c", "a\nc", "allow"),
        ("(a+)+", "a" * 5000 + "b", "deny"),
    ],
)
def test_a_regex_matches_the_whole_value_in_linear_time(regex, value, expected):
    rulebook = may({"think": {"where": {"text": {"regex": regex}}}})
    assert outcome(rulebook, "think", {"text": value}).split()[0] == expected


def test_every_value_of_a_repeated_argument_counts():
    tools = {"tag": {"args": {"tags[]": "text"}, "does": "nothing"}}
    rulebook = book(tools=tools, agents={"a": {"may": [{"tag": {"where": {"tags[]": ["x", "y"]}}}]}})
    assert outcome(rulebook, "tag", {"tags": ["x", "y"]}) == "allow"
    assert outcome(rulebook, "tag", {"tags": ["x", "z"]}) == "deny not-permitted"
    rulebook = book(tools=tools, agents={"a": {"may": ["tag"], "may_not": [{"tag": {"where": {"tags[]": "z"}}}]}})
    assert outcome(rulebook, "tag", {"tags": ["x", "z"]}) == "deny may-not"


@pytest.mark.parametrize("key", ["mode", "environment", "session", "cwd"])
def test_a_condition_on_each_key_of_the_context(key):
    rulebook = may({"think": {"when": {key: "v"}}})
    assert outcome(rulebook, "think", **{key: "v"}) == "allow"
    assert outcome(rulebook, "think", **{key: "V"}) == "deny not-permitted"
    assert outcome(rulebook, "think") == "deny not-permitted"


def test_the_context_never_comes_from_arguments():
    rulebook = may({"think": {"when": {"mode": "interactive"}}})
    assert outcome(rulebook, "think", {"mode": "interactive"}) == "deny undeclared-argument"
    assert outcome(rulebook, "think", {"text": "mode: interactive"}) == "deny not-permitted"


def test_a_must_ask_permits_what_it_covers():
    rulebook = may("read", must_ask=[{"write": {"path": "docs/**"}}])
    table(rulebook, "write", {"docs/a": "ask must-ask", "src/a": "deny not-permitted"})


@pytest.mark.parametrize(
    ("until", "now", "expected"),
    [
        ("2027-01-01", NOW, "allow"),
        ("2026-01-01", NOW, "deny not-permitted"),
        ("2027-01-01", None, "deny not-permitted"),
    ],
)
def test_a_grant_in_the_facts(until, now, expected):
    rulebook = may()
    values = {"grants": [{"agent": "a", "may": [{"write": {"path": "docs/**"}}], "until": until}]}
    known = facts(rulebook, **values, **({"now": now} if now else {}))
    assert outcome(rulebook, "write", {"path": "docs/x"}, facts=known) == expected
    assert outcome(rulebook, "write", {"path": "src/x"}, facts=known) == "deny not-permitted"


def test_a_grant_of_the_capsule_is_for_whom_it_was_handed_to():
    rulebook = book(agents={"a": {"may": []}, "b": {"may": []}})
    known = facts(rulebook, capsules={"C": {"agent": "a", "grants": ["think"]}})
    assert outcome(rulebook, "think", facts=known, capsule="C") == "allow"
    assert outcome(rulebook, "think", facts=known) == "deny not-permitted"
    assert outcome(rulebook, "think", facts=known, capsule="C", agent="b").startswith("deny")


def test_new_files_only_is_an_obligation():
    rulebook = may({"write": {"path": {"allow": ["log/**"], "new_only": True}}}, {"write": {"path": "docs/**"}})
    decision = ask(rulebook, "write", {"path": "log/x"})
    assert (decision.code, [(o.do, o.arg) for o in decision.obligations]) == (
        "allowed",
        [("create-exclusively", "path")],
    )
    assert ask(rulebook, "write", {"path": "docs/x"}).obligations == ()


def test_a_path_that_resolved_otherwise_is_an_obligation():
    known = Facts(root="/p", resolved={"link": "/p/docs/x", "docs/x": "/p/docs/x"})
    decision = ask(may("write"), "write", {"path": "link"}, facts=known)
    assert [(o.do, o.arg, o.value) for o in decision.obligations] == [("use-resolved-path", "path", "docs/x")]
    assert ask(may("write"), "write", {"path": "docs/x"}, facts=known).obligations == ()


def test_an_effect_declared_on_a_shell_argument_counts():
    tools = {"remote": {"args": {"command": "shell"}, "does": {"network": "command"}}}
    rulebook = book(tools=tools, agents={"a": {"may": ["remote"], "may_not": [{"effect": "network"}]}})
    assert outcome(rulebook, "remote", {"command": "ls"}) == "deny may-not"
