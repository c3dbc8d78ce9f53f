-- Full arguments of calls that wait for an answer: encrypted, and gone once it is given.
CREATE TABLE sealed (
    id    TEXT PRIMARY KEY NOT NULL,
    nonce BLOB NOT NULL,
    body  BLOB NOT NULL
) STRICT;
