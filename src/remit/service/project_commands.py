"""The commands that a project itself runs, by its scripts and in CI, and what a policy would say to them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from remit.decide.grid import grid_of
from remit.enforce.attempt import foreseen
from remit.model.call import Call
from remit.model.facts import Facts
from remit.model.rulebook import Rulebook
from remit.model.terms import DENY
from remit.model.text import shown

MOST = 300
LARGEST = 1024 * 1024
_NAMED = 4
_TARGET = re.compile(r"^([A-Za-z0-9][A-Za-z0-9_-]*)\s*:(?!=)", re.MULTILINE)
_RUN = re.compile(r"^(\s*)(?:-\s+)?run:\s*(.*)$")
_EXPRESSION = re.compile(r"\$\{\{.*?\}\}")


def project_commands(root: Path) -> list[str]:
    """Each command once: scripts of package.json, targets of the Makefile, lines of GitHub's workflows."""
    found = [*_scripts(_text(root / "package.json")), *(f"make {name}" for name in _targets(_text(root / "Makefile")))]
    folder = root / ".github" / "workflows"
    for path in sorted(folder.glob("*.y*ml"))[:50] if folder.is_dir() else ():
        found += _lines(_text(path))
    return list(dict.fromkeys(found))[:MOST]


def denied_commands(rulebook: Rulebook, commands: list[str]) -> Iterator[str]:
    """What a person should know: of each agent with limits on its shell, which of these commands it would be denied."""
    grid = grid_of(rulebook)
    for name, caller in rulebook.book.callers.items():
        row = grid.row(name)
        limited = {tool for rule in caller.rules if "shell" in rule.scope.parts for tool in rule.tools or ()}
        for tool in sorted(limited) if row is not None and caller.kind == "agent" else ():
            declared = row.tool(tool) if row is not None else None
            argument = next((n for n, a in declared.args.items() if a.kind == "shell"), None) if declared else None
            if argument is None:
                continue
            calls = [Call(name, tool, {argument: command}) for command in commands]
            denied = [call.args[argument] for call in calls if foreseen(rulebook, call, Facts()).verdict is DENY]
            if denied:
                some = ", ".join(f"`{shown(text, 60)}`" for text in denied[:_NAMED])
                more = f" and {len(denied) - _NAMED} more" if len(denied) > _NAMED else ""
                yield (
                    f"{shown(name)}: of the {len(commands)} commands in the project's scripts and CI, "
                    f"{len(denied)} would be denied: {some}{more}"
                )


def _text(path: Path) -> str:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return ""
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""


def _scripts(text: str) -> Iterator[str]:
    try:
        found = json.loads(text) if text else {}
    except (ValueError, RecursionError):
        return
    scripts = found.get("scripts") if isinstance(found, dict) else None
    for name in scripts if isinstance(scripts, dict) else ():
        if re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9:_.-]*", name):
            yield "npm test" if name == "test" else f"npm run {name}"


def _targets(text: str) -> Iterator[str]:
    yield from (name for name in _TARGET.findall(text))


def _lines(text: str) -> Iterator[str]:
    """The commands of `run:` keys, a line each; a line that goes on is left out."""
    block: int | None = None
    goes_on = False
    for line in text.splitlines():
        key = _RUN.match(line)
        inside = block is not None and (not line.strip() or len(line) - len(line.lstrip()) > block)
        if key is not None and not inside:
            block = len(key[1]) if key[2].strip()[:1] in ("|", ">") else None
            if block is None and key[2].strip():
                yield from _plain(key[2])
            goes_on = False
        elif inside:
            whole = not goes_on and not line.rstrip().endswith("\\")
            goes_on = line.rstrip().endswith("\\")
            if whole:
                yield from _plain(line)
        else:
            block = None


def _plain(line: str) -> Iterator[str]:
    text = _EXPRESSION.sub("value", line.strip()).strip("'\"")
    first = text.partition(" ")[0]
    if text and first not in _PARTS and not text.startswith("#"):
        yield text


_PARTS = frozenset(("if", "then", "else", "elif", "fi", "for", "do", "done", "while", "case", "esac", "{", "}", "set"))
"""How a line begins that is no command by itself."""
