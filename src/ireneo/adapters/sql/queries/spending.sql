-- What was spent on models.

-- name: add_spent
INSERT INTO spending (space, session, day, calls, tokens) VALUES (:space, :session, :day, :calls, :tokens)
ON CONFLICT (space, session, day)
DO UPDATE SET calls = {spending.}calls + excluded.calls, tokens = {spending.}tokens + excluded.tokens;

-- name: spent_of_session
SELECT coalesce(sum(calls), 0){::bigint}, coalesce(sum(tokens), 0){::bigint} FROM spending WHERE space = :space
    AND session = :session;

-- name: spent_of_day
SELECT coalesce(sum(calls), 0){::bigint}, coalesce(sum(tokens), 0){::bigint} FROM spending WHERE space = :space
    AND day = :day;
