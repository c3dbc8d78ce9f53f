"""Guard: every tool call goes through it. It decides, asks and waits or refuses, records, runs, records the outcome.

guard = Guard("remit.yaml")

@guard.tool(does={"write": "path"}, tier=1)
def create_file(path: Path, content: str) -> None:
    path.write_text(content)

with guard, guard.agent("researcher"):
    create_file(Path("research/a.yaml"), "x: 1")        # or raises CallDenied, CallPending
"""

from __future__ import annotations

import copy
import os
import sys
import threading
import time
import warnings
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, ParamSpec, Self, TypeVar

from remit.compile import build_rulebook, load_rulebook
from remit.compile.functions import check_functions, is_word_of_scopes
from remit.confine.process import Bounds
from remit.confine.run import Ran, Running
from remit.enforce.acting import Acting, acting_for, process
from remit.enforce.appearance import looks_like
from remit.enforce.attempt import Enforcer, Passage, wait
from remit.enforce.carrier import Carried, Carrier, Judged
from remit.enforce.codec import Unfit, plain_copy
from remit.enforce.commands import Command, CommandCarrier, Commands, Launching, in_bash, launched, text_of
from remit.enforce.contract import check_tools
from remit.enforce.declared import Declared, name_of
from remit.enforce.duties import CAN, Duties
from remit.enforce.errors import CallDenied, CallPending, GuardError, NotActivated, Refused
from remit.enforce.event_loop import run_async, until_stopped, wait_async
from remit.enforce.handover import entered
from remit.enforce.in_force import Activated, activated_above, ledger_settings, may_be_activated
from remit.enforce.later import AsyncStream, runs_later
from remit.enforce.open_file import OpenFiles
from remit.enforce.own import own_tool
from remit.enforce.own_names import OWN
from remit.enforce.paths import facts_at, place, texts_at
from remit.enforce.schema import tool_schema
from remit.enforce.schemas import Schemas
from remit.enforce.webhook import Webhook
from remit.explain.cells import DENIED
from remit.explain.matrix import cell_for, tool_for, tools_of
from remit.grant.asks import AskState
from remit.grant.authority import Authority
from remit.grant.errors import GrantError
from remit.model.arguments import check_arguments, unfit
from remit.model.call import NO_CONTEXT, Call, Statement
from remit.model.decision import Decision
from remit.model.errors import PolicyError, Problem, RemitError
from remit.model.facts import Facts
from remit.model.policy import LedgerSettings
from remit.model.rulebook import Rulebook
from remit.model.terms import ASK
from remit.model.text import shown, suggestion
from remit.record.errors import LedgerWarning
from remit.record.open import Opened, Settings, open_ledger

P = ParamSpec("P")
R = TypeVar("R")
Policy = str | os.PathLike[str] | Mapping[str, Any] | Rulebook
Answerer = Callable[[AskState, dict[str, Any]], Literal["approve", "refuse"] | None]


def _warn(fault: str) -> None:
    """Says what is wrong with the ledger to whoever runs the program."""
    warnings.warn(LedgerWarning(fault), stacklevel=6)


_ARGUMENTS = {
    "root": "path?",
    "state": "path?",
    "store": "text?",
    "point": "text",
    "wait": "seconds",
    "answer": "function?",
    "on_question": "function?",
    "schemas": "mapping?",
    "unsafe_no_activation": "flag",
}


def _check_policy(policy: Any) -> None:
    """Raises ArgumentError for what is no policy, and PolicyError where there is no such file."""
    if isinstance(policy, Rulebook | Mapping):
        return
    if not isinstance(policy, str | os.PathLike) or not isinstance(os.fspath(policy), str):
        raise unfit("Guard", "policy", "a policy file (str or os.PathLike), a mapping or a Rulebook", policy)
    if not os.path.lexists(policy):
        raise PolicyError((Problem("no-policy", "no such file", shown(policy, 300), "`remit init` writes one"),))


