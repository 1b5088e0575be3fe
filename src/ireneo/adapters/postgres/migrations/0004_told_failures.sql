-- Traps are compiled from failures that were told as well, so a change of one deletes them too.
DROP TRIGGER traps_without_new_lesson ON memories;
DROP TRIGGER traps_without_old_lesson ON memories;
DROP TRIGGER traps_without_lost_lesson ON memories;

CREATE TRIGGER traps_without_new_lesson AFTER INSERT ON memories FOR EACH ROW
WHEN (NEW.cue <> '' OR NEW.kind = 'failure') EXECUTE FUNCTION drop_traps();
-- That a lesson was used changes nothing of what it says. No JSON of the database's own holds a NUL.
CREATE TRIGGER traps_without_old_lesson AFTER UPDATE ON memories FOR EACH ROW
WHEN (
    (OLD.cue <> '' OR NEW.cue <> '' OR OLD.kind = 'failure' OR NEW.kind = 'failure') AND (
        replace(OLD.record, '\u0000', '')::jsonb - '{uses,used,helped,harmed}'::text[]
        IS DISTINCT FROM replace(NEW.record, '\u0000', '')::jsonb - '{uses,used,helped,harmed}'::text[]
    )
)
EXECUTE FUNCTION drop_traps();
CREATE TRIGGER traps_without_lost_lesson AFTER DELETE ON memories FOR EACH ROW
WHEN (OLD.cue <> '' OR OLD.kind = 'failure') EXECUTE FUNCTION drop_traps();
