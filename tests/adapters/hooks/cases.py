"""The cases through the hook: the hook with facts and context handed in, and the real process without them.

A hook knows the caller, the tool, its arguments, the working directory and the session. What it can't know yet is
handed in by `CaseEnforcer`: facts (the clock, halts, capsules, grants, approvals), the rest of the context (chain,
capsule, data tiers, environment), the statement, and the rulebook, which no person has activated. All else is real: the
payload and its reading, the pins, the decision, the obligations, the ledger and the answer.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec

from remit.adapters.hooks.carrier import HookAnswerer
from remit.adapters.hooks.installed import Installed
from remit.adapters.hosts import registry
from remit.compile import build_rulebook
from remit.enforce.attempt import Enforcer
from remit.enforce.carrier import Judged
from remit.enforce.paths import look_up
from remit.grant.authority import Authority
from remit.model.call import Call
from remit.model.decision import Decision
from remit.model.errors import CallError
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.wire import call_from, encode_decision
from remit.record.direct import DirectLedger
from remit.record.vault import Vault
from remit.store.open import open_store
from remit.store.place import make_private
from remit.testing.conformance import Situation, facts_of
from tests.adapters.hooks.project import HOST, JSON, SESSION, Project

NOBODY = "someone-else"


def with_main(policy: JSON, host: str = HOST) -> JSON:
    """The policy with a main agent, who makes none of the calls."""
    agents = {**policy["agents"], NOBODY: {"may": []}}
    return {**policy, "agents": agents, "hosts": {host: {"main": NOBODY}}}


def payload(data: JSON, root: Path) -> JSON:
    """What the host would send: a session of the agent itself (`--agent`), handed to it by nobody."""
    cwd = data.get("context", {}).get("cwd") or "."
    return {
        "session_id": SESSION,
        "cwd": str(root / cwd) if cwd != "." else str(root),
        "permission_mode": "default",
        "agent_type": data["agent"],
        "hook_event_name": "PreToolUse",
        "tool_name": data["tool"],
        "tool_input": data.get("args", {}),
        "tool_use_id": f"toolu_{data['id']}",
    }


def formed(data: JSON) -> Call | None:
    """The call; None for one that is malformed, which goes to the hook as it is."""
    try:
        return call_from(data)
    except CallError:
        return None


def carried(data: JSON) -> bool:
    """Whether a hook can say all of the call by itself."""
    call = formed(data)
    return call is None or (set(data.get("context", {})) <= {"cwd"} and call.statement is None)


class CaseEnforcer(Enforcer):
    """An enforcer that is handed what it can't look up."""

    facts: Facts
    case: Call
    decided: Decision | None

    def judge(
        self, call: Call, rulebook: Rulebook, knows_task: bool = True, quick: bool = False, *, remembered: bool = False
    ) -> Judged:
        given = self.case.context
        context = msgspec.structs.replace(given, cwd=call.context.cwd if given.cwd is not None else None)
        call = msgspec.structs.replace(call, context=context, statement=self.case.statement)
        judged = super().judge(call, rulebook)
        self.decided = judged.decision
        return judged

    def at(self, root: Path, state: Path, sealed: tuple[str, ...], confined: object = None) -> Enforcer:
        return self  # where the project lies is among what it is handed

    def _known(self, call: Call, rulebook: Rulebook, *, remembered: bool = False) -> Facts:
        return look_up(rulebook, call, self.facts)

    def _uses(self, judged: Judged) -> bool:
        return False  # capsules and approvals are in the facts, and not in the store

    def _begin(self, judged: Judged) -> None:
        pass

    def _keep_launches(self, judged: Judged) -> None:
        pass


