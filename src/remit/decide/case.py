"""A case: one call on its way through the steps, and what was found."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from remit.decide.grid import Cell
from remit.model.call import Call
from remit.model.decision import Decision, Needs, Obligation, Remedy, Target
from remit.model.facts import Capsule, Facts
from remit.model.terms import DENY, EFFECTS, Verdict
from remit.model.trace import Line, Note
from remit.scopes.interface import NO_EFFECTS, Unit
from remit.scopes.kinds import kind_of

if TYPE_CHECKING:
    from remit.model.profile import Profile
    from remit.scopes.judge import Judge

FLOOR = "the tool's floor"
_GRADES = ("not understood", "project code", "understood")
_NO_VIOLATION = frozenset(
    ("halted", "capsule-ended", "gate-open", "not-understood", "confine-unavailable", "tier-denied", "refused")
)
_CODES = (
    (),  # of step 1, which ends before there is a case
    ("halted", "protected"),
    ("project-code", "may-not", "reserved", "not-accessible"),
    ("not-permitted", "outside-root"),
    ("unknown-capsule", "broken-chain", "capsule-required", "capsule-ended", "capsule-constraint", "gate-open"),
    ("data-tier", "not-understood", "locked", "api-not-allowed", "skill-not-allowed", "delegation-not-allowed"),
    ("confine-unavailable", "tier-denied", "tier-asks", "must-ask", "target-unknown", "confirm-asks", "refused"),
)
STEP = {code: step for step, codes in enumerate(_CODES, start=1) for code in codes}
"""By code, the step of the procedure that it belongs to."""
_ORDER = {effect: index for index, effect in enumerate(EFFECTS)}


class Objection(msgspec.Struct, frozen=True):
    """Why a step does not simply pass the call on."""

    verdict: Verdict
    code: str
    reason: str
    rule: str | None = None
    needs: Needs | None = None
    remedy: Remedy | None = None
    binding: bool = False
    """True where observing does not lift it."""
    unsure: bool = False
    """True where its only ground is what the text doesn't tell, or how well it is known."""

    @property
    def step(self) -> int:
        """The step that it comes from."""
        return STEP[self.code]


class Held(msgspec.Struct, frozen=True):
    """What the kernel holds of a call that runs confined."""

    profile: Profile
    arg: str
    """The argument with the text for a shell."""
    digest: str
    lifts: bool
    """It is required: what rests only on what the text doesn't tell, and is held, falls away."""
    read: bool
    network: bool
    """There is none, or only the places that URL rules name."""
    quiet: bool
    """The same, and none of these places needs a question."""
    data: bool
    """Data that the callers may not touch is out of reach, wherever it lies."""
    impossible: frozenset[str] = NO_EFFECTS
    """Effects that a command tries in vain: the kernel lets it change nothing but what the profile admits."""

    def keeps(self, unit: Unit) -> bool:
        """What this path of a command might be is held, whatever it is."""
        if not self.lifts or not unit.derived or unit.untold == "place" or _is_folder(unit):
            return False
        return self.read or "read" not in unit.effects

    def is_private(self, unit: Unit, root: str | None) -> bool:
        """It surely lies in a folder that the command has for itself, so that nothing outside changes."""
        if not self.lifts or not unit.derived or unit.untold or unit.wide or root is None:
            return False
        from remit.model.profile import PRIVATE  # here: few callers are confined

        found = next((folder for folder in PRIVATE if unit.value.startswith(folder + "/")), None)
        return found is not None and not (root + "/").startswith(found + "/")


def _is_folder(unit: Unit) -> bool:
    """The text shows which folder it is, though not where that lies: the home, or the one above."""
    return unit.literal and (unit.text[:1] == "~" or unit.text.rstrip("/") == "..")


