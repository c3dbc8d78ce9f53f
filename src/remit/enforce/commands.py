"""Commands that a program runs for an agent: decided, profiled, confined, swept, recorded.

with guard, guard.agent("builder"):
    ran = guard.run("make test")                # or raises CallDenied, CallPending
    ran.code, ran.out, ran.findings, ran.messages

A command is a call of the policy's shell tool. What runs is the text that was judged, by bash.
"""

from __future__ import annotations

import os
import shlex
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from remit.confine.destinations import Contact
from remit.confine.interface import Change, Place, Unconfinable, state_for
from remit.confine.network import Session
from remit.confine.pick import holds, pick
from remit.confine.process import Bounds, NotStarted
from remit.confine.run import Confinement, Ended, Ran, Running, Unconfined
from remit.confine.sweep import Finding
from remit.decide.profile import profile_of_call
from remit.enforce.attempt import Enforcer, Passage
from remit.enforce.carrier import Carried, Carrier, Judged
from remit.enforce.errors import GuardError
from remit.enforce.ran import MAX_RECORDED, record_contact, record_ran
from remit.explain.cells import DENIED
from remit.explain.matrix import cell_for
from remit.grant.asks import AskState
from remit.model.call import Call, Statement
from remit.model.facts import Facts
from remit.model.profile import Network
from remit.model.rulebook import Rulebook
from remit.model.text import shown, suggestion

if TYPE_CHECKING:
    from remit.enforce.guard import Guard

CONFINE = "confine"
"""The obligation: the command runs inside the profile whose digest it names."""
_SHELLS = "/usr/bin:/bin:/usr/local/bin"
Command = str | Sequence[str]


def text_of(command: Command) -> str:
    """The text that is judged and runs. Raises GuardError."""
    if isinstance(command, str):
        return command
    words = list(command)
    if not words or not all(type(word) is str and "\0" not in word for word in words):
        raise GuardError("a command is a text, or a list of words", code="bad-command")
    return shlex.join(words)


def in_bash(text: str) -> tuple[str, ...]:
    """The words that run a text. Raises NotStarted."""
    found = shutil.which("bash", path=_SHELLS)
    if found is None:
        raise NotStarted("`bash` is not installed")
    return (found, "-c", text)


def shell_tool(rulebook: Rulebook, agent: str, name: str | None) -> tuple[str, str]:
    """The tool that runs commands, and its argument. Raises GuardError if nobody can tell which one is meant."""
    tools = rulebook.book.tools
    shells = {
        tool: argument
        for tool, declared in tools.items()
        for argument, about in declared.args.items()
        if about.kind == "shell" and argument.isidentifier()
    }
    if name is not None:
        name = rulebook.book.aliases.get(name, name)
        if name not in shells:
            known = suggestion(name, shells)
            raise GuardError(f"`{shown(name)}` is not a tool that runs commands{known}", code="no-shell-tool")
        return name, shells[name]
    usable = shells
    if len(shells) > 1 and agent in rulebook.book.callers:
        usable = {tool: arg for tool, arg in shells.items() if cell_for(rulebook, agent, tool).symbol != DENIED}
    if len(usable) != 1:
        which = ", ".join(sorted(usable or shells)) or "none"
        help = "say which: `guard.run(…, tool=…)`" if shells else "declare one, with an argument of the kind `shell`"
        raise GuardError(f"it is unclear which tool runs commands: {which}", code="no-shell-tool", help=help)
    return next(iter(usable.items()))


