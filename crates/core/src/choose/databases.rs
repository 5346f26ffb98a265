//! What databases do by themselves: types, defaults, and how they keep rows.
//!
//! Sources: the databases' own manuals, under the names of the functions.

use super::Store;

/// A database.
#[derive(Debug)]
pub struct Database {
    /// Its name in flags.
    pub name: &'static str,
    /// Other names that people type for it.
    pub aliases: &'static [&'static str],
    /// Its name in sentences.
    pub title: &'static str,
    /// How it keeps rows unless told otherwise.
    pub store: Store,
    /// What it does for each scheme of the chart.
    pub natives: &'static [Native],
    /// How it spreads keys that grow, or what it does about random ones.
    pub placement: &'static str,
}

/// What a database does for some schemes.
#[derive(Debug)]
pub struct Native {
    /// The schemes or forms.
    pub schemes: &'static [&'static str],
    /// The column's type.
    pub sql_type: &'static str,
    /// What makes the value.
    pub how: &'static str,
}

impl Database {
    /// The database of this name or alias, in any case.
    #[must_use]
    pub fn by_name(name: &str) -> Option<&'static Self> {
        DATABASES.iter().copied().find(|database| {
            database.name.eq_ignore_ascii_case(name)
                || database.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
        })
    }

    /// What it does for a scheme or form.
    #[must_use]
    pub fn native(&self, scheme: &str) -> Option<&'static Native> {
        self.natives.iter().find(|native| native.schemes.contains(&scheme))
    }
}

/// The databases that are known.
pub static DATABASES: &[&Database] =
    &[&POSTGRESQL, &MYSQL, &SQLSERVER, &MONGODB, &COCKROACHDB, &SPANNER, &DYNAMODB];

const IDENTITY: &[&str] = &["bigint-identity"];
const STEPPED: &[&str] = &["stepped-identity"];
const COUNTERS: &[&str] = &["ticket-counter", "block-counter"];
const SNOWFLAKES: &[&str] = &["snowflake", "snowflake-53"];
const V4: &[&str] = &["uuid-v4"];
const V7: &[&str] = &["uuid-v7"];

static POSTGRESQL: Database = Database {
    name: "postgresql",
    aliases: &["postgres", "pg"],
    title: "PostgreSQL",
    store: Store::BTree,
    natives: &[
        Native { schemes: IDENTITY, sql_type: "bigint", how: "GENERATED ALWAYS AS IDENTITY" },
        Native {
            schemes: STEPPED,
            sql_type: "bigint",
            how: "GENERATED ALWAYS AS IDENTITY (START WITH offset INCREMENT BY step)",
        },
        Native {
            schemes: COUNTERS,
            sql_type: "bigint",
            how: "a database sequence, within one database: nextval(), with CACHE for blocks a session",
        },
        Native { schemes: SNOWFLAKES, sql_type: "bigint", how: "nothing; the writers make it" },
        Native { schemes: V4, sql_type: "uuid", how: "gen_random_uuid(), from version 13 on" },
        Native {
            schemes: V7,
            sql_type: "uuid",
            how: "uuidv7(), from version 18 on; before that the writers make it",
        },
    ],
    placement: "rows lie in a heap; only the indexes follow the key",
};

static MYSQL: Database = Database {
    name: "mysql",
    aliases: &["mariadb"],
    title: "MySQL or MariaDB",
    store: Store::BTree,
    natives: &[
        Native { schemes: IDENTITY, sql_type: "bigint", how: "AUTO_INCREMENT" },
        Native {
            schemes: STEPPED,
            sql_type: "bigint",
            how: "AUTO_INCREMENT with auto_increment_increment and auto_increment_offset, for the whole server",
        },
        Native {
            schemes: COUNTERS,
            sql_type: "bigint",
            how: "a row with UPDATE ... SET value = LAST_INSERT_ID(value + n); MariaDB has sequences too",
        },
        Native { schemes: SNOWFLAKES, sql_type: "bigint", how: "nothing; the writers make it" },
        Native {
            schemes: V4,
            sql_type: "binary(16)",
            how: "nothing in MySQL, whose UUID() is version 1; UUID_v4() in MariaDB from 11.7 on, which has a type uuid",
        },
        Native {
            schemes: V7,
            sql_type: "binary(16)",
            how: "nothing in MySQL, the writers make it; UUID_v7() in MariaDB from 11.7 on, which has a type uuid",
        },
    ],
    placement: "InnoDB keeps rows in the primary key's order, and the key in every other index: a random or wide one costs everywhere",
};

