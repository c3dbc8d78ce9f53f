"""`remit profile`: what an agent's commands may touch when they run confined."""

from __future__ import annotations

from typing import Annotated

from remit.cli.common import FINE, open_policy
from remit.cli.living import out_data
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument
from remit.explain.profile import in_words, profiles
from remit.model.names import known_name

_MODES = {
    "required": "runs confined, or not at all",
    "preferred": "runs confined where that is possible",
    "off": "does not run confined (`confine: off`); if it did",
}


def command(
    agent: Annotated[str, Argument(metavar="AGENT", help="An agent that runs commands.")],
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Show what an agent's commands may write, read and reach when they run confined, by its rules alone.

    Example: `remit profile builder`
    """
    opened = open_policy(policy, machine=json)
    name = known_name(agent, list(opened.rulebook.book.callers), "agent")
    found = profiles(opened.rulebook, name)
    if json:
        out_data({tool: {"confine": mode, "profile": one, "digest": one.digest} for tool, (mode, one) in found.items()})
        return FINE
    if not found:
        out(f"{name} may use no tool that runs commands\n")
    for tool, (mode, one) in found.items():
        lines = [paint(f"{name}, {tool}", "bold") + f": {_MODES[mode]}", *(f"  {line}" for line in in_words(one)), ""]
        out("".join(f"{line}\n" for line in lines))
    return FINE
