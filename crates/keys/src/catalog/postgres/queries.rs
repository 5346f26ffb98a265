//! What is asked of PostgreSQL's catalog. None of it opens a table: it waits for no lock but on the catalog itself. Of what is dropped
//! meanwhile, the server's functions say NULL.

/// Version, and whether it follows another server.
pub(super) const SERVER: &str = "SELECT version(), current_setting('server_version_num')::int, \
     current_setting('server_version'), pg_is_in_recovery()";

/// Locks of others that a look would wait for, granted or waited for; those of prepared transactions have no process. A locked index counts for its table, which can't be read
/// without it.
pub(super) const LOCKS: &str = "SELECT DISTINCT coalesce(i.indrelid, l.relation)::int8, l.mode \
     FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = l.relation \
     WHERE l.locktype = 'relation' AND l.pid IS DISTINCT FROM pg_backend_pid() \
     AND l.mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock') \
     AND l.database = (SELECT d.oid FROM pg_catalog.pg_database d WHERE d.datname = current_database())";

/// Schemas that aren't the users': the system's, and those of temporary tables, which live as long as a session.
macro_rules! of_users {
    () => {
        "n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND n.nspname !~ '^pg_(temp|toast_temp)_'"
    };
}

/// Tables and partitioned tables.
pub(super) const TABLES: &str = concat!(
    "SELECT c.oid, n.nspname, c.relname, c.relkind, c.relispartition, c.reltuples::float8, \
     (SELECT min(h.inhparent::int8) FROM pg_catalog.pg_inherits h WHERE h.inhrelid = c.oid AND h.inhseqno = 1), \
     coalesce(has_schema_privilege(n.oid, 'USAGE'), false), row_security_active(c.oid) \
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND ",
    of_users!(),
    " ORDER BY n.nspname, c.relname"
);

/// Sequences, with what the role may do.
pub(super) const SEQUENCES: &str = concat!(
    "SELECT c.oid, n.nspname, c.relname, format_type(s.seqtypid, NULL), s.seqstart, s.seqmin, s.seqmax, s.seqincrement, \
     s.seqcache, s.seqcycle, c.relpersistence, coalesce(has_sequence_privilege(c.oid, 'USAGE, SELECT'), false), \
     coalesce(has_sequence_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE'), false) \
     FROM pg_catalog.pg_sequence s JOIN pg_catalog.pg_class c ON c.oid = s.seqrelid \
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
     WHERE c.relpersistence <> 't' AND ",
    of_users!(),
    " ORDER BY n.nspname, c.relname"
);

/// The types that ids have, domains over anything, and arrays of both.
pub(super) const TYPES: &str = "SELECT t.oid, t.typname, t.typbasetype, CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE 0 END, \
     t.typtypmod FROM pg_catalog.pg_type t LEFT JOIN pg_catalog.pg_type e ON e.oid = t.typelem AND t.typcategory = 'A' \
     WHERE t.typtype = 'd' OR e.typtype = 'd' OR t.typname IN ('citext', '_citext') OR (t.typnamespace = 'pg_catalog'::regnamespace \
     AND t.typname IN ('int2', 'int4', 'int8', '_int2', '_int4', '_int8', 'uuid', 'text', 'varchar', 'bpchar', 'bytea', 'numeric'))";

/// Columns of the types given, those called as ids are, and those of unique indexes and foreign keys. Privileges are those of the table
/// first: a look at a column's own costs a look into the catalog each.
pub(super) fn columns(types: &str) -> String {
    format!(
        "WITH keyed AS (SELECT i.indrelid AS rel, k.num FROM pg_catalog.pg_index i, unnest(i.indkey::int2[]) AS k(num) \
         WHERE i.indisunique AND k.num > 0 \
         UNION SELECT f.conrelid, k.num FROM pg_catalog.pg_constraint f, unnest(f.conkey) AS k(num) WHERE f.contype = 'f') \
         SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, format_type(a.atttypid, a.atttypmod), \
         a.attgenerated, coalesce(has_table_privilege(a.attrelid, 'SELECT') OR has_column_privilege(a.attrelid, a.attnum, 'SELECT'), false), \
         coalesce(NOT co.collisdeterministic AND to_jsonb(co)::text ~* 'ks-level[12]|colStrength=(primary|secondary)', false) \
         FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid \
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation AND NOT co.collisdeterministic \
         LEFT JOIN keyed k ON k.rel = a.attrelid AND k.num = a.attnum \
         WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND a.attnum > 0 AND NOT a.attisdropped AND {} \
         AND (a.atttypid IN ({types}) OR k.num IS NOT NULL OR a.attname ~* '(id|ids|uuid|guid|ulid)$') \
         ORDER BY a.attrelid, a.attnum",
        of_users!()
    )
}

/// Indexes that keep something unique, and those whose first column could be read from their end; of these, whether NULL stands at the
/// other end than it usually does: DESC NULLS LAST, ASC NULLS FIRST.
pub(super) const INDEXES: &str = "SELECT i.indrelid, array_to_string((i.indkey::int2[])[0:i.indnkeyatts - 1], ' '), \
     i.indisunique AND i.indimmediate IS NOT NULL, i.indisvalid AND i.indisready AND i.indislive, i.indisprimary, \
     i.indpred IS NOT NULL, m.amname = 'btree' AND i.indkey[0] <> 0, i.indoption[0] & 3 IN (1, 2) \
     FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_am m ON m.oid = x.relam \
     ORDER BY i.indrelid, i.indisprimary DESC, i.indexrelid";

