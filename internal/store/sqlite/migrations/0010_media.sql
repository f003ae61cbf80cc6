-- Before this, clients could not have media deleted.

-- When the media of a request were deleted by its client.
ALTER TABLE requests ADD COLUMN media_deleted_at INTEGER NOT NULL DEFAULT 0;
-- Whether no other request may use an upload.
ALTER TABLE uploads ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER count_size_gone AFTER UPDATE OF media_deleted_at ON requests WHEN old.media_deleted_at = 0 BEGIN
	UPDATE days SET size = size - old.size WHERE account = old.account AND day = old.created_at / 86400000000;
END;
