"""Guard: the only road to a tool. Decide, ask and wait or refuse, record, run, record how it ended.

guard = Guard("remit.yaml")

@guard.tool(does={"write": "path"}, tier=1)
def create_file(path: Path, content: str) -> None:
    path.write_text(content)

with guard, guard.agent("researcher"):
    create_file(Path("research/a.yaml"), "x: 1")        # or raises CallDenied, CallPending
"""

from __future__ import annotations

import asyncio
import copy
import functools
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar

from remit.compile import build_rulebook, load_rulebook
from remit.compile.functions import check_functions
from remit.enforce.acting import Acting, acting_for, current
from remit.enforce.attempt import Attempt
from remit.enforce.declared import Declared, name_of
from remit.enforce.errors import CallDenied, CallPending, CallRefused, GuardError, Refused
from remit.enforce.forms import Unfit
from remit.enforce.handover import entered
from remit.enforce.own import OWN, own_tool
from remit.enforce.passage import Gate, Passage
from remit.enforce.paths import open_root
from remit.enforce.refusal import own_places, refusal
from remit.enforce.schema import tool_schema
from remit.enforce.webhook import Webhook
from remit.explain.cells import DENIED
from remit.explain.matrix import cell_for, tool_for, tools_of
from remit.grant.asks import AskState
from remit.grant.authority import Authority
from remit.grant.errors import GrantError
from remit.model.call import NO_CONTEXT, Call, Statement
from remit.model.decision import Decision
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW, DENY
from remit.record.open import Opened, open_ledger

P = ParamSpec("P")
R = TypeVar("R")
Policy = str | os.PathLike[str] | Mapping[str, Any] | Rulebook
Answerer = Callable[[AskState, dict[str, Any]], Literal["approve", "refuse"] | None]
POLL = 0.2
ROUNDS = 8
"""Questions that one call may raise, one after the other."""


