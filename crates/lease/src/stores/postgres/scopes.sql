-- A scope of a space, made when it is first used and never deleted. Its names are compared byte by byte. A role that takes numbers needs:
--   GRANT SELECT, INSERT, UPDATE ON mintage.scope TO minter;
CREATE TABLE mintage.scope (
    "space" uuid NOT NULL,
    "scope" text COLLATE "C" NOT NULL,
    "next" bigint NOT NULL,
    "jumped" bigint NOT NULL,
    "serial" bigint NOT NULL,
    "nonce" uuid NOT NULL,
    PRIMARY KEY ("space", "scope")
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- Why and when the last hold or stop of a space began, in microseconds since 1970: for people, who see it in `mintage store show`. A role
-- that mints needs:
--   GRANT SELECT, INSERT, UPDATE ON mintage.hold TO minter;
CREATE TABLE mintage.hold (
    "space" uuid NOT NULL PRIMARY KEY,
    "why" text NOT NULL,
    "began" bigint NOT NULL
);

UPDATE mintage.meta SET "protocol" = 2;
