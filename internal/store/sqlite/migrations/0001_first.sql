-- Times are microseconds since 1970 UTC, 0 for none. Lengths of time are microseconds. Sizes are
-- bytes. Texts are '' for none.

CREATE TABLE requests (
	n                 INTEGER PRIMARY KEY, -- order of creation over all accounts
	id                TEXT NOT NULL UNIQUE,
	account           TEXT NOT NULL,
	kind              TEXT NOT NULL,       -- '' asks for an output, others for an analysis or an estimate
	key_id            TEXT NOT NULL,
	call_id           TEXT NOT NULL,       -- of the call that made it or its batch, for logs; '' if that was in the dashboard
	reference_id      TEXT NOT NULL,
	seq               INTEGER NOT NULL,    -- 1, 2, … within account and kind
	reference_seq     INTEGER NOT NULL,    -- 1, 2, … within account, kind and reference id, 0 without one
	status            TEXT NOT NULL,
	class             TEXT NOT NULL,       -- '' small, large or neural

	video_object      TEXT NOT NULL,
	video_name        TEXT NOT NULL, -- that the file had where it came from
	audio_object      TEXT NOT NULL,
	audio_name        TEXT NOT NULL,
	largest_face      INTEGER NOT NULL,
	engine            TEXT NOT NULL,
	file_name         TEXT NOT NULL,   -- of the output, as options have it

	created_at        INTEGER NOT NULL,
	started_at        INTEGER NOT NULL,
	finished_at       INTEGER NOT NULL,

	output            TEXT NOT NULL,
	poster            INTEGER NOT NULL, -- whether a picture of the output lies beside it
	length            INTEGER NOT NULL, -- of the output
	size              INTEGER NOT NULL, -- of the output
	frames            INTEGER NOT NULL, -- of the output
	synced_frames     INTEGER NOT NULL, -- frames of the output with a painted mouth
	unsynced          TEXT NOT NULL,   -- parts of the output that are not synced: JSON
	warnings          TEXT NOT NULL,   -- codes with spaces between
	sync              TEXT NOT NULL,   -- the sync score: JSON
	video_length      INTEGER NOT NULL,
	audio_length      INTEGER NOT NULL,
	video_sum         BLOB NOT NULL,  -- SHA-256 of the video, if findings about it were kept or used
	media_deleted_at  INTEGER NOT NULL, -- by the client
	failure           TEXT NOT NULL,   -- a code
	failure_details   TEXT NOT NULL,   -- JSON

	claims            INTEGER NOT NULL,
	attempts          INTEGER NOT NULL,
	delays            INTEGER NOT NULL,
	missing_since     INTEGER NOT NULL,
	unreachable_since INTEGER NOT NULL,
	failing_since     INTEGER NOT NULL,
	fetching          INTEGER NOT NULL, -- how long attempts took that ended while they fetched
	lease             TEXT NOT NULL,   -- the token of the worker that holds the request
	lease_until       INTEGER NOT NULL, -- nobody else may claim the request before
	stage             TEXT NOT NULL,   -- progress of who holds it
	percent           INTEGER NOT NULL,
	ends              INTEGER NOT NULL,

	-- These may be large, so they are behind the others: lists read none but the URLs.
	video_url         TEXT NOT NULL,
	audio_url         TEXT NOT NULL,
	tracks            TEXT NOT NULL,   -- further speech tracks: JSON
	options           TEXT NOT NULL,   -- JSON
	targets           TEXT NOT NULL    -- webhooks that get its events: JSON
) STRICT;
CREATE UNIQUE INDEX requests_by_seq ON requests (account, kind, seq);
CREATE UNIQUE INDEX requests_by_reference ON requests (account, kind, reference_id, reference_seq) WHERE reference_id <> '';
CREATE UNIQUE INDEX requests_by_state ON requests (account, kind, iif(failure = 'canceled', failure, status), seq);
CREATE UNIQUE INDEX requests_by_reference_state ON requests (account, kind, reference_id, iif(failure = 'canceled', failure, status), seq) WHERE reference_id <> '';
CREATE INDEX requests_open ON requests (n) WHERE status IN ('queued', 'processing');
CREATE INDEX requests_open_of_account ON requests (account, kind, n) WHERE status IN ('queued', 'processing');
CREATE INDEX requests_held_of_account ON requests (account, kind, class, started_at, lease_until, lease) WHERE lease <> '';
CREATE INDEX requests_put_off ON requests (lease_until) WHERE lease = '' AND lease_until > 0;

