-- Tasks handed to agents. What was issued never changes; that it ended does, once.
CREATE TABLE capsule (
    id       TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    agent    TEXT COLLATE "C" NOT NULL,
    parent   TEXT COLLATE "C" REFERENCES capsule (id),
    body     BYTEA NOT NULL,
    expires  TEXT COLLATE "C",
    ended    TEXT COLLATE "C",
    ended_by TEXT COLLATE "C"
);
CREATE INDEX capsule_parent ON capsule (parent);
CREATE TABLE gate_pass (
    capsule TEXT COLLATE "C" NOT NULL REFERENCES capsule (id),
    gate    TEXT COLLATE "C" NOT NULL,
    person  TEXT COLLATE "C" NOT NULL,
    at      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (capsule, gate)
);

-- What was used in a capsule: `calls`, `writes`, `tool:NAME`, `grants[0]`, `plan[1]`, `tier:3`.
CREATE TABLE spent (
    capsule TEXT COLLATE "C" NOT NULL REFERENCES capsule (id),
    what    TEXT COLLATE "C" NOT NULL,
    used    BIGINT NOT NULL,
    PRIMARY KEY (capsule, what)
);

-- Hand-overs to another process: whoever has the ticket enters the capsule, once.
CREATE TABLE ticket (
    digest  TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    capsule TEXT COLLATE "C" NOT NULL REFERENCES capsule (id),
    expires TEXT COLLATE "C" NOT NULL,
    used    TEXT COLLATE "C"
);

-- Calls that wait for an answer, and the answers.
CREATE TABLE ask (
    seq      BIGINT PRIMARY KEY,
    digest   TEXT COLLATE "C" NOT NULL,
    body     BYTEA NOT NULL,
    agent    TEXT COLLATE "C" NOT NULL,
    capsule  TEXT COLLATE "C",
    asked_of TEXT COLLATE "C" NOT NULL,
    state    TEXT COLLATE "C" NOT NULL CHECK (state IN ('open', 'approved', 'refused', 'used', 'expired', 'cancelled')),
    expires  TEXT COLLATE "C" NOT NULL,
    answered TEXT COLLATE "C",
    answerer TEXT COLLATE "C",
    answerer_kind TEXT COLLATE "C",
    because  TEXT COLLATE "C"
);
CREATE INDEX ask_digest ON ask (digest);
CREATE INDEX ask_capsule ON ask (capsule);
CREATE INDEX ask_state ON ask (state);

-- The latest moment that anybody has acted at: a clock that goes back extends nothing.
CREATE TABLE moment (
    one  BIGINT PRIMARY KEY CHECK (one = 1),
    seen TEXT COLLATE "C" NOT NULL
);
INSERT INTO moment (one, seen) VALUES (1, '');
