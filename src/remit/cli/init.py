"""`remit init`: a first policy, from what is there."""

from __future__ import annotations

import datetime
import re
from pathlib import Path
from typing import Annotated

import msgspec

from remit import catalog
from remit.cli import stdin
from remit.cli.common import FINE, InputError, why
from remit.cli.options import JsonOption
from remit.cli.output import out, out_json, paint
from remit.cli.parameters import Argument, Option
from remit.compile import build_rulebook
from remit.declare.nodes import parse
from remit.draft.from_python import draft_from_python
from remit.draft.from_survey import draft_from
from remit.draft.from_tools import Served, ToolListError, draft_from_tools, served_tools
from remit.draft.history import committed
from remit.draft.model import Draft
from remit.draft.teams import about, draft_for, teams
from remit.explain.visible import bounded
from remit.forms.texts import plain
from remit.model.errors import PolicyError, RemitError
from remit.model.names import known_name
from remit.model.rulebook import Rulebook
from remit.model.text import counted
from remit.scan.survey import scan
from remit.service.project_commands import denied_commands, project_commands
from remit.store.files import write_whole

POLICY, TESTS = "remit.yaml", "remit.test.yaml"
_SHOWN = 12
_MODE = 0o644


def command(
    path: Annotated[Path, Argument(metavar="[PATH]", help="The project that the policy is for.")] = Path(),
    team: Annotated[
        str | None, Option("--team", metavar="KIND", help="Start from a kind of team: coding, data, ops, support.")
    ] = None,
    tools: Annotated[
        Path | None,
        Option(
            "--tools", metavar="FILE", help="Start from an MCP server's answer to tools/list, as JSON; - for stdin."
        ),
    ] = None,
    server: Annotated[
        str, Option("--server", metavar="NAME", help="With --tools: what the host calls the server.")
    ] = "server",
    host: Annotated[
        str | None,
        Option("--host", metavar="HOST", help="Write the policy in the tools of this host, whatever the sources name."),
    ] = None,
    python: Annotated[
        Path | None,
        Option("--python", metavar="FILE", help="Start from the tools and agents of a Python program; never runs it."),
    ] = None,
    output: Annotated[
        Path | None, Option("--output", metavar="FILE", help="Where to write the policy, if not remit.yaml.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Write a first remit.yaml from the repository's own definitions and documents, never wider than they are.

    Each line names its source, and a list says what a person must decide. Nothing is put in force.

    Examples: `remit init`, `remit init --team coding`, `remit init --python src`, `remit init --tools tools.json`
    """
    if sum(given is not None for given in (team, tools, python)) > 1:
        raise InputError("--team, --tools and --python: one of them")
    if host is not None and (team or tools or python):
        raise InputError("--host is for a draft from the repository's own definitions and documents")
    if not path.is_dir():
        raise InputError(f"`{bounded(str(path), 200)}`: no such folder")
    target = output if output is not None else path / POLICY
    tests = target.with_name(f"{target.stem}.test.yaml")
    for file in (target, tests):
        if file.exists() or file.is_symlink():
            raise InputError(f"`{bounded(str(file), 200)}` exists already; --output FILE writes elsewhere")
    draft = draft_from_python(python) if python is not None else _draft(path, team, tools, server, host)
    rulebook = _check(draft)
    if team is None and tools is None and python is None:
        denied = tuple(denied_commands(rulebook, project_commands(path)))
        draft = msgspec.structs.replace(draft, decisions=(*denied, *draft.decisions))
    _write(target, draft.policy)
    if draft.tests:
        _write(tests, draft.tests.replace(POLICY, target.name))
    if json:
        wrote = {"policy": str(target), "tests": str(tests) if draft.tests else None}
        out_json({**wrote, "decide": draft.decisions, "details": draft.details})
        return FINE
    runs = next(iter(rulebook.book.hosts), None)
    after = GUARD if python is not None else HOST.format(runs) if runs is not None else PROGRAM
    out("".join(f"{line}\n" for line in _lines(draft, target, tests, after)))
    return FINE


def _draft(path: Path, team: str | None, tools: Path | None, server: str, host: str | None) -> Draft:
    if team is not None:
        return draft_for(team)
    served: list[Served] = []
    decisions: list[str] = []
    if tools is not None:
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,60}", server):
            raise InputError("--server: letters, digits, `_` and `-`")
        try:
            text = stdin.text("--tools -") if str(tools) == "-" else tools.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"--tools: can't read `{bounded(str(tools), 200)}`: {why(error)}") from None
        try:
            served, decisions = served_tools(text, server)
        except ToolListError as error:
            help_ = "save a server's answer to tools/list, or its list of tools, as JSON"
            raise InputError(f"--tools {bounded(str(tools), 200)}: {error}", help=help_) from None
    pack = known_name(host, catalog.hosts(), "host") if host else None
    survey = scan(str(path), today=datetime.date.today())
    draft = draft_from(survey, committed(str(path)), pack, served)
    if served and (draft is None or not any(f"{one.name}" in draft.policy for one in served)):
        return draft_from_tools(served, decisions, server)  # no agent here uses the server
    if draft is not None and draft.agents:
        return msgspec.structs.replace(draft, decisions=(*decisions, *draft.decisions))
    return draft if draft is not None else draft_for(_asked())


def _asked() -> str:
    """The kind of team that a person chooses, where one sits at a terminal. Raises InputError."""
    if not stdin.person_there():
        raise InputError(
            "no agents found here; start from the session of a host: --host HOST, from a Python program: --python FILE,"
            f" or from a kind of team: --team {'|'.join(teams())}"
        )
    names = teams()
    out("No agents are defined here. Which kind of team is it?\n")
    out("".join(f"  {number}. {name}: {about(name)}\n" for number, name in enumerate(names, 1)))
    for _ in range(3):
        out("> ")
        line = stdin.answer()
        word = line.strip().lower()
        if not line:
            break
        if word.isdigit() and 1 <= int(word) <= len(names):
            return names[int(word) - 1]
        if word in names:
            return word
        out(f"a number from 1 to {len(names)}, or a name\n")
    raise InputError("no kind of team was chosen; nothing was written")


def _write(path: Path, text: str) -> None:
    try:
        write_whole(path, text.encode(), mode=_MODE)
    except OSError as error:
        raise InputError(f"can't write `{bounded(str(path), 200)}`: {error.strerror or error}") from None


def _check(draft: Draft) -> Rulebook:
    """The draft loads. What does not is a fault of ours, and nothing is written."""
    try:
        return build_rulebook(plain(parse(draft.policy, POLICY)))
    except PolicyError as error:
        raise RemitError(
            f"the draft does not load, so nothing was written; please report this: {error}", code="bad-draft"
        ) from error


HOST = "Next: read it, `remit check`, then `remit activate` and `remit install {}`."
PROGRAM = (
    "Next: read it, `remit check`, then `remit activate` and `remit install HOST`; in a program of your own, use Guard."
)
GUARD = 'Next: read it, `remit check`, then put `@guard.tool()` on each function, with guard = Guard("remit.yaml").'


def _lines(draft: Draft, target: Path, tests: Path, after: str) -> list[str]:
    wrote = f"{bounded(str(target), 200)}" + (f" and {bounded(str(tests), 200)}" if draft.tests else "")
    lines = [f"{paint('✅', 'green')} wrote {wrote}: {counted(draft.agents, 'agent')}"]
    if draft.decisions:
        lines += ["", "For you to decide:"]
        lines += [f"  · {bounded(text, 300)}" for text in draft.decisions[:_SHOWN]]
        if len(draft.decisions) > _SHOWN:
            lines.append(paint(f"  … and {len(draft.decisions) - _SHOWN} more (--json lists all)", "dim"))
    return [*lines, "", after]
