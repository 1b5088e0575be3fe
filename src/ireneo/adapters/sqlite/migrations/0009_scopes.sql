-- Which project a session worked on, and which messages no branch leads to: by both it is told what may be recalled.

-- NULL: nobody looked yet; empty: of none that is known.
ALTER TABLE sessions ADD COLUMN project TEXT;

CREATE INDEX sessions_unplaced ON sessions (space) WHERE project IS NULL;

-- The documents of messages that lie on no branch, as runs of numbers: the first and the last of each. A number begins
-- with the key of its session.
CREATE TABLE undone (
    space TEXT NOT NULL,
    first INTEGER NOT NULL,
    last  INTEGER NOT NULL,
    PRIMARY KEY (space, first)
) STRICT, WITHOUT ROWID;

-- The projects that a memory's evidence is of, as far as that was known when it was stored; empty: of none. A memory
-- without a row was stored by an earlier version.
CREATE TABLE memory_projects (
    space   TEXT NOT NULL,
    number  INTEGER NOT NULL,
    project TEXT NOT NULL,
    PRIMARY KEY (space, number, project)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER memory_unplaced AFTER DELETE ON memories BEGIN
    DELETE FROM memory_projects WHERE space = OLD.space AND number = OLD.number;
END;

-- A key may be given again.
CREATE TRIGGER session_gone AFTER DELETE ON sessions BEGIN
    DELETE FROM undone
    WHERE space = OLD.space AND first BETWEEN OLD.key << 31 AND ((OLD.key + 1) << 31) - 1;
END;

INSERT INTO undone (space, first, last)
WITH RECURSIVE
    needed (session, segment, last) AS (
        SELECT session, segment, position FROM branches WHERE segment IS NOT NULL
        UNION
        SELECT s.session, s.parent, s.first - 1
        FROM needed JOIN segments AS s ON s.session = needed.session AND s.segment = needed.segment
        WHERE s.parent IS NOT NULL
    ),
    kept (session, segment, last) AS (SELECT session, segment, max(last) FROM needed GROUP BY session, segment),
    loose (session, document, island) AS (
        SELECT d.session, d.document,
            (d.document >> 7) - row_number() OVER (PARTITION BY d.session ORDER BY d.document)
        FROM documents AS d
        LEFT JOIN kept ON kept.session = d.session AND kept.segment = d.segment
        WHERE d.document IS NOT NULL AND d.position > coalesce(kept.last, -1)
    )
SELECT s.space, min(loose.document), max(loose.document)
FROM loose JOIN sessions AS s ON s.key = loose.session
GROUP BY loose.session, loose.island;