class Case:
    """One call with its cell, facts, values and units; collects the trace as it goes."""

    __slots__ = (
        "approval",
        "call",
        "capsules",
        "cell",
        "data_tier",
        "data_unsure",
        "data_why",
        "digest",
        "effects",
        "facts",
        "grade",
        "handed",
        "held",
        "obligations",
        "rule",
        "tier",
        "tier_why",
        "told_data_tier",
        "trace",
        "units",
        "values",
    )

    def __init__(self, cell: Cell, call: Call, facts: Facts, values: dict[str, list[Any]], units: list[Unit]) -> None:
        self.cell, self.call, self.facts = cell, call, facts
        self.values = values
        self.units = [unit for unit in units if unit.taken != "argument"]
        self.handed = [unit for unit in units if unit.taken == "argument"]
        """Arguments of code of the project that may name paths: for prohibitions, data tiers and own labels."""
        self.trace: list[Line] = [Note(None, said) for said in facts.notes] if facts.notes else []
        self.capsules: list[Capsule] = []
        self.obligations: dict[str, Obligation] = {}
        self.digest: Callable[[str], str] | None = None
        """Gives what an approval of this call is bound to, under the policy of that hash."""
        self.rule: str | None = None
        self.approval: str | None = None
        self.data_tier = call.context.data_tier
        self.data_why = "the context says so" if self.data_tier else ""
        """What gave the data tier; empty for tier 0."""
        self.data_unsure = False
        """Only what the text doesn't tell gave it."""
        self.told_data_tier = self.data_tier
        """The data tier without what the text doesn't tell."""
        self.held: Held | None = None
        """Set where the call's command runs confined."""
        self.tier = cell.tool.tier
        self.tier_why = FLOOR
        self.grade, self.effects = _grade_and_effects(self.units)

    def met_by(self, judge: Judge) -> Unit | None:
        """The unit by which a prohibition holds, or might."""
        context, values = self.call.context, self.values
        found = judge.touches(context, values, self.units)
        if found is None and self.handed and "path" in judge.parts:
            found = judge.touches(context, values, [*self.units, *self.handed])
        return found

    def note(self, step: int, said: str) -> None:
        """A line of the trace that only people read."""
        self.trace.append(Note(step, said))

    def deny(self, code: str, reason: str, **more: Any) -> Objection:
        """An objection that ends the case."""
        return Objection(DENY, code, reason, **more)

    def ended(self, objection: Objection, **more: Any) -> Decision:
        """The decision that an objection gives."""
        wrong = objection.verdict is DENY and not objection.unsure
        return self.decision(
            objection.verdict,
            objection.code,
            objection.reason,
            rule=objection.rule,
            needs=objection.needs,
            remedy=objection.remedy,
            violation=wrong and objection.code not in _NO_VIOLATION,
            **more,
        )

    def decision(self, verdict: Verdict, code: str, reason: str, **more: Any) -> Decision:
        """The decision, with all that the case has gathered."""
        return Decision(
            verdict=verdict,
            agent=self.call.agent,
            tool=self.cell.tool.name,
            code=code,
            reason=reason,
            tier=self.tier,
            data_tier=self.data_tier,
            effects=self.effects,
            targets=_targets(self.units, self.call.args),
            grade=self.grade,
            trace=tuple(self.trace),
            policy=self.cell.rulebook.hash,
            approval=self.approval,
            **more,
        )


def _grade_and_effects(units: list[Unit]) -> tuple[str, tuple[str, ...]]:
    """The worst grade of any unit, and the effects of all."""
    grades = {unit.grade for unit in units}
    grade = next((grade for grade in _GRADES if grade in grades), "understood")
    return grade, ordered(NO_EFFECTS.union(*[unit.effects for unit in units]))


@functools.lru_cache(maxsize=256)
def ordered(effects: frozenset[str]) -> tuple[str, ...]:
    """Effects in the order of the format."""
    return tuple(sorted(effects, key=_ORDER.__getitem__))


def _targets(units: list[Unit], args: dict[str, Any]) -> tuple[Target, ...]:
    """What the call would reach, each once; commands and statements are shown by what they touch."""
    found: dict[Target, None] = {}
    for unit in units:
        value = kind_of(unit.kind).target(unit)
        if value is not None:
            if unit.arg and args.get(unit.arg) == value:
                value = ""  # as given, so that one decision can serve many calls
            for effect in ordered(unit.effects):
                found[Target(effect, unit.kind, value, unit.arg, unit.wide)] = None
    return tuple(found)
