package s3_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lipsync/internal/domain/failure"
	"lipsync/internal/store/s3"
	"lipsync/internal/test/check"
)

const threeParts = 20 << 20 // bytes

// stream is a reader that can't seek.
type stream struct{ io.Reader }

func TestPutInParts(t *testing.T) {
	f := newFixture(t)
	text := noise(threeParts)
	var parts atomic.Int32
	f.wire.send = func(r *http.Request) error {
		if r.URL.Query().Has("partNumber") {
			parts.Add(1)
			if r.Header.Get("X-Amz-Checksum-Crc32") == "" {
				t.Error("a part has no checksum")
			}
		}
		return nil
	}
	for _, size := range []int64{threeParts, -1} {
		check.Must(t, f.Put(t.Context(), key, stream{bytes.NewReader(text)}, size))
		f.want(t, text)
	}
	if got := parts.Load(); got != 6 {
		t.Errorf("got %d parts, want 3 of each put", got)
	}
}

// TestPutCut breaks the connection in the middle of the second part.
func TestPutCut(t *testing.T) {
	f := newFixture(t)
	old, text := []byte("old"), noise(threeParts)
	check.Must(t, f.Put(t.Context(), key, bytes.NewReader(old), 3))
	cutSecond := func(times int32) {
		var cuts atomic.Int32
		f.wire.send = func(r *http.Request) error {
			if r.URL.Query().Get("partNumber") == "2" && cuts.Add(1) <= times {
				cut(r)
			}
			return nil
		}
	}
	cutSecond(100)
	if err := f.Put(t.Context(), key, bytes.NewReader(text), threeParts); err == nil {
		t.Error("a put without its second part succeeded")
	}
	f.want(t, old)
	if got := f.unfinished(t); got != 0 {
		t.Errorf("%d multipart uploads were left", got)
	}
	cutSecond(1) // and the SDK tries once more
	check.Must(t, f.Put(t.Context(), key, bytes.NewReader(text), threeParts))
	f.want(t, text)
}

// TestPutBroken ends large puts in every way that is not a fault of the network.
func TestPutBroken(t *testing.T) {
	text := noise(threeParts)
	broken := &breaking{bytes.NewReader(append(text, 0)), threeParts, errBroken}
	for name, c := range map[string]struct {
		r    io.Reader
		size int64
		want error
	}{
		"reader fails": {broken, -1, errBroken},
		"too short":    {bytes.NewReader(text), threeParts + 1, nil},
		"too long":     {bytes.NewReader(text), threeParts - 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			if err := f.Put(t.Context(), key, c.r, c.size); err == nil || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v or another error", err, c.want)
			}
			f.wantNothing(t)
		})
	}
	t.Run("reader fails, then the network", func(t *testing.T) {
		f := newFixture(t)
		f.wire.send = func(r *http.Request) error {
			if r.Method == http.MethodDelete {
				return errors.New("no route to host")
			}
			return nil
		}
		failed := errors.New("reader failed")
		if err := f.Put(t.Context(), key, &breaking{bytes.NewReader(append(text, 0)), threeParts, failed}, -1); !errors.Is(err, failed) {
			t.Errorf("got %v, want %v", err, failed)
		}
	})
	t.Run("canceled", func(t *testing.T) {
		f := newFixture(t)
		ctx, cancel := context.WithCancel(t.Context())
		r := io.MultiReader(bytes.NewReader(text), readerFunc(func([]byte) (int, error) { cancel(); return 0, io.EOF }))
		if err := f.Put(ctx, key, r, -1); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want canceled", err)
		}
		f.wantNothing(t)
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func (f *fixture) wantNothing(t *testing.T) {
	t.Helper()
	if _, err := f.Size(t.Context(), key); failure.CodeOf(err) != failure.NotFound {
		t.Errorf("got %v, want no object", err)
	}
	if got := f.unfinished(t); got != 0 {
		t.Errorf("%d multipart uploads were left", got)
	}
}

// TestPutMemory puts an object that is far larger than the memory that the put may use. The server
// stores nothing.
func TestPutMemory(t *testing.T) {
	const size, limit = 512 << 20, 96 << 20          // bytes
	defer debug.SetGCPercent(debug.SetGCPercent(10)) // memory is measured at each collection
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			t.Error(err)
		}
		w.Header().Set("ETag", "part")
		switch query := r.URL.Query(); {
		case query.Has("uploads"):
			fmt.Fprint(w, "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>")
		case r.Method == http.MethodPost:
			fmt.Fprint(w, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
		}
	}))
	defer server.Close()
	cfg := (&tokens{}).config()
	cfg.HTTPClient, cfg.BaseEndpoint = http.DefaultClient, aws.String(server.URL)
	held := func() int64 { // bytes in use at the last collection
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return int64(sample[0].Value.Uint64())
	}
	runtime.GC()
	before, peak := held(), int64(0)
	zeros := readerFunc(func(p []byte) (int, error) {
		peak = max(peak, held()-before)
		return len(p), nil
	})
	check.Must(t, s3.New(cfg, "bucket", s3.Signer{}).Put(t.Context(), key, io.LimitReader(zeros, size), -1))
	t.Logf("%d MiB were put with at most %d MiB held", size>>20, peak>>20)
	if peak > limit {
		t.Errorf("got %d bytes held, want at most %d", peak, limit)
	}
}
