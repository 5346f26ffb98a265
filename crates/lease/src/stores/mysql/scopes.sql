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

UPDATE `mintage_meta` SET `protocol` = 2 WHERE `protocol` = 1;
