// Package dynamodb keeps the service's records in one DynamoDB table.
//
// Every read by key is strongly consistent. Reads of the index are not: what the index says is a
// hint, which a conditional write or a read by key then confirms. It has the queue entries of open requests
// and the uploads by their expiry. It also has the requests of each account and reference id by
// status, pointers to all API keys, all webhooks, and pending deliveries.
package dynamodb

import (
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

// Store implements the ports of lipsync.Store, and lipsync.Demand, on one table.
type Store struct {
	lipsync.Store
	table *table.Table

	// MostHeld is the number of held requests from which on the next request can't be claimed, so that a runner in wrong hands can't claim all that wait;
	// 0 for none. It isn't kept to the last one: claims of other processes in the last second may be missing.
	MostHeld int

	// SurveyLife is the time for which places in the queue come from the same survey, so that a process that many clients ask for
	// places leaves the queue's partitions to claims. 0 means a survey for each place.
	SurveyLife time.Duration

	lastSurvey struct {
		sync.Mutex
		*survey
		at time.Time
	}
	lastHeld heldCount
}

// On returns the store on the table with the name, which it calls by the client. See table.On.
func On(client table.API, name string) *Store { return on(table.On(client, name)) }

// New returns the store on the table of AWS with the name. See table.New.
func New(cfg aws.Config, name string) *Store { return on(table.New(cfg, name)) }

func on(t *table.Table) *Store {
	s := &Store{table: t}
	s.Store = lipsync.Store{Requests: requests{s}, Leases: leases{s}, Keys: keys{s}, Uploads: uploads{s}, Rates: rates{s}, Webhooks: webhooks{s}, Speeds: speeds{s}, Batches: batches{s}, Calls: calls{s}}
	return s
}
