-- Before this, nobody kept the names of files and the beginnings of tokens, and what was canceled
-- counted as failed.

-- Names that files had where they came from.
ALTER TABLE requests ADD COLUMN video_name TEXT NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN audio_name TEXT NOT NULL DEFAULT '';
ALTER TABLE uploads ADD COLUMN name TEXT NOT NULL DEFAULT '';
-- The first characters of the token of a key.
ALTER TABLE keys ADD COLUMN start TEXT NOT NULL DEFAULT '';

-- What its client canceled did not fail.
UPDATE days SET failed = failed - canceled.n FROM
	(SELECT account, created_at / 86400000000 AS day, count(*) AS n FROM requests WHERE failure = 'canceled' GROUP BY 1, 2) AS canceled
	WHERE days.account = canceled.account AND days.day = canceled.day;

DROP TRIGGER count_final;
CREATE TRIGGER count_final AFTER UPDATE OF status ON requests WHEN new.status IN ('completed', 'failed') BEGIN
	UPDATE days SET failed = failed + (new.status = 'failed' AND new.failure <> 'canceled'), length = length + new.length
	WHERE account = new.account AND day = new.created_at / 86400000000;
END;