static SQLSERVER: Database = Database {
    name: "sqlserver",
    aliases: &["mssql", "sql-server"],
    title: "SQL Server",
    store: Store::BTree,
    natives: &[
        Native { schemes: IDENTITY, sql_type: "bigint", how: "IDENTITY(1, 1)" },
        Native { schemes: STEPPED, sql_type: "bigint", how: "IDENTITY(offset, step)" },
        Native {
            schemes: COUNTERS,
            sql_type: "bigint",
            how: "CREATE SEQUENCE within one database, and sp_sequence_get_range for blocks",
        },
        Native { schemes: SNOWFLAKES, sql_type: "bigint", how: "nothing; the writers make it" },
        Native { schemes: V4, sql_type: "uniqueidentifier", how: "NEWID()" },
        Native {
            schemes: V7,
            sql_type: "binary(16)",
            how: "nothing; as uniqueidentifier it wouldn't sort, since that compares the last six bytes first. NEWSEQUENTIALID() does \
                  sort there, and tells the server's network address",
        },
    ],
    placement: "rows follow the clustered index, by default the primary key: a random one belongs in a nonclustered key",
};

static MONGODB: Database = Database {
    name: "mongodb",
    aliases: &["mongo"],
    title: "MongoDB",
    store: Store::BTree,
    natives: &[
        Native {
            schemes: &["bigint-identity", "ticket-counter", "block-counter"],
            sql_type: "long",
            how: "nothing; a counter document with findOneAndUpdate and $inc",
        },
        Native { schemes: STEPPED, sql_type: "long", how: "nothing; a counter document for each cluster" },
        Native {
            schemes: SNOWFLAKES,
            sql_type: "long",
            how: "nothing; the driver's own ObjectId (12 bytes: second, process, counter) is what it has instead",
        },
        Native { schemes: V4, sql_type: "binData, subtype 4", how: "the driver, or UUID() in the shell" },
        Native {
            schemes: V7,
            sql_type: "binData, subtype 4",
            how: "nothing; the driver's own ObjectId (12 bytes: second, process, counter) sorts to the second",
        },
    ],
    placement: "a sharded collection has ranges of the shard key, with a hot last one for ids that grow; { _id: \"hashed\" } spreads them",
};

static COCKROACHDB: Database = Database {
    name: "cockroachdb",
    aliases: &["cockroach", "crdb"],
    title: "CockroachDB",
    store: Store::Range,
    natives: &[
        Native {
            schemes: IDENTITY,
            sql_type: "INT8",
            how: "unique_rowid(), which SERIAL means: time and node, above 2^53, not dense",
        },
        Native {
            schemes: &["stepped-identity", "ticket-counter", "block-counter"],
            sql_type: "INT8",
            how: "CREATE SEQUENCE: one for the whole cluster, with CACHE for blocks a session",
        },
        Native {
            schemes: SNOWFLAKES,
            sql_type: "INT8",
            how: "unique_rowid() is its own: 10 us ticks and the node; or the writers make it",
        },
        Native { schemes: V4, sql_type: "UUID", how: "gen_random_uuid(), which its manual recommends" },
        Native { schemes: V7, sql_type: "UUID", how: "the writers make it; its manual recommends version 4" },
    ],
    placement: "PRIMARY KEY (id) USING HASH puts a hash before keys that grow",
};

static SPANNER: Database = Database {
    name: "spanner",
    aliases: &["cloud-spanner"],
    title: "Spanner",
    store: Store::Range,
    natives: &[
        Native {
            schemes: &["bigint-identity", "stepped-identity"],
            sql_type: "INT64",
            how: "GENERATED BY DEFAULT AS IDENTITY (BIT_REVERSED_POSITIVE): unique, not in order",
        },
        Native {
            schemes: COUNTERS,
            sql_type: "INT64",
            how: "CREATE SEQUENCE with sequence_kind bit_reversed_positive; nothing that counts in order",
        },
        Native { schemes: SNOWFLAKES, sql_type: "INT64", how: "nothing; the writers make it" },
        Native { schemes: V4, sql_type: "STRING(36)", how: "DEFAULT (GENERATE_UUID())" },
        Native { schemes: V7, sql_type: "BYTES(16)", how: "nothing; the writers make it" },
    ],
    placement: "splits follow the primary key: its manual warns of keys that grow, and reverses the bits of its own counters",
};

static DYNAMODB: Database = Database {
    name: "dynamodb",
    aliases: &["dynamo"],
    title: "DynamoDB",
    store: Store::Hash,
    natives: &[
        Native {
            schemes: &["bigint-identity", "stepped-identity", "ticket-counter", "block-counter"],
            sql_type: "N",
            how: "nothing; UpdateItem with ADD on a counter item, which is one hot item",
        },
        Native {
            schemes: SNOWFLAKES,
            sql_type: "N",
            how: "nothing; the writers make it. N is exact to 38 digits",
        },
        Native {
            schemes: V4,
            sql_type: "B",
            how: "nothing; the writers make it. B is 16 bytes, S would be 36",
        },
        Native {
            schemes: V7,
            sql_type: "B",
            how: "nothing; the writers make it. As a sort key B compares bytes, so it is in order",
        },
    ],
    placement: "the partition key is hashed; only the sort key has an order, within one partition key",
};
