package dynamodb_test

import (
	"errors"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"lipsync/internal/domain/base"
	"lipsync/internal/domain/failure"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/requests"
	"lipsync/internal/store/dynamodb"
	"lipsync/internal/store/dynamodb/table"
	"lipsync/internal/test/dynamodbtest"
	"lipsync/internal/test/lipsynctest"
	simulated "lipsync/internal/test/simulate/table"
)

// slow has the durations of a table on AWS, and the limits of its partitions.
var slow = simulated.Limits{Call: 8 * time.Millisecond, Transaction: 12 * time.Millisecond, PartitionWrites: 1000}

// slowTable returns a slow table for the SDK's client.
func slowTable() *dynamodbtest.Table {
	return &dynamodbtest.Table{
		Keys:  dynamodbtest.Keys{Partition: table.PartitionKey, Sort: table.SortKey},
		Index: dynamodbtest.Keys{Partition: table.OpenPartition, Sort: table.OpenSort},
		Call:  slow.Call, Transaction: slow.Transaction, Units: slow.PartitionWrites,
	}
}

// crowd has many clients that create requests of one account at once, with one key and one
// reference id.
type crowd struct {
	store *dynamodb.Store
	now   func() time.Time
	open  int // limit of the account's open requests

	mu      sync.Mutex
	took    []time.Duration // duration of each create
	refused int             // clients told to come back later
	full    int             // clients told that too many requests are open, which then stopped
	created []string        // ids in the order in which the creates returned
}

func newCrowd(t *testing.T, store *dynamodb.Store) *crowd {
	t.Helper()
	c := &crowd{store: store, now: time.Now, open: 1_000_000}
	if err := c.store.Keys.Create(t.Context(), lipsync.Key{ID: "k", Account: "a"}); err != nil {
		t.Fatal(err)
	}
	return c
}

// create creates requests until the time is over or too many are open, but at least one per
// client.
func (c *crowd) create(t *testing.T, clients int, length time.Duration) {
	t.Helper()
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for first, full := true, false; first || !full && time.Now().Before(end); first = false {
				start := time.Now()
				r := lipsync.Request{
					ID: uuid.NewString(), Account: "a", KeyID: "k", ReferenceID: "r", Status: lipsync.Queued, CreatedAt: c.now(),
				}
				_, _, err := c.store.Requests.Create(t.Context(), r, nil, nil, lipsync.Limits{Open: c.open, Stored: 1 << 40})
				c.mu.Lock()
				switch {
				case failure.CodeOf(err) == failure.RateLimited:
					c.refused++
				case failure.CodeOf(err) == failure.OpenLimit:
					c.full++
					full = true
				case err != nil:
					t.Error(err)
				default:
					c.created = append(c.created, r.ID)
				}
				c.took = append(c.took, time.Since(start))
				c.mu.Unlock()
				time.Sleep(60 * time.Millisecond)
			}
		})
	}
	all.Wait()
	slices.Sort(c.took)
}

// wantListed checks that each created request is listed once, and counted.
func (c *crowd) wantListed(t *testing.T) {
	t.Helper()
	for _, reference := range []string{"", "r"} {
		listed := make(map[string]bool)
		for offset := 0; offset < len(c.created); offset += 100 {
			page, total, err := c.store.Requests.List(t.Context(), "a", reference, int64(offset), 100)
			if err != nil || total != int64(len(c.created)) {
				t.Fatalf("got a total of %d (%v), want %d", total, err, len(c.created))
			}
			for _, r := range page {
				listed[r.ID] = true
			}
		}
		if len(listed) != len(c.created) {
			t.Errorf("reference %q: got %d requests, want %d", reference, len(listed), len(c.created))
		}
	}
	keys, err := c.store.Keys.List(t.Context(), "a")
	if err != nil || keys[0].Used != int64(len(c.created)) {
		t.Errorf("got keys %v (%v), want %d uses", keys, err, len(c.created))
	}
	days, err := c.store.Requests.Usage(t.Context(), "a", c.now(), 1)
	if err != nil || days[0].Requests != int64(len(c.created)) {
		t.Errorf("got %v (%v), want %d requests", days, err, len(c.created))
	}
}

// TestCrowd runs as many clients as the service must support, all with one account. They create
// requests at once, with the usual limit of open requests.
func TestCrowd(t *testing.T) {
	for _, clients := range []int{1, 10, 100, 200} {
		synctest.Test(t, func(t *testing.T) {
			table := slowTable()
			c := newCrowd(t, dynamodb.New(table.Config(), "t"))
			c.open = lipsync.DefaultLimits().Open
			c.create(t, clients, 0)
			if tries := clients + table.Conflicts(); c.refused > 0 || len(c.created) != clients || tries > 10*clients {
				t.Errorf("%d at once: %d were refused, %d created, by %d tries", clients, c.refused, len(c.created), tries)
			}
			c.wantListed(t)
			t.Logf("%d at once: %d conflicts; half took up to %v, all %v", clients, table.Conflicts(), c.took[len(c.took)/2], c.took[len(c.took)-1])
		})
	}
}

