"""`remit tools`: the tools that an agent can see, with their arguments and limits, for people and for any program."""

from __future__ import annotations

from typing import Annotated, Any

from remit.cli.common import FINE, clock, moment_of, open_policy
from remit.cli.options import JsonOption, NowOption, PolicyOption
from remit.cli.output import out, out_json, paint
from remit.cli.parameters import Option
from remit.explain.access import MOST
from remit.explain.cells import MatrixCell
from remit.explain.matrix import cell_for, tool_for, tools_of
from remit.explain.visible import bounded
from remit.model.names import known_name
from remit.model.policy import Argument, Tool


def command(
    agent: Annotated[str, Option("--agent", metavar="NAME", help="Whose tools.")],
    policy: PolicyOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> int:
    """Show the tools that an agent can see, with their arguments and limits.

    It sees a tool if some call could be allowed, with or without a question.

    Example: `remit tools --agent builder`
    """
    opened = open_policy(policy, machine=json)
    rulebook = opened.rulebook
    name = known_name(agent, list(rulebook.book.callers), "agent")
    when = moment_of(now) if now is not None else clock()
    found = []
    for tool in tools_of(rulebook):
        declared, cell = tool_for(rulebook, name, tool), cell_for(rulebook, name, tool, when)
        if declared is not None and cell.verdict != "deny":
            found.append((declared, cell))
    if json:
        out_json({"agent": name, "tools": [_data(*one) for one in found]})
    else:
        out("".join(f"{line}\n" for one in found for line in _lines(*one)) or f"{name} can see no tool\n")
    return FINE


def _data(tool: Tool, cell: MatrixCell) -> dict[str, Any]:
    return {
        "name": tool.name,
        "verdict": cell.verdict,
        "limits": list(cell.everything),
        "tier": tool.tier,
        "effects": sorted({does.effect for does in tool.does}),
        "args": {name: _argument(argument) for name, argument in tool.args.items()},
    }


def _argument(argument: Argument) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": argument.kind, "optional": argument.optional}
    return found | ({"one_of": list(argument.one_of)} if argument.one_of else {})


def _lines(tool: Tool, cell: MatrixCell) -> list[str]:
    args = ", ".join(f"{name}{'?' if argument.optional else ''}" for name, argument in tool.args.items())
    limits = "; ".join(cell.everything)
    return [
        f"{cell.symbol} " + paint(tool.name, "bold") + f"({bounded(args, 200)})",
        *([f"    {bounded(limits, MOST)}"] if limits else []),
    ]
