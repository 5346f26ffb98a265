//! PostgreSQL: traps, and what only a server can suffer.

use crate::lint::wrong_as_text;
use crate::traps::{SCOPES, Trap, cut_after, nexts, said, wrong};
use mintage_keys::catalog::Dialect;
use mintage_keys::open::{Options, read};
use mintage_testkit::servers::postgres::Postgres;

/// What may be wrong in a schema, on every version.
const TRAPS: &[Trap] = &[
    Trap {
        name: "a counter of a scope below its scope's largest number",
        sql: SCOPES,
        says: &[
            "public.projects.id bigint 3/9223372036854775807 max < column type bigint",
            "! error scope-counter-behind public.projects.last_issue_number",
        ],
    },
    Trap {
        name: "serial and identity, each at its value",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); CREATE TABLE b(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY);
              INSERT INTO a SELECT FROM generate_series(1, 3); INSERT INTO b SELECT FROM generate_series(1, 2)",
        says: &[
            "public.a.id integer 3/2147483647 sequence < column type integer",
            "public.b.id bigint 2/9223372036854775807 sequence < column type bigint",
        ],
    },
    Trap {
        name: "smallserial ends early",
        sql: "CREATE TABLE a(id smallserial PRIMARY KEY); SELECT setval('a_id_seq', 30000)",
        says: &["public.a.id smallint 30000/32767 sequence < column type smallint"],
    },
    Trap {
        name: "quoted and mixed-case names",
        sql: r#"CREATE SCHEMA "My Schema"; CREATE TABLE "My Schema"."Order Items"("Id" serial PRIMARY KEY);
                INSERT INTO "My Schema"."Order Items" DEFAULT VALUES"#,
        says: &["My Schema.Order Items.Id integer 1/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "names with quotes, newlines and terminal escapes",
        sql: "DO $$BEGIN EXECUTE format('CREATE TABLE %I(%I serial PRIMARY KEY)', E'a\"b''c\\n\\x1b[31m;--', E'x\"\\ty'); END$$",
        says: &["public.a\"b'c\n\x1b[31m;--.x\"\ty integer 0/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "one table name in two schemas",
        sql: "CREATE SCHEMA app; CREATE TABLE a(id serial PRIMARY KEY); CREATE TABLE app.a(id serial PRIMARY KEY);
              SELECT setval('app.a_id_seq', 2000000000)",
        says: &[
            "app.a.id integer 2000000000/2147483647 sequence < column type integer",
            "public.a.id integer 0/2147483647 sequence < column type integer",
        ],
    },
    Trap {
        name: "a renamed sequence",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); ALTER SEQUENCE a_id_seq RENAME TO zzz; SELECT setval('zzz', 9)",
        says: &["public.a.id integer 9/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "a renamed table and column",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); ALTER TABLE a RENAME TO b; ALTER TABLE b RENAME id TO nr",
        says: &["public.b.nr integer 0/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "a sequence in another schema",
        sql: "CREATE SCHEMA app; CREATE SEQUENCE app.s; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('app.s'));
              SELECT setval('app.s', 5)",
        says: &["public.a.id integer 5/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "a default that names its sequence by text, as old dumps do",
        sql: "CREATE SEQUENCE s; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval(('s'::text)::regclass)); SELECT setval('s', 5)",
        says: &["public.a.id integer 5/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "default by a function: what it does can't be seen, so the rows count",
        sql: "CREATE SEQUENCE s; CREATE FUNCTION next_id() RETURNS int LANGUAGE sql AS $$SELECT nextval('s')::int$$;
              CREATE TABLE a(id int PRIMARY KEY DEFAULT next_id()); INSERT INTO a VALUES (DEFAULT), (700)",
        says: &[
            "public.a.id integer 700/2147483647 max < column type integer",
            "public.s bigint 1/9223372036854775807 sequence < sequence public.s",
        ],
    },
    Trap {
        name: "default by an expression over a sequence",
        sql: "CREATE SEQUENCE s; CREATE TABLE a(id bigint PRIMARY KEY DEFAULT nextval('s') * 10 + 3);
              INSERT INTO a SELECT FROM generate_series(1, 4)",
        says: &[
            "public.a.id bigint 43/9223372036854775807 max < column type bigint",
            "public.s bigint 4/9223372036854775807 sequence < sequence public.s",
        ],
    },
    Trap {
        name: "a serial whose default was dropped",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES; ALTER TABLE a ALTER id DROP DEFAULT;
              INSERT INTO a VALUES (90)",
        says: &["public.a.id integer 90/2147483647 max < column type integer"],
    },
    Trap {
        name: "a serial whose default became another sequence's",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); CREATE SEQUENCE t; ALTER TABLE a ALTER id SET DEFAULT nextval('t');
              SELECT setval('t', 8)",
        says: &[
            "public.a.id integer 8/2147483647 sequence < column type integer",
            "public.a_id_seq integer 0/2147483647 sequence < sequence public.a_id_seq",
        ],
    },
    Trap {
        name: "a shared sequence",
        sql: "CREATE SEQUENCE s; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s'));
              CREATE TABLE b(id bigint PRIMARY KEY DEFAULT nextval('s')); SELECT setval('s', 1500000000)",
        says: &[
            "public.a.id integer 1500000000/2147483647 sequence < column type integer",
            "public.b.id bigint 1500000000/9223372036854775807 sequence < column type bigint",
        ],
    },
    Trap {
        name: "an orphaned sequence",
        sql: "CREATE SEQUENCE s AS int; SELECT setval('s', 2000000000)",
        says: &["public.s integer 2000000000/2147483647 sequence < sequence public.s"],
    },
    Trap {
        name: "a cycling sequence",
        sql: "CREATE SEQUENCE s MAXVALUE 10 CYCLE; SELECT setval('s', 9)",
        says: &["public.s bigint 9/10 sequence < sequence public.s", "! warning sequence-cycles public.s"],
    },
    Trap {
        name: "a cycling sequence that began again isn't behind",
        sql: "CREATE TABLE a(id smallserial PRIMARY KEY); ALTER SEQUENCE a_id_seq CYCLE; INSERT INTO a VALUES (32000); SELECT setval('a_id_seq', 2)",
        says: &["public.a.id smallint 32000/32767 max < column type smallint", "! warning sequence-cycles public.a.id"],
    },
    Trap {
        name: "a descending sequence",
        sql: "CREATE SEQUENCE s INCREMENT -1; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); ALTER SEQUENCE s OWNED BY a.id;
              INSERT INTO a SELECT FROM generate_series(1, 5)",
        says: &["public.a.id integer -5/-2147483648 sequence < column type integer"],
    },
    Trap {
        name: "a descending sequence that is behind",
        sql: "CREATE SEQUENCE s INCREMENT -1; CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); INSERT INTO a VALUES (-7)",
        says: &[
            "public.a.id integer -7/-2147483648 max < column type integer",
            "! error sequence-behind public.a.id",
        ],
    },
    Trap {
        name: "a sequence that begins at the lowest value",
        sql: "CREATE SEQUENCE s AS int MINVALUE -2147483648 START -2147483648;
              CREATE TABLE a(id int PRIMARY KEY DEFAULT nextval('s')); SELECT setval('s', -1)",
        says: &["public.a.id integer -1/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "custom MAXVALUE",
        sql: "CREATE TABLE a(id bigint GENERATED BY DEFAULT AS IDENTITY (MAXVALUE 1000) PRIMARY KEY); SELECT setval('a_id_seq', 900)",
        says: &["public.a.id bigint 900/1000 sequence < sequence public.a_id_seq"],
    },
    Trap {
        name: "a step of 50",
        sql: "CREATE SEQUENCE s INCREMENT 50; CREATE TABLE a(id bigint PRIMARY KEY DEFAULT nextval('s')); SELECT setval('s', 101)",
        says: &["public.a.id bigint 101/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "odd and even servers: rows of the other aren't ahead of one's own numbers",
        sql: "CREATE SEQUENCE s START 1 INCREMENT 2; CREATE TABLE a(id bigint PRIMARY KEY DEFAULT nextval('s'));
              INSERT INTO a DEFAULT VALUES; INSERT INTO a VALUES (2), (4), (60)",
        says: &["public.a.id bigint 60/9223372036854775807 max < column type bigint"],
    },
    Trap {
        name: "a sequence behind its column",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES; INSERT INTO a VALUES (40)",
        says: &["public.a.id integer 40/2147483647 max < column type integer", "! error sequence-behind public.a.id"],
    },
    Trap {
        name: "a sequence that was never used, before rows that came with their ids",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (1900000000)",
        says: &[
            "public.a.id integer 1900000000/2147483647 max < column type integer",
            "! error sequence-behind public.a.id",
        ],
    },
    Trap {
        name: "a sequence that was restarted far ahead and not called since",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); ALTER SEQUENCE a_id_seq RESTART WITH 2000000001",
        says: &["public.a.id integer 2000000000/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "setval with is_called = false",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); SELECT setval('a_id_seq', 1800000001, false)",
        says: &["public.a.id integer 1800000000/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "an unused sequence of a table whose column has no index: nobody knows, so not 0 %",
        sql: "CREATE TABLE a(id serial)",
        says: &[
            "public.a.id integer ?/2147483647 unknown: its sequence was never used, and no index begins with it, and there are \
             no statistics < column type integer",
            "! warning id-not-unique public.a.id",
        ],
    },
    Trap {
        name: "a widened serial keeps its narrow sequence",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); ALTER TABLE a ALTER id TYPE bigint; SELECT setval('a_id_seq', 2000000000)",
        says: &[
            "public.a.id bigint 2000000000/2147483647 sequence < sequence public.a_id_seq",
            "! warning sequence-narrow public.a.id",
        ],
    },
    Trap {
        name: "a widened identity takes its sequence along",
        sql: "CREATE TABLE a(id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY); ALTER TABLE a ALTER id TYPE bigint",
        says: &["public.a.id bigint 0/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "a narrow foreign key ends its parent",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY);
              CREATE TABLE orders(id bigserial PRIMARY KEY, user_id int REFERENCES users);
              SELECT setval('users_id_seq', 1900000000)",
        says: &[
            "public.orders.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.users.id bigint 1900000000/2147483647 sequence < public.orders.user_id integer (foreign key)",
            "! warning narrow-foreign-key public.orders.user_id",
        ],
    },
    Trap {
        name: "a narrow foreign key to a small parent is blamed for nothing",
        sql: "CREATE TABLE kinds(id bigserial PRIMARY KEY);
              CREATE TABLE orders(id bigserial PRIMARY KEY, kind_id smallint REFERENCES kinds); SELECT setval('kinds_id_seq', 9)",
        says: &[
            "public.kinds.id bigint 9/32767 sequence < public.orders.kind_id smallint (foreign key)",
            "public.orders.id bigint 0/9223372036854775807 sequence < column type bigint",
        ],
    },
    Trap {
        name: "references of references",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE profiles(user_id bigint PRIMARY KEY REFERENCES users);
              CREATE TABLE photos(id bigserial PRIMARY KEY, profile int REFERENCES profiles); SELECT setval('users_id_seq', 1900000000);
              INSERT INTO users VALUES (1899999999); INSERT INTO profiles VALUES (1899999999)",
        says: &[
            "public.photos.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.users.id bigint 1900000000/2147483647 sequence < public.photos.profile integer (foreign key)",
            "! warning narrow-foreign-key public.photos.profile",
        ],
    },
    Trap {
        name: "a narrow reference to a reference to something small is blamed for nothing",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE profiles(user_id bigint PRIMARY KEY REFERENCES users);
              CREATE TABLE photos(id bigserial PRIMARY KEY, profile int REFERENCES profiles); SELECT setval('users_id_seq', 9)",
        says: &[
            "public.photos.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.profiles.user_id bigint 0/2147483647 max < public.photos.profile integer (foreign key)",
            "public.users.id bigint 9/9223372036854775807 sequence < column type bigint",
        ],
    },
    Trap {
        name: "a narrow reference to a few rows that refer to a large key ends those, and not the key",
        sql: "CREATE TABLE acc(id bigserial PRIMARY KEY); CREATE TABLE premium(acc_id bigint PRIMARY KEY REFERENCES acc);
              CREATE TABLE perk(premium_acc smallint REFERENCES premium); INSERT INTO acc SELECT FROM generate_series(1, 40);
              INSERT INTO premium VALUES (3), (40); SELECT setval('acc_id_seq', 2000000000)",
        says: &[
            "public.acc.id bigint 2000000000/9223372036854775807 sequence < column type bigint",
            "public.premium.acc_id bigint 40/32767 max < public.perk.premium_acc smallint (foreign key)",
        ],
    },
    Trap {
        name: "a narrow foreign key that its parent has gone past, to old rows, and one that is at its end",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); INSERT INTO users VALUES (9); CREATE TABLE old(u smallint REFERENCES users);
              CREATE INDEX ON old(u); INSERT INTO old VALUES (9); SELECT setval('users_id_seq', 2000000000);
              CREATE TABLE jobs(id bigserial PRIMARY KEY); INSERT INTO jobs VALUES (32760); CREATE TABLE runs(j smallint REFERENCES jobs);
              CREATE INDEX ON runs(j); INSERT INTO runs VALUES (32760); SELECT setval('jobs_id_seq', 40000)",
        says: &[
            "public.jobs.id bigint 40000/32767 sequence < public.runs.j smallint (foreign key)",
            "public.users.id bigint 2000000000/9223372036854775807 sequence < column type bigint",
            "! warning narrow-foreign-key public.old.u",
            "! warning narrow-foreign-key public.runs.j",
        ],
    },
    Trap {
        name: "codes that are called like keys which have gone far past what they hold are no copies",
        sql: "CREATE TABLE events(id bigserial PRIMARY KEY); CREATE TABLE audit(event_id smallint); CREATE INDEX ON audit(event_id);
              INSERT INTO audit SELECT i FROM generate_series(1, 4000) i; SELECT setval('events_id_seq', 2000000010);
              CREATE TABLE devices(id bigserial PRIMARY KEY); CREATE TABLE readings(device_id int); CREATE INDEX ON readings(device_id);
              INSERT INTO readings VALUES (300000000); SELECT setval('devices_id_seq', 5000000000);
              CREATE TABLE levels(id bigserial PRIMARY KEY); CREATE TABLE games(level_id smallint); CREATE INDEX ON games(level_id);
              INSERT INTO games VALUES (9000); SELECT setval('levels_id_seq', 40000);
              CREATE TABLE jobs(id bigserial PRIMARY KEY); CREATE TABLE runs(job_id smallint); CREATE INDEX ON runs(job_id);
              INSERT INTO runs VALUES (32766); SELECT setval('jobs_id_seq', 33000)",
        says: &[
            "public.devices.id bigint 5000000000/9223372036854775807 sequence < column type bigint",
            "public.events.id bigint 2000000010/9223372036854775807 sequence < column type bigint",
            "public.jobs.id bigint 33000/9223372036854775807 sequence < column type bigint",
            "public.levels.id bigint 40000/9223372036854775807 sequence < column type bigint",
            "! note narrow-copy public.runs.job_id",
        ],
    },
    Trap {
        name: "copies within one table, by name and generated",
        sql: "CREATE TABLE nodes(id bigserial PRIMARY KEY, node_id int, parent_id int, x text); CREATE INDEX ON nodes(parent_id);
              INSERT INTO nodes(id, parent_id) VALUES (1700000000, 1699999999); SELECT setval('nodes_id_seq', 1700000000); ANALYZE nodes;
              CREATE TABLE a(id bigserial PRIMARY KEY, short int GENERATED ALWAYS AS (id::int) STORED); SELECT setval('a_id_seq', 2100000000)",
        says: &[
            "public.a.id bigint 2100000000/2147483647 sequence < public.a.short integer (generated from it)",
            "public.nodes.id bigint 1700000000/2147483647 sequence < public.nodes.parent_id integer (copy by name)",
            "! note numbers-burned public.nodes.id",
            "! warning narrow-copy public.nodes.parent_id",
        ],
    },
    Trap {
        name: "a row at the very end, put there by hand, isn't how far its sequence has come",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (2147483647), (40); SELECT setval('a_id_seq', 50);
              CREATE TABLE b(id bigserial); INSERT INTO b VALUES (9223372036854775807), (9223372036854775807); ANALYZE b;
              SELECT setval('b_id_seq', 50); CREATE TABLE c(id serial PRIMARY KEY); INSERT INTO c VALUES (2147483647), (2000000000);
              SELECT setval('c_id_seq', 50)",
        says: &[
            "public.a.id integer 50/2147483647 sequence < column type integer",
            "public.b.id bigint 50/9223372036854775807 sequence < column type bigint",
            "public.c.id integer 50/2147483647 sequence < column type integer",
            "! note value-apart public.a.id",
            "! warning id-not-unique public.b.id",
            "! warning value-apart public.b.id",
            "! warning value-apart public.c.id",
        ],
    },
    Trap {
        name: "a foreign key of two columns blames the narrow one alone",
        sql: "CREATE TABLE orders(tenant int, id bigint, PRIMARY KEY (tenant, id), UNIQUE (id)); INSERT INTO orders VALUES (1, 1900000000);
              CREATE TABLE lines(t int, o int, n int, PRIMARY KEY (t, o, n), FOREIGN KEY (t, o) REFERENCES orders(tenant, id))",
        says: &[
            "public.orders.id bigint 1900000000/2147483647 max < public.lines.o integer (foreign key)",
            "public.orders.tenant integer 1/2147483647 max < column type integer",
            "! warning narrow-foreign-key public.lines.o",
        ],
    },
    Trap {
        name: "a foreign key that isn't valid yet counts",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(u int);
              ALTER TABLE logs ADD FOREIGN KEY (u) REFERENCES users NOT VALID; SELECT setval('users_id_seq', 1000000000)",
        says: &[
            "public.users.id bigint 1000000000/2147483647 sequence < public.logs.u integer (foreign key)",
            "! warning narrow-foreign-key public.logs.u",
        ],
    },
    Trap {
        name: "a foreign key to itself",
        sql: "CREATE TABLE nodes(id bigserial PRIMARY KEY, parent int REFERENCES nodes); SELECT setval('nodes_id_seq', 1000000000)",
        says: &[
            "public.nodes.id bigint 1000000000/2147483647 sequence < public.nodes.parent integer (foreign key)",
            "! warning narrow-foreign-key public.nodes.parent",
        ],
    },
    Trap {
        name: "an undeclared copy, its values by an index",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(user_id int); CREATE INDEX ON logs(user_id);
              INSERT INTO logs VALUES (1799999999); SELECT setval('users_id_seq', 1800000000)",
        says: &[
            "public.users.id bigint 1800000000/2147483647 sequence < public.logs.user_id integer (copy by name)",
            "! warning narrow-copy public.logs.user_id",
        ],
    },
    Trap {
        name: "an undeclared copy, its values by statistics",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(author_user_id int);
              INSERT INTO logs SELECT 1700000000 + i FROM generate_series(1, 1000) i; ANALYZE logs; SELECT setval('users_id_seq', 1800000000)",
        says: &[
            "public.users.id bigint 1800000000/2147483647 sequence < public.logs.author_user_id integer (copy by name)",
            "! warning narrow-copy public.logs.author_user_id",
        ],
    },
    Trap {
        name: "an undeclared copy in an array",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE rooms(id bigserial PRIMARY KEY, user_ids int[]);
              INSERT INTO rooms(user_ids) SELECT ARRAY[1700000000 + i % 10, 1700000020] FROM generate_series(1, 100) i; ANALYZE rooms;
              SELECT setval('users_id_seq', 1800000000)",
        says: &[
            "public.rooms.id bigint 100/9223372036854775807 sequence < column type bigint",
            "public.users.id bigint 1800000000/2147483647 sequence < public.rooms.user_ids integer[] (copy by name)",
            "! warning narrow-copy public.rooms.user_ids",
        ],
    },
    Trap {
        name: "names lie: values above the key's are no copies",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(user_id int); CREATE INDEX ON logs(user_id);
              INSERT INTO logs VALUES (2000000000); SELECT setval('users_id_seq', 1800000000)",
        says: &["public.users.id bigint 1800000000/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "a small code that is called like a large key isn't its copy",
        sql: "CREATE TABLE events(id bigserial PRIMARY KEY); CREATE TABLE logs(event_id smallint); CREATE INDEX ON logs(event_id);
              INSERT INTO logs SELECT i FROM generate_series(1, 12) i; SELECT setval('events_id_seq', 5000000)",
        says: &["public.events.id bigint 5000000/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "an identity behind rows in its partitions and its children",
        sql: "CREATE TABLE a(id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY) PARTITION BY RANGE (id);
              CREATE TABLE a1 PARTITION OF a FOR VALUES FROM (1) TO (100); INSERT INTO a VALUES (4);
              CREATE TABLE c(id bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY); CREATE TABLE d(PRIMARY KEY (id)) INHERITS (c);
              INSERT INTO d VALUES (12)",
        says: &[
            "public.a.id bigint 4/9223372036854775807 max < column type bigint",
            "public.c.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.d.id bigint 12/9223372036854775807 max < column type bigint",
            "! error sequence-behind public.a.id",
            "! error sequence-behind public.c.id",
        ],
    },
    Trap {
        name: "a name alone, without values, proves nothing",
        sql: "CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(user_id int); SELECT setval('users_id_seq', 1800000000)",
        says: &[
            "public.users.id bigint 1800000000/9223372036854775807 sequence < column type bigint",
            "! note copy-unchecked public.logs.user_id",
        ],
    },
    Trap {
        name: "a copy is called after the table of its own schema",
        sql: "CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.users(id bigserial PRIMARY KEY); CREATE TABLE b.users(id bigserial PRIMARY KEY);
              CREATE TABLE b.logs(user_id int); CREATE INDEX ON b.logs(user_id); INSERT INTO b.logs VALUES (5);
              SELECT setval('a.users_id_seq', 1800000000), setval('b.users_id_seq', 9)",
        says: &[
            "a.users.id bigint 1800000000/9223372036854775807 sequence < column type bigint",
            "b.users.id bigint 9/2147483647 sequence < b.logs.user_id integer (copy by name)",
        ],
    },
    Trap {
        name: "a copy called after tables of two other schemas is called after neither",
        sql: "CREATE SCHEMA a; CREATE SCHEMA b; CREATE TABLE a.users(id bigserial PRIMARY KEY); CREATE TABLE b.users(id bigserial PRIMARY KEY);
              CREATE TABLE logs(user_id int); CREATE INDEX ON logs(user_id); INSERT INTO logs VALUES (5);
              SELECT setval('a.users_id_seq', 1800000000), setval('b.users_id_seq', 9)",
        says: &[
            "a.users.id bigint 1800000000/9223372036854775807 sequence < column type bigint",
            "b.users.id bigint 9/9223372036854775807 sequence < column type bigint",
        ],
    },
    Trap {
        name: "a domain over a domain over int",
        sql: "CREATE DOMAIN key32 AS int; CREATE DOMAIN user_key AS key32 CHECK (VALUE > 0);
              CREATE TABLE users(id user_key PRIMARY KEY); INSERT INTO users VALUES (2000000000)",
        says: &["public.users.id public.user_key 2000000000/2147483647 max < column type public.user_key"],
    },
    Trap {
        name: "CHECKs of domains and of columns end a key before its type does",
        sql: "CREATE DOMAIN did AS int CHECK (VALUE <= 1000); CREATE DOMAIN low AS did CHECK (VALUE > 0 AND VALUE < 500);
              CREATE TABLE a(id low PRIMARY KEY); INSERT INTO a VALUES (400); CREATE TABLE b(id serial PRIMARY KEY CHECK (id BETWEEN 1 AND 9000));
              SELECT setval('b_id_seq', 8000); CREATE TABLE c(id serial PRIMARY KEY CHECK (id <= 10 OR id > 100));
              CREATE TABLE d(id bigserial PRIMARY KEY); CREATE TABLE e(r did REFERENCES d); SELECT setval('d_id_seq', 900)",
        says: &[
            "public.a.id public.low 400/499 max < a CHECK of public.a.id or of its domain",
            "public.b.id integer 8000/9000 sequence < a CHECK of public.b.id or of its domain",
            "public.c.id integer 0/2147483647 sequence < column type integer",
            "public.d.id bigint 900/1000 sequence < public.e.r public.did (foreign key)",
        ],
    },
    Trap {
        name: "a foreign key whose column is a narrow domain",
        sql: "CREATE DOMAIN key32 AS int; CREATE TABLE users(id bigserial PRIMARY KEY); CREATE TABLE logs(u key32 REFERENCES users);
              SELECT setval('users_id_seq', 1800000000)",
        says: &[
            "public.users.id bigint 1800000000/2147483647 sequence < public.logs.u public.key32 (foreign key)",
            "! warning narrow-foreign-key public.logs.u",
        ],
    },
    Trap {
        name: "partitions under one sequence",
        sql: "CREATE TABLE p(id serial, d int, PRIMARY KEY (id, d)) PARTITION BY RANGE (d);
              CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10); CREATE TABLE p2 PARTITION OF p FOR VALUES FROM (10) TO (20);
              INSERT INTO p(d) VALUES (1), (11), (12)",
        says: &[
            "public.p.id integer 3/2147483647 sequence < column type integer",
            "! note id-not-unique public.p.id",
        ],
    },
    Trap {
        name: "a partition with a sequence of its own",
        sql: "CREATE TABLE p(id bigserial PRIMARY KEY) PARTITION BY RANGE (id); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (1000);
              CREATE SEQUENCE own MAXVALUE 999; ALTER TABLE p1 ALTER id SET DEFAULT nextval('own'); SELECT setval('own', 900)",
        says: &[
            "public.p.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.p1.id bigint 900/999 sequence < sequence public.own",
        ],
    },
    Trap {
        name: "partitions of partitions without a sequence: the furthest of all",
        sql: "CREATE TABLE p(id int PRIMARY KEY) PARTITION BY RANGE (id);
              CREATE TABLE q PARTITION OF p FOR VALUES FROM (0) TO (1000) PARTITION BY RANGE (id);
              CREATE TABLE q1 PARTITION OF q FOR VALUES FROM (0) TO (500); CREATE TABLE q2 PARTITION OF q FOR VALUES FROM (500) TO (1000);
              INSERT INTO p VALUES (3), (777)",
        says: &["public.p.id integer 777/2147483647 max < column type integer"],
    },
    Trap {
        name: "inheritance: a child has its parent's sequence and no index",
        sql: "CREATE TABLE a(id serial PRIMARY KEY); CREATE TABLE b() INHERITS (a); INSERT INTO a DEFAULT VALUES; INSERT INTO b DEFAULT VALUES",
        says: &[
            "public.a.id integer 2/2147483647 sequence < column type integer",
            "public.b.id integer 2/2147483647 sequence < column type integer",
        ],
    },
    Trap {
        name: "a generated column isn't a key of its own",
        sql: "CREATE TABLE a(id bigserial PRIMARY KEY, short_id int GENERATED ALWAYS AS (id % 1000) STORED UNIQUE)",
        says: &["public.a.id bigint 0/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "a temporary table is nobody's",
        sql: "CREATE TEMP TABLE a(id serial PRIMARY KEY); CREATE TEMP SEQUENCE s",
        says: &[],
    },
    Trap {
        name: "an unlogged table",
        sql: "CREATE UNLOGGED TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES",
        says: &["public.a.id integer 1/2147483647 sequence < column type integer"],
    },
    Trap {
        name: "a unique index that is partial, invalid or over an expression keeps nothing unique",
        sql: "CREATE TABLE a(id bigserial, x int); INSERT INTO a(x) VALUES (1); CREATE UNIQUE INDEX ON a(id) WHERE x > 0;
              CREATE UNIQUE INDEX ON a((id + 1)); CREATE INDEX ON a(id)",
        says: &[
            "public.a.id bigint 1/9223372036854775807 sequence < column type bigint",
            "! warning id-not-unique public.a.id",
        ],
    },
    Trap {
        name: "a counter that isn't a key grows too",
        sql: "CREATE TABLE a(id bigserial PRIMARY KEY, ticket smallserial UNIQUE); SELECT setval('a_ticket_seq', 32000)",
        says: &[
            "public.a.id bigint 0/9223372036854775807 sequence < column type bigint",
            "public.a.ticket smallint 32000/32767 sequence < column type smallint",
        ],
    },
    Trap {
        name: "a counter that is no key and that nothing feeds grows by updates",
        sql: "CREATE TABLE a(id bigserial PRIMARY KEY, view_count smallint, lock_version int, year smallint, likes int);
              INSERT INTO a(view_count, lock_version, year, likes) SELECT 30000 - i, 1400000000 - i, 2026 - i % 9, i FROM generate_series(1, 100) i; ANALYZE a;
              CREATE TABLE b(id bigserial PRIMARY KEY, at date, hits int) PARTITION BY RANGE (id);
              CREATE TABLE b1 PARTITION OF b FOR VALUES FROM (1) TO (1000); INSERT INTO b(hits) VALUES (700000000), (1); ANALYZE b1",
        says: &[
            "public.a.id bigint 100/9223372036854775807 sequence < column type bigint",
            "public.b.id bigint 2/9223372036854775807 sequence < column type bigint",
            "! note counter-full public.a.lock_version",
            "! warning counter-full public.a.view_count",
            "! note counter-full public.b.hits",
        ],
    },
    Trap {
        name: "a mark of what was read last hands out no numbers",
        sql: "CREATE TABLE conversations(id bigint PRIMARY KEY, last_read_message_seq int, next_message_seq int);
              CREATE TABLE messages(conversation_id bigint REFERENCES conversations, seq int, UNIQUE (conversation_id, seq));
              INSERT INTO conversations VALUES (1, 2, 6); INSERT INTO messages SELECT 1, i FROM generate_series(1, 5) i",
        says: &["public.conversations.id bigint 1/9223372036854775807 max < column type bigint"],
    },
    Trap {
        name: "hashes, codes, times and parts of keys don't run out",
        sql: "CREATE TABLE hashes(h int PRIMARY KEY); INSERT INTO hashes VALUES (2100000000), (-2100000000);
              CREATE TABLE cities(id bigserial PRIMARY KEY, geo_code int UNIQUE); INSERT INTO cities(geo_code) VALUES (2000000000);
              CREATE TABLE slots(starts_at int UNIQUE); INSERT INTO slots VALUES (1800000000);
              CREATE TABLE members(user_id int, group_id int, PRIMARY KEY (user_id, group_id)); INSERT INTO members VALUES (2100000000, 1)",
        says: &["public.cities.id bigint 1/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "numbers that are no counters, settings, and values that mean none",
        sql: "CREATE TABLE a(phone_number int, account_no int, pin_number smallint, serial_num int, api_version int, house_number smallint,
                  position int, rank int, max_count smallint, max_retries smallint, retries smallint);
              INSERT INTO a SELECT 2000000000 + i, 2000000000 + i, 32000, 2000000000, 1800000000, 30000, 2147483647, 2147483647, 32767, 32767, 32767
              FROM generate_series(1, 50) i; ANALYZE a",
        says: &[],
    },
    Trap {
        name: "a counter that a child inherits is its parent's, whose type can be changed",
        sql: "CREATE TABLE a(hits int); CREATE TABLE b() INHERITS (a); CREATE TABLE c() INHERITS (b);
              INSERT INTO c SELECT 1999999000 + i FROM generate_series(1, 100) i; INSERT INTO b SELECT i FROM generate_series(1, 100) i; ANALYZE",
        says: &["! warning counter-full public.a.hits"],
    },
    Trap {
        name: "a partitioned id that nothing keeps unique",
        sql: "CREATE TABLE p(id bigserial, d int) PARTITION BY RANGE (d); CREATE TABLE p1 PARTITION OF p FOR VALUES FROM (0) TO (10);
              CREATE TABLE s(id smallserial PRIMARY KEY); ALTER TABLE s ALTER id TYPE int; SELECT setval('s_id_seq', 32000)",
        says: &[
            "public.p.id bigint ?/9223372036854775807 unknown: its sequence was never used, and no index begins with it, and there are no \
             statistics < column type bigint",
            "public.s.id integer 32000/32767 sequence < sequence public.s_id_seq",
            "! warning id-not-unique public.p.id",
            "! warning sequence-narrow public.s.id",
        ],
    },
    Trap {
        name: "a key of two columns, the second without an index of its own",
        sql: "CREATE TABLE a(tenant int, id int, PRIMARY KEY (tenant, id)); INSERT INTO a SELECT 1, i FROM generate_series(1, 1000) i; ANALYZE a",
        says: &[
            "public.a.id integer 1000/2147483647 stats < column type integer",
            "! note id-not-unique public.a.id",
        ],
    },
    Trap {
        name: "an index in descending order has its end at the other side",
        sql: "CREATE TABLE a(id int NOT NULL, PRIMARY KEY (id)); CREATE TABLE b(id int); CREATE UNIQUE INDEX ON b(id DESC NULLS LAST);
              INSERT INTO b VALUES (NULL), (7), (3)",
        says: &[
            "public.a.id integer 0/2147483647 max < column type integer",
            "public.b.id integer 7/2147483647 max < column type integer",
        ],
    },
    Trap {
        name: "only negative values",
        sql: "CREATE TABLE a(id int PRIMARY KEY); INSERT INTO a VALUES (-5)",
        says: &["public.a.id integer -5/2147483647 max < column type integer"],
    },
    Trap {
        name: "a sequence at its end",
        sql: "CREATE TABLE a(id smallserial PRIMARY KEY); SELECT setval('a_id_seq', 32767)",
        says: &["public.a.id smallint 32767/32767 sequence < column type smallint"],
    },
    Trap {
        name: "a UUID as text, and one as it should be",
        sql: "CREATE TABLE a(id varchar(36) PRIMARY KEY); CREATE TABLE b(id uuid PRIMARY KEY);
              CREATE TABLE c(id text PRIMARY KEY DEFAULT gen_random_uuid()::text); CREATE TABLE d(country char(2) PRIMARY KEY)",
        says: &["! note id-as-text public.a.id", "! note id-as-text public.c.id"],
    },
    Trap {
        name: "an id column that nothing keeps unique, and one that only looks like it",
        sql: "CREATE TABLE a(id uuid); CREATE TABLE b(id uuid UNIQUE); CREATE TABLE c(paid int, grid int)",
        says: &["! warning id-not-unique public.a.id"],
    },
    Trap {
        name: "views, materialised views and foreign tables aren't tables",
        sql: "CREATE TABLE a(id bigserial PRIMARY KEY); CREATE VIEW v AS SELECT id FROM a; CREATE MATERIALIZED VIEW m AS SELECT id FROM a",
        says: &["public.a.id bigint 0/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "a dropped column and a column of one name elsewhere",
        sql: "CREATE TABLE a(x int, id bigserial PRIMARY KEY, y serial); ALTER TABLE a DROP x, DROP y; ALTER TABLE a ADD y int",
        says: &["public.a.id bigint 0/9223372036854775807 sequence < column type bigint"],
    },
    Trap {
        name: "many more numbers than rows",
        sql: "CREATE TABLE a(id bigserial PRIMARY KEY, x int UNIQUE); INSERT INTO a(x) VALUES (1); ANALYZE a; SELECT setval('a_id_seq', 1000000)",
        says: &[
            "public.a.id bigint 1000000/9223372036854775807 sequence < column type bigint",
            "! note numbers-burned public.a.id",
        ],
    },
];

/// The version whose dumps are read as text too.
const INSTALLED: &str = "as installed";

/// Empties a database: one for each trap would take seconds.
const EMPTY: &str = "DO $$DECLARE s text; BEGIN
    FOR s IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
        EXECUTE format('DROP SCHEMA %I CASCADE', s);
    END LOOP; END$$; CREATE SCHEMA public;";

async fn try_traps(version: &str, server: &Postgres) {
    let mut wrongs = Vec::new();
    let database = server.database();
    for trap in TRAPS {
        if let Err(error) = server.query(&database, &format!("{EMPTY}{}", trap.sql)) {
            wrongs.push(format!("{}: {error}", trap.name));
            continue;
        }
        let catalog = read(&server.url(&database), &Options::default()).await.unwrap();
        wrongs.extend(wrong(trap, &catalog));
        if version == INSTALLED {
            for next in nexts(&catalog) {
                // Rows that are no more unique are the finding itself.
                let taken = server.query(&database, &next);
                if let Some(error) =
                    taken.err().filter(|error| !error.to_string().contains("could not create unique index"))
                {
                    wrongs.push(format!("{}: {next}\n    {error}", trap.name));
                }
            }
            server.query(&database, &format!("{EMPTY}{}", trap.sql)).unwrap();
            let definitions = server.definitions(&database).unwrap();
            wrongs.extend(wrong_as_text(trap, &catalog, &definitions, Dialect::Postgres));
        }
    }
    assert!(wrongs.is_empty(), "on PostgreSQL {version}, {} traps:\n{}", wrongs.len(), wrongs.join("\n"));
}

#[tokio::test]
async fn every_trap_is_seen_for_what_it_is() {
    let Some(server) = Postgres::shared() else { return };
    try_traps(INSTALLED, &server).await;
}

#[tokio::test]
async fn every_trap_is_seen_for_what_it_is_on_18() {
    let Some(server) = Postgres::start_version(18, &[]) else { return };
    try_traps("18", &server).await;
}

#[tokio::test]
async fn looking_takes_no_number() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql =
        "CREATE TABLE a(id serial PRIMARY KEY); CREATE SEQUENCE s CACHE 50; INSERT INTO a DEFAULT VALUES";
    server.query(&database, sql).unwrap();
    let values = "SELECT last_value, is_called FROM a_id_seq UNION ALL SELECT last_value, is_called FROM s";
    let before = server.query(&database, values).unwrap();
    for _ in 0..3 {
        said(&read(&server.url(&database), &Options::default()).await.unwrap());
    }
    assert_eq!(server.query(&database, values).unwrap(), before);
}

#[tokio::test]
async fn no_table_is_read_from_end_to_end() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = "CREATE TABLE a(id serial PRIMARY KEY, x text); INSERT INTO a(x) SELECT repeat('x', 500) FROM generate_series(1, 3000);
               CREATE TABLE b(id int NOT NULL, x text); CREATE UNIQUE INDEX ON b(id DESC NULLS LAST); INSERT INTO b SELECT id, x FROM a;
               CREATE SEQUENCE s INCREMENT -1; CREATE TABLE c(id int DEFAULT nextval('s'), x text); CREATE UNIQUE INDEX ON c(id NULLS FIRST);
               INSERT INTO c(x) SELECT x FROM a; CREATE TABLE d(a_id int, x text); INSERT INTO d SELECT id, x FROM a";
    server.query(&database, sql).unwrap();
    server.query(&database, "VACUUM ANALYZE").unwrap();
    let scans = "SELECT string_agg(relname || seq_scan || '/' || seq_tup_read, ' ' ORDER BY relname) FROM pg_stat_user_tables";
    // Statistics are written when a session ends.
    let reset = "SELECT pg_stat_reset()";
    server.query(&database, reset).unwrap();
    let url = server.url(&database);
    let lines = said_at(&url).await;
    for expected in ["public.a.id integer 3000/", "public.b.id integer 3000/", "public.c.id integer -3000/"] {
        assert!(lines.iter().any(|line| line.starts_with(expected)), "{lines:#?}");
    }
    let sessions = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '{database}' AND pid <> pg_backend_pid()"
    );
    while server.query("postgres", &sessions).unwrap() != "0" {
        // The session ends in this runtime.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(server.query(&database, scans).unwrap(), "a0/0 b0/0 c0/0 d0/0");
}

/// A URL of a role that may log in and nothing else.
fn as_role(server: &Postgres, database: &str, role: &str) -> String {
    server.url(database).replace("postgres@", &format!("{role}@"))
}

async fn said_at(url: &str) -> Vec<String> {
    said(&read(url, &Options::default()).await.unwrap())
}

#[tokio::test]
async fn what_a_role_may_not_read_is_unknown_with_the_privilege_and_never_zero() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = "CREATE ROLE poor LOGIN; CREATE ROLE monitor LOGIN IN ROLE pg_monitor; CREATE ROLE reader LOGIN IN ROLE pg_read_all_data;
               CREATE SCHEMA hidden; CREATE TABLE hidden.h(id serial PRIMARY KEY); INSERT INTO hidden.h DEFAULT VALUES;
               CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES; SELECT setval('a_id_seq', 2000000000);
               CREATE TABLE b(id int PRIMARY KEY); INSERT INTO b VALUES (5);
               CREATE TABLE c(id serial PRIMARY KEY); INSERT INTO c VALUES (7); GRANT SELECT ON c TO poor, monitor;
               CREATE TABLE d(id serial PRIMARY KEY); GRANT USAGE ON SEQUENCE d_id_seq TO poor, monitor";
    server.query(&database, sql).unwrap();
    let unknown = [
        "! error sequence-behind public.c.id",
        "hidden.h.id integer 1/2147483647 sequence < column type integer",
        "public.a.id integer 2000000000/2147483647 sequence < column type integer",
        "public.b.id integer 5/2147483647 max < column type integer",
        "public.c.id integer 7/2147483647 max < column type integer",
        "public.d.id integer 0/2147483647 sequence < column type integer",
    ];
    assert_eq!(said_at(&as_role(&server, &database, "reader")).await, unknown);
    for role in ["poor", "monitor"] {
        let expected = [
            "! warning sequence-unreadable hidden.h.id",
            "! warning sequence-unreadable public.a.id",
            "! warning sequence-unreadable public.c.id",
            "hidden.h.id integer ?/2147483647 unknown: USAGE or SELECT on sequence hidden.h_id_seq < column type integer",
            "public.a.id integer ?/2147483647 unknown: USAGE or SELECT on sequence public.a_id_seq < column type integer",
            "public.b.id integer ?/2147483647 unknown: SELECT on table public.b < column type integer",
            "public.c.id integer 7/2147483647 stats < column type integer",
            "public.d.id integer ?/2147483647 unknown: its sequence was never used or was restarted; SELECT on it would tell \
             < column type integer",
        ];
        assert_eq!(said_at(&as_role(&server, &database, role)).await, expected, "{role}");
    }
}

#[tokio::test]
async fn rows_that_a_policy_hides_arent_counted_as_if_they_were_all() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = "CREATE ROLE tenant LOGIN; CREATE TABLE a(id int PRIMARY KEY, t text); INSERT INTO a VALUES (5, 'tenant'), (2000000000, 'other');
               ALTER TABLE a ENABLE ROW LEVEL SECURITY; CREATE POLICY p ON a USING (t = current_user); GRANT SELECT ON a TO tenant";
    server.query(&database, sql).unwrap();
    assert_eq!(
        said_at(&as_role(&server, &database, "tenant")).await,
        [
            "public.a.id integer ?/2147483647 unknown: a role that the row security of public.a leaves alone (BYPASSRLS) < column type integer"
        ]
    );
    assert_eq!(
        said_at(&server.url(&database)).await,
        ["public.a.id integer 2000000000/2147483647 max < column type integer"]
    );
}

#[tokio::test]
async fn a_locked_table_is_named_and_passed_over_without_waiting() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql = "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a VALUES (900); CREATE TABLE b(id int PRIMARY KEY); INSERT INTO b VALUES (5);
               CREATE SEQUENCE s; CREATE TABLE c(id int PRIMARY KEY)";
    server.query(&database, sql).unwrap();
    let locks = "LOCK TABLE a IN ACCESS EXCLUSIVE MODE; LOCK TABLE b IN ACCESS EXCLUSIVE MODE; ALTER SEQUENCE s INCREMENT 2";
    let (client, connection) =
        tokio_postgres::connect(&server.url(&database), tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    client.batch_execute(&format!("BEGIN; {locks}")).await.unwrap();
    let lines = tokio::time::timeout(std::time::Duration::from_secs(5), said_at(&server.url(&database)))
        .await
        .unwrap();
    assert_eq!(
        lines,
        [
            "! warning passed-over public.a",
            "! warning passed-over public.b",
            "! warning sequence-unreadable public.s",
            "public.a.id integer ?/2147483647 unknown: its sequence was never used, and another session holds a lock on the table \
             < column type integer",
            "public.b.id integer ?/2147483647 unknown: another session holds a lock on the table < column type integer",
            "public.c.id integer 0/2147483647 max < column type integer",
            "public.s bigint ?/9223372036854775807 unknown: another session holds a lock on it < sequence public.s",
        ]
    );
}

#[tokio::test]
async fn a_standby_may_be_ahead_and_its_unlogged_sequences_are_unknown() {
    let Some(primary) = Postgres::start(&[]) else { return };
    let sql = "CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES; CREATE UNLOGGED TABLE u(id serial PRIMARY KEY);
               CREATE UNLOGGED SEQUENCE v";
    primary.query("postgres", sql).unwrap();
    let mut standby = primary.backup(true);
    standby.start_again();
    primary.query("postgres", "INSERT INTO a DEFAULT VALUES").unwrap();
    standby.catches_up(&primary);
    let catalog = read(&standby.url("postgres"), &Options::default()).await.unwrap();
    assert!(catalog.server.is_standby);
    let lines = said(&catalog);
    let behind: Vec<_> = lines.iter().filter(|line| line.contains("sequence-behind")).collect();
    assert!(behind.is_empty(), "{lines:#?}");
    let a = lines.iter().find(|line| line.starts_with("public.a.id")).unwrap();
    let current: u64 = a.split([' ', '/']).nth(2).unwrap().parse().unwrap();
    assert!((2..=34).contains(&current), "{a}");
    let v = lines.iter().find(|line| line.starts_with("public.v")).unwrap();
    assert!(v.contains("?/") && v.contains("ask the primary"), "{v}");
}

#[tokio::test]
async fn a_role_whose_transactions_are_read_only_does() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    let sql =
        "CREATE ROLE readonly LOGIN SUPERUSER; ALTER ROLE readonly SET default_transaction_read_only = on;
               CREATE TABLE a(id serial PRIMARY KEY); INSERT INTO a DEFAULT VALUES";
    server.query(&database, sql).unwrap();
    let lines = said_at(&as_role(&server, &database, "readonly")).await;
    assert_eq!(lines, ["public.a.id integer 1/2147483647 sequence < column type integer"]);
}

#[tokio::test]
async fn a_connection_that_is_lost_in_between_is_an_error_and_no_report() {
    let Some(server) = Postgres::shared() else { return };
    let database = server.database();
    server.query(&database, "CREATE TABLE a(id serial PRIMARY KEY)").unwrap();
    for (bytes, is_lost) in [(0, true), (100, true), (700, true), (1_500, true), (u64::MAX, false)] {
        let way = cut_after(server.port(), bytes);
        let url = server.url(&database).replace(&format!(":{}/", server.port()), &format!(":{way}/"));
        let found = read(&url, &Options::default()).await;
        match found {
            Err(mintage_keys::Error::Lost { .. }) if is_lost => {}
            Ok(_) if !is_lost => {}
            other => panic!("after {bytes} bytes: {other:?}"),
        }
    }
}

#[tokio::test]
async fn spaces_of_mintage_are_told_of_and_their_tables_are_not() {
    use mintage_lease::space::{BlockTerms, Kind};
    use mintage_lease::store::{CreateOptions, Deadline, OpenOptions, open};
    let Some(server) = Postgres::shared() else { return };
    let url = server.url(&server.database());
    let store = open(&url, OpenOptions::default()).unwrap();
    let terms = BlockTerms { first: 1_000, last: 4_000, ..BlockTerms::default() };
    let space = mintage_lease::Space {
        id: mintage_lease::SpaceId(1),
        name: "orders".to_owned(),
        kind: Kind::Blocks(terms),
    };
    let deadline = Deadline::after(std::time::Duration::from_secs(20));
    store.create(&space, CreateOptions::default(), deadline).await.unwrap();
    assert_eq!(said_at(&url).await, ["orders blocks 999/4000 space < space"]);
}
