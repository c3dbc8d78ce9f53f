"""A query in the one form that the parser is given: no comments, no names, no literals, only structure.

Every name becomes `n3`, every string `'s3'`, every number `13`, every type one name, so that no word of the text can
be taken for something that the database doesn't take it for. What each stood for is looked up afterwards.
"""

from __future__ import annotations

from typing import NamedTuple

from remit.languages.sql.keywords import Keywords, keywords_of, places
from remit.languages.sql.lexer import NAME, NUMBER, OP, PARAM, QUOTED, STRING, WORD, Token, ascii_lower, refuse
from remit.model.pattern import compile_later

MAX_DEPTH = 20
"""Far below where the parser meets Python's own limit, so that no answer depends on how deep its caller is."""
_RANK = {"none": 0, "abort": 1, "fail": 2, "rollback": 3, "ignore": 4, "update": 5, "replace": 6}
_VALUES = frozenset(("current_user", "session_user", "user", "current_role", "current_catalog", "system_user"))
"""Words of postgres that are values by themselves."""
_REPLACED = compile_later(r"(?!(?:\|\||::|:=|=>|[<>]=|<>|!=)$)(?:[^-+*/%=<>(),.\[\]]|..+)")
"""Operators that stand between or before values, as a minus does, and are written as one."""
_KEYWORD_FUNCTIONS = frozenset(("extract", "substring", "trim", "position", "overlay"))
_COUNTED = frozenset(("select", "insert", "update", "delete", "merge"))
_TYPES = frozenset(("date", "time", "timestamp", "datetime", "timestamptz"))
"""Types that a literal may begin with: `date '2026-01-01'`."""
_UNITS = frozenset(
    f"{unit}{plural}"
    for unit in ("microsecond", "millisecond", "second", "minute", "hour", "day", "week", "month", "quarter", "year")
    for plural in ("", "s")
) | {"day_hour", "day_minute", "day_second", "hour_minute", "hour_second", "minute_second", "year_month"}
_MYSQL_OPERATORS = {"rlike": "LIKE", "regexp": "LIKE", "div": "/", "mod": "%", "xor": "OR"}
_OPENS_TABLE = frozenset(("from", "join", "into", "update"))


class Normal(NamedTuple):
    """The query as the parser gets it, and what its placeholders stand for."""

    text: str
    names: list[str]
    strings: list[str]
    conflict: str
    counts: dict[str, int]
    """How often each main verb stands in it as such."""
    calls: frozenset[str]
    """Functions that are keywords."""
    tables: frozenset[str]
    """Placeholders that stand where a table does."""
    called: list[str]
    """Placeholders right before a bracket: functions, and tables and aliases with a list of columns."""
    replaces_rows: bool
    """An UPDATE that may delete rows which are in its way."""
    quoted: frozenset[int]
    """Strings that could be columns, by their number."""
    starts: list[int]
    """Where each token begins in the normal form."""
    numerals: list[str]
    """The numbers: the third is written `12`."""
    typed: frozenset[int]
    """Strings with a type before them, by their number."""


