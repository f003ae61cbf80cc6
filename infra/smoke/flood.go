package smoke

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	strangers  = 50                     // that call at the same time, from one address
	refusals   = 200                    // of strangers, before the client calls
	clientsOwn = 20                     // calls of the client
	floodTime  = 2 * time.Minute        // after which the step fails
	lostPause  = 100 * time.Millisecond // of a stranger after a call without an answer
)

func flood(t *testing.T, s *Stack) {
	c := s.client(t)
	call := func(path, token string) caller {
		return func(ctx context.Context) (status int, err error) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.Outputs["ApiUrl"]+path, nil)
			if err != nil {
				return 0, err
			}
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				return 0, err
			}
			response.Body.Close()
			return response.StatusCode, nil
		}
	}
	answered, refused, err := besideFlood(t.Context(), call("/health", ""), call("/v1/users/me", c.token))
	t.Logf("strangers got %d answers, and %d refusals", answered, refused)
	if err != nil {
		t.Error(err)
	}
}

// caller makes a call. It returns an error if there is no answer.
type caller func(context.Context) (status int, err error)

// besideFlood makes calls of strangers, and once enough are refused, calls of a client beside them, all of which must be answered.
func besideFlood(ctx context.Context, stranger, client caller) (answered, refused int64, err error) {
	ctx, stop := context.WithTimeout(ctx, floodTime)
	var yes, no atomic.Int64
	var lost atomic.Pointer[error] // of the last call of a stranger that got no answer
	var all sync.WaitGroup
	defer func() {
		stop()
		all.Wait()
		answered, refused = yes.Load(), no.Load()
	}()
	flooded := make(chan struct{})
	for range strangers {
		all.Go(func() {
			for ctx.Err() == nil {
				status, err := stranger(ctx)
				if err != nil {
					lost.Store(&err)
					time.Sleep(lostPause)
				}
				switch status {
				case http.StatusOK:
					yes.Add(1)
				case http.StatusTooManyRequests:
					if no.Add(1) == refusals {
						close(flooded)
					}
				}
			}
		})
	}
	select {
	case <-flooded:
	case <-ctx.Done():
		err := ctx.Err()
		if last := lost.Load(); last != nil {
			err = *last
		}
		return 0, 0, fmt.Errorf("of the calls of strangers %d were answered, and only %d refused: %w", yes.Load(), no.Load(), err)
	}
	for n := range clientsOwn {
		before := no.Load()
		status, err := client(ctx)
		if err != nil {
			return 0, 0, fmt.Errorf("the client's call %d beside the flood: %w", n+1, err)
		}
		if status != http.StatusOK {
			return 0, 0, fmt.Errorf("the client's call %d beside the flood got %d, want 200", n+1, status)
		}
		for no.Load() == before && ctx.Err() == nil { // the flood goes on
			time.Sleep(time.Millisecond)
		}
	}
	return 0, 0, ctx.Err()
}
