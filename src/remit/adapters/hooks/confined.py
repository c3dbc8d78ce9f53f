"""Commands that a host runs confined: prepared before, in the place of the command a ticket, finished after."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from remit.adapters.hooks.keeper import Sessions
from remit.adapters.hooks.tickets import ASKED, GOOD, About, Ticket, Tickets
from remit.confine.environment import surroundings
from remit.confine.interface import Backend, Launch, Place, Unconfinable, state_for
from remit.confine.kept import read, written
from remit.confine.pick import backends, pick
from remit.confine.run import Ended, finished, hints
from remit.confine.sweep import Before, Finding
from remit.decide.profile import profile_of_call
from remit.enforce.attempt import Enforcer
from remit.enforce.carrier import Judged
from remit.enforce.ran import record_contact, record_ran
from remit.model.digest import sha256
from remit.model.errors import RemitError
from remit.model.profile import Profile
from remit.model.terms import ASK

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?")


class Confining:
    """The confined commands of one project's hosts. Safe to use from many threads."""

    def __init__(self, state: Path, enforcer: Enforcer) -> None:
        self.state, self.own, self.enforcer = state, state_for(state), enforcer
        self.tickets, self.sessions = Tickets(self.own), Sessions(self.own)

    def prepare(self, judged: Judged, call_id: str, session: str, command: str, digest: str | None) -> Ticket:
        """A ticket for the command, with all that it needs in place. Raises Unconfinable, and leaves nothing then."""
        profile = _profile(judged, digest)
        backend = pick(self.own, profile)
        root = judged.facts.root
        if root is None:
            raise Unconfinable("the project's root is not there")
        kept, place = self._place(judged, Path(root), session, profile)
        before = Before.take(profile, place, modes=not backend.refuses_setuid())
        launch = backend.prepare(profile, place, os.environ)
        try:
            asked = judged.decision.verdict is ASK
            until = time.time() + (ASKED if asked else GOOD)
            about = About(
                call_id,
                session,
                profile,
                backend.name,
                place,
                launch,
                until,
                kept,
                self.sessions.mark(kept),
                written(before),
                judged.decision.tool,
                judged.rulebook.hash,
                judged.call.context.capsule,
            )
            return self.tickets.write(about, command, _passed(profile, place, launch))
        except (OSError, ValueError) as error:
            backend.finish(profile, place, launch)
            raise Unconfinable(f"its ticket can't be written: {error}") from None
        except BaseException:
            backend.finish(profile, place, launch)
            raise

    def _place(self, judged: Judged, root: Path, session: str, profile: Profile) -> tuple[str, Place]:
        """Where it runs: in the session's namespaces, if there can be any. Raises Unconfinable."""
        facts = judged.facts
        scratch = self._scratch(session) / _name(profile.agent)
        scratch.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = Place(
            root=root,
            cwd=Path(judged.call.context.cwd or root),
            state=self.own,
            unseen=(self.state.parent, *map(Path, facts.guarded)),
            sealed=tuple(map(Path, facts.sealed)),
            scratch=scratch,
        )
        try:
            kept, joining = self.sessions.join(session, profile.agent, profile.network)
        except Unconfinable:
            if profile.network.mode == "hosts":
                raise
            return "", place  # a backend holds no network and an open one by itself
        return str(kept), msgspec.structs.replace(place, join=joining.words, proxy=joining.variables)

    def take_back(self, ticket: Ticket) -> None:
        """The call does not run after all."""
        ticket.void()
        self._finished(ticket)

    def end(self, call_id: str, output: Callable[[], str]) -> list[str]:
        """What the agent must know of a run that is over, and what the command's output suggests; nothing of one that
        still runs."""
        ticket = self.tickets.of(call_id)
        return self._finished(ticket, output) if ticket.state() == "over" else []

    def sweep(self) -> None:
        """Runs that are over are finished, tickets that have expired are gone."""
        for ticket in self.tickets.all():
            about = ticket.about()
            if ticket.state() == "unused" and (about is None or about.until < time.time() - 1):
                ticket.void()
            if ticket.state() == "over":
                self._finished(ticket)

    def leave(self, session: str) -> None:
        """The session is over, and so is all that runs in it."""
        mine = list(self.tickets.of_session(session))
        for ticket in mine:
            ticket.void()
            ticket.kill()
        for kept in self.sessions.of(session):
            self._record_contacts(str(kept), "")
        self.sessions.leave(session)
        for ticket in mine:
            self._finished(ticket)
        shutil.rmtree(self._scratch(session), ignore_errors=True)

    def _scratch(self, session: str) -> Path:
        """Where each agent of a session has what is `/tmp` to its commands."""
        return self.own / "scratch" / _name(session)

    def _finished(self, ticket: Ticket, output: Callable[[], str] = str) -> list[str]:
        """Finishes the run, once: recorded, and told. Of a ticket that nobody took up nothing is."""
        with _alone(ticket) as about:
            if about is None:
                return []
            ran = ticket.has_begun()
            [backend] = (one for one in backends(self.own) if one.name == about.backend)
            ended = _ended(about, backend)
            ticket.remove()
            if not ran:
                return []
            record_ran(
                self.enforcer,
                call=about.call,
                agent=about.profile.agent,
                tool=about.tool,
                backend=about.backend,
                profile=about.profile.digest,
                policy=about.policy,
                capsule=about.capsule,
                findings=ended.findings,
                changes=ended.changes,
                sweep=ended.sweep,
            )
            refused = self.sessions.refused(about.kept, about.mark)
            self._record_contacts(about.kept, about.profile.agent)
            return [*(one.message for one in ended.findings), *refused, *hints(output(), about.profile, about.place)]

    def _record_contacts(self, kept: str, agent: str) -> None:
        """What commands of a session tried to reach since this was last recorded, in the ledger."""
        if kept:
            with self.sessions.unrecorded(Path(kept)) as found, suppress(RemitError):
                for contact in found:
                    record_contact(self.enforcer, agent, contact)


