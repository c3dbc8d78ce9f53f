CREATE FUNCTION only_add() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% may only be added to', TG_TABLE_NAME;
END
$$;

-- The ledger's entries, as they were hashed. Only ever added to.
CREATE TABLE leaf (
    seq  BIGINT PRIMARY KEY,
    hash BYTEA NOT NULL CHECK (length(hash) = 32),
    body BYTEA NOT NULL
);
CREATE TRIGGER leaf_only_add BEFORE UPDATE OR DELETE OR TRUNCATE ON leaf EXECUTE FUNCTION only_add();

-- How many entries there are, and the roots of the full subtrees over them, one after the other.
CREATE TABLE head (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    size  BIGINT NOT NULL,
    range BYTEA NOT NULL
);
INSERT INTO head (one, size, range) VALUES (1, 0, '');

-- Signed heads. Only ever added to.
CREATE TABLE checkpoint (
    size BIGINT PRIMARY KEY,
    note BYTEA NOT NULL
);
CREATE TRIGGER checkpoint_only_add BEFORE UPDATE OR DELETE OR TRUNCATE ON checkpoint EXECUTE FUNCTION only_add();

-- Values of fields that entries only commit to. Erasing one deletes its row.
CREATE TABLE secret (
    seq   BIGINT NOT NULL,
    path  TEXT COLLATE "C" NOT NULL,
    salt  BYTEA NOT NULL,
    value BYTEA,
    PRIMARY KEY (seq, path)
);

-- Intents whose outcome isn't written yet, and who is to write it.
CREATE TABLE running (
    seq    BIGINT PRIMARY KEY,
    call   TEXT COLLATE "C" NOT NULL,
    writer TEXT COLLATE "C" NOT NULL
);
CREATE INDEX running_call ON running (call);

CREATE TABLE writer_process (
    id   TEXT COLLATE "C" PRIMARY KEY,
    host TEXT COLLATE "C",
    boot TEXT COLLATE "C",
    pid  BIGINT,
    born TEXT COLLATE "C",
    seen TEXT COLLATE "C"
);

CREATE TABLE meta (
    name  TEXT COLLATE "C" PRIMARY KEY,
    value BYTEA
);
