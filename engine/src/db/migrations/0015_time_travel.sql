-- Schema 15. Frozen: a released migration is never edited; a change of schema is the next file.

-- The store at an earlier time is found by taking back the acts after it.
CREATE INDEX idx_journal_created ON journal(created_at);
