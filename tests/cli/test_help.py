"""Every page of help has an example, and every example is one that the program would take."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from functools import cache

import pytest
from typer.main import get_command

from remit import catalog
from remit.cli.examples import examples_in, examples_of
from remit.cli.table import ALIASES, COMMANDS, Command, Entry, Group
from remit.cli.typer_app import app
from remit.cli.usage import FIRST
from tests.cli.kit import Remit


def pages(commands: dict[str, Entry] = COMMANDS, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Entry]]:
    for name, entry in commands.items():
        yield (*path, name), entry
        if isinstance(entry, Group):
            yield from pages(entry.commands, (*path, name))


PAGES = dict(pages())
EXAMPLES = {line: " ".join(path) for path, entry in PAGES.items() for line in examples_of(entry)}


@pytest.mark.parametrize("path", PAGES, ids=" ".join)
def test_every_page_has_an_example(path: tuple[str, ...], remit: Remit):
    page = remit(*path, "--help")
    assert page.code == 0
    examples = examples_of(PAGES[path])
    assert examples
    assert re.search(r"^ *Examples?:$", page.out, re.MULTILINE)
    for line in examples:
        assert line in page.out
    assert " range>" not in page.out, "a number has a name: metavar"
    assert re.findall(r"^  \S+  +\[required\]$|^  [A-Z]+$", page.out, re.MULTILINE) == [], "an argument says what it is"


def test_the_first_page_has_some(remit: Remit):
    assert all(f"  {line}\n" in remit("--help").out for line in FIRST)


@cache
def command():
    """The whole command line, with all that its commands import."""
    return get_command(app())


@pytest.mark.parametrize("line", [*EXAMPLES, *FIRST])
def test_every_example_is_taken(line: str):
    words = shlex.split(re.split(r" [>|] ", line)[0])
    assert words[0] == "remit"
    found, args = command(), [ALIASES.get(words[1], words[1]), *words[2:]]
    name = "remit"
    while hasattr(found, "commands") and args and args[0] in found.commands:
        name, found, args = args[0], found.commands[args[0]], args[1:]
    context = found.make_context(name, args)  # raises for an option, a value or a number of words that is wrong
    assert context.params is not None


@pytest.mark.parametrize("line", ["remit check --strcit", "remit ledger prove", "remit ledger stats --top many"])
def test_an_example_that_is_wrong_would_be_found(line: str):
    with pytest.raises(Exception, match=r"No such option|Missing|not a valid"):
        test_every_example_is_taken(line)


@pytest.mark.parametrize(("line", "path"), EXAMPLES.items())
def test_an_example_is_of_its_command(line: str, path: str):
    assert line.startswith(f"remit {path}")


def test_examples_are_taken_out_of_a_docstring():
    doc = "Do it.\n\n    Examples: `remit a`,\n    `remit b --x 'y\n    z'`\n    "
    assert examples_in(doc) == ("Do it.", ["remit a", "remit b --x 'y z'"])
    assert examples_in("Do it.") == ("Do it.", [])


def test_every_command_is_looked_at():
    assert sum(isinstance(entry, Command) for entry in PAGES.values()) > 60


@pytest.mark.parametrize("path", [("install",), ("uninstall",)])
def test_the_page_names_every_host(path: tuple[str, ...], remit: Remit):
    [line] = re.findall(r"^  HOST  ((?:.*\n  )*.*)$", remit(*path, "--help").out, re.MULTILINE)
    assert set(re.findall(r"[a-z-]+", line)) - {"or", "required"} == set(catalog.hosts())


def test_the_page_of_check_names_its_other_names(remit: Remit):
    page = " ".join(remit("check", "--help").out.split())
    assert all(name in page for name, command in ALIASES.items() if command == "check")
