"""`remit replay`: what the policy file would change for calls that the ledger has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from remit.cli.common import FINE, InputError, say_policy
from remit.cli.living import find_project, out_data, to_look
from remit.cli.options import AgentOption, FailOn, JsonOption, PolicyOption, ToolOption
from remit.cli.output import out, paint
from remit.cli.parameters import Option
from remit.cli.since import start_of
from remit.compile.load import load_file
from remit.enforce.in_force import read_in_force
from remit.explain.visible import bounded
from remit.model.text import counted, how_often
from remit.record.past import past_calls
from remit.record.reader import Filter
from remit.service.replay import Replayed, Tasks, Turned, replay

CHANGED = 3
_COLOURS = {"deny": "red", "ask": "yellow", "allow": "green"}


def command(
    since: Annotated[
        str, Option("--since", metavar="TIME", help="Replay calls from then on: 30d, 12h, or a moment.")
    ] = "30d",
    agent: AgentOption = None,
    tool: ToolOption = None,
    fail_on: Annotated[
        FailOn | None,
        Option("--fail-on", help="Exit with 3 if calls would now be denied (deny), or denied or asked about (ask)."),
    ] = None,
    policy: PolicyOption = None,
    json: JsonOption = False,
) -> int:
    """Decide the ledger's past calls under the policy file, and list what it would change. Nothing is run.

    Examples: `remit replay --since 30d`, `remit replay --fail-on deny`
    """
    path, _ = find_project(policy)
    say_policy(path, machine=json)
    new = load_file(path)
    with to_look(policy) as living:
        if living is None:
            raise InputError("nothing has been recorded yet: there is nothing to replay", code="no-ledger")
        old = read_in_force(living.root, living.opened.store).rulebook
        wanted = Filter(agent=agent, tool=tool, since=start_of(since))
        root = str((living.root / new.book.root).resolve())
        with living.opened.store.read() as view:
            found = replay(past_calls(view, wanted), Tasks(view), old, new, root)
    if json:
        out_data({"against": old.hash if old is not None else None, "policy": new.hash, **as_data(found)})
    else:
        out("".join(f"{line}\n" for line in replay_lines(found, f"since {since}")))
        if old is None:
            out("nothing usable is in force: compared with what was decided then\n")
    bad = {FailOn.deny: ("deny",), FailOn.ask: ("deny", "ask")}.get(fail_on, ()) if fail_on is not None else ()
    return CHANGED if any(found.count(word) for word in bad) else FINE


def as_data(found: Replayed) -> dict[str, object]:
    """For programs."""
    return {"calls": found.calls, "left_out": found.left_out, "changes": found.changes}


def replay_lines(found: Replayed, when: str, most: int | None = None) -> Iterator[str]:
    """For people; with `most`, no more than so many changes."""
    times = sum(one.times for one in found.changes)
    if not found.changes:
        yield f"{paint('✅', 'green')} replayed {counted(found.calls, 'call')} {when}: nothing would change"
    else:
        yield f"replayed {counted(found.calls, 'call')} {when}: {times} would be decided differently"
    shown = found.changes if most is None else found.changes[:most]
    for one in shown:
        yield from _lines(one)
    if len(shown) < len(found.changes):
        yield f"  and {len(found.changes) - len(shown)} more kinds of calls: `remit replay` lists them"
    if found.left_out:
        yield f"  {counted(found.left_out, 'call')} can't be replayed: values were erased or redacted"


def _lines(one: Turned) -> Iterator[str]:
    word = one.now.split(" ")[0]
    times = how_often(one.times)
    who = f"{bounded(one.agent, 80)} {bounded(one.tool, 80)}"
    turn = paint(f"{one.was} → {one.now}", _COLOURS.get(word, "bold"))
    yield f"  {turn}  {who}, {times}, last {one.last[:10]}: {one.code}"
    rule = f"  [{bounded(one.rule, 80)}]" if one.rule else ""
    yield f"      {bounded(one.reason, 300)}{rule}"
    for example in one.examples:
        yield f"      e.g. {bounded(example, 200)}"
