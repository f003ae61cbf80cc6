package dynamodb

import (
	"errors"
	"hash/fnv"
	"strconv"
	"sync"
)

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

// PoolKey is the partition key of what those who start runners, and these, agree by.
const PoolKey = "pool"

// RunnerReads, RunnerWrites and RunnerQueries return the partition keys that a runner reads,
// changes, and asks the index for, as patterns of IAM: it claims, holds and ends requests.
// API keys and uploads are not among them, whatever becomes of a runner. RunnerOlderQueries
// returns those that runners of older versions ask for, which go on after an upgrade.
func RunnerReads() []string { return []string{"request/*", "claimed/*", "account/*"} }

// RunnerWrites: see RunnerReads.
func RunnerWrites() []string {
	return []string{"request/*", "account/*", "usage/*", "claimed/*", "freed/*", PoolKey}
}

// RunnerQueries: see RunnerReads.
func RunnerQueries() []string { return []string{queue + "*", held + "*"} }

// RunnerOlderQueries: see RunnerReads.
func RunnerOlderQueries() []string { return []string{olderOpen, olderHeld, olderTurns} }

// What everybody writes is spread over so many partitions, or items, by a hash of the id of
// the request, key or upload. These numbers are part of what is stored.
const (
	queueShards  = 8  // what waits; what is held
	statusShards = 4  // an account's requests of one status
	uploadShards = 8  // uploads by their end
	keyShards    = 8  // the keys of all accounts
	lanes        = 32 // each counter of an account or a key
	usageShards  = 4  // the lanes of an account by day
)

// shardOf returns which of n shards the id belongs to.
func shardOf(id string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % uint32(n))
}

// shard returns the name of one shard of a partition. The first one has the name by which
// older versions knew the whole partition, and so has what these wrote.
func shard(partition string, n int) string {
	if n == 0 {
		return partition
	}
	return partition + "/" + strconv.Itoa(n)
}

// together calls f for the numbers from 0 to n-1 at once.
func together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}
