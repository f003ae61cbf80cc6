-- Before this, requests had no options, and nobody counted the frames of outputs.
ALTER TABLE requests ADD COLUMN options TEXT NOT NULL DEFAULT ''; -- JSON
ALTER TABLE requests ADD COLUMN frames INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN synced_frames INTEGER NOT NULL DEFAULT 0;
ALTER TABLE requests ADD COLUMN warnings TEXT NOT NULL DEFAULT ''; -- codes with spaces between
