"""A policy from a Python program: its tools with their arguments, its agents with their tools.

What a function does stands in the draft only where its text tells all of it. Every other tool is drafted as one that
changes the program's records, at tier 3, behind a question, until a person has looked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from remit.draft.model import TO_DECIDE, Draft, quoted
from remit.draft.python_program import PythonAgent, PythonProgram, PythonTool, read_program
from remit.forms.shapes import NAME
from remit.model.errors import InputError
from remit.model.text import listed, shown

MOST_FILES = 2_000
MOST_BYTES = 2_000_000
"""Of one file."""
_SKIPPED = frozenset(("node_modules", "__pycache__", "site-packages", "venv", "env", "build", "dist", "tests", "test"))
_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}(?:\[\])?")
_ANNOTATIONS = {"path": "FilePath", "url": "Url", "shell": "Shell"}
"""The mark of a line that a person has to fill in."""


def draft_from_python(place: Path) -> Draft:
    """The draft of a file or folder. Raises InputError if there is no tool in it."""
    files = list(_files(place))
    program = read_program(files)
    if not program.tools:
        known = "functions with @tool, @function_tool, @agent.tool, or in tools=[…] of an agent"
        what = f"no tools found in {len(files)} Python files of `{shown(place, 200)}`: {known}"
        raise InputError(what, code="no-tools")
    return _Drafting(program).draft(shown(place, 100))


def _files(place: Path) -> Iterator[tuple[str, str]]:
    """Every Python file there, by its name below the place."""
    if place.is_file():
        yield place.name, _text(place)
        return
    if not place.is_dir():
        raise InputError(f"--python: no file or folder `{shown(place, 200)}`", help="name a .py file, or a folder")
    count = 0
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED and not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if name.endswith(".py") and path.is_file() and not path.is_symlink() and path.stat().st_size <= MOST_BYTES:
                count += 1
                if count > MOST_FILES:
                    raise InputError(f"--python: more than {MOST_FILES} files; name a folder with fewer")
                yield path.relative_to(place).as_posix(), _text(path)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"can't read `{shown(path, 200)}`: {error.strerror or error}") from None


class _Drafting:
    def __init__(self, program: PythonProgram) -> None:
        self.program = program
        self.decisions: list[str] = [*program.problems]
        self.undecided: list[str] = []
        self.names: dict[str, str] = {}

    def draft(self, source: str) -> Draft:
        lines = [f"# A draft by `remit init --python`, from {source}. Lines with {TO_DECIDE} are for you.", "remit: 1"]
        lines += ["", "tools:"]
        for tool in self.program.tools.values():
            lines += self._tool(tool)
        if not self.names:
            raise InputError("no tool can be declared: " + "; ".join(self.decisions[:3]), code="no-tools")
        lines += ["", "agents:"]
        agents = self._agents()
        for agent in agents:
            lines += self._agent(agent)
        return Draft("\n".join(lines) + "\n", "", tuple(self.decisions), len(agents))

    def _tool(self, tool: PythonTool) -> list[str]:
        problem = self._unfit(tool)
        if problem is not None:
            self.decisions.append(f"`{shown(tool.name)}` ({tool.at}) left out: {problem}")
            return []
        self.names[tool.name] = tool.name
        args: Mapping[str, Any] = {**tool.args, **tool.effects.kinds}
        given = ", ".join(f"{quoted(name)}: {_kind(kind)}" for name, kind in args.items())
        lines = [f"  {quoted(tool.name)}:   # {shown(tool.at, 120)}", f"    args: {{{given}}}"]
        if tool.optional:
            lines.append(f"    optional: [{', '.join(map(quoted, tool.optional))}]")
        for name, kind in tool.effects.kinds.items():
            self.decisions.append(f"`{tool.name}` ({tool.at}): annotate `{name}: {_ANNOTATIONS[kind]}` at the function")
        for name in tool.unclear:
            self.decisions.append(f"`{tool.name}` ({tool.at}): `{name}` has no annotation; drafted as json")
        return lines + self._does(tool)

    def _unfit(self, tool: PythonTool) -> str | None:
        if not NAME.fullmatch(tool.name):
            return "not a name that a policy can have"
        bad = [name for name in tool.args if not _ARGUMENT.fullmatch(name)]
        if bad:
            return f"its argument `{shown(bad[0])}` has a name that a policy can't have"
        starred = [name for name in tool.unclear if name.startswith("*")]
        return f"it takes any arguments (`{starred[0]}`), and a policy names each" if starred else None

    def _does(self, tool: PythonTool) -> list[str]:
        effects = tool.effects
        if effects.told and not effects.on:
            return ["    does: nothing   # its text only computes"]
        if effects.told:
            does = ", ".join(f"{effect}: {quoted(argument)}" for effect, argument in effects.on.items())
            return [f"    does: {{{does}}}   # as its text says"]
        self.undecided.append(tool.name)
        calls = listed(f"`{call}`" for call in effects.unknown)
        self.decisions.append(f"`{tool.name}` ({tool.at}): what it does; its text leaves open what {calls} does")
        return [
            f"    does: {{write: {{records: program}}}}   # {TO_DECIDE}: what it does, {{read: {{records: …}}}}?",
            f"    tier: 3   # {TO_DECIDE}: 0 reads … 4 can't be undone",
        ]

    def _agents(self) -> list[PythonAgent]:
        found = list(self.program.agents.values())
        used = {tool for agent in found for tool in agent.tools}
        left = tuple(name for name in self.names if name not in used)
        if not found:
            self.decisions.append("the agent's name: none was found, so the draft has one agent with every tool")
            return [PythonAgent("agent", "", left, (), ())]
        if left:
            self.decisions.append(
                f"no agent has {listed(f'`{name}`' for name in left)}: give them to one, or to nobody"
            )
        return found

    def _agent(self, agent: PythonAgent) -> list[str]:
        name = policy_name(agent.name)
        if name != agent.name:
            self.decisions.append(f'`{shown(agent.name)}` is `{name}` in the policy: with guard.agent("{name}")')
        tools = [tool for tool in agent.tools if tool in self.names]
        lines = [f"  {quoted(name)}:" + (f"   # {shown(agent.at, 120)}" if agent.at else "")]
        lines.append(f"    may: [{', '.join(map(quoted, tools))}]")
        asked = [tool for tool in tools if tool in self.undecided]
        if asked:
            lines.append(
                f"    must_ask: [{', '.join(map(quoted, asked))}]   # {TO_DECIDE}: until you know what each does"
            )
        known = {policy_name(one): one for one in self.program.agents}
        hands = [policy_name(one) for one in agent.hands if policy_name(one) in known]
        if hands:
            lines.append(f"    delegates_to: [{', '.join(map(quoted, hands))}]")
        for text in agent.unread:
            self.decisions.append(f"`{name}` ({agent.at}): `{text}` could not be read as a function or an agent")
        return lines


def policy_name(name: str) -> str:
    """The name of an agent as a policy can hold it."""
    found = re.sub(r"[^A-Za-z0-9_.-]+", "-", name.strip()).strip("-.").lower() if not NAME.fullmatch(name) else name
    found = found or "agent"
    return f"{found}-agent" if found in ("human", "chain", "system") else found


def _kind(kind: Any) -> str:
    if isinstance(kind, dict):
        values = (value if isinstance(value, int) else f'"{value}"' for value in kind["one_of"])
        return "{one_of: [" + ", ".join(map(str, values)) + "]}"
    return str(kind)
