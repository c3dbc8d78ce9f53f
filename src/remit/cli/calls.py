"""Calls from the command line, by flags or as one line of JSON, and the facts to decide them by."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec

from remit.cli.common import InputError, LoadedPolicy, moment_of
from remit.cli.output import complain
from remit.compile.facts import read_facts
from remit.declare.files import read_text
from remit.enforce.call_facts import CallFacts
from remit.model.call import Call
from remit.model.errors import CallError, PolicyError
from remit.model.facts import Facts
from remit.model.profile import HELD
from remit.model.rulebook import Rulebook
from remit.model.text import shown
from remit.model.wire import call_from, decode_call, decode_json

_LITERALS: dict[str, tuple[type, ...]] = {"number": (int, float), "flag": (bool,)}
"""The kinds whose values are no texts, and what they are."""


def facts_of(
    loaded: LoadedPolicy, *, root: Path | None, facts: Path | None, now: str | None, known: Facts | None = None
) -> CallFacts:
    """The facts that `--root`, `--facts` and `--now` ask for, or without --facts those known. Raises InputError."""
    given = _read_facts(loaded.rulebook, facts) if facts is not None else _here(loaded, known or Facts())
    moment = moment_of(now) if now is not None else None
    return CallFacts(loaded.rulebook, loaded.path, given=given, root=root, now=moment)


def _here(loaded: LoadedPolicy, facts: Facts) -> Facts:
    """With what this machine can hold of a confined command, where the policy confines somebody."""
    if all(caller.confine in (None, "off") for caller in loaded.rulebook.book.callers.values()):
        return facts
    from remit.confine.pick import holds  # here: it starts a trial run
    from remit.store.place import known_state

    state = known_state(Path(os.path.realpath(loaded.path.parent)))
    if state is not None:
        return msgspec.structs.replace(facts, confined=holds(state))
    note = "decided as if commands could be confined here: whether they can is known once the policy is activated"
    return msgspec.structs.replace(facts, confined=HELD, notes=(*facts.notes, note))


def in_its_task(loaded: LoadedPolicy, call: Call) -> tuple[Call, Facts | None]:
    """The call in the one living task that its agent has in this project, with the facts of that.

    As it is, where the call says itself what it belongs to, or where nothing is known. Raises RemitError.
    """
    from remit.grant.authority import Authority  # here and below: deciding opens no store
    from remit.record.open import open_log
    from remit.record.vault import Vault
    from remit.store.open import FILE
    from remit.store.place import known_state

    root = Path(os.path.realpath(loaded.path.parent))
    state = known_state(root)
    if call.context.capsule is not None or call.context.chain or state is None or not (state / FILE).exists():
        return call, None
    with open_log(root, state=state) as opened:
        authority = Authority(opened.store, Vault(opened.store, state / "keys"))
        living = authority.living(call.agent)
        if len(living) != 1:
            return call, None
        name = living[0].task.capsule.id
        context = msgspec.structs.replace(call.context, capsule=name, chain=authority.chain(name))
        return msgspec.structs.replace(call, context=context), authority.facts(name, Facts(), loaded.rulebook)


def _read_facts(rulebook: Rulebook, path: Path) -> Facts:
    name = shown(path, 300)
    try:
        return read_facts(rulebook, read_text(path, name), name)
    except PolicyError as error:
        complain(error)
        raise InputError(f"--facts {name}: can't be used") from None


def call_of(
    agent: str | None,
    tool: str | None,
    *,
    args: str | None = None,
    arg: list[str] | None = None,
    context: str | None = None,
    call: str | None = None,
) -> Call:
    """The call that the flags describe. Raises InputError."""
    if call is not None:
        if agent is not None or tool is not None or args is not None or arg or context is not None:
            raise InputError("--call is the whole call: leave out --agent, --tool, --args, --arg and --context")
        try:
            return decode_call(_bytes(call))
        except CallError as error:
            raise InputError(f"--call: {error}") from None
    missing = [name for name, value in (("--agent", agent), ("--tool", tool)) if value is None]
    if missing:
        raise InputError(f"{' and '.join(missing)} missing", help="a call is --agent NAME --tool NAME --args JSON")
    data: dict[str, Any] = {"agent": agent, "tool": tool, "args": arguments(args, arg)}
    if context is not None:
        data["context"] = _object(context, "--context")
    try:
        for name, value in (("--agent", agent), ("--tool", tool)):
            _text(str(value), name)
        return call_from(data)
    except CallError as error:
        raise InputError(str(error)) from None


def as_declared(rulebook: Rulebook, call: Call, arg: list[str] | None) -> Call:
    """The call with what `--arg` gives as its tool declares it: `amount=80` is a number if `amount` is one."""
    book = rulebook.book
    name, caller = book.aliases.get(call.tool, call.tool), book.callers.get(call.agent)
    tool = (caller.tools.get(name) if caller is not None else None) or book.tools.get(name)
    if tool is None or not arg:
        return call
    args = dict(call.args)
    for given, _, value in (pair.partition("=") for pair in arg):
        wanted = _LITERALS.get(tool.args[given].kind) if given in tool.args else None
        if wanted is not None:
            try:
                found = decode_json(value.encode())
            except CallError:
                continue  # a text, and it will be denied as one
            args[given] = found if type(found) in wanted else value
    return msgspec.structs.replace(call, args=args)


def arguments(args: str | None, arg: list[str] | None) -> dict[str, Any]:
    """The arguments of `--args` and `--arg` together. Raises InputError."""
    found = _object(args, "--args") if args is not None else {}
    for pair in arg or ():
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise InputError(f"--arg: `{shown(pair)}` is not NAME=VALUE")
        if name in found:
            raise InputError(f"--arg: `{shown(name)}` is given twice")
        found[_text(name, "--arg")] = _text(value, "--arg")
    return found


def _object(text: str, flag: str) -> dict[str, Any]:
    try:
        value = decode_json(_bytes(text))
    except CallError as error:
        raise InputError(f"{flag}: {error}{_position(text)}", help=_QUOTED.format(flag=flag)) from None
    if not isinstance(value, dict):
        raise InputError(f"{flag}: expected a JSON object, got `{shown(text, 60)}`", help=_QUOTED.format(flag=flag))
    return value


def _position(text: str) -> str:
    """Where a text stops being JSON, as far as that tells."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        rest = text[error.pos : error.pos + 12]
        return f" at character {error.pos + 1}, `{shown(rest)}`" if rest else ": it ends too early"
    except (ValueError, RecursionError):
        pass
    return ""


_QUOTED = """quote it for the shell, with double quotation marks inside: {flag} '{{"name": "value"}}'"""


def _bytes(text: str) -> bytes:
    """What was typed; bytes that are not UTF-8 stay so, and are refused further on."""
    return os.fsencode(text)


def _text(text: str, flag: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(f"{flag}: not UTF-8") from None
    return text
