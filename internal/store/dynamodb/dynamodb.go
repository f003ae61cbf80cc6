// Package dynamodb keeps the service's records in one DynamoDB table. It has the life of requests, and what its transactions touch: lists, limits,
// usage, uploads, batches, webhooks and deliveries. Package table has the table itself, queue who is next, and callers who calls. Package dynamodb
// imports all three, and none imports it.
//
// Every read by key is strongly consistent. Reads of the index are not: what the index says is a
// hint, which a conditional write or a read by key then confirms. The index has the queue entries of open requests
// and the uploads by their expiry. The index also has the requests of each account and reference id by
// status, pointers to all API keys, all webhooks, and pending deliveries.
package dynamodb

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/callers"
	"lipsync/internal/store/dynamodb/queue"
	"lipsync/internal/store/dynamodb/table"
)

// Store has the ports of lipsync.Store on one table, and by its Queue lipsync.Demand.
type Store struct {
	lipsync.Store
	Queue    *queue.Queue
	Sessions callers.Sessions
	table    *table.Table
}

// On returns the store on the table with the name, which it calls by the client. See table.On.
func On(client table.API, name string) *Store { return on(table.On(client, name)) }

// New returns the store on the table of AWS with the name. See table.New.
func New(cfg aws.Config, name string) *Store { return on(table.New(cfg, name)) }

func on(t *table.Table) *Store {
	s := &Store{Queue: queue.On(t), Sessions: callers.Sessions{Table: t}, table: t}
	s.Store = lipsync.Store{Requests: requests{s}, Leases: leases{s, s.Queue}, Keys: callers.Keys{Table: t}, Uploads: uploads{s}, Rates: callers.Rates{Table: t}, Webhooks: webhooks{s}, Speeds: queue.Speeds{Table: t}, Batches: batches{s}, Calls: callers.Calls{Table: t}}
	return s
}
