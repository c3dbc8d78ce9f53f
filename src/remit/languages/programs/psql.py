"""psql's language: SQL, backslash commands wherever no quote or comment is open, and variables as `:name`."""

from __future__ import annotations

import re

from remit.languages.bash.reading import Reading, Word
from remit.languages.programs.meta import MetaCall, everything, filled, run_meta
from remit.languages.sql.statement import SqlStatement
from remit.model.pattern import compile_later

_TOKEN = compile_later(
    r"""(?P<space>\s+|--[^\n]*)
      | (?P<comment>/\*)
      | (?P<escaped>(?<![\w$])[eE]'(?:[^'\\]|\\.|'')*')
      | (?P<text>'[^']*')
      | (?P<name>"[^"]*")
      | (?P<dollar>(?<![\w$])\$(?P<tag>(?:[A-Za-z_\x80-\uffff][\w]*)?)\$)
      | (?P<cast>::|:=)
      | (?P<variable>:[\w'"{])
      | (?P<end>;)
      | (?P<meta>\\)
      | (?P<open>['"])
      | (?P<word>[\w$]+)
      | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_META = compile_later(r"\\([^\s\\]*)([^\n]*)")
_ENDING = frozenset(("g", "gx", "gdesc", "crosstabview"))
_WHOLE = frozenset(("!", "copy", "sf", "sv", "h", "help"))
"""Commands whose argument is the whole rest of the line."""
_COPY = compile_later(
    r"(?P<what>\(.*\)|[A-Za-z_][\w.]*)\s*(?P<columns>\([\w\s,]*\))?\s+(?P<way>from|to)\s+"
    r"(?P<target>'[^'\\]*'|[^\s'\"]+)(?P<more>[\w\s,()=']*);?",
    re.IGNORECASE | re.DOTALL,
)
_PAIR = compile_later(r"([a-z_]+)\s*=\s*([^\s'\\=]+)")
_KNOWN = frozenset(("dbname", "user", "password", "port", "sslmode", "connect_timeout", "application_name"))
MAX_TOKENS = 200_000

Piece = str | MetaCall


def psql_argument(text: str) -> tuple[list[Piece], str | None]:
    """What the value of `-c` runs: SQL, or exactly one backslash command; or why that isn't certain."""
    if not text.startswith("\\"):
        pieces, reason = psql_input(text)
        if reason is None and any(isinstance(piece, MetaCall) for piece in pieces):
            return [], "a backslash command beside SQL"
        return pieces, reason
    if "\n" in text:
        return [], "a backslash command of several lines"
    return psql_input(text)


def psql_input(text: str) -> tuple[list[Piece], str | None]:
    """What a text on standard input runs; or why that isn't certain."""
    pieces: list[Piece] = []
    start = at = 0
    begun = False
    sql = ""
    while at < len(text):
        found = _TOKEN.match(text, at)
        kind = found.lastgroup if found is not None else None
        if found is None or kind == "open":
            return [], "a quote that is not closed"
        if kind == "variable":
            return [], f"`{text[at : at + 20]}` could be a variable"
        if kind == "text" and "\\'" in found[0]:
            return [], "a backslash before a quote"
        if kind == "meta":
            calls, after = _commands(text, at)
            if calls is None:
                return [], "a backslash command that isn't certain"
            ends = calls[0].name in _ENDING
            if begun and not ends:
                return [], f"`\\{calls[0].name}` stands within a statement"
            sql += text[start:at] + (";" if ends and begun else "")
            if sql.strip():
                pieces.append(sql)
            sql, begun, start, at = "", False, after, after
            pieces.extend(calls)
            continue
        if kind == "comment":
            at = _comment(text, at)
        elif kind == "dollar":
            close = text.find(found["dollar"], found.end())
            at = close + len(found["dollar"]) if close >= 0 else -1
        else:
            at = found.end()
        if at < 0:
            return [], "a comment or quote that is not closed"
        begun = kind != "end" and (begun or kind not in ("space", "comment"))
    sql += text[start:]
    return ([*pieces, sql] if sql.strip() else pieces), None


def _comment(text: str, at: int) -> int:
    """Behind a comment, which may hold others; -1 if it is not closed."""
    depth = 0
    for found in re.finditer(r"/\*|\*/", text[at:]):
        depth += 1 if found[0] == "/*" else -1
        if depth == 0:
            return at + found.end()
    return -1


def _commands(text: str, at: int) -> tuple[list[MetaCall] | None, int]:
    """The backslash commands up to the end of the line, and where that is; None where it isn't certain."""
    calls: list[MetaCall] = []
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    while at < end:
        found = _META.match(text, at, end)
        if found is None:
            return None, end
        name, rest = found[1], found[2]
        name = name.rstrip("+S") if name.startswith("d") else name.rstrip("+")
        if name not in _WHOLE:
            rest = rest.partition("\\")[0] if "'" not in rest and '"' not in rest else rest
        if not name or "`" in rest or ("\\" in rest and name != "!"):
            return None, end
        words, sure = _words(rest)
        calls.append(MetaCall(name, tuple(words), f"\\{found[1]}{rest}", rest.strip(), sure or name == "!"))
        at = at + 1 + len(found[1]) + len(rest)
    return calls or None, end


def _words(rest: str) -> tuple[list[str], bool]:
    """The words of a command; not sure where quotes or variables make them other than they look."""
    words = re.findall(r"'[^']*'|[^\s']+", rest)
    sure = ":" not in rest and '"' not in rest and " ".join(words).split() == rest.split()
    return [word[1:-1] if word[0] == "'" else word for word in words], sure


def psql_meta(call: MetaCall, out: Reading) -> str | None:
    """Adds what a backslash command does; returns the query of a `\\copy`, which is to be understood too."""
    if call.name != "copy":
        run_meta("psql", call, out)
        return None
    out.metas.append("\\copy")
    found = _COPY.fullmatch(call.shell)
    target = found["target"].strip("'") if found is not None else ""
    if found is None or target.lower() in ("program", "stdin", "pstdin") or ":" in call.shell:
        out.unknown.append("`\\copy` runs a program, or isn't certain")
        if "program" in call.shell.lower():
            out.effects.add("execute")
        return None
    leaves = found["way"].lower() == "to"
    if target.lower() not in ("stdout", "pstdout"):
        out.touch("write" if leaves else "read", Word(target, call.raw))
    if found["what"].startswith("("):
        return found["what"][1:-1]
    statement = everything(call.raw) if leaves else filled(call.raw, found["what"])
    if leaves:
        statement = _read(statement, found["what"])
    out.statements.append(statement)
    return None


def _read(statement: SqlStatement, table: str) -> SqlStatement:
    return statement._replace(uses=(statement.uses[0]._replace(table=filled("", table).uses[0].table),))


def read_address(word: Word, out: Reading) -> Word | None:
    """The database that an argument names, alone or with its server (`postgresql://host/db`, `host=x dbname=y`)."""
    text = word.text
    if text is None:
        return word
    if text.startswith(("postgresql:", "postgres:")):
        return _url(word, text, out)
    if "=" not in text:
        return word
    pairs = dict(_PAIR.findall(text))
    if " ".join(f"{key}={value}" for key, value in _PAIR.findall(text)) != " ".join(text.split()):
        out.unknown.append(f"the address `{text}` isn't certain")
    name = None
    for key, value in pairs.items():
        if key in ("host", "hostaddr"):
            for host in value.split(","):
                out.host(Word(host, word.raw))
        elif key not in _KNOWN:
            out.unknown.append(f"`{key}` in the address of a database")
        if key == "dbname":
            name = Word(value, word.raw)
    return name


def _url(word: Word, text: str, out: Reading) -> Word | None:
    from urllib.parse import urlsplit  # here: few commands name a database by its URL

    try:
        parts = urlsplit(text)
        host = parts.hostname
    except ValueError:
        host = None
        parts = urlsplit("")
    queries = {pair.partition("=")[0] for pair in parts.query.split("&") if pair}
    if (
        not text.isprintable()
        or "%" in text
        or "," in parts.netloc
        or parts.fragment
        or not queries <= _KNOWN - {"dbname", "user", "password"}
    ):
        out.unknown.append(f"the address `{text}` isn't certain")
    if parts.netloc and host is None:
        out.unknown.append(f"the address `{text}` isn't certain")
    if host:
        out.host(Word(host, word.raw))
    name = parts.path.strip("/")
    return Word(name, word.raw) if name else None
