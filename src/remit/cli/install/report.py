"""What an installation tells people beside the diff: what the policy doesn't know, and what was left alone."""

from __future__ import annotations

from remit.cli.install.main_agent import Main
from remit.cli.install.plan import Plan
from remit.cli.output import paint
from remit.exchange.claude import agents
from remit.model.rulebook import Rulebook
from remit.model.text import shown


def found_text(rulebook: Rulebook, plan: Plan, who: Main) -> str:
    """For people; empty if there is nothing to say."""
    strangers = agents.unknown_agents(rulebook, plan.survey.agents)
    tools = agents.unknown_tools(rulebook, plan.survey.servers)
    absent = agents.undefined_agents(rulebook, plan.survey.agents, who.name)
    lines = _section("agents of the host that the policy does not know (their calls are denied)", strangers)
    lines += _paste(agents.lines_for_agents(strangers))
    lines += _section("tools of the host that the policy does not know (they are denied)", tools)
    lines += _paste(agents.lines_for_tools(tools))
    lines += _section("agents of the policy that the host has no definition of", absent)
    lines += [paint(f"note: {shown(text, 600)}", "yellow") for text in plan.warnings]
    return "".join(f"{line}\n" for line in lines)


def _section(title: str, names: list[str]) -> list[str]:
    return [f"{title}: {shown(', '.join(names), 2000)}"] if names else []


def _paste(lines: list[str]) -> list[str]:
    return ["  to let the policy decide about them, add to it:", *(f"    {line}" for line in lines)] if lines else []
