-- What an entry says the state of, such as ["ask",17]: the newest entry of a subject says how it stands.
ALTER TABLE leaf ADD COLUMN subject TEXT COLLATE "C";
CREATE INDEX leaf_subject ON leaf (subject, seq) WHERE subject IS NOT NULL;

-- With this and the text, entries say which body and reason a row has without giving them away.
ALTER TABLE ask ADD COLUMN salt BYTEA;
ALTER TABLE capsule ADD COLUMN salt BYTEA;

-- The public key that belongs to the passphrase; missing until it is next given where it was set before there were any.
ALTER TABLE credential ADD COLUMN key BYTEA;

-- What was asked and what was issued never changes, and stays.
CREATE TRIGGER ask_fixed BEFORE UPDATE OF seq, digest, body, agent, capsule, asked_of ON ask
    EXECUTE FUNCTION only_add();
CREATE TRIGGER ask_kept BEFORE DELETE OR TRUNCATE ON ask EXECUTE FUNCTION only_add();
CREATE TRIGGER capsule_fixed BEFORE UPDATE OF id, agent, parent, body ON capsule EXECUTE FUNCTION only_add();
CREATE TRIGGER capsule_kept BEFORE DELETE OR TRUNCATE ON capsule EXECUTE FUNCTION only_add();
