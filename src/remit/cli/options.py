"""The options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from remit.cli.parameters import Option

PolicyOption = Annotated[
    Path | None,
    Option("--policy", metavar="FILE", help="The policy; default: the nearest remit.yaml, here or above."),
]
AsOption = Annotated[
    str | None,
    Option("--as", metavar="NAME", help="Who you are, if the policy names people; default: your login name."),
]
JsonOption = Annotated[bool, Option("--json", help="Output for programs.")]
AgentOption = Annotated[str | None, Option("--agent", metavar="NAME", help="The caller: an agent, role or runner.")]
ToolOption = Annotated[str | None, Option("--tool", metavar="NAME", help="The tool that is called.")]
ArgsOption = Annotated[str | None, Option("--args", metavar="JSON", help="The arguments, as a JSON object.")]
ArgOption = Annotated[
    list[str] | None,
    Option(
        "--arg",
        metavar="NAME=VALUE",
        help="One argument, of the type that the tool declares; can be repeated.",
    ),
]
ContextOption = Annotated[
    str | None,
    Option("--context", metavar="JSON", help="What the enforcement point knows: cwd, mode, chain, capsule …"),
]
CallOption = Annotated[
    str | None, Option("--call", metavar="JSON", help="The whole call as JSON, instead of its parts.")
]
RootOption = Annotated[
    Path | None,
    Option("--root", metavar="DIR", help="The directory that paths are relative to; default: the policy's."),
]
FactsOption = Annotated[
    Path | None,
    Option("--facts", metavar="FILE", help="Facts (YAML or JSON): capsules, grants, halts …"),
]
NowOption = Annotated[str | None, Option("--now", metavar="MOMENT", help="The time to decide for; default: now.")]


class FailOn(StrEnum):
    """Which decisions make the exit code 3."""

    deny = "deny"
    ask = "ask"


class Format(StrEnum):
    """How the matrix is printed."""

    table = "table"
    md = "md"
    html = "html"
    json = "json"
    csv = "csv"
