package dynamodb_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	sdk "github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lipsync/internal/domain/lipsync"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/test/awstest"
)

// last returns the items that an older version wrote in place of the item i: the last version without
// buckets, separate leases and shards. It had waiting requests in one partition, held and postponed
// ones in another, and the entries of all waiting ones in a third.
func (b *table) last(t *testing.T, i item, now time.Time) []item {
	waits := strings.HasPrefix(textOf(i["open"]), "queue")
	id := textOf(i["id"])
	until, postponed := i["leaseUntil"], i["holder"] == nil && i["leaseUntil"] != nil
	all := b.older(t, i, now)
	switch {
	case textOf(i["sk"]) == "turn" && waits:
		i["open"] = text("turn")
		return []item{i}
	case len(all) == 2 && all[0]["lease"] != nil:
		all[0]["open"] = text("held")
	case len(all) == 2 && postponed:
		all[0]["leaseUntil"] = until
		all[0]["open"], all[0]["openAt"] = text("held"), text(fmt.Sprintf("until/%019d/%s", now.Add(10*time.Minute).UnixMicro(), id))
	}
	return all
}

// TestUpgrade starts with open requests of the last version. Some wait, some are held by runners
// that go on or have died, and some are postponed. Each must complete once.
func TestUpgrade(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) (aws.Config, string){
		"in memory": func(*testing.T) (aws.Config, string) { return inMemory(), "t" },
		"emulator": func(t *testing.T) (aws.Config, string) {
			e := awstest.Shared(t)
			return e.Config(), e.Table(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, table := open(t)
			upgrade(t, tableOf(cfg, table))
		})
	}
}

func tableOf(cfg aws.Config, name string) *table {
	return &table{dynamodb.New(cfg, name), sdk.NewFromConfig(cfg), name}
}

func upgrade(t *testing.T, b *table) {
	const n = 32
	now := time.Unix(1_800_000_000, 0).UTC()
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ids := createWaiting(t, b.Store, "a", n, now)
	for i, id := range ids {
		if i%4 == 0 {
			continue // it waits
		}
		r, err := b.Leases.Claim(t.Context(), id, "old", now, time.Minute)
		ok(err)
		if i%4 == 1 {
			ok(b.Leases.Postpone(t.Context(), r, now.Add(10*time.Minute)))
		}
	}
	b.rewrite(t, func(i item) []item { return b.last(t, i, now) })
	for i, id := range ids {
		if i%4 == 2 { // its runner goes on; those of the others died
			ok(b.Leases.Renew(t.Context(), id, "old", now.Add(30*time.Minute)))
		}
	}
	ended := make(map[string]int)
	end := func(id, token string, at time.Time) {
		t.Helper()
		if err := b.Leases.Finish(t.Context(), id, token, at, lipsync.Outcome{Output: "o"}); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		ended[id]++
	}
	// Complete all that can be claimed, every quarter of an hour.
	for minute := 5; minute < 30; minute += 15 {
		at := now.Add(time.Duration(minute) * time.Minute)
		ok(b.Leases.Upkeep(t.Context(), at))
		for {
			r, err := b.Leases.Claim(t.Context(), "", fmt.Sprint("new ", len(ended)), at, time.Minute)
			if lipsync.CodeOf(err) == lipsync.NotFound {
				break
			}
			ok(err)
			end(r.ID, r.Lease, at)
		}
		if want := map[int]int{5: n / 2, 20: n * 3 / 4}[minute]; len(ended) != want {
			t.Errorf("after %d minutes: %d ended, want %d", minute, len(ended), want)
		}
	}
	for i, id := range ids {
		if i%4 == 2 {
			end(id, "old", now.Add(25*time.Minute))
		}
	}
	for _, id := range ids {
		if r, err := b.Requests.ByID(t.Context(), id); err != nil || r.Status != lipsync.Completed || ended[id] != 1 {
			t.Errorf("%s: got %s (%v), ended %d times, want completed once", id, r.Status, err, ended[id])
		}
	}
	ok(b.Leases.Upkeep(t.Context(), now.Add(time.Hour)))
	open, err := b.Leases.Open(t.Context(), now.Add(100*time.Hour), n)
	page, total, listErr := b.Requests.List(t.Context(), "a", "", 0, 100)
	if err != nil || listErr != nil || len(open) != 0 || total != n || len(page) != n || page[0].ID != ids[n-1] {
		t.Errorf("got %d open requests and a list of %d of %d (%v, %v), want none and all", len(open), len(page), total, err, listErr)
	}
	done, _, err := b.Requests.ListByStatus(t.Context(), lipsync.StatusQuery{Account: "a", Status: lipsync.Completed, Limit: n + 1})
	if err != nil || len(done) != n {
		t.Errorf("got %d completed (%v), want %d", len(done), err, n)
	}
}

// TestOlderCancels cancels a request as an older version does, while a worker of this version holds
// it. The older version ends no lease, but the request must stay canceled.
func TestOlderCancels(t *testing.T) {
	b, now := openTable(t), time.Unix(1_800_000_000, 0).UTC()
	id := createWaiting(t, b.Store, "a", 1, now)[0]
	r, err := b.Leases.Claim(t.Context(), id, "w", now, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	b.rewrite(t, func(i item) []item {
		if i["status"] != nil {
			i["status"] = text(string(lipsync.Failed))
		}
		return []item{i}
	})
	if err := b.Leases.Finish(t.Context(), id, r.Lease, now, lipsync.Outcome{Output: "o"}); err == nil {
		t.Error("a canceled request was finished")
	}
	if r, err := b.Requests.ByID(t.Context(), id); err != nil || r.Status != lipsync.Failed {
		t.Errorf("got %s (%v), want it to have failed", r.Status, err)
	}
}

// TestOlderClaimsMeanwhile claims a request as a runner of the last version does, just before Upkeep
// rewrites the request. The runner must keep it.
func TestOlderClaimsMeanwhile(t *testing.T) {
	var w wire
	b, now := openTableBehind(t, &w), time.Unix(1_800_000_000, 0).UTC()
	id := createWaiting(t, b.Store, "a", 1, now)[0]
	b.rewrite(t, func(i item) []item { return b.last(t, i, now) })
	claimed, queries := false, 0
	w.spoil = func(_ int, operation string) fault {
		if operation == "Query" {
			queries++
		}
		if claimed || queries < 3 { // two for waiting and held requests, the third for the request itself
			return nil
		}
		claimed = true
		b.rewrite(t, func(i item) []item {
			if textOf(i["id"]) == id && i["status"] != nil {
				i["lease"], i["open"] = text("old"), text("held")
				i["leaseUntil"] = &types.AttributeValueMemberN{Value: fmt.Sprint(now.Add(time.Minute).UnixMicro())}
			}
			return []item{i}
		})
		return nil
	}
	if err := b.Leases.Upkeep(t.Context(), now); err != nil || !claimed {
		t.Fatalf("upkeep: %v, claimed %t", err, claimed)
	}
	w.spoil = nil
	if got := textOf(b.get(t, "request/"+id, "request")["lease"]); got != "old" {
		t.Errorf("the request's lease is %q, want the older runner's", got)
	}
}
