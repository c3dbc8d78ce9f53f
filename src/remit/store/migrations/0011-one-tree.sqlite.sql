-- Each of these in one tree instead of a table and an index: every call changes both, and each page costs.
CREATE TABLE new_secret (
    seq   INTEGER NOT NULL,
    path  TEXT NOT NULL,
    salt  BLOB NOT NULL,
    value BLOB,
    PRIMARY KEY (seq, path)
) STRICT, WITHOUT ROWID;
INSERT INTO new_secret (seq, path, salt, value) SELECT seq, path, salt, value FROM secret ORDER BY seq, path;
DROP TABLE secret;
ALTER TABLE new_secret RENAME TO secret;

CREATE TABLE new_running (
    seq    INTEGER NOT NULL,
    call   TEXT NOT NULL,
    writer TEXT NOT NULL,
    PRIMARY KEY (call, seq)
) STRICT, WITHOUT ROWID;
INSERT INTO new_running (seq, call, writer) SELECT seq, call, writer FROM running ORDER BY call, seq;
DROP TABLE running;
ALTER TABLE new_running RENAME TO running;