def _name(text: str) -> str:
    """Of a folder."""
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:40]


def _ended(about: About, backend: Backend) -> Ended:
    """What was found after the run; that nobody could look is a finding, too."""
    try:
        return finished(read(about.profile, about.place, about.before), backend, about.launch)
    except (ValueError, KeyError, TypeError) as error:
        backend.finish(about.profile, about.place, about.launch)
        what = f"could not be swept after the run: {type(error).__name__}"
        return Ended(None, (Finding("unswept", ".", what),), 0)


@contextmanager
def _alone(ticket: Ticket) -> Iterator[About | None]:
    """What the ticket is about, for whoever comes first; None for others."""
    try:
        handle = os.open(ticket.path / "about", os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        yield None
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield ticket.about()
    except BlockingIOError:
        yield None
    finally:
        os.close(handle)


def _profile(judged: Judged, digest: str | None) -> Profile:
    """The profile that was decided on. Raises Unconfinable for a call that came by several chains with several."""
    try:
        found = profile_of_call(judged.rulebook, judged.call, judged.facts)
    except LookupError:
        raise Unconfinable("the profile of the call can't be found") from None
    if found.digest != digest:
        raise Unconfinable("the profile of the call is not the one that was decided on")
    return found


def _passed(profile: Profile, place: Place, launch: Launch) -> Sequence[str]:
    """Variables that the host's shell has, and a daemon hasn't: those that pass, and that nobody set for the run."""
    known = surroundings()
    own = {name for name, value in launch.environment.items() if os.environ.get(name) != value}
    found = []
    for name in dict.fromkeys((*known.variables, *profile.environment)):
        clash = any(_meet(name, other) for other in known.never)
        if _NAME.fullmatch(name) and not clash and name not in own:
            found.append(name)
    return found


def _meet(one: str, other: str) -> bool:
    """Whether two names, of which each may end with `*`, can be the same."""
    if one.endswith("*") and other.endswith("*"):
        return one[:-1].startswith(other[:-1]) or other[:-1].startswith(one[:-1])
    if one.endswith("*"):
        return other.startswith(one[:-1])
    return one.startswith(other[:-1]) if other.endswith("*") else one == other
