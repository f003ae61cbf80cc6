-- Times are microseconds since 1970 UTC, 0 for none. Texts are '' for none.

CREATE TABLE requests (
	n             INTEGER PRIMARY KEY, -- order of creation over all accounts
	id            TEXT NOT NULL UNIQUE,
	account       TEXT NOT NULL,
	key_id        TEXT NOT NULL,
	reference_id  TEXT NOT NULL,
	seq           INTEGER NOT NULL,    -- 1, 2, … within the account
	reference_seq INTEGER NOT NULL,    -- 1, 2, … within account and reference id, 0 without one
	status        TEXT NOT NULL,
	video_url     TEXT NOT NULL,
	video_object  TEXT NOT NULL,
	audio_url     TEXT NOT NULL,
	audio_object  TEXT NOT NULL,
	largest_face  INTEGER NOT NULL,
	created_at    INTEGER NOT NULL,
	started_at    INTEGER NOT NULL DEFAULT 0,
	finished_at   INTEGER NOT NULL DEFAULT 0,
	output        TEXT NOT NULL DEFAULT '',
	error         TEXT NOT NULL DEFAULT '',
	claims        INTEGER NOT NULL DEFAULT 0,
	attempts      INTEGER NOT NULL DEFAULT 0,
	lease         TEXT NOT NULL DEFAULT '',
	lease_until   INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX requests_by_seq ON requests (account, seq);
CREATE UNIQUE INDEX requests_by_reference ON requests (account, reference_id, reference_seq) WHERE reference_id <> '';
CREATE INDEX requests_open ON requests (n) WHERE status IN ('queued', 'processing');

-- How many requests an account has made, and how many with each reference id.
-- Requests are never deleted, so that seq and reference_seq run from 1 to total.
CREATE TABLE counters (
	account      TEXT NOT NULL,
	reference_id TEXT NOT NULL, -- '' counts all of the account
	total        INTEGER NOT NULL,
	PRIMARY KEY (account, reference_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency (
	account     TEXT NOT NULL,
	key         TEXT NOT NULL,
	fingerprint BLOB NOT NULL,
	request_id  TEXT NOT NULL,
	expires_at  INTEGER NOT NULL,
	PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_expiry ON idempotency (expires_at);

CREATE TABLE keys (
	id         TEXT PRIMARY KEY,
	account    TEXT NOT NULL,
	name       TEXT NOT NULL,
	hash       BLOB NOT NULL UNIQUE,
	created_at INTEGER NOT NULL,
	last_used  INTEGER NOT NULL,
	revoked_at INTEGER NOT NULL,
	max_uses   INTEGER NOT NULL, -- 0 is unlimited
	used       INTEGER NOT NULL
) STRICT;

CREATE TABLE uploads (
	id           TEXT PRIMARY KEY,
	account      TEXT NOT NULL,
	kind         TEXT NOT NULL,
	size         INTEGER NOT NULL,
	content_type TEXT NOT NULL,
	object       TEXT NOT NULL,
	created_at   INTEGER NOT NULL,
	expires_at   INTEGER NOT NULL,
	request_id   TEXT NOT NULL
) STRICT;
CREATE INDEX uploads_by_expiry ON uploads (expires_at);
