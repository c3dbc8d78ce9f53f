"""What a host is to Remit: how its hooks speak, where its files are and how they are edited, and what it lets through.

A host comes in two halves. `Host` is what a hook needs on each call, and imports little. `Setup` (`setup.py`) is what
installing, looking and probing need; `Host.setup()` loads it only then. What can be said as data stands in a catalog
file for each host (`catalog.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

import msgspec

if TYPE_CHECKING:
    from pathlib import Path

    from remit.adapters.hooks.installed import Installed
    from remit.adapters.hosts.setup import Setup
    from remit.model.decision import Decision


Where = Literal["user", "managed", "project", "local"]
"""Where settings of a host live: `setup.py` says what for."""
OUTSIDE: frozenset[Where] = frozenset(("user", "managed"))
"""Out of reach for a command in the project."""


class Event(msgspec.Struct, frozen=True):
    """What a host says about one tool call, the same for every host: a question or a report."""

    when: Literal["before", "after", "end", "other"]
    """`end`: the session is over."""
    session: str = ""
    tool: str = ""
    args: dict[str, Any] = {}
    use: str = ""
    """The host's own id of this use of the tool; before and after have the same."""
    alike: str = ""
    """For `after` of a host that gives calls no ids: the id that was made up for the question begins with it."""
    agent: str | None = None
    """The host's name of the agent that calls; None for its main agent."""
    named: bool = True
    """The host tells its agents apart; otherwise a call without a name may be any agent's."""
    handed: bool = False
    """The agent was handed its work by another one."""
    launched_in: str = ""
    """The session of the agent that handed it on, where that is another one."""
    within: str = ""
    """The session that people started, where each agent has one of its own: answers are given for that."""
    cwd: str | None = None
    person: bool = False
    """Somebody sits there whom the host could ask."""
    failed: str | None = None
    """For `after`: how it failed, as a name."""
    output: bytes = b""
    """For `after` of a host that runs commands confined: what the tool answered, as the host says it."""


class Reply(NamedTuple):
    """What the hook's process leaves behind, which is all that a host sees of it."""

    out: bytes = b""
    err: bytes = b""
    code: int = 0


class LastResort(NamedTuple):
    """How the hook answers when nothing else works. `remit install` writes it down for `hooks/client.py`."""

    refusal: Reply
    """A deny; `{why}` in it stands for the reason."""
    silence: Reply
    """The answer to a report."""
    questions: tuple[str, ...]
    """Texts that only a question contains."""
    reports: tuple[str, ...]
    """Texts that only a report contains."""
    unattended: tuple[str, str] | None = None
    """The environment variable, and its value, by which the host says that nobody attends it; empty: it has none."""

    @classmethod
    def by_event(
        cls,
        refusal: Reply,
        silence: Reply,
        *,
        before: str,
        reports: tuple[str, ...],
        unattended: tuple[str, str] | None = None,
    ) -> LastResort:
        """That of a host which names its events, in JSON with a blank behind the colon or without."""
        names = tuple(f'"hook_event_name":{blank}"{name}' for name in reports for blank in ("", " "))
        questions = (f'"hook_event_name":"{before}"', f'"hook_event_name": "{before}"')
        return cls(refusal, silence, questions, names, unattended)


PLAIN_REFUSAL = Reply(b"", b"Remit: {why}; nothing may run. Tell the person who runs you.\n", 2)
"""A deny for a host that nobody knows: every host with hooks so far blocks a call if its hook ends with 2."""


OWN_SERVER = "remit"
"""The name under which Remit's own MCP server is registered in a host."""


class Host(Protocol):
    """How one host speaks. Nothing here may import more than a hook can pay for on each call."""

    @property
    def name(self) -> str:
        """As people type it: `remit install NAME`."""

    @property
    def last_resort(self) -> LastResort:
        """How it is refused when nothing else works."""

    @property
    def can_change_args(self) -> bool:
        """Whether a hook's answer can give the tool other arguments, such as a resolved path."""

    @property
    def definition_endings(self) -> tuple[str, ...]:
        """How the names of files end that the host takes for definitions of agents, in lower case."""

    @property
    def started_in(self) -> str | None:
        """The environment variable by which its hooks are told where the session was started; None if there is none.

        Without one a session belongs to the project that its working directory lies in.
        """

    def read_event(self, data: bytes) -> Event:
        """What the host says; `person` only where the host puts a hook's question to somebody.

        Raises CallError for a question that can't be read.
        """

    def names_of(self, tool: str) -> tuple[str, ...]:
        """The names that a policy may know a tool by. One of OWN_SERVER also has its plain name (`remit_why`)."""

    def effective_args(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """The arguments as the host will use them."""

    def answer(self, decision: Decision, changed: dict[str, Any] | None) -> Reply:
        """The decision as the host obeys it; `changed` are the arguments to use in the place of those given."""

    def with_notice(self, reply: Reply, text: str) -> Reply:
        """The same answer, with something that people should see; stderr where the host has nothing better."""

    def setup(self) -> Setup:
        """Its other half, loaded when it is needed."""


@runtime_checkable
class ReadsByItself(Protocol):
    """A host whose files make it read others without a call, such as memory that imports a file."""

    def reads_after(self, tool: str, args: dict[str, Any], cwd: str | None) -> Iterable[tuple[str, dict[str, Any]]]:
        """The calls that would read what the host reads by itself once this call has run."""

    def reads_now(self, root: Path) -> Iterable[tuple[str, str, tuple[str, dict[str, Any]]]]:
        """The same for the files of a project as they are: which file, what it makes the host read, and the call."""


@runtime_checkable
class RunsConfined(Protocol):
    """A host whose shell can be given another command: one that starts the command confined (`hooks/confined.py`)."""

    def confined_args(self, args: dict[str, Any], arg: str, text: str, *, asks: bool) -> dict[str, Any]:
        """The arguments with `text` to run; `asks`: a person sees them before, who is to see the command itself."""

    def unconfinable(self, installed: Installed) -> str | None:
        """Why commands can't be confined here at all, for people; None: nothing in the host is in the way."""

    def bars(self, installed: Installed, tool: str, command: str) -> str | None:
        """A rule of the host's own that forbids the command, and would not see it any more; None: there is none."""

    def output(self, event: Event) -> str:
        """What a command wrote, from the report about it; empty where that can't be read."""

    def tell(self, text: str, failed: str | None) -> Reply:
        """The answer to a report that has something for the agent; `failed` as in the event."""
