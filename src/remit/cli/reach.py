"""`remit reach`: what an agent can cause through those it hands work to."""

from __future__ import annotations

from typing import Annotated

from remit.cli.common import FINE, clock, moment_of, open_policy
from remit.cli.living import out_data
from remit.cli.options import JsonOption, NowOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument
from remit.explain.reach import Added, Reach, Through, reach_of
from remit.explain.visible import bounded
from remit.model.names import known_name
from remit.model.text import counted


def command(
    agent: Annotated[str, Argument(metavar="AGENT", help="The agent that hands work on.")],
    policy: PolicyOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> int:
    """Show what an agent can cause by delegating: whom its work can reach, and what that adds to its own rights.

    Example: `remit reach lead`
    """
    opened = open_policy(policy, machine=json)
    name = known_name(agent, list(opened.rulebook.book.callers), "agent")
    found = reach_of(opened.rulebook, name, moment_of(now) if now is not None else clock())
    if json:
        out_data(found)
    else:
        out("".join(f"{line}\n" for line in _lines(found)))
    return FINE


def _lines(found: Reach) -> list[str]:
    own = f"{found.agent}: {_amount(len(found.own_tools), 'tool')} of its own"
    lines = [paint(own, "bold") + f", effects {_list(found.own_effects)}, {_tiers(found.own_tier, found.own_most)}"]
    if not found.through:
        return [*lines, "it can hand work to nobody"]
    if not found.complete:
        lines.append("there are too many ways to look at each: this is more than can happen")
    for one in found.through:
        lines += ["", *_through(one)]
    return lines


def _through(one: Through) -> list[str]:
    head = f"{one.name} ({one.kind})"
    lines = [paint(head, "bold") + f", over {' → '.join(one.ways[0].chain)}"]
    for way in one.ways:
        if way.bound:
            lines.append(f"  bound by {', '.join(way.bound)}: only what they may do too")
    lines += [f"  also over {' → '.join(way.chain)}" for way in one.ways[1:]]
    if not one.adds:
        return [*lines, "  adds nothing"]
    effects = f"; effects it brings: {', '.join(one.effects)}" if one.effects else ""
    lines.append(f"  adds {_amount(len(one.adds), 'tool')}, {_tiers(one.tier, one.most)}{effects}")
    for added in one.adds:
        scopes = f": {bounded('; '.join(added.scopes), 400)}" if added.scopes else ""
        lines.append(f"  {added.symbol} {added.tool} ({_which(added)}){scopes}")
        about = "" if added.bounded else ", as examples show"
        more = f"; up to tier {added.most} for {bounded(added.most_why, 200)}" if added.most_why else ""
        lines.append(f"     {_list(added.effects)}; tier {added.tier}{about}: {bounded(added.tier_why, 200)}{more}")
    return lines


def _tiers(usual: int, most: int) -> str:
    return f"tier {usual}, up to {most}" if most > usual else f"up to tier {usual}"


def _which(added: Added) -> str:
    return "new" if added.why == "new" else "within other limits"


def _list(words: tuple[str, ...]) -> str:
    return ", ".join(words) or "none"


def _amount(number: int, word: str) -> str:
    return counted(number, word)