class Normaliser:
    """Writes one query in its normal form."""

    def __init__(self, tokens: list[Token], text: str, dialect: str) -> None:
        self.tokens = tokens
        self.text = text
        self.dialect = dialect
        self.words: Keywords = keywords_of(dialect)
        self.places = places()
        self.out: list[str] = []
        self.names: list[str] = []
        self.numbers: dict[str, str] = {}
        self.strings: list[str] = []
        self.conflict = "none"
        self.counts = dict.fromkeys(_COUNTED, 0)
        self.calls: set[str] = set()
        self.tables: set[str] = set()
        self.called: list[str] = []
        self.replaces_rows = False
        self.quoted: set[int] = set()
        self.typed: set[int] = set()
        self.numerals: list[str] = []
        self.skipped: set[int] = set()
        """Places of words that say nothing more: the unit behind an interval."""
        self.begun: list[int] = []
        """How many pieces were written before each token."""
        self.opened: list[str] = []
        """The word before each bracket that is open."""

    def write(self) -> Normal:
        """The normal form. Raises NotUnderstood."""
        at, end = 0, len(self.tokens)
        while at < end:
            token = self.tokens[at]
            kind = token.kind
            self.begun += [len(self.out)] * (at + 1 - len(self.begun))
            if at in self.skipped:
                at += 1
                continue
            if kind == WORD:
                at = self._word(at, token)
                continue
            if kind == OP:
                at = self._operator(at, token.value)
                continue
            if kind == NAME:
                self.out.append(self.name(token.value, at))
            elif kind == STRING:
                self.out.append(self._string(at, token.value))
            elif kind == QUOTED:
                self.quoted.add(len(self.strings))
                self.strings.append(token.value)
                self.out.append(f"'s{len(self.strings) - 1}'")
            elif kind == NUMBER:
                self.out.append(f"1{len(self.numerals)}")
                self.numerals.append(token.value)
            elif kind == PARAM:
                self.out.append("$1" if self.dialect == "postgres" else "?")
            at += 1
        if self.opened:
            raise refuse("a bracket that doesn't close")
        text = " ".join(self.out)
        offsets = [0]
        for piece in self.out:
            offsets.append(offsets[-1] + len(piece) + 1)
        return Normal(
            text,
            self.names,
            self.strings,
            self.conflict,
            self.counts,
            frozenset(self.calls),
            frozenset(self.tables),
            self.called,
            self.replaces_rows,
            frozenset(self.quoted),
            [offsets[pieces] for pieces in self.begun],
            self.numerals,
            frozenset(self.typed),
        )

    def name(self, value: str, at: int) -> str:
        """The placeholder of the name at a place."""
        found = self.numbers.get(value)
        if found is None:
            found = self.numbers[value] = f"n{len(self.names)}"
            self.names.append(value)
        if self._value(at + 1) == "(":
            self.called.append(found)
        elif at > 0 and self._opens_table(at):
            self.tables.add(found)
        return found

    def _opens_table(self, at: int) -> bool:
        """True where the token stands right behind FROM, JOIN or INTO, and no bracket or dot follows."""
        before = self.tokens[at - 1]
        if before.kind != WORD or before.value not in _OPENS_TABLE or self._value(at + 1) == ".":
            return False
        if before.value == "from":
            if self._value(at - 2) == "distinct" and self._value(at - 3) in ("is", "not"):
                return False
            return not (self.opened and self.opened[-1] in _KEYWORD_FUNCTIONS)
        return before.value != "update" or self._value(at - 2) not in ("for", "key", "do")

    def _value(self, at: int) -> str:
        """The word or operator at a place; `#` for a number, empty for all else."""
        if not 0 <= at < len(self.tokens):
            return ""
        token = self.tokens[at]
        if token.kind in (WORD, OP):
            return token.value
        return "#" if token.kind == NUMBER else ""

    def _string(self, at: int, value: str) -> str:
        call = self._value(at + 1) == "(" and self.dialect == "sqlite" and self._value(at - 1) not in ("into", ".")
        if call:
            return self.name(ascii_lower(value), at)
        self.strings.append(value)
        return f"'s{len(self.strings) - 1}'"

    def _operator(self, at: int, value: str) -> int:
        if value in ("(", "["):
            before = self._value(at - 1)
            self.opened.append("[" if value == "[" else "" if before == "[" else before)
            if len(self.opened) > MAX_DEPTH:
                raise refuse("nested too deeply")
            if value == "[":
                return self._bracket(at)
        elif value in (")", "]"):
            if not self.opened or (self.opened.pop() == "[") != (value == "]"):
                raise refuse("brackets that don't match")
            value = ")"
        elif value == "::":
            self.out.append("::")
            return self._type(at + 1)
        elif value == ":":
            raise refuse("a slice or a path that isn't followed")
        self.out.append("-" if value == "+" or _REPLACED.fullmatch(value) else value)  # the parser loses a sign of plus
        return at + 1

    def _bracket(self, at: int) -> int:
        """`ARRAY[1, 2]` becomes a list of values, `a[1]` a difference: the parser takes ages over nested arrays."""
        if self._value(at + 1) == "]":
            self.opened.pop()
            self.out.append("1")
            return at + 2
        before = self.tokens[at - 1] if at else None
        subscript = before is not None and before.value not in ("array", "[", ",", "(")
        self.out.append("- (" if subscript else "(")
        return at + 1

    def _word(self, at: int, token: Token) -> int:
        value = token.value
        before, after = self._value(at - 1), self._value(at + 1)
        if before == "." or after == ".":
            self.out.append(self.name(self._folded(token), at))
            return at + 1
        if value == "interval" and self.dialect != "sqlite":
            stop = self._interval(at)
            if stop:
                return stop
        skipped = self._rewritten(at, value, before, after)
        if skipped:
            return at + skipped
        if value in self.words.query and self._is_keyword(value, before, after):
            return self._keyword(at, value, before, after)
        if value in self.words.reserved:
            raise refuse(f"the word {value.upper()} isn't followed here")
        if self.dialect == "postgres" and value in _VALUES:
            self.out.append("1")
            return at + 1
        if self._kind(at + 1) == STRING and (self.dialect in ("postgres", "duckdb") or self._is_typed(value)):
            self.typed.add(len(self.strings))
            return at + 1  # `date '2026-01-01'`: a literal with its type
        self.out.append(self.name(self._folded(token), at))
        return at + 1

    def _is_typed(self, value: str) -> bool:
        return value in _TYPES and self.dialect != "sqlite"

    def _kind(self, at: int) -> str:
        return self.tokens[at].kind if 0 <= at < len(self.tokens) else ""

    def _interval(self, at: int) -> int:
        """`INTERVAL '1' MONTH`, `INTERVAL 1 DAY`, `INTERVAL (a + 1) DAY`, `INTERVAL a DAY`: only the value is written.

        Where the rest begins; 0 where it is no interval.
        """
        here = at + 1
        if self._value(here) in ("+", "-"):
            here += 1
        kind = self._kind(here)
        if kind in (STRING, QUOTED, NUMBER, PARAM):
            self._skip_unit(here + 1)
            self.typed.add(len(self.strings))
            return at + 1
        if self.dialect == "postgres" or kind == "":
            return 0
        if self._value(here) == "(":
            end, depth = here, 0
            while end < len(self.tokens):
                depth += (self._value(end) == "(") - (self._value(end) == ")")
                end += 1
                if depth == 0:
                    break
        elif kind in (WORD, NAME):
            end = here + 1
            while self._value(end) == ".":
                end += 2
        else:
            return 0
        if self._value(end) not in _UNITS:
            return 0
        self.skipped.add(end)
        return at + 1

    def _skip_unit(self, at: int) -> None:
        """`MONTH`, `DAY (3)`, `DAY TO SECOND (3)` behind the value of an interval."""
        while self._value(at) in _UNITS:
            self.skipped.add(at)
            at += 1
            if self._value(at) == "(" and self._value(at + 1) == "#" and self._value(at + 2) == ")":
                self.skipped.update((at, at + 1, at + 2))
                at += 3
            if self._value(at) != "to" or self._value(at + 1) not in _UNITS:
                return
            self.skipped.add(at)
            at += 1

    def _folded(self, token: Token) -> str:
        return self.text[token.start : token.end] if self.dialect == "mysql" else token.value

    def _is_keyword(self, value: str, before: str, after: str) -> bool:
        place = self.places.get(value)
        if place is None:
            return True
        if place.after is not None and before not in place.after:
            return False
        return place.before is None or after in place.before

    def _rewritten(self, at: int, value: str, before: str, after: str) -> int:
        """Clauses that only say what happens on a conflict: noted, and left out. How many tokens were used up."""
        if value == "or" and before in ("insert", "update") and self.dialect in ("sqlite", "duckdb"):
            if after not in ("abort", "fail", "ignore", "replace", "rollback"):
                raise refuse(f"{before.upper()} OR {after.upper()}")
            self._conflicts(after)
            self.replaces_rows = self.replaces_rows or (before == "update" and after == "replace")
            return 2
        if value == "replace" and after == "into" and self.dialect in ("sqlite", "mysql"):
            self._conflicts("replace")
            self.counts["insert"] += 1
            self.out.append("INSERT")
            return 1
        if self.dialect == "mysql" and (skipped := self._mysql(at, value, before, after)):
            return skipped
        if value == "overriding" and after in ("system", "user") and self._value(at + 2) == "value":
            return 3
        if value == "unknown" and before in ("is", "not") and self.dialect == "postgres":
            self.out.append("NULL")
            return 1
        if value == "constraint" and before == "on" and self._value(at - 2) == "conflict":
            self.out.append("CONSTRAINT")
            return 1
        return 0

    def _mysql(self, at: int, value: str, before: str, after: str) -> int:
        """Words of mysql alone. How many tokens were used up."""
        if value == "ignore" and before == "insert":
            self._conflicts("ignore")
            return 1
        if value in _MYSQL_OPERATORS and after != "(":
            self.out.append(_MYSQL_OPERATORS[value])
            return 1
        if value == "separator" and self._kind(at + 1) in (STRING, QUOTED):
            self.out.append(",")
            return 1
        if value == "binary" and after != "(" and before != "as":
            return 1
        return 0

    def _conflicts(self, kind: str) -> None:
        if _RANK[kind] > _RANK[self.conflict]:
            self.conflict = kind

    def _keyword(self, at: int, value: str, before: str, after: str) -> int:
        if value == "array":
            return at + 1
        self.out.append(value.upper())
        if value == "do":
            self._conflicts("ignore" if after == "nothing" else "update")
        elif value == "duplicate":
            self._conflicts("update")
        elif value in _COUNTED:
            if value != "update" or before not in ("for", "key", "do"):
                self.counts[value] += 1
        elif value in _KEYWORD_FUNCTIONS:
            self.calls.add(value)
        elif value == "as" and self.opened and self.opened[-1] == "cast":
            return self._type(at + 1)
        return at + 1

    def _type(self, at: int) -> int:
        """Reads a type, which becomes one name. Where it ends."""
        start = at
        while at < len(self.tokens) and self.tokens[at].kind in (WORD, NAME):
            value = self.tokens[at].value if self.tokens[at].kind == WORD else ""
            at += 1
            if self._value(at) == ".":
                at += 1
            elif self.dialect != "sqlite" and not self._type_goes_on(value, at):
                break
        if at == start:
            raise refuse("a type that isn't followed")
        if self._value(at) == "(":
            at += 1
            while self._value(at) in ("#", ",", "+", "-"):
                at += 1
            if self._value(at) != ")":
                raise refuse("a type that isn't followed")
            at += 1
        if self._value(at) in ("with", "without") and self._value(at + 1) == "time" and self._value(at + 2) == "zone":
            at += 3
        while self._value(at) == "[" and self._value(at + 1) == "]":
            at += 2
        self.out.append("INT" if self.dialect in ("mysql", "snowflake") else "t")  # which have no other names there
        return at

    def _type_goes_on(self, value: str, at: int) -> bool:
        following = self._value(at)
        return (value, following) in (
            ("double", "precision"),
            ("character", "varying"),
            ("char", "varying"),
            ("national", "character"),
            ("bit", "varying"),
        )
