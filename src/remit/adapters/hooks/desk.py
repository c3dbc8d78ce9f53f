"""The desk that hooks come to: a host's question in, its answer out, decided and recorded in between."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from remit.adapters.hooks.definitions import Definitions
from remit.adapters.hooks.installed import Installed
from remit.adapters.hosts import registry
from remit.adapters.hosts.interface import PLAIN_REFUSAL, Event, Reply
from remit.enforce.point import Judged, Point
from remit.enforce.refusal import refusal
from remit.grant.launches import MOST
from remit.model.call import Call, Context
from remit.model.decision import Decision, Remedy
from remit.model.digest import sha256
from remit.model.errors import CallError, RemitError
from remit.model.rulebook import Rulebook
from remit.model.terms import ALLOW, ASK, DENY
from remit.record.entry import ASKED_OF_HOST
from remit.record.ids import is_id


class Answer(NamedTuple):
    """What the host is told, and the call that runs when it hears it."""

    reply: Reply
    running: str | None = None
    decision: Decision | None = None


class HookDesk:
    """Answers one host of one project. Safe to use from many threads."""

    def __init__(self, host: str, point: Point, installed: Callable[[], Installed]) -> None:
        """`installed` looks the record up, again for each question. Raises InstallError then."""
        self.host, self.point, self.installed = registry.find(host), point, installed
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

    def answer(self, data: bytes, *, alone: bool = False) -> Answer:
        """The answer to a question or report; `alone` if nobody attends the host. Never raises."""
        try:
            event = self.host.read_event(data)
        except CallError as error:
            return self._recorded(
                Event("before"), refusal(Call("", ""), error.code, f"the call can't be read: {error}")
            )
        if event.when == "other":
            return Answer(self.host.last_resort.silence)
        if event.when == "after":
            self.point.outcome(_id(event), "done" if event.failed is None else "failed", error=event.failed)
            return Answer(self.host.last_resort.silence)
        call = _as_told(event)
        if alone:
            event = msgspec.structs.replace(event, person=False)
        try:
            rulebook = self.point.rulebook()
            calls = self._calls(event, rulebook)
            call = calls[0]
        except RemitError as error:
            help_ = f"; {error.help}" if error.help else ""
            return self._recorded(event, refusal(call, error.code, f"{error}{help_}"), call)
        except Exception as error:
            return self._recorded(
                event, refusal(call, "point-failed", f"the hook failed ({type(error).__name__})"), call
            )
        judged = self.point.strictest(calls, rulebook)
        decision = self._met(self._asked(judged, event, rulebook), event)
        answer = self._recorded(event, decision, judged.call)
        if answer.decision is None or answer.decision.verdict is DENY:
            return answer
        counted = answer.decision
        if counted.approval == ASKED_OF_HOST:
            counted = msgspec.structs.replace(counted, approval=None)
        refused = self.point.begin(judged, counted, rulebook, _id(event))
        return answer if refused is None else Answer(self.host.answer(refused, None), decision=refused)

    def refuse(self, data: bytes, code: str, reason: str) -> Answer:
        """A deny for a question, recorded; nothing for a report. Never raises."""
        try:
            event = self.host.read_event(data)
        except CallError:
            event = Event("before")
        if event.when != "before":
            return Answer(self.host.last_resort.silence)
        call = _as_told(event)
        self.point.not_run(_id(event), code)  # the daemon may have allowed it before it failed
        return self._recorded(msgspec.structs.replace(event, use=""), refusal(call, code, reason), call)

    # The call

    def _calls(self, event: Event, rulebook: Rulebook) -> list[Call]:
        """The call in the policy's words, once for each chain by which its agent may have come to its work.

        Raises RemitError for a caller that nobody vouches for.
        """
        main = rulebook.book.hosts.get(self.host.name, {}).get("main")
        if main is None:
            name = self.host.name
            help_ = f"a person adds `hosts: {{{name}: {{main: NAME}}}}` to the policy and runs `remit activate`"
            raise RemitError(f"the policy does not say who the main agent of {name} is", code="no-main", help=help_)
        agent = main
        if event.agent is not None:
            agent = event.agent
            self._vouch(agent)
        known = rulebook.book.tools.keys() | rulebook.book.aliases.keys()
        tool = next((name for name in self.host.names_of(event.tool) if name in known), event.tool)
        context = Context(
            cwd=os.path.realpath(event.cwd) if event.cwd is not None else None,  # commands are judged by their text
            mode="interactive" if event.person else "autonomous",
            session=event.session or None,
        )
        call = Call(agent, tool, self.host.effective_args(event.tool, event.args), context)
        if not event.handed:
            return [call]
        replace = msgspec.structs.replace
        chains = self.point.chains(event.session, agent) or [(main,)]
        if len(chains) > MOST:
            raise RemitError(f"{agent} was handed work in more than {MOST} ways in this session", code="broken-chain")
        return [replace(call, context=replace(context, chain=chain)) for chain in chains]

    def _vouch(self, agent: str) -> None:
        """That the host's agent is the one that was pinned under this name. Raises RemitError."""
        installed = self.installed()
        pinned = installed.agents.get(agent)
        help_ = f"a person looks at it and runs `remit install {self.host.name}`"
        if pinned is None:
            raise RemitError(f"no agent `{agent[:80]}` was there when Remit was installed", code="unpinned", help=help_)
        try:
            found = self.definitions.of(agent, installed.definitions)
        except OSError as error:
            raise RemitError(f"the definitions of agents can't be read: {error}", code="unpinned") from None
        if found != pinned:
            raise RemitError(f"the definition of {agent} is not the one that was pinned", code="unpinned", help=help_)

    # What a hook can carry out

    def _asked(self, judged: Judged, event: Event, rulebook: Rulebook) -> Decision:
        """A question goes to the host where somebody sits there; otherwise it waits in the inbox, and the call is
        denied: once it is approved, the same call passes, once."""
        decision = judged.decision
        if decision.verdict is not ASK:
            return decision
        replace = msgspec.structs.replace
        if event.person and (decision.needs is None or not decision.needs.missing):
            return replace(decision, approval=ASKED_OF_HOST)
        decision = self.point.ask(judged, rulebook)
        if decision.verdict is DENY:
            return decision
        name = decision.needs.approval if decision.needs is not None else None
        rest = f"it waits as {name}; when a person has approved it, make the same call again"
        reason = f"{decision.reason}; {rest if name is not None else 'nobody can answer that here'}"
        remedy = Remedy(f"a person approves {name}", command=f"remit approve {name}") if name is not None else None
        return replace(decision, verdict=DENY, code="ask-pending", reason=reason, remedy=remedy)

    def _met(self, decision: Decision, event: Event) -> Decision:
        """A deny if an obligation can't be met: then the allow would not hold."""
        if decision.verdict is DENY or decision.would is not None:
            return decision
        for duty in decision.obligations:
            problem = None
            if duty.do == "create-exclusively":
                problem = _there_already(str(event.args.get(duty.arg, "")), event.cwd)
            elif not (
                duty.do == "use-resolved-path"
                and self.host.can_change_args
                and duty.arg in event.args
                and decision.verdict is ALLOW
            ):
                problem = f"{self.host.name} can't carry out `{duty.do}`"
                return self._denied(decision, "obligation-unsupported", problem)
            if problem is not None:
                return self._denied(decision, "not-new", problem)
        return decision

    def _denied(self, decision: Decision, code: str, reason: str) -> Decision:
        return msgspec.structs.replace(decision, verdict=DENY, code=code, reason=reason, remedy=None, approval=None)

    def _recorded(self, event: Event, decision: Decision, call: Call | None = None) -> Answer:
        call = call if call is not None else Call("", "")
        decision = self.point.record(call, decision, call_id=_id(event) if event.use else None)
        changed = _changed(event.args, decision) if decision.verdict is ALLOW and decision.would is None else None
        runs = decision.verdict is not DENY
        return Answer(self.host.answer(decision, changed), _id(event) if runs and event.use else None, decision)


def _as_told(event: Event) -> Call:
    """The call in the host's words, for what is refused before the policy's are known."""
    return Call(event.agent or "", event.tool, event.args, Context(session=event.session or None))


def _changed(args: dict[str, Any], decision: Decision) -> dict[str, Any] | None:
    """The arguments with resolved paths in them; None where they stay as they are."""
    found = {duty.arg: duty.value for duty in decision.obligations if duty.do == "use-resolved-path"}
    return {**args, **found} if found else None


def _there_already(text: str, cwd: str | None) -> str | None:
    """Why a file can't be created: it is there, or nobody can tell. A hook can only look just before."""
    try:
        found = os.lstat(os.path.join(cwd or ".", text))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return "whether the file is new can't be told"
    return "the file is there already, and only new ones may be created" if stat.S_IFMT(found.st_mode) else None


def _id(event: Event) -> str:
    """The id of the call in the ledger: the host's own, made unique by its session."""
    text = f"{event.session}/{event.use}"
    return text if is_id(text) else f"hook-{sha256(text.encode('utf-8', 'replace')).hexdigest()}"
