-- How often a person has set the clock of authority back: whoever remembers an earlier count forgets what it knew.
ALTER TABLE moment ADD COLUMN era BIGINT NOT NULL DEFAULT 0;

-- By how many seconds the wall clock is behind, while it is; `gap`: time may have passed that nobody counted.
ALTER TABLE moment ADD COLUMN behind BIGINT;
ALTER TABLE moment ADD COLUMN gap BIGINT NOT NULL DEFAULT 0;

-- What the steady clock of each start of a machine showed at a moment of authority, in milliseconds.
CREATE TABLE boot (
    id     TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    steady BIGINT NOT NULL,
    at     BIGINT NOT NULL
);

-- A ticket that nobody took in time stays expired, wherever the clock goes.
ALTER TABLE ticket ADD COLUMN expired TEXT COLLATE "C";
CREATE INDEX ticket_waiting ON ticket (expires) WHERE used IS NULL AND expired IS NULL;
