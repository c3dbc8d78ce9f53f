"""Every command of Remit that a page names is one that the program takes, with its options and values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from typer import TyperException
from typer.main import get_command

from remit.cli.typer_app import app
from tests.story import FENCE

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/**/*.md")])
INLINE = re.compile(r"`(remit [^`]+)`")
STARTS = re.compile(r"^(?:\$ |[\w ]*&& |- run: )?remit (?=[a-z-])")
ALIASES = {"test": "check", "validate": "check", "lint": "check"}


@cache
def root() -> Any:
    return get_command(app(None))


def lines() -> Iterator[tuple[str, str, bool]]:
    """Where a command stands, its text, and whether it stands in a block, to be typed."""
    for page in PAGES:
        text = page.read_text("utf-8")
        name = page.relative_to(ROOT)
        for block in FENCE.finditer(text):
            first = text.count("\n", 0, block.start("text")) + 1
            joined = re.sub(r"\\\n *", lambda found: " ", block["text"])
            for number, line in enumerate(joined.splitlines()):
                for part in re.split(r" (?:\||&&) (?=remit )", line):
                    if STARTS.match(part):
                        yield f"{name}:{first + number}", STARTS.sub("remit ", part), True
        prose = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
        for found in INLINE.finditer(re.sub(r"\n(?=\S)", " ", prose)):
            yield str(name), found[1], False


def problem(text: str, *, whole: bool = True) -> str | None:
    """What is wrong with the words of a command; None if nothing is. A sentence may name one without all it needs."""
    bare = re.sub(r"\$\(|\[|\]|…", " ", text.partition("  ")[0])
    try:
        words = shlex.split(bare, comments=True)[1:]
    except ValueError:
        words = bare.split()[1:]
    end = next((number for number, word in enumerate(words) if word in (">", "<", "|", "2>", "&&")), len(words))
    command, name, words = root(), "remit", words[:end]
    while words and hasattr(command, "commands"):
        if words[0].startswith("-"):
            break
        name, *others = (ALIASES.get(word, word) for word in words.pop(0).split("|"))  # `set|status` names both
        for one in (name, *others):
            if one not in command.commands:
                return one
        command = command.commands[name]
    known = {"--help", "-h", *(option for one in command.params for option in (*one.opts, *one.secondary_opts))}
    for word in words:
        option = word.partition("=")[0]
        if re.fullmatch(r"--?[a-z][a-z-]*", option) and option not in known:
            return option
    if command is root() or {"-h", "--help"} & set(words):
        return None  # these act while they are read, and end the program
    try:
        command.make_context(name, list(words))
    except TyperException as error:
        lacks = type(error).__name__ in ("MissingParameter", "BadOptionUsage")  # an option, or the value of one
        return None if lacks and not whole else str(getattr(error, "message", "")) or type(error).__name__
    return None


def test_every_command_that_a_page_names_exists() -> None:
    found = list(lines())
    assert len(found) > 300
    wrong = [
        f"{where}: `{text}`: {what}" for where, text, whole in found if (what := problem(text, whole=whole)) is not None
    ]
    assert wrong == []


def test_a_command_that_is_wrong_is_noticed() -> None:
    wrong = ["remit frob", "remit ledger frob", "remit people frob x", "remit decide --frob", "remit gate pass|frob"]
    assert [problem(text) for text in wrong] == ["frob", "frob", "frob", "--frob", "frob"]
    assert problem("remit halt clerk") is not None
    assert problem("remit halt clerk", whole=False) is None
    assert problem("remit ledger prove twelve", whole=False) is not None
    assert problem("remit ledger prove 12 > receipt") is None
