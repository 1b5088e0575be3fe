-- Finding documents by a term, whoever asks. Behind a policy a condition is tested before the policy's own only if it is
-- marked as leaking nothing; `@>` is not, so that a role that is bound by one would read all rows of a partition for each
-- term, instead of the index. These functions run as the owner of the tables, and test what the policy tests: that the
-- space asked for is that of the transaction. Nor do they leave a choice to the planner, who takes a test of an array for as
-- cheap as one of a number, and would read all terms of all documents for a term that many have.

CREATE FUNCTION may_look_up(words text, of_space text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    -- Who asked: within a function that runs as its owner `current_user` is the owner.
    IF NOT has_table_privilege(coalesce(nullif(current_setting('role'), 'none'), session_user), words, 'SELECT') THEN
        RAISE insufficient_privilege USING MESSAGE = format('permission denied for table %s', words);
    END IF;
    RETURN of_space = current_setting('ireneo.space', true);
END $$;

DO $$
DECLARE
    words text;
    way text := format(
        'LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = %I, pg_temp '
        'SET enable_seqscan = off SET enable_indexscan = off SET work_mem = ''64MB'' SET jit = off', current_schema()
    );
BEGIN
    FOREACH words IN ARRAY ARRAY['message_words', 'memory_words'] LOOP
        -- How many documents have a term, counted up to `most`, if it is given.
        EXECUTE format(
            'CREATE FUNCTION count_in_%1$s(of_space text, term text, most bigint) RETURNS SETOF bigint %2$s AS $body$ '
            'BEGIN '
            'IF NOT may_look_up(''%1$s'', of_space) THEN RETURN NEXT 0; '
            'ELSIF most IS NULL THEN RETURN QUERY '
            'SELECT count(*) FROM %1$s AS w WHERE w.space = of_space AND w.terms @> ARRAY[term]; '
            'ELSE RETURN QUERY SELECT count(*) FROM ('
            'SELECT FROM %1$s AS w WHERE w.space = of_space AND w.terms @> ARRAY[term] LIMIT most) AS found; '
            'END IF; END $body$', words, way
        );
        -- The documents that have a term, ascending, as a JSON array: ten thousand rows would each cost a step and an
        -- object.
        EXECUTE format(
            'CREATE FUNCTION find_in_%1$s(of_space text, term text, most bigint) RETURNS SETOF text %2$s AS $body$ '
            'BEGIN '
            'IF NOT may_look_up(''%1$s'', of_space) THEN RETURN NEXT ''[]''; '
            'ELSE RETURN QUERY '
            'SELECT coalesce(json_agg(found.document ORDER BY found.document), ''[]'')::text FROM ('
            'SELECT w.document FROM %1$s AS w WHERE w.space = of_space AND w.terms @> ARRAY[term] LIMIT most) AS found; '
            'END IF; END $body$', words, way
        );
    END LOOP;
END $$;
