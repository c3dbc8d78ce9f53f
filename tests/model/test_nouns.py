"""The nouns are frozen, and errors say what they are."""

import pytest

from remit.model import (
    Call,
    CallError,
    Context,
    Decision,
    Facts,
    PolicyError,
    Problem,
    RemitError,
    RulebookError,
    Verdict,
)


@pytest.mark.parametrize(
    "noun",
    [Call("a", "t"), Context(), Facts(), Problem("code", "message"), Decision(Verdict.ALLOW, "a", "t", "allowed", "")],
    ids=lambda noun: type(noun).__name__,
)
def test_nouns_are_frozen(noun):
    name = noun.__struct_fields__[0]
    with pytest.raises(AttributeError):
        setattr(noun, name, "other")
    with pytest.raises(AttributeError):
        noun.something = 1


def test_errors_have_one_root_and_a_code():
    for kind, code in ((PolicyError, "bad-policy"), (RulebookError, "bad-rulebook"), (CallError, "malformed-call")):
        assert issubclass(kind, RemitError)
        assert kind.code == code


def test_a_policy_error_says_everything():
    error = PolicyError((Problem("x", "first", "f:1:2", "do this"), Problem("y", "second")))
    assert str(error) == "f:1:2: first\n    do this\nsecond"


@pytest.mark.parametrize(("verdict", "allowed"), [(Verdict.ALLOW, True), (Verdict.ASK, False), (Verdict.DENY, False)])
def test_only_an_allow_is_allowed(verdict, allowed):
    assert Decision(verdict, "a", "t", "c", "r").allowed is allowed
