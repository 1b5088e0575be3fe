-- Leases: so that two writers seldom do the same work.

-- The last token that a lease of the session was given. It is counted here and not in the lease's row, since that goes
-- when the lease is given back, and a token must never come twice.
ALTER TABLE sessions ADD COLUMN leased INTEGER NOT NULL DEFAULT 0;

-- Who is at which work of a session, and how work failed that nobody is at (then `holder` is empty). Times are
-- microseconds since 1970 in UTC, so that they compare exactly.
CREATE TABLE leases (
    session  INTEGER NOT NULL,
    work     TEXT NOT NULL,
    holder   TEXT NOT NULL,
    token    INTEGER NOT NULL,
    until    INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    error    TEXT NOT NULL,
    retry_at INTEGER,
    PRIMARY KEY (session, work)
) STRICT, WITHOUT ROWID;
