-- Schema 14. Frozen: a released migration is never edited; a change of schema is the next file.

-- The clients whose own memory files are watched, because a person said so.
CREATE TABLE bridge_clients (
  client     TEXT PRIMARY KEY,
  folder     TEXT NOT NULL,
  -- Another folder in which the client keeps its memory, if it is configured.
  other      TEXT,
  since      INTEGER NOT NULL,
  scanned_at INTEGER
) WITHOUT ROWID;

-- The projects behind the names that a client gives to their folders.
CREATE TABLE bridge_projects (
  client     TEXT NOT NULL,
  name       TEXT NOT NULL,
  path       TEXT NOT NULL,
  group_id   TEXT NOT NULL,
  group_name TEXT NOT NULL,
  is_off     INTEGER NOT NULL DEFAULT 0 CHECK (is_off IN (0, 1)),
  has_file   INTEGER NOT NULL DEFAULT 0 CHECK (has_file IN (0, 1)),
  PRIMARY KEY (client, name)
) WITHOUT ROWID;

-- The memory files of clients. The hash is that of the file on the disk when it was last read.
CREATE TABLE bridge_files (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  client   TEXT NOT NULL,
  path     TEXT NOT NULL UNIQUE,
  group_id TEXT,
  hash     TEXT,
  gone_at  INTEGER
);

-- The texts of versions, each once, without secrets, compressed by zlib. The id is the BLAKE3 of the text.
CREATE TABLE bridge_texts (
  hash  BLOB PRIMARY KEY,
  text  BLOB NOT NULL,
  bytes INTEGER NOT NULL
) WITHOUT ROWID;

-- The versions of a file. Without a text, the file was deleted.
CREATE TABLE bridge_versions (
  file     INTEGER NOT NULL REFERENCES bridge_files(id) ON DELETE CASCADE,
  number   INTEGER NOT NULL,
  at       INTEGER NOT NULL,
  text     BLOB,
  mode     INTEGER NOT NULL,
  -- How many parts of the file were not kept: secrets, private parts, what was erased.
  replaced INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (file, number)
) WITHOUT ROWID;

CREATE INDEX idx_bridge_versions_text ON bridge_versions(text);

-- What was taken from a file, by the hash of its text, so that nothing is imported twice.
CREATE TABLE bridge_statements (
  file      INTEGER NOT NULL REFERENCES bridge_files(id) ON DELETE CASCADE,
  hash      BLOB NOT NULL,
  memory_id TEXT NOT NULL,
  gone_at   INTEGER,
  PRIMARY KEY (file, hash)
) WITHOUT ROWID;

CREATE INDEX idx_bridge_statements_memory ON bridge_statements(memory_id);
