package dynamodb

import (
	"context"
	"math"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb/table"
)

type webhooks struct{ *Store }

// allWebhooks is the partition of the index that has the webhooks of all accounts. One account has one
// item, with all of its webhooks.
const allWebhooks = "webhooks"

// webhooksKey is the key of the item with the account's webhooks. Runners have no right to it, since it
// has their secrets.
func webhooksKey(account string) table.Item {
	return table.Key(allWebhooks+"/"+table.Digest(account), "webhooks")
}

func decodeWebhooks(i table.Item) (a lipsync.AccountWebhooks, err error) {
	var list string
	err = table.Decode(i, table.Fields{"account": &a.Account, "list": &list, "full": &a.Full, "version": &a.Version})
	if err == nil {
		a.List, err = lipsync.ParseWebhooks(list)
	}
	return a, err
}

func (s webhooks) Of(ctx context.Context, account string) (lipsync.AccountWebhooks, error) {
	a, err := table.One(ctx, s.table, webhooksKey(account), decodeWebhooks)
	if failure.CodeOf(err) == failure.NotFound {
		return lipsync.AccountWebhooks{Account: account}, nil
	}
	return a, err
}

func (s webhooks) Put(ctx context.Context, a lipsync.AccountWebhooks) error {
	c := table.Change{
		Key: webhooksKey(a.Account),
		Set: table.Item{
			"account": table.Text(a.Account), "list": table.Text(a.Text()), "full": &types.AttributeValueMemberBOOL{Value: a.Full},
			"version": table.Number(a.Version + 1),
		},
		Condition: "attribute_not_exists(#version)", Refused: failure.New(failure.Conflict, "webhooks were changed"),
	}
	if a.Version > 0 {
		c.Condition, c.Values = "#version = :seen", table.Item{"seen": table.Number(a.Version)}
	}
	if len(a.List) > 0 {
		c.Set[table.OpenPartition], c.Set[table.OpenSort] = table.Text(allWebhooks), table.Text(table.Digest(a.Account))
	} else {
		c.Remove = []string{table.OpenPartition, table.OpenSort}
	}
	_, err := s.table.Update(ctx, c)
	return err
}

func (s webhooks) All(ctx context.Context) ([]lipsync.AccountWebhooks, error) {
	return table.Many(ctx, s.table, math.MaxInt, table.InPartition(allWebhooks), decodeWebhooks)
}
