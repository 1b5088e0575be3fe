-- Indexes by which the vectors of a large set are searched, where the server has pgvector 0.8 or newer: nothing else of the
-- schema needs it. They stand over the bytes that are there, so that no vector is stored twice.

-- The lengths that there is an index for: a vector is filled up with zeros to the next, which changes no angle.
CREATE FUNCTION indexed_length(bytes integer) RETURNS integer LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
RETURN CASE
    WHEN bytes <= 64 THEN NULL WHEN bytes <= 384 THEN 384 WHEN bytes <= 768 THEN 768 WHEN bytes <= 1024 THEN 1024
    WHEN bytes <= 1536 THEN 1536 WHEN bytes <= 3072 THEN 3072
END;

-- What keeps the server from having them: 'absent' or 'old', of pgvector; or nothing does.
CREATE FUNCTION what_hinders_vectors() RETURNS text LANGUAGE sql
RETURN coalesce((
    SELECT CASE
        WHEN string_to_array(coalesce(installed_version, default_version), '.')::integer[] < ARRAY[0, 8] THEN 'old'
        ELSE ''
    END FROM pg_available_extensions WHERE name = 'vector'
), 'absent');

-- Makes what is missing, where the server and the role can.
CREATE FUNCTION index_vectors() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    home text;
    length integer;
BEGIN
    IF what_hinders_vectors() <> '' THEN
        RETURN;
    END IF;
    CREATE EXTENSION IF NOT EXISTS vector;
    SELECT extnamespace::regnamespace::text INTO home FROM pg_extension WHERE extname = 'vector';
    IF to_regprocedure('direction(bytea, integer)') IS NULL THEN
        EXECUTE format(
            'CREATE FUNCTION direction(vector bytea, length integer) RETURNS %s.halfvec '
            'LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE '
            'RETURN (SELECT array_agg('
            'CASE WHEN i < octet_length(vector) THEN (get_byte(vector, i) # 128) - 128 ELSE 0 END ORDER BY i'
            ')::%s.halfvec FROM generate_series(0, length - 1) AS i)', home, home
        );
    END IF;
    FOREACH length IN ARRAY ARRAY[384, 768, 1024, 1536, 3072] LOOP
        EXECUTE format(
            'CREATE INDEX IF NOT EXISTS vectors_near_%s ON vectors '
            'USING hnsw ((direction(vector, %s)::%s.halfvec(%s)) %s.halfvec_cosine_ops) '
            'WHERE indexed_length(octet_length(vector)) = %s', length, length, home, length, home, length
        );
    END LOOP;
EXCEPTION WHEN insufficient_privilege THEN
    -- Vectors are compared without them, and a doctor says what is missing.
    RETURN;
END $$;

SELECT index_vectors();

-- The vectors of a set that are likely the nearest to one, by their index; none where there is no index for their length.
-- Without a sort the planner has one way, whatever it knows of the table. The index gives what is near of all spaces of
-- its partition, and goes on until enough are of this one.
CREATE FUNCTION likely_vectors(of_space text, of_set bigint, asked bytea, wanted integer, looked_at integer)
RETURNS TABLE (document bigint, vector bytea) LANGUAGE plpgsql
SET enable_sort = off SET hnsw.iterative_scan = relaxed_order SET hnsw.scan_mem_multiplier = 16
AS $$
DECLARE
    length integer := indexed_length(octet_length(asked));
    home text;
BEGIN
    IF to_regclass(format('vectors_near_%s', length)) IS NULL THEN
        RETURN;
    END IF;
    SELECT extnamespace::regnamespace::text INTO home FROM pg_extension WHERE extname = 'vector';
    PERFORM set_config('hnsw.ef_search', least(1000, greatest(100, wanted))::text, true);
    PERFORM set_config('hnsw.max_scan_tuples', looked_at::text, true);
    RETURN QUERY EXECUTE format(
        'SELECT v.document, v.vector FROM vectors AS v '
        'WHERE v.space = $1 AND v.vector_set = $2 AND indexed_length(octet_length(v.vector)) = %s '
        'ORDER BY direction(v.vector, %s)::%s.halfvec(%s) OPERATOR(%s.<=>) direction($3, %s)::%s.halfvec(%s) LIMIT $4',
        length, length, home, length, home, length, home, length
    ) USING of_space, of_set, asked, wanted;
END $$;
