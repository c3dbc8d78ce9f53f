"""People under their own names: who may do what, quorums, invitations, and what nobody else can do in their place."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from remit.compile import build_rulebook
from remit.compile.hashing import grant_digest
from remit.grant import credential
from remit.grant.activation import newest_activation
from remit.grant.authority import Authority
from remit.grant.credential import CredentialError, accept, invite, set_passphrase, signer, unlock
from remit.grant.elsewhere import make_request, read_answer, read_request, sign_answer, take_answer
from remit.grant.errors import GrantError
from remit.grant.person import PersonError, named_people, prove_person
from remit.grant.standing import approve_grant, unapproved
from remit.model.people import APPROVER, OPERATOR, OWNER
from remit.model.rulebook import Rulebook
from remit.record.audit import state_faults
from remit.record.people import UNSIGNED, people_of
from remit.record.state import ANSWER, HALT, Sign, StateForged, put
from remit.store import Store
from tests.grant.people_world import (
    NAMED,
    PEOPLE,
    QUICK,
    ROOT,
    activate,
    asked,
    named_rules,
    project_sign,
    secret_of,
    settle,
    sign_of,
)
from tests.grant.world import POLICY, authority, call, judge, open_world, task
from tests.postgres import Postgres

RULES = named_rules()


class Team(NamedTuple):
    """A settled team."""

    store: Store
    one: Authority
    other: Authority
    sign: dict[str, Sign]

    def faults(self) -> list[str]:
        with self.store.read() as view:
            return [fault.code for fault in state_faults(view)]

    def verdict(self, to: str, capsule: str | None = "T") -> str:
        """What another process decides about a deployment."""
        return judge(self.other, RULES, call("boss", "push", {"to": to}, capsule))[0].verdict.word

    def answer(self, name: str, verdict: Any, who: str) -> str:
        """How the question stands after an answer."""
        return self.one.answer(name, verdict, by=who, sign=self.sign[who]).state

    def run(self, to: str, capsule: str | None = "T") -> None:
        made = call("boss", "push", {"to": to}, capsule)
        decision, facts = judge(self.other, RULES, made)
        assert decision.allowed, decision.reason
        self.other.begin(made, decision, RULES, facts)


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setattr(credential, "NOW", QUICK)
    url = None
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.uri_of(server.new_database())
    found = open_world(url, tmp_path / "state")
    yield found
    found.close()


@pytest.fixture
def team(store: Store, tmp_path: Path) -> Team:
    sign = settle(store)
    one, other = (authority(store, tmp_path / "state") for _ in range(2))
    found = Team(store, one, other, sign)
    one.issue(RULES, task(RULES, "T", "boss", by="cy"), sign=sign["cy"])
    return found


# Answers


def test_two_different_people_who_did_not_ask_for_it(team: Team) -> None:
    name = asked(team.one, RULES, "T")
    question = team.one.asked(name)
    assert (question.ask.approvals, question.ask.people) == (2, ("ann", "bob"))  # cy issued it, fay is for lead
    assert team.answer(name, "approve", "ann") == "open"
    assert team.answer(name, "approve", "ann") == "open", "nobody counts twice"
    assert team.verdict("x") == "ask"
    for who, code in (("cy", "may-not-approve"), ("fay", "may-not-approve"), ("dan", "may-not-approve")):
        with pytest.raises(GrantError) as error:
            team.answer(name, "approve", who)
        assert error.value.code == code
    assert team.other.asked(name).approved == ("ann",)
    assert team.answer(name, "approve", "bob") == "approved"
    assert team.verdict("x") == "allow"
    team.run("x")
    assert team.verdict("x") == "ask", "it counts once"
    assert team.faults() == []


def test_one_refusal_is_enough_and_overrides(team: Team) -> None:
    first, second = asked(team.one, RULES, "T", "a"), asked(team.one, RULES, "T", "b")
    assert team.answer(first, "approve", "ann") == "open"
    assert team.answer(first, "refuse", "fay") == "refused", "who may approve anything at all may refuse"
    assert team.verdict("a") == "deny"
    for who in ("ann", "bob"):
        team.answer(second, "approve", who)
    assert team.verdict("b") == "allow"
    assert team.answer(second, "refuse", "ann") == "refused", "also what one has approved oneself"
    assert team.verdict("b") == "deny"
    with pytest.raises(GrantError) as error:
        team.answer(asked(team.one, RULES, "T", "c"), "refuse", "dan")
    assert error.value.code == "not-your-role"
    assert team.faults() == []


def test_nobody_answers_in_anothers_name_nor_without_a_passphrase(team: Team) -> None:
    name = asked(team.one, RULES, "T")
    forms: list[tuple[str, Sign | None]] = [
        ("ann", None),
        ("ann", team.sign["bob"]),
        ("ann", project_sign(team.store)),
        ("zed", None),
        ("me (program)", None),
    ]
    for by, sign in forms:
        with pytest.raises(GrantError) as error:
            team.one.answer(name, "approve", by=by, sign=sign)
        assert error.value.code == "not-a-person", (by, sign)
    assert team.one.asked(name).approved == ()


def test_what_no_person_asked_for_cannot_be_approved_where_others_must(team: Team) -> None:
    decision, _ = judge(team.one, RULES, call("boss", "push", {"to": "x"}))
    assert decision.needs is not None
    assert decision.needs.missing == ("task",)


def test_a_forged_answer_counts_for_nothing(team: Team) -> None:
    """Whoever can write to the store, and has one person's passphrase, gets one person's approval out of it."""
    name = asked(team.one, RULES, "T")
    team.answer(name, "approve", "bob")
    seq, digest = team.one.asked(name).seq, team.one.asked(name).digest
    row = {"answer": "approve", "digest": digest, "at": "2026-11-18T00:00:00Z", "seen": None}
    fake = Sign(team.sign["bob"].make, "ann")
    with team.store.write() as change:
        put(change, ANSWER, (seq, "ann"), row, event="approval", at=1, writer="x", about={}, sign=fake)
    with pytest.raises(StateForged) as error:
        team.other.asked(name)
    assert error.value.code == UNSIGNED
    assert "state-unsigned" in team.faults()


def test_an_ask_that_was_only_marked_as_approved_is_still_a_question(team: Team) -> None:
    """The ask itself can be changed by whoever writes; what counts are the answers."""
    name = asked(team.one, RULES, "T")
    team.answer(name, "approve", "bob")
    from remit.grant.asks import _change, find

    with team.store.write() as change:
        found = find(change, name)
        columns = {"state": "approved", "answerer": "ann, bob", "answerer_kind": "people"}
        _change(change, found, columns, {"what": "approved"}, team.one.scribe)
    assert team.verdict("x") == "ask"
    assert "state-unsigned" in team.faults()


# Everything else that people do


def test_each_role_does_its_part_and_no_other(team: Team) -> None:
    one, sign = team.one, team.sign
    acts: dict[str, tuple[set[str], Callable[[str], Any]]] = {
        "issue": (
            {"ann", "cy", "dan"},
            lambda who: (
                one.issue(RULES, task(RULES, f"I-{who}", "boss", by=who), sign=sign[who]),
                team.other.facts(f"I-{who}", _facts(), RULES),
            ),
        ),
        "resume": (
            {"ann", "cy", "dan"},
            lambda who: (
                one.halt(f"agent-{who}", by="x", because="y"),
                one.resume(f"agent-{who}", by=who, because="z", sign=sign[who]),
                team.other.halted(RULES),
            ),
        ),
        "review": (
            {"ann", "eve"},
            lambda who: (
                one.sign_review(RULES, "aide", by=who, because="fine", sign=sign[who]),
                team.other.reviews(RULES),
            ),
        ),
        "gate": (
            {"ann", "bob", "cy", "fay"},
            lambda who: (
                one.issue(RULES, task(RULES, f"G-{who}", "boss", by="dan", gates=["demo"]), sign=sign["dan"]),
                one.pass_gate(f"G-{who}", "demo", by=who, sign=sign[who]),  # type: ignore[func-returns-value]
                team.other.facts(f"G-{who}", _facts(), RULES),
            ),
        ),
    }
    for able, act in acts.values():
        for who in sorted(able):
            act(who)
    assert team.faults() == []
    for what, (able, act) in acts.items():
        for who in PEOPLE:
            if who not in able:
                with pytest.raises(StateForged) as error:
                    act(who)
                assert error.value.code == UNSIGNED, (what, who)


def _facts() -> Any:
    from remit.model.facts import Facts

    return Facts(store=True)


def test_a_task_in_anothers_name_is_refused_and_counts_for_nothing(team: Team) -> None:
    with pytest.raises(GrantError) as error:
        team.one.issue(RULES, task(RULES, "N", "boss", by="dan"), sign=team.sign["cy"])
    assert error.value.code == "not-a-person"
    nameless = Sign(team.sign["cy"].make, None)  # gets past that check, but no further
    team.one.issue(RULES, task(RULES, "M", "boss", by="dan"), sign=nameless)
    with pytest.raises(StateForged):
        team.other.facts("M", _facts(), RULES)


def test_the_projects_passphrase_only_invites(team: Team) -> None:
    root = project_sign(team.store)
    team.one.halt("boss", by="x", because="y")
    team.one.resume("boss", by="root", because="z", sign=root)
    with pytest.raises(StateForged):
        team.other.halted(RULES)
    activate(team.store, build_rulebook(POLICY), root, "root")
    with team.store.read() as view, pytest.raises(StateForged) as error:
        newest_activation(view)
    assert error.value.code == UNSIGNED
    with team.store.read() as view:
        assert set(people_of(view).now or {}) == set(PEOPLE), "it was not activated by anybody who may"


def test_only_an_owner_activates_and_roles_are_those_of_then(team: Team) -> None:
    one, sign = team.one, team.sign
    one.halt("boss", by="x", because="y")
    one.resume("boss", by="dan", because="z", sign=sign["dan"])
    without_dan = build_rulebook({**NAMED, "people": {name: PEOPLE[name] for name in PEOPLE if name != "dan"}})
    activate(team.store, without_dan, sign["ann"], "ann")
    assert team.other.halted(without_dan) == [], "what dan did while he could counts on"
    one.halt("lead", by="x", because="y")
    one.resume("lead", by="dan", because="z", sign=sign["dan"])
    with pytest.raises(StateForged):
        team.other.halted(without_dan)
    activate(team.store, RULES, sign["bob"], "bob")
    with team.store.read() as view, pytest.raises(StateForged):
        newest_activation(view)


def test_an_owner_can_let_one_passphrase_do_again(team: Team) -> None:
    alone = build_rulebook(POLICY)
    activate(team.store, alone, team.sign["ann"], "ann")
    assert named_people(team.store) is None
    root = project_sign(team.store)
    team.one.halt("boss", by="x", because="y")
    team.one.resume("boss", by="root", because="z", sign=root)
    assert team.other.halted(alone) == []
    activate(team.store, RULES, root, "root")
    assert set(named_people(team.store) or {}) == set(PEOPLE)
    assert team.faults() == []


# Invitations


def test_an_invitation_counts_once_for_one_person_and_a_week(store: Store) -> None:
    set_passphrase(store, ROOT)
    activate(store, RULES, project_sign(store), "root")
    with pytest.raises(CredentialError) as error:
        set_passphrase(store, secret_of("ann"), name="ann")
    assert error.value.code == "not-invited"
    code = invite(store, "ann", by="root", sign=project_sign(store))
    for name, given in (("bob", code), ("ann", "wrong"), ("ann", code[:-1])):
        with pytest.raises(CredentialError):
            accept(store, name, given, secret_of(name))
    accept(store, "ann", f"  {code.upper()} ", secret_of("ann"))
    with pytest.raises(CredentialError):
        accept(store, "ann", code, "another passphrase")
    ann = sign_of(store, "ann")
    late = invite(store, "bob", by="ann", sign=ann, clock=lambda: 1)
    with pytest.raises(CredentialError) as error:
        accept(store, "bob", late, secret_of("bob"))
    assert "week" in str(error.value)
    first = invite(store, "bob", by="ann", sign=ann)
    second = invite(store, "bob", by="ann", sign=ann)
    with pytest.raises(CredentialError):
        accept(store, "bob", first, secret_of("bob"))
    accept(store, "bob", second, secret_of("bob"))
    again = invite(store, "bob", by="ann", sign=ann)  # he has lost his
    accept(store, "bob", again, "another passphrase")
    assert unlock(store, secret_of("bob"), name="bob") is None
    assert unlock(store, "another passphrase", name="bob") is not None
    set_passphrase(store, secret_of("bob"), old="another passphrase", name="bob")
    assert unlock(store, secret_of("bob"), name="bob") is not None
    with store.read() as view:
        assert state_faults(view) == []


def test_nobody_else_invites(team: Team) -> None:
    for sign in (team.sign["bob"], team.sign["dan"], None, Sign(team.sign["bob"].make, "ann")):
        with team.store.write() as change:
            size = change.row("SELECT size FROM head")
        assert size is not None
        fresh = base64.b64encode(bytes(32)).decode()
        row = {"key": fresh, "at": "2026-11-18T00:00:00Z", "by": "ann"}
        try:
            with team.store.write() as change:
                from remit.record.state import INVITATION

                put(change, INVITATION, ("dan",), row, event="credential", at=1, writer="x", about={}, sign=sign)
                people_of(change)
                raise AssertionError("it counts")
        except StateForged:
            pass  # and nothing was written


def test_a_passphrase_that_nobody_was_invited_to_set(team: Team) -> None:
    seed = b"x" * 32
    from remit.record.state import CREDENTIAL, new_salt

    with team.store.write() as change:
        [row] = change.rows("SELECT name, kind, salt, parameters, hash, set_at, key FROM credential WHERE name = 'ann'")
        names = ("name", "kind", "salt", "parameters", "hash", "set_at", "key")
        forged = dict(zip(names, row, strict=True)) | {"salt": new_salt(), "key": credential._public(seed)}
        put(
            change,
            CREDENTIAL,
            ("ann",),
            forged,
            event="credential",
            at=1,
            writer="x",
            about={},
            sign=signer(seed, "ann"),
        )
    with team.store.read() as view, pytest.raises(StateForged):
        people_of(view)
    assert team.faults()[0] == "state-forged"


def test_who_acts_is_asked_for_their_own_passphrase(team: Team) -> None:
    def prove(who: str | None, may: frozenset[str], typed: str, login: str = "nobody") -> Sign | None:
        return prove_person(team.store, None, name=login, doing="act", read=lambda prompt: typed, may=may, who=who).sign

    assert prove("dan", OPERATOR, secret_of("dan")) is not None
    assert prove(None, OPERATOR, secret_of("dan"), login="dan") is not None
    for who, may, typed, code in (
        ("dan", OWNER, secret_of("dan"), "not-your-role"),
        ("zed", OWNER, ROOT, "unknown-person"),
        (None, OWNER, ROOT, "unknown-person"),
        ("dan", OPERATOR, secret_of("ann"), "wrong-passphrase"),
        ("dan", OPERATOR, ROOT, "wrong-passphrase"),
        ("bob", OPERATOR | APPROVER, secret_of("dan"), "wrong-passphrase"),
    ):
        with pytest.raises((PersonError, CredentialError)) as error:
            prove(who, may, typed)
        assert error.value.code == code
    assert HALT.roles == OPERATOR


# From another machine


def test_an_answer_from_another_machine_counts_like_any_other(team: Team) -> None:
    name = asked(team.one, RULES, "T")
    team.answer(name, "approve", "ann")
    request = read_request(msgspec.json.encode(make_request(team.one, name, "bob")))  # as the file has it
    answer = sign_answer(request, "approve", secret_of("bob"), at="2026-11-18T00:00:00Z", because="seen it")
    answer = read_answer(msgspec.json.encode(answer))
    assert take_answer(team.other, answer).state == "approved"
    assert take_answer(team.other, answer).state == "approved", "again changes nothing"
    team.run("x")
    with pytest.raises(GrantError):
        take_answer(team.other, answer)
    assert team.verdict("x") == "ask"
    assert team.faults() == []


def test_an_answer_that_was_changed_on_its_way_or_is_for_another_call(team: Team) -> None:
    replace = msgspec.structs.replace
    name, other = asked(team.one, RULES, "T", "a"), asked(team.one, RULES, "T", "b")
    request = make_request(team.one, name, "bob")
    right = sign_answer(request, "approve", secret_of("bob"), at="2026-11-18T00:00:00Z", because="fine")
    harmless = replace(request, sealed={**request.sealed, "args": {"to": "harmless"}})
    shown = sign_answer(harmless, "approve", secret_of("bob"), at=right.at, because="fine")
    words = replace(request, ask=replace(request.ask, reason="nothing much"))
    spoken = sign_answer(words, "approve", secret_of("bob"), at=right.at, because="fine")
    refused = sign_answer(request, "refuse", secret_of("bob"), at=right.at, because="no")
    salt = sign_answer(replace(request, salt=b"x" * 16), "approve", secret_of("bob"), at=right.at)
    for wrong, code in (
        (shown, "not-what-was-seen"),
        (replace(shown, seen=right.seen), "bad-answer"),
        (spoken, "not-what-was-seen"),
        (sign_answer(request, "approve", "a guess", at=right.at, because="fine"), "bad-answer"),
        (salt, "bad-answer"),
        (replace(refused, answer="approve"), "bad-answer"),
        (replace(right, person="ann"), "bad-answer"),
        (replace(right, at="2026-11-19T00:00:00Z"), "bad-answer"),
        (replace(right, because="not so fine"), "not-what-was-seen"),
        (replace(right, id=other), "not-what-was-seen"),
        (replace(right, signature="AAAA"), "bad-answer"),
        (replace(right, person="zed"), "may-not-approve"),
    ):
        with pytest.raises(GrantError) as error:
            take_answer(team.one, wrong)
        assert error.value.code == code, wrong
    assert (team.one.asked(name).approved, team.one.asked(other).approved) == ((), ())
    take_answer(team.one, refused)
    with pytest.raises(GrantError):
        take_answer(team.one, right)
    for data in (b"", b"{}", b"[1]", msgspec.json.encode(right)):
        with pytest.raises(GrantError):
            read_request(data)


def test_an_old_request_counts_no_more_once_its_person_has_answered(team: Team) -> None:
    name = asked(team.one, RULES, "T")
    request = make_request(team.one, name, "bob")
    approves = sign_answer(request, "approve", secret_of("bob"), at="2026-11-18T00:00:00Z")
    team.answer(name, "approve", "bob")
    refuses = sign_answer(request, "refuse", secret_of("bob"), at="2026-11-18T00:00:00Z", because="no")
    with pytest.raises(GrantError) as error:
        take_answer(team.one, refuses)
    assert error.value.code == "bad-answer"
    assert take_answer(team.one, approves).approved == ("bob",), "it says what was said already"
    for who, code in (("zed", "no-credential"), ("ann", None)):
        if code is None:
            make_request(team.one, name, who)
        else:
            with pytest.raises(CredentialError) as wrong:
                make_request(team.one, name, who)
            assert wrong.value.code == code


# Standing grants


def _granted(**more: Any) -> Rulebook:
    grant = {"agent": "hand", "may": [{"extra": {"path": "x/**"}}], "adr": "ADR-1", "approved_by": "bob"}
    return build_rulebook({**NAMED, "grants": [{**grant, "until": "2030-01-01T00:00:00Z", **more}]})


def test_a_standing_grant_needs_the_word_of_whom_it_names(team: Team) -> None:
    rulebook = _granted()
    [grant] = rulebook.book.grants

    def open_(book: Rulebook) -> int:
        with team.store.read() as view:
            return len(list(unapproved(view, book.book, {grant_digest(one): one for one in book.book.grants})))

    assert open_(rulebook) == 1
    for who in ("ann", "dan"):
        scribe = team.one.scribe._replace(sign=team.sign[who])
        with team.store.write() as change, pytest.raises(GrantError):
            approve_grant(change, grant, grant_digest(grant), by=who, now="now", scribe=scribe)
    with team.store.write() as change:
        scribe = team.one.scribe._replace(sign=team.sign["bob"])
        approve_grant(change, grant, grant_digest(grant), by="bob", now="now", scribe=scribe)
    assert open_(rulebook) == 0
    for other in (
        _granted(until="2031-01-01T00:00:00Z"),
        _granted(agent="lead"),
        _granted(may=["extra"]),
        _granted(adr="ADR-2"),
        _granted(approved_by="ann"),
    ):
        assert open_(other) == 1, "it is of exactly what it says"
    assert team.faults() == []
    moved = msgspec.structs.replace(grant, at="elsewhere")
    assert grant_digest(moved) == grant_digest(grant)