class Commands:
    """How one guard runs commands: its own enforcer, which knows what is held here, and what confines."""

    def __init__(self, guard: Guard, enforcer: Enforcer, facts: Callable[[Rulebook], Facts], state: Path) -> None:
        """`enforcer` and `facts` are those of the guard's other calls; `state` is its state directory."""
        self._guard, self._facts, self._own = guard, facts, state
        self.state = state_for(state)
        self.enforcer = Enforcer(enforcer.authority, enforcer.ledger, enforcer.rulebook, self._known)
        self.enforcer.reads, self.enforcer.schemas = enforcer.reads, enforcer.schemas
        self._sessions: dict[tuple[str, Network], Session] = {}
        self._lock = threading.Lock()

    def _known(self, rulebook: Rulebook) -> Facts:
        return msgspec.structs.replace(self._facts(rulebook), confined=holds(self.state))

    def place(self) -> Place:
        """Where commands of the agent that acts run. Raises RemitError."""
        facts = self._facts(self._guard.rulebook)
        root = Path(os.path.realpath(self._guard.root))
        cwd = Path(os.path.realpath(self._guard.directory))
        sealed = tuple(Path(path) for path in facts.sealed)
        return Place(root=root, cwd=cwd, state=self.state, unseen=(self._own,), sealed=sealed)

    def session(self, agent: str, network: Network) -> Session | None:
        """What leads an agent's commands to the hosts that they may reach, and nowhere else. Raises Unconfinable.

        Its commands share one, so that a server that one of them starts is reached by the next.
        """
        if network.mode != "hosts":
            return None
        with self._lock:
            found = self._sessions.get((agent, network))
            if found is None or not found.is_alive:
                if found is not None:
                    found.close()
                found = Session.start(network, lambda contact: self._reached(agent, contact))
                self._sessions[agent, network] = found
            return found

    def _reached(self, agent: str, contact: Contact) -> None:
        """Each attempt to reach something is recorded; what can't be recorded is not reached."""
        record_contact(self.enforcer, agent, contact)

    def close(self) -> None:
        """Ends the sessions, and with them all that runs in them."""
        with self._lock:
            sessions = list(self._sessions.values())
            self._sessions.clear()
        for session in sessions:
            session.close()

    def call(self, command: Command, tool: str | None, statement: Statement | None) -> Call:
        """The call of the shell tool that a command is. Raises GuardError."""
        text, rulebook = text_of(command), self._guard.rulebook
        acting = self._guard._called("", {}, statement)
        name, argument = shell_tool(rulebook, acting.agent, tool)
        return msgspec.structs.replace(acting, tool=name, args={argument: text})


