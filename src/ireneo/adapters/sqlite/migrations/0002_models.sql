-- What a model's part of memory needs: the annotations of a session's tree, what was spent, and in the mark of a
-- rebuild the summaries that a model wrote.

-- JSON: a list of ids.
ALTER TABLE rebuilds ADD COLUMN taken_up TEXT NOT NULL DEFAULT '[]';

-- `segment` is that of the message that it is at: a path through that message has the annotation.
CREATE TABLE annotations (
    session     INTEGER NOT NULL,
    id          TEXT NOT NULL,
    segment     INTEGER NOT NULL,
    at_position INTEGER NOT NULL,
    record      TEXT NOT NULL,
    PRIMARY KEY (session, id)
) STRICT;

CREATE INDEX annotations_by_place ON annotations (session, segment, at_position, id);

-- What each session spent on a day. It goes by name, since what is spent on a session that is never made counts too.
CREATE TABLE spending (
    space   TEXT NOT NULL,
    session TEXT NOT NULL,
    day     TEXT NOT NULL,
    calls   INTEGER NOT NULL,
    tokens  INTEGER NOT NULL,
    PRIMARY KEY (space, session, day)
) STRICT, WITHOUT ROWID;

-- The counters stand in it too: without them SQLite would rather read all that the space ever spent.
CREATE INDEX spending_by_day ON spending (space, day, calls, tokens);
