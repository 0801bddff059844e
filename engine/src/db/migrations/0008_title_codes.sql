-- Titles ("Deploy Heron: ...") had no word codes, since they were taken for speakers. The codes of
-- these memories are computed again in the background. A prefix of three and more texts is probably
-- a speaker; its texts keep their codes.
WITH prefixed AS (
    SELECT seq, substr(content, 1, instr(content, ': ')) AS prefix
    FROM memories
    WHERE instr(content, ': ') BETWEEN 2 AND 80 AND content NOT LIKE '[%'
)
DELETE FROM word_codes WHERE memory IN (
    SELECT seq FROM prefixed
    WHERE prefix IN (SELECT prefix FROM prefixed GROUP BY prefix HAVING count(*) < 3)
);
