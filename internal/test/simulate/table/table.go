// Package table has a DynamoDB table in memory for simulations. It answers the calls of this
// service's store within microseconds of real time, and takes as long as AWS on the simulated
// clock. It refuses the calls that AWS refuses. It has AWS's limits: the table as a whole allows a number of units a second, and so does
// each partition of the table or its index. Simultaneous transactions on one item cancel each other.
package table

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"lipsync/internal/store/dynamodb/table"
)

// Limits has AWS's limits and durations. 0 means no limit, or no time.
type Limits struct {
	Call        time.Duration // in both directions
	Transaction time.Duration // how long a transaction locks its items, in addition
	Lag         time.Duration // of the index

	PartitionWrites, PartitionReads float64 // units a second
	// TableWrites is the number of write units a second that the table allows in the long run, and
	// its index as well. At first each allows StartWrites, and later twice its highest load in any
	// earlier half hour.
	TableWrites, StartWrites float64

	Lost float64 // share of calls whose answers are lost, so that the client makes them again
}

// Keys has the names of the attributes of a key, which are strings.
type Keys struct{ Partition, Sort string }

// Table is a table.API of the store. Set its fields once, before use.
type Table struct {
	Limits
	Keys     Keys
	Index    Keys // the index has items with both attributes, and all other attributes
	Attempts int  // most times that a call is made

	mu          sync.Mutex
	expressions expressions
	items       map[string]rows // by partition; sorted
	index       map[string]rows // by partition of the index
	behind      []lagging
	busy        map[address]bool // locked by a transaction
	loads       map[string]*load
	whole       capacity
	wholeIndex  capacity
	count       Count
}

type address struct{ partition, sort string }

// New returns an empty table for the store.
func New(l Limits) *Table {
	return &Table{
		Limits: l, Keys: Keys{table.PartitionKey, table.SortKey}, Index: Keys{table.OpenPartition, table.OpenSort}, Attempts: 8, // as in the store's table.New
		items: make(map[string]rows), index: make(map[string]rows),
		busy: make(map[address]bool), loads: make(map[string]*load),
	}
}

// instant is the key of the context value that makes calls take no time.
type instant struct{}

// Instant returns a context in which calls take no time. It is for frequent calls that nothing
// waits for; with their durations, the simulation would take twice as long.
func Instant(ctx context.Context) context.Context { return context.WithValue(ctx, instant{}, true) }

func (t *Table) wait(ctx context.Context, d time.Duration) error {
	if d > 0 && ctx.Value(instant{}) == nil {
		time.Sleep(d)
	}
	return ctx.Err()
}

// errThrottled and errConflict are answers after which the SDK tries again.
var (
	errThrottled = errors.New("throttled")
	errConflict  = errors.New("transaction conflict")
)

// invalid returns the error of a call that AWS refuses.
func invalid(format string, args ...any) error {
	return &smithy.GenericAPIError{Code: "ValidationException", Message: fmt.Sprintf(format, args...)}
}

// try makes a call until it succeeds, as the SDK does with the options of the store's table.New.
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
		case n+1 < t.Attempts:
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
