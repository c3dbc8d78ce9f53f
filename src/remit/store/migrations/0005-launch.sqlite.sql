-- Who was let hand work to whom in a session of a host: a subagent's calls don't say who started it.
CREATE TABLE launch (
    session TEXT NOT NULL,
    agent   TEXT NOT NULL,
    chain   TEXT NOT NULL,
    at      TEXT NOT NULL,
    PRIMARY KEY (session, agent, chain)
) STRICT;
CREATE INDEX launch_at ON launch (at);
