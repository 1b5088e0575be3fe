-- The memories of a space.

-- name: find_memory
SELECT number, document, terms, record FROM memories WHERE space = :space AND id = :id;

-- name: replace_memory
UPDATE memories
SET kind = :kind, key = :key, state = :state, archived = :archived, subject = :subject, task_type = :task_type,
    at = :at, recorded = :recorded, unreflected = :unreflected, stale = :stale, cue = :cue,
    record = :record, checksum = :checksum
WHERE space = :space AND id = :id;

-- name: number_memory
UPDATE memories SET document = :document, terms = :terms WHERE space = :space AND id = :id;

-- name: remove_memory
DELETE FROM memories WHERE space = :space AND id = :id;

-- name: add_memory_source
INSERT INTO memory_sources (space, source, number) VALUES (:space, :source, :number) ON CONFLICT DO NOTHING;

-- name: remove_memory_source
DELETE FROM memory_sources WHERE space = :space AND source = :source AND number = :number;

-- name: find_memories
SELECT record FROM memories WHERE space = :space AND id >= :prefix AND id < :prefix || '~' ORDER BY id LIMIT :limit;

-- name: memories_of_key
SELECT record FROM memories WHERE space = :space AND kind = :kind AND key = :key ORDER BY recorded, id;

-- name: list_memories
-- By time; those below are the same by a shorter way, which is taken where it can be.
SELECT record
FROM memories
WHERE space = :space
  AND (:kind{::text} IS NULL OR kind = :kind)
  AND (:subject{::text} IS NULL OR subject = :subject)
  AND (:task_type{::text} IS NULL OR task_type = :task_type)
  AND ({NOT} :unreflected {sqlite: = 0} OR unreflected = 1)
  AND ({NOT} :stale {sqlite: = 0} OR stale = 1)
  AND (:archived{::boolean} IS NULL OR archived = :archived{::boolean::integer})
  AND (:states = '[]' OR state IN (SELECT listed(:states)))
  AND ({NOT} :lessons {sqlite: = 0} OR cue <> '')
  AND (:cues = '[]' OR cue IN (SELECT listed(:cues)))
  AND (:after_at{::bigint} IS NULL OR at < :after_at OR (at = :after_at AND id > :after_id))
  AND (:ids = '[]' OR id IN (SELECT listed(:ids)))
  AND (
    :projects{::text} IS NULL
    OR NOT EXISTS (SELECT 1 FROM memory_projects AS p WHERE p.space = :space AND p.number = memories.number)
    OR EXISTS (
        SELECT 1 FROM memory_projects AS p
        WHERE p.space = :space AND p.number = memories.number AND p.project IN (SELECT listed(:projects))
    )
  )
ORDER BY at DESC, id
LIMIT :limit;

-- name: list_memories_of_kind
-- like: list_memories, where kind = :kind

-- name: list_memories_of_subject
-- like: list_memories, where subject = :subject AND subject <> ''

-- name: list_memories_of_task
-- like: list_memories, where task_type = :task_type AND task_type <> ''

-- name: list_unreflected_memories
-- like: list_memories, where kind = :kind AND unreflected = 1

-- name: list_stale_memories
-- like: list_memories, where stale = 1

-- name: list_memories_of_cues
-- Few are of a claim, so they are sorted: the index of lessons by time would read them all.
-- like: list_memories, from memories {sqlite: INDEXED BY memories_by_cue}, where cue IN (SELECT listed(:cues)) AND cue <> ''

-- name: list_lessons
-- like: list_memories, where cue <> ''

-- name: place_memory
INSERT INTO memory_projects (space, number, project) VALUES (:space, :number, :project) ON CONFLICT DO NOTHING;

-- name: unplace_memory
DELETE FROM memory_projects WHERE space = :space AND number = :number;
