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
