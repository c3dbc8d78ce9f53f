"""`remit approvals show`: everything there is to see of one call before somebody answers for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from remit.cli.approvals.difference import Difference, differences, lines_of
from remit.cli.approvals.inbox import as_json, head_lines
from remit.cli.common import FINE
from remit.cli.living import Living, must_look, out_data, to_look
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import out, paint
from remit.cli.parameters import Argument, Option
from remit.compile.load import load_file
from remit.enforce.in_force import read_in_force
from remit.explain.matrix import tool_for
from remit.explain.understanding import understanding_of
from remit.explain.visible import BAR, MOST_ITEMS, bounded, hidden_in, hints, marked, shown_value
from remit.grant.asks import AskState
from remit.model.errors import RemitError
from remit.model.policy import Tool
from remit.model.rulebook import Rulebook
from remit.record.errors import LedgerError

AskArgument = Annotated[str, Argument(metavar="ID", help="Such as A-17.")]
FullOption = Annotated[bool, Option("--full", help="Show long values in full.")]
_READ = ("shell", "sql")
_STATEMENT = ("intent", "because", "consequences", "anticipated")


def command(name: AskArgument, full: FullOption = False, policy: PolicyOption = None, json: JsonOption = False) -> int:
    """Show one waiting call: all arguments, with hidden characters marked, and what its texts would do.

    Example: `remit approvals show A-17`
    """
    with to_look(policy) as found:
        living = must_look(found, "approval", name)
        asked = living.authority.asked(name)
        if json:
            out_data(seen_json(living, asked))
        else:
            out(seen(living, asked, full=full))
    return FINE


def seen_json(living: Living, asked: AskState) -> dict[str, Any]:
    """All of it for programs; `sealed` is null once it was answered."""
    sealed = _sealed(living, asked)
    more: dict[str, Any] = {"sealed": sealed}
    if sealed is not None:
        rulebook = _rulebook(living)
        tool = tool_for(rulebook, asked.ask.agent, asked.ask.tool) if rulebook is not None else None
        more["differences"] = _differences(living, tool, sealed)
        more["understood"] = list(_readings(rulebook, tool, sealed.get("args")))
    return {**as_json(asked, living.authority.clock.now()), **more}


def seen(living: Living, asked: AskState, *, full: bool) -> str:
    """What a person is shown, the same before and with the answer."""
    sealed = _sealed(living, asked)
    lines = call_lines(asked, living.authority.clock.now(), sealed, full=full)
    if sealed is not None:
        rulebook = _rulebook(living)
        tool = tool_for(rulebook, asked.ask.agent, asked.ask.tool) if rulebook is not None else None
        lines += lines_of(_differences(living, tool, sealed), full=full)
        lines += _understood(rulebook, tool, sealed.get("args"))
        lines.append(f"  bound to {asked.digest}")
    return "".join(f"{line}\n" for line in lines)


def call_lines(asked: AskState, now: str, sealed: dict[str, Any] | None, *, full: bool) -> list[str]:
    """The call itself, as far as it is known without the project."""
    ask = asked.ask
    lines = [*head_lines(asked, now)]
    session = f"session {marked(ask.session)}" if ask.session is not None else "no session"
    lines.append(f"  effects {', '.join(ask.effects) or 'none'}; at {marked(ask.point)}, {session}")
    lines += _list("targets", list(ask.targets), full=full)
    said = (sealed or {}).get("statement") or ask.statement or {}
    for word in _STATEMENT:
        if isinstance(said, dict) and said.get(word) not in (None, ""):
            lines += [f"  {line}" for line in shown_value(f"its {word}", said[word], full=full)]
    if not said:
        lines.append("  it made no statement")
    if sealed is None:
        lines.append("  the arguments were discarded after the answer; the ledger has what may be kept of them")
        return lines
    if sealed.get("cwd") is not None:
        lines += ["  working directory", f"    {BAR}{marked(str(sealed['cwd']))}"]
    args = sealed.get("args")
    lines += [f"  {line}" for line in shown_value("arguments", args, full=full)]
    lines += _warnings({"tool": ask.tool, "arguments": args, "statement": said, "targets": list(ask.targets)})
    return lines


def _sealed(living: Living, asked: AskState) -> dict[str, Any] | None:
    """Arguments, statement and working directory; None once nobody needs them any more."""
    try:
        return living.authority.arguments(asked.id)
    except LedgerError as error:
        if error.code != "not-sealed":
            raise
        return None


def _rulebook(living: Living) -> Rulebook | None:
    """For the kinds of arguments, and labels and tiers; without one there is less to say, and nothing to hide."""
    try:
        return read_in_force(living.root, living.opened.store).rulebook or load_file(living.path)
    except RemitError:
        return None


def _list(name: str, items: list[str], *, full: bool) -> list[str]:
    kept = items if full else items[:MOST_ITEMS]
    lines = [f"    {bounded(item, 5_000)}" for item in kept]
    if len(kept) < len(items):
        lines.append(f"    [{len(items) - len(kept)} more are hidden; --full shows them]")
    return [f"  {name}", *lines] if lines else []


def _warnings(value: Any) -> list[str]:
    """What is hidden in any text of the call, or looks like something else."""
    found: dict[str, None] = {}
    for text in _texts(value):
        found.update(dict.fromkeys(f"hidden character: {one}" for one in hidden_in(text)))
        found.update(dict.fromkeys(hints(text)))
    return [f"  {paint('look again', 'red')}: {one}" for one in found]


def _texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys too, however deep it is."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            waiting += [*one.keys(), *one.values()]
        elif isinstance(one, list):
            waiting += one


def _differences(living: Living, tool: Tool | None, sealed: dict[str, Any]) -> list[Difference]:
    """What the call would change in files, as they are now."""
    cwd = sealed.get("cwd")
    return differences(tool, sealed.get("args"), living.root, str(cwd) if cwd else None) if tool is not None else []


def _understood(rulebook: Rulebook | None, tool: Tool | None, args: Any) -> list[str]:
    """What shell and SQL texts among the arguments do, and how far they reach."""
    if rulebook is None or tool is None:
        return ["  the policy does not declare this tool, so its arguments are not known here"]
    lines: list[str] = []
    for reading in _readings(rulebook, tool, args):
        lines.append(f"  what {bounded(reading['arg'], 100)} does, as {reading['kind']} reads it:")
        lines += [f"    {line}" for line in reading["lines"]]
    return lines


def _readings(rulebook: Rulebook | None, tool: Tool | None, args: Any) -> Iterator[dict[str, Any]]:
    """By argument, what `remit understand` says about it, its blast radius last."""
    if rulebook is None or tool is None:
        return
    for name, argument in tool.args.items():
        if argument.kind in _READ:
            for text in _values(name, args):
                found = understanding_of(rulebook, argument.kind, text, tool.dialect or "sqlite").lines
                yield {"arg": name, "kind": argument.kind, "lines": found}


def _values(name: str, args: Any) -> list[str]:
    """The texts of a declared argument: `command`, `steps[].command`."""
    found = [args]
    for part in name.split("."):
        key, many = part.removesuffix("[]"), part.endswith("[]")
        found = [one[key] for one in found if isinstance(one, dict) and key in one]
        if many:
            found = [item for one in found if isinstance(one, list) for item in one]
    return [one for one in found if isinstance(one, str)]
