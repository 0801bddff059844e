-- Schema 12. Frozen: a released migration is never edited; a change of schema is the next file.

-- The folders in which a person has switched loci off or on, so that a switch holds whatever a project is called. The identity says
-- which folder it is, whatever its path; group_id is the project that was switched.
CREATE TABLE folder_switches (
  path     TEXT NOT NULL,
  identity TEXT,
  group_id TEXT NOT NULL,
  state    TEXT NOT NULL CHECK (state IN ('off', 'on')),
  since    INTEGER NOT NULL,
  PRIMARY KEY (path, group_id)
) WITHOUT ROWID;

-- The top folder of the project, and a hash of where its repository was cloned from: by these a clone at the old path of a project is
-- told from a folder whose repository was made again.
ALTER TABLE folders ADD COLUMN root TEXT;
ALTER TABLE folders ADD COLUMN root_identity TEXT;
ALTER TABLE folders ADD COLUMN remote TEXT;

-- The hash of the text that was delivered: an edited memory says something that the session has not been given.
ALTER TABLE hook_memories ADD COLUMN version BLOB;
