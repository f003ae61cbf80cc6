package dynamodb_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/store/dynamodb"
)

type item = map[string]types.AttributeValue

func text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// textOf returns the string, or "" if the value is none.
func textOf(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// both is a store and the table that it writes.
type both struct {
	*dynamodb.Store
	client *sdk.Client
	name   string
}

func openTable(t *testing.T) *both {
	t.Helper()
	return openTableBehind(t, new(wire))
}

// openTableBehind returns a table whose store calls it over the wire.
func openTableBehind(t *testing.T, w *wire) *both {
	t.Helper()
	cfg := inMemory()
	client := sdk.NewFromConfig(cfg)
	cfg.HTTPClient = w
	return &both{dynamodb.New(cfg, "t"), client, "t"}
}

func (b *both) get(t *testing.T, partition, sort string) item {
	t.Helper()
	out, err := b.client.GetItem(t.Context(), &sdk.GetItemInput{
		TableName: &b.name, ConsistentRead: aws.Bool(true), Key: item{"pk": text(partition), "sk": text(sort)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Item
}

// rewrite replaces each item by the items that f returns for it.
func (b *both) rewrite(t *testing.T, f func(item) []item) {
	t.Helper()
	for pages := sdk.NewScanPaginator(b.client, &sdk.ScanInput{TableName: &b.name}); pages.HasMorePages(); {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.Items {
			_, err := b.client.DeleteItem(t.Context(), &sdk.DeleteItemInput{TableName: &b.name, Key: item{"pk": i["pk"], "sk": i["sk"]}})
			for _, next := range f(i) {
				_, putErr := b.client.PutItem(t.Context(), &sdk.PutItemInput{TableName: &b.name, Item: next})
				err = errors.Join(err, putErr)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
}
