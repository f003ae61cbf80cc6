-- Before this, there was one engine.
ALTER TABLE requests ADD COLUMN engine TEXT NOT NULL DEFAULT 'warp';
