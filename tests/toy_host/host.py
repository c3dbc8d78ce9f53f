"""A made-up host: one module and one catalog file, as a second host would be.

It differs wherever hosts can: its events have other names and shapes, it is answered by an exit code and JSON on
stderr, its settings are lines and not JSON, its agents are defined elsewhere, and no hook can change arguments.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from remit.adapters.hosts.interface import Event, Host, LastResort, Reply, Where
from remit.model.decision import Decision
from remit.model.errors import CallError, RemitError
from remit.model.terms import ALLOW, DENY
from remit.model.wire import decode_json

if TYPE_CHECKING:
    from remit.adapters.hosts.catalog import HostCatalog
    from remit.adapters.hosts.setup import Act, Finding, HookRun, Said, Seen

NAME = "toy"
WHEN = {"tool.before": "before", "tool.after": "after", "tool.failed": "failed"}
ALLOWED, DENIED, ASKED = 0, 2, 3
SILENCE = Reply()


class Toy:
    """How it speaks."""

    name = NAME
    started_in = None
    can_change_args = False
    definition_endings = (".role.md",)
    last_resort = LastResort(
        Reply(err=b'{"verdict": "deny", "why": "Remit: {why}"}\n', code=DENIED),
        SILENCE,
        questions=('"tool.before"',),
        reports=('"tool.after"', '"tool.failed"'),
        unattended=("TOY_ALONE", "yes"),
    )

    def read_event(self, data: bytes) -> Event:
        """`{"event": "tool.before", "run": …, "step": …, "who": …, "dir": …, "call": {"name": …, "with": {…}}}`."""
        found = decode_json(data, limit=32 * 1024 * 1024)
        if not isinstance(found, dict):
            raise CallError("expected an object")
        when, run, step = WHEN.get(found.get("event", "")), found.get("run"), found.get("step")
        if when is None or not (isinstance(run, str) and isinstance(step, str)):
            raise CallError("not an event of this host")
        if when != "before":
            return Event("after", session=run, use=step, failed="tool-failed" if when == "failed" else None)
        call, who, place = found.get("call"), found.get("who"), found.get("dir")
        if not isinstance(call, dict) or not isinstance(call.get("with"), dict) or not isinstance(place, str):
            raise CallError("no call in it")
        return Event(
            "before",
            session=run,
            tool=str(call.get("name")),
            args=call["with"],
            use=step,
            agent=who if isinstance(who, str) else None,
            handed=isinstance(who, str),
            cwd=place,
            person=True,
        )

    def names_of(self, tool: str) -> tuple[str, ...]:
        """As it says."""
        return (tool,)

    def effective_args(self, tool: str, args: dict[str, Any]) -> dict[str, Any]:
        """As they are."""
        return args

    def answer(self, decision: Decision, changed: dict[str, Any] | None) -> Reply:
        """An exit code, and the rest on stderr."""
        if decision.would is not None:
            return SILENCE
        if decision.verdict is ALLOW:
            return Reply(err=b'{"verdict": "allow"}\n')
        code = DENIED if decision.verdict is DENY else ASKED
        said = {"verdict": decision.verdict.word, "why": f"Remit: {decision.reason} ({decision.code})"}
        return Reply(err=json.dumps(said).encode() + b"\n", code=code)

    def with_notice(self, reply: Reply, text: str) -> Reply:
        """It shows what the answer has under `notice`."""
        said = json.loads(reply.err or b"{}")
        return reply._replace(err=json.dumps({**said, "notice": text}).encode() + b"\n")

    def setup(self) -> ToySetup:
        """Its files."""
        return ToySetup()


HOST: Host = Toy()


class ToySetup:
    """Its settings are lines such as `before COMMAND` and `block TOOL`; all others mean nothing to it."""

    @property
    def catalog(self) -> HostCatalog:
        """What ships as data about it."""
        return _catalog()

    places: tuple[Where, ...] = ("user", "project")

    def settings_path(self, root: Path, where: Where) -> Path:
        """Those of the user and of the project have the same name."""
        if where not in self.places:
            raise RemitError(f"the toy host has no {where} settings", code="no-such-settings")
        return root / "toyrc" if where == "project" else Path(os.environ.get("TOY_HOME", "/nonexistent")) / "toyrc"

    def definition_folders(self, root: Path) -> tuple[str, ...]:
        """The project's, and the user's."""
        return str(root / ".toy" / "roles"), str(Path(os.environ.get("TOY_HOME", "/nonexistent")) / "roles")

    servers_are_shared = False

    def servers_path(self, root: Path) -> Path | None:
        """It has no servers."""
        return None

    def put_server(self, text: str | None, root: Path, command: Sequence[str]) -> tuple[str, int]:
        """Never asked for."""
        raise NotImplementedError

    def take_server(self, text: str, root: Path, made: int) -> str:
        """Never asked for."""
        raise NotImplementedError

    def put_hooks(
        self, text: str | None, command: str | None, rules: Sequence[str], ours: Sequence[str]
    ) -> tuple[str, tuple[str, ...]]:
        """Our lines come last."""
        kept = self.take_hooks(text or "", ours, text)
        there = kept.splitlines()
        mine = [rule for rule in rules if f"block {rule}" not in there]
        lines = [f"{word} {command}" for word in WHEN.values() if command] + [f"block {rule}" for rule in mine]
        joint = "" if not kept or kept.endswith("\n") else "\n"
        return kept + joint + "".join(f"{line}\n" for line in lines), tuple(mine)

    def take_hooks(self, text: str, ours: Sequence[str], before: str | None) -> str:
        """Our lines are gone."""
        if "\0" in text:
            raise RemitError("no settings of this host", code="bad-toyrc")
        gone = {f"block {rule}" for rule in ours}
        return "".join(
            line for line in text.splitlines(keepends=True) if line.strip() not in gone and not _is_ours(line)
        )

    def is_empty(self, text: str) -> bool:
        """No line is left."""
        return not text.strip()

    def native_rules(self, tools: Sequence[str], paths: Sequence[str] | None) -> list[str]:
        """It can block whole tools."""
        return list(tools)

    def name_in(self, text: str) -> str | None:
        """As most hosts do it: in front matter."""
        from remit.exchange import frontmatter

        head = frontmatter.head_of(text)
        return frontmatter.name_of(head) if head is not None else None

    def set_tools(self, text: str, tools: Sequence[str]) -> str:
        """In front matter too."""
        from remit.exchange import frontmatter

        return frontmatter.set_tools(text, tools)

    def restore_tools(self, text: str, before: str, ours: Sequence[str]) -> str:
        """And back."""
        from remit.exchange import frontmatter

        return frontmatter.give_back(text, before, ours)

    def survey(self, root: Path) -> Seen:
        """It knows no servers."""
        from remit.adapters.hosts.setup import Seen

        paths = [self.settings_path(root, where) for where in self.places]
        return Seen(hooked=tuple(path for path in paths if any(map(_is_ours, _lines(path)))))

    def switches(self, root: Path, settings: Path) -> Iterator[Finding]:
        """One line does it, in any of its settings."""
        from remit.adapters.hosts.setup import Finding

        for path in (self.settings_path(root, where) for where in self.places):
            if "hooks off" in _lines(path):
                yield Finding("fault", "hooks-disabled", f"{path}: says `hooks off`", "remove that line")

    def hook_faults(self, root: Path, settings: Path, command: str) -> Iterator[Finding]:
        """What is missing."""
        from remit.adapters.hosts.setup import Finding

        again = f"run `remit install {NAME}` again"
        if not settings.is_file():
            yield Finding("fault", "settings-gone", f"{settings} is gone: no hook runs", again)
            return
        lines = settings.read_text("utf-8", "replace").splitlines()
        for word in WHEN.values():
            if f"{word} {command}" not in lines:
                other = any(_is_ours(line) and line.startswith(f"{word} ") for line in lines)
                code = "hook-other-command" if other else "hook-missing"
                yield Finding("fault", code, f"{settings}: the hook `{word}` is not ours", again)

    def sample(self, act: Act, target: str) -> tuple[str, dict[str, Any]] | None:
        """The tools of the pack."""
        if act == "read":
            return "Read", {"file_path": target}
        if act == "write":
            return "Write", {"file_path": target, "content": "x"}
        return ("Bash", {"command": target}) if act == "shell" else None

    def question(
        self, *, session: str, root: Path, tool: str, args: dict[str, Any], use: str, agent: str | None
    ) -> bytes:
        """Before a call."""
        call = {"name": tool, "with": args}
        said = {"event": "tool.before", "run": session, "step": use, "who": agent, "dir": str(root), "call": call}
        return json.dumps(said).encode()

    def not_run(self, question: bytes) -> bytes:
        """It counts as failed."""
        return json.dumps(json.loads(question) | {"event": "tool.failed"}).encode()

    def hooks(self, root: Path, settings: Path, when: Literal["before", "failed"], tool: str | None) -> list[HookRun]:
        """Every line that begins so."""
        from remit.adapters.hosts.setup import HookRun

        lines = settings.read_text("utf-8", "replace").splitlines() if settings.is_file() else []
        found = [line.partition(" ")[2] for line in lines if line.startswith(f"{when} ")]
        off = any("hooks off" in _lines(self.settings_path(root, where)) for where in self.places)
        if not found or off:
            raise RemitError(f"{settings}: no hook would run", code="no-hook")
        env = {name: value for name, value in os.environ.items() if name != "TOY_ALONE"}
        return [HookRun(("/bin/sh", "-c", command), env) for command in found]

    def understood(self, code: int, out: bytes, err: bytes) -> Said:
        """As `program.py` understands it."""
        from remit.adapters.hosts.setup import UNDECIDED, Said

        if code == ALLOWED and not err:
            return Said(None, alarm=UNDECIDED)
        try:
            said = json.loads(err)
            verdict, why = said["verdict"], said.get("why", "")
        except (ValueError, TypeError, KeyError):
            return Said(None, alarm="its answer is none")
        if {"allow": ALLOWED, "deny": DENIED, "ask": ASKED}.get(verdict) != code:
            return Said(None, alarm=f"it ended with {code}")
        return Said(verdict, why)


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8", "replace").splitlines() if path.is_file() else []


def _is_ours(line: str) -> bool:
    from remit.adapters.hooks.command import is_hook_command

    word, _, command = line.strip().partition(" ")
    return word in WHEN.values() and is_hook_command(command, NAME)


@cache
def _catalog() -> HostCatalog:
    from remit.adapters.hosts.catalog import HostCatalog, load_catalog

    return load_catalog(Path(__file__).with_name("toy.yaml").read_text("utf-8"), NAME, HostCatalog)
