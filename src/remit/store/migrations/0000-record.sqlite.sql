-- Which migrations have run.
CREATE TABLE migration (
    number  INTEGER PRIMARY KEY,
    name    TEXT NOT NULL,
    sha256  TEXT NOT NULL,
    applied TEXT NOT NULL
) STRICT;
