-- Schema 13. Frozen: a released migration is never edited; a change of schema is the next file.

-- Two more statuses: candidates, which no person has confirmed, and rejected attempts. SQLite cannot change the condition of a column.
ALTER TABLE memories RENAME COLUMN status TO status_before;
ALTER TABLE memories ADD COLUMN status TEXT NOT NULL DEFAULT 'active'
  CHECK (status IN ('active', 'superseded', 'compacted', 'forgotten', 'candidate', 'rejected'));
UPDATE memories SET status = status_before WHERE status_before <> 'active';
ALTER TABLE memories DROP COLUMN status_before;
