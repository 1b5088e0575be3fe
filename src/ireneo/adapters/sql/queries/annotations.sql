-- The pins, releases and disputes of a session's tree.

-- name: insert_annotation
INSERT INTO annotations ({space,} session, id, segment, at_position, record, checksum)
VALUES ({:space,} :key, :id, :segment, :at_position, :record, :checksum)
ON CONFLICT ({space,} session, id) DO NOTHING;

-- name: list_annotations
-- Those of one stretch.
SELECT record
FROM annotations
WHERE {space = :space AND} session = :key AND segment = :segment AND at_position BETWEEN :first AND :last
ORDER BY at_position, id;
