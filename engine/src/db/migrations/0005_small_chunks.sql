-- Schema 5. Frozen: a released migration is never edited; a change of schema is the next file.

-- `vec0` keeps the vectors of a chunk as one value, and SQLite comes to a place in a value by walking it from its beginning. In chunks of 64
-- (96 KB) instead of 1,024 (1.5 MB) a vector is written in half the time, a store of one memory is 1.4 MB smaller, and space is given back
-- when 64 neighbours are gone. What `vec0` has made keeps its chunks, so the table is made anew.
CREATE TABLE vectors_before (
  id        INTEGER PRIMARY KEY,
  embedding BLOB NOT NULL
);
INSERT INTO vectors_before(id, embedding) SELECT rowid, embedding FROM memories_vec;
DROP TABLE memories_vec;
CREATE VIRTUAL TABLE memories_vec USING vec0(embedding float[384] distance_metric=cosine, chunk_size=64);
INSERT INTO memories_vec(rowid, embedding) SELECT id, embedding FROM vectors_before ORDER BY id;
DROP TABLE vectors_before;
