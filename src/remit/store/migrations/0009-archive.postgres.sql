CREATE FUNCTION only_archive() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq = OLD.seq AND NEW.hash = OLD.hash AND NEW.subject IS NOT DISTINCT FROM OLD.subject
        AND length(NEW.body) = 0
    THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION '% may only be added to', TG_TABLE_NAME;
END
$$;
CREATE FUNCTION not_the_newest() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM checkpoint WHERE size > OLD.size) THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION '% may only be added to', TG_TABLE_NAME;
END
$$;

-- Once an archive has an entry, its body may go; its hash stays, and with it every proof.
DROP TRIGGER leaf_only_add ON leaf;
CREATE TRIGGER leaf_only_add BEFORE DELETE OR TRUNCATE ON leaf EXECUTE FUNCTION only_add();
CREATE TRIGGER leaf_only_archive BEFORE UPDATE ON leaf FOR EACH ROW EXECUTE FUNCTION only_archive();

-- The same for a signed head, as long as there is a larger one.
DROP TRIGGER checkpoint_only_add ON checkpoint;
CREATE TRIGGER checkpoint_only_add BEFORE UPDATE OR TRUNCATE ON checkpoint EXECUTE FUNCTION only_add();
CREATE TRIGGER checkpoint_not_the_newest BEFORE DELETE ON checkpoint FOR EACH ROW EXECUTE FUNCTION not_the_newest();
