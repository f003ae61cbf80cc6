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

// RunnerReads, RunnerWrites and RunnerQueries return the partition keys that a runner reads,
// changes, and asks the index for, as patterns of IAM: it claims, holds and ends requests.
// API keys and uploads are not among them, whatever becomes of a runner.
func RunnerReads() []string { return []string{"request/*", "claimed/*"} }

// RunnerWrites: see RunnerReads.
func RunnerWrites() []string {
	return []string{"request/*", "account/*", "usage/*", "claimed/*", "freed/*"}
}

// RunnerQueries: see RunnerReads.
func RunnerQueries() []string { return []string{openRequests, heldRequests, turns} }
