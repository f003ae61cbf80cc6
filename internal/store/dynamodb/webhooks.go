package dynamodb

import (
	"context"
	"math"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
)

type webhooks struct{ *Store }

// allWebhooks is the partition of the index that has the webhooks of all accounts. One account has one
// item, with all of its webhooks.
const allWebhooks = "webhooks"

// webhooksKey is the key of the item with the account's webhooks. Runners have no right to it, since it
// has their secrets.
func webhooksKey(account string) item { return key(allWebhooks+"/"+digest(account), "webhooks") }

func decodeWebhooks(i item) (a lipsync.AccountWebhooks, err error) {
	var list string
	err = decode(i, fields{"account": &a.Account, "list": &list, "full": &a.Full, "version": &a.Version})
	if err == nil {
		a.List, err = lipsync.ParseWebhooks(list)
	}
	return a, err
}

func (s webhooks) Of(ctx context.Context, account string) (lipsync.AccountWebhooks, error) {
	a, err := one(ctx, s.Store, webhooksKey(account), decodeWebhooks)
	if failure.CodeOf(err) == failure.NotFound {
		return lipsync.AccountWebhooks{Account: account}, nil
	}
	return a, err
}

func (s webhooks) Put(ctx context.Context, a lipsync.AccountWebhooks) error {
	c := change{
		key: webhooksKey(a.Account),
		set: item{
			"account": text(a.Account), "list": text(a.Text()), "full": &types.AttributeValueMemberBOOL{Value: a.Full},
			"version": number(a.Version + 1),
		},
		condition: "attribute_not_exists(#version)", refused: failure.New(failure.Conflict, "webhooks were changed"),
	}
	if a.Version > 0 {
		c.condition, c.values = "#version = :seen", item{"seen": number(a.Version)}
	}
	if len(a.List) > 0 {
		c.set[OpenPartition], c.set[OpenSort] = text(allWebhooks), text(digest(a.Account))
	} else {
		c.remove = []string{OpenPartition, OpenSort}
	}
	_, err := s.update(ctx, c)
	return err
}

func (s webhooks) All(ctx context.Context) ([]lipsync.AccountWebhooks, error) {
	return many(ctx, s.Store, math.MaxInt, inPartition(allWebhooks), decodeWebhooks)
}
