-- The traps of a space, compiled from its lessons for whoever asks before a call. They follow from lessons and from what
-- runs show, and are gone in the transaction that changes either: none outlives what it was made of.
CREATE TABLE traps (
    space   TEXT NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL, -- how the record is laid out
    needles TEXT NOT NULL, -- words, a line each, of which one stands in every call that a trap may be about
    record  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER traps_without_new_lesson AFTER INSERT ON memories WHEN NEW.cue <> '' BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

-- That a lesson was used changes nothing of what it says.
CREATE TRIGGER traps_without_old_lesson AFTER UPDATE ON memories
WHEN (OLD.cue <> '' OR NEW.cue <> '') AND (
    json_remove(OLD.record, '$.uses', '$.used', '$.helped', '$.harmed')
    IS NOT json_remove(NEW.record, '$.uses', '$.used', '$.helped', '$.harmed')
) BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

CREATE TRIGGER traps_without_lost_lesson AFTER DELETE ON memories WHEN OLD.cue <> '' BEGIN
    DELETE FROM traps WHERE space = OLD.space;
END;

CREATE TRIGGER traps_without_new_sighting AFTER INSERT ON sightings BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

CREATE TRIGGER traps_without_old_sighting AFTER UPDATE ON sightings BEGIN
    DELETE FROM traps WHERE space = NEW.space;
END;

CREATE TRIGGER traps_without_lost_sighting AFTER DELETE ON sightings BEGIN
    DELETE FROM traps WHERE space = OLD.space;
END;

-- The guard kept statistics of its own among the claims; nothing reads them any more.
DELETE FROM sightings WHERE cue >= 'guard: ' AND cue < 'guard:!';
