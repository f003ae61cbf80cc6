package dynamodb

import (
	"lipsync/internal/store/dynamodb/callers"
	"lipsync/internal/store/dynamodb/queue"
)

// UploadKeys returns the partition keys of uploads, as a pattern of IAM.
func UploadKeys() string { return "upload/*" }

// ChangedKeys returns the partition keys of the items that calls of the API make, change and delete, as patterns of IAM. Sessions and
// API keys are not among the patterns. To note the use of a key, which callers.CheckedKeys allows, programs update it, so a fault in one could still make a key.
func ChangedKeys() []string {
	return []string{
		"account/*", "batch/*", unfinishedBatches + "/*", queue.ClaimedKeys, delivered + "*", callers.FreedKeys, "idempotency/*", "request/*", UploadKeys(), "usage/*", callers.UsedKeys,
		allWebhooks + "/*",
	}
}

// BrokerReads returns the partition keys that a program reads which claims, holds and ends requests for runners, as patterns of IAM. API keys and
// uploads are not among the patterns, so a fault in the program that answers runners can't reach them.
func BrokerReads() []string { return []string{"request/*", queue.ClaimedKeys, "account/*"} }

// BrokerWrites returns the partition keys that such a program changes, as patterns of IAM.
func BrokerWrites() []string {
	return []string{"request/*", "account/*", "usage/*", queue.ClaimedKeys, callers.FreedKeys, queue.PoolKey}
}

// BrokerPuts returns the partition keys of the items that such a program only adds, as patterns of IAM: the
// deliveries of events.
func BrokerPuts() []string { return []string{delivered + "*"} }

// DelivererKeys returns the partition keys of the items that a program which makes deliveries reads and
// changes, as patterns of IAM. It also reads requests.
func DelivererKeys() []string { return []string{delivered + "*", allWebhooks + "/*"} }

// BrokerQueries returns the partition keys that such a program queries the index for, as patterns
// of IAM.
func BrokerQueries() []string { return []string{queue.WaitingKeys, queue.HeldKeys} }

// IndexQuery stands for a query of the index in Rights.
const IndexQuery = "Query of the index"

// Rights has what a program does with the table: for each action of DynamoDB, the partition keys of the items as patterns of IAM.
type Rights map[string][]string

// SweepRights returns the rights of the program that sweeps. It neither reads nor changes calls, sessions, and what came of idempotency keys, and
// it changes no deliveries.
func SweepRights() Rights {
	return Rights{
		"BatchGetItem": {"account/*", "batch/*", callers.FreedKeys, callers.HashKeys, callers.IDKeys, "request/*", UploadKeys(), callers.UsedKeys, allWebhooks + "/*"},
		"GetItem":      {queue.PoolKey, UploadKeys()},
		"Query":        {callers.ListedKeys, queue.PoolKey, "request/*", "usage/*"},
		IndexQuery:     {"account/*", unfinishedBatches, due + "*", queue.HeldKeys, queue.WaitingKeys, openUploads + "*", allWebhooks},
		"PutItem":      {delivered + "*", "request/*"},
		"UpdateItem": {
			"account/*", "batch/*", unfinishedBatches + "/*", queue.ClaimedKeys, callers.FreedKeys, callers.HashKeys, queue.PoolKey, "request/*", UploadKeys(), "usage/*", callers.UsedKeys,
			allWebhooks + "/*",
		},
		"DeleteItem": {"batch/*", "request/*", UploadKeys()},
	}
}

// DashboardRights returns the rights of the program with the pages for people. It lists no keys, uploads and webhooks of all accounts.
func DashboardRights() Rights {
	return Rights{
		"BatchGetItem": {
			"account/*", queue.ClaimedKeys, callers.FreedKeys, "idempotency/*", callers.HashKeys, callers.IDKeys, callers.RateKeys, "request/*", callers.UsedKeys, allWebhooks + "/*",
		},
		"GetItem": {
			"batch/*", unfinishedBatches + "/*", delivered + "*", "idempotency/*", callers.IDKeys, callers.SessionKeys, UploadKeys(), "usage/*", allWebhooks + "/*",
		},
		"Query":    {callers.CallKeys, delivered + "*", callers.ListedKeys, queue.PoolKey, "request/*", "usage/*"},
		IndexQuery: {"account/*", unfinishedBatches + "/*", due + "*", failed + "*", queue.HeldKeys, queue.WaitingKeys},
		"PutItem":  {"batch/*", delivered + "*", "idempotency/*", callers.HashKeys, callers.IDKeys, callers.ListedKeys, "request/*", UploadKeys()},
		"UpdateItem": {
			"account/*", "batch/*", unfinishedBatches + "/*", delivered + "*", callers.HashKeys, callers.RateKeys, callers.SessionKeys, UploadKeys(), "usage/*", allWebhooks + "/*",
		},
		"DeleteItem": {"batch/*", "request/*", UploadKeys()},
	}
}

// Partitions and items that many clients write are split into this many, by a hash of the id of
// the request or upload. These numbers must not change: stored data depends on them.
const (
	statusShards = 4 // requests of an account by status
	uploadShards = 8 // uploads by their expiry
	usageShards  = 4 // lanes of an account, by day
)
