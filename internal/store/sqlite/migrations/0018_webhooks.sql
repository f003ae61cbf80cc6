-- Before this, there were no webhooks.
ALTER TABLE requests ADD COLUMN targets TEXT NOT NULL DEFAULT ''; -- webhooks that get its events: JSON

CREATE TABLE webhooks (
	account TEXT PRIMARY KEY,
	list    TEXT NOT NULL,    -- JSON
	filled  INTEGER NOT NULL, -- 1: there are too many pending deliveries
	version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

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
CREATE INDEX deliveries_by_age ON deliveries (created_at);
