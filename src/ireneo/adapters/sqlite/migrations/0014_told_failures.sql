-- Traps are compiled from failures that were told as well, so a change of one deletes them too.
DROP TRIGGER traps_without_new_lesson;
DROP TRIGGER traps_without_old_lesson;
DROP TRIGGER traps_without_lost_lesson;

CREATE TRIGGER traps_without_new_lesson AFTER INSERT ON memories WHEN NEW.cue <> '' OR NEW.kind = 'failure' BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

-- That a lesson was used changes nothing of what it says.
CREATE TRIGGER traps_without_old_lesson AFTER UPDATE ON memories
WHEN (OLD.cue <> '' OR NEW.cue <> '' OR OLD.kind = 'failure' OR NEW.kind = 'failure') AND (
    json_remove(OLD.record, '$.uses', '$.used', '$.helped', '$.harmed')
    IS NOT json_remove(NEW.record, '$.uses', '$.used', '$.helped', '$.harmed')
) BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

CREATE TRIGGER traps_without_lost_lesson AFTER DELETE ON memories WHEN OLD.cue <> '' OR OLD.kind = 'failure' BEGIN
    DELETE FROM traps WHERE space = OLD.space;
END;

DELETE FROM traps;
