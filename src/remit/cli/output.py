"""Writing to the terminal: every command's output passes here.

INVARIANT: text from outside reaches these functions already escaped (`remit.model.text.shown`).
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO
from unicodedata import combining, east_asian_width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from remit.model.errors import Problem, RemitError

LINE_END = "\n"

_CODES = {"red": "31", "green": "32", "yellow": "33", "dim": "2", "bold": "1"}
_VERDICTS = {"allow": "green", "ask": "yellow", "deny": "red"}
_PLAIN = str.maketrans(
    {
        "✅": "yes",
        "🔒": "scope",
        "✋": "ask",
        "❌": "no",
        "→": "->",
        "·": "-",
        "…": "...",
        "×": "x",
        "─": "-",
        "👤": "person:",
    }
)


class OutputClosed(Exception):
    """Whoever read our output has gone; there is nobody left to tell."""


def out(text: str) -> None:
    """One piece of text for people, on stdout."""
    write(_encoded(text))


def out_json(value: Any) -> None:
    """A value for programs, indented, on stdout."""
    import msgspec  # here: for the same reason

    try:
        data = msgspec.json.format(msgspec.json.encode(value), indent=2)
    except UnicodeEncodeError:  # the name of a file that is no UTF-8: `\udcff`, as Python and JSON escape it
        import json

        data = json.dumps(msgspec.to_builtins(value), indent=2).encode()
    write(data + b"\n")


def write(data: bytes) -> None:
    """Bytes on stdout, flushed. Raises OutputClosed if nobody reads them, RemitError if they can't be written."""
    if sys.stdout is None:
        raise _unwritten("stdout is closed", code="no-output")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise OutputClosed from None
    except (OSError, ValueError) as error:
        silence()
        raise _unwritten(f"can't write the output: {getattr(error, 'strerror', None) or error}") from None


def _unwritten(message: str, code: str | None = None) -> RemitError:
    from remit.model.errors import RemitError  # here: it brings msgspec along, which `--help` does without

    return RemitError(message, code=code)


def silence(stream: TextIO | None = None) -> None:
    """Nothing is written to stdout, or this stream, any more, not even when the interpreter ends."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        target = (stream or sys.stdout).fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, target)
        os.close(null)


def err(text: str, *, end: str = "\n") -> None:
    """One line on stderr, or a question if nothing ends it; what can't be written is lost."""
    from remit.model.text import escaped  # here: for the same reason

    if sys.stderr is not None:
        line = f"{escaped(text, keep=LINE_END)}{end}".encode(sys.stderr.encoding or "utf-8", "backslashreplace")
        try:
            sys.stderr.buffer.write(line)
            sys.stderr.buffer.flush()
        except (OSError, ValueError):
            silence(sys.stderr)


def complain(error: RemitError) -> None:
    """`remit: what is wrong`, and the help below it."""
    problems: tuple[Problem, ...] = getattr(error, "problems", ())
    for problem in problems:
        err(problem_text(problem))
    if problems:
        return
    err(f"remit: {error}")
    if error.help:
        err(f"    {error.help}")


def problem_text(problem: Problem) -> str:
    """`file:line:column: message (code)`, and the help below it."""
    from remit.model.text import escaped  # here: for the same reason

    place = f"{problem.at}: " if problem.at else ""
    help = f"\n    {problem.help}" if problem.help else ""
    return escaped(f"{place}{problem.message} ({problem.code}){help}", keep=LINE_END)


def coloured() -> bool:
    """True on a terminal, unless NO_COLOR is set."""
    if sys.stdout is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout.isatty()


@contextlib.contextmanager
def watched(*, machine: bool) -> Iterator[Callable[[str], None] | None]:
    """How far something has come, on one line of a terminal that is gone afterwards; None where nobody watches."""
    if machine or sys.stderr is None or os.environ.get("TERM") == "dumb" or not sys.stderr.isatty():
        yield None
        return

    def show(text: str) -> None:
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    try:
        yield show
    finally:
        show("")


def unicode_output() -> bool:
    """True if symbols can be shown."""
    return (getattr(sys.stdout, "encoding", None) or "").lower().replace("-", "") in ("utf8", "utf8sig")


def paint(text: str, style: str) -> str:
    """The text in a colour or style, on a terminal; `style` may be a verdict."""
    code = _CODES[_VERDICTS.get(style, style)]
    return f"\x1b[{code}m{text}\x1b[0m" if coloured() else text


def symbols(text: str) -> str:
    """The text with words for symbols where the terminal can't show them."""
    return text if unicode_output() else text.translate(_PLAIN)


def columns(text: str) -> int:
    """How many columns of a terminal the text takes."""
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)


def words_for_symbols(stream: Any) -> None:
    """What others print on the stream gets the same words, where its encoding has no such symbol."""
    import codecs  # here: only the demo prints by itself

    def words(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        found = error.object[error.start : error.end].translate(_PLAIN)
        return found.encode("ascii", "backslashreplace").decode("ascii"), error.end

    codecs.register_error("remit-words", words)
    stream.reconfigure(errors="remit-words")


def _encoded(text: str) -> bytes:
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return symbols(text).encode(encoding, "backslashreplace")
