-- A scope of a space, made when it is first used and never deleted. Its names are bytes, so that no collation takes two for one. A user
-- that takes numbers needs:
--   GRANT SELECT, INSERT, UPDATE ON mintage_scope TO minter;
CREATE TABLE IF NOT EXISTS `mintage_scope` (
    `space` binary(16) NOT NULL,
    `scope` varbinary(255) NOT NULL,
    `next` bigint unsigned NOT NULL,
    `jumped` bigint unsigned NOT NULL,
    `serial` bigint unsigned NOT NULL,
    `nonce` binary(16) NOT NULL,
    PRIMARY KEY (`space`, `scope`)
) ENGINE = InnoDB;

-- Why and when the last hold or stop of a space began, in microseconds since 1970: for people, who see it in `mintage store show`. A user
-- that mints needs:
--   GRANT SELECT, INSERT, UPDATE ON mintage_hold TO minter;
CREATE TABLE IF NOT EXISTS `mintage_hold` (
    `space` binary(16) NOT NULL PRIMARY KEY,
    `why` varchar(20) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
    `began` bigint NOT NULL
) ENGINE = InnoDB;

UPDATE `mintage_meta` SET `protocol` = 2 WHERE `protocol` = 1;
