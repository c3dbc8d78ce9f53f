"""`remit who-can`: which agents, roles and runners may use a tool, in general or with given arguments."""

from __future__ import annotations

from typing import Annotated

from remit.cli.calls import arguments, as_declared, call_of, facts_of
from remit.cli.common import FINE, open_policy
from remit.cli.options import (
    ArgOption,
    ArgsOption,
    ContextOption,
    FactsOption,
    JsonOption,
    NowOption,
    PolicyOption,
    RootOption,
)
from remit.cli.output import out, out_json
from remit.cli.parameters import Argument
from remit.explain.access import Access, who_can, who_can_call
from remit.explain.matrix import callers_of, tools_of
from remit.model.names import known_name


def command(
    tool: Annotated[str, Argument(metavar="TOOL", help="A tool, as the policy names it.")],
    args: ArgsOption = None,
    arg: ArgOption = None,
    context: ContextOption = None,
    policy: PolicyOption = None,
    root: RootOption = None,
    facts: FactsOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> int:
    """Show who may use a tool. With --args or --arg, decides that call for every caller.

    Examples: `remit who-can Bash`, `remit who-can Bash --arg command='git push'`
    """
    decided = args is not None or bool(arg) or context is not None
    arguments(args, arg)
    loaded = open_policy(policy, machine=json)
    rulebook = loaded.rulebook
    name = known_name(tool, [*tools_of(rulebook), *rulebook.book.aliases], "tool")
    known_facts = facts_of(loaded, root=root, facts=facts, now=now)
    if decided:
        callers = callers_of(rulebook, everyone=True)
        calls = [
            as_declared(rulebook, call_of(caller, name, args=args, arg=arg, context=context), arg) for caller in callers
        ]
        found = who_can_call(rulebook, [(call, known_facts.of(call)) for call in calls])
    else:
        found = who_can(rulebook, name, known_facts.now)
    if json:
        by = "decision" if decided else "policy"
        out_json({"tool": name, "by": by, "policy": rulebook.hash, "callers": [one.as_json() for one in found]})
    else:
        out(_text(name, found, decided))
    return FINE


def _text(tool: str, found: list[Access], decided: bool) -> str:
    able = [one for one in found if one.verdict != "deny"]
    lines = [f"{tool}: {len(able)} of {len(found)} agents, roles and runners"]
    if decided:
        lines[0] += ", decided call by call with these arguments"
    lines.extend(f"  {one.line}" for one in able)
    others = [one for one in found if one.verdict == "deny"]
    if others and decided:
        lines.extend(f"  {one.line}" for one in others)
    elif others:
        lines.append(f"not: {', '.join(one.name for one in others)}")
    return "".join(f"{line}\n" for line in lines)
