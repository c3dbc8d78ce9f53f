"""The format of a `shell:` scope: programs with their limits, how they may be joined, what they may touch."""

from __future__ import annotations

from remit.forms.shapes import Choice, Either, Field, Flag, ListOf, MapOf, Record, Ref, Text
from remit.forms.texts import many
from remit.model.terms import EFFECTS
from remit.scopes.path import glob_texts
from remit.scopes.sql.form import sql_scope
from remit.scopes.url import url_texts

_effects = ListOf(Choice(*EFFECTS), single=True, some=True)
_texts = many(Text())
_run = Either(
    scalar=Text(),
    map=MapOf(
        Either(
            scalar=Text(),
            list=ListOf(Text()),
            map=Record(
                {
                    "sub": Field(_texts, "subcommands"),
                    "effects": Field(_effects, "effects its options may have, beyond or below the profile's"),
                    "options": Field(_texts, "the only options it may have, as `-csv` or `--csv`"),
                    "targets": Field(_texts, "make targets"),
                    "module": Field(_texts, "python -m modules"),
                    "url": Field(url_texts(), "URLs that it may be given"),
                    "host": Field(_texts, "hosts that it may be given"),
                    "db": Field(_texts, "database files"),
                    "sql": Field(sql_scope, "statements that it may be given"),
                    "meta": Field(_texts, "commands of a database client, such as tables (.tables) and d (\\d)"),
                    "unsafe_any_arguments": Field(Flag(), "any arguments at all: weakens enforcement"),
                },
                what="a command",
            ),
        ),
        what="program",
    ),
)
_joiners = Choice(
    "and",
    "or",
    "then",
    "pipe",
    "background",
    "group",
    "subshell",
    "substitution",
    "condition",
    "loop",
    "function",
)
_scope = Record(
    {
        "sets": Field(_texts, "named command sets of the catalog"),
        "run": Field(Either(scalar=Choice("any"), list=ListOf(_run)), "programs and subcommands"),
        "filters": Field(_texts, "programs allowed only after a pipe"),
        "joined_by": Field(ListOf(_joiners), "how commands may be joined: and is &&, then is ;, pipe is |"),
        "redirect": Field(_texts, "files that output may be redirected to"),
        "env": Field(
            many(Text(r"[A-Za-z_*][A-Za-z0-9_*]*", "the name of a variable")),
            "variables that may be set before a command",
        ),
        "stdin": Field(Choice("literal", "none"), "literal: texts in the command itself; none: nothing"),
        "in": Field(Text(), "working directory"),
        "path": Field(
            MapOf(glob_texts(), what="effect"), "the files that the commands may touch, by effect: {read: …, write: …}"
        ),
    },
    what="a shell scope",
)
shell_scope = Ref("shell-scope", lambda: _scope)
