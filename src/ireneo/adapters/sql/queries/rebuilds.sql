-- The marks of rebuilds.

-- name: last_rebuild
SELECT at, at_position, target_tokens, taken_up
FROM rebuilds
WHERE {space = :space AND} session = :key AND family = :summarizer AND budget_tokens = :budget_tokens
    AND segment = :segment AND at_position <= :last
ORDER BY at_position DESC
LIMIT 1;

-- name: list_rebuilds
SELECT family, budget_tokens, at, at_position, target_tokens, taken_up
FROM rebuilds
WHERE {space = :space AND} session = :key
ORDER BY at_position, at, family, budget_tokens;

-- name: put_rebuild
INSERT INTO rebuilds ({space,} session, family, budget_tokens, segment, at_position, at, target_tokens, taken_up)
VALUES ({:space,} :key, :summarizer, :budget_tokens, :segment, :at_position, :at, :target_tokens, :taken_up)
ON CONFLICT ({space,} session, family, budget_tokens, segment, at_position)
DO UPDATE SET target_tokens = excluded.target_tokens, taken_up = excluded.taken_up;
