-- Before this, nobody measured how long requests take.
CREATE TABLE speeds (
	engine   TEXT PRIMARY KEY,
	requests INTEGER NOT NULL,
	size     INTEGER NOT NULL, -- thousands of pixels
	took     INTEGER NOT NULL,
	inverse  INTEGER NOT NULL, -- 10⁹ ÷ size
	pace     INTEGER NOT NULL  -- nanoseconds ÷ size
) STRICT, WITHOUT ROWID;
