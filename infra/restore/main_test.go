package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/test/awstest"
	"lipsync/internal/test/check"
)

var now = time.Unix(1_800_000_000, 0)

// TestRestore restores a part of a table, and then all of it. The numbers are of more items than a call takes.
func TestRestore(t *testing.T) {
	e := awstest.Shared(t)
	tables := client.NewFromConfig(e.Config())
	before, table := e.Table(t), e.Table(t)
	was, is := map[string]string{}, map[string]string{}
	for i := range 130 {
		for _, kind := range []string{"request", "usage"} {
			same, changed, lost, made := fmt.Sprintf("%s/same%d", kind, i), fmt.Sprintf("%s/changed%d", kind, i), fmt.Sprintf("%s/lost%d", kind, i), fmt.Sprintf("%s/made%d", kind, i)
			was[same], was[changed], was[lost] = "x", "x", "x"
			is[same], is[changed], is[made] = "x", "y", "z"
		}
	}
	was["request/expired"] = "expired"
	for name, items := range map[string]map[string]string{before: was, table: is} {
		for key, value := range items {
			put(t, tables, name, key, value)
		}
	}
	delete(was, "request/expired")

	r := restorer{tables: tables, from: before, into: table, prefixes: []string{"request/"}, now: now}
	check.Must(t, r.restore(t.Context()))
	if got := contents(t, tables, table); r.put != 260 || r.deleted != 130 || r.same != 130 || !maps.Equal(got, is) {
		t.Errorf("without -write: got %d to put, %d to delete, %d the same, and a change of %d items", r.put, r.deleted, r.same, len(got)-len(is))
	}
	r.write = true
	check.Must(t, r.restore(t.Context()))
	want := maps.Clone(is)
	maps.DeleteFunc(want, func(key, _ string) bool { return strings.HasPrefix(key, "request/") })
	for key, value := range was {
		if strings.HasPrefix(key, "request/") {
			want[key] = value
		}
	}
	if got := contents(t, tables, table); !maps.Equal(got, want) {
		t.Errorf("a part: got %d items, want %d", len(got), len(want))
	}
	r = restorer{tables: tables, from: before, into: table, prefixes: []string{""}, write: true, now: now}
	check.Must(t, r.restore(t.Context()))
	if got := contents(t, tables, table); !maps.Equal(got, was) {
		t.Errorf("all: got %d items, want %d", len(got), len(was))
	}
	again := restorer{tables: tables, from: before, into: table, prefixes: []string{""}, now: now}
	check.Must(t, again.restore(t.Context()))
	if again.put+again.deleted > 0 || again.same != len(was) {
		t.Errorf("again: got %d to put, %d to delete, %d the same, want none and %d", again.put, again.deleted, again.same, len(was))
	}
	if err := (&restorer{tables: tables, from: table, into: table}).restore(t.Context()); err == nil {
		t.Error("a table was restored from itself")
	}
}

// TestRequest brings a lost request back, which a worker then does.
func TestRequest(t *testing.T) {
	e := awstest.Shared(t)
	tables := client.NewFromConfig(e.Config())
	before, table := e.Table(t), e.Table(t)
	for _, name := range []string{before, table} {
		s := dynamodb.New(e.Config(), name)
		check.Must(t, s.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a", Hash: [32]byte{1}}))
	}
	r := lipsync.Request{ID: "lost", Account: "a", KeyID: "k", Status: lipsync.Queued, CreatedAt: now.UTC()}
	_, _, err := dynamodb.New(e.Config(), before).Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{})
	check.Must(t, err)
	restored := restorer{tables: tables, from: before, into: table, prefixes: []string{"request/lost"}, write: true, now: now}
	check.Must(t, restored.restore(t.Context()))
	s := dynamodb.New(e.Config(), table)
	if got, err := s.Requests.ByID(t.Context(), "lost"); err != nil || got.Account != "a" || got.Status != lipsync.Queued {
		t.Errorf("got %+v (%v), want the request", got, err)
	}
	if got, err := s.Leases.Claim(t.Context(), "", "worker", now.Add(time.Minute), time.Minute, lipsync.Choice{}); err != nil || got.ID != "lost" {
		t.Errorf("claimed %q (%v), want the request", got.ID, err)
	}
}

func put(t *testing.T, tables *client.Client, name, key, value string) {
	t.Helper()
	i := item{
		table.PartitionKey: &types.AttributeValueMemberS{Value: key}, table.SortKey: &types.AttributeValueMemberS{Value: "it"},
		"value": &types.AttributeValueMemberS{Value: value},
	}
	if value == "expired" {
		i[table.TimeToLive] = &types.AttributeValueMemberN{Value: fmt.Sprint(now.Unix() - 1)}
	}
	_, err := tables.PutItem(t.Context(), &client.PutItemInput{TableName: &name, Item: i})
	check.Must(t, err)
}

func contents(t *testing.T, tables *client.Client, name string) map[string]string {
	t.Helper()
	out, err := tables.Scan(t.Context(), &client.ScanInput{TableName: &name, ConsistentRead: aws.Bool(true)})
	check.Must(t, err)
	all := map[string]string{}
	for _, i := range out.Items {
		all[text(i, table.PartitionKey)] = text(i, "value")
	}
	if len(out.LastEvaluatedKey) > 0 || slices.Contains(slices.Collect(maps.Keys(all)), "") {
		t.Fatal("the table has more than a page of items")
	}
	return all
}
