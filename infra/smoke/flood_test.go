package smoke

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestFlood checks that the step passes only if strangers are refused and a client is not.
func TestFlood(t *testing.T) {
	refuse := func(context.Context) (int, error) { return http.StatusTooManyRequests, nil }
	answer := func(context.Context) (int, error) { return http.StatusOK, nil }
	lost := func(context.Context) (int, error) { return 0, errors.New("no route to host") }
	for name, c := range map[string]struct {
		strangers func() caller
		client    caller
		want      string
	}{
		"strangers have a rate of their own": {func() caller { return bucket(100, 200) }, answer, ""},
		"no rate":                            {func() caller { return answer }, answer, "only 0 refused"},
		"one rate for all":                   {func() caller { return bucket(100, 200) }, refuse, "the client's call 1 beside the flood got 429, want 200"},
		"the functions have no room":         {func() caller { return bucket(100, 200) }, func(context.Context) (int, error) { return http.StatusInternalServerError, nil }, "got 500, want 200"},
		"strangers get no answer":            {func() caller { return lost }, answer, "only 0 refused: no route to host"},
		"a call in ten is lost":              {func() caller { return flaky(bucket(100, 200)) }, answer, ""},
		"the client gets no answer":          {func() caller { return bucket(100, 200) }, lost, "the client's call 1 beside the flood: no route to host"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stranger := c.strangers()
				slow := func(ctx context.Context) (int, error) {
					time.Sleep(50 * time.Millisecond)
					return stranger(ctx)
				}
				answered, refused, err := besideFlood(t.Context(), slow, c.client)
				if c.want == "" && (err != nil || answered < 200 || refused < refusals) {
					t.Errorf("got %d answers and %d refusals (%v)", answered, refused, err)
				}
				if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("got %v, want %q", err, c.want)
				}
			})
		})
	}
}

// flaky returns calls of which each tenth gets no answer.
func flaky(c caller) caller {
	var calls atomic.Int64
	return func(ctx context.Context) (int, error) {
		if calls.Add(1)%10 == 0 {
			return 0, errors.New("connection reset")
		}
		return c(ctx)
	}
}

// bucket returns calls of which burst are answered at once and rate in each second, as API Gateway does. The others are refused.
func bucket(rate, burst int64) caller {
	var calls atomic.Int64
	began := time.Now()
	return func(context.Context) (int, error) {
		if calls.Add(1) > burst+rate*int64(time.Since(began)/time.Second) {
			calls.Add(-1)
			return http.StatusTooManyRequests, nil
		}
		return http.StatusOK, nil
	}
}
