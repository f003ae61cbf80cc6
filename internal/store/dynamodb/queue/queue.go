// Package queue says which request is next. It reads the entries of the requests that wait and of those that are held, and chooses by the rule of
// lipsync.Turn. It also has what starts runners: how many requests wait, the locks of scaling, the small workers and the speeds of engines.
//
// It may import lipsync, failures and package table. It knows the keys of a request's items, and no more of how requests are stored: it returns their ids.
package queue

import (
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Queue has the requests that wait: for lipsync.Demand, and for the choice that lipsync.Leases makes.
type Queue struct {
	table *table.Table

	// MostHeld is the number of held requests from which on the next request can't be claimed, so that a runner in wrong hands can't claim all that wait;
	// 0 for none. It isn't kept to the last one: claims of other processes in the last second may be missing.
	MostHeld int

	// SurveyLife is the time for which places in the queue come from the same survey, so that a process that many clients ask for
	// places leaves the queue's partitions to claims. 0 means a survey for each place.
	SurveyLife time.Duration

	lastSurvey struct {
		sync.Mutex
		*Survey
		at time.Time
	}
	lastHeld heldCount
}

// On returns the queue in the table.
func On(t *table.Table) *Queue { return &Queue{table: t} }

// queueShards is the number of parts of the queue, in which requests are by their ids. It must not change: stored data depends on it.
const queueShards = 8

// PoolKey is the partition key of the item that coordinates the starting of runners.
const PoolKey = "pool"

// These are patterns of IAM of other partition keys.
const (
	ClaimedKeys = claims + "*"  // times of owners' last claims
	WaitingKeys = waiting + "*" // in the index: requests that wait
	HeldKeys    = held + "*"    // in the index: requests that are held or postponed
)

// Owner is what owns requests in the names of partitions: an account with one kind of its requests. Those of each kind have lists, counts and
// a place among the last claims of their own.
type Owner struct {
	Account string
	Kind    lipsync.Kind
}

// OwnerOf returns the owner of the request.
func OwnerOf(r lipsync.Request) Owner { return Owner{r.Account, r.Kind} }

// Digest stands for the owner in a key. No account has a control character in its name.
func (o Owner) Digest() string {
	if o.Kind == lipsync.ToRender {
		return table.Digest(o.Account)
	}
	return table.Digest(o.Account + "\x1f" + string(o.Kind))
}

// LeaseKey is the key of the item that has the request's lease, while a worker holds it.
func LeaseKey(id string) table.Item { return table.Key("request/"+id, "lease") }

// EntryKey is the key of the request's queue entry.
func EntryKey(id string) table.Item { return table.Key("request/"+id, "turn") }
