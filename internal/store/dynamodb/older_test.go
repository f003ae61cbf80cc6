package dynamodb_test

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/lipsync"
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

// table is a store and the table that it writes.
type table struct {
	*dynamodb.Store
	client *sdk.Client
	name   string
}

func openTable(t *testing.T) *table {
	t.Helper()
	return openTableBehind(t, new(wire))
}

// openTableBehind returns a table whose store calls it over the wire.
func openTableBehind(t *testing.T, w *wire) *table {
	t.Helper()
	cfg := inMemory()
	client := sdk.NewFromConfig(cfg)
	cfg.HTTPClient = w
	return &table{dynamodb.New(cfg, "t"), client, "t"}
}

func (b *table) get(t *testing.T, partition, sort string) item {
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
func (b *table) rewrite(t *testing.T, f func(item) []item) {
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

// older returns the items that older versions wrote where this version writes the item i. They had
// no queue entries, leases, lanes or limits: held requests were among the waiting ones, lists had an
// item for each request, and the pointers to all keys were in one partition. Requests are numbered
// by their time of creation, in seconds after now.
func (b *table) older(t *testing.T, i item, now time.Time) []item {
	partition := textOf(i["pk"])
	switch {
	case textOf(i["sk"]) == "turn", textOf(i["sk"]) == "lease", textOf(i["sk"]) == "open", strings.HasPrefix(partition, "keyid/"),
		strings.HasPrefix(partition, "usage/"):
		return nil
	case textOf(i["sk"]) == "list":
		name, _, _ := strings.Cut(partition, "/list/")
		ids := i["ids"].(*types.AttributeValueMemberL)
		return []item{{"pk": text(name), "sk": text("total"), "total": &types.AttributeValueMemberN{Value: fmt.Sprint(len(ids.Value))}}}
	case strings.HasPrefix(partition, "keys/"):
		i["pk"] = text("keys")
		delete(i, "open")
		delete(i, "openAt")
	case strings.HasPrefix(partition, "request/"):
		return b.olderRequest(t, i, now)
	}
	delete(i, "counted")
	return []item{i}
}

func (b *table) olderRequest(t *testing.T, i item, now time.Time) []item {
	created, err := strconv.ParseInt(i["createdAt"].(*types.AttributeValueMemberN).Value, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	seq := fmt.Sprintf("%019d", created/1e6-now.Unix()+1)
	entry := maps.Clone(i)
	list, _, _ := strings.Cut(strings.TrimPrefix(textOf(i["open"]), "account/"), "/")
	entry["pk"], entry["sk"], entry["openAt"] = text("account/"+list), text(seq), text(seq)
	entry["open"] = text("account/" + list + "/" + textOf(i["status"]))
	i["seq"] = &types.AttributeValueMemberN{Value: strings.TrimLeft(seq, "0")}
	i["open"], i["openAt"] = text("request"), text(fmt.Sprintf("%019d/%s", created, textOf(i["id"])))
	if holder := i["holder"]; holder != nil {
		i["lease"], i["leaseUntil"] = holder, &types.AttributeValueMemberN{Value: fmt.Sprint(now.Add(time.Minute).UnixMicro())}
		delete(i, "holder")
	}
	return []item{i, entry}
}

// TestOlderItems works with the data of an older version.
func TestOlderItems(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_800_000_000, 0).UTC()
	b := openTable(t)
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	key := lipsync.Key{ID: "k", Account: "a", Name: "n", Hash: [32]byte{1}, CreatedAt: now, Limit: 5}
	other := lipsync.Key{ID: "l", Account: "b", Name: "n", Hash: [32]byte{2}, CreatedAt: now.Add(time.Second)}
	ok(b.Keys.Create(t.Context(), key))
	ok(b.Keys.Create(t.Context(), other))
	create := func(id string, second int, limits lipsync.Limits) error {
		r := lipsync.Request{ID: id, Account: "a", KeyID: "k", Status: lipsync.Queued, CreatedAt: now.Add(time.Duration(second) * time.Second)}
		_, _, err := b.Requests.Create(t.Context(), r, nil, nil, limits)
		return err
	}
	for i, id := range []string{"held", "given back", "waiting"} {
		ok(create(id, i, lipsync.Limits{}))
	}
	for _, id := range []string{"held", "given back"} {
		_, err := b.Leases.Claim(t.Context(), id, "old", now, time.Minute)
		ok(err)
	}
	ok(b.Leases.Release(t.Context(), "given back", "old"))
	upload := lipsync.Upload{ID: "u", Account: "a", Size: 7, ExpiresAt: now}
	ok(b.Uploads.Create(t.Context(), upload, lipsync.Limits{}))
	b.rewrite(t, func(i item) []item { return b.older(t, i, now) })

	for _, account := range []string{"a", "b", ""} {
		want := map[string]string{"a": "[k]", "b": "[l]", "": "[k l]"}[account]
		keys, err := b.Keys.List(t.Context(), account)
		var ids []string
		for _, k := range keys {
			ids = append(ids, k.ID)
		}
		if err != nil || fmt.Sprint(ids) != want {
			t.Errorf("keys of %q: got %v (%v), want %s", account, ids, err, want)
		}
	}
	ok(b.Keys.Touch(t.Context(), "k", now))
	ok(b.Keys.Revoke(t.Context(), "b", "l", now))
	if code := lipsync.CodeOf(create("one too many", 3, lipsync.Limits{Open: 3})); code != lipsync.OpenLimit {
		t.Errorf("got code %q, want that three are open", code)
	}
	ok(create("new", 4, lipsync.Limits{Open: 4}))
	if k, err := b.Keys.ByHash(t.Context(), key.Hash); err != nil || k.Used != 4 || !k.LastUsed.Equal(now) {
		t.Errorf("got %+v (%v), want a key used 4 times, last now", k, err)
	}
	if k, err := b.Keys.ByHash(t.Context(), other.Hash); err != nil || k.RevokedAt.IsZero() {
		t.Errorf("got %+v (%v), want a revoked key", k, err)
	}

	ok(b.Leases.Renew(t.Context(), "held", "old", now.Add(time.Hour)))
	ok(b.Leases.Report(t.Context(), "held", "old", lipsync.Progress{Percent: 7}))
	if r, err := b.Requests.ByID(t.Context(), "held"); err != nil || r.Lease != "old" || !r.LeaseUntil.Equal(now.Add(time.Hour)) || r.Progress.Percent != 7 {
		t.Errorf("got %+v (%v), want one that is held for an hour", r, err)
	}
	ok(b.Leases.Upkeep(t.Context(), now))
	for _, want := range []string{"given back", "waiting", "new"} {
		r, err := b.Leases.Claim(t.Context(), "", "new "+want, now, time.Minute)
		if err != nil || r.ID != want {
			t.Errorf("got %s (%v), want %s", r.ID, err, want)
		}
	}
	ok(b.Leases.Finish(t.Context(), "new", "new new", now, lipsync.Outcome{Failure: lipsync.Failure{Code: lipsync.InternalFault}}))
	if keys, err := b.Keys.List(t.Context(), "a"); err != nil || len(keys) != 1 || keys[0].Used != 3 {
		t.Errorf("got keys %+v (%v), want one used 3 times, since one use is given back", keys, err)
	}
	ok(b.Leases.Upkeep(t.Context(), now.Add(2*time.Hour)))
	if open, err := b.Leases.Open(t.Context(), now.Add(2*time.Hour), 10); err != nil || len(open) != 3 {
		t.Errorf("got %d open requests (%v), want 3", len(open), err)
	}
	ok(b.Leases.Finish(t.Context(), "held", "old", now, lipsync.Outcome{Output: "o", Length: time.Second, Size: 9}))
	ok(b.Uploads.Delete(t.Context(), upload))
	if _, err := b.Uploads.ByID(t.Context(), "u"); lipsync.CodeOf(err) != lipsync.NotFound {
		t.Errorf("got %v, want no upload", err)
	}
	// Outputs that were never counted are not subtracted: of 20 bytes, 9 are the output's.
	ok(b.Uploads.Create(t.Context(), lipsync.Upload{ID: "v", Account: "a", Size: 11, CreatedAt: now}, lipsync.Limits{Stored: 20}))
	err := b.Uploads.Create(t.Context(), lipsync.Upload{ID: "w", Account: "a", Size: 1, CreatedAt: now}, lipsync.Limits{Stored: 20})
	if lipsync.CodeOf(err) != lipsync.StorageLimit {
		t.Errorf("got %v, want that the limit is reached", err)
	}
}
