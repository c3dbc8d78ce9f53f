"""The schema and the words that random SQL texts are made of."""

from __future__ import annotations

Columns = dict[str, str]
TABLES: dict[str, Columns] = {
    "people": {"id": "i", "name": "t", "secret": "t", "boss": "i"},
    "orders": {"id": "i", "person": "i", "total": "i", "note": "t"},
    "log": {"at": "i", "what": "t"},
    "Odd Name": {"a b": "i", "select": "t", "Mixed": "t"},
    "aux.extra": {"id": "i", "body": "t"},
}
VIEWS: dict[str, Columns] = {"names": {"name": "t", "boss": "i"}, "totals": {"person": "i", "total": "i"}}
RELATIONS = {**TABLES, **VIEWS}
TRICKY = (
    ";", "--", "/*", "*/", "'", '"', "{#", "#}", "$$", "$a$", "\\", "`", "[", "]", "%s", ":x", "?", "x'", "\n", "\t",
    "; DROP TABLE people; --", "/* it's", "é", "\u2028", "{{", "{%", "@", "E'", "' --", "U&", "//", "#",
)  # fmt: skip
NAMES = ("c", "d", "people", "log", "orders", "names", "x1", "sub")
GAPS = (" ", "\n", "\t", "  ", " /* a */ ", " -- b\n", "/**/", " /*;*/ ", " --;'\n", "\r\n", " /* -- */ ", " /*'*/ ")
SQLITE_GAPS = ("\f", " /* /* */ ", "\ufeff")
POSTGRES_GAPS = ("\v", "\f", " /* /* ; */ ' */ ", " --x\r")
TEXT_CALLS = ("lower|t", "upper|t", "substr|tii", "replace|ttt", "trim|t", "~hex|t", "~quote|t", "~typeof|i", "~char|i")
INTEGER_CALLS = ("abs|i", "length|t", "~unicode|t", "~instr|tt", "~sign|i", "~likely|i")
SQLITE_SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, secret TEXT, boss INTEGER);
CREATE TABLE orders (id INTEGER PRIMARY KEY, person INTEGER, total INTEGER, note TEXT);
CREATE TABLE log (at, what);
CREATE TABLE "Odd Name" ("a b" INTEGER, "select" TEXT, "Mixed" TEXT);
CREATE VIEW names AS SELECT name, boss FROM people;
CREATE VIEW totals AS SELECT person, total FROM orders;
CREATE TRIGGER noted AFTER INSERT ON orders BEGIN INSERT INTO log VALUES (new.id, new.note); END;
CREATE TRIGGER gone AFTER DELETE ON people BEGIN UPDATE "Odd Name" SET "a b" = old.id; END;
"""
POSTGRES_SCHEMA = """
CREATE SCHEMA aux;
CREATE TABLE people (id integer PRIMARY KEY, name text, secret text, boss integer);
CREATE TABLE orders (id integer PRIMARY KEY, person integer, total integer, note text);
CREATE TABLE log (at integer, what text);
CREATE TABLE "Odd Name" ("a b" integer, "select" text, "Mixed" text);
CREATE TABLE aux.extra (id integer, body text);
CREATE VIEW names AS SELECT name, boss FROM people;
CREATE VIEW totals AS SELECT person, total FROM orders;
CREATE FUNCTION noted() RETURNS trigger LANGUAGE plpgsql AS
  $$BEGIN INSERT INTO log VALUES (new.id, new.note); RETURN NULL; END$$;
CREATE TRIGGER noted AFTER INSERT ON orders FOR EACH ROW EXECUTE FUNCTION noted();
INSERT INTO people VALUES (1, 'a', 'b', NULL), (2, 'c', 'd', 1);
INSERT INTO orders VALUES (1, 1, 5, 'x'), (2, 2, 7, 'y');
INSERT INTO "Odd Name" VALUES (1, 'x', 'y');
INSERT INTO aux.extra VALUES (1, 'x');
"""
