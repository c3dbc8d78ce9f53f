"""The table of commands as a typer application: for help, completion, and whatever `arguments` does not read.

Only the commands that are named on the command line are imported; of the others typer gets the name.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection
from importlib import import_module
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.main import get_command

from remit.cli.completion import completer, words
from remit.cli.examples import examples_in
from remit.cli.output import out
from remit.cli.parameters import Argument, Option
from remit.cli.table import COMMANDS, Command, Entry, Group
from remit.cli.usage import DESCRIPTION, group_help
from remit.model.errors import InputError

SETTINGS: dict[str, Any] = {"help_option_names": ["-h", "--help"]}
Abort = typer.Abort


def run_typer(args: list[str]) -> Any:
    """Runs a command line by typer and gives what the command returned. Raises what typer raises."""
    if len(args) == 2 and args[0] in ("--install-completion", "--show-completion"):
        raise InputError(
            f"`{args[0]}` takes no name: it is for the shell that it is run in", help=f"in that shell: remit {args[0]}"
        )
    return get_command(app(words() or args)).main(args, prog_name="remit", standalone_mode=False)


def app(words: Collection[str] | None = None) -> typer.Typer:
    """The application; commands that are not among the words are only names. None: all are real."""
    found = typer.Typer(
        name="remit",
        help=DESCRIPTION,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings=SETTINGS,
    )
    found.callback(invoke_without_command=True)(_start)
    _add(found, COMMANDS, words)
    return found


def _start(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """`remit` alone, and `remit --version`, are answered before typer is loaded."""


def _add(to: typer.Typer, commands: dict[str, Entry], words: Collection[str] | None) -> None:
    for name, entry in commands.items():
        real = words is None or name in words
        if isinstance(entry, Command):
            made = as_typer(function_of(entry)) if real else _nothing
            to.command(name, help=None if real else entry.help, short_help=entry.help)(made)
            continue
        about = (
            inspect.cleandoc(_documented(function_of(entry.alone).__doc__ or ""))
            if real and entry.alone
            else entry.help
        )
        inner = typer.Typer(name=name, help=about, short_help=entry.help, rich_markup_mode=None)
        inner.callback(invoke_without_command=True)(_callback(entry, name, real=real))
        _add(inner, entry.commands, words)
        to.add_typer(inner, name=name)


def _nothing() -> None:
    """A command that is not run."""


def _callback(group: Group, name: str, *, real: bool) -> Callable[..., Any]:
    """What a group does by itself, or its help; options before one of its commands are refused."""
    if group.alone is None or not real:
        return _help_alone(group, name)
    function = as_typer(function_of(group.alone))
    signature = inspect.signature(function)

    def callback(context: typer.Context, **given: Any) -> Any:
        if context.invoked_subcommand is None:
            return function(**given)
        if any(value != signature.parameters[key].default for key, value in given.items()):
            raise InputError(f"options of `{context.invoked_subcommand}` go after it")
        return 0

    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    return _shaped(callback, function, [first, *signature.parameters.values()])


def _help_alone(group: Group, name: str) -> Callable[..., Any]:
    def callback(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            out(group_help(["remit", name], group))

    return callback


def function_of(command: Command) -> Callable[..., int]:
    """The function of a command, imported."""
    found: Callable[..., int] = getattr(import_module(command.module), command.function)
    return found


def as_typer(function: Callable[..., int]) -> Callable[..., int]:
    """The same function, with parameters that typer understands."""

    @functools.wraps(function)
    def called(**given: Any) -> int:
        return function(**given)

    hints = get_type_hints(function, include_extras=True)
    parameters = [
        one.replace(annotation=_translated(hints[one.name])) for one in inspect.signature(function).parameters.values()
    ]
    return _shaped(called, function, parameters)


def _shaped(
    to: Callable[..., Any], like: Callable[..., Any], parameters: list[inspect.Parameter]
) -> Callable[..., Any]:
    """The function with these parameters, in its signature and in its annotations; typer looks at both."""
    to.__doc__ = _documented(like.__doc__ or "")
    to.__dict__.pop("__wrapped__", None)
    to.__annotations__ = {one.name: one.annotation for one in parameters}
    setattr(to, "__signature__", inspect.Signature(parameters))  # noqa: B010 # functions have no such attribute to mypy
    return to


def _documented(doc: str) -> str:
    """The docstring with each of its examples on a line of its own."""
    text, examples = examples_in(doc)
    if not examples:
        return doc
    lines = "".join(f"\n      {one}" for one in examples)
    return f"{text.rstrip()}\n\n    \b\n    Example{'s' if len(examples) > 1 else ''}:{lines}"


def _translated(hint: Any) -> Any:
    if get_origin(hint) is not Annotated:
        return hint
    declared, about = get_args(hint)[:2]
    if isinstance(about, Option):
        names = completer(about)
        about = typer.Option(
            *about.names, metavar=about.metavar, help=about.help, min=about.min, max=about.max, autocompletion=names
        )
    elif isinstance(about, Argument):
        names = completer(about)
        about = typer.Argument(
            metavar=about.metavar, help=about.help, min=about.min, max=about.max, autocompletion=names
        )
    return Annotated[declared, about]
