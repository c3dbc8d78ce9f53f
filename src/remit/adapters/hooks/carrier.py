"""The hook of a host as a carrier of calls: the host's question in, its answer out, and an attempt in between."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from remit.adapters.hooks import copies, silence
from remit.adapters.hooks.call_ids import call_id
from remit.adapters.hooks.definitions import Definitions
from remit.adapters.hooks.grounds import Grounds, mirrored
from remit.adapters.hooks.installed import Installed
from remit.adapters.hooks.once import Uses
from remit.adapters.hosts import registry
from remit.adapters.hosts.interface import PLAIN_REFUSAL, Event, ReadsByItself, Reply, RunsConfined
from remit.enforce.attempt import Enforcer, Passage, wait
from remit.enforce.carrier import Carried, Carrier, Judged
from remit.enforce.errors import GuardError
from remit.enforce.own_names import ACKNOWLEDGE, OWN_IN_HOST, REQUEST
from remit.enforce.refusal import refusal
from remit.grant.launches import MOST, launches
from remit.model.call import Call, Context, Statement
from remit.model.decision import Decision, Obligation, Remedy
from remit.model.errors import CallError, RemitError
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW, ASK, DENY, HUMAN
from remit.model.text import shown
from remit.record.ids import is_id

if TYPE_CHECKING:
    from remit.adapters.hooks.confined import Confining


class Answer(NamedTuple):
    """The answer to the host, and the id of the call that runs when the host gets it."""

    reply: Reply
    running: str | None = None
    decision: Decision | None = None
    ended: bool = False
    """The host's session is over."""


