"""What differs between those that carry calls to an enforcement point: Guard, the hook of a host.

class Queue(Carrier):                            # a third one: it can carry out nothing, and asks through the inbox
    def __init__(self, message: Message) -> None:
        self.call = Call(message.sender, message.tool, copied(message.args))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from remit.grant.asks import AskState
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook


class Judged(msgspec.Struct, frozen=True):
    """A decision, the call with its task as it was judged, and what the decision rests on."""

    decision: Decision
    call: Call
    facts: Facts
    rulebook: Rulebook
    others: tuple[Judged, ...] = ()
    """The same call as it came by other chains; it begins for these too."""


class Carried(NamedTuple):
    """Obligations that were carried out: the arguments to run with, and how to undo it if the tool does not run."""

    args: dict[str, Any]
    undo: Callable[[], None] | None = None
    places: tuple[str, ...] = ()
    """Where the paths in them lead: looked at again right before the tool runs."""
    close: Callable[[], None] | None = None
    """Closes what is opened for the tool, when the call has ended. Raises OSError for what could not be written."""


class Carrier:
    """One call, and what whoever carries it can do. The defaults can do nothing, so that what is left out denies."""

    call: Call
    """In the carrier's own words. Nobody else may hold its arguments: `copied`."""
    call_id: str | None = None
    """The id of the call in the ledger; None: the ledger makes one."""
    can: frozenset[str] = frozenset()
    """The obligations that it can carry out."""
    wait: float = 0.0
    """Seconds that the call waits for an answer from the inbox."""
    knows_task: bool = True
    """The context of its calls names their task and chain; otherwise these are looked up, and hand-overs are kept."""

    always_carries: bool = False
    """It has something to do in `carry_out` even where no path and no obligation is left."""

    def asks_itself(self, decision: Decision, rulebook: Rulebook) -> bool:
        """Whether it puts a question to a person itself; otherwise the question goes to the inbox."""
        return False

    def can_reach(self, arg: str, args: dict[str, Any]) -> bool:
        """Whether it can put another value in the place of an argument, which may be a field such as `edits[].file`."""
        return arg in args

    def calls(self, rulebook: Rulebook) -> Sequence[Call]:
        """The call in the policy's words, once for each chain by which it may have come. Raises RemitError."""
        return (self.call,)

    def check(self, judged: Judged) -> None:
        """The last look before it is recorded that the call may run. Raises RemitError if it can't."""

    def carry_out(self, judged: Judged) -> Carried:
        """Carries out the obligations, all of which are in `can`. Raises RemitError, with nothing left behind."""
        return Carried(judged.call.args)

    def on_question(self, question: AskState, call: Call) -> None:
        """Somebody has been asked. What this raises counts for nothing."""

    def pending(self, decision: Decision) -> Decision:
        """What to answer while nobody has answered."""
        return decision


def copied(args: dict[str, Any]) -> dict[str, Any]:
    """The arguments, to be judged, recorded and run with: whoever handed them over can't change these any more."""
    if _PLAIN.issuperset(map(type, args.values())):
        return dict(args)
    try:
        return {name: _copy(value) for name, value in args.items()}
    except RecursionError:
        return args  # nobody can write these down, so they are refused


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_copy(one) for one in value]
    return tuple(map(_copy, value)) if type(value) is tuple else value


_PLAIN = frozenset((str, int, float, bool, type(None)))
