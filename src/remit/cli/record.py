"""`remit record`: a team's own permission record as an agent of a policy, and where the policy differs from it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from remit.analyze.changes import flow
from remit.cli.common import BAD_POLICY, FINE, InputError, open_policy, why
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, out_json, paint
from remit.cli.parameters import Argument, Option
from remit.exchange.agent_record import read_record
from remit.explain.record import differences
from remit.model.text import shown

MOST = 1_000_000


def command(
    file: Annotated[Path, Argument(metavar="FILE", help="A record: YAML with agent_id and tools_allowed.")],
    skill: Annotated[
        list[str] | None, Option("--skill", metavar="NAME", help="A skill that the record only refers to.")
    ] = None,
    compare: Annotated[
        bool, Option("--compare", help="Compare it with the policy; exit with 1 if they differ.")
    ] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Show a team's permission record of an agent as an entry of `agents`, or compare it with the policy.

    Examples: `remit record agents/builder.yaml`, `remit record agents/builder.yaml --compare`
    """
    try:
        with file.open(encoding="utf-8") as opened:
            text = opened.read(MOST + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{shown(file, 300)} can't be read: {why(error)}") from None
    record = read_record(text, file.name, skill)
    if not compare:
        if json:
            out_json({record.name: record.agent})
        else:
            lines = (f"  {key}: {flow(value)}\n" for key, value in record.agent.items())
            out(f"{record.name}:\n{''.join(lines)}")
        return FINE
    found = differences(open_policy(policy, machine=json).rulebook, record.name, record.agent)
    if json:
        out_json({"agent": record.name, "differences": found})
    elif found:
        out("".join(f"{paint('❌', 'red')} {record.name}: {line}\n" for line in found))
    else:
        out(f"{paint('✅', 'green')} {record.name}: the policy says what the record says\n")
    return BAD_POLICY if found else FINE
