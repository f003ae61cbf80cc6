package dynamodb_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/google/uuid"

	"lipsync/internal/dynamodb"
	"lipsync/internal/lipsync"
)

// counter is a table that has nothing but the number of an account's requests.
// Unlike the emulator's, its calls take the time that those of AWS take, about,
// and of two transactions at the same time it cancels the later one.
type counter struct {
	mu      sync.Mutex
	total   int
	changes bool // is in a transaction now
	tries   int  // transactions
}

func (c *counter) Do(r *http.Request) (*http.Response, error) {
	switch r.Header.Get("X-Amz-Target") {
	case "DynamoDB_20120810.BatchGetItem":
		return c.get(r)
	case "DynamoDB_20120810.Query": // of what is stored: nothing
		time.Sleep(7 * time.Millisecond)
		return response(http.StatusOK, map[string]any{"Items": []any{}})
	default:
		return c.transact(r)
	}
}

func (c *counter) get(r *http.Request) (*http.Response, error) {
	time.Sleep(4 * time.Millisecond)
	var asked struct {
		RequestItems map[string]struct{ Keys []map[string]any }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	c.mu.Lock()
	total := c.total
	c.mu.Unlock()
	time.Sleep(3 * time.Millisecond)
	found := asked.RequestItems["t"].Keys[0] // the others are the key's
	found["total"], found["opened"] = map[string]string{"N": fmt.Sprint(total)}, map[string]string{"N": fmt.Sprint(total)}
	return response(http.StatusOK, map[string]any{"Responses": map[string]any{"t": []any{found}}})
}

func (c *counter) transact(r *http.Request) (*http.Response, error) {
	var asked struct {
		TransactItems []struct {
			Update struct {
				ExpressionAttributeValues map[string]struct{ N string }
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	seen := asked.TransactItems[0].Update.ExpressionAttributeValues[":seen"].N
	time.Sleep(5 * time.Millisecond)
	defer time.Sleep(5 * time.Millisecond) // the way back
	if !c.begin(seen) {
		return canceled("TransactionConflict")(r)
	}
	time.Sleep(12 * time.Millisecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total, c.changes = c.total+1, false
	return response(http.StatusOK, map[string]any{})
}

// begin reports whether a transaction that saw the total may change it.
func (c *counter) begin(seen string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tries++
	if c.changes || seen != fmt.Sprint(c.total) {
		return false
	}
	c.changes = true
	return true
}

// open returns a store on the table t that calls are answered by.
func (c *counter) open() *dynamodb.Store {
	return dynamodb.New(aws.Config{
		Region: "us-east-1", HTTPClient: c, Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""),
	}, "t")
}

// crowd has clients create on one account at once, and again until the time is
// over, but once at least. It returns how long each create took, and how many were
// told to come back later.
func (c *counter) crowd(t *testing.T, clients int, length time.Duration) (took []time.Duration, refused int) {
	t.Helper()
	s := c.open()
	end := time.Now().Add(length)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for first := true; first || time.Now().Before(end); first = false {
				start := time.Now()
				_, _, err := s.Create(t.Context(), lipsync.Request{ID: uuid.NewString(), Account: "a", KeyID: "k"}, nil, nil, lipsync.Limits{})
				c.mu.Lock()
				if lipsync.CodeOf(err) == lipsync.RateLimited {
					refused++
				} else if err != nil {
					t.Error(err)
				}
				took = append(took, time.Since(start))
				c.mu.Unlock()
				time.Sleep(60 * time.Millisecond)
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	return took, refused
}

// TestCrowd has as many create on one account at once as a service is to bear.
func TestCrowd(t *testing.T) {
	for _, clients := range []int{1, 10, 100, 200} {
		synctest.Test(t, func(t *testing.T) {
			var c counter
			took, refused := c.crowd(t, clients, 0)
			if refused > 0 || c.total != clients || c.tries > 10*clients {
				t.Errorf("%d at once: %d were refused, %d created, by %d tries", clients, refused, c.total, c.tries)
			}
			t.Logf("%d at once: %.1f tries each; half took up to %v, all %v",
				clients, float64(c.tries)/float64(clients), took[len(took)/2], took[len(took)-1])
		})
	}
}

// TestLastingCrowd has more create than the table takes: whoever is not served in
// time is told to come back, and what was made is counted.
func TestLastingCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const clients, length = 200, 30 * time.Second
		var c counter
		took, refused := c.crowd(t, clients, length)
		if c.total != len(took)-refused {
			t.Errorf("got %d requests, want %d", c.total, len(took)-refused)
		}
		t.Logf("%d creates, %d refused, %.1f tries each; half took up to %v, all %v",
			c.total, refused, float64(c.tries)/float64(len(took)), took[len(took)/2], took[len(took)-1])
	})
}

// TestForestalled has a transaction that never comes about: the client is told to
// come back.
func TestForestalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := counter{changes: true}
		service := lipsync.Service{Store: c.open(), Now: time.Now, NewID: uuid.NewString, Engines: []string{"warp"}}
		start := time.Now()
		_, err := service.Generate(t.Context(), lipsync.Caller{Account: "a", KeyID: "k"}, lipsync.NewRequest{
			Video: lipsync.Source{URL: "https://example.com/v"}, Audio: lipsync.Source{URL: "https://example.com/a"},
		})
		if took := time.Since(start); took < 20*time.Second || took > 21*time.Second || c.tries > 60 {
			t.Errorf("gave up after %v and %d tries, want 20 s and at most 60", took, c.tries)
		}
		e, ok := errors.AsType[*lipsync.Error](err)
		if !ok || e.Code != lipsync.RateLimited || e.Message != "rate limit exceeded" || e.RetryAfter < time.Second || e.RetryAfter > 10*time.Second {
			t.Errorf("got %#v, want a client to come back in 1 to 10 s", err)
		}
	})
}
