-- Before this, workers reported no progress.
ALTER TABLE requests ADD COLUMN stage TEXT NOT NULL DEFAULT '';
ALTER TABLE requests ADD COLUMN percent INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN ends INTEGER NOT NULL DEFAULT 0;
