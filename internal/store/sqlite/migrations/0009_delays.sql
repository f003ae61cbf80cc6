-- Before this, all kinds of delays had one beginning.
ALTER TABLE requests RENAME COLUMN delayed_since TO unreachable_since;
ALTER TABLE requests ADD COLUMN missing_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN failing_since INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN fetching INTEGER NOT NULL DEFAULT 0;
