"""`remit capsule new`: a person hands a task to an agent."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import msgspec

from remit.cli import stdin
from remit.cli.capsule.task import task_json, task_lines
from remit.cli.common import FINE, InputError
from remit.cli.living import Living, out_data, to_change
from remit.cli.options import AsOption, JsonOption, PolicyOption
from remit.cli.output import complain, out, paint
from remit.cli.parameters import Argument, Option
from remit.compile.tasks import read_task_text
from remit.declare.files import read_text
from remit.declare.nodes import MAX_SIZE, parse
from remit.forms.nodes import Node
from remit.grant.errors import GrantError
from remit.model.errors import PolicyError, Problem
from remit.model.moments import read_moment
from remit.model.people import OPERATOR
from remit.model.task import Task
from remit.model.text import shown

_ABOUT = {
    "unknown-agent": ("agent",),
    "unknown-gate": ("gates",),
    "capsule-exists": ("id",),
    "beyond-record": ("data_tiers",),
    "beyond-parent": ("grants", "data_tiers"),
    "unknown-capsule": ("parent",),
    "capsule-ended": ("parent",),
    "chain-too-long": ("parent",),
    "chain-cycle": ("agent",),
    "delegation-not-allowed": ("agent",),
    "bad-capsule": ("expires", "id"),
}
"""Which key of the file a refusal is about."""


def command(
    file: Annotated[str, Argument(metavar="FILE", help="The task (YAML or JSON); - reads it from stdin.")],
    expires: Annotated[
        str | None, Option("--expires", metavar="MOMENT", help="When it ends, or after how long: 2026-12-01, 8h.")
    ] = None,
    yes: Annotated[bool, Option("--yes", help="Do not ask for confirmation. Never replaces the passphrase.")] = False,
    who_: AsOption = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what it would allow.")] = False,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Give a task to an agent: show what it would allow and how far that reaches, then ask for confirmation.

    Examples: `remit capsule new task.yaml`, `remit capsule new task.yaml --expires 8h --dry-run`
    """
    name = "stdin" if file == "-" else shown(file, 300)
    with to_change(policy) as living:
        rulebook, book = living.rulebook(machine=json)
        try:
            text = _text(file, name)
            task = read_task_text(rulebook, text, name)
            if expires is not None:
                task = _until(living, task, expires)
            try:
                living.authority.check_issue(rulebook, task)
            except GrantError as error:
                raise _placed(error, parse(text, name)) from None
        except PolicyError as error:
            complain(error)
            raise InputError(f"{name}: nothing was issued", code="bad-task") from None
        if not json:
            out("".join(f"{line}\n" for line in task_lines(rulebook, task)))
        if dry_run:
            if json:
                out_data({"state": "dry-run", **task_json(rulebook, task)})
            else:
                out("nothing was issued (--dry-run)\n")
            return FINE
        person = living.person(
            book, f"issue {shown(task.capsule.id)} to {shown(task.capsule.agent)}", may=OPERATOR, who=who_, yes=yes
        )
        task = msgspec.structs.replace(task, by=person.name, issuer="human")
        issued = living.authority.issue(rulebook, task, sign=person.sign)
        if json:
            out_data({"state": "issued", **task_json(rulebook, issued)})
        else:
            out(_done(issued))
    return FINE


def _done(task: Task) -> str:
    capsule = task.capsule
    until = f" until {capsule.expires}" if capsule.expires is not None else ""
    text = f"{paint('✅', 'green')} issued {capsule.id} to {capsule.agent}{until}, by {task.by}\n"
    if capsule.plan:
        text += f"its plan answers nothing yet: `remit gate pass {capsule.id} plan`\n"
    return text


def _text(file: str, name: str) -> str:
    if file != "-":
        return read_text(Path(file), name)

    text = stdin.text("-", MAX_SIZE)
    if len(text.encode()) > MAX_SIZE:
        raise InputError("stdin: too large for a task")
    return text


def _until(living: Living, task: Task, text: str) -> Task:
    """The task with another end than its file says."""
    seconds = {"s": 1, "m": 60, "h": 3600, "d": 86400}
    found = read_moment(text)
    if found is None and re.fullmatch(r"[1-9][0-9]{0,5}[smhd]", text):
        clock = living.authority.clock
        with living.opened.store.read() as view:
            found = clock.after(clock.now(view), int(text[:-1]) * seconds[text[-1]])
    if found is None:
        raise InputError(
            f"--expires: `{shown(text)}` is not a moment", help="write 2026-11-15, 2026-11-15T12:00:00Z, or 8h"
        )
    return msgspec.structs.replace(task, capsule=msgspec.structs.replace(task.capsule, expires=found))


def _placed(error: GrantError, node: Node) -> PolicyError:
    key = next((key for key in _ABOUT.get(error.code, ("budget",)) if key in node.value), None)
    at = node.at_key(key) if key is not None else node.at
    return PolicyError((Problem(error.code, shown(error, 400), at, error.help),))
