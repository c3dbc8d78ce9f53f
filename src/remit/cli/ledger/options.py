"""The options that the ledger's commands share, and how they find the ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from remit.cli.common import InputError, find_policy
from remit.cli.parameters import Option
from remit.enforce.in_force import ledger_settings
from remit.model.moments import read_moment
from remit.model.text import shown
from remit.record.copied import CopiedLog, must_be_copied
from remit.record.entry import EVENTS
from remit.record.open import OpenLog, no_settings, open_log
from remit.record.reader import FOREIGN, UNREADABLE, Filter
from remit.store.open import store_url
from remit.store.place import known_state

NOT_VERIFIED = 1

StateOption = Annotated[
    Path | None,
    Option("--state", metavar="DIR", help="The state directory; default: that of the policy's project."),
]
TypeOption = Annotated[str | None, Option("--type", metavar="TYPE", help="intent, outcome, activation, halt …")]
DecisionOption = Annotated[str | None, Option("--decision", metavar="WORD", help="allow, ask or deny.")]
CapsuleOption = Annotated[str | None, Option("--capsule", metavar="ID", help="The task.")]
DataTierOption = Annotated[
    list[str] | None,
    Option("--data-tier", metavar="N", help="Calls that touched data of this tier: 0 to 3, unknown. Can be repeated."),
]
SinceOption = Annotated[str | None, Option("--since", metavar="MOMENT", help="Only entries from this time on.")]
UntilOption = Annotated[str | None, Option("--until", metavar="MOMENT", help="Only entries before this time.")]


def find_ledger(policy: Path | None, state: Path | None) -> OpenLog:
    """The ledger of `--state`, or of the project of the policy. Raises RemitError."""
    if state is not None:
        if not state.is_dir():
            raise InputError(f"--state: no such directory `{shown(state, 300)}`")
        known = ledger_settings(policy.absolute().parent) if policy is not None else no_settings
        return open_log(None, state=state.resolve(), settings=known)
    root = find_policy(policy).absolute().parent
    return open_log(root, settings=ledger_settings(root))


def ledger_to_look(policy: Path | None, state: Path | None) -> OpenLog:
    """The same for commands that only read: it may be a read-only copy, or another user's. Raises RemitError."""
    root = policy.absolute().parent if policy is not None else None
    if state is None and root is None:
        root = find_policy(policy).absolute().parent
    place = state.resolve() if state is not None else known_state(root) if root is not None else None
    if place is not None and store_url() is None and must_be_copied(place):
        return CopiedLog(place, ledger_settings(root) if root is not None else no_settings)
    return find_ledger(policy, state)


def ledger_to_change(policy: Path | None, state: Path | None) -> OpenLog:
    """The same for commands that write to it: it must not be stopped, cut or forked. Raises RemitError."""
    opened = find_ledger(policy, state)
    try:
        opened.admit("remit")
    except BaseException:
        opened.close()
        raise
    return opened


def filter_of(
    *,
    type: str | None = None,
    agent: str | None = None,
    tool: str | None = None,
    decision: str | None = None,
    capsule: str | None = None,
    since: str | None = None,
    until: str | None = None,
    data_tier: list[str] | None = None,
) -> Filter:
    """Which entries are wanted. Raises InputError for a word or a moment that there is not."""
    if decision is not None and decision not in ("allow", "ask", "deny"):
        raise InputError("--decision is allow, ask or deny")
    if type is not None and type not in ("intent", "outcome", *EVENTS, UNREADABLE, FOREIGN):
        raise InputError("--type: there are no such entries", help=f"intent, outcome, {', '.join(EVENTS)}")
    for tier in data_tier or ():
        if tier not in _DATA_TIERS:
            raise InputError(f"--data-tier is one of {', '.join(_DATA_TIERS)}, not `{shown(tier)}`")
    tiers = frozenset(_DATA_TIERS[tier] for tier in data_tier) if data_tier else None
    first, last = moment_option(since, "--since"), moment_option(until, "--until")
    return Filter(type, agent, tool, decision, capsule, first, last, tiers)


_DATA_TIERS: dict[str, int | str] = {"0": 0, "1": 1, "2": 2, "3": 3, "unknown": "unknown"}


def moment_option(text: str | None, name: str) -> str | None:
    """The moment in the form that entries have, to be compared with theirs. Raises InputError."""
    if text is None:
        return None
    found = read_moment(text)
    if found is None:
        help_ = "write 2026-11-15 or 2026-11-15T12:00:00Z"
        raise InputError(f"{name}: `{shown(text)}` is not a moment", help=help_)
    return found.removesuffix("Z").split(".")[0] + ".000Z"
