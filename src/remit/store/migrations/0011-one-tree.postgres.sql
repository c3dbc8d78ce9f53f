-- One index instead of two: every call changes both.
DROP INDEX running_call;
ALTER TABLE running DROP CONSTRAINT running_pkey;
ALTER TABLE running ADD PRIMARY KEY (call, seq);
