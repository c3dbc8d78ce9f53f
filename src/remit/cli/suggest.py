"""`remit suggest`: the policy that allows what was used and no more, from the ledger; nothing is put in force."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import msgspec

from remit.analyze.within import not_within
from remit.cli.common import FINE, InputError, find_policy
from remit.cli.ledger.options import StateOption, ledger_to_look
from remit.cli.ledger.progress import progress_bar
from remit.cli.options import JsonOption, PolicyOption
from remit.cli.output import err, out, out_json
from remit.cli.parameters import Option
from remit.cli.since import start_of
from remit.compile import load_rulebook
from remit.decide import decide
from remit.declare.nodes import parse
from remit.declare.published import published_name
from remit.explain.suggest import Denied, Suggestion, Used, as_yaml, suggest, tightened
from remit.forms.texts import plain
from remit.model.call import Call, Context
from remit.model.errors import RemitError
from remit.model.facts import Facts
from remit.model.profile import HELD
from remit.model.rulebook import Rulebook
from remit.model.text import counted, how_often, shown
from remit.record.append import head_of
from remit.record.open import OpenLog
from remit.record.past import past_calls
from remit.record.reader import Filter

ROUNDS = 3


def command(
    since: Annotated[
        str, Option("--since", metavar="TIME", help="Look at calls from then on: 7d, 12h, or a moment.")
    ] = "7d",
    policy: PolicyOption = None,
    state: StateOption = None,
    json: JsonOption = False,
) -> int:
    """Suggest the policy that allows what was used and no more: a tightening proved to be within the present one.

    Calls that the present policy would have denied are listed separately, for a person to decide. Nothing is put in
    force.

    Examples: `remit suggest --since 30d`, `remit suggest > remit.tight.yaml`
    """
    file = find_policy(policy)
    rulebook = load_rulebook(file)
    files = _files(file, rulebook)
    with ledger_to_look(file, state) as opened:
        used = list(_used(opened, start_of(since), str(file.absolute().parent)))
    if not used:  # a policy that allows nothing would be within the present one, and no use to anybody
        help_ = "agents have to work first; `--since 90d` looks further back"
        raise InputError(f"no calls are recorded since {since}: there is nothing to suggest from", help=help_)
    found = proved(rulebook, lambda it: _loaded(file, {name: tightened(one, it) for name, one in files.items()}), used)
    texts = {name: as_yaml(data, found) for name, data in files.items()}
    if json:
        included = {name: text for name, text in texts.items() if name != file.name}
        more = {"included": included} if included else {}
        out_json({"calls": len(used), "policy": texts[file.name], **more, "denied": msgspec.to_builtins(found.denied)})
        return FINE
    for name, text in texts.items():
        out(f"# {shown(name, 300)}\n{text}" if len(texts) > 1 else text)
    calls = f"{counted(len(used), 'call')} since {since}"
    lines = [f"{calls}; this policy is within the present one, and decides them in the same way"]
    if found.denied:
        lines.append("not in it, for you to decide (used, and the present policy would not simply allow it):")
        lines += [f"  {_shown(one)}" for one in found.denied]
    err("\n".join(f"# {line}" for line in lines))
    return FINE


def proved(rulebook: Rulebook, loaded: Callable[[Suggestion], Rulebook], used: list[Used]) -> Suggestion:
    """A suggestion that loads, lies within the rulebook, and decides every call as that does. Raises RemitError."""
    keep: frozenset[tuple[str, str]] = frozenset()
    for _ in range(ROUNDS):
        found = suggest(rulebook, used, keep)
        new = loaded(found)
        why = next(not_within(new.book, rulebook.book), None)
        if why is not None:
            raise RemitError(f"no tightening can be proved: {why}", code="not-proved")
        other = {(one.call.agent, _tool(rulebook, one)) for one in used if not _same(rulebook, new, one)}
        if other <= keep:
            if other:
                agent, tool = min(other)
                raise RemitError(f"no tightening allows what {agent} did with {tool}", code="not-proved")
            return found
        keep |= other
    raise RemitError("no tightening was found that allows what was used", code="not-proved")


def _tool(rulebook: Rulebook, used: Used) -> str:
    return rulebook.book.aliases.get(used.call.tool, used.call.tool)


def _same(old: Rulebook, new: Rulebook, used: Used) -> bool:
    before, after = decide(old, used.call, used.facts), decide(new, used.call, used.facts)
    refused = before.verdict.word == "deny" and after.verdict.word == "deny"
    return refused or (before.verdict, before.code, before.would) == (after.verdict, after.code, after.would)


def _used(opened: OpenLog, start: str, root: str) -> Any:
    with opened.store.read() as view, progress_bar("reading the ledger", head_of(view).size) as done:
        for past in past_calls(view, Filter(since=start)):
            done(past.seq)
            rest = past.call.context
            context = Context(cwd=rest.cwd, mode=rest.mode, environment=rest.environment, data_tier=rest.data_tier)
            call = Call(past.call.agent, past.call.tool, past.call.args, context)
            facts = Facts(now=past.at.split(".")[0] + "Z", root=root, confined=HELD)
            yield Used(call, facts, past.at, past.decision, past.code, past.would)


def _files(file: Path, rulebook: Rulebook) -> dict[str, dict[str, Any]]:
    """The policy and what it includes, each file by its name from there. Raises InputError and PolicyError."""
    found: dict[str, dict[str, Any]] = {}
    for name in rulebook.book.sources:
        if name == published_name(file.name):
            continue
        path = file.with_name(name) if name == file.name else file.parent / name
        try:
            found[name] = plain(parse(path.read_text("utf-8"), name))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{shown(path, 300)}: {error}") from None
    return found


def _loaded(file: Path, files: dict[str, dict[str, Any]]) -> Rulebook:
    """The rulebook of these files in the place of those that are there. Raises PolicyError."""
    top = os.path.commonpath([os.path.abspath(os.path.join(file.parent, name, "..")) for name in files])
    with tempfile.TemporaryDirectory(prefix="remit-suggest-") as scratch:
        here = Path(scratch) / os.path.relpath(os.path.abspath(file.parent), top)
        for name, data in files.items():
            path = Path(os.path.normpath(here / name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(msgspec.json.encode(data))
        own = file.with_name(published_name(file.name))
        if own.is_file():
            (here / own.name).write_bytes(own.read_bytes())
        return load_rulebook(here / file.name)


def _shown(one: Denied) -> str:
    examples = "; ".join(one.examples)
    times = f"{how_often(one.times)}, last {one.last[:10]}"
    return f"{shown(one.agent)} {shown(one.tool)}: {one.would} ({one.code}), {times}: {shown(examples, 400)}"
