-- How often a person has set the clock of authority back: whoever remembers an earlier count forgets what it knew.
ALTER TABLE moment ADD COLUMN era INTEGER NOT NULL DEFAULT 0;

-- By how many seconds the wall clock is behind, while it is; `gap`: time may have passed that nobody counted.
ALTER TABLE moment ADD COLUMN behind INTEGER;
ALTER TABLE moment ADD COLUMN gap INTEGER NOT NULL DEFAULT 0;

-- What the steady clock of each start of a machine showed at a moment of authority, in milliseconds.
CREATE TABLE boot (
    id     TEXT PRIMARY KEY NOT NULL,
    steady INTEGER NOT NULL,
    at     INTEGER NOT NULL
) STRICT;

-- A ticket that nobody took in time stays expired, wherever the clock goes.
ALTER TABLE ticket ADD COLUMN expired TEXT;
CREATE INDEX ticket_waiting ON ticket (expires) WHERE used IS NULL AND expired IS NULL;
