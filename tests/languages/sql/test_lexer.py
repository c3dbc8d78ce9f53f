"""Tokens, as each database makes them."""

from __future__ import annotations

import sqlite3

import pytest

from remit.languages.sql.lexer import MAX_TEXT, MAX_TOKENS, lex
from remit.model.errors import NotUnderstood


def kinds(text: str, dialect: str) -> list[tuple[str, str]]:
    """Kind and value of each token."""
    return [(token.kind, token.value) for token in lex(text, dialect)]


READ = [
    ("sqlite", "SeLeCt Ä", [("word", "select"), ("word", "Ä")]),
    ("sqlite", "a--x\n--\rb\nc", [("word", "a"), ("word", "c")]),
    ("sqlite", "a/*'*/b/**/c/*/*/d", [("word", "a"), ("word", "b"), ("word", "c"), ("word", "d")]),
    ("sqlite", "'a''b' ''", [("string", "a'b"), ("string", "")]),
    ("sqlite", '"A""b" [C]"]" `d``e`', [("name", 'a"b'), ("name", "c"), ("name", "]"), ("name", "d`e")]),
    ("sqlite", "X'0aFF'", [("number", "X'0aFF'")]),
    (
        "sqlite",
        "1 .5 5. 1e5 1.5E-3 0xfF 1_0",
        [("number", n) for n in ("1", ".5", "5.", "1e5", "1.5E-3", "0xfF", "1_0")],
    ),
    ("sqlite", "?1 ? :a @b $c::d", [("param", p) for p in ("?1", "?", ":a", "@b", "$c::d")]),
    ("sqlite", "a$b", [("word", "a$b")]),
    ("sqlite", "->>->||<>!===", [("op", op) for op in ("->>", "->", "||", "<>", "!=", "==")]),
    ("sqlite", "a\fb", [("word", "a"), ("word", "b")]),
    ("postgres", 'ABC "ABC"', [("word", "abc"), ("name", "ABC")]),
    ("postgres", "a--x\rb", [("word", "a"), ("word", "b")]),
    ("postgres", "a/*/* */;*/b", [("word", "a"), ("word", "b")]),
    ("postgres", "E'a\\'b'", [("string", "a\\'b")]),
    ("postgres", "'a\\' b", [("string", "a\\"), ("word", "b")]),
    ("postgres", "$$;$$", [("string", ";")]),
    ("postgres", "$x$a$$b$x$", [("string", "a$$b")]),
    ("postgres", "a$b$c", [("word", "a$b$c")]),
    ("postgres", "$1+$2", [("param", "$1"), ("op", "+"), ("param", "$2")]),
    ("postgres", "a::b", [("word", "a"), ("op", "::"), ("word", "b")]),
    ("postgres", "1=-1", [("number", "1"), ("op", "="), ("op", "-"), ("number", "1")]),
    ("postgres", "a<--x\nb", [("word", "a"), ("op", "<"), ("word", "b")]),
    ("postgres", "a+/*x*/b", [("word", "a"), ("op", "+"), ("word", "b")]),
    ("postgres", "a@>b", [("word", "a"), ("op", "@>"), ("word", "b")]),
    (
        "postgres",
        "B'01',x'ff',N'a'",
        [("number", "B'01'"), ("op", ","), ("number", "x'ff'"), ("op", ","), ("string", "a")],
    ),
    ("postgres", "0x1F 1_000 1e-5", [("number", "0x1F"), ("number", "1_000"), ("number", "1e-5")]),
    ("mysql", "`Ab` cD", [("name", "Ab"), ("word", "cd")]),
    ("duckdb", '"Ab"', [("name", "ab")]),
    ("snowflake", '"AB"', [("name", "ab")]),
    ("mysql", "a -- x\nb", [("word", "a"), ("word", "b")]),
    ("mysql", "a /* x */ b", [("word", "a"), ("word", "b")]),
    ("mysql", "a # x '\nb", [("word", "a"), ("word", "b")]),
    ("mysql", '"it\'s" 1', [("quoted", "it's"), ("number", "1")]),
    ("mysql", "'a\\\\' b", [("string", "a\\\\"), ("word", "b")]),
    ("mysql", "a->>'$.b'", [("word", "a"), ("op", "->>"), ("string", "$.b")]),
    ("mysql", "@a @@global.b x'00'", [("param", "@a"), ("param", "@@global.b"), ("number", "x'00'")]),
    ("duckdb", "a // $$b'$$", [("word", "a"), ("op", "//"), ("string", "b'")]),
    ("snowflake", '"Ab"', [("name", '"Ab"')]),
]
REFUSED = [
    *[
        ("sqlite", text)
        for text in ("'a", '"a', "[a", "`a", "x'0'", "x'0g'", "1a", "1.a", "0xg", "a /* b", "#1", "{", "\\")
    ],
    *[
        ("sqlite", text)
        for text in ("\v", "\0", "a\u00a0b", "a\u200bb", "\ufeffa", "$a(b)", "a!b", "a^b", ":", "@", "\x01")
    ],
    *[("postgres", text) for text in ("'a", "E'a\\'", '""', '"a', "U&'a'", 'u&"a"', "'a'\n'b'", "E'a'\n'b\\''", "$$a")],
    *[
        ("postgres", text)
        for text in ("1a", "1.a", "$1a", "a /* /* */", "a <=>> b", "`", "\\d", "\v", "Ä", "1..2", "{")
    ],
    *[("postgres", text) for text in ("x" * 64, '"' + "x" * 64 + '"', "'a' E'b'", "B'0' 'a'", "a\u00a0b")],
    *[
        ("mysql", text)
        for text in ("'a\\'", "'a\\'b'", '"a\\"', "--x", "a--1", "/*!x*/", "/*+x*/", "/*M!x*/", "/* /* */", "@'a'")
    ],
    *[
        ("mysql", text)
        for text in ("_utf8'a'", "N'a'", "1a", "a::b", "{{a}}", "'a' 'b'", "'a' \"b\"", "$$", "[a]", "@a:=1", "a\u200b")
    ],
    *[("duckdb", text) for text in ("`a`", "#1", "a #1", "{#", "$$a", "E'a\\'", "/* /* */", "U&'a'")],
    *[("snowflake", text) for text in ("`a`", "@stage", "$1", "a:b", "//x\\")],
]


