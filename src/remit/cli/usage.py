"""What the program says about itself: its help, made from the table of commands without loading any of them."""

from __future__ import annotations

from collections.abc import Sequence

from remit.cli.output import paint
from remit.cli.table import COMMANDS, Entry, Group

DESCRIPTION = "Enforce a written policy on every tool call of your AI agents."
_WIDTH = 80
_OPTIONS = (
    ("--version", "Print the version"),
    ("--install-completion", "Install completion for the current shell"),
    ("--show-completion", "Show completion for the current shell"),
    ("-h, --help", "Show this message and exit"),
)
FIRST = (
    "remit demo",
    "remit scan",
    "remit init",
    "remit check",
    "remit explain --agent builder --tool Read --arg file_path=a",
)
_CODES = (
    ("0", "fine"),
    ("1", "the policy has problems, or its tests fail, or the ledger is not verified"),
    ("2", "bad usage, or input that can't be read"),
    ("3", "a decision that --fail-on names"),
    ("70", "an internal error"),
)


def program_help() -> str:
    """`remit --help`."""
    parts = [
        *_opening("remit", DESCRIPTION),
        *_section("Options", _OPTIONS),
        *_section("Commands", _lines(COMMANDS)),
        *_examples(FIRST),
        *_section("Exit codes", _CODES),
    ]
    return "\n".join(parts)


def group_help(path: list[str], group: Group) -> str:
    """`remit ledger --help`."""
    parts = [
        *_opening(" ".join(path), group.help + "."),
        *_section("Options", _OPTIONS[-1:]),
        *_section("Commands", _lines(group.commands)),
        *_examples(group.examples),
    ]
    return "\n".join(parts)


def _examples(lines: Sequence[str]) -> list[str]:
    return [paint("Examples:", "bold"), *(f"  {line}" for line in lines), ""]


def _opening(name: str, text: str) -> list[str]:
    return [f"Usage: {name} [OPTIONS] COMMAND [ARGS]...", "", *(f"  {line}" for line in _wrapped(text, _WIDTH - 2)), ""]


def _lines(commands: dict[str, Entry]) -> list[tuple[str, str]]:
    return [(name, entry.help) for name, entry in commands.items()]


def _section(title: str, rows: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> list[str]:
    wide = max(len(name) for name, _ in rows) + 2
    found = [paint(f"{title}:", "bold")]
    for name, text in rows:
        first, *more = _wrapped(text, _WIDTH - wide - 2)
        found.append(f"  {name:<{wide}}{first}")
        found.extend(f"{'':{wide + 2}}{line}" for line in more)
    return [*found, ""]


def _wrapped(text: str, width: int) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + 1 + len(word) > width and lines[-1]:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return lines
