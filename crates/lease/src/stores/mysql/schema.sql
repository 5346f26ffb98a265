-- What leases and blocks need in a database of MariaDB (10.6 or later) or MySQL (8.0 or later). Made by `mintage store create` where the
-- user may create tables; else by whoever runs this text in the database that the store's URL names.
--
-- A user that creates spaces, mints and looks needs no more than:
--   GRANT SELECT, UPDATE ON mintage_meta TO minter; -- what the server is, noted when that changes
--   GRANT SELECT, INSERT, UPDATE ON mintage_state TO minter;
--   GRANT SELECT, INSERT, UPDATE ON mintage_worker TO minter;
--   GRANT SELECT, INSERT ON mintage_space TO minter; -- to create spaces
--   GRANT UPDATE (dropped) ON mintage_space TO minter; -- to drop them

-- A space: facts that never change.
CREATE TABLE IF NOT EXISTS `mintage_space` (
    `id` binary(16) NOT NULL PRIMARY KEY,
    `dropped` bigint NULL, -- when, in microseconds since 1970
    `name` varchar(63) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    `kind` varchar(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    `scheme` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    `layout` varchar(1024) CHARACTER SET ascii COLLATE ascii_bin NULL,
    `epoch` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
    `tick_nanos` bigint unsigned NULL,
    `last_tick` bigint unsigned NULL,
    `first_worker` bigint unsigned NULL,
    `last_worker` bigint unsigned NULL,
    `window_nanos` bigint unsigned NULL,
    `renew_nanos` bigint unsigned NULL,
    `max_ahead_nanos` bigint unsigned NULL,
    `max_lag_nanos` bigint unsigned NULL,
    `max_lead_nanos` bigint unsigned NULL,
    `max_store_skew_nanos` bigint unsigned NULL,
    `host_quota` bigint unsigned NULL,
    `first` bigint unsigned NULL,
    `last` bigint unsigned NULL,
    `step` bigint unsigned NULL,
    `offset` bigint unsigned NULL,
    `max_size` bigint unsigned NULL,
    `failover_gap` bigint unsigned NULL,
    -- Null once it is dropped, as unique keys let nulls repeat: one space in use a name.
    `name_in_use` varchar(63) CHARACTER SET ascii COLLATE ascii_bin GENERATED ALWAYS AS (IF(`dropped` IS NULL, `name`, NULL)) VIRTUAL,
    UNIQUE KEY `space_name` (`name_in_use`)
) ENGINE = InnoDB;

-- The row of a space that each transaction locks and each grant writes.
CREATE TABLE IF NOT EXISTS `mintage_state` (
    `space` binary(16) NOT NULL PRIMARY KEY,
    `serial` bigint unsigned NOT NULL,
    `hold_serial` bigint unsigned NOT NULL,
    `holds` bigint unsigned NOT NULL,
    `restart_hold` boolean NOT NULL,
    `identity` varchar(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    `floor` bigint unsigned NOT NULL,
    `old_floor` bigint unsigned NOT NULL, -- the part of it that no operator lowers
    `high_mark` bigint unsigned NOT NULL,
    `next_worker` bigint unsigned NOT NULL,
    `block_next` bigint unsigned NOT NULL,
    `block_nonce` binary(16) NOT NULL,
    `block_serial` bigint unsigned NOT NULL,
    `block_is_stale` boolean NOT NULL,
    `block_jumps` bigint unsigned NOT NULL,
    `block_jumped` bigint unsigned NOT NULL,
    `block_largest` bigint unsigned NOT NULL,
    `block_minute` bigint unsigned NOT NULL,
    `block_in_minute` bigint unsigned NOT NULL,
    `block_peak` bigint unsigned NOT NULL,
    CONSTRAINT `mintage_state_space` FOREIGN KEY (`space`) REFERENCES `mintage_space` (`id`)
) ENGINE = InnoDB;

-- A worker of a space, made when it is first granted and never deleted.
CREATE TABLE IF NOT EXISTS `mintage_worker` (
    `space` binary(16) NOT NULL,
    `worker` bigint unsigned NOT NULL,
    `mark` bigint unsigned NOT NULL,
    `from_tick` bigint unsigned NOT NULL,
    `serial` bigint unsigned NOT NULL,
    `nonce` binary(16) NOT NULL,
    `host` varchar(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    `is_burned` boolean NOT NULL,
    PRIMARY KEY (`space`, `worker`)
) ENGINE = InnoDB;

-- One row. A program that knows a lower protocol keeps off. The rest is what the server was when that was noted last: neither server
-- has a number that a copy of its data or a replica changes by itself, so that who comes first after such a change counts it here.
CREATE TABLE IF NOT EXISTS `mintage_meta` (
    `one` int NOT NULL PRIMARY KEY,
    `protocol` int NOT NULL,
    `origin` bigint unsigned NOT NULL, -- drawn when the tables were made, and anew when they turn out to be a copy
    `timeline` bigint unsigned NOT NULL, -- raised when a replica took over
    `server` varchar(64) CHARACTER SET ascii COLLATE ascii_bin NULL, -- MySQL: server_uuid; MariaDB: server_id
    `made` bigint NULL -- when `mintage_state` was made, as the server says: a copy of MariaDB's data folder is made later
) ENGINE = InnoDB;

INSERT IGNORE INTO `mintage_meta` VALUES (1, 1, 0, 0, NULL, NULL);
