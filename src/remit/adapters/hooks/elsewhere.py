"""A session outside of every installed project: it is let alone, but may not write into one of them.

No policy is about such a session. So only what its calls would change counts, understood by the host's own tool pack;
a refusal stands in the ledger of the project that was named.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from remit.adapters.hooks.carrier import HookAnswerer
from remit.adapters.hooks.installed import read_installed
from remit.adapters.hooks.roots import read_roots
from remit.adapters.hosts import registry
from remit.adapters.hosts.interface import Event, Host, Reply
from remit.compile.load import build_rulebook
from remit.declare.load import read_pack
from remit.enforce.attempt import Enforcer, foreseen
from remit.enforce.paths import open_root
from remit.enforce.refusal import refusal
from remit.model.call import Call, Context
from remit.model.decision import Decision
from remit.model.errors import CallError, RemitError
from remit.model.facts import Facts
from remit.model.terms import DENY, UNDERSTOOD
from remit.record.open import open_for_hook
from remit.store.place import check_private, hosts_directory

ANYBODY = "anybody"
CODE = "installed-project"
PATIENCE = 4.0


def judge_elsewhere(name: str, state: Path, data: bytes) -> Reply:
    """A deny for a call that would write into an installed project, or may; otherwise no decision.

    Never raises RemitError: where nobody can tell, it is a deny.
    """
    host = registry.find(name)
    try:
        event = host.read_event(data)
        if event.when != "before":
            return host.last_resort.silence
        reason = why_not(host, event, [one.root for one in read_roots(name)])
    except CallError as error:
        reason = f"the call can't be read: {error}"
        event = Event("before")
    except RemitError as error:
        return HookAnswerer.without(name, data, error)
    if reason is None:
        return host.last_resort.silence
    call = Call(event.agent or "", event.tool, event.args, Context(session=event.session or None))
    return host.answer(_recorded(name, state, call, refusal(call, CODE, reason)), None)


def why_not(host: Host, event: Event, roots: list[str]) -> str | None:
    """Why the call may not run; None if it changes nothing in these projects. Raises RemitError."""
    pack = host.setup().catalog.pack
    tools = sorted(read_pack(pack)) if pack is not None else []
    tool = next((one for one in host.names_of(event.tool) if one in tools), None)
    if tool is None:
        text = msgspec.json.encode(event.args).decode()
        named = next((root for root in roots if root in text), None)
        if named is None:
            return None
        return f"it names {named}, which Remit protects, and nobody can tell what this tool would change there"
    rulebook = build_rulebook(
        {
            "remit": 1,
            "use": [pack],
            "unsafe_unprotect": ["**"],
            "agents": {ANYBODY: {"may": tools}},
        }
    )
    cwd = os.path.realpath(event.cwd or "/")
    call = Call(ANYBODY, tool, host.effective_args(event.tool, event.args), Context(cwd=cwd))
    keep = (os.path.realpath(hosts_directory().parent),)
    facts = open_root(Path("/"), Path("/"), Facts(store=True, guarded=keep, sealed=tuple(roots)))[1]
    found = foreseen(rulebook, call, facts)
    if found.code == "protected":
        return f"{found.reason}: the session was started outside of the project that Remit protects there"
    if found.verdict is DENY or found.code == "target-unknown" or found.grade != UNDERSTOOD:
        return "nobody can tell what it would change, and it names a project that Remit protects"
    return None


def _recorded(name: str, state: Path, call: Call, decision: Decision) -> Decision:
    """The refusal, in the project's ledger as far as that can be written."""
    try:
        check_private(state)
        installed = read_installed(state, name)
        opened = open_for_hook(state, point=name, url=installed.store, timeout=PATIENCE)
        return Enforcer.of_project(Path(installed.root), state, opened.store, opened.ledger).refuse(call, decision)
    except RemitError:
        return msgspec.structs.replace(decision, verdict=DENY)
