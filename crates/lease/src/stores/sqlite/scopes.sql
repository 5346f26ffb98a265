-- A scope of a space, made when it is first used and never deleted.
CREATE TABLE IF NOT EXISTS mintage_scope (
    "space" TEXT NOT NULL REFERENCES mintage_space ("id"),
    "scope" TEXT NOT NULL,
    "next" INTEGER NOT NULL,
    "jumped" INTEGER NOT NULL,
    "serial" INTEGER NOT NULL,
    "nonce" TEXT NOT NULL,
    PRIMARY KEY ("space", "scope")
) STRICT, WITHOUT ROWID;

-- Why and when the last hold or stop of a space began, in nanoseconds since 1970: for people, who see it in `mintage store show`.
CREATE TABLE IF NOT EXISTS mintage_hold (
    "space" TEXT NOT NULL PRIMARY KEY REFERENCES mintage_space ("id"),
    "why" TEXT NOT NULL,
    "began" INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
