-- Before this, a failure was only a sentence, and attempts were not put off.
ALTER TABLE requests ADD COLUMN failure TEXT NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN failure_details TEXT NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN delays INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN delayed_since INTEGER NOT NULL DEFAULT 0;

-- The program defines both functions.
UPDATE requests SET failure = failure_code(error), failure_details = failure_details(error) WHERE status = 'failed';

ALTER TABLE requests DROP COLUMN error;
