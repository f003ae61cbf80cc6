package table

import (
	"errors"
	"hash/fnv"
	"strconv"
	"sync"
)

// Lanes is the number of items that together count something of an account or a key. It must not change: stored data depends on it.
const Lanes = 32

// ShardOf returns which of n shards the id belongs to, from 0.
func ShardOf(id string, n int) int {
	h := fnv.New32a()
	h.Write([]byte(id))
	return int(h.Sum32() % uint32(n))
}

// Shard returns the name of one shard of a partition. That of the first has no number.
func Shard(partition string, n int) string {
	if n == 0 {
		return partition
	}
	return partition + "/" + strconv.Itoa(n)
}

// Together calls f with each number from 0 to n-1, all at once.
func Together(n int, f func(i int) error) error {
	errs := make([]error, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { errs[i] = f(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Part returns the share of a number that belongs to lane i of n.
func Part(number int64, i, n int) int64 {
	p := number / int64(n)
	if int64(i) < number%int64(n) {
		p++
	}
	return p
}
