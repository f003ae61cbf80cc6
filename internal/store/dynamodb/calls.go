package dynamodb

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"lipsync/internal/domain/lipsync"
)

// calls implements lipsync.Calls. An account has a ring of items: each call replaces the one of lipsync.MostCalls before, so nothing has to be
// deleted.
type calls struct{ *Store }

// nextCall is the sort key of the item with the number of the account's calls. The others have a place in the ring.
const nextCall = "next"

func callKey(account, sort string) item { return key("calls/"+digest(account), sort) }

func callFields(c *lipsync.Call) []field {
	return []field{
		{"at", &c.At}, {"call", &c.ID}, {"method", &c.Method}, {"route", &c.Route}, {"status", &c.Status}, {"code", (*string)(&c.Code)}, {"key", &c.KeyID},
		{"request", &c.RequestID},
	}
}

func (s calls) Note(ctx context.Context, account string, c lipsync.Call) error {
	end := item{TimeToLive: expiry(c.At.Add(lipsync.CallLife))}
	counted, err := s.update(ctx, change{key: callKey(account, nextCall), add: item{"made": number(1)}, set: end, tells: true})
	if err != nil {
		return err
	}
	var made int64
	if err := decode(counted, []field{{"made", &made}}); err != nil {
		return err
	}
	write := change{key: callKey(account, strconv.FormatInt(made%lipsync.MostCalls, 10)), set: with(encode(callFields(&c)), end)}
	for _, f := range callFields(&c) {
		if write.set[f.name] == nil { // the item may have that of an earlier call
			write.remove = append(write.remove, f.name)
		}
	}
	_, err = s.update(ctx, write)
	return err
}

// inRing returns the items of the account's calls.
func (s calls) inRing(ctx context.Context, account string) (all []item, err error) {
	for i, err := range s.query(ctx, lipsync.MostCalls+1, &dynamodb.QueryInput{
		KeyConditionExpression:    aws.String("#pk = :account"),
		ExpressionAttributeValues: item{":account": callKey(account, "")[PartitionKey]},
		ConsistentRead:            aws.Bool(true),
	}) {
		if err != nil {
			return nil, err
		}
		all = append(all, i)
	}
	return all, nil
}

func (s calls) List(ctx context.Context, account string, now time.Time) ([]lipsync.Call, error) {
	items, err := s.inRing(ctx, account)
	if err != nil {
		return nil, err
	}
	var all []lipsync.Call
	for _, i := range items {
		var c lipsync.Call
		if err := decode(i, callFields(&c)); err != nil {
			return nil, err
		}
		if c.At.After(now.Add(-lipsync.CallLife)) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b lipsync.Call) int { return b.At.Compare(a.At) })
	return all, nil
}

// eraseTogether is the number of items that Erase deletes at a time.
const eraseTogether = 25

func (s calls) Erase(ctx context.Context, account string) error {
	items, err := s.inRing(ctx, account)
	if err != nil {
		return err
	}
	for some := range slices.Chunk(items, eraseTogether) {
		if err := together(len(some), func(i int) error {
			_, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.table, Key: item{PartitionKey: some[i][PartitionKey], SortKey: some[i][SortKey]}})
			return s.explain(err)
		}); err != nil {
			return err
		}
	}
	return nil
}

// Expire implements lipsync.Calls. The items have a TimeToLive.
func (s calls) Expire(context.Context, time.Time) error { return nil }
