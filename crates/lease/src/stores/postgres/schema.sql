-- What leases and blocks need in a PostgreSQL database. Made by `mintage store create` where the role may create schemas; else by
-- whoever runs this text.
--
-- A role that creates spaces, mints and looks needs no more than:
--   GRANT USAGE ON SCHEMA mintage TO minter;
--   GRANT SELECT ON ALL TABLES IN SCHEMA mintage TO minter;
--   GRANT INSERT, UPDATE ON mintage.state, mintage.worker TO minter;
--   GRANT INSERT ON mintage.space TO minter;          -- to create spaces
--   GRANT UPDATE (dropped) ON mintage.space TO minter; -- to drop them

CREATE SCHEMA IF NOT EXISTS mintage;

-- A program that knows a lower version keeps off.
CREATE TABLE mintage.meta (
    "one" integer PRIMARY KEY DEFAULT 1 CHECK ("one" = 1),
    "protocol" integer NOT NULL
);

-- A space: facts that never change.
CREATE TABLE mintage.space (
    "id" uuid PRIMARY KEY,
    "dropped" bigint, -- when, in microseconds since 1970
    "name" text NOT NULL,
    "kind" text NOT NULL,
    "scheme" text,
    "layout" text,
    "epoch" text,
    "tick_nanos" bigint,
    "last_tick" bigint,
    "first_worker" bigint,
    "last_worker" bigint,
    "window_nanos" bigint,
    "renew_nanos" bigint,
    "max_ahead_nanos" bigint,
    "max_lag_nanos" bigint,
    "max_lead_nanos" bigint,
    "max_store_skew_nanos" bigint,
    "host_quota" bigint,
    "first" bigint,
    "last" bigint,
    "step" bigint,
    "offset" bigint,
    "max_size" bigint,
    "failover_gap" bigint
);
CREATE UNIQUE INDEX space_name ON mintage.space ("name") WHERE "dropped" IS NULL;

-- The row of a space that each transaction locks and each grant writes. Half of each page stays free and no changing column is
-- indexed, so that a new version of a row goes beside the old one, which the next reader clears away.
CREATE TABLE mintage.state (
    "space" uuid PRIMARY KEY REFERENCES mintage.space ("id"),
    "serial" bigint NOT NULL,
    "hold_serial" bigint NOT NULL,
    "holds" bigint NOT NULL,
    "restart_hold" boolean NOT NULL,
    "identity" text NOT NULL,
    "floor" bigint NOT NULL,
    "high_mark" bigint NOT NULL,
    "next_worker" bigint NOT NULL,
    "block_next" bigint NOT NULL,
    "block_nonce" uuid NOT NULL,
    "block_serial" bigint NOT NULL,
    "block_is_stale" boolean NOT NULL,
    "block_jumps" bigint NOT NULL,
    "block_jumped" bigint NOT NULL,
    "block_largest" bigint NOT NULL,
    "block_minute" bigint NOT NULL,
    "block_in_minute" bigint NOT NULL,
    "block_peak" bigint NOT NULL
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- A worker of a space, made when it is first granted and never deleted.
CREATE TABLE mintage.worker (
    "space" uuid NOT NULL,
    "worker" bigint NOT NULL,
    "mark" bigint NOT NULL,
    "from_tick" bigint NOT NULL,
    "serial" bigint NOT NULL,
    "nonce" uuid NOT NULL,
    "host" text NOT NULL,
    "is_burned" boolean NOT NULL,
    PRIMARY KEY ("space", "worker")
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

INSERT INTO mintage.meta ("protocol") VALUES (1);
