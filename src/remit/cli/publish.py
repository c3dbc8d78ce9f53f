"""`remit publish`: writes the tools that a program's functions declare beside the policy, where people see them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from remit.cli.common import BAD_POLICY, FINE, say_policy
from remit.cli.options import JsonOption
from remit.cli.output import out, out_json, paint
from remit.cli.parameters import Argument, Option
from remit.enforce.declarations import Publication, find_guard
from remit.model.text import shown


def command(
    programs: Annotated[
        list[str], Argument(metavar="PROGRAM:GUARD", help="The program's guard: app.py:guard or package.module:guard.")
    ],
    check: Annotated[
        bool, Option("--check", help="Write nothing; exit with 1 if the file differs from the program.")
    ] = False,
    policy: Annotated[
        Path | None, Option("--policy", metavar="FILE", help="The policy; default: the one that the guard names.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Write the tools that a Python program declares to a file beside the policy; this imports and runs the program.

    They go to remit.tools.yaml, which belongs to the policy: `remit activate` puts it in force. Name all programs that
    share the policy in one command. A guard whose functions differ from the file does not start.

    Examples: `remit publish app.py:guard`, `remit publish app.py:guard --check`
    """
    guards = {program: find_guard(program) for program in dict.fromkeys(programs)}
    found = Publication.of(guards, policy)
    say_policy(found.path, machine=json)
    if not check and not found.same:
        found.write()
    state = "same" if found.same else "differs" if check else "written"
    if json:
        out_json({"state": state, "file": shown(found.path, 4096), "difference": found.difference})
    else:
        out("".join(f"{shown(line, 1000)}\n" for line in found.difference))
        out(_words(state, found, programs))
    return BAD_POLICY if state == "differs" else FINE


def _words(state: str, found: Publication, programs: list[str]) -> str:
    name = shown(found.path.name)
    if state == "same":
        return f"{paint('✅', 'green')} {name} is what the functions declare\n"
    if state == "written":
        return f"{paint('✅', 'green')} {name} written; in an activated project, `remit activate` puts it in force\n"
    command = f"remit publish {' '.join(programs)}"
    return f"{paint('❌', 'red')} {name} is not what the functions declare: run `{shown(command, 600)}`\n"
