-- What an entry says the state of, such as ["ask",17]: the newest entry of a subject says how it stands.
ALTER TABLE leaf ADD COLUMN subject TEXT;
CREATE INDEX leaf_subject ON leaf (subject, seq) WHERE subject IS NOT NULL;

-- With this and the text, entries say which body and reason a row has without giving them away.
ALTER TABLE ask ADD COLUMN salt BLOB;
ALTER TABLE capsule ADD COLUMN salt BLOB;

-- The public key that belongs to the passphrase; missing until it is next given where it was set before there were any.
ALTER TABLE credential ADD COLUMN key BLOB;

-- What was asked and what was issued never changes, and stays.
CREATE TRIGGER ask_fixed BEFORE UPDATE OF seq, digest, body, agent, capsule, asked_of ON ask BEGIN
    SELECT RAISE(ABORT, 'what was asked never changes');
END;
CREATE TRIGGER ask_delete BEFORE DELETE ON ask BEGIN
    SELECT RAISE(ABORT, 'what was asked is kept');
END;
CREATE TRIGGER capsule_fixed BEFORE UPDATE OF id, agent, parent, body ON capsule BEGIN
    SELECT RAISE(ABORT, 'what was issued never changes');
END;
CREATE TRIGGER capsule_delete BEFORE DELETE ON capsule BEGIN
    SELECT RAISE(ABORT, 'what was issued is kept');
END;
