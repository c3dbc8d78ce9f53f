"""The other half of a host: what installing, looking and probing need. A hook never loads it.

Settings can live in four places. Those of the *user* and the *managed* ones (of whoever owns the machine) lie outside
of every project: hooks go there, since no command in a project removes them. One hook there serves all projects that
Remit was installed for; its command is a few words of shell that ask the list of these projects (`hooks/roots.py`),
which lies beside their states. Those of the *project*, and its *local* ones that are not shared, get the host's own
rules; hooks only where people want a clone to refuse work until Remit is installed there, and in hosts that have no
settings outside.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import msgspec

from remit.adapters.hosts.catalog import HostCatalog
from remit.adapters.hosts.interface import Where

Level = Literal["fault", "note"]
Act = Literal["read", "write", "edit", "shell"]


class Finding(msgspec.Struct, frozen=True):
    """One thing to know. A fault is not as it should be; a note is only for people."""

    level: Level
    code: str
    text: str
    help: str | None = None


UNHOOKED = frozenset(
    (
        "installed-elsewhere",
        "installed-before",
        "not-listed",
        "settings-elsewhere",
        "settings-gone",
        "settings-invalid",
        "hook-missing",
        "hook-other-command",
        "hook-incomplete",
        "hooks-disabled",
        "hook-injected",
        "interpreter-gone",
        "client-gone",
    )
)
"""The codes of faults after which nobody can say that the hook binds; `Setup.findings` uses these."""


class Seen(NamedTuple):
    """What a host's own files say, besides definitions."""

    servers: tuple[str, ...] = ()
    """Its MCP servers."""
    hooked: tuple[Path, ...] = ()
    """Settings files that hold hooks of Remit's already."""
    warnings: tuple[str, ...] = ()


class HookRun(NamedTuple):
    """One hook in a host's settings, as the host would start it."""

    words: tuple[str, ...]
    env: dict[str, str]
    timeout: float | None = None
    """Seconds; None: the host sets no limit."""
    problem: str | None = None
    """Why it can't be started."""


class Said(NamedTuple):
    """What the host would make of a hook's answer: a decision with its reason, or what is wrong."""

    decision: Literal["allow", "ask", "deny"] | None
    reason: str = ""
    alarm: str | None = None


UNDECIDED = "it gave no decision"
"""The alarm of a hook that answers well and decides nothing, as it must where an agent is only observed."""


class Setup(Protocol):
    """The files of one host. Every method that reads text raises RemitError for what it can't read."""

    @property
    def catalog(self) -> HostCatalog:
        """What ships as data about it."""

    # Where its files are

    @property
    def places(self) -> tuple[Where, ...]:
        """Where its settings can live. Hooks are put into the first, unless people say otherwise."""

    def settings_path(self, root: Path, where: Where) -> Path:
        """The settings there that hooks and rules are put into. Raises RemitError if it has none."""

    def definition_folders(self, root: Path) -> tuple[str, ...]:
        """The directories that it takes agents' definitions from; the project's own is the first."""

    # Settings, as text

    def put_hooks(
        self, text: str | None, command: str | None, rules: Sequence[str], ours: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:
        """The settings with our hooks and these rules, and which of the rules are ours. None: there are none yet.

        The command is for `sh -c`; without one only the rules are there, and hooks of ours are gone. `ours` are the
        rules that an earlier installation added: those no longer wanted go.
        """

    def take_hooks(self, text: str, ours: Sequence[str], before: str | None) -> str:
        """The settings without our hooks and rules, and without what got empty by that and was not there `before`."""

    def is_empty(self, text: str) -> bool:
        """Whether these settings say nothing."""

    def native_rules(self, tools: Sequence[str], paths: Sequence[str] | None) -> list[str]:
        """The host's own rules against tools that nobody may use, and against editing these paths of the project.

        None for paths: the policy lifts some protection, and no rule may be stricter.
        """

    # Definitions, as text

    def name_in(self, text: str) -> str | None:
        """The name that a definition gives itself; None if that is not certain."""

    def set_tools(self, text: str, tools: Sequence[str]) -> str:
        """The definition with exactly these tools; the same text if it lists them already."""

    def restore_tools(self, text: str, before: str, ours: Sequence[str]) -> str:
        """The definition with the tools that it had `before`; the same text if they are not ours any more."""

    # Remit's own MCP server

    @property
    def servers_are_shared(self) -> bool:
        """One list of servers belongs to all projects of the user; then `take_hooks` takes our server out, too."""

    def servers_path(self, root: Path) -> Path | None:
        """The file in which this user registers MCP servers for the project, outside of it; None: there is none."""

    def put_server(self, text: str | None, root: Path, command: Sequence[str]) -> tuple[str, int]:
        """The file with our server, and how many objects had to be made for it. None: there is no file yet.

        The same text if it is there already.
        """

    def take_server(self, text: str, root: Path, made: int) -> str:
        """The file without our server, and without what got empty of the objects that were made for it."""

    # How it stands

    def survey(self, root: Path) -> Seen:
        """What its own files say; what is broken is a warning."""

    def hook_faults(self, root: Path, settings: Path, command: str) -> Iterable[Finding]:
        """What is wrong with our hooks in these settings: nothing, if the host runs this command before every call."""

    def switches(self, root: Path, settings: Path) -> Iterable[Finding]:
        """What anywhere switches hooks off or gets at them, and what people should set in the project's `settings`."""

    # Probes

    def sample(self, act: Act, target: str) -> tuple[str, dict[str, Any]] | None:
        """A tool and arguments that do this to a file, or run this command; None if it has no such tool."""

    def question(
        self, *, session: str, root: Path, tool: str, args: dict[str, Any], use: str, agent: str | None
    ) -> bytes:
        """What it asks its hook before such a call, of a subagent or of the main agent."""

    def not_run(self, question: bytes) -> bytes:
        """What it tells its hook of a call that did not run after all."""

    def hooks(
        self, root: Path, settings: Path, when: Literal["before", "failed"], tool: str | None
    ) -> Sequence[HookRun]:
        """The hooks in these settings that it would run for the tool: ours, if there are any. None: any tool.

        Raises RemitError if it would run none, whatever the tool.
        """

    def understood(self, code: int, out: bytes, err: bytes) -> Said:
        """What it makes of a hook's answer, read as strictly as it must be written."""


class Ran(NamedTuple):
    """A use of a tool that came to something, as the host itself wrote it down."""

    session: str
    use: str
    tool: str
    at: str


@runtime_checkable
class KeepsTranscripts(Protocol):
    """A host that writes down what its sessions do: what ran and is not in the ledger got past the hook."""

    def ran(self, root: Path, since: float) -> Iterable[Ran]:
        """What ran in the project, in sessions that wrote something after this moment."""
