package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lipsync/cmd/lipsync/internal/datafolder"
	"lipsync/internal/domain/lipsync"
	"lipsync/internal/domain/operator"
	"lipsync/internal/work/worker"
)

// clients is the number of clients in benchmarks of the API.
const clients = 16

// api serves the API of a data folder, without workers. Its calls use one key.
type api struct {
	url, token string
	key        lipsync.Key
	data       *datafolder.Folder
}

func startAPI(b *testing.B) *api {
	b.Helper()
	log := slog.New(slog.DiscardHandler)
	folder, err := datafolder.Open(b.Context(), b.TempDir(), log)
	if err != nil {
		b.Fatal(err)
	}
	command := &serveCommand{renderFlags: renderFlags{Engine: "warp"}, Workers: 1, Settings: operator.Settings{GenerateRate: 1e9, ReadRate: 1e9, MaxOpenRequests: 1e9}}
	renderer, err := command.open(b.Context(), 1, worker.Limits(command.Settings), log)
	if err != nil {
		b.Fatal(err)
	}
	deployment, err := newDeployment(b.Context(), command, folder, renderer, worker.Config{Renderer: renderer, Log: log, Scratch: b.TempDir()}, &net.TCPAddr{}, false)
	if err != nil {
		b.Fatal(err)
	}
	a := &api{data: folder}
	if a.token, a.key, err = deployment.service.CreateKey(b.Context(), "account", "bench", 0); err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(deployment.handler)
	b.Cleanup(func() { server.Close(); _ = renderer.Close(); _ = folder.Close() })
	a.url = server.URL
	return a
}

// call makes a call on a connection that the client keeps.
func (a *api) call(ctx context.Context, c *http.Client, method, path, body string) error {
	r, err := http.NewRequestWithContext(ctx, method, a.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	r.Header.Set("Content-Type", "application/json")
	response, err := c.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, response.Status)
	}
	return nil
}

// connection returns a client with one connection of its own.
func connection() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}
}

// BenchmarkList reads the first page and the one at offset 100,000, in turns.
func BenchmarkList(b *testing.B) {
	const many, page, calls = 100_000, 20, 500
	a := startAPI(b)
	a.fill(b, many+page)
	c := connection()
	offsets := []int{0, many}
	times := map[int][]time.Duration{}
	for b.Loop() {
		for range calls {
			for _, offset := range offsets {
				started := time.Now()
				path := fmt.Sprintf("/api/v1/lipsync/requests?limit=%d&offset=%d", page, offset)
				if err := a.call(b.Context(), c, http.MethodGet, path, ""); err != nil {
					b.Fatal(err)
				}
				times[offset] = append(times[offset], time.Since(started))
			}
		}
	}
	first, last := median(times[0]), median(times[many])
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(first.Microseconds()), "µs-at-0")
	b.ReportMetric(float64(last.Microseconds()), "µs-at-100000")
	b.ReportMetric(float64(last)/float64(first), "ratio")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// fill makes n requests.
func (a *api) fill(b *testing.B, n int) {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	var all errgroup.Group
	for range clients {
		all.Go(func() error {
			for left.Add(-1) >= 0 {
				_, _, err := a.data.Store.Requests.Create(b.Context(), lipsync.Request{
					ID: uuid.NewString(), Account: a.key.Account, KeyID: a.key.ID, Status: lipsync.Queued, CreatedAt: time.Now(),
					Video: lipsync.Input{URL: "https://example.com/v.mp4"}, Audio: lipsync.Input{URL: "https://example.com/a.wav"},
				}, nil, nil, lipsync.Limits{})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCreate makes requests by clients with a connection each.
func BenchmarkCreate(b *testing.B) {
	const each = 250
	a := startAPI(b)
	const body = `{"inputs":[{"type":"video","url":"https://example.com/v.mp4"},{"type":"audio","url":"https://example.com/a.wav"}]}`
	for b.Loop() {
		var all errgroup.Group
		for range clients {
			all.Go(func() error {
				c := connection()
				for range each {
					if err := a.call(b.Context(), c, http.MethodPost, "/api/v1/lipsync/generate", body); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := all.Wait(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(each*clients*b.N)/b.Elapsed().Seconds(), "creates/s")
}