class HookAnswerer:
    """Answers one host of one project. Safe to use from many threads."""

    def __init__(self, host: str, enforcer: Enforcer, installed: Callable[[], Installed], state: Path) -> None:
        """`installed` looks the record up, again for each question. Raises InstallError then."""
        self.host, self.enforcer, self.installed, self.state = registry.find(host), enforcer, installed, state
        self.uses = Uses(state)
        self.grounds = Grounds(enforcer, state, self.host)
        self.definitions = Definitions(self.host.definition_endings)

    @staticmethod
    def without(name: str, data: bytes, error: RemitError) -> Reply:
        """The answer where there is nothing to decide with, or nowhere to record it."""
        try:
            host = registry.find(name)
        except RemitError as unknown:
            return PLAIN_REFUSAL._replace(err=PLAIN_REFUSAL.err.replace(b"{why}", str(unknown).encode()))
        try:
            if host.read_event(data).when != "before":
                return host.last_resort.silence
        except CallError:
            pass
        return host.answer(refusal(Call("", ""), error.code, f"nothing can be decided: {error}"), None)

    @cached_property
    def confining(self) -> Confining:
        """What runs confined."""
        from remit.adapters.hooks.confined import Confining  # here: most policies confine nothing

        return Confining(self.state, self.enforcer)

    @property
    def has_confined(self) -> bool:
        """Whether something ever ran confined here."""
        return os.path.isdir(self.state / "confine")

    def answer(self, data: bytes, *, alone: bool = False) -> Answer:
        """The answer to a question or report; `alone` if nobody attends the host. Never raises."""
        try:
            event = self.host.read_event(data)
        except CallError as error:
            call = Call("", "")
            return self._refused(
                self.enforcer.refuse(call, refusal(call, error.code, f"the call can't be read: {error}"))
            )
        if event.when in ("end", "other"):
            self.uses.sweep()
            if self.has_confined:
                self._end_confined(event)
            with suppress(RemitError):
                self.look(self.installed(), every=0.0 if event.when == "end" else silence.EVERY)
            return Answer(self.host.last_resort.silence, ended=event.when == "end")
        event = msgspec.structs.replace(event, person=False) if alone else event
        with self.uses.of(_id(event)) if event.use else nullcontext() as use:
            if event.when == "after":
                running = _id(event) if event.use else self._running(event)
                if running is not None and (use is None or not use.ended):
                    self.enforcer.ended(running, "done" if event.failed is None else "failed", error=event.failed)
                told = self._confined(running, event) if running is not None and self.has_confined else None
                if use is not None:
                    use.end()
                return Answer(told if told is not None else self.host.last_resort.silence)
            known = use.answered(event) if use is not None else None
            if known is not None:
                return Answer(known)
            found = self._judged(event)
            if use is not None:
                use.answer(event, found.reply)
            return found

    def _confined(self, running: str, event: Event) -> Reply | None:
        """A run that is over is finished; what the agent is told of it. What runs on in the background is let."""
        try:
            host = self.host
            texts = self.confining.end(running, lambda: host.output(event) if isinstance(host, RunsConfined) else "")
            self.confining.sweep()
        except Exception as error:  # whatever it is, it must not keep how the call ended from being recorded
            texts = [f"Remit: what the command changed could not be looked at ({type(error).__name__})"]
        return self.host.tell("\n".join(texts), event.failed) if texts and isinstance(self.host, RunsConfined) else None

    def sweep(self) -> None:
        """Confined runs that are over are finished, where no report of the host came. Never raises."""
        if isinstance(self.host, RunsConfined) and self.has_confined:
            with suppress(Exception):  # whoever looks next tries again
                self.confining.sweep()

    def _end_confined(self, event: Event) -> None:
        """With a session ends all that runs confined in it."""
        with suppress(Exception):  # the next one tries again
            if event.when == "end":
                self.confining.leave(event.session)
            self.confining.sweep()

    def _judged(self, event: Event) -> Answer:
        """The answer to a question that nobody has answered yet."""
        try:
            installed = self.installed()
        except RemitError:
            installed = None  # what that means for the call is said where it is needed
        missing = copies.gone(installed) if installed is not None else []
        if installed is not None and copies.is_reachable(installed, missing):
            call, id_ = _as_said(event), _id(event) if event.use else None
            help_ = f"a person should find out who removed them, and run `remit install {self.host.name}`"
            reason = (
                f"Remit's hooks are gone from {', '.join(missing)}, and a command could remove the last one; {help_}"
            )
            return self._refused(self.enforcer.refuse(call, refusal(call, "hooks-gone", reason), call_id=id_))
        enforcer = self.grounds.at(installed, event.cwd) if installed is not None else self.enforcer
        carrier = HookCarrier(self, event, enforcer, installed)
        passed = wait(enforcer.attempt(carrier))
        if isinstance(passed, Passage):
            reply = self.host.answer(_with_statement(passed.decision, carrier.statement), carrier.changed)
            found = Answer(reply, carrier.call_id, passed.decision)
        else:
            found = self._refused(passed)
        return self._with_news(found, installed, missing, event.session) if installed is not None else found

    def _with_news(self, answer: Answer, installed: Installed, missing: list[str], session: str) -> Answer:
        """The same, with what people must know: a hook that is gone is said to each session, and recorded once."""
        told, first = copies.news(self.state, installed, missing, session)
        for path in first:
            with suppress(RemitError):
                self.enforcer.ledger.event("unsafe", {"what": "hook-gone", "point": self.host.name, "path": path})
        texts = []
        if told:
            again = f"then run `remit install {self.host.name}`"
            texts.append(f"its hook is gone from {', '.join(told)}; find out who removed it, {again}")
        self.look(installed)
        quiet = silence.sessions(self.state, self.host.name)
        if quiet and copies.news(self.state, installed, quiet, session, about="quiet")[0]:
            count = "a session ran" if len(quiet) == 1 else f"{len(quiet)} sessions ran"
            texts.append(f"{count} tools here that no hook was asked about; run `remit status`")
        return answer._replace(reply=self.host.with_notice(answer.reply, "; ".join(texts))) if texts else answer

    def look(self, installed: Installed, *, every: float = silence.EVERY) -> None:
        """What ran without a hook is recorded, once for each session."""
        for one in silence.look(self.state, installed, self.enforcer.authority.store, every=every):
            about = {"what": "ledger-silent", "point": self.host.name, "session": one.session, "tool": one.tool}
            with suppress(RemitError):
                self.enforcer.ledger.event("unsafe", about)

    def refuse(self, data: bytes, code: str, reason: str) -> Answer:
        """A deny for a question, recorded; nothing for a report. Never raises."""
        try:
            event = self.host.read_event(data)
        except CallError:
            event = Event("before")
        if event.when != "before":
            return Answer(self.host.last_resort.silence)
        call = _as_said(event)
        self.enforcer.not_run(_id(event), code)  # the daemon may have allowed it before it failed
        return self._refused(self.enforcer.refuse(call, refusal(call, code, reason)))

    def _running(self, event: Event) -> str | None:
        """The oldest call of this session that runs and that such a report could be about."""
        start = f"{event.session}/{event.alike}."
        if not event.alike or not is_id(start):
            return None
        with suppress(RemitError), self.enforcer.authority.store.read() as view:
            found = view.rows("SELECT call FROM running WHERE call LIKE ? ORDER BY seq", f"{start}%")
            return next((str(row[0]) for row in found if str(row[0]).startswith(start)), None)
        return None

    def _refused(self, decision: Decision) -> Answer:
        return Answer(self.host.answer(decision, None), decision=decision)

    def vouch(self, agent: str, cwd: str | None) -> None:
        """That the host's agent is the one that was pinned under this name, also in a worktree. Raises RemitError."""
        installed = self.installed()
        pinned = installed.agents.get(agent)
        help_ = f"a person looks at it and runs `remit install {self.host.name}`"
        if pinned is None:
            raise RemitError(f"no agent `{agent[:80]}` existed when Remit was installed", code="unpinned", help=help_)
        try:
            found = self.definitions.of(agent, installed.definitions)
            elsewhere = self.definitions.of(agent, mirrored(installed, cwd))
        except OSError as error:
            raise RemitError(f"the definitions of agents can't be read: {error}", code="unpinned") from None
        if found != pinned:
            raise RemitError(f"the definition of {agent} is not the one that was pinned", code="unpinned", help=help_)
        if not set(elsewhere.values()) <= set(pinned.values()):
            raise RemitError(f"the worktree's definition of {agent} is not the one that was pinned", code="unpinned")


