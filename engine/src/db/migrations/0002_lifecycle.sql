-- Schema 2. Frozen: a released migration is never edited; a change of schema is the next file.

-- When a memory came to its status, and why it was forgotten.
ALTER TABLE memories ADD COLUMN status_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE memories ADD COLUMN forgotten_reason TEXT;
UPDATE memories SET status_at = updated_at;

-- The memories that a summary stands for, or that a promoted fact was learnt from.
CREATE TABLE memory_sources (
  memory INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  source INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  PRIMARY KEY (memory, source)
) WITHOUT ROWID;

CREATE INDEX idx_sources_source ON memory_sources(source);

-- Which memories name an entity. Derived from the texts; can be made anew at any time.
CREATE TABLE mentions (
  entity INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  memory INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  PRIMARY KEY (entity, memory)
) WITHOUT ROWID;

CREATE INDEX idx_mentions_memory ON mentions(memory);

-- Clusters that maintenance has dealt with once, whatever became of the result: none is dealt with twice.
CREATE TABLE clusters (
  key     TEXT PRIMARY KEY,
  kind    TEXT NOT NULL CHECK (kind IN ('compact', 'promote')),
  made_at INTEGER NOT NULL
) WITHOUT ROWID;

-- Ids of memories that were removed for good; an import must not bring them back. Never holds a text.
CREATE TABLE tombstones (
  id         TEXT PRIMARY KEY,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

-- A trigger may not use vec0 while the schema is not trusted; the vectors of a memory are taken away before it (db/vectors).
DROP TRIGGER memory_pieces_delete;
