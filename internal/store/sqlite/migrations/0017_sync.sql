-- Before this, outputs had no sync score.
ALTER TABLE requests ADD COLUMN sync TEXT NOT NULL DEFAULT ''; -- JSON
