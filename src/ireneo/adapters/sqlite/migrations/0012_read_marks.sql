-- How far a path was read into memories: on each of its segments up to this position, all before it included.
CREATE TABLE read_marks (
    session  INTEGER NOT NULL,
    segment  INTEGER NOT NULL,
    reader   TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (session, segment, reader)
) STRICT, WITHOUT ROWID;
