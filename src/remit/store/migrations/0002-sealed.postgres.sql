-- Full arguments of calls that wait for an answer: encrypted, and gone once it is given.
CREATE TABLE sealed (
    id    TEXT PRIMARY KEY,
    nonce BYTEA NOT NULL,
    body  BYTEA NOT NULL
);
