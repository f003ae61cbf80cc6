package dynamodb

// The table's attributes that its definition names: keys and all but TimeToLive
// are strings, TimeToLive is a number of seconds since 1970.
const (
	PartitionKey = "pk"
	SortKey      = "sk"
	TimeToLive   = "ttl"

	// OpenIndex is a sparse index with every attribute, of what waits for
	// something: requests that are not final, uploads that expire; and of the
	// requests of each account and reference id by their status.
	OpenIndex     = "open"
	OpenPartition = "open"
	OpenSort      = "openAt"
)