class Guard:
    """Puts a program's tools behind a policy. Safe to use from many threads and tasks."""

    def __init__(
        self,
        policy: Policy,
        *,
        root: str | os.PathLike[str] | None = None,
        state: str | os.PathLike[str] | None = None,
        store: str | None = None,
        point: str = "guard",
        wait: float = 0.0,
        answer: Answerer | None = None,
        on_question: Callable[[AskState], None] | None = None,
        refusals: Literal["raise", "return"] = "raise",
        schemas: Mapping[str, Any] | None = None,
        unsafe_no_activation: bool = False,
    ) -> None:
        """`wait`: seconds that a call waits for an answer. `answer`: the program answers itself; None leaves it open.

        `on_question` is called with every question, to pass it on (`Webhook` is one). `schemas`: by tool, a connection,
        a database file or a dump, which tells what its SQL reaches. Nothing is opened yet. `unsafe_no_activation`: the
        policy counts as it is written, below a directory with an activated one. Raises ArgumentError for an argument
        of a wrong type, and PolicyError if there is no such file.
        """
        given: dict[str, Any] = {
            "root": root,
            "state": state,
            "store": store,
            "point": point,
            "wait": wait,
            "answer": answer,
        }
        given |= {"on_question": on_question, "schemas": schemas, "unsafe_no_activation": unsafe_no_activation}
        check_arguments("Guard", _ARGUMENTS, **given)
        if refusals not in ("raise", "return"):
            raise unfit("Guard", "refusals", '"raise" or "return"', refusals)
        _check_policy(policy)
        self._unsafe = unsafe_no_activation
        self._policy, self._root, self._store = policy, root, store
        self._state = Path(state) if state is not None else None
        self.point, self.wait, self.answer, self.refusals = point, wait, answer, refusals
        self.on_question = on_question
        self._schemas = Schemas(schemas or {})
        self._functions: dict[str, Declared] = {}
        self._opened: Opened | None = None
        self._enforcer: Enforcer | None = None
        self._source: Activated | None = None
        self._own: Rulebook | None = None
        self._taken: Rulebook | None = None
        self._looked = 0
        self._placed: tuple[Rulebook, Facts] | None = None
        self._seen: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        self._lock = threading.RLock()
        self.blocks = object()
        """Stands for this guard in the blocks of its agents."""
        self._of_parent: list[Opened] = []
        self._commands: tuple[Enforcer, Commands] | None = None
        _guards.add(self)

    # Beginning and ending

    def start(self) -> Self:
        """Loads the policy with the functions' tools and opens the ledger. Raises PolicyError and RemitError."""
        with self._lock:
            if self._enforcer is None:
                self._open()
        return self

    def _forked(self) -> None:
        """In a child everything is opened anew, at its first use. The parent's connections are left alone."""
        self._lock = threading.RLock()
        if self._opened is not None:
            self._of_parent.append(self._opened)
        self._opened = self._enforcer = None

    def _check_names(self, rulebook: Rulebook) -> None:
        """Raises GuardError for a function whose name is another name of another tool."""
        for name in self._functions:
            other = rulebook.book.aliases.get(name, name)
            if other != name:
                raise GuardError(f"`{name}` is declared twice: it is an alias of `{other}`", code="bad-tool")

    def close(self) -> None:
        """Everything that was recorded is on disk. Raises LedgerUnavailable if it isn't."""
        with self._lock:
            enforcer, opened, commands = self._enforcer, self._opened, self._commands
            self._opened = self._enforcer = self._commands = None
        if commands is not None:
            commands[1].close()
        if enforcer is not None:
            enforcer.closed = True
            enforcer.record_left()
        if opened is not None:
            opened.close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def flush(self) -> None:
        """Everything that was recorded until now is on disk. Raises LedgerUnavailable if it isn't."""
        self.enforcer.record_left()
        self.enforcer.ledger.flush()

    @property
    def enforcer(self) -> Enforcer:
        """Where calls are attempted, opened if it wasn't yet."""
        found = self._enforcer
        return found if found is not None else self.start().enforcer

    @property
    def rulebook(self) -> Rulebook:
        """What is in force."""
        return self.enforcer.rulebook()

    @property
    def authority(self) -> Authority:
        """Capsules, asks and hand-overs, for the program itself."""
        return self.enforcer.authority

    @property
    def root(self) -> Path:
        """Where paths begin. A function gets absolute paths: `path.relative_to(guard.root)` is short again."""
        rulebook = self.rulebook
        return Path(self._facts(rulebook).root or self._root_under(rulebook))

    @property
    def directory(self) -> Path:
        """Where relative paths of the agent that acts begin: for tools that run commands, `run(…, cwd=…)`."""
        acting = acting_for(self.blocks)
        return self.root / ((acting.context.cwd if acting is not None else None) or ".")

    @property
    def policy(self) -> Policy:
        """The policy as it was given: a file, a dict or a rulebook."""
        return self._policy

    @property
    def declarations(self) -> dict[str, Mapping[str, Any]]:
        """The tools of its functions, in the format of a policy's `tools`."""
        return {name: tool.declaration for name, tool in self._functions.items()}

    def _open(self) -> None:
        written: Rulebook | None = None
        try:
            written = self._written()
        except RemitError:
            if not self._is_file or not may_be_activated(self._home, self._state, self._store):
                raise  # with nothing opened
        opened = open_ledger(
            self._home,
            point=self.point,
            state=self._state,
            url=self._store,
            settings=self._ledger_settings(written),
            on_fault=_warn,
        )
        for fault in opened.warnings:
            _warn(fault)
        try:
            self._source = Activated(self._home, opened.store) if self._is_file and not self._unsafe else None
            self._own, self._taken, self._placed, self._opened = written, None, None, opened
            found = self._source.current() if self._source is not None else None
            if found is not None:
                self._say_if_other(found, opened)
            else:
                self._not_below_another()
                self._own = written if written is not None else self._written()
                self._check_names(self._own)
            self._facts(self._in_force())
            self._schemas.check(self._in_force())
        except BaseException:
            self._opened = None
            opened.close()
            raise
        authority = Authority(opened.store, opened.vault)
        self._enforcer = Enforcer(authority, opened.ledger, self._in_force, self._facts)
        self._enforcer.schemas = self._schemas.facts if self._schemas else None
        self._enforcer.reads = self._source is not None and self._source.far
        if isinstance(self.on_question, Webhook):
            self.on_question.attach(authority.arguments)

    def _ledger_settings(self, written: Rulebook | None) -> Settings:
        if written is not None and (self._unsafe or not self._is_file):
            return lambda store: written.book.ledger or LedgerSettings()
        return ledger_settings(self._home, written)

    @property
    def _is_file(self) -> bool:
        return not isinstance(self._policy, Rulebook | Mapping)

    @property
    def _home(self) -> Path:
        """The directory whose activation counts."""
        policy = self._policy
        return Path(policy).absolute().parent if self._is_file else self._here  # type: ignore[arg-type]

    @property
    def _here(self) -> Path:
        return Path(self._root or ".").absolute()

    def _in_force(self) -> Rulebook:
        """The rulebook for the next call: the activated one, from the first activation on. Raises RemitError."""
        found = self._source.current() if self._source is not None else None
        if found is None:
            second = int(time.monotonic())
            if second != self._looked and not self._unsafe:
                self._not_below_another()
                self._looked = second
            if self._own is None:
                raise GuardError("no policy is in force", code="no-rulebook")
            return self._own
        if found is not self._taken:
            self._check_names(found)
            check_functions(found, self.declarations)
            self._taken = found
        return found

    def _not_below_another(self) -> None:
        """Raises GuardError if a policy is activated here that this guard would not obey."""
        above = activated_above(self._home) or activated_above(self._here)
        if above is not None:
            self._without_activation(above)

    def _root_under(self, rulebook: Rulebook) -> Path:
        """Where paths begin under this rulebook."""
        return self._here if self._root is not None or not self._is_file else self._home / rulebook.book.root

    def _facts(self, rulebook: Rulebook) -> Facts:
        """What is known before any call. Raises RemitError."""
        placed, opened = self._placed, self._opened
        if placed is not None and placed[0] is rulebook:
            return placed[1]
        if opened is None:
            raise GuardError("the guard was closed", code="guard-closed")
        facts = facts_at(self._root_under(rulebook), opened.state)
        if facts.resolved is not None:  # a root that isn't there is looked for again
            self._placed = (rulebook, facts)
        return facts

    def _written(self) -> Rulebook:
        """The policy as it was handed over. Raises PolicyError and GuardError."""
        functions, policy = self.declarations, self._policy
        if isinstance(policy, Rulebook):
            missing = sorted(functions.keys() - policy.book.tools.keys())
            if missing:
                help = "declare it in the policy, or run `remit publish` and `remit activate`"
                raise GuardError(f"the rulebook has no tool `{missing[0]}`", code="undeclared-tool", help=help)
            check_functions(policy, functions)
            return policy
        if isinstance(policy, Mapping):
            return build_rulebook(policy, functions=functions)
        return load_rulebook(policy, functions=functions)

    def _say_if_other(self, found: Rulebook, opened: Opened) -> None:
        """Says so if the policy as it is written is not the one that was activated."""
        if self._own is None or self._own.hash != found.hash:
            what = f"{self._policy} is not the policy that was activated, which stays in force: run `remit activate`"
            opened.ledger.event("start", {"what": "not-activated", "point": self.point})
            warnings.warn(NotActivated(what), stacklevel=5)

    def _without_activation(self, above: Path) -> None:
        """Records that a policy nobody activated is used. Raises GuardError unless the program says that it may be."""
        if not self._unsafe:
            what = f"a policy is activated for {above}, and this guard would use another one"
            help = "use that policy's file, or say Guard(…, unsafe_no_activation=True); in tests `remit.testing.guard`"
            raise GuardError(what, code="not-activated", help=help)
        with open_ledger(above, point=self.point, settings=ledger_settings(above)) as opened:
            opened.ledger.event("unsafe", {"what": "unsafe-no-activation", "point": self.point})

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
        version: str | None = None,
        streams: bool = False,
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Declares a function as a tool; its calls then go through the guard. Raises GuardError if it can't be a tool.

        With `streams`, an iterator that it returns is part of the call, as generators always are.
        """
        if name is not None and not isinstance(name, str):  # `@guard.tool` alone would be given the function
            raise GuardError("`@guard.tool` needs parentheses", code="bad-tool", help="write `@guard.tool(does=…)`")
        declaration = {
            "does": does,
            "accessible_by": accessible_by,
            "tier": tier,
            "layer": layer,
            "category": category,
            "risk": risk,
            "confirm": confirm,
            "interaction": interaction,
            "dialect": dialect,
            "version": version,
        }

        def declare(function: Callable[P, R]) -> Callable[P, R]:
            if isinstance(function, staticmethod | classmethod):
                inner = self._declare(
                    function.__func__, name or name_of(function.__func__), declaration, kinds or {}, streams
                )
                return type(function)(inner)
            return self._declare(function, name or name_of(function), declaration, kinds or {}, streams)

        return declare

    def _declare(
        self,
        function: Callable[P, R],
        name: str,
        declaration: Mapping[str, Any],
        kinds: Mapping[str, str],
        streams: bool,
    ) -> Callable[P, R]:
        if self._enforcer is not None:
            raise GuardError(f"`{name}` is declared after the guard was started", code="bad-tool")
        if name in self._functions:
            raise GuardError(f"`{name}` is declared twice", code="bad-tool")
        if is_word_of_scopes(name):
            help = f'give the tool another name: @guard.tool("run_{name}")'
            raise GuardError(f"`{name}` is a word of scopes and can't name a tool", code="bad-tool", help=help)
        tool = self._functions[name] = Declared(function, name, declaration, kinds)
        tool.streams = streams
        as_function = looks_like(function, tool.outer_signature, tool.documentation)
        if tool.yields_async:

            @as_function
            def streaming(*args: P.args, **named: P.kwargs) -> Any:
                try:
                    on, judged = tool.taken(args, named)
                except Unfit as unfit:
                    return self._stream(tool, self._called(name, {}), unfit)
                return self._stream(on, self._called(name, judged))

            return streaming
        if tool.is_async:

            @as_function
            async def passing(*args: P.args, **named: P.kwargs) -> Any:
                try:
                    on, judged = tool.taken(args, named)
                except Unfit as unfit:
                    return await self._acall(tool, self._called(name, {}), unfit)
                return await self._acall(on, self._called(name, judged))

            return passing  # type: ignore[return-value]

        @as_function
        def passed(*args: P.args, **named: P.kwargs) -> Any:
            try:
                on, judged = tool.taken(args, named)
            except Unfit as unfit:
                return self._call(tool, self._called(name, {}), unfit)
            return self._call(on, self._called(name, judged))

        return passed

    def tools_for(self, agent: str) -> list[dict[str, Any]]:
        """The tools that the agent may see, as JSON Schema for a model. Raises GuardError for an unknown agent."""
        check_arguments("tools_for", {"agent": "text"}, agent=agent)
        rulebook = self.rulebook
        caller = rulebook.book.callers.get(agent)
        if caller is None:
            raise GuardError(
                f"the policy knows no agent `{shown(agent)}`{suggestion(agent, rulebook.book.callers)}",
                code="unknown-agent",
            )
        key = (agent, caller.roles, rulebook.hash)
        found = self._seen.get(key)
        if found is None:
            self._seen = {known: tools for known, tools in self._seen.items() if known[2] == rulebook.hash}
            found = self._seen[key] = self._visible(rulebook, agent)
        return copy.deepcopy(found)

    def check_tools(self, agent: str, tools: Iterable[str]) -> None:
        """Checks the tools of a new agent: raises InvalidToolError for one that is unknown or that it may not use."""
        check_tools(self.rulebook, agent, tools)

    def _visible(self, rulebook: Rulebook, agent: str) -> list[dict[str, Any]]:
        if not rulebook.book.callers[agent].enabled:
            return []
        offered = self._functions.keys() | OWN
        names = [name for name in tools_of(rulebook) if name in offered]
        seen = [name for name in names if cell_for(rulebook, agent, name).symbol != DENIED]
        tools = (tool_for(rulebook, agent, name) for name in seen)
        return [tool_schema(tool, self._functions.get(tool.name)) for tool in tools if tool is not None]

    # Who acts

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
    ) -> AbstractContextManager[Acting]:
        """Calls within the block are calls of this agent. A block within another agent's block is a hand-over.

        A hand-over gets its own capsule below the giver's, which ends with the block, and inherits what is not
        said here: session, mode, environment, cwd, data tier. Raises GrantError.
        """
        check_arguments("agent", {"name": "text", "capsule": "text?"}, name=name, capsule=capsule)
        more = {"session": session, "mode": mode, "environment": environment, "cwd": cwd, "data_tier": data_tier}
        return _Block(self, name, capsule, ticket, more)

    def _called(self, tool: str, args: dict[str, Any], statement: Statement | None = None) -> Call:
        acting = acting_for(self.blocks)
        if acting is None:
            raise GuardError(f"nobody acts here: call `{tool}` within `with guard.agent(…)`", code="no-agent")
        return Call(acting.agent, tool, args, acting.context, statement)

    # Calls

    def call(self, tool: str, args: Mapping[str, Any] | None = None, *, statement: Statement | None = None) -> Any:
        """Calls a tool by name, as a model does. Raises CallDenied and CallPending, or returns Refused."""
        try:
            declared, call = self._found(tool, args, statement)
        except Unfit as unfit:
            return self._call(None, self._called(tool, {}, statement), unfit)
        if declared is not None and declared.is_async:
            raise GuardError(f"`{tool}` is async: use `await guard.acall(…)`", code="bad-tool")
        return self._call(declared, call)

    async def acall(
        self, tool: str, args: Mapping[str, Any] | None = None, *, statement: Statement | None = None
    ) -> Any:
        """`call` for async programs; waiting blocks no other task."""
        try:
            declared, call = self._found(tool, args, statement)
        except Unfit as unfit:
            return await self._acall(None, self._called(tool, {}, statement), unfit)
        return await self._acall(declared, call)

    def _found(
        self, tool: str, args: Mapping[str, Any] | None, statement: Statement | None
    ) -> tuple[Declared | None, Call]:
        """Without a function it is decided and refused: the policy may know tools that this program doesn't have."""
        declared = self._functions.get(self.rulebook.book.aliases.get(tool, tool))
        if declared is None:
            own = self._about_a_call(tool, plain_copy(dict(args or {})))  # of others, `Declared` makes the copy
            return None, self._called(tool, own, statement)
        if declared.is_method:
            help = "call it on its object, or declare the bound method"
            raise GuardError(f"`{tool}` is a method", code="bad-tool", help=help)
        return declared, self._called(tool, declared.received(args or {}), statement)

    def _about_a_call(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """For Remit's own tools: the call that they are about has its arguments as that call would have them."""
        aliases, meant = self.rulebook.book.aliases, args.get("tool")
        found = self._functions.get(aliases.get(meant, meant)) if type(meant) is str else None
        if aliases.get(tool, tool) in OWN and found is not None and isinstance(args.get("args"), dict):
            args["args"] = found.received(args["args"])
        return args

    def _call(self, declared: Declared | None, call: Call, unfit: Unfit | None = None) -> Any:
        carrier = GuardCarrier(self, declared, call, unfit)
        found = wait((self._enforcer or self.enforcer).attempt(carrier))
        if isinstance(found, Passage) and found.places:
            found = found.checked()
        return found.run(carrier.run, carrier.later) if isinstance(found, Passage) else self._refused(found)

    async def _acall(self, declared: Declared | None, call: Call, unfit: Unfit | None = None) -> Any:
        carrier = GuardCarrier(self, declared, call, unfit)
        found = await wait_async(self.enforcer.attempt(carrier))
        if isinstance(found, Passage) and found.places:
            found = found.checked()
        if not isinstance(found, Passage):
            return self._refused(found)
        return await run_async(found, carrier.run_async, carrier.later)

    async def _stream(self, declared: Declared, call: Call, unfit: Unfit | None = None) -> AsyncIterator[Any]:
        """An async generator's call: attempted when its first value is asked for, so that the loop is not held up."""
        found = await self._acall(declared, call, unfit)
        if not isinstance(found, AsyncStream):
            return  # refused, by a guard that returns refusals
        try:
            async for one in found:
                yield one
        finally:
            await found.aclose()

    # Commands

    def run(
        self,
        command: Command,
        *,
        agent: str | None = None,
        tool: str | None = None,
        stdin: bytes | None = None,
        seconds: float = 120.0,
        bytes: int = 1_000_000,
        statement: Statement | None = None,
    ) -> Ran:
        """Runs a command of the agent inside the limits that the policy gives it, waits for it, and sweeps afterwards.

        `command` is a text for bash, or words. It is a call of the policy's shell tool; `tool` says which where there
        are several. `agent` acts, if not the block around this. An exit code other than 0 is no error. Raises
        CallDenied and CallPending, or returns Refused; and NotStarted.
        """
        with self._acting_as(agent):
            carrier = self._command(command, tool, statement)
            found = wait(self._commands_of().enforcer.attempt(carrier))
            if not isinstance(found, Passage):
                return self._refused(found)  # type: ignore[no-any-return]  # by a guard that returns refusals
            return carrier.begun(found).run(Bounds(seconds, bytes), stdin, lambda: False)

    async def arun(
        self,
        command: Command,
        *,
        agent: str | None = None,
        tool: str | None = None,
        stdin: bytes | None = None,
        seconds: float = 120.0,
        bytes: int = 1_000_000,
        statement: Statement | None = None,
    ) -> Ran:
        """`run` in an event loop. If it is cancelled, it ends the command and sweeps first."""
        with self._acting_as(agent):
            carrier = self._command(command, tool, statement)
            found = await wait_async(self._commands_of().enforcer.attempt(carrier))
            if not isinstance(found, Passage):
                return self._refused(found)  # type: ignore[no-any-return]  # by a guard that returns refusals
            begun = carrier.begun(found)
            return await until_stopped(lambda stopped: begun.run(Bounds(seconds, bytes), stdin, stopped))

    def popen(
        self,
        command: Command,
        *,
        agent: str | None = None,
        tool: str | None = None,
        statement: Statement | None = None,
        **streams: Any,
    ) -> Running:
        """Starts a command as a process to talk to: a server, an interpreter, an MCP server.

        `streams` are options of `subprocess.Popen`: stdin, stdout, stderr, text, bufsize. When it has ended, it is
        swept and recorded.
        """
        with self._acting_as(agent):
            carrier = self._command(command, tool, statement)
            found = wait(self._commands_of().enforcer.attempt(carrier))
            return carrier.begun(found).popen(streams) if isinstance(found, Passage) else self._refused(found)

    @contextmanager
    def launching(
        self,
        command: Command,
        *,
        agent: str | None = None,
        tool: str | None = None,
        statement: Statement | None = None,
    ) -> Iterator[Launching]:
        """For a tool that starts processes itself: the `words`, `environment` and `cwd` to start the command with.

        The command must have ended when the block ends; then it is swept. Raises CallDenied and CallPending.
        """
        with self._acting_as(agent):
            carrier = self._command(command, tool, statement)
            found = wait(self._commands_of().enforcer.attempt(carrier))
        if not isinstance(found, Passage):
            raise CallPending(found) if found.verdict is ASK else CallDenied(found)
        with launched(carrier.begun(found)) as launch:
            yield launch

    def _acting_as(self, agent: str | None) -> AbstractContextManager[Any]:
        return self.agent(agent) if agent is not None else nullcontext()

    def _command(self, command: Command, tool: str | None, statement: Statement | None) -> CommandCarrier:
        commands = self._commands_of()
        return CommandCarrier(self, commands, commands.call(command, tool, statement), in_bash(text_of(command)))

    def confines(self, agent: str) -> bool:
        """Whether the policy confines this agent's commands, always or where possible."""
        caller = self.rulebook.book.callers.get(agent)
        return caller is not None and caller.confine in ("required", "preferred")

    def run_program(
        self,
        command: str,
        words: Sequence[str],
        *,
        tool: str,
        environment: Mapping[str, str],
        bounds: Bounds,
        stopped: Callable[[], bool],
    ) -> Ran:
        """For runners: as `run`, with a program of their own choice for the first word of the command, in an
        environment of theirs. INVARIANT: `words` are the words of the command. Raises CallRefused and NotStarted."""
        commands = self._commands_of()
        carrier = CommandCarrier(self, commands, commands.call(command, tool, None), words, environment)
        found = wait(commands.enforcer.attempt(carrier))
        if not isinstance(found, Passage):
            raise CallPending(found) if found.verdict is ASK else CallDenied(found)
        return carrier.begun(found).run(bounds, None, stopped)

    def _commands_of(self) -> Commands:
        """How commands are run here, made at the first one."""
        enforcer = self.enforcer
        with self._lock:
            found, opened = self._commands, self._opened
            if found is None or found[0] is not enforcer:
                if opened is None:
                    raise GuardError("the guard was closed", code="guard-closed")
                found = self._commands = (enforcer, Commands(self, enforcer, self._facts, opened.state))
            return found[1]

    def _asked(self, question: AskState, call: Call) -> None:
        """Tells the program, which may answer at once; what it raises is no answer."""
        if self.on_question is not None:
            with suppress(Exception):
                self.on_question(question)
        answer = self.answer(question, copy.deepcopy(call.args)) if self.answer is not None else None
        if answer is not None:
            with suppress(GrantError):  # somebody was quicker
                self.authority.answer(question.id, answer, by=f"{self.point} (program)", kind="human")

    def _refused(self, decision: Decision) -> Any:
        """Raises CallDenied or CallPending, unless the program prefers to get a Refused returned."""
        if self.refusals == "return":
            return Refused(decision)
        raise CallPending(decision) if decision.verdict is ASK else CallDenied(decision)


_guards: weakref.WeakSet[Guard] = weakref.WeakSet()


def _in_child() -> None:
    for guard in list(_guards):
        guard._forked()


os.register_at_fork(after_in_child=_in_child)


class _Block(AbstractContextManager[Acting]):
    """`with guard.agent(…)`."""

    def __init__(self, guard: Guard, name: str, capsule: str | None, ticket: str | None, more: dict[str, Any]) -> None:
        self._guard, self._name, self._capsule, self._ticket, self._more = guard, name, capsule, ticket, more
        self._entered: list[tuple[AbstractContextManager[Any], Acting]] = []

    def __enter__(self) -> Acting:
        guard = self._guard
        outer = acting_for(guard.blocks)
        before = outer.context if outer is not None else NO_CONTEXT
        more = {key: value if value is not None else getattr(before, key) for key, value in self._more.items()}
        handed = entered(guard.enforcer, outer, self._name, self._capsule, self._ticket, more)
        acting = Acting(guard.blocks, self._name, handed.__enter__())
        acting.enter(sys._getframe(1))
        self._entered.append((handed, acting))
        return acting

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        handed, acting = self._entered.pop()
        acting.leave()
        if acting.process == process[0]:  # a hand-over of the parent ends there
            handed.__exit__(None, None, None)


class GuardCarrier(Carrier):
    """A call to a function of this program, or to one of Remit's own tools."""

    can = CAN

    def __init__(self, guard: Guard, declared: Declared | None, call: Call, unfit: Unfit | None) -> None:
        self._guard, self._declared, self.call, self.wait = guard, declared, call, guard.wait
        self._unfit = unfit
        self._files = OpenFiles() if declared is not None and declared.opens else None

    def calls(self, rulebook: Rulebook) -> Sequence[Call]:
        """The call. Raises Unfit for arguments that are not what the function declares: that is recorded."""
        if self._unfit is not None:
            raise self._unfit
        return (self.call,)

    def can_reach(self, arg: str, args: dict[str, Any]) -> bool:
        """Also inside of lists and objects."""
        return bool(texts_at(args, arg.split(".")))

    def check(self, judged: Judged) -> None:
        """The policy may know tools that this program doesn't have."""
        if self._declared is None and judged.rulebook.book.aliases.get(self.call.tool, self.call.tool) not in OWN:
            raise GuardError(f"this program has no tool `{self.call.tool[:80]}`", code="undeclared-tool")

    def carry_out(self, judged: Judged) -> Carried:
        """Makes every path the absolute one that was judged, and creates files exclusively."""
        call, observed = judged.call, judged.decision.would is not None
        fill = self._declared.fields if self._declared is not None else ()
        args, places = place(judged.rulebook, call, judged.facts, fill=fill, observed=observed)
        close = self._files.close if self._files is not None else None
        if observed:
            return Carried(args, close=close)  # nothing stops what is only observed
        duties = Duties(judged.decision, args) if judged.decision.obligations else None
        return Carried(args, duties.undo if duties is not None else None, places, close)

    def on_question(self, question: AskState, call: Call) -> None:
        """As of every call of the guard."""
        self._guard._asked(question, call)

    def later(self, result: Any, passage: Passage) -> Any:
        """What to return for a result that runs on: it stays within the passage. None for any other."""
        kind = runs_later(result, self._declared is not None and self._declared.streams)
        if kind is None:
            return None
        enforcer, call, seen = self._guard.enforcer, self.call, list[Any]()
        acting = Acting(self._guard.blocks, call.agent, call.context)
        return kind(result, passage, acting, lambda: enforcer.still(call, passage.decision, seen), enforcer.left)

    def run(self, args: dict[str, Any]) -> Any:
        """Calls the function."""
        declared = self._declared
        if declared is None:
            return own_tool(self._guard.enforcer, self.call)
        return declared.run(args, self._files)

    async def run_async(self, args: dict[str, Any]) -> Any:
        """The same, and what an async one returns."""
        result = self.run(args)
        return await result if self._declared is not None and self._declared.is_async else result
