"""`remit decide`: may this call be made? One call by flags, or a stream of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, BinaryIO

from remit.cli import stdin
from remit.cli.calls import as_declared, call_of, facts_of
from remit.cli.common import FINE, REFUSED, InputError, open_policy
from remit.cli.options import (
    AgentOption,
    ArgOption,
    ArgsOption,
    CallOption,
    ContextOption,
    FactsOption,
    FailOn,
    JsonOption,
    NowOption,
    PolicyOption,
    RootOption,
    ToolOption,
)
from remit.cli.output import out, paint, write
from remit.cli.parameters import Option
from remit.decide import decide
from remit.enforce.answering import answer, encoded, lines
from remit.enforce.call_facts import CallFacts
from remit.explain.why import headline, remedies
from remit.model.terms import ALLOW, ASK, DENY, Verdict
from remit.model.text import shown
from remit.model.wire import encode_decision


def command(
    agent: AgentOption = None,
    tool: ToolOption = None,
    args: ArgsOption = None,
    arg: ArgOption = None,
    context: ContextOption = None,
    call: CallOption = None,
    calls: Annotated[
        str | None,
        Option(
            "--calls", metavar="FILE|-", help="Calls as JSON, one per line; - is stdin. Prints one decision per line."
        ),
    ] = None,
    policy: PolicyOption = None,
    root: RootOption = None,
    facts: FactsOption = None,
    now: NowOption = None,
    fail_on: Annotated[
        FailOn | None, Option("--fail-on", help="Exit with 3 if a decision is this strict or stricter.")
    ] = None,
    json: JsonOption = False,
) -> int:
    """Decide one call (--agent, --tool, --args) or many (--calls FILE or -).

    Examples: `remit decide --agent builder --tool Bash --arg command='git push'`,
    `remit decide --calls calls.jsonl --fail-on deny`
    """
    single = (agent, tool, args, arg or None, context, call)
    if calls is not None and any(value is not None for value in single):
        raise InputError("--calls brings whole calls: leave out --agent, --tool, --args, --arg, --context and --call")
    if calls is None and all(value is None for value in single):
        raise InputError("no call", help="give --agent NAME --tool NAME --args JSON, or --calls FILE (- is stdin)")
    one = call_of(agent, tool, args=args, arg=arg, context=context, call=call) if calls is None else None
    file = open_calls(calls) if calls is not None else None
    try:
        loaded = open_policy(policy, machine=json or one is None)
        one = as_declared(loaded.rulebook, one, arg) if one is not None else None
        known_facts = facts_of(loaded, root=root, facts=facts, now=now)
        if one is None:
            verdict = answer_all(known_facts, file) if file is not None else ALLOW
        else:
            decision = decide(known_facts.rulebook, one, known_facts.of(one)).for_call(one.args)
            verdict = decision.verdict
            if json:
                write(encode_decision(decision, one.id) + b"\n")
            else:
                rule = f" [{decision.rule}]" if decision.rule else ""
                out(f"{paint(headline(decision), verdict.word)}{rule}\n")
                if not decision.allowed or decision.would:
                    out("".join(f"   {line}\n" for line in remedies(decision)))
    finally:
        if file is not None and calls != "-":
            file.close()
    worst = {FailOn.deny: DENY, FailOn.ask: ASK}[fail_on] if fail_on is not None else None
    return REFUSED if worst is not None and verdict >= worst else FINE


_BEGINNING = 4096
_LINES = 'one call a line, such as {"agent": "a", "tool": "t", "args": {}}'


def open_calls(name: str) -> BinaryIO:
    """The file of calls, or stdin for `-`. Raises InputError."""
    if name == "-":
        return stdin.stream("--calls -")
    try:
        file = Path(name).open("rb")  # noqa: SIM115 # whoever reads the calls closes it
        begins = file.peek(_BEGINNING)[:_BEGINNING].lstrip() if file.seekable() else b"{}"
        whole = file.seekable() and Path(name).stat().st_size <= _BEGINNING
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"--calls {shown(name, 300)}: can't be read: {reason}") from None
    first, *others = begins.split(b"\n")
    alone = not any(line.strip() for line in others)
    spread = first.strip() == b"{" or (first[:1] == b"[" and (alone or not first.rstrip().endswith(b"]")))
    bare = whole and not any(line.lstrip()[:1] == b"{" for line in (first, *others))
    if begins and not spread and not bare:
        return file  # whatever else a line is, it is denied as a call
    file.close()
    what = {b"": "no call is in it", b"[": "a list of calls in one JSON text", b"{": "a call on several lines"}
    filter_ = "'.[]'" if begins[:1] == b"[" else "."
    help = f"one call a line: jq -c {filter_} {shown(name, 300)}" if begins[:1] in (b"[", b"{") else _LINES
    raise InputError(f"--calls {shown(name, 300)}: {what.get(begins[:1], 'no JSON')}", help=help)


def answer_all(known: CallFacts, file: BinaryIO) -> Verdict:
    """Writes a decision for every line; returns the strictest of them."""
    strictest = ALLOW
    for line in lines(file):
        decision, call_id = answer(known, line)
        write(encoded(decision, call_id) + b"\n")
        strictest = max(strictest, decision.verdict)
    return strictest
