-- Which rulebook a person put in force, the newest last. Only ever added to.
CREATE TABLE activation (
    seq    BIGINT PRIMARY KEY CHECK (seq > 0),
    policy TEXT COLLATE "C" NOT NULL,
    digest TEXT COLLATE "C" NOT NULL CHECK (length(digest) = 64),
    at     TEXT COLLATE "C" NOT NULL,
    person TEXT COLLATE "C" NOT NULL
);
CREATE TRIGGER activation_only_add BEFORE UPDATE OR DELETE OR TRUNCATE ON activation EXECUTE FUNCTION only_add();

-- What people prove themselves with. Every attempt counts as failed until it succeeds.
CREATE TABLE credential (
    name       TEXT COLLATE "C" PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL CHECK (kind = 'passphrase'),
    salt       BYTEA NOT NULL,
    parameters TEXT COLLATE "C" NOT NULL,
    hash       BYTEA NOT NULL,
    set_at     TEXT COLLATE "C" NOT NULL,
    failures   BIGINT NOT NULL DEFAULT 0 CHECK (failures >= 0),
    failed_at  BIGINT NOT NULL DEFAULT 0
);
