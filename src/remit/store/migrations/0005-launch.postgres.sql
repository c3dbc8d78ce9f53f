-- Who was let hand work to whom in a session of a host: a subagent's calls don't say who started it.
CREATE TABLE launch (
    session TEXT COLLATE "C" NOT NULL,
    agent   TEXT COLLATE "C" NOT NULL,
    chain   TEXT COLLATE "C" NOT NULL,
    at      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session, agent, chain)
);
CREATE INDEX launch_at ON launch (at);
