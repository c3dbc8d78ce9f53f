-- What the calls of an agent added up to in one UTC day, in millionths.
CREATE TABLE daily (
    agent TEXT NOT NULL,
    day   TEXT NOT NULL,
    what  TEXT NOT NULL,
    used  INTEGER NOT NULL,
    PRIMARY KEY (agent, day, what)
) STRICT;
