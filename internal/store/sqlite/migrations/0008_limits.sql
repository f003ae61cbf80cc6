-- Before this, accounts had no limits, and requests were claimed in the order of their creation.

-- Bytes of outputs: of each, and of all of an account and a day.
ALTER TABLE requests ADD COLUMN size INTEGER NOT NULL DEFAULT 0;
ALTER TABLE days ADD COLUMN size INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER count_size AFTER UPDATE OF status ON requests WHEN new.status = 'completed' BEGIN
	UPDATE days SET size = size + new.size WHERE account = new.account AND day = new.created_at / 86400000000;
END;

-- Bytes of all uploads of an account.
CREATE TABLE uploaded (
	account TEXT PRIMARY KEY,
	size    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO uploaded (account, size) SELECT account, sum(size) FROM uploads GROUP BY account;

CREATE TRIGGER count_upload AFTER INSERT ON uploads BEGIN
	INSERT INTO uploaded (account, size) VALUES (new.account, new.size)
	ON CONFLICT DO UPDATE SET size = size + new.size;
END;

CREATE TRIGGER count_upload_gone AFTER DELETE ON uploads BEGIN
	UPDATE uploaded SET size = size - old.size WHERE account = old.account;
END;

-- When a request of an account was last claimed.
CREATE TABLE claimed (
	account TEXT PRIMARY KEY,
	at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is open and what is held, by account.
CREATE INDEX requests_open_of_account ON requests (account, n) WHERE status IN ('queued', 'processing');
CREATE INDEX requests_held_of_account ON requests (account) WHERE lease <> '';

DROP INDEX uploads_by_expiry;
CREATE INDEX uploads_by_expiry ON uploads (expires_at, id);
CREATE INDEX keys_by_account ON keys (account, created_at);
