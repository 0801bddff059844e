-- Schema 4. Frozen: a released migration is never edited; a change of schema is the next file.

-- Which memory was asked for in full after which question: known answers, by which a store can judge its own searching (engine::eval).
-- The newest few hundred; in no export; a memory that is removed for good takes every question that led to it along.
CREATE TABLE known_answers (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  query    TEXT NOT NULL,
  memory   INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  group_id TEXT NOT NULL,
  UNIQUE (query, memory)
);

CREATE INDEX idx_known_answers_memory ON known_answers(memory);
