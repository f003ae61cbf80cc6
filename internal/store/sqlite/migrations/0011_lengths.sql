-- Before this, nobody measured how long inputs are.
ALTER TABLE requests ADD COLUMN video_length INTEGER NOT NULL DEFAULT 0; -- in microseconds
ALTER TABLE requests ADD COLUMN audio_length INTEGER NOT NULL DEFAULT 0;
