"""Which files a past call changed, as far as its text tells."""

from __future__ import annotations

from typing import Literal

import msgspec

from remit.enforce.attempt import foreseen
from remit.model.call import Call, Context
from remit.model.facts import Facts
from remit.model.profile import HELD
from remit.model.rulebook import Rulebook
from remit.model.terms import UNDERSTOOD
from remit.record.past import PastCall
from remit.scopes.glob import Glob

CHANGES = frozenset(("write", "delete"))
_ANYTHING = frozenset(("write", "delete", "execute", "install", "migrate", "deploy", "system"))


class Touched(msgspec.Struct, frozen=True):
    """A file, or a pattern of files, that a call wrote or deleted."""

    path: str
    effect: Literal["write", "delete"]
    wide: bool = False


class Changes(msgspec.Struct, frozen=True):
    """What one call changed."""

    files: tuple[Touched, ...]
    anything: bool
    """It may have changed other files as well: it ran code of the project, or its text doesn't tell which."""


def changes_of(rulebook: Rulebook, past: PastCall, root: str) -> Changes:
    """What a call that ran changed, as the rulebook's tools say. Never raises: what can't be told is `anything`."""
    context = past.call.context
    plain = Context(cwd=context.cwd, mode=context.mode, environment=context.environment)
    call = Call(past.call.agent, past.call.tool, past.call.args, plain)
    facts = Facts(now=past.at.split(".")[0] + "Z", root=root, confined=HELD)
    decision = foreseen(rulebook, call, facts).for_call(call.args)
    files, everywhere = dict[Touched, None](), False
    for target in decision.targets:
        if target.kind == "path" and target.effect in CHANGES:
            everywhere = everywhere or (target.wide and target.value in ("**", "/**", ""))
            files[Touched(target.value, target.effect, target.wide)] = None  # type: ignore[arg-type]  # one of CHANGES
    told = past.complete and decision.grade == UNDERSTOOD and past.grade == UNDERSTOOD and not everywhere
    changed = CHANGES.intersection(past.effects)
    untold = (changed and not files) or (not told and _ANYTHING.intersection(past.effects))
    return Changes(tuple(one for one in files if one.path not in ("**", "/**", "")), bool(untold or everywhere))


def explains(touched: Touched, path: str) -> bool:
    """Whether this is that file, or a pattern that it matches."""
    if not touched.wide:
        return touched.path == path
    try:
        return Glob.parse(touched.path, absolute=touched.path.startswith("/")).includes(Glob.literal(path))
    except ValueError:
        return False
