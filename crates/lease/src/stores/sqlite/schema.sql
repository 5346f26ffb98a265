-- What there is once in the file: the version of these tables, which file it is, and its time.
CREATE TABLE IF NOT EXISTS mintage_meta (
    "one" INTEGER PRIMARY KEY CHECK ("one" = 1),
    "protocol" INTEGER NOT NULL,         -- a program that knows a lower one keeps off
    "revision" INTEGER NOT NULL,         -- raised by every commit; the side-car has the same
    "generation" INTEGER NOT NULL,       -- drawn anew when file and side-car disagree
    "device" INTEGER NOT NULL,
    "inode" INTEGER NOT NULL,
    "boot" TEXT NOT NULL,                -- in which boot of the host the anchor was set
    "anchor_wall" INTEGER NOT NULL,      -- the wall clock then, in nanoseconds since 1970
    "anchor_boottime" INTEGER NOT NULL,  -- CLOCK_BOOTTIME then, in nanoseconds
    "last_now" INTEGER NOT NULL          -- the last time that a commit saw
) STRICT;

-- A space: facts that never change, then the row that each grant writes.
CREATE TABLE IF NOT EXISTS mintage_space (
    "id" TEXT PRIMARY KEY,
    "dropped" INTEGER,
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "scheme" TEXT,
    "layout" TEXT,
    "epoch" TEXT,
    "tick_nanos" INTEGER,
    "last_tick" INTEGER,
    "first_worker" INTEGER,
    "last_worker" INTEGER,
    "window_nanos" INTEGER,
    "renew_nanos" INTEGER,
    "max_ahead_nanos" INTEGER,
    "max_lag_nanos" INTEGER,
    "max_lead_nanos" INTEGER,
    "max_store_skew_nanos" INTEGER,
    "host_quota" INTEGER,
    "first" INTEGER,
    "last" INTEGER,
    "step" INTEGER,
    "offset" INTEGER,
    "max_size" INTEGER,
    "failover_gap" INTEGER,
    "serial" INTEGER NOT NULL,
    "hold_serial" INTEGER NOT NULL,
    "holds" INTEGER NOT NULL,
    "restart_hold" INTEGER NOT NULL,
    "identity" TEXT NOT NULL,
    "floor" INTEGER NOT NULL,
    "old_floor" INTEGER NOT NULL,        -- the part of it that no operator lowers
    "high_mark" INTEGER NOT NULL,
    "next_worker" INTEGER NOT NULL,
    "block_next" INTEGER NOT NULL,
    "block_nonce" TEXT NOT NULL,
    "block_serial" INTEGER NOT NULL,
    "block_is_stale" INTEGER NOT NULL,
    "block_jumps" INTEGER NOT NULL,
    "block_jumped" INTEGER NOT NULL,
    "block_largest" INTEGER NOT NULL,
    "block_minute" INTEGER NOT NULL,
    "block_in_minute" INTEGER NOT NULL,
    "block_peak" INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX IF NOT EXISTS mintage_space_name ON mintage_space ("name") WHERE "dropped" IS NULL;

-- A worker of a space, made when it is first granted and never deleted.
CREATE TABLE IF NOT EXISTS mintage_worker (
    "space" TEXT NOT NULL REFERENCES mintage_space ("id"),
    "worker" INTEGER NOT NULL,
    "mark" INTEGER NOT NULL,
    "from_tick" INTEGER NOT NULL,
    "serial" INTEGER NOT NULL,
    "nonce" TEXT NOT NULL,
    "host" TEXT NOT NULL,
    "is_burned" INTEGER NOT NULL,
    PRIMARY KEY ("space", "worker")
) STRICT, WITHOUT ROWID;