// TestCrowdAtLimit runs clients that create requests until the account has as many open as it may.
// It does so with the usual limit, of which each lane has a small share, and with a limit that has
// only one lane.
func TestCrowdAtLimit(t *testing.T) {
	for _, limit := range []int{lipsync.DefaultLimits().Open, 100} {
		synctest.Test(t, func(t *testing.T) {
			const clients = 40
			table := simulated.New(slow)
			c := newCrowd(t, dynamodb.On(table, "t"))
			c.open = limit
			c.create(t, clients, time.Minute)
			if len(c.created) != limit || c.full != clients {
				t.Errorf("with a limit of %d: got %d requests, and %d of %d clients told that there are enough", limit, len(c.created), c.full, clients)
			}
			if tries := limit + clients + int(table.Count().Conflicts); c.refused > 0 || tries > 10*(limit+clients) {
				t.Errorf("with a limit of %d: %d were refused, by %d tries", limit, c.refused, tries)
			}
			c.wantListed(t)
			t.Logf("a limit of %d: %d conflicts; half took up to %v, 99 of 100 up to %v, all %v", limit, table.Count().Conflicts,
				c.took[len(c.took)/2], c.took[len(c.took)*99/100], c.took[len(c.took)-1])
		})
	}
}

// TestCreatesASecond creates requests of one account as fast as possible. They must be at least 500
// a second without a refusal, and no partition may get more than 500 writes in any second.
func TestCreatesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const length = 3 * time.Second
		table := simulated.New(slow)
		c := newCrowd(t, dynamodb.On(table, "t"))
		c.create(t, 120, length)
		rate := float64(len(c.created)) / length.Seconds()
		busiest := table.Partitions()[:3]
		if rate < 500 || c.refused > 0 || busiest[0].Items > 500 {
			t.Errorf("got %.0f creates a second, %d refused, and the busiest partitions %v; want 500, 0, and 500 writes", rate, c.refused, busiest)
		}
		t.Logf("%.0f creates a second, %d conflicts in %d; half took up to %v, 99 of 100 up to %v, all %v; busiest: %v", rate, table.Count().Conflicts, len(c.created),
			c.took[len(c.took)/2], c.took[len(c.took)*99/100], c.took[len(c.took)-1], busiest)
		c.wantListed(t)
	})
}

// TestReadsWhileCreating reads the list while other clients create requests. A request must be
// listed as soon as its create has returned. It must come before the requests whose creates had
// returned when its own began. No request may be listed twice.
func TestReadsWhileCreating(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrowd(t, dynamodb.On(simulated.New(slow), "t"))
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.create(t, 60, time.Second)
		}()
		for reading := true; reading; {
			select {
			case <-done:
				reading = false
			default:
			}
			c.mu.Lock()
			before := slices.Clone(c.created)
			c.mu.Unlock()
			page, total, err := c.store.Requests.List(t.Context(), "a", "r", 0, 100)
			if err != nil || total < int64(len(before)) || len(page) != int(min(total, 100)) {
				t.Fatalf("got %d requests of %d (%v), want a total of at least %d", len(page), total, err, len(before))
			}
			place := make(map[string]int)
			for i, r := range page {
				place[r.ID] = i
			}
			if len(place) != len(page) {
				t.Fatal("a request is listed twice")
			}
			for i := len(before) - 1; i >= 0 && i > len(before)-30; i-- {
				if _, ok := place[before[i]]; !ok && len(before)-i < 100-int(total)+len(before) {
					t.Fatalf("request %d of %d, which was created before, is not among the newest", i, len(before))
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
		c.wantListed(t)
	})
}

// TestForestalled makes each transaction conflict with another. The client must be told to come
// back later.
func TestForestalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		w := wire{takes: call, spoil: func(_ int, operation string) fault {
			if operation != "TransactWriteItems" {
				return nil
			}
			return func(r *http.Request) (*http.Response, error) {
				tries++
				return canceled("TransactionConflict")(r)
			}
		}}
		service := lipsynctest.NewService(t, base.Config{Engines: []string{"warp"}}, base.Ports{Store: openWire(t, &w).Store})
		start := time.Now()
		_, err := service.Generate(t.Context(), lipsync.Caller{Account: "a", KeyID: "k"}, requests.Params{
			Video: requests.Source{URL: "https://example.com/v"}, Audios: []requests.Track{{Source: requests.Source{URL: "https://example.com/a"}}},
		})
		if took := time.Since(start); took < 20*time.Second || took > 21*time.Second || tries > 60 {
			t.Errorf("gave up after %v and %d tries, want 20 s and at most 60", took, tries)
		}
		e, ok := errors.AsType[*failure.Error](err)
		if !ok || e.Code != failure.RateLimited || e.Message != "rate limit exceeded" || e.RetryAfter < time.Second || e.RetryAfter > 10*time.Second {
			t.Errorf("got %#v, want a client to come back in 1 to 10 s", err)
		}
	})
}
