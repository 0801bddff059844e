-- Schema 11. Frozen: a released migration is never edited; a change of schema is the next file.

-- The events of clients' hooks that reached the daemon, and those that were missed. Never the text of a prompt.
CREATE TABLE hook_events (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  session  TEXT NOT NULL,
  client   TEXT NOT NULL,
  event    TEXT NOT NULL,
  at       INTEGER NOT NULL,
  group_id TEXT,
  outcome  TEXT NOT NULL,
  reason   TEXT NOT NULL,
  tokens   INTEGER NOT NULL DEFAULT 0,
  -- The text held the brief of the project.
  brief    INTEGER NOT NULL DEFAULT 0 CHECK (brief IN (0, 1))
);

CREATE INDEX idx_hook_events_session ON hook_events(session, id);

-- The memories of an event: delivered, or withheld and why.
CREATE TABLE hook_memories (
  event    INTEGER NOT NULL REFERENCES hook_events(id) ON DELETE CASCADE,
  memory   INTEGER NOT NULL REFERENCES memories(seq) ON DELETE CASCADE,
  withheld TEXT,
  PRIMARY KEY (event, memory)
) WITHOUT ROWID;

CREATE INDEX idx_hook_memories_memory ON hook_memories(memory);
