-- A batch: requests that one call makes.
CREATE TABLE batches (
	id          TEXT PRIMARY KEY,
	account     TEXT NOT NULL,
	key_id      TEXT NOT NULL,
	lines       TEXT NOT NULL, -- a letter for each line: see lipsync.LineState
	targets     TEXT NOT NULL, -- JSON, as in requests
	fingerprint BLOB NOT NULL,
	created_at  INTEGER NOT NULL,
	canceled_at INTEGER NOT NULL,
	finished_at INTEGER NOT NULL,
	version     INTEGER NOT NULL
) STRICT;
CREATE INDEX batches_by_account ON batches (account, created_at, id);
CREATE INDEX batches_unfinished ON batches (created_at) WHERE finished_at = 0;