class Guard:
    """One program's way to its tools. Safe to use from many threads and tasks."""

    def __init__(
        self,
        policy: Policy,
        *,
        root: str | os.PathLike[str] | None = None,
        state: Path | None = None,
        store: str | None = None,
        point: str = "guard",
        wait: float = 0.0,
        answer: Answerer | None = None,
        told: Callable[[AskState], None] | None = None,
        refusals: Literal["raise", "return"] = "raise",
    ) -> None:
        """`wait`: seconds that a call waits for an answer. `answer`: the program answers itself; None leaves it open.

        `told` hears of every question, to pass it on (a webhook: `remit.enforce.webhook`). Nothing is opened yet.
        """
        self._policy, self._root, self._state, self._store = policy, root, state, store
        self.point, self.wait, self.answer, self.told, self.refusals = point, wait, answer, told, refusals
        self._functions: dict[str, Declared] = {}
        self._opened: Opened | None = None
        self._gate: Gate | None = None
        self._seen: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        self._lock = threading.RLock()

    # Beginning and ending

    def start(self) -> Self:
        """Loads the policy with the functions' tools and opens the ledger. Raises PolicyError and RemitError."""
        with self._lock:
            if self._gate is None:
                rulebook, home, root = self._load()
                self._opened = open_ledger(home, point=self.point, state=self._state, url=self._store, keep=True)
                base = Facts(store=True, guarded=(os.path.realpath(self._opened.state),), sealed=own_places())
                facts = open_root(root, root / "remit.yaml", base)[1]
                authority = Authority(self._opened.store, self._opened.vault)
                self._gate = Gate(rulebook, authority, self._opened.ledger, facts)
                if isinstance(self.told, Webhook):
                    self.told.attach(authority.arguments)
        return self

    def close(self) -> None:
        """Everything that was recorded is on disk. Raises LedgerUnavailable if it isn't."""
        with self._lock:
            opened, self._opened, self._gate = self._opened, None, None
            if opened is not None:
                opened.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @property
    def gate(self) -> Gate:
        """Where calls pass, opened if it wasn't yet."""
        gate = self._gate
        return gate if gate is not None else self.start().gate

    @property
    def rulebook(self) -> Rulebook:
        """What is in force."""
        return self.gate.rulebook

    @property
    def authority(self) -> Authority:
        """Capsules, asks and hand-overs, for the program itself."""
        return self.gate.authority

    def _load(self) -> tuple[Rulebook, Path, Path]:
        """The rulebook, the folder whose state this is (the policy's, as for every command), and the root of paths."""
        told = {name: tool.told for name, tool in self._functions.items()}
        policy, here = self._policy, Path(self._root or ".").absolute()
        if isinstance(policy, Rulebook):
            missing = sorted(told.keys() - policy.book.tools.keys())
            if missing:
                raise GuardError(f"the rulebook has no tool `{missing[0]}`", code="undeclared-tool")
            check_functions(policy, told)
            return policy, here, here
        if isinstance(policy, Mapping):
            return build_rulebook(policy, functions=told), here, here
        home = Path(policy).absolute().parent
        rulebook = load_rulebook(policy, functions=told)
        return rulebook, home, here if self._root is not None else home / rulebook.book.root

    # Tools

    def tool(
        self,
        name: str | None = None,
        *,
        does: Any = None,
        kinds: Mapping[str, str] | None = None,
        accessible_by: list[str] | None = None,
        tier: int | None = None,
        layer: str | None = None,
        category: str | None = None,
        risk: str | None = None,
        confirm: bool | None = None,
        interaction: str | None = None,
        dialect: str | None = None,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Declares a function as a tool; calling it then passes the guard. Raises GuardError for what can't be one."""
        told = {
            "does": does,
            "accessible_by": accessible_by,
            "tier": tier,
            "layer": layer,
            "category": category,
            "risk": risk,
            "confirm": confirm,
            "interaction": interaction,
            "dialect": dialect,
        }

        def declare(function: Callable[P, R]) -> Callable[P, R]:
            if isinstance(function, staticmethod | classmethod):
                inner = self._declare(function.__func__, name or name_of(function.__func__), told, kinds or {})
                return type(function)(inner)
            return self._declare(function, name or name_of(function), told, kinds or {})

        return declare

    def _declare(
        self, function: Callable[P, R], name: str, told: Mapping[str, Any], kinds: Mapping[str, str]
    ) -> Callable[P, R]:
        if self._gate is not None:
            raise GuardError(f"`{name}` is declared after the guard was started", code="bad-tool")
        if name in self._functions:
            raise GuardError(f"`{name}` is declared twice", code="bad-tool")
        tool = self._functions[name] = Declared(function, name, told, kinds)
        if tool.is_async:

            @functools.wraps(function)
            async def passing(*args: P.args, **named: P.kwargs) -> Any:
                try:
                    on, judged = tool.taken(args, named)
                except Unfit as unfit:
                    return await asyncio.to_thread(self._unfit, self._called(name, {}), unfit)
                return await self._acall(on, self._called(name, judged))

            return passing  # type: ignore[return-value]

        @functools.wraps(function)
        def passed(*args: P.args, **named: P.kwargs) -> Any:
            try:
                on, judged = tool.taken(args, named)
            except Unfit as unfit:
                return self._unfit(self._called(name, {}), unfit)
            return self._call(on, self._called(name, judged))

        return passed

    def tools_for(self, agent: str) -> list[dict[str, Any]]:
        """The tools that the agent may see, as JSON Schema for a model's list. Raises GuardError for nobody we know."""
        rulebook = self.rulebook
        caller = rulebook.book.callers.get(agent)
        if caller is None:
            raise GuardError(f"the policy knows no agent `{agent[:80]}`", code="unknown-agent")
        key = (agent, caller.roles, rulebook.hash)
        found = self._seen.get(key)
        if found is None:
            self._seen = {known: tools for known, tools in self._seen.items() if known[2] == rulebook.hash}
            found = self._seen[key] = self._visible(rulebook, agent)
        return copy.deepcopy(found)

    def _visible(self, rulebook: Rulebook, agent: str) -> list[dict[str, Any]]:
        if not rulebook.book.callers[agent].enabled:
            return []
        offered = self._functions.keys() | OWN
        names = [name for name in tools_of(rulebook) if name in offered]
        seen = [name for name in names if cell_for(rulebook, agent, name).symbol != DENIED]
        tools = (tool_for(rulebook, agent, name) for name in seen)
        return [tool_schema(tool, self._functions.get(tool.name)) for tool in tools if tool is not None]

    # Who acts

    @contextmanager
    def agent(
        self,
        name: str,
        *,
        capsule: str | None = None,
        ticket: str | None = None,
        session: str | None = None,
        mode: str | None = None,
        environment: str | None = None,
        cwd: str | None = None,
        data_tier: int | None = None,
    ) -> Iterator[Acting]:
        """Whatever is called within is called by this agent. Within another one it is a hand-over.

        A hand-over gets a capsule of its own below the giver's, which ends with the block, and takes over what is not
        said here: session, mode, environment, cwd, data tier. Raises GrantError.
        """
        more = {"session": session, "mode": mode, "environment": environment, "cwd": cwd, "data_tier": data_tier}
        outer = acting_for(id(self))
        before = outer.context if outer is not None else NO_CONTEXT
        more = {key: value if value is not None else getattr(before, key) for key, value in more.items()}
        with entered(self.gate, outer, name, capsule, ticket, more) as context:
            acting = Acting(id(self), name, context, current.get())
            token = current.set(acting)
            try:
                yield acting
            finally:
                current.reset(token)

    def _called(self, tool: str, args: dict[str, Any], statement: Statement | None = None) -> Call:
        acting = acting_for(id(self))
        if acting is None:
            raise GuardError(f"nobody acts here: call `{tool}` within `with guard.agent(…)`", code="no-agent")
        return Call(acting.agent, tool, args, acting.context, statement)

    def _unfit(self, call: Call, unfit: Unfit) -> Any:
        """The refusal of arguments that are not what the function declares, recorded."""
        why = refusal(call, "mistyped-argument", str(unfit), policy=self.rulebook.hash)
        decision = self.gate.refuse(call, why)
        if self.refusals == "raise":
            raise CallDenied(decision)
        return Refused(decision)

    # Calls

    def call(self, tool: str, args: Mapping[str, Any] | None = None, *, statement: Statement | None = None) -> Any:
        """Calls a tool by its name, as a model asks for it. Raises CallDenied and CallPending, or returns Refused."""
        try:
            declared, call = self._found(tool, args, statement)
        except Unfit as unfit:
            return self._unfit(self._called(tool, {}, statement), unfit)
        if declared is not None and declared.is_async:
            raise GuardError(f"`{tool}` is async: use `await guard.acall(…)`", code="bad-tool")
        return self._call(declared, call)

    async def acall(
        self, tool: str, args: Mapping[str, Any] | None = None, *, statement: Statement | None = None
    ) -> Any:
        """The same for async programs; waiting blocks nobody else."""
        try:
            declared, call = self._found(tool, args, statement)
        except Unfit as unfit:
            return await asyncio.to_thread(self._unfit, self._called(tool, {}, statement), unfit)
        return await self._acall(declared, call)

    def _found(
        self, tool: str, args: Mapping[str, Any] | None, statement: Statement | None
    ) -> tuple[Declared | None, Call]:
        """Without a function it is decided and refused: the policy may know tools that this program doesn't have."""
        declared = self._functions.get(self.rulebook.book.aliases.get(tool, tool))
        if declared is None:
            return None, self._called(tool, dict(args or {}), statement)
        if declared.is_method:
            help = "call it on its object, or declare the bound method"
            raise GuardError(f"`{tool}` is a method", code="bad-tool", help=help)
        return declared, self._called(tool, declared.received(args or {}), statement)

    def _call(self, declared: Declared | None, call: Call) -> Any:
        try:
            gate = self._gate or self.gate
            passage = (gate.at_once(call) if declared is not None else None) or self._passed(declared, call)
        except CallRefused as refused:
            if self.refusals == "raise":
                raise
            return Refused(refused.decision)
        try:
            result = self._run(declared, call, passage)
        except BaseException as error:
            passage.failed(error)
            raise
        if not passage.done_at_once():
            passage.done()
        return result

    async def _acall(self, declared: Declared | None, call: Call) -> Any:
        try:
            passage = self.gate.at_once(call, look=False) if declared is not None else None
            if passage is None:
                passage = await self._apassed(declared, call)
        except CallRefused as refused:
            if self.refusals == "raise":
                raise
            return Refused(refused.decision)
        try:
            result = self._run(declared, call, passage)
            if declared is not None and declared.is_async:
                result = await result
        except BaseException as error:
            await asyncio.shield(asyncio.to_thread(passage.failed, error))
            raise
        if not passage.done_at_once():
            await asyncio.shield(asyncio.to_thread(passage.done))
        return result

    def _run(self, declared: Declared | None, call: Call, passage: Passage) -> Any:
        if declared is None:
            return own_tool(self.gate, call)
        return declared.run(passage.args)

    # Passing

    def _passed(self, declared: Declared | None, call: Call) -> Passage:
        """Raises CallDenied or CallPending."""
        end = time.monotonic() + self.wait
        for _ in range(ROUNDS):
            found = self._attempt(declared, call)
            if isinstance(found, Passage):
                return found
            asked, decision = found
            while self._is_open(asked):
                if time.monotonic() >= end:
                    raise CallPending(self.gate.refuse(call, decision))
                time.sleep(min(POLL, max(0.0, end - time.monotonic())))
        raise CallPending(self.gate.refuse(call, decision))

    async def _apassed(self, declared: Declared | None, call: Call) -> Passage:
        end = time.monotonic() + self.wait
        for _ in range(ROUNDS):
            found = await Attempt(functools.partial(self._attempt, declared, call)).made()
            if isinstance(found, Passage):
                return found
            asked, decision = found
            while await asyncio.to_thread(self._is_open, asked):
                if time.monotonic() >= end:
                    raise CallPending(await asyncio.to_thread(self.gate.refuse, call, decision))
                await asyncio.sleep(min(POLL, max(0.0, end - time.monotonic())))
        raise CallPending(await asyncio.to_thread(self.gate.refuse, call, decision))

    def _attempt(self, declared: Declared | None, call: Call) -> Passage | tuple[AskState, Decision]:
        """Passed, or what was asked. Raises CallDenied, and CallPending where nobody can be asked yet."""
        gate = self.gate
        decision, facts = gate.decide(call)
        if decision.verdict is ALLOW:
            if declared is None and self.rulebook.book.aliases.get(call.tool, call.tool) not in OWN:
                reason = f"this program has no tool `{call.tool[:80]}`"
                raise CallDenied(gate.refuse(call, refusal(call, "undeclared-tool", reason, policy=decision.policy)))
            return gate.begin(call, decision, facts)
        if decision.verdict is DENY:
            raise CallDenied(gate.refuse(call, decision))
        decision, asked = gate.ask(call, decision, facts)
        if decision.verdict is DENY:
            raise CallDenied(gate.refuse(call, decision))
        if asked is None:
            raise CallPending(gate.refuse(call, decision))
        self._tell(asked, call)
        if self.wait <= 0 and self._is_open(asked):
            raise CallPending(gate.refuse(call, decision))
        return asked, decision

    def _is_open(self, asked: AskState) -> bool:
        return self.authority.asked(asked.id).state == "open"

    def _tell(self, asked: AskState, call: Call) -> None:
        """The program is told, and may answer at once; what it raises is no answer."""
        answer = None
        with suppress(Exception):
            if self.told is not None:
                self.told(asked)
        with suppress(Exception):
            answer = self.answer(asked, copy.deepcopy(call.args)) if self.answer is not None else None
        if answer is not None:
            with suppress(GrantError):  # somebody was quicker
                self.authority.answer(asked.id, answer, by=f"{self.point} (program)", kind="human")
