-- Everything of Remit is in a schema of its own. An administrator may have made it already.
DO $$
BEGIN
    IF to_regnamespace('remit') IS NULL THEN
        CREATE SCHEMA remit;
    END IF;
END
$$;

-- Which migrations have run.
CREATE TABLE migration (
    number  INTEGER PRIMARY KEY,
    name    TEXT COLLATE "C" NOT NULL,
    sha256  TEXT COLLATE "C" NOT NULL,
    applied TEXT COLLATE "C" NOT NULL
);

-- The one row whose lock makes a writer the only one.
CREATE TABLE writer (
    one INTEGER PRIMARY KEY CHECK (one = 1)
);
INSERT INTO writer (one) VALUES (1);
