"""Standing grants: extra permission that ends, and that no prohibition yields to."""

from tests.decide.kit import NOW, book, facts, outcome

GRANT = {
    "agent": "a",
    "may": [{"write": {"path": "docs/**"}}],
    "adr": "ADR-1",
    "approved_by": "p",
    "until": "2027-03-01",
}


def granted(record=None, **edits):
    return book(
        agents={"a": {"may": [], **(record or {})}, "b": {"may": []}}, roles={"r": {}}, grants=[{**GRANT, **edits}]
    )


def test_a_grant_permits_until_its_moment():
    rulebook = granted()
    moments = [None, "2026-11-15", "2027-02-28T23:59:59Z", "2027-03-01", "2028-01-01"]
    found = [
        outcome(rulebook, "write", {"path": "docs/x"}, facts=facts(rulebook, now=now) if now else None)
        for now in moments
    ]
    assert found == ["deny not-permitted", "allow", "allow", "deny not-permitted", "deny not-permitted"]


def test_a_grant_has_a_scope():
    rulebook = granted()
    assert outcome(rulebook, "write", {"path": "src/x"}, facts=facts(rulebook, now=NOW)) == "deny not-permitted"


def test_a_grant_is_for_one_caller():
    rulebook = granted()
    assert (
        outcome(rulebook, "write", {"path": "docs/x"}, agent="b", facts=facts(rulebook, now=NOW))
        == "deny not-permitted"
    )


def test_a_grant_to_a_role_is_for_its_members():
    rulebook = granted({"roles": ["r"]}, agent="r")
    now = facts(rulebook, now=NOW)
    assert outcome(rulebook, "write", {"path": "docs/x"}, facts=now) == "allow"
    assert outcome(rulebook, "write", {"path": "docs/x"}, agent="b", facts=now) == "deny not-permitted"


def test_a_grant_lifts_no_prohibition():
    rulebook = granted({"may_not": ["write"]})
    assert outcome(rulebook, "write", {"path": "docs/x"}, facts=facts(rulebook, now=NOW)) == "deny may-not"


def test_a_grant_lifts_no_lock_and_no_question():
    rulebook = granted({"locks": {"may": ["src/**"]}})
    assert outcome(rulebook, "write", {"path": "docs/x"}, facts=facts(rulebook, now=NOW)) == "deny locked"
    rulebook = granted({"must_ask": [{"write": {"path": "docs/**"}}]})
    assert outcome(rulebook, "write", {"path": "docs/x"}, facts=facts(rulebook, now=NOW)) == "ask must-ask"


def test_moments_have_time_zones():
    rulebook = granted(until="2027-03-01T02:00:00+02:00")
    assert rulebook.book.grants[0].until == "2027-03-01T00:00:00Z"
