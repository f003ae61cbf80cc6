package queue

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"lipsync/internal/domain/failure"
	"lipsync/internal/store/dynamodb/table"
)

const (
	// smallStart is the time from the start of a small worker after which it counts as lost, if it has not begun. Lambda
	// gives up starting it a little earlier: see startWait in infra/stack.
	smallStart = 65 * time.Second
	// smallLife is a little longer than any small worker works. One that has not ended after that time died.
	smallLife = 16 * time.Minute
)

// smallWorkers is the item of small workers that were started together.
type smallWorkers struct {
	started, began, ended int
	at                    time.Time
}

// startOf is the prefix of these items' sort keys. The time of the start follows.
const startOf = "small/"

func (c *smallWorkers) fields() table.Fields {
	return table.Fields{"started": &c.started, "began": &c.began, "ended": &c.ended, "at": &c.at}
}

// StartSmall records that n small workers are started, and returns a name for BeginSmall and EndSmall.
func (q *Queue) StartSmall(ctx context.Context, now time.Time, n int) (start string, err error) {
	start = table.Padded(now.UnixMicro()) + "/" + strconv.FormatUint(rand.Uint64(), 36)
	set := table.Encode((&smallWorkers{started: n, at: now}).fields())
	set[table.TimeToLive] = table.Expiry(now.Add(smallLife))
	_, err = q.table.Update(ctx, table.Change{Key: table.Key(PoolKey, startOf+start), Set: set})
	return start, err
}

// BeginSmall records that one of them has begun. It returns NotFound if no more were started.
func (q *Queue) BeginSmall(ctx context.Context, start string) error {
	return q.countSmall(ctx, start, "began", "started")
}

// EndSmall records that one of them has ended. It returns NotFound if no more have begun.
func (q *Queue) EndSmall(ctx context.Context, start string) error {
	return q.countSmall(ctx, start, "ended", "began")
}

// countSmall adds 1 to an attribute of their item, up to the value of another.
func (q *Queue) countSmall(ctx context.Context, start, attribute, most string) error {
	_, err := q.table.Update(ctx, table.Change{
		Key: table.Key(PoolKey, startOf+start), Add: table.Item{attribute: table.Number(1)},
		Condition: "attribute_exists(#" + most + ") AND (attribute_not_exists(#" + attribute + ") OR #" + attribute + " < #" + most + ")", Refused: failure.New(failure.NotFound, "no small worker was started so"),
	})
	return err
}

// CountSmall returns the number of small workers that were started and have not begun, and of those that have begun and not ended.
func (q *Queue) CountSmall(ctx context.Context, now time.Time) (waiting, running int, err error) {
	for i, err := range q.table.Query(ctx, math.MaxInt, table.InTable(PoolKey, "BETWEEN :first AND :last", table.Item{
		":first": table.Text(startOf + table.Padded(now.Add(-smallLife).UnixMicro())), ":last": table.Text(strings.TrimSuffix(startOf, "/") + "0"),
	})) {
		var c smallWorkers
		if err == nil {
			err = table.Decode(i, c.fields())
		}
		if err != nil {
			return 0, 0, err
		}
		if now.Sub(c.at) < smallStart {
			waiting += max(0, c.started-c.began)
		}
		running += max(0, c.began-c.ended)
	}
	return waiting, running, nil
}