/// Foreign keys, without those that partitions have from their parents.
pub(super) const FOREIGN_KEYS: &str = "SELECT f.conname, f.conrelid, f.confrelid, array_to_string(f.conkey, ','), \
     array_to_string(f.confkey, ',') FROM pg_catalog.pg_constraint f WHERE f.contype = 'f' AND f.conparentid = 0 ORDER BY f.oid";

/// What ties sequences to columns: `a` owned, `i` identity, `n` named by a default.
pub(super) const DEPENDENCIES: &str = "SELECT d.objid, d.refobjid, d.refobjsubid, d.deptype \
     FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_sequence s ON s.seqrelid = d.objid \
     WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass \
     AND d.deptype IN ('a', 'i') AND d.refobjsubid > 0 \
     UNION ALL SELECT d.refobjid, f.adrelid, f.adnum, 'n' FROM pg_catalog.pg_depend d \
     JOIN pg_catalog.pg_attrdef f ON f.oid = d.objid JOIN pg_catalog.pg_sequence s ON s.seqrelid = d.refobjid \
     WHERE d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass";

/// Whether a stored default is `nextval` of one sequence, with a cast to a narrower integer or none: 1574 is `nextval`, 2205 the type of the
/// sequence's name, 480 and 714 are the casts; all take one argument. Numbers of PostgreSQL's own functions don't change. What stands behind
/// the first `:args (` is the outermost call's argument. A regular expression does the same and takes thirty times as long.
const IS_PLAIN_NEXTVAL: &str = "(t.tree LIKE '{FUNCEXPR :funcid 1574 %' AND split_part(t.tree, ':args (', 2) LIKE '{CONST :consttype 2205 %') \
     OR ((t.tree LIKE '{FUNCEXPR :funcid 480 %' OR t.tree LIKE '{FUNCEXPR :funcid 714 %') \
     AND split_part(t.tree, ':args (', 2) LIKE '{FUNCEXPR :funcid 1574 %' \
     AND split_part(t.tree, ':args (', 3) LIKE '{CONST :consttype 2205 %')";

/// Defaults, but not of these tables: newer servers open a table to print its default. Printing one takes long; of those that are
/// `nextval` and nothing else dependencies say as much, so that these aren't printed.
pub(super) fn defaults(locked: &str) -> String {
    let except = if locked.is_empty() { String::new() } else { format!("AND f.adrelid NOT IN ({locked})") };
    format!(
        "SELECT x.adrelid, x.adnum, CASE WHEN NOT x.is_plain THEN pg_get_expr(x.adbin, x.adrelid) END, x.is_plain \
         FROM (SELECT f.adrelid, f.adnum, f.adbin, {IS_PLAIN_NEXTVAL} AS is_plain FROM pg_catalog.pg_attrdef f \
         CROSS JOIN LATERAL (SELECT f.adbin::text AS tree OFFSET 0) t JOIN pg_catalog.pg_class c ON c.oid = f.adrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         WHERE c.relkind IN ('r', 'p') AND c.relpersistence <> 't' AND {} {except} OFFSET 0) x",
        of_users!()
    )
}

/// CHECKs of domains and of single columns, but not of these tables: to print one a server opens its table.
pub(super) fn checks(locked: &str) -> String {
    let except = if locked.is_empty() { String::new() } else { format!("AND k.conrelid NOT IN ({locked})") };
    format!(
        "SELECT k.contypid, k.conrelid, coalesce(k.conkey[1], 0), pg_get_expr(k.conbin, k.conrelid) FROM pg_catalog.pg_constraint k \
         JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace \
         WHERE k.contype = 'c' AND (k.contypid <> 0 OR array_length(k.conkey, 1) = 1) AND {} {except}",
        of_users!()
    )
}

/// Bounds from statistics of these columns: the histogram's ends, the most common values, the most common elements of arrays.
pub(super) fn statistics(columns: &str) -> String {
    format!(
        "SELECT c.oid, a.attnum, \
         (SELECT ARRAY[h[1], h[array_upper(h, 1)]]::text FROM (SELECT s.histogram_bounds::text::text[] AS h) b), \
         CASE WHEN t.typcategory <> 'A' THEN s.most_common_vals::text END, s.most_common_elems::text \
         FROM (VALUES {columns}) AS w(rel, num) JOIN pg_catalog.pg_class c ON c.oid = w.rel::oid \
         JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = w.num \
         JOIN pg_catalog.pg_type t ON t.oid = a.atttypid \
         JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
         JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname"
    )
}

/// The last values of these sequences; NULL for those that were never used.
pub(super) fn last_values(sequences: &str) -> String {
    if sequences.is_empty() {
        return "SELECT 0, NULL WHERE false".to_owned();
    }
    format!(
        "SELECT s.seqrelid, pg_sequence_last_value(s.seqrelid) FROM pg_catalog.pg_sequence s WHERE s.seqrelid IN ({sequences})"
    )
}
