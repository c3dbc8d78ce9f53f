-- A keyed hash of an entry's place and hash: what only Remit can have written. Calls have none.
-- The entries of an older log get theirs once.
ALTER TABLE leaf ADD COLUMN stamp BLOB;
DROP TRIGGER leaf_update;
CREATE TRIGGER leaf_update BEFORE UPDATE ON leaf
WHEN NOT (NEW.seq = OLD.seq AND NEW.hash = OLD.hash AND NEW.subject IS OLD.subject AND (
    (NEW.stamp IS OLD.stamp AND length(NEW.body) = 0)
    OR (OLD.stamp IS NULL AND NEW.stamp IS NOT NULL AND NEW.body = OLD.body)
)) BEGIN
    SELECT RAISE(ABORT, 'leaf may only be added to');
END;
