-- What the calls of an agent added up to in one UTC day, in millionths.
CREATE TABLE daily (
    agent TEXT COLLATE "C" NOT NULL,
    day   TEXT COLLATE "C" NOT NULL,
    what  TEXT COLLATE "C" NOT NULL,
    used  BIGINT NOT NULL,
    PRIMARY KEY (agent, day, what)
);
