"""The facts for calls that are decided one after another under one policy: the root, given facts, and the clock.

known = CallFacts(rulebook, Path("remit.yaml"), given=Facts())
decision = decide(rulebook, call, known.of(call))
"""

from __future__ import annotations

import time
from pathlib import Path

import msgspec

from remit.enforce.paths import look_up, open_root
from remit.model.call import Call
from remit.model.errors import InputError
from remit.model.facts import Facts
from remit.model.moments import moment
from remit.model.rulebook import Rulebook


class CallFacts:
    """What stays the same for all calls, and what is looked up for each: where its paths lead, and the moment."""

    def __init__(
        self, rulebook: Rulebook, policy: Path, *, given: Facts, root: Path | None = None, now: str | None = None
    ) -> None:
        """A moment or root that is passed here counts for more than those given. Raises InputError for the root."""
        self.rulebook = rulebook
        fixed = now if now is not None else given.now
        self._ticking = fixed is None
        self._resolving = root is not None or given.resolved is None
        if self._resolving:
            given = _rooted(rulebook, policy, given, root)
        self._facts = given if fixed is None else msgspec.structs.replace(given, now=fixed)

    @property
    def now(self) -> str:
        """The moment that counts."""
        return self._facts.now if self._facts.now is not None else moment(time.time())

    def of(self, call: Call) -> Facts:
        """The facts of one call."""
        facts = look_up(self.rulebook, call, self._facts) if self._resolving else self._facts
        return msgspec.structs.replace(facts, now=self.now) if self._ticking else facts


def _rooted(rulebook: Rulebook, policy: Path, facts: Facts, root: Path | None) -> Facts:
    chosen = root if root is not None else Path(facts.root) if facts.root is not None else None
    try:
        return open_root(chosen, policy, facts, policy_root=rulebook.book.root)[1]
    except (OSError, ValueError) as error:
        raise InputError(f"the root can't be used: {getattr(error, 'strerror', None) or error}") from None
