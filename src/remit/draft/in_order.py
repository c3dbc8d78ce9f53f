"""Settings for every agent and an agent's own answers, where the host lets the last one count.

over(settings, own)   # what an agent's own answers leave of those for every agent
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from remit.draft.equivalents import counts_last, stands_for
from remit.scan.answers import ASK, settled
from remit.scan.model import Account


def over(settings: Account, own: Sequence[Account]) -> list[Account]:
    """What settings for every agent still say of one whose own answers come after them: once for each place that
    defines it, since what one of them leaves holds for all."""
    mine = [account for account in own if account.host == settings.host]
    return [_over(settings, account) for account in mine] if counts_last(settings.host) and mine else [settings]


def _over(settings: Account, own: Account) -> Account:
    answers = own.entries
    whole = {name for one in answers if one.scope in (None, ASK) for name in stands_for(one.tool, settings.host)}
    left = [one for one in settings.entries if not set(stands_for(one.tool, settings.host)) <= whole]
    return msgspec.structs.replace(settings, entries=tuple(settled((*left, *answers))))
