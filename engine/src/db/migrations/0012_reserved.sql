-- Schema 12. Changes nothing: its number is reserved.
SELECT 1;
