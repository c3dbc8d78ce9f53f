"""The files of Claude Code: where they are, how they are edited, how they stand."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from remit.adapters.hosts.claude_code import probe, settings, status, transcripts
from remit.adapters.hosts.claude_code.catalog import ClaudeCatalog, catalog
from remit.adapters.hosts.claude_code.hook import BEFORE, FAILED
from remit.adapters.hosts.interface import Where
from remit.adapters.hosts.plain_setup import from_env, home
from remit.adapters.hosts.setup import Act, Finding, HookRun, Ran, Said, Seen
from remit.exchange import frontmatter, json_text
from remit.exchange.json_text import JsonError
from remit.model.errors import RemitError
from remit.model.text import shown

FOLDER = ".claude"
_MAX_SIZE = 4 * 1024 * 1024


class ClaudeSetup:
    """The other half of the host."""

    @property
    def catalog(self) -> ClaudeCatalog:
        """What ships as data about it."""
        return catalog()

    # Where

    places: tuple[Where, ...] = ("user", "managed", "project", "local")

    def settings_path(self, root: Path, where: Where) -> Path:
        """Raises RemitError without a home directory."""
        if where == "managed":
            return Path(catalog().managed.get(sys.platform, catalog().managed["linux"]))
        if where == "user":
            return _user() / "settings.json"
        return root / FOLDER / ("settings.local.json" if where == "local" else "settings.json")

    def definition_folders(self, root: Path) -> tuple[str, ...]:
        """It also looks above the project."""
        folders = [root / FOLDER, _user(), *(parent / FOLDER for parent in root.parents)]
        return tuple(dict.fromkeys(str(folder / "agents") for folder in folders))

    # Settings

    def put_hooks(
        self, text: str | None, command: str | None, rules: Sequence[str], ours: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:
        """Raises JsonError."""
        try:
            return settings.install(text if text is not None else settings.EMPTY, command, rules, ours)
        except JsonError as error:
            raise JsonError(str(error), help="nothing was changed; settings must be JSON without comments") from None

    def take_hooks(self, text: str, ours: Sequence[str], before: str | None) -> str:
        """Raises JsonError only for what is not JSON."""
        return settings.uninstall(text, ours, before if before is not None else settings.EMPTY)

    def is_empty(self, text: str) -> bool:
        """Raises JsonError."""
        return not json_text.parse(text).data

    def native_rules(self, tools: Sequence[str], paths: Sequence[str] | None) -> list[str]:
        """For `permissions.deny`."""
        if paths is None:
            return list(tools)
        edits = [f"Edit(/{path})" for path in (".remit/**", f"{FOLDER}/**", *paths)]
        return [*tools, *edits, "Read(/.remit/**)"]

    # Definitions

    def name_in(self, text: str) -> str | None:
        """Raises HeadError."""
        head = frontmatter.head_of(text)
        return frontmatter.name_of(head) if head is not None else None

    def set_tools(self, text: str, tools: Sequence[str]) -> str:
        """Raises HeadError."""
        return frontmatter.set_tools(text, tools)

    def restore_tools(self, text: str, before: str, ours: Sequence[str]) -> str:
        """Raises HeadError."""
        return frontmatter.give_back(text, before, ours)

    # Remit's own MCP server

    servers_are_shared = False

    def servers_path(self, root: Path) -> Path:
        """Where the host keeps what it knows of each project: no command in the project's git gets at it."""
        user = _user()
        own = user / ".claude.json"
        return own if own.is_file() or os.environ.get("CLAUDE_CONFIG_DIR") else user.parent / ".claude.json"

    def put_server(self, text: str | None, root: Path, command: Sequence[str]) -> tuple[str, int]:
        """Raises JsonError."""
        return settings.put_server(text if text is not None else settings.EMPTY, str(root), command)

    def take_server(self, text: str, root: Path, made: int) -> str:
        """Raises JsonError."""
        return settings.take_server(text, str(root), made)

    # How it stands

    def survey(self, root: Path) -> Seen:
        """Its settings, and where it keeps servers."""
        servers: list[str] = []
        warnings: list[str] = []
        hooked: list[Path] = []
        user = _user()
        everywhere = self.servers_path(root)  # servers added by its own command
        project = [self.settings_path(root, "project"), self.settings_path(root, "local")]
        for path in dict.fromkeys([*project, user / "settings.json", root / ".mcp.json", everywhere]):
            text = _text(path)
            try:
                if text is not None:
                    servers.extend(settings.servers(text))
                    servers.extend(settings.project_servers(text, str(root)))
                    hooked.extend([path] if settings.holds_hooks(text) else [])
                    if settings.switched_off(text):
                        warnings.append(f"{shown(path, 300)}: `disableAllHooks` is true, so no hook runs: remove it")
            except JsonError as error:
                warnings.append(f"{shown(path, 300)}: {error}; the host may ignore this file")
        return Seen(tuple(dict.fromkeys(servers)), tuple(hooked), tuple(warnings))

    def hook_faults(self, root: Path, settings: Path, command: str) -> Iterator[Finding]:
        """Only in files that the host reads for this project."""
        here = _one(_settings_files(root), settings)
        if here is None:
            text = f"the host does not read {shown(settings, 300)} for this project"
            yield Finding("fault", "settings-elsewhere", text)
        yield from status.hook_faults(here or status.Settings(settings, "elsewhere"), command)

    def switches(self, root: Path, settings: Path) -> Iterator[Finding]:
        """Looks at every settings file that the host would read."""
        yield from status.switch_faults(_settings_files(root), settings)

    def ran(self, root: Path, since: float) -> Iterator[Ran]:
        """By its transcripts."""
        with suppress(RemitError):
            yield from transcripts.ran(_user(), root, since)

    # Probes

    def sample(self, act: Act, target: str) -> tuple[str, dict[str, Any]]:
        """It has a tool for everything."""
        return probe.sample(act, target)

    def question(
        self, *, session: str, root: Path, tool: str, args: dict[str, Any], use: str, agent: str | None
    ) -> bytes:
        """The payload of PreToolUse."""
        return probe.question(session=session, root=root, tool=tool, args=args, use=use, agent=agent)

    def not_run(self, question: bytes) -> bytes:
        """The payload of PostToolUseFailure."""
        return probe.not_run(question)

    def hooks(self, root: Path, settings: Path, when: Literal["before", "failed"], tool: str | None) -> list[HookRun]:
        """Raises RemitError if it would run none."""
        event = BEFORE if when == "before" else FAILED
        return probe.hooks(root, _settings_files(root), settings, event, tool)

    def understood(self, code: int, out: bytes, err: bytes) -> Said:
        """Only stdout counts."""
        return probe.understood(code, out)


def _one(files: list[status.Settings], settings: Path) -> status.Settings | None:
    """The file among those that the host reads, whatever links lead there."""
    return next((one for one in files if os.path.realpath(one.path) == os.path.realpath(settings)), None)


def _settings_files(root: Path) -> list[status.Settings]:
    user = root / FOLDER
    with suppress(RemitError):
        user = _user()
    return status.all_settings(root, user)


def _user() -> Path:
    """`~/.claude`; HOME and CLAUDE_CONFIG_DIR count, since the host obeys them. Raises RemitError."""
    return from_env("CLAUDE_CONFIG_DIR", home() / FOLDER)


def _text(path: Path) -> str | None:
    """The text of a small file; None if there is none or it can't be read."""
    try:
        if not path.is_file() or path.stat().st_size > _MAX_SIZE:
            return None
        return path.read_text("utf-8", "replace")
    except OSError:
        return None