-- How many requests of each kind an account has made, and how many with each reference id: the last seq and reference_seq.
-- Those of erased requests are missing.
CREATE TABLE counters (
	account      TEXT NOT NULL,
	kind         TEXT NOT NULL,
	reference_id TEXT NOT NULL, -- '' counts all of the account
	total        INTEGER NOT NULL,
	PRIMARY KEY (account, kind, reference_id)
) STRICT, WITHOUT ROWID;

-- A reference id goes with its last request.
CREATE TRIGGER forget_reference AFTER DELETE ON requests WHEN old.reference_id <> '' BEGIN
	DELETE FROM counters WHERE account = old.account AND kind = old.kind AND reference_id = old.reference_id AND NOT EXISTS (
		SELECT 1 FROM requests r WHERE r.account = old.account AND r.kind = old.kind AND r.reference_id = old.reference_id AND r.reference_id <> '');
END;

-- When a request of a kind of an account was last claimed.
CREATE TABLE claimed (
	account TEXT NOT NULL,
	kind    TEXT NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (account, kind)
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
	start      TEXT NOT NULL, -- the first characters of the token
	created_at INTEGER NOT NULL,
	last_used  INTEGER NOT NULL,
	revoked_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL, -- 0 is never
	read_only  INTEGER NOT NULL, -- 0 or 1
	max_uses   INTEGER NOT NULL, -- 0 is unlimited
	used       INTEGER NOT NULL
) STRICT;
CREATE INDEX keys_by_account ON keys (account, created_at);

CREATE TABLE uploads (
	id           TEXT PRIMARY KEY,
	account      TEXT NOT NULL,
	kind         TEXT NOT NULL,
	name         TEXT NOT NULL, -- that the file had where it came from
	size         INTEGER NOT NULL,
	content_type TEXT NOT NULL,
	object       TEXT NOT NULL,
	created_at   INTEGER NOT NULL,
	expires_at   INTEGER NOT NULL,
	request_id   TEXT NOT NULL,              -- the newest request that uses it
	dropped      INTEGER NOT NULL            -- 1: no other request may use it
) STRICT;
CREATE INDEX uploads_by_expiry ON uploads (expires_at, id);

