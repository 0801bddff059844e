-- Schema 16. Frozen: a released migration is never edited; a change of schema is the next file.

-- How much a memory surprised when it was stored, raised by use. Null: nothing is known of it.
ALTER TABLE memories ADD COLUMN importance REAL CHECK (importance BETWEEN 0.7 AND 1.5);
