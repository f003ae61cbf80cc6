-- Before this, requests had one speech track.
ALTER TABLE requests ADD COLUMN tracks TEXT NOT NULL DEFAULT ''; -- further ones: JSON
