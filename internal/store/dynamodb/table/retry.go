package table

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/domain/failure"
)

// New returns the table of AWS with the name.
//
// It makes a call again if that was throttled or its answer was lost, up to 8 times within
// about 5 seconds. A repeated transaction has the token of its first try, so it is done only once.
func New(cfg aws.Config, name string) *Table {
	return On(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.Retryer = retry.AddWithErrorCodes(retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = 8
			o.RateLimiter = ratelimit.NewTokenRateLimit(retryTokens)
			o.Backoff = retry.BackoffDelayerFunc(func(n int, _ error) (time.Duration, error) { return rand.N(backoff(n)), nil })
		}), "TransactionConflictException") // a write that met a transaction on the same item
	}), name)
}

// retryTokens lets all the calls that count the waiting requests together, some 32, be tried 8 times each: a retry takes
// retry.DefaultRetryCost tokens, which come back when a call succeeds. With the usual 500 a busy table failed the sweep.
const retryTokens = 2000

// retryTime is the time for which a change is retried while other changes conflict with it. The
// API must answer within 29 seconds.
const retryTime = 20 * time.Second

// Conflict is the error of a change that was not made because another change came first, or
// because the table is too busy.
type Conflict struct{}

func (Conflict) Error() string { return "too many changes of the same records at a time" }

// busy returns the refusal for a change that conflicted for too long. The time to come back is
// random, so that clients refused at the same time do not return at the same time.
func busy(err error) error {
	return failure.RateLimit(time.Second+rand.N(9*time.Second), err)
}

// RetryConflicts calls try until it returns something other than Conflict. n is the number of
// calls before.
//
// Only one of several simultaneous changes of the same records succeeds, so the pauses between
// tries must be longer the more changes there are. Each pause has a random length. The first is
// at most four times as long as the first try took; the bound of each later pause is four times
// the one before. No pause is longer than a quarter of the retry time that is left, so the changes
// that have waited longest are tried most often.
func RetryConflicts(ctx context.Context, try func(n int) error) error {
	start := time.Now()
	var bound time.Duration
	for n := 0; ; n++ {
		err := try(n)
		if !errors.Is(err, Conflict{}) {
			return err
		}
		took := time.Since(start)
		if took >= retryTime {
			return busy(err)
		}
		if n == 0 {
			bound = took
		}
		bound = min(4*bound, (retryTime-took)/4)
		if err := pause(ctx, bound); err != nil {
			return err
		}
	}
}

// pause waits for a random time up to the bound.
func pause(ctx context.Context, bound time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(bound + 1)):
		return nil
	}
}

// backoff returns the bound of the pause after the nth call (from 0) that failed for a reason
// outside this program: 25 ms, doubled each time, up to 1.6 s.
func backoff(n int) time.Duration { return 25 * time.Millisecond << min(n, 6) }
