"""Meta-commands of database clients (`.tables`, `\\d`): what each of them does beyond showing something."""

from __future__ import annotations

from typing import NamedTuple

from remit.languages.bash.reading import Reading, Word
from remit.languages.programs.profiles import Meta, programs
from remit.languages.sql.statement import SqlStatement, Use

SIGNS = {"sqlite3": ".", "psql": "\\"}
_STREAMS = frozenset(("stdout", "stderr", "off"))
_FLAGS = frozenset(("--csv", "-csv", "--ascii", "-ascii", "-v", "--v"))


class MetaCall(NamedTuple):
    """One meta-command of a text."""

    name: str
    """Without its sign."""
    words: tuple[str, ...] = ()
    raw: str = ""
    shell: str = ""
    """The text that a shell runs, if this one runs one."""
    sure: bool = True
    """The words are to the letter what the client makes of them."""


def meta_of(client: str, name: str) -> tuple[str, Meta | None]:
    """The full name, and what is known of it; SQLite's shell takes abbreviations, of which each reading counts."""
    known = programs().metas.get(client, {})
    if name in known or client != "sqlite3" or not name:
        return name, known.get(name)
    found = [full for full in known if full.startswith(name)]
    if len(found) == 1:
        return found[0], known[found[0]]
    if found and all(known[full] == Meta("show") for full in found):
        return name, Meta("show")
    return name, None


def run_meta(client: str, call: MetaCall, out: Reading) -> None:
    """Adds what the meta-command does."""
    name, meta = meta_of(client, call.name)
    shown = SIGNS[client] + name
    out.metas.append(shown)
    if meta is None:
        out.unknown.append(f"the command `{shown}` isn't known")
    elif meta.does == "refuse":
        out.unknown.append(f"`{shown}`: {meta.reason}")
    elif meta.does == "show":
        first = call.words[0] if call.words else ""
        if (meta.only and call.words and (first not in meta.only or not call.sure)) or (
            meta.words is not None and len(call.words) > meta.words
        ):
            out.unknown.append(f"`{shown} {first}`: {meta.reason}")
    elif meta.does == "data":
        out.statements.append(everything(call.raw))
    elif meta.does == "shell":
        out.effects.add("execute")
        out.shells.append(Word(call.shell if call.sure else None, call.raw))
        if not call.sure:
            out.unknown.append(f"`{shown}` runs a text that isn't certain")
    elif not call.sure:
        out.unknown.append(f"the words of `{shown}` are not certain")
    else:
        _files(meta, shown, call, out)


def _files(meta: Meta, shown: str, call: MetaCall, out: Reading) -> None:
    """A meta-command that reads or writes files."""
    words = [word for word in call.words if meta.does != "import" or word not in _FLAGS]
    if any(word.startswith(("-", "(")) for word in words):
        out.unknown.append(f"an option of `{shown}`")
    if any("|" in word for word in words):
        out.effects.add("execute")
        out.unknown.append(f"`{shown}` runs a program")
    elif meta.does == "script":
        hidden(out, Word(words[0], call.raw) if len(words) == 1 else Word(None, call.raw))
    elif meta.does == "import":
        if len(words) == 2:
            out.touch("read", Word(words[0], call.raw))
            out.statements.append(filled(call.raw, words[1]))
        else:
            out.unknown.append(f"the words of `{shown}`")
    elif words:
        if meta.does == "copy":
            out.statements.append(everything(call.raw))
        if words[0] not in meta.without and not (meta.does == "output" and words[0] in _STREAMS):
            out.touch("write", Word(words[-1], call.raw))
        if len(words) > (2 if meta.does == "copy" else 1):
            out.unknown.append(f"the words of `{shown}`")


def everything(text: str) -> SqlStatement:
    """What reads every table."""
    return SqlStatement(text, "select", frozenset(("select",)), (Use("select", "*"),))


def filled(text: str, table: str) -> SqlStatement:
    """What fills a table from elsewhere; quoting makes a name differ, so it counts as any."""
    name = table.lower() if table.isidentifier() and table.isascii() else "*"
    return SqlStatement(
        text, "insert", frozenset(("insert",)), (Use("insert", name),), source="select", conflict="none"
    )


def hidden(out: Reading, path: Word | None) -> None:
    """SQL that the text doesn't show: code of the project if it is a file below the root, else not understood."""
    where = "standard input" if path is None else path.raw
    text = None if path is None else path.text
    reason = f"the SQL of {where} is not in the text"
    out.statements.append(SqlStatement(where, "", unknown=(reason,)))
    if path is not None and text is not None:
        out.touch("read", path)
    if text is None or text.startswith(("/", "~", "-")) or ".." in text.split("/"):
        out.unknown.append(reason)
    else:
        out.project = True
