-- Schema 10. Frozen: a released migration is never edited; a change of schema is the next file.

-- The folders of projects, by which one that was renamed or moved is recognised. The id is that of the group which the path makes;
-- part is the name in .loci.toml. The identity says which folder it is, whatever its path; the trace is shared by copies.
CREATE TABLE folders (
  id       TEXT PRIMARY KEY,
  path     TEXT NOT NULL,
  part     TEXT,
  identity TEXT,
  trace    TEXT,
  seen_at  INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX idx_folders_identity ON folders(identity);

-- Projects that a person has switched off, or on although only projects with a file are served. Without a foreign key: as isolated_groups.
CREATE TABLE group_switches (
  group_id TEXT PRIMARY KEY,
  state    TEXT NOT NULL CHECK (state IN ('off', 'on')),
  since    INTEGER NOT NULL
) WITHOUT ROWID;

-- Sessions that became incognito while they ran, so that they stay so when the daemon is started again.
CREATE TABLE incognito_sessions (
  session TEXT PRIMARY KEY,
  since   INTEGER NOT NULL
) WITHOUT ROWID;

-- What was checked out when a memory was stored.
ALTER TABLE memories ADD COLUMN branch TEXT;
ALTER TABLE memories ADD COLUMN commit_id TEXT;
