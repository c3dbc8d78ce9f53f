-- Which rulebook a person put in force, the newest last. Only ever added to.
CREATE TABLE activation (
    seq    INTEGER PRIMARY KEY CHECK (seq > 0),
    policy TEXT NOT NULL,
    digest TEXT NOT NULL CHECK (length(digest) = 64),
    at     TEXT NOT NULL,
    person TEXT NOT NULL
) STRICT;
CREATE TRIGGER activation_update BEFORE UPDATE ON activation BEGIN
    SELECT RAISE(ABORT, 'activation may only be added to');
END;
CREATE TRIGGER activation_delete BEFORE DELETE ON activation BEGIN
    SELECT RAISE(ABORT, 'activation may only be added to');
END;

-- What people prove themselves with. Every attempt counts as failed until it succeeds.
CREATE TABLE credential (
    name       TEXT PRIMARY KEY NOT NULL,
    kind       TEXT NOT NULL CHECK (kind = 'passphrase'),
    salt       BLOB NOT NULL,
    parameters TEXT NOT NULL,
    hash       BLOB NOT NULL,
    set_at     TEXT NOT NULL,
    failures   INTEGER NOT NULL DEFAULT 0 CHECK (failures >= 0),
    failed_at  INTEGER NOT NULL DEFAULT 0
) STRICT;
