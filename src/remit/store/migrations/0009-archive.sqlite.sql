-- Once an archive has an entry, its body may go; its hash stays, and with it every proof.
DROP TRIGGER leaf_update;
CREATE TRIGGER leaf_update BEFORE UPDATE ON leaf
WHEN NOT (NEW.seq = OLD.seq AND NEW.hash = OLD.hash AND NEW.subject IS OLD.subject AND length(NEW.body) = 0) BEGIN
    SELECT RAISE(ABORT, 'leaf may only be added to');
END;

-- The same for a signed head, as long as there is a larger one.
DROP TRIGGER checkpoint_delete;
CREATE TRIGGER checkpoint_delete BEFORE DELETE ON checkpoint
WHEN NOT EXISTS (SELECT 1 FROM checkpoint WHERE size > OLD.size) BEGIN
    SELECT RAISE(ABORT, 'checkpoint may only be added to');
END;
