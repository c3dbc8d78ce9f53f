"""The options that the ledger's commands share, and how they find the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from remit.cli.common import InputError, find_policy
from remit.cli.parameters import Option
from remit.model.moments import read_moment
from remit.model.text import shown
from remit.record.entry import EVENTS
from remit.record.open import OpenLog, open_log
from remit.record.reader import Filter

NOT_VERIFIED = 1

StateOption = Annotated[
    Path | None,
    Option("--state", metavar="DIR", help="The state directory; otherwise that of the policy's project."),
]
TypeOption = Annotated[str | None, Option("--type", metavar="TYPE", help="intent, outcome, activation, halt …")]
DecisionOption = Annotated[str | None, Option("--decision", metavar="WORD", help="allow, ask or deny.")]
CapsuleOption = Annotated[str | None, Option("--capsule", metavar="ID", help="The task.")]
SinceOption = Annotated[str | None, Option("--since", metavar="MOMENT", help="From then on.")]
UntilOption = Annotated[str | None, Option("--until", metavar="MOMENT", help="Before then.")]


def find_ledger(policy: Path | None, state: Path | None) -> OpenLog:
    """The ledger of `--state`, or of the project of the policy. Raises RemitError."""
    if state is not None:
        if not state.is_dir():
            raise InputError("--state: no such directory")
        return open_log(None, state=state.resolve())
    return open_log(find_policy(policy).absolute().parent)


def filter_of(
    *,
    type: str | None = None,
    agent: str | None = None,
    tool: str | None = None,
    decision: str | None = None,
    capsule: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Filter:
    """Which entries are wanted. Raises InputError for a word or a moment that there is not."""
    if decision is not None and decision not in ("allow", "ask", "deny"):
        raise InputError("--decision is allow, ask or deny")
    if type is not None and type not in ("intent", "outcome", *EVENTS):
        raise InputError("--type: there are no such entries", help=f"intent, outcome, {', '.join(EVENTS)}")
    return Filter(
        type, agent, tool, decision, capsule, moment_option(since, "--since"), moment_option(until, "--until")
    )


def moment_option(text: str | None, name: str) -> str | None:
    """The moment in the form that entries have, to be compared with theirs. Raises InputError."""
    if text is None:
        return None
    found = read_moment(text)
    if found is None:
        help_ = "write 2026-11-15 or 2026-11-15T12:00:00Z"
        raise InputError(f"{name}: `{shown(text)}` is no moment", help=help_)
    return found.removesuffix("Z").split(".")[0] + ".000Z"
