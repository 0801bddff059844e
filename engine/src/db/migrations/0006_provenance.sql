-- Schema 6. Frozen: a released migration is never edited; a change of schema is the next file.

-- Who stored a memory, and how far it is trusted. The daemon sets all of it.
ALTER TABLE memories ADD COLUMN origin TEXT CHECK (origin IN ('agent', 'hook', 'import', 'person', 'maintenance'));
ALTER TABLE memories ADD COLUMN client TEXT;
ALTER TABLE memories ADD COLUMN session TEXT;
ALTER TABLE memories ADD COLUMN trust TEXT NOT NULL DEFAULT 'agent' CHECK (trust IN ('import', 'agent', 'person'));
-- Why the text looks like an order to a model: names separated by commas; NULL if it does not.
ALTER TABLE memories ADD COLUMN flags TEXT;
-- 1: an episode that its session stored after it had been shown a similar memory.
ALTER TABLE memories ADD COLUMN echo INTEGER NOT NULL DEFAULT 0 CHECK (echo IN (0, 1));

-- Rows of earlier versions get what the first line of their log knows. The name of a client is its own claim, so no row becomes one of a
-- person; all are trusted as those of agents.
UPDATE memories SET
  origin = CASE
    WHEN l.operation = 'import' THEN 'import'
    WHEN l.client = 'loci maintenance' AND l.session IS NULL THEN 'maintenance'
    WHEN l.client GLOB 'loci [0-9]*' THEN NULL
    WHEN l.client IS NOT NULL OR l.session IS NOT NULL THEN 'agent'
  END,
  client = l.client,
  session = l.session
FROM memory_log l
WHERE l.id = (SELECT min(f.id) FROM memory_log f WHERE f.memory_id = memories.id AND f.operation IN ('create', 'import'));
