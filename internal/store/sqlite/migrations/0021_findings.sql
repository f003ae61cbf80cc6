-- Before this, records of requests didn't tell which findings are about their videos.
ALTER TABLE requests ADD COLUMN video_sum BLOB NOT NULL DEFAULT x''; -- SHA-256
