package simulate

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"lipsync/internal/domain/lipsync"
)

// objects models a bucket of S3. It stores only the keys of the outputs. Of lipsync.Objects it has what the service calls.
type objects struct {
	lipsync.Objects
	put time.Duration // duration of a put

	mu   sync.Mutex
	keys map[string]bool
	puts int64
}

var _ lipsync.Objects = (*objects)(nil)

func (o *objects) Put(ctx context.Context, key string, _ io.Reader, _ int64) error {
	if err := sleep(ctx, o.put); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.puts++
	o.keys[key] = true
	return nil
}

func (o *objects) Delete(_ context.Context, key string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.keys, key)
	return nil
}

// List lists nothing. The service lists only the pieces of outputs here, and the simulated workers keep none.
func (o *objects) List(context.Context, string, func(key string, modified time.Time) error) error {
	return nil
}

// take removes the object, and reports whether it existed.
func (o *objects) take(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	there := o.keys[key]
	delete(o.keys, key)
	return there
}

// SignGet returns an empty URL. Signing takes no call.
func (o *objects) SignGet(context.Context, string, string, time.Time) (*url.URL, error) {
	return new(url.URL), nil
}

// SignPut returns an empty URL. Signing takes no call.
func (o *objects) SignPut(context.Context, string, int64, string, time.Time) (*url.URL, http.Header, error) {
	return new(url.URL), nil, nil
}

// sleep waits for the duration, or returns the error of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