@pytest.mark.parametrize(("dialect", "text", "expected"), READ)
def test_tokens(dialect, text, expected):
    assert kinds(text, dialect) == expected


@pytest.mark.parametrize(("dialect", "text"), REFUSED)
def test_what_is_not_certain_is_refused(dialect, text):
    with pytest.raises(NotUnderstood):
        lex(text, dialect)


def test_tokens_say_where_they_stand():
    text = "SELECT /* x */ 'a' ;"
    assert [text[token.start : token.end] for token in lex(text, "sqlite")] == ["SELECT", "'a'", ";"]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "mysql"])
def test_caps(dialect):
    with pytest.raises(NotUnderstood):
        lex(" " * (MAX_TEXT + 1), dialect)
    with pytest.raises(NotUnderstood):
        lex("é" * (MAX_TEXT // 2 + 1), dialect)
    with pytest.raises(NotUnderstood):
        lex("a " * (MAX_TOKENS + 1), dialect)
    assert len(lex("a " * 100, dialect)) == 100


@pytest.mark.parametrize("code", [*range(1, 128), 0x80, 0x85, 0xA0, 0xE4, 0x200B, 0x2028, 0xFEFF, 0x1F600])
def test_sqlite_takes_each_character_as_we_do(code):
    """`SELECT 1<c>AS<c>x` works in SQLite exactly where the character is a blank."""
    char = chr(code)
    try:
        found = kinds(f"SELECT 1{char}AS{char}x", "sqlite")
        blank = found == [("word", "select"), ("number", "1"), ("word", "as"), ("word", "x")]
    except NotUnderstood:
        blank = False
    connection = sqlite3.connect(":memory:")
    try:
        column = connection.execute(f"SELECT 1{char}AS{char}x").description[0][0]
    except sqlite3.Error:
        column = None
    connection.close()
    assert blank == (column == "x")
