// Package table has a table of DynamoDB in memory for simulations. It answers the calls of the
// one store that there is, in microseconds of real time, and takes the time that AWS takes by
// the simulated clock. It has AWS's limits: a partition of the table or its index and the table as a whole take so many
// units a second, and transactions that meet in an item cancel each other.
package table

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// Limits are what AWS takes, and how long it takes for it. A 0 is no limit, and no time.
type Limits struct {
	Call        time.Duration // there and back
	Transaction time.Duration // for which one has its items besides
	Lag         time.Duration // of the index

	PartitionWrites, PartitionReads float64 // units a second
	// TableWrites is how many units a second the table takes, and its index besides, in the
	// long run. At first it takes StartWrites, and later twice what was its most half an hour ago or more.
	TableWrites, StartWrites float64

	Lost float64 // share of calls whose answers are lost, so that the client makes them again
}

// Table implements dynamodb.API. Its fields are set once, before use.
type Table struct {
	Limits

	mu          sync.Mutex
	expressions expressions
	items       map[string]rows // by partition, by sort key
	index       map[string]rows // by partition of the index
	behind      []lagging
	busy        map[address]bool // in a transaction
	done        map[string]bool  // tokens of transactions whose answers were lost
	loads       map[string]*load
	whole       capacity
	wholeIndex  capacity
	count       Count
}

type address struct{ partition, sort string }

// New returns an empty table.
func New(l Limits) *Table {
	return &Table{
		Limits: l, items: make(map[string]rows), index: make(map[string]rows),
		busy: make(map[address]bool), done: make(map[string]bool), loads: make(map[string]*load),
	}
}

// instant is the key of a context by which calls take no time.
type instant struct{}

// Instant returns a context by which calls take no time: for those which nothing waits for,
// and of which there are so many that the simulation would take twice as long.
func Instant(ctx context.Context) context.Context { return context.WithValue(ctx, instant{}, true) }

func (t *Table) wait(ctx context.Context, d time.Duration) error {
	if d > 0 && ctx.Value(instant{}) == nil {
		time.Sleep(d)
	}
	return ctx.Err()
}

// errThrottled and errConflict are answers on which the SDK tries again.
var (
	errThrottled = errors.New("throttled")
	errConflict  = errors.New("met a transaction")
)

// maxAttempts is how often a call is made, as dynamodb.New has it.
const maxAttempts = 8

// try makes a call until it is answered, as the SDK does with the options of dynamodb.New.
func (t *Table) try(ctx context.Context, call func() error) error {
	for n := 0; ; n++ {
		if err := t.wait(ctx, t.Call); err != nil {
			return err
		}
		err := call()
		lost := err == nil && t.Lost > 0 && rand.Float64() < t.Lost
		if !lost && err != errThrottled && err != errConflict {
			return err
		}
		switch {
		case n+1 < maxAttempts:
		case err == errConflict:
			return &types.TransactionConflictException{}
		case err == errThrottled:
			return &types.ThrottlingException{}
		default:
			return errors.New("the answer was lost")
		}
		time.Sleep(rand.N(25 * time.Millisecond << min(n, 6)))
	}
}
