-- Tasks handed to agents. What was issued never changes; that it ended does, once.
CREATE TABLE capsule (
    id       TEXT PRIMARY KEY NOT NULL,
    agent    TEXT NOT NULL,
    parent   TEXT REFERENCES capsule (id),
    body     BLOB NOT NULL,
    expires  TEXT,
    ended    TEXT,
    ended_by TEXT
) STRICT;
CREATE INDEX capsule_parent ON capsule (parent);
CREATE TABLE gate_pass (
    capsule TEXT NOT NULL REFERENCES capsule (id),
    gate    TEXT NOT NULL,
    person  TEXT NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (capsule, gate)
) STRICT;

-- What was used in a capsule: `calls`, `writes`, `tool:NAME`, `grants[0]`, `plan[1]`, `tier:3`.
CREATE TABLE spent (
    capsule TEXT NOT NULL REFERENCES capsule (id),
    what    TEXT NOT NULL,
    used    INTEGER NOT NULL,
    PRIMARY KEY (capsule, what)
) STRICT;

-- Hand-overs to another process: whoever has the ticket enters the capsule, once.
CREATE TABLE ticket (
    digest  TEXT PRIMARY KEY NOT NULL,
    capsule TEXT NOT NULL REFERENCES capsule (id),
    expires TEXT NOT NULL,
    used    TEXT
) STRICT;

-- Calls that wait for an answer, and the answers.
CREATE TABLE ask (
    seq      INTEGER PRIMARY KEY,
    digest   TEXT NOT NULL,
    body     BLOB NOT NULL,
    agent    TEXT NOT NULL,
    capsule  TEXT,
    asked_of TEXT NOT NULL,
    state    TEXT NOT NULL CHECK (state IN ('open', 'approved', 'refused', 'used', 'expired', 'cancelled')),
    expires  TEXT NOT NULL,
    answered TEXT,
    answerer TEXT,
    answerer_kind TEXT,
    because  TEXT
) STRICT;
CREATE INDEX ask_digest ON ask (digest);
CREATE INDEX ask_capsule ON ask (capsule);
CREATE INDEX ask_state ON ask (state);

-- The latest moment that anybody has acted at: a clock that goes back extends nothing.
CREATE TABLE moment (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    seen TEXT NOT NULL
) STRICT;
INSERT INTO moment (one, seen) VALUES (1, '');