class CommandCarrier(Carrier):
    """A command that this program runs."""

    can = frozenset((CONFINE,))
    always_carries = True

    def __init__(
        self,
        guard: Guard,
        commands: Commands,
        call: Call,
        words: Sequence[str],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """`words` are what runs: the text of the call, as bash or its one program takes it. `environment`: its
        variables, before the profile leaves most of them out; those of this process if absent."""
        self._guard, self._commands, self.call, self.wait = guard, commands, call, guard.wait
        self._words, self._environment = tuple(words), environment if environment is not None else os.environ
        self._place = commands.place()
        self._limits: Confinement | Unconfined | None = None
        self._session: Session | None = None
        self._policy, self._mark = "", 0

    def on_question(self, question: AskState, call: Call) -> None:
        """As of every call of the guard."""
        self._guard._asked(question, call)

    def carry_out(self, judged: Judged) -> Carried:
        """Prepares the limits. Raises Unconfinable where they can't be and the policy requires them."""
        self._policy = judged.rulebook.hash
        self._limits = limits = self._prepared(judged)
        return Carried(judged.call.args, undo=lambda: _let_go(limits))

    def _prepared(self, judged: Judged) -> Confinement | Unconfined:
        duty = next((one for one in judged.decision.obligations if one.do == CONFINE), None)
        caller = judged.rulebook.book.callers.get(judged.call.agent)
        mode = caller.confine if caller is not None else None
        if duty is None and (mode == "off" or judged.decision.would is not None):
            return Unconfined(self._place, self._environment)
        try:
            profile = profile_of_call(judged.rulebook, judged.call, judged.facts)
            if duty is not None and duty.value != profile.digest:
                raise Unconfinable("the profile is not the one under which the command was allowed")
            place, session = self._place, self._commands.session(judged.call.agent, profile.network)
            if session is not None:
                place = msgspec.structs.replace(place, join=session.words, proxy=session.variables)
                self._session, self._mark = session, session.mark
            return Confinement(profile, place, pick(self._commands.state, profile), self._environment)
        except Unconfinable:
            if duty is not None or mode == "required":
                raise
            return Unconfined(self._place, self._environment)

    def begun(self, passage: Passage) -> Begun:
        """The command, once it may run. Raises GuardError."""
        if self._limits is None:
            raise GuardError("the command has no limits", code="bad-command")
        return Begun(
            self._commands.enforcer, self.call, passage, self._limits, self._words, self._policy, self._refused
        )

    def _refused(self) -> tuple[str, ...]:
        """What the proxy refused since: of all commands of the session, which share it."""
        contacts = self._session.contacts(self._mark) if self._session is not None else []
        return tuple(dict.fromkeys(one.message for one in contacts if one.verdict == "refused"))[:MAX_RECORDED]


def _let_go(limits: Confinement | Unconfined) -> None:
    limits.end()


class Begun:
    """A command that may run: its limits, and what is recorded of it when it has ended."""

    def __init__(
        self,
        enforcer: Enforcer,
        call: Call,
        passage: Passage,
        limits: Confinement | Unconfined,
        command: tuple[str, ...],
        policy: str,
        refused: Callable[[], tuple[str, ...]],
    ) -> None:
        """`refused` says what the proxy refused, in words for the agent."""
        self._enforcer, self._call, self._passage, self._policy = enforcer, call, passage, policy
        self._refused = refused
        self.limits, self.command = limits, command
        self._lock = threading.Lock()
        self._recorded = False

    def run(self, bounds: Bounds, stdin: bytes | None, stopped: Callable[[], bool]) -> Ran:
        """To its end. Raises NotStarted."""
        with self._failing():
            found = self.limits.run(self.command, bounds, stdin=stdin, stopped=stopped)
        self._record(found.findings, found.changes, found.sweep, found.code)
        return msgspec.structs.replace(found, refused=self._refused())

    def popen(self, options: dict[str, Any]) -> Running:
        """A process to talk to; how it ended is recorded then. Raises NotStarted."""
        with self._failing():
            return Running(self.command, self.limits, ended=self.ended, **options)

    def ended(self, found: Ended, code: int | None) -> None:
        """It has ended and was swept."""
        self._record(found.findings, found.changes, found.sweep, code)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.limits.end()
            self._passage.failed(error)
            raise

    def _record(
        self, findings: Sequence[Finding], changes: Sequence[Change] | None, sweep: int, code: int | None
    ) -> None:
        """Records how it ended, once: what held it and what was found, an incident for what it did, the outcome."""
        with self._lock:
            if self._recorded:
                return
            self._recorded = True
        call, passage, enforcer = self._call, self._passage, self._enforcer
        record_ran(
            enforcer,
            call=passage.call,
            agent=call.agent,
            tool=call.tool,
            backend=self.limits.name,
            profile=self.limits.digest,
            policy=self._policy,
            capsule=call.context.capsule,
            findings=findings,
            changes=changes,
            sweep=sweep,
            code=code,
        )
        passage.done()


class Launching:
    """A command for a tool that starts its processes itself: the words, the variables, and where."""

    def __init__(self, begun: Begun) -> None:
        limits = begun.limits
        self.words = limits.words(begun.command)
        """All of them, limits first."""
        self.environment = limits.environment
        self.cwd = limits.place.cwd
        self.code: int | None = None
        """For the record: how it ended, if whoever started it says so."""
        self.findings: tuple[Finding, ...] = ()
        """What was found, after the block."""


@contextmanager
def launched(begun: Begun) -> Iterator[Launching]:
    """Whatever was started by the words has ended when the block ends: then it is swept and recorded."""
    found = Launching(begun)
    try:
        yield found
    finally:
        ended = begun.limits.end()
        found.findings = ended.findings
        begun.ended(ended, found.code)
