-- Schema 3. Frozen: a released migration is never edited; a change of schema is the next file.

-- The content words of a memory as its model understands them: 48 bytes a word, one after the other (engine::embedding::Code).
-- A row with no bytes is a memory without content words; no row is a memory whose words have not been read yet.
CREATE TABLE word_codes (
  memory INTEGER PRIMARY KEY REFERENCES memories(seq) ON DELETE CASCADE,
  model  TEXT NOT NULL,
  codes  BLOB NOT NULL
);