_CAN = frozenset(("create-exclusively", "use-resolved-path"))


class HookCarrier(Carrier):
    """One call that a host asks about. A hook can look just before, and hand changed arguments back."""

    knows_task = False
    always_carries = True

    def __init__(
        self, answerer: HookAnswerer, event: Event, enforcer: Enforcer, installed: Installed | None = None
    ) -> None:
        self.answerer, self.event, self.enforcer, self.installed = answerer, event, enforcer, installed
        self.call = _as_said(event)
        self.call_id = _id(event) if event.use else None
        self.statement: Statement | None = None
        """What the agent said when it asked for the call."""
        self.can = _CAN if answerer.host.can_change_args else _CAN - {"use-resolved-path"}
        if isinstance(answerer.host, RunsConfined) and installed is not None and self.call_id is not None:
            self.can |= {"confine"}
        self.changed: dict[str, Any] | None = None
        """The arguments that the host is to use; None where they stay as they are."""
        self.can_request = False
        """The agent may ask for calls with a statement."""

    def calls(self, rulebook: Rulebook) -> list[Call]:
        """Raises RemitError for a caller that nobody vouches for."""
        event, host = self.event, self.answerer.host.name
        main = rulebook.book.hosts.get(host, {}).get("main")
        if main is None:
            help_ = f"a person adds `hosts: {{{host}: {{main: NAME}}}}` to the policy and runs `remit activate`"
            raise RemitError(f"the policy does not say who the main agent of {host} is", code="no-main", help=help_)
        agent = main
        if event.agent is not None:
            agent = event.agent
            if (
                agent in rulebook.book.callers or rulebook.book.enforce is None
            ):  # of others nothing is known to vouch for
                self.answerer.vouch(agent, event.cwd)
        language, known = self.answerer.host, rulebook.book.tools.keys() | rulebook.book.aliases.keys()
        tool = next((name for name in language.names_of(event.tool) if name in known), event.tool)
        self.can_request = REQUEST in rulebook.book.tools and language.can_change_args
        context = Context(
            cwd=os.path.realpath(event.cwd) if event.cwd is not None else None,  # commands are judged by their text
            mode="interactive" if event.person else "autonomous",
            session=event.within or event.session or None,
        )
        self.call = call = Call(agent, tool, language.effective_args(event.tool, event.args), context)
        if not event.handed:
            return [call]
        chains = launches(self.enforcer.authority.store, event.launched_in or event.session, agent) or [(main,)]
        if len(chains) > MOST:
            raise RemitError(f"{agent} was handed work in more than {MOST} ways in this session", code="broken-chain")
        replace = msgspec.structs.replace
        return [replace(call, context=replace(context, chain=chain)) for chain in chains]

    def asks_itself(self, decision: Decision, rulebook: Rulebook) -> bool:
        """Where somebody sits. A question to an agent is left to that agent, if it can answer."""
        of = decision.needs.of if decision.needs is not None else HUMAN
        return self.event.person and (of == HUMAN or ACKNOWLEDGE not in rulebook.book.tools)

    def check(self, judged: Judged) -> None:
        """Looks whether files are new; while a person is asked, no arguments can be changed."""
        decision, self.statement = judged.decision, judged.call.statement
        fixed = decision.verdict is ASK or not self.answerer.host.can_change_args
        if decision.tool in OWN_IN_HOST and decision.would is None:
            self._check_stamp(judged, fixed)
        if judged.call.args is not self.call.args and fixed and decision.would is None:
            reason = f"{self.answerer.host.name} can't leave out arguments that are null"
            raise GuardError(reason, code="obligation-unsupported")
        host = self.answerer.host
        if decision.would is None and isinstance(host, ReadsByItself):
            for tool, args in host.reads_after(self.event.tool, self.event.args, self.event.cwd):
                self._check_read(judged, tool, args)
        for duty in decision.obligations if decision.would is None else ():
            if duty.do == "create-exclusively":
                _check_new(str(self.event.args.get(duty.arg, "")), self.event.cwd)
            elif duty.do == "confine":
                self._check_confined(duty.arg)
            elif decision.verdict is ASK or duty.arg not in self.event.args:
                raise GuardError(
                    f"{self.answerer.host.name} can't carry out `{duty.do}`", code="obligation-unsupported"
                )

    def _check_confined(self, arg: str) -> None:
        """Raises RemitError where the host is in the way, or would no longer see what its own rules forbid."""
        host, command = self.answerer.host, self.event.args.get(arg)
        if not isinstance(host, RunsConfined) or self.installed is None or not isinstance(command, str):
            raise RemitError(f"{host.name} can't run commands confined", code="confine-unavailable")
        why = host.unconfinable(self.installed)
        if why is not None:
            raise RemitError(why, code="confine-unavailable")
        rule = host.bars(self.installed, self.event.tool, command)
        if rule is not None:
            reason = f"{host.name}'s own rule `{shown(rule, 200)}` forbids it"
            raise GuardError(reason, code="host-rule")

    def _check_read(self, judged: Judged, tool: str, args: dict[str, Any]) -> None:
        """Raises GuardError unless the agent may read by a call what the host would read by itself."""
        call = msgspec.structs.replace(judged.call, tool=tool, args=args)
        found = self.enforcer.judge(call, judged.rulebook, self.knows_task).decision
        if found.verdict is not ALLOW:
            reason = (
                f"{self.answerer.host.name} would read {', '.join(map(str, args.values()))} by itself: {found.reason}"
            )
            raise GuardError(reason, code="import-not-permitted")

    def _check_stamp(self, judged: Judged, fixed: bool) -> None:
        """Remit's own server must be told who calls, for certain. Raises GuardError where that can't be."""
        if fixed or self.call_id is None:
            reason = f"{self.answerer.host.name} can't tell {judged.decision.tool} who makes this call"
            raise GuardError(reason, code="not-stamped")
        if judged.decision.tool == ACKNOWLEDGE and not self.event.named:
            reason = f"{self.answerer.host.name} does not say which agent calls, so nobody can acknowledge here"
            raise GuardError(reason, code="not-stamped")
        if judged.others:
            reason = f"{judged.call.agent} was handed work in several ways, and nobody can tell for which it calls"
            raise GuardError(reason, code="not-stamped")

    def carry_out(self, judged: Judged) -> Carried:
        """The host is handed the paths that were judged; for Remit's own tools, with a stamp that says who calls."""
        duties = judged.decision.obligations if judged.decision.would is None else ()
        found = {duty.arg: duty.value for duty in duties if duty.do == "use-resolved-path"}
        same = judged.call.args is self.call.args  # otherwise something was null, and counts as absent
        args = self.event.args if same else judged.call.args
        self.changed = {**args, **found} if found or not same else None
        undo = self._confine(judged, [duty for duty in duties if duty.do == "confine"], args)
        if judged.decision.tool in OWN_IN_HOST and judged.decision.would is None and self.call_id is not None:
            from remit.adapters.hooks.stamp import stamped  # here: few calls are of Remit's own tools

            call = msgspec.structs.replace(judged.call, tool=judged.decision.tool)
            name = self.answerer.host.name
            self.changed = stamped(self.answerer.state, name, self.call_id, call, self.changed or args)
        return Carried(judged.call.args, undo)

    def _confine(self, judged: Judged, duties: list[Obligation], args: dict[str, Any]) -> Callable[[], None] | None:
        """The host is handed a ticket for the command; returns what takes it back. Raises Unconfinable."""
        host = self.answerer.host
        if not duties or not isinstance(host, RunsConfined) or self.call_id is None:
            return None
        if len(duties) > 1:
            reason = f"{judged.call.agent} was handed work in several ways, and each has limits of its own"
            raise RemitError(reason, code="confine-unavailable")
        [duty], confining = duties, self.answerer.confining
        command = str((self.changed or args)[duty.arg])
        ticket = confining.prepare(judged, self.call_id, self.event.session, command, duty.value)
        asks = judged.decision.verdict is ASK
        self.changed = host.confined_args(self.changed or args, duty.arg, ticket.text, asks=asks)
        return lambda: confining.take_back(ticket)

    def pending(self, decision: Decision) -> Decision:
        """A deny: once it is approved, the same call passes, once."""
        name = decision.needs.approval if decision.needs is not None else None
        of = decision.needs.of if decision.needs is not None else HUMAN
        who = "a person" if of == HUMAN else of
        rest = f"it waits as {name}; when {who} has approved it, make the same call again"
        if name is None:
            rest = f"use the tool {REQUEST} for that" if self.can_request else "nobody can answer that here"
        reason = f"{decision.reason}; {rest}"
        remedy = Remedy(f"{who} approves {name}", command=f"remit approve {name}") if name is not None else None
        return msgspec.structs.replace(decision, verdict=DENY, code="ask-pending", reason=reason, remedy=remedy)


def _with_statement(decision: Decision, said: Statement | None) -> Decision:
    """A question as a person is to read it: with what the agent says about its call."""
    if decision.verdict is not ASK or said is None:
        return decision
    text = "; ".join(f"{name}: {shown(value, 200)}" for name, value in msgspec.structs.asdict(said).items() if value)
    return msgspec.structs.replace(decision, reason=f"{decision.reason}. {decision.agent} says: {text}")


def _as_said(event: Event) -> Call:
    """The call in the host's words, for what is refused before the policy's are known."""
    return Call(event.agent or "", event.tool, event.args, Context(session=event.session or None))


def _check_new(text: str, cwd: str | None) -> None:
    """Raises GuardError if a file is there, or nobody can tell. A hook can only look just before."""
    try:
        os.lstat(os.path.join(cwd or ".", text))
    except FileNotFoundError:
        return
    except (OSError, ValueError):
        raise GuardError("whether the file is new can't be told", code="not-new") from None
    raise GuardError("the file exists already, and only new ones may be created", code="not-new")


def _id(event: Event) -> str:
    return call_id(event.session, event.use)
