package lipsync

import (
	"cmp"
	"fmt"
	"time"

	"lipsync/internal/domain/failure"
)

// Limits bound the data of one account, because all accounts share the machine. In a call of a
// store, a limit of 0 means no limit.
type Limits struct {
	Open   int   // requests that are not final
	Stored int64 // bytes of uploads, outputs and records; see Requests.Create
	Keys   int   // API keys that are not revoked

	Batches int // that are not finished

	Webhooks    int // see CreateWebhook
	Undelivered int // events that wait for their delivery, as the sweep counts them

	Keep Retention
}

// Retention is the time for which media and records are kept. The files of a form are always kept until their
// request ends.
type Retention struct {
	Inputs  time.Duration // from the announcement or last use of an upload; 0 means 24 hours
	Outputs time.Duration // from the completion of a request; 0 means 30 days
	// Findings is the time for which findings are kept; 0 means that none are. On AWS the bucket's rules delete them, in whole days.
	Findings time.Duration
	Records  time.Duration // from the end of a request or a batch; 0 means a year
}

// InputLife returns the time for which an upload is kept after it was announced or last used.
func (r Retention) InputLife() time.Duration { return cmp.Or(r.Inputs, 24*time.Hour) }

// OutputLife returns the time for which an output is kept after its request completed.
func (r Retention) OutputLife() time.Duration { return cmp.Or(r.Outputs, 30*24*time.Hour) }

// OutputDays returns the number of days (UTC) for which the bytes of an output count: from the day
// on which its request was made to the last day on which the output can exist. It is up to a day
// more than OutputLife, which begins when the request completes.
func (r Retention) OutputDays() int {
	return wholeDays(r.OutputLife()) + 1
}

// RecordLife returns the time for which the record of a request or a batch is kept after its end: not less than an output and the last links to it.
func (r Retention) RecordLife() time.Duration {
	return max(cmp.Or(r.Records, 365*24*time.Hour), r.OutputLife()+LinkLife)
}

// RecordDays returns the number of days (UTC) for which the bytes of a record count, as OutputDays does for outputs.
func (r Retention) RecordDays() int { return wholeDays(r.RecordLife()) + 1 }

// wholeDays returns the number of days that have begun when the time d is over.
func wholeDays(d time.Duration) int {
	const day = 24 * time.Hour
	return int((d + day - 1) / day)
}

// DefaultLimits returns the limits that apply if the Config of the service sets no others.
func DefaultLimits() Limits {
	return Limits{Open: 1000, Stored: 1 << 40, Keys: 1000, Batches: 100, Webhooks: 10, Undelivered: 100_000}
}

// openRetry is the time after which a client with too many open requests may try again. The service
// can't know when one of them ends; many take about this long.
const openRetry = time.Minute

// Explain gives an OpenLimit, BatchLimit, EventLimit or StorageLimit of a store the message for the client. It returns any
// other error as it is.
func (l Limits) Explain(err error) error {
	code := failure.CodeOf(err)
	full := func(what string, most int, then string) error {
		return &failure.Error{Code: code, Err: err, RetryAfter: openRetry, Message: fmt.Sprintf("account has as many %s as it may have, %d; %s", what, most, then)}
	}
	switch code {
	case failure.OpenLimit:
		return full("open requests", l.Open, "try again when one is finished")
	case failure.BatchLimit:
		return full("unfinished batches", l.Batches, "try again when one is finished")
	case failure.EventLimit:
		return full("undelivered events", l.Undelivered, "delete the webhook that doesn't take them, or try again later")
	case failure.StorageLimit:
		return failure.Restate(err, failure.StorageLimit, fmt.Sprintf("account's uploads, outputs and records may take %s, and there is no room for more", failure.Spell(l.Stored)))
	default:
		return err
	}
}
