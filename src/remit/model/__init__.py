"""The nouns: frozen, slotted, importing nothing of ours."""

from remit.model.call import Call, Context, Statement
from remit.model.decision import Decision, Needs, Obligation, Remedy
from remit.model.errors import CallError, PolicyError, Problem, RemitError, RulebookError
from remit.model.facts import Approval, Capsule, Facts
from remit.model.rulebook import Book, Rulebook
from remit.model.terms import ALLOW, ASK, DENY, Verdict

__all__ = [
    "ALLOW",
    "ASK",
    "DENY",
    "Approval",
    "Book",
    "Call",
    "CallError",
    "Capsule",
    "Context",
    "Decision",
    "Facts",
    "Needs",
    "Obligation",
    "PolicyError",
    "Problem",
    "Remedy",
    "RemitError",
    "Rulebook",
    "RulebookError",
    "Statement",
    "Verdict",
]
