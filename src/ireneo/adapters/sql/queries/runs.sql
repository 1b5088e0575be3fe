-- The runs of a space that were learned from, and what each shows of each claim.

-- name: put_run
INSERT INTO runs (space, session, head, ended, record, checksum)
VALUES (:space, :session, :head, :ended, :record, :checksum)
ON CONFLICT (space, session) DO UPDATE
SET head = excluded.head, ended = excluded.ended, record = excluded.record, checksum = excluded.checksum;

-- name: get_run
SELECT record FROM runs WHERE space = :space AND session = :session;

-- name: delete_run
DELETE FROM runs WHERE space = :space AND session = :session;

-- name: add_observation
INSERT INTO sightings (space, cue, session, at, category, project, held, broke, tokens, seconds, record, checksum)
VALUES (:space, :cue, :session, :at, :category, :project, :held, :broke, :tokens, :seconds, :record, :checksum);

-- name: list_observations
SELECT record FROM sightings WHERE space = :space AND cue = :cue ORDER BY at DESC, session LIMIT :limit;

-- name: observations_of_run
SELECT record FROM sightings {sqlite: INDEXED BY sightings_by_run} WHERE space = :space
    AND session = :session ORDER BY cue;

-- name: list_cues
SELECT DISTINCT cue FROM sightings WHERE space = :space AND cue >= :beginning AND cue < :behind ORDER BY cue;

-- name: stray_runs
SELECT r.session
FROM runs AS r
WHERE r.space = :space AND NOT EXISTS (
    SELECT 1 FROM sessions AS s JOIN messages AS m ON {m.space = s.space AND} m.session = s.key AND m.id = r.head
    WHERE s.space = r.space AND s.session = r.session
)
UNION
SELECT g.session
FROM sightings AS g {sqlite: INDEXED BY sightings_by_run}
WHERE g.space = :space AND NOT EXISTS (SELECT 1 FROM runs AS r WHERE r.space = g.space AND r.session = g.session)
ORDER BY 1;

-- name: head_of_run
SELECT head FROM runs WHERE space = :space AND session = :session;

-- name: sum_claims
-- In the order of the key, so that the rows of a claim come one after another.
SELECT
    cue, min(category), sum(held){::bigint}, sum(broke){::bigint}, count(*) FILTER (WHERE held > 0),
    {sqlite: json_group_array}{coalesce(json_agg}(DISTINCT project) 
        FILTER (WHERE held > 0 AND project <> ''){, '[]')::text},
    min(at) FILTER (WHERE held > 0 AND at > :never), max(at) FILTER (WHERE held > 0 AND at > :never),
    sum(tokens){::bigint}, sum(seconds)
FROM sightings
WHERE space = :space
GROUP BY cue
HAVING count(*) FILTER (WHERE held > 0) >= :least_runs
ORDER BY cue;

-- name: sum_claims_of_run
-- like: sum_claims, where cue IN (SELECT s.cue FROM sightings AS s WHERE s.space = :space AND s.session = :session)