class CaseHook:
    """The hook of a host, for the calls of one situation."""

    def __init__(self, situation: Situation, folder: Path, host: str) -> None:
        self.situation, self.folder, self.host = situation, folder, host
        self.setup = registry.find(host).setup()
        self.books: dict[str, tuple[Rulebook, Facts]] = {}
        self.state = state = folder / "state"
        make_private(state / "keys")
        self.store = open_store(None, state)
        authority = Authority(self.store, Vault(self.store, state / "keys"))
        ledger = DirectLedger(self.store, point=host)
        self.enforcer = CaseEnforcer(authority, ledger, lambda: self.book, lambda _: self.facts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.store.close()

    def ask(self, data: JSON, root: Path) -> JSON:
        """The decision in its JSON form; fails if the host was told anything else."""
        call = formed(data)
        self.book, self.facts = self._book(call)
        said = json.dumps(data).encode() if call is None else self._question(data, call, root)
        agents: dict[str, dict[str, str]] = {} if call is None else {call.agent: {}}
        since = "2026-01-01T00:00:00Z"
        installed = Installed(1, self.host, str(root), "remit.yaml", "settings.json", since, (), agents)
        self.enforcer.facts, self.enforcer.decided = self.facts, None
        self.enforcer.case = call if call is not None else Call("", "")
        shutil.rmtree(self.state / "hooks" / "uses", ignore_errors=True)  # cases have ids in common, but are no one use
        answer = HookAnswerer(self.host, self.enforcer, lambda: installed, self.state).answer(said)
        assert answer.decision is not None
        decided: Decision | None = self.enforcer.decided
        decision = answer.decision if decided is None else decided
        told = self.setup.understood(answer.reply.code, answer.reply.out, answer.reply.err)
        # A question that the host can't put waits in the inbox, as far as its task is known there.
        waits = decision.verdict.word == "ask" and answer.decision.code in ("ask-pending", "unknown-capsule")
        wanted = None if decision.would is not None else "deny" if waits else decision.verdict.word
        assert told.decision == wanted, (data, answer)
        assert (told.alarm is None) == (wanted is not None), (data, answer)
        found: JSON = json.loads(encode_decision(decision, data["id"]))
        return found

    def can_say(self, data: JSON) -> bool:
        """Whether the host could make the call: one that names no agents has only a main one, whom the policy knows."""
        call = formed(data)
        return call is None or self.setup.catalog.names_agents or call.agent in self.situation.policy["agents"]

    def _book(self, call: Call | None) -> tuple[Rulebook, Facts]:
        """The policy, in which nobody who calls is the main agent, unless the host names no other."""
        main = NOBODY if call is None or self.setup.catalog.names_agents else call.agent
        if main not in self.books:
            policy = with_main(self.situation.policy, self.host)
            book = build_rulebook({**policy, "hosts": {self.host: {"main": main}}})
            self.books[main] = book, facts_of(self.situation, book, self.folder)
        return self.books[main]

    def _question(self, data: JSON, call: Call, root: Path) -> bytes:
        """What the host would ask."""
        cwd = data.get("context", {}).get("cwd") or "."
        place = root / cwd if cwd != "." else root
        args = data.get("args", {})
        return self.setup.question(
            session=SESSION, root=place, tool=call.tool, args=args, use=f"use-{data['id']}", agent=call.agent
        )


class CaseProject:
    """A project with the policy of a case, whose root does not exist, and its daemon."""

    def __init__(self, folder: Path, policy: JSON, root: Path, callers: Iterable[str]) -> None:
        """`callers` are pinned, whether or not the policy knows them."""
        self.root = root
        self.project = Project(folder, {**policy, "root": str(root)})
        self.project.install(pinned=tuple(dict.fromkeys(callers)))

    @contextmanager
    def serving(self) -> Iterator[Callable[[JSON], JSON]]:
        """Gives what asks the real hook, and tells decision and code."""
        with self.project.serving():
            yield self._ask

    def _ask(self, data: JSON) -> JSON:
        said = self.project.run(data if formed(data) is None else payload(data, self.root))
        assert said.code == 0
        code: Any = re.search(r"\(([a-z-]+)\)$", said.reason)
        return {"decision": said.decision, **({"code": code[1]} if code else {})}
