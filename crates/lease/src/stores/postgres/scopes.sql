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

UPDATE mintage.meta SET "protocol" = 2;
