-- Schema 7. Frozen: a released migration is never edited; a change of schema is the next file.

-- The sets of vectors. Rows of memory_pieces and word_codes name their set in the column model. A set is made by one model; source says
-- where the files of that model are. Recalls read the active set. The filling set becomes the active one when every memory is in it.
-- A retired set was active, an abandoned one was not filled to the end; both are kept for some days, then deleted. The cursor is the
-- last memory that the filling or the deletion has dealt with.
CREATE TABLE vector_sets (
  name       TEXT PRIMARY KEY,
  model      TEXT NOT NULL,
  source     TEXT NOT NULL,
  state      TEXT NOT NULL CHECK (state IN ('active', 'filling', 'retired', 'abandoned')),
  cursor     INTEGER NOT NULL DEFAULT 0,
  changed_at INTEGER NOT NULL
) WITHOUT ROWID;

-- At most one set is active, and at most one is being filled.
CREATE UNIQUE INDEX idx_vector_sets_state ON vector_sets(state) WHERE state IN ('active', 'filling');

INSERT INTO vector_sets(name, model, source, state, changed_at)
  SELECT model, model, '', 'active', 0 FROM memory_pieces GROUP BY model ORDER BY count(*) DESC LIMIT 1;
INSERT OR IGNORE INTO vector_sets(name, model, source, state, changed_at)
  SELECT DISTINCT model, model, '', 'retired', 0 FROM memory_pieces;

-- Until now a memory had the codes of one model only.
CREATE TABLE word_codes_by_set (
  id     INTEGER PRIMARY KEY,
  memory INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  model  TEXT NOT NULL,
  codes  BLOB NOT NULL,
  UNIQUE (memory, model)
);
INSERT INTO word_codes_by_set(memory, model, codes) SELECT memory, model, codes FROM word_codes ORDER BY memory;
DROP TABLE word_codes;
ALTER TABLE word_codes_by_set RENAME TO word_codes;
