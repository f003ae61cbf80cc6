package dynamodb

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/domain/failure"
)

const (
	// callStart is the time from the start of a call of the function of small requests after which it counts as lost, if it has not begun. Lambda
	// gives up starting it a little earlier: see smallWait in infra/stack.
	callStart = 65 * time.Second
	// callLife is a little longer than any call lasts. A call that has not ended after that time died.
	callLife = 16 * time.Minute
)

// smallCalls is the item of calls of the function of small requests that were started together.
type smallCalls struct {
	started, began, ended int
	at                    time.Time
}

// startOf is the prefix of these items' sort keys. The time of the start follows.
const startOf = "calls/"

func (c *smallCalls) fields() []field {
	return []field{{"started", &c.started}, {"began", &c.began}, {"ended", &c.ended}, {"at", &c.at}}
}

// StartCalls records that n calls of the function of small requests are started, and returns a name for BeginCall and EndCall.
func (s *Store) StartCalls(ctx context.Context, now time.Time, n int) (start string, err error) {
	start = padded(now.UnixMicro()) + "/" + strconv.FormatUint(rand.Uint64(), 36)
	set := encode((&smallCalls{started: n, at: now}).fields())
	set[TimeToLive] = expiry(now.Add(callLife))
	_, err = s.update(ctx, change{key: key(PoolKey, startOf+start), set: set})
	return start, err
}

// BeginCall records that one of the calls has begun. It returns NotFound if no more calls were started.
func (s *Store) BeginCall(ctx context.Context, start string) error {
	return s.countCall(ctx, start, "began", "started")
}

// EndCall records that one of the calls has ended. It returns NotFound if no more calls have begun.
func (s *Store) EndCall(ctx context.Context, start string) error {
	return s.countCall(ctx, start, "ended", "began")
}

// countCall adds 1 to an attribute of the calls' item, up to the value of another.
func (s *Store) countCall(ctx context.Context, start, attribute, most string) error {
	_, err := s.update(ctx, change{
		key: key(PoolKey, startOf+start), add: item{attribute: number(1)},
		condition: "attribute_exists(#" + most + ") AND (attribute_not_exists(#" + attribute + ") OR #" + attribute + " < #" + most + ")", refused: failure.New(failure.NotFound, "no call was started so"),
	})
	return err
}

// CountCalls returns the number of calls that were started and have not begun, and of those that have begun and not ended.
func (s *Store) CountCalls(ctx context.Context, now time.Time) (waiting, running int, err error) {
	for i, err := range s.query(ctx, math.MaxInt, &dynamodb.QueryInput{
		KeyConditionExpression: aws.String("#pk = :pool AND #sk BETWEEN :first AND :last"),
		ExpressionAttributeValues: item{
			":pool": text(PoolKey), ":first": text(startOf + padded(now.Add(-callLife).UnixMicro())), ":last": text(strings.TrimSuffix(startOf, "/") + "0"),
		},
		ConsistentRead: aws.Bool(true),
	}) {
		var c smallCalls
		if err == nil {
			err = decode(i, c.fields())
		}
		if err != nil {
			return 0, 0, err
		}
		if now.Sub(c.at) < callStart {
			waiting += max(0, c.started-c.began)
		}
		running += max(0, c.began-c.ended)
	}
	return waiting, running, nil
}