-- Bytes of all uploads of an account.
CREATE TABLE uploaded (
	account TEXT PRIMARY KEY,
	size    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER count_upload AFTER INSERT ON uploads BEGIN
	INSERT INTO uploaded (account, size) VALUES (new.account, new.size)
	ON CONFLICT DO UPDATE SET size = size + new.size;
END;

CREATE TRIGGER count_upload_gone AFTER DELETE ON uploads BEGIN
	UPDATE uploaded SET size = size - old.size WHERE account = old.account;
END;

-- What became of the requests of each kind that an account made on a day. Of the kind 'batch' they have only records.
CREATE TABLE days (
	account  TEXT NOT NULL,
	kind     TEXT NOT NULL,
	day      INTEGER NOT NULL, -- days since 1970 UTC
	requests INTEGER NOT NULL,
	failed   INTEGER NOT NULL, -- except those that were canceled
	length   INTEGER NOT NULL, -- of all outputs
	size     INTEGER NOT NULL, -- of the outputs that are kept
	records  INTEGER NOT NULL, -- size of the records that weren't erased before their time
	PRIMARY KEY (account, kind, day)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER count_created AFTER INSERT ON requests BEGIN
	INSERT INTO days (account, kind, day, requests, failed, length, size, records) VALUES (new.account, new.kind, new.created_at / 86400000000, 1, 0, 0, 0, 0)
	ON CONFLICT DO UPDATE SET requests = requests + 1;
END;

-- A request becomes final once.
CREATE TRIGGER count_final AFTER UPDATE OF status ON requests WHEN new.status IN ('completed', 'failed') BEGIN
	UPDATE days SET failed = failed + (new.status = 'failed' AND new.failure <> 'canceled'), length = length + new.length,
		size = size + new.size
	WHERE account = new.account AND kind = new.kind AND day = new.created_at / 86400000000;
END;

CREATE TRIGGER count_size_gone AFTER UPDATE OF media_deleted_at ON requests WHEN old.media_deleted_at = 0 BEGIN
	UPDATE days SET size = size - old.size WHERE account = old.account AND kind = old.kind AND day = old.created_at / 86400000000;
END;

-- The webhooks of an account.
CREATE TABLE webhooks (
	account TEXT PRIMARY KEY,
	list    TEXT NOT NULL,    -- JSON
	filled  INTEGER NOT NULL, -- 1: there are too many pending deliveries
	version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- An event for a webhook.
CREATE TABLE deliveries (
	webhook      TEXT NOT NULL,
	id           TEXT NOT NULL,
	account      TEXT NOT NULL,
	type         TEXT NOT NULL,
	request      TEXT NOT NULL,
	after        TEXT NOT NULL,    -- id of the delivery that must be final before
	url          TEXT NOT NULL,    -- instead of the webhook's own
	created_at   INTEGER NOT NULL,
	state        TEXT NOT NULL,
	due          INTEGER NOT NULL,
	attempts     INTEGER NOT NULL,
	attempted_at INTEGER NOT NULL,
	status       INTEGER NOT NULL, -- of the last answer
	problem      TEXT NOT NULL,
	version      INTEGER NOT NULL,
	PRIMARY KEY (webhook, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (webhook, due) WHERE state IN ('waiting', 'sending');
CREATE INDEX deliveries_failed ON deliveries (webhook, id) WHERE state = 'undelivered';
CREATE INDEX deliveries_by_age ON deliveries (created_at);

-- A call of the API with a key.
CREATE TABLE calls (
	n       INTEGER PRIMARY KEY, -- in their order
	account TEXT NOT NULL,
	at      INTEGER NOT NULL,
	id      TEXT NOT NULL,
	method  TEXT NOT NULL,
	route   TEXT NOT NULL,
	status  INTEGER NOT NULL,
	code    TEXT NOT NULL,
	key_id  TEXT NOT NULL,
	request TEXT NOT NULL
) STRICT;
CREATE INDEX calls_by_account ON calls (account, n);
CREATE INDEX calls_by_age ON calls (at);

-- How long workers took for the recent completed requests of an engine and class, as sums: see lipsync.Speed.
CREATE TABLE speeds (
	engine   TEXT NOT NULL,
	class    TEXT NOT NULL,
	requests INTEGER NOT NULL,
	size     INTEGER NOT NULL, -- thousands of pixels
	took     INTEGER NOT NULL,
	inverse  INTEGER NOT NULL, -- 10⁹ ÷ size
	pace     INTEGER NOT NULL, -- nanoseconds ÷ size
	PRIMARY KEY (engine, class)
) STRICT, WITHOUT ROWID;

-- A batch: requests that one call makes.
CREATE TABLE batches (
	id          TEXT PRIMARY KEY,
	account     TEXT NOT NULL,
	key_id      TEXT NOT NULL,
	call_id     TEXT NOT NULL, -- as in requests
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

-- Which folder of media belongs to these records: it has one of the two stamps. One row, or none before the first server.
CREATE TABLE stamps (
	stamp    TEXT NOT NULL,
	previous TEXT NOT NULL,   -- of the folder, if a process was killed before it wrote the stamp there
	at       INTEGER NOT NULL -- when a server wrote the stamp
) STRICT;
