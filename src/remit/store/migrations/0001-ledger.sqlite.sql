-- The ledger's entries, as they were hashed. Only ever added to.
CREATE TABLE leaf (
    seq  INTEGER PRIMARY KEY,
    hash BLOB NOT NULL CHECK (length(hash) = 32),
    body BLOB NOT NULL
) STRICT;
CREATE TRIGGER leaf_update BEFORE UPDATE ON leaf BEGIN
    SELECT RAISE(ABORT, 'leaf may only be added to');
END;
CREATE TRIGGER leaf_delete BEFORE DELETE ON leaf BEGIN
    SELECT RAISE(ABORT, 'leaf may only be added to');
END;

-- How many entries there are, and the roots of the full subtrees over them, one after the other.
CREATE TABLE head (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    size  INTEGER NOT NULL,
    range BLOB NOT NULL
) STRICT;
INSERT INTO head (one, size, range) VALUES (1, 0, x'');

-- Signed heads. Only ever added to.
CREATE TABLE checkpoint (
    size INTEGER PRIMARY KEY,
    note BLOB NOT NULL
) STRICT;
CREATE TRIGGER checkpoint_update BEFORE UPDATE ON checkpoint BEGIN
    SELECT RAISE(ABORT, 'checkpoint may only be added to');
END;
CREATE TRIGGER checkpoint_delete BEFORE DELETE ON checkpoint BEGIN
    SELECT RAISE(ABORT, 'checkpoint may only be added to');
END;

-- Values of fields that entries only commit to. Erasing one deletes its row.
CREATE TABLE secret (
    seq   INTEGER NOT NULL,
    path  TEXT NOT NULL,
    salt  BLOB NOT NULL,
    value BLOB,
    PRIMARY KEY (seq, path)
) STRICT;

-- Intents whose outcome isn't written yet, and who is to write it.
CREATE TABLE running (
    seq    INTEGER PRIMARY KEY,
    call   TEXT NOT NULL,
    writer TEXT NOT NULL
) STRICT;
CREATE INDEX running_call ON running (call);

CREATE TABLE writer_process (
    id   TEXT PRIMARY KEY NOT NULL,
    host TEXT,
    boot TEXT,
    pid  INTEGER,
    born TEXT,
    seen TEXT
) STRICT;

CREATE TABLE meta (
    name  TEXT PRIMARY KEY NOT NULL,
    value BLOB
) STRICT;
