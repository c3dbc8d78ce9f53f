-- From which entry on the calls of this writer have no row in `running`: the entries themselves tell which of them run.
ALTER TABLE writer_process ADD COLUMN since INTEGER;
