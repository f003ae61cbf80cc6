-- Before this, nobody made pictures of outputs.

-- Whether one lies beside the output.
ALTER TABLE requests ADD COLUMN poster INTEGER NOT NULL DEFAULT 0;
