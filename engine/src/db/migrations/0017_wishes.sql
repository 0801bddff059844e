-- Schema 17. Frozen: a released migration is never edited; a change of schema is the next file.

-- What an agent asked to do to one memory and only a person may do.
CREATE TABLE wishes (
  memory       INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  kind         TEXT NOT NULL,
  -- The memory at that time: its text and its project.
  content_hash BLOB NOT NULL,
  from_group   TEXT,
  -- The project of a move.
  to_group     TEXT,
  client       TEXT,
  wished_at    INTEGER NOT NULL,
  declined     INTEGER NOT NULL DEFAULT 0 CHECK (declined IN (0, 1)),
  PRIMARY KEY (memory, kind)
) WITHOUT ROWID;
