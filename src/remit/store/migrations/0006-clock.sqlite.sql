-- How often a person has set the clock of authority back: whoever remembers an earlier count forgets what it knew.
ALTER TABLE moment ADD COLUMN era INTEGER NOT NULL DEFAULT 0;

-- What the steady clock of each start of a machine showed at a moment of authority, in milliseconds; and by how many
-- seconds its wall clock is behind, while it is. `gap`: nobody knows how long the machine was off.
CREATE TABLE boot (
    id     TEXT PRIMARY KEY NOT NULL,
    steady INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    behind INTEGER,
    gap    INTEGER NOT NULL DEFAULT 0
) STRICT;

-- A ticket that nobody took in time stays expired, wherever the clock goes.
ALTER TABLE ticket ADD COLUMN expired TEXT;
CREATE INDEX ticket_waiting ON ticket (expires) WHERE used IS NULL AND expired IS NULL;
