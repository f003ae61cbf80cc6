package dynamodb_test

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
)

// TestSentences reads failures as older versions wrote them, by sentences only, and writes
// failures that older versions can read.
func TestSentences(t *testing.T) {
	cfg, table := inMemory(), "t"
	s, client := dynamodb.New(cfg, table), sdk.NewFromConfig(cfg)
	if err := s.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a"}); err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1_800_000_000, 0).UTC()
	for id, c := range map[string]struct {
		written  lipsync.Failure
		sentence string
		read     lipsync.Failure
	}{
		"1": {lipsync.Failure{Code: lipsync.Canceled}, "canceled by the client", lipsync.Failure{Code: lipsync.Canceled}},
		"2": {
			lipsync.Failure{Code: lipsync.MediaUnreachable, Details: lipsync.Details{Kind: lipsync.Audio}}, "audio URL is not accessible",
			lipsync.Failure{Code: lipsync.MediaNotAccessible, Details: lipsync.Details{Kind: lipsync.Audio}},
		},
		"3": {
			lipsync.Failure{Code: lipsync.UnknownFailure, Details: lipsync.Details{Verbatim: "x"}}, "x",
			lipsync.Failure{Code: lipsync.UnknownFailure, Details: lipsync.Details{Verbatim: "x"}},
		},
	} {
		r := lipsync.Request{ID: id, Account: "a", KeyID: "k", ReferenceID: id, Status: lipsync.Queued, CreatedAt: now}
		if _, _, err := s.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Leases.Cancel(t.Context(), id, now, c.written); err != nil {
			t.Fatal(err)
		}
		if got, err := s.Requests.ByID(t.Context(), id); err != nil || got.Failure != c.written {
			t.Errorf("got %v (%v), want %v", got.Failure, err, c.written)
		}
		if n := makeOlder(t, client, table, c.sentence); n != 1 {
			t.Errorf("%s: %d items have the sentence for older versions, want 1", c.sentence, n)
		}
		got, err := s.Requests.ByID(t.Context(), id)
		if err != nil || got.Failure != c.read {
			t.Errorf("got %v (%v), want %v", got.Failure, err, c.read)
		}
		listed, err := s.Requests.ByReference(t.Context(), "a", id)
		if err != nil || listed.Failure != c.read {
			t.Errorf("listed %v (%v), want %v", listed.Failure, err, c.read)
		}
	}
}

// makeOlder removes the codes of failures from items with the sentence, and returns how many items
// it changed.
func makeOlder(t *testing.T, client *sdk.Client, table, sentence string) (n int) {
	t.Helper()
	all, err := client.Scan(context.Background(), &sdk.ScanInput{TableName: &table})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all.Items {
		if text, ok := i["error"].(*types.AttributeValueMemberS); !ok || text.Value != sentence {
			continue
		}
		n++
		_, err := client.UpdateItem(context.Background(), &sdk.UpdateItemInput{
			TableName: &table,
			Key: map[string]types.AttributeValue{
				dynamodb.PartitionKey: i[dynamodb.PartitionKey], dynamodb.SortKey: i[dynamodb.SortKey],
			},
			UpdateExpression: aws.String("REMOVE failure, failureDetails"),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return n
}
