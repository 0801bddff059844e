-- Schema 1. Frozen: a released migration is never edited; a change of schema is the next file.
-- Times are milliseconds since 1970 (UTC) in INTEGER columns. Order of storing is `seq`, never the id.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

-- A group is a project. Its id never changes; its name is for people; an alias leads to it.
CREATE TABLE groups (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE group_aliases (
  alias      TEXT PRIMARY KEY,
  group_id   TEXT NOT NULL REFERENCES groups(id) ON DELETE CASCADE
) WITHOUT ROWID;

CREATE TABLE memories (
  seq           INTEGER PRIMARY KEY AUTOINCREMENT,
  id            TEXT NOT NULL UNIQUE,
  type          TEXT NOT NULL CHECK (type IN ('episodic','semantic','procedural','entity')),
  content       TEXT NOT NULL,
  source_group  TEXT REFERENCES groups(id),
  scope         TEXT NOT NULL DEFAULT 'global' CHECK (scope IN ('global','group')),
  status        TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active','superseded','compacted','forgotten')),
  -- What the confidence was at confidence_at; what it is now is computed from both (engine::decay).
  confidence    REAL NOT NULL DEFAULT 1.0 CHECK (confidence >= 0.0 AND confidence <= 1.0),
  confidence_at INTEGER NOT NULL,
  pinned        INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  access_count  INTEGER NOT NULL DEFAULT 0,
  last_accessed INTEGER,
  boosted_at    INTEGER,
  created_at    INTEGER NOT NULL,
  updated_at    INTEGER NOT NULL,
  expires_at    INTEGER,
  superseded_by TEXT,
  metadata      TEXT NOT NULL DEFAULT '{}',
  -- BLAKE3-128 of the normalised text: finds exact duplicates, and bytes that a disk has changed.
  content_hash  BLOB NOT NULL
);

CREATE INDEX idx_memories_type       ON memories(type);
CREATE INDEX idx_memories_scope      ON memories(scope);
CREATE INDEX idx_memories_group      ON memories(source_group);
CREATE INDEX idx_memories_confidence ON memories(confidence);
CREATE INDEX idx_memories_superseded ON memories(superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX idx_memories_hash       ON memories(content_hash);
CREATE INDEX idx_memories_created    ON memories(created_at);

-- Other wordings of the same fact, kept when a duplicate is merged.
CREATE TABLE memory_variants (
  memory     INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  content    TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (memory, content)
) WITHOUT ROWID;

CREATE VIRTUAL TABLE memories_fts USING fts5(
  content,
  content = 'memories',
  content_rowid = 'seq',
  tokenize = 'porter unicode61 remove_diacritics 2'
);
-- A deleted text leaves no trace in the index.
INSERT INTO memories_fts(memories_fts, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER memories_fts_insert AFTER INSERT ON memories BEGIN
  INSERT INTO memories_fts(rowid, content) VALUES (new.seq, new.content);
END;
CREATE TRIGGER memories_fts_delete AFTER DELETE ON memories BEGIN
  INSERT INTO memories_fts(memories_fts, rowid, content) VALUES ('delete', old.seq, old.content);
END;
CREATE TRIGGER memories_fts_update AFTER UPDATE OF content ON memories BEGIN
  INSERT INTO memories_fts(memories_fts, rowid, content) VALUES ('delete', old.seq, old.content);
  INSERT INTO memories_fts(rowid, content) VALUES (new.seq, new.content);
END;

-- A vector belongs to one piece of one memory, made by one model; its row in memories_vec has the piece's id.
CREATE TABLE memory_pieces (
  id     INTEGER PRIMARY KEY,
  memory INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  piece  INTEGER NOT NULL,
  model  TEXT NOT NULL,
  UNIQUE (memory, model, piece)
);

CREATE VIRTUAL TABLE memories_vec USING vec0(embedding float[384] distance_metric=cosine);

CREATE TRIGGER memory_pieces_delete AFTER DELETE ON memory_pieces BEGIN
  DELETE FROM memories_vec WHERE rowid = old.id;
END;

CREATE TABLE entity_relations (
  id         TEXT PRIMARY KEY,
  subject_id TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
  predicate  TEXT NOT NULL,
  object_id  TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
  confidence REAL NOT NULL DEFAULT 1.0 CHECK (confidence >= 0.0 AND confidence <= 1.0),
  created_at INTEGER NOT NULL,
  UNIQUE (subject_id, predicate, object_id)
);

CREATE INDEX idx_relations_object    ON entity_relations(object_id);
CREATE INDEX idx_relations_predicate ON entity_relations(predicate);

-- The memories that a relation was read from.
CREATE TABLE relation_evidence (
  relation_id TEXT NOT NULL REFERENCES entity_relations(id) ON DELETE CASCADE,
  memory_id   TEXT NOT NULL REFERENCES memories(id) ON DELETE CASCADE,
  PRIMARY KEY (relation_id, memory_id)
) WITHOUT ROWID;

-- What happened to each memory, and who did it. Never holds a memory's text.
CREATE TABLE memory_log (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  operation  TEXT NOT NULL CHECK (operation IN ('create','update','supersede','restore','forget','delete','merge','compact',
                                                'promote','decay','relate','unrelate','pin','import','redact')),
  memory_id  TEXT NOT NULL,
  details    TEXT,
  client     TEXT,
  session    TEXT,
  group_id   TEXT,
  created_at INTEGER NOT NULL
);

CREATE INDEX idx_log_memory ON memory_log(memory_id);

-- One undoable act, with what stood there before.
CREATE TABLE journal (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  act        TEXT NOT NULL,
  before     TEXT NOT NULL,
  client     TEXT,
  session    TEXT,
  group_id   TEXT,
  created_at INTEGER NOT NULL,
  undone_at  INTEGER
);

-- The answers to mutating calls, in the transaction of their effect, so that a call sent twice takes effect once.
CREATE TABLE idempotency (
  key        TEXT PRIMARY KEY,
  result     TEXT NOT NULL,
  created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX idx_idempotency_created ON idempotency(created_at);
