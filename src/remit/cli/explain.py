"""`remit explain`: why a call is decided as it is, step by step, with the line of the policy."""

from __future__ import annotations

from remit.cli.calls import as_declared, call_of, facts_of, in_its_task
from remit.cli.common import FINE, open_policy
from remit.cli.options import (
    AgentOption,
    ArgOption,
    ArgsOption,
    CallOption,
    ContextOption,
    FactsOption,
    JsonOption,
    NowOption,
    PolicyOption,
    RootOption,
    ToolOption,
)
from remit.cli.output import out, out_json, paint
from remit.cli.quote import quote
from remit.decide import decide
from remit.explain.why import explained, explanation, places
from remit.model.facts import Facts


def command(
    agent: AgentOption = None,
    tool: ToolOption = None,
    args: ArgsOption = None,
    arg: ArgOption = None,
    context: ContextOption = None,
    call: CallOption = None,
    policy: PolicyOption = None,
    root: RootOption = None,
    facts: FactsOption = None,
    now: NowOption = None,
    json: JsonOption = False,
) -> int:
    """Explain a decision: the steps, the rule, the tier, and what would make the call pass.

    Examples: `remit explain --agent builder --tool Bash --arg command='git push'`,
    `remit explain --agent builder --tool Write --arg file_path=src/a.py --arg content=x`
    """
    one = call_of(agent, tool, args=args, arg=arg, context=context, call=call)
    loaded = open_policy(policy, machine=json)
    one = as_declared(loaded.rulebook, one, arg)
    task: Facts | None = None
    if facts is None:
        one, task = in_its_task(loaded, one)
    known = facts_of(loaded, root=root, facts=facts, now=now, known=task).of(one)
    decision = decide(loaded.rulebook, one, known)
    quotes = {place: quote(loaded.path, place) for place in places(loaded.rulebook, one, decision)}
    if json:
        out_json(explained(loaded.rulebook, one, known, decision, quotes))
        return FINE
    first, _, rest = explanation(loaded.rulebook, one, known, decision, quotes).partition("\n")
    out(f"{paint(first, decision.verdict.word)}\n{rest}")
    return FINE
