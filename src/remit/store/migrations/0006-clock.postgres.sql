-- How often a person has set the clock of authority back: whoever remembers an earlier count forgets what it knew.
ALTER TABLE moment ADD COLUMN era BIGINT NOT NULL DEFAULT 0;

-- What the steady clock of each start of a machine showed at a moment of authority, in milliseconds; and by how many
-- seconds its wall clock is behind, while it is. `gap`: nobody knows how long the machine was off.
CREATE TABLE boot (
    id     TEXT COLLATE "C" PRIMARY KEY NOT NULL,
    steady BIGINT NOT NULL,
    at     BIGINT NOT NULL,
    behind BIGINT,
    gap    BIGINT NOT NULL DEFAULT 0
);

-- A ticket that nobody took in time stays expired, wherever the clock goes.
ALTER TABLE ticket ADD COLUMN expired TEXT COLLATE "C";
CREATE INDEX ticket_waiting ON ticket (expires) WHERE used IS NULL AND expired IS NULL;
