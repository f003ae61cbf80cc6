-- Before this, nobody measured how long outputs are.
ALTER TABLE requests ADD COLUMN length INTEGER NOT NULL DEFAULT 0; -- of the output, in microseconds

-- What became of the requests that an account made on a day.
CREATE TABLE days (
	account  TEXT NOT NULL,
	day      INTEGER NOT NULL, -- days since 1970 UTC
	requests INTEGER NOT NULL,
	failed   INTEGER NOT NULL,
	length   INTEGER NOT NULL, -- of all outputs, in microseconds
	PRIMARY KEY (account, day)
) STRICT, WITHOUT ROWID;

INSERT INTO days (account, day, requests, failed, length)
SELECT account, created_at / 86400000000, count(*), sum(status = 'failed'), 0 FROM requests GROUP BY 1, 2;

CREATE TRIGGER count_created AFTER INSERT ON requests BEGIN
	INSERT INTO days (account, day, requests, failed, length) VALUES (new.account, new.created_at / 86400000000, 1, 0, 0)
	ON CONFLICT DO UPDATE SET requests = requests + 1;
END;

-- A request becomes final once.
CREATE TRIGGER count_final AFTER UPDATE OF status ON requests WHEN new.status IN ('completed', 'failed') BEGIN
	UPDATE days SET failed = failed + (new.status = 'failed'), length = length + new.length
	WHERE account = new.account AND day = new.created_at / 86400000000;
END;
