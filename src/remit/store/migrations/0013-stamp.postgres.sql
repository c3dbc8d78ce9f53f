-- A keyed hash of an entry's place and hash: what only Remit can have written. Calls have none.
-- The entries of an older log get theirs once.
ALTER TABLE leaf ADD COLUMN stamp BYTEA;
CREATE OR REPLACE FUNCTION only_archive() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq = OLD.seq AND NEW.hash = OLD.hash AND NEW.subject IS NOT DISTINCT FROM OLD.subject
        AND ((NEW.stamp IS NOT DISTINCT FROM OLD.stamp AND length(NEW.body) = 0)
            OR (OLD.stamp IS NULL AND NEW.stamp IS NOT NULL AND NEW.body = OLD.body))
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% may only be added to', TG_TABLE_NAME;
END
$$;
