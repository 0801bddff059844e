-- Schema 9. Frozen: a released migration is never edited; a change of schema is the next file.

-- The projects that keep their memories to themselves. Without a foreign key: the mark stays if the row of the group is written again.
CREATE TABLE isolated_groups (
  group_id TEXT PRIMARY KEY,
  since    INTEGER NOT NULL
) WITHOUT ROWID;

-- Pairs of similar memories of which a person decided to keep both.
CREATE TABLE kept_pairs (
  newer      INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  older      INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  decided_at INTEGER NOT NULL,
  PRIMARY KEY (newer, older)
) WITHOUT ROWID;

CREATE INDEX idx_kept_pairs_older ON kept_pairs(older);
